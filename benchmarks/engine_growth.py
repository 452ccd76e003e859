"""Model epochs per second of each engine as members, rows or units grow, on one core: records and a chart.

python benchmarks/engine_growth.py --json results/engine_growth.jsonl --chart docs/engine_growth.svg
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from rich.console import Console

from nsr import NSR, Ensemble, Recipe, fit
from nsr.data import Rows
from nsr.paper.sweep.environment import environment

MEMBERS = (1, 10, 100, 1_000, 10_000)
ROWS = (10, 100, 1_000, 10_000, 100_000)
REDUNDANCY = (1, 3, 10, 30, 100)
USUAL = {"members": 100, "rows": 400, "redundancy": 10}
WORK = 4e7
"""Members times rows times units times epochs of a measurement, at least: a second or so."""
LEAST = 50
"""Epochs of a measurement, at least, so that preparing and checking do not count."""
MEMORY = 2e9
"""Numbers of a layer of all members times 4 bytes; what needs more is left out for torch, which holds all at once."""


@dataclass(frozen=True)
class Size:
    """One point of the chart."""

    axis: str
    engine: str
    members: int
    rows: int
    redundancy: int


def sizes() -> Iterator[Size]:
    """All points, from small to large along each axis."""
    for axis, values in (("members", MEMBERS), ("rows", ROWS), ("redundancy", REDUNDANCY)):
        for value in values:
            for engine in ("native", "compiled"):
                size = Size(axis, engine, **(USUAL | {axis: value}))
                if engine == "native" or size.members * size.rows * size.redundancy * 4 * 10 <= MEMORY:
                    yield size


def model_epochs_per_second(size: Size) -> float:
    """Members times epochs, divided by the seconds of training: the better of two trainings."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(-10, 10, (size.rows, 2), generator=generator)
    rows = Rows.of(x, x[:, 0] > x[:, 1])
    epochs = max(LEAST, round(WORK / (size.members * size.rows * size.redundancy)))
    recipe = Recipe(loss="mae", epochs=epochs, check_every=epochs)
    rates = []
    for _ in range(2):  # the first one compiles
        ensemble = Ensemble(lambda g: NSR(2, redundancy=size.redundancy, generator=g), range(size.members))
        history = fit(ensemble, rows, recipe, folded=False, engine=size.engine)
        rates.append(size.members * epochs / history.seconds)
    return max(rates)


def chart(records: list[dict]) -> "object":
    """One panel for each axis, both scales logarithmic."""
    import altair as alt

    panels = []
    for axis in USUAL:
        usual = ", ".join(f"{value} {name}" for name, value in USUAL.items() if name != axis)
        points = alt.Data(values=[{**record, "value": record[axis]} for record in records if record["axis"] == axis])
        panels.append(
            alt.Chart(points, title=f"{axis} ({usual})", width=220, height=200)
            .mark_line(point=True)
            .encode(
                alt.X("value:Q", scale=alt.Scale(type="log"), title=axis, axis=alt.Axis(format="~s", tickCount=4)),
                alt.Y("rate:Q", scale=alt.Scale(type="log"), title="model epochs / s", axis=alt.Axis(format="~s")),
                alt.Color("engine:N", title="engine"),
            )
        )
    return alt.hconcat(*panels).resolve_scale(y="shared")


def main() -> None:
    """Measure, print, and write."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", type=Path, help="file for the records")
    options.add_argument("--chart", type=Path, help="file for the chart: .svg or .png")
    chosen = options.parse_args()
    torch.set_num_threads(1)
    console, records = Console(width=120), []
    for size in sizes():
        rate = model_epochs_per_second(size)
        records.append(asdict(size) | {"rate": rate, "cpu": json.loads(environment())["cpu"]})
        console.print(
            f"{size.axis:10} {size.engine:8} {size.members:6,} members {size.rows:7,} rows "
            f"{size.redundancy:3} units: {rate:12,.0f} model epochs/s"
        )
    if chosen.json:
        chosen.json.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    if chosen.chart:
        chart(records).save(chosen.chart)


if __name__ == "__main__":
    main()
