"""The page: one self-contained HTML file that is a function of summaries, and the same figures as pictures."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import vl_convert

from nsr.files import write
from nsr.html import VEGA_LITE, embedded, write_html
from nsr.paper.cells import Summary
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.report.appendix import mlp_weights, nsr_weights, runtimes
from nsr.paper.report.bits import status_bit_figures
from nsr.paper.report.diagrams import DIAGRAMS
from nsr.paper.report.findings import baselines, differences, losses
from nsr.paper.spec import Experiment
from nsr.paper.tables import Table

UNKNOWN = dict.fromkeys(("cpu", "cores", "instructions", "system", "python", "torch", "nsr", "training"), "unknown")
"""What the page shows of an environment that was not recorded completely."""

Summaries = Mapping[str, Sequence[Summary[Any]]]
"""The summaries of each experiment, by its name."""


@dataclass(frozen=True)
class Section:
    """What the page shows of an experiment, besides its figures."""

    experiment: Experiment[Any]
    profile: str
    seeds: list[int]
    complete: int
    """Number of cells with all seeds of the profile."""
    expected: int
    """Number of cells of the profile."""
    minutes: Mapping[str, float]
    """Minutes of one core, by recipe."""
    megabytes: float
    """Peak memory of a worker."""
    differences: list[str]
    """Where recipe ``paper`` differs from the printed numbers."""
    losses: list[str]
    """Where our NSR is worse than our MLP."""
    baselines: list[str]
    """Whether the MLP of each cell fits its training rows."""
    tables: Sequence[Table]


def section(experiment: Experiment[Any], summaries: Sequence[Summary[Any]]) -> Section:
    """The section of an experiment."""
    profile = summaries[0].profile if summaries else "paper"
    size = experiment.profiles[profile]
    expected = {(recipe, cell) for recipe in experiment.recipes for cell in experiment.cells_of(recipe, size)}
    complete = {(summary.recipe, summary.cell) for summary in summaries if summary.seeds >= size.seeds}
    return Section(
        experiment=experiment,
        profile=profile,
        seeds=sorted({summary.seeds for summary in summaries}),
        complete=len(expected & complete),
        expected=len(expected),
        minutes={
            recipe: sum(summary.seconds for summary in summaries if summary.recipe == recipe) / 60
            for recipe in experiment.recipes
        },
        megabytes=max((summary.memory for summary in summaries), default=0) / 2**20,
        differences=differences(summaries),
        losses=[loss.text for loss in losses(experiment, summaries)],
        baselines=baselines(summaries),
        tables=experiment.tables(summaries),
    )


def write_page(file: Path, summaries: Summaries) -> None:
    """Write the page. What has no results is shown as missing."""
    environments = {text for group in summaries.values() for summary in group for text in summary.environments}
    write_html(
        file,
        "nsr.paper.report",
        "page.html.j2",
        sections=[section(experiment, summaries.get(name, [])) for name, experiment in EXPERIMENTS.items()],
        figures={
            name: [embedded(*figure) for figure in experiment.figures(summaries.get(name, []))]
            for name, experiment in EXPERIMENTS.items()
        },
        diagrams=DIAGRAMS,
        appendices=[runtimes(summaries), nsr_weights(), mlp_weights()],
        bits=[embedded(*figure) for figure in status_bit_figures()],
        environments=[UNKNOWN | json.loads(environment) for environment in sorted(environments)],
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def write_figures(folder: Path, summaries: Summaries) -> int:
    """Write every figure as SVG and PNG; returns their number."""
    figures = list(status_bit_figures())
    for name, experiment in EXPERIMENTS.items():
        figures += experiment.figures(summaries.get(name, []))
    for name, title, chart in figures:
        specification = chart.properties(width=420, title=title).to_dict()
        write(folder / f"{name}.svg", vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE))
        write(folder / f"{name}.png", vl_convert.vegalite_to_png(specification, vl_version=VEGA_LITE, scale=2))
    return len(figures)
