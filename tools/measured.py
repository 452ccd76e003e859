"""Write the numbers of README.md and of pages in docs from the committed records.

Each page has blocks between ``<!-- measured: NAME -->`` and ``<!-- /measured -->``; NAME is a function below, and what
it returns stands between the markers. A test compares them, so that no number in them can drift from its record.

    python tools/measured.py           # rewrite every block; do this after results/ has changed
    python tools/measured.py --check   # exit 1 and name the blocks that differ
"""

import argparse
import json
import re
import sys
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from scipy.stats import t as student_t

from nsr.data import COMPARISONS
from nsr.paper import archive
from nsr.paper.cells import Summary
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.recurrent import LENGTHS, POWERS, square
from nsr.paper.experiments.redundancy import peak
from nsr.paper.experiments.shortest_paths import AXES, error
from nsr.paper.numbers import number, rounded
from nsr.paper.report.findings import baselines, differences, losses, rate_text
from nsr.paper.summaries import summarise

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))
sys.path.insert(0, str(ROOT / "tools"))
import costs  # noqa: E402
import engine  # noqa: E402
import measured_costs  # noqa: E402

PAGES = ("README.md", "docs/results.md", "docs/battery.md", "docs/fidelity.md", "docs/engine.md")
PAGES += tuple(f"docs/{name}.md" for name in ("cluster", "learn", "profile", "robustness"))
PAGES += ("CONTRIBUTING.md",)
MARKERS = re.compile(r"(<!-- measured: ([\w ]+) -->\n)(.*?)(<!-- /measured -->)", re.DOTALL)
MOST_LINES = 10
"""Lines of the battery are named where they are at most so many."""
INEQUALITIES = (">", "<", ">=", "<=")
FROM_WEIGHTS = ("training", "products")
"""Origins of rules that were read from the weights of networks."""
FEW_COLUMNS = 12
"""Tables of the battery have few columns up to this many."""


class Measured:
    """The committed records, summarised."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.of = {name: summarise(EXPERIMENTS[name], kept) for name, kept in archive.read(folder).items()}
        missing = [name for name in EXPERIMENTS if not self.of.get(name)]
        if missing:
            raise SystemExit(f"{folder} has no current records of {', '.join(missing)}: run nsr reproduce and export")

    def one(self, name: str, recipe: str, **fields: Any) -> Summary[Any]:
        """The summary of a cell."""
        for summary in self.of[name]:
            if summary.recipe == recipe and all(getattr(summary.cell, key) == fields[key] for key in fields):
                return summary
        raise SystemExit(f"{self.folder} has no records of {name}, recipe {recipe}, {fields}")

    def minutes(self, name: str, recipe: str) -> float:
        """Minutes of one core for all cells and seeds."""
        return sum(summary.seconds for summary in self.of[name] if summary.recipe == recipe) / 60

    def lines(self, file: str) -> list[dict[str, Any]]:
        """Records of a benchmark; none where there is no such file."""
        path = self.folder / file
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def code(names: Iterable[str]) -> str:
    """Names in back quotes."""
    return " ".join(f"`{name}`" for name in names)


def span(values: Iterable[float]) -> str:
    """The least and the largest of several numbers."""
    values = list(values)
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def paragraph(text: str) -> str:
    """Text, wrapped."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def bullets(lines: Iterable[str]) -> str:
    """Lines of a list, wrapped."""
    options: dict[str, Any] = {"initial_indent": "- ", "subsequent_indent": "  ", "break_on_hyphens": False}
    return "\n".join(textwrap.fill(line, 120, break_long_words=False, **options) for line in lines) + "\n"


# The table of the README: a row for each measure, a column for each model and recipe.


@dataclass(frozen=True)
class Column:
    """A model under a recipe; ``soft`` is the trained network where its program is tested."""

    heading: str
    model: str
    recipe: str
    soft: bool = False


COLUMNS = (
    Column("NSR, `paper`", "nsr", "paper"),
    Column("MLP, `paper`", "mlp", "paper"),
    Column("NSR, `exact`", "nsr", "exact"),
    Column("soft, `exact`", "nsr", "exact", soft=True),
    Column("MLP, `exact`", "mlp", "exact"),
)


@dataclass(frozen=True)
class Measure:
    """A row: which summaries of an experiment it is about, and what it shows of them."""

    experiment: str
    label: str
    chosen: Callable[[Any], bool]
    """Whether it is about a cell."""
    entry: Callable[[Sequence[Summary[Any]]], str]
    published: str | None = None
    """The metric that the paper prints, if it does."""
    paper: str = "-"
    """Or what its text says."""
    headline: bool = False
    """Whether the README shows it too."""
    model: str | None = None
    """Another model, in the place of the NSR."""
    soft: bool = True
    """Whether the trained network has another value than the program."""

    def cells(self, m: "Measured") -> list[str]:
        """The paper's number, and ours in each column."""
        printed = self.paper
        if self.published is not None:
            found = self._summaries(m, COLUMNS[0])
            printed = f"{fmean(summary.published[self.published] for summary in found):.2f}"
        return [printed, *(self._text(m, column) for column in COLUMNS)]

    def _summaries(self, m: "Measured", column: Column) -> list[Summary[Any]]:
        if (column.soft and not self.soft) or (self.model and column.model != "nsr"):
            return []
        found = [
            summary
            for summary in m.of[self.experiment]
            if summary.recipe == column.recipe
            and getattr(summary.cell, "model", "nsr") == (self.model or column.model)
            and self.chosen(summary.cell)
        ]
        return [summary.soft for summary in found if summary.soft is not None] if column.soft else found

    def _text(self, m: "Measured", column: Column) -> str:
        found = self._summaries(m, column)
        return self.entry(found) if found else "-"


def mean_of(*metrics: str) -> Callable[[Sequence[Summary[Any]]], str]:
    """The mean over cells and metrics, with the standard deviation of the seeds' means."""

    def entry(found: Sequence[Summary[Any]]) -> str:
        columns = [summary.values[metric] for summary in found for metric in metrics]
        seeds = [fmean(values) for values in zip(*columns, strict=True)]
        deviation = stdev(seeds) if len(seeds) > 1 else 0.0
        return f"{number(fmean(seeds))} ± {number(deviation if deviation > 1e-12 else 0.0)}"

    return entry


def least_of(*metrics: str) -> Callable[[Sequence[Summary[Any]]], str]:
    """The worst seed, by its mean over cells and metrics."""

    def entry(found: Sequence[Summary[Any]]) -> str:
        columns = [summary.values[metric] for summary in found for metric in metrics]
        return number(min(fmean(values) for values in zip(*columns, strict=True)))

    return entry


def largest_of(*metrics: str) -> Callable[[Sequence[Summary[Any]]], str]:
    """The largest mean of any metric, and the largest value of a single seed."""

    def entry(found: Sequence[Summary[Any]]) -> str:
        means = [summary.metrics[metric] for summary in found for metric in metrics]
        single = [max(summary.values[metric]) for summary in found for metric in metrics]
        return f"{max(means):.1e}, {max(single):.1e}" if max(single) else "0"

    return entry


def rate_of(*metrics: str) -> Callable[[Sequence[Summary[Any]]], str]:
    """The number of trainings at which the metrics, by default all accuracies, are 1."""

    def entry(found: Sequence[Summary[Any]]) -> str:
        return rate_text(sum(s.perfect(*metrics) for s in found), sum(s.seeds for s in found))

    return entry


def ratio_of(metric: str, base: str) -> Callable[[Sequence[Summary[Any]]], str]:
    """How many times one mean is the other."""

    def entry(found: Sequence[Summary[Any]]) -> str:
        below = found[0].metrics[base]
        return f"{found[0].metrics[metric] / below:.2g}" if below else "-"

    return entry


def peak_of(metric: str) -> Callable[[Sequence[Summary[Any]]], str]:
    """The numbers of units with the largest mean, those that are not told from it, and the range of the means."""

    def entry(found: Sequence[Summary[Any]]) -> str:
        return f"{peak(found, metric)}, {span(summary.metrics[metric] for summary in found)}"

    return entry


def _measures() -> Iterator[Measure]:
    yield from _table_1()
    yield from _maps()
    yield from _table_2()
    yield from _loops()
    yield from _paths()
    yield from _digits()


def _table_1() -> Iterator[Measure]:
    def of(*names: str) -> Callable[[Any], bool]:
        return lambda cell: cell.comparison in names

    each: dict[str, tuple[str, ...]] = {code(INEQUALITIES): INEQUALITIES, "`=`": ("=",), "`!=`": ("!=",)}
    for label, names in each.items():
        yield Measure(
            "comparisons", f"{label} at 10^13", of(*names), mean_of("10^13"), published="10^13", headline=True
        )
        yield Measure("comparisons", f"{label} at 10^15", of(*names), mean_of("10^15"))
        yield Measure("comparisons", f"{label}, right everywhere", of(*names), rate_of())
    yield Measure("comparisons", "all six, right everywhere", of(*COMPARISONS), rate_of(), headline=True)
    yield Measure("comparisons", "all six, read", of(*COMPARISONS), rate_of("read"))
    yield Measure("comparisons", "all six, read without labels", of(*COMPARISONS), rate_of("read without labels"))


def _maps() -> Iterator[Measure]:
    def squares(border: float, *, above: bool) -> Callable[[Any], bool]:
        return lambda cell: cell.scale != "auto" and (cell.scale * cell.delta > border / 2) == above

    equal, others = ("=", "!="), INEQUALITIES
    yield Measure(
        "floats", "`=` `!=`, lambda >= 1/delta", squares(1, above=True), mean_of(*equal), paper="learned", headline=True
    )
    yield Measure("floats", "`=` `!=`, elsewhere", squares(1, above=False), mean_of(*equal), paper="not learned")
    label = f"{code(others)}, lambda >= 10^-3/delta"
    yield Measure("floats", label, squares(1e-3, above=True), mean_of(*others), paper="learned")
    yield Measure("floats", f"{code(others)}, elsewhere", squares(1e-3, above=False), mean_of(*others))
    automatic = "lambda from the data, delta 10^-6 to 10^6, all six"
    yield Measure("floats", automatic, lambda cell: cell.scale == "auto", mean_of(*COMPARISONS))
    yield Measure("floats", "the same, right everywhere", lambda c: c.scale == "auto", rate_of(*COMPARISONS))


def _table_2() -> Iterator[Measure]:
    for function in ("abs", "f"):

        def chosen(cell: Any, function: str = function) -> bool:
            return bool(cell.function == function)

        for at in ("train", "3^5", "3^6", "3^8", "3^13"):
            head = (function, at) in {("abs", "3^13"), ("f", "3^8")}
            yield Measure("piecewise", f"{function} at {at}", chosen, mean_of(at), published=at, headline=head)
        yield Measure("piecewise", f"{function} at 3^33", chosen, mean_of("3^33"))
        yield Measure("piecewise", f"{function}, read", chosen, rate_of("read"), soft=False)
        yield _unaided("piecewise", function, chosen)
    for task in ("=", "!=", "f"):
        for units in (1, 2, 5, 10, 15):

            def sized(cell: Any, units: int = units) -> bool:
                return bool(cell.redundancy == units)

            label = f"{task if task == 'f' else code([task])} with {units} unit{'s' * (units > 1)}"
            yield Measure("redundancy", label, sized, mean_of(task), soft=task == "f")
    label = "f: most with so many units (or, within noise), range"
    yield Measure("redundancy", label, lambda _: True, peak_of("f"), paper="2", headline=True)


def _unaided(experiment: str, what: str, chosen: Callable[[Any], bool]) -> Measure:
    entry = rate_of("read without labels")
    return Measure(experiment, f"{what}, read without labels", chosen, entry, soft=False)


def _loops() -> Iterator[Measure]:
    def within(power: int) -> list[str]:
        return [square(length, power, absolute=True) for length in LENGTHS]

    for loop in ("minimum", "count"):

        def chosen(cell: Any, loop: str = loop) -> bool:
            return bool(cell.loop == loop)

        last = [square(50, power) for power in POWERS]
        said = {"minimum": "1", "count": "about 0.86"}[loop]
        yield Measure("recurrent", f"{loop}, training lists within 0.1", chosen, mean_of("train within 0.1"))
        yield Measure(
            "recurrent", f"{loop}, lists of 50 within 0.1 %", chosen, mean_of(*last), paper=said, headline=True
        )
        for power in (3, 4, 6, 13):
            yield Measure("recurrent", f"{loop} within 0.1 at 3^{power}", chosen, mean_of(*within(power)))
        yield Measure("recurrent", f"{loop}, right everywhere", chosen, rate_of())
        yield Measure("recurrent", f"{loop}, read", chosen, rate_of("read"), soft=False)
        yield _unaided("recurrent", loop, chosen)
        label, flags = f"{loop}, right on 100,000 elements and 100 digits", ("100,000 elements", "100 digits")
        yield Measure("recurrent", label, chosen, rate_of(*flags), soft=False)


def _paths() -> Iterator[Measure]:
    every = [error(axis, power) for axis, powers in AXES.items() for power in powers]
    for message in ("given", "learned"):

        def chosen(cell: Any, message: str = message) -> bool:
            return bool(cell.message == message)

        said, name = ("close to 0" if message == "given" else "-"), "shortest_paths"
        label = f"{message} message, largest mean error, largest of a seed"
        yield Measure(name, label, chosen, largest_of(*every), paper=said, headline=message == "given")
        if message == "given":
            nodes = ratio_of(error("nodes", 5), error("nodes", 2))
            weights = ratio_of(error("weights", 13), error("weights", 2))
            yield Measure(name, "error, 27 times the nodes", chosen, nodes, paper="less than 27")
            yield Measure(name, "error, 3^11 times the weights", chosen, weights, paper="not larger")
        yield Measure(name, f"{message} message, every distance right", chosen, rate_of("exact"))
        yield Measure(name, f"{message} message, read", chosen, rate_of("read"), soft=False)
        yield _unaided(name, f"{message} message", chosen)


def _digits() -> Iterator[Measure]:
    def on(comparison: str, pairs: str = "all") -> Callable[[Any], bool]:
        return lambda cell: (cell.comparison, cell.pairs) == (comparison, pairs)

    yield Measure("digits", "`>`, test pairs", on(">"), mean_of("accuracy"), paper="NSR like MLP", headline=True)
    yield Measure("digits", "`>`, classifier", on(">"), mean_of("accuracy"), paper="best", model="classifier")
    yield Measure("digits", "`>`, worst seed", on(">"), least_of("accuracy"))
    yield Measure("digits", "`>`, digits recovered with 100 labels", on(">"), mean_of("digits"))
    yield Measure("digits", "`=`, equal and unequal pairs weighed alike", on("="), mean_of("equal", "unequal"))
    yield Measure("digits", "`=`, the same, classifier", on("="), mean_of("equal", "unequal"), model="classifier")
    yield Measure("digits", "`=`, worst seed", on("="), least_of("equal", "unequal"))
    for pairs, label in (("3 apart", "up to 3 apart"), ("of 0 to 4", "of 0 to 4")):
        head = pairs == "3 apart"
        entry = mean_of("not shown")
        yield Measure("digits", f"shown pairs {label}: the others", on(">", pairs), entry, headline=head)
        yield Measure("digits", f"shown pairs {label}: the others, worst seed", on(">", pairs), least_of("not shown"))


def results(m: Measured) -> str:
    """The table of the README."""
    note = """Means over seeds ± their standard deviation; counts with Wilson's 95 % interval. In 4.3 to 4.6, `exact`
    tests the program that was read, and soft is the network it was read from."""
    many = re.search(
        r"^([\d,]+) seeds.*?([\d,]+ of\s+[\d,]+) networks.*?interval of\s+the\s+share\s+([\d.]+ to\s+[\d.]+)",
        measured_costs.ten_thousand_seeds(m.folder),
        re.S,
    )
    more = (
        f" 4.1 with {many[1]} seeds of each comparison, `exact`: {many[2]} ({many[3]}) right everywhere."
        if many
        else ""
    )
    shown = [measure for measure in _measures() if measure.headline]
    return paragraph(f"Seeds: {_seeds(m)}. {note}{more}") + "\n" + _table(m, shown, "src/nsr")


def all_results(m: Measured) -> str:
    """The table of docs/results.md."""
    return _legend(m) + "\n" + _table(m, list(_measures()), "../src/nsr")


def _seeds(m: Measured) -> str:
    return "; ".join(
        f"{EXPERIMENTS[name].section} {' or '.join(map(str, sorted({s.seeds for s in group})))}"
        for name, group in m.of.items()
    )


def _legend(m: Measured) -> str:
    return paragraph(
        f"""Seeds: {_seeds(m)}. Means over seeds ± their standard deviation, rounded to three digits, but
        1.000 means every row of every seed. Counts of trainings
        have Wilson's 95 % interval of the share in brackets. Under recipe `exact` the column NSR shows the program that
        was read from a network, where one is tested (Sections 4.3 to 4.6), and the column soft that network itself."""
    )


def _table(m: Measured, measures: Sequence[Measure], source: str) -> str:
    headings = ["section", "measure", "the paper", *(column.heading for column in COLUMNS)]
    lines = ["| " + " | ".join(headings) + " |", "|---|---|" + "---:|" * (len(headings) - 2)]
    previous = ""
    for measure in measures:
        experiment = EXPERIMENTS[measure.experiment]
        section = f"[{experiment.section}]({source}/paper/experiments/{experiment.name}.py)"
        lines.append(
            "| " + " | ".join([section if section != previous else "", measure.label, *measure.cells(m)]) + " |"
        )
        previous = section
    return "\n".join(lines) + "\n"


def where_the_nsr_loses(m: Measured) -> str:
    """The list of docs/results.md and of the report."""
    found = [f"{e.section}: {loss.text}" for name, e in EXPERIMENTS.items() for loss in losses(e, m.of[name])]
    return bullets(found or ["nowhere"])


def losses_in_short(m: Measured) -> str:
    """How many points of which curve are worse, for the README."""
    found = []
    for name, experiment in EXPERIMENTS.items():
        for loss in losses(experiment, m.of[name]):
            network = "network " * loss.soft
            found.append(f"{experiment.section} {loss.cell} ({network}`{loss.recipe}`) {len(loss.points)} of {loss.of}")
    return paragraph(f"{len(found)} curves, and at how many points: {', '.join(found)}.")


def where_we_differ(m: Measured) -> str:
    """From the printed numbers, as on the page."""
    found = [f"{e.section}: {line}" for name, e in EXPERIMENTS.items() for line in differences(m.of[name])]
    return bullets(found or ["nowhere"])


def usable_baselines(m: Measured) -> str:
    """Whether the MLP of each section is a baseline."""
    found = [f"{e.section}: {line}" for name, e in EXPERIMENTS.items() for line in baselines(m.of[name])]
    return bullets(found)


def minutes(m: Measured) -> str:
    """How long the profile ``paper`` takes."""
    parts = [
        f"{EXPERIMENTS[name].section} {m.minutes(name, 'paper'):.1f} and {m.minutes(name, 'exact'):.1f}"
        for name in EXPERIMENTS
    ]
    total = sum(m.minutes(name, recipe) for name in EXPERIMENTS for recipe in ("paper", "exact"))
    machines = sorted({text for group in m.of.values() for s in group for text in s.environments})
    found = [json.loads(text) for text in machines]
    where = "; ".join(sorted({f"{e.get('cpu')}, {e.get('cores')} cores, {e.get('instructions')}" for e in found}))
    return paragraph(
        f"Minutes of one core for all seeds, recipes `paper` and `exact`: {', '.join(parts)}; {total:.0f} in all "
        f"({where}). The same command gives the same numbers on the same machine, for any size of the blocks and any "
        "number of workers. Training in C gives the same weights on every CPU; torch, which measures them, rounds sums "
        "in another order on another instruction set, and last digits may differ."
    )


def speed(m: Measured) -> str:
    """How much faster than a plain loop the native engine is."""
    record = json.loads((m.folder / "engine.json").read_text(encoding="utf-8"))
    times, machine = record["microseconds"], record["machine"]
    faster = {name: times[f"{name[:3]}, plain loop"] / times[name] for name in times if "native" in name}
    ratio = times["NSR, native"] / times[engine.LIMIT]
    return paragraph(
        f"{record['seeds']} registers train {faster['NSR, native']:,.0f} times faster than a plain loop over epochs in "
        f"torch, per model and epoch, {faster['NSR, native, folded to 39 rows']:,.0f} times with rows that differ by a "
        f"shift folded into one, and MLPs {faster['MLP, native']:,.0f} times; a loop in C for this model alone, built "
        f"with -Ofast, takes 1/{ratio:.2f} of the time ({machine['cpu']}, {machine['instructions']}; `make bench`)."
    )


def engine_times(m: Measured) -> str:
    """The table of ``benchmarks/engine.py``."""
    record = json.loads((m.folder / "engine.json").read_text(encoding="utf-8"))
    return engine.markdown(record["microseconds"]) + "\n"


def core_minutes(m: Measured) -> str:
    """The table of ``benchmarks/costs.py``."""
    return costs.table(costs.minutes_before(m.folder / "costs_before.json"), costs.minutes_now(m.folder)) + "\n"


def paper_run(m: Measured) -> str:
    """How long the paper profile took, from the log of its run."""
    log = (m.folder / "paper_run.log").read_text(encoding="utf-8")
    wall, user = re.search(r"\(h:mm:ss or m:ss\): (\S+)", log), re.search(r"User time \(seconds\): (\S+)", log)
    assert wall, "the log of the paper run has no wall time"
    assert user, "the log of the paper run has no CPU time"
    minutes, seconds = wall[1].split(":")[-2:]
    return paragraph(
        f"The run that made the records took {minutes} minutes and {float(seconds):.0f} seconds on two cores, from an "
        f"empty folder and without a built library, and {float(user[1]) / 60:.0f} minutes of CPU "
        f"(`results/paper_run.log`); other work ran at the lowest priority."
    )


SHOWN_POWERS = ("3^4", "3^5", "3^6", "3^8", "3^13")
"""Magnitudes at which the open points of Table 2 are shown."""
UNCHANGED = "as in `paper`"
"""The variant of ``benchmarks/open_points.py`` that changes nothing."""
GATES = {("nsr", "f"): "NSR f", ("mlp", "f"): "MLP f", ("nsr", "abs"): "NSR abs", ("mlp", "abs"): "MLP abs"}


def open_points(m: Measured) -> str:
    """What was tried to meet the printed rows of Table 2."""
    records = m.lines("open_points.jsonl")
    if not records:
        return paragraph("`benchmarks/open_points.py` tries them one at a time.")
    tried = [record for record in records if not _is_fresh(record)]
    found = {(r["variant"], r["model"], r["function"]): r for r in tried}
    printed = [m.one("piecewise", "paper", model=model, function=f).published for model, f in GATES]

    def cells(values: Mapping[str, float] | None) -> str:
        return "-" if values is None else " ".join(rounded(values[at], 2) for at in SHOWN_POWERS)

    rows = [["the paper", *map(cells, printed)]]
    for variant in dict.fromkeys(record["variant"] for record in tried):
        rows.append([variant, *(cells((found.get((variant, *gate)) or {}).get("means")) for gate in GATES)])
    spread = max(record["deviations"][at] for record in records for at in SHOWN_POWERS)
    note = (
        f"Mean accuracy at {', '.join(SHOWN_POWERS)} over the same {tried[0]['seeds']} seeds; their standard "
        f"deviations are up to {spread:.2f}, so that only large differences mean something "
        f"({tried[0]['machine']['cpu']}; `benchmarks/open_points.py`, `results/open_points.jsonl`).\n"
    )
    table = measured_costs.table([f"{tried[0]['seeds']} seeds", *GATES.values()], rows)
    return paragraph(note) + "\n" + table + "\n" + _nearest(m, records, found)


def _nearest(m: Measured, records: Sequence[Mapping[str, Any]], found: Mapping[tuple[str, str, str], Any]) -> str:
    """Which variant comes nearest to the paper, what became of it on fresh seeds, and with which deviations."""
    variants = [variant for variant, model, function in found if (model, function) == ("nsr", "f")]
    tried = [variant for variant in variants if variant != UNCHANGED]
    printed = m.one("piecewise", "paper", model="nsr", function="f").published

    def distance(means: Mapping[str, float]) -> float:
        return fmean(abs(means[at] - printed[at]) for at in SHOWN_POWERS)

    near = min(tried, key=lambda variant: distance(found[variant, "nsr", "f"]["means"]))
    seeds = found[near, "nsr", "f"]["seeds"]
    measurements = {"the paper": {gate: printed_row(m, gate) for gate in GATES if gate[1] == "f"}}
    measurements[f"{UNCHANGED}, {seeds} seeds"] = _of_variant(records, UNCHANGED, fresh=False)
    measurements[f"{UNCHANGED}, all seeds of the records"] = {
        gate: summarised(m, gate) for gate in GATES if gate[1] == "f"
    }
    measurements[f"{near}, the {seeds} seeds it was chosen with"] = _of_variant(records, near, fresh=False)
    fresh = _of_variant(records, near, fresh=True)
    if fresh:
        (again,) = {r["seeds"] for r in records if r["variant"] == near and _is_fresh(r)}
        measurements[f"{near}, {again} fresh seeds"] = fresh
    rows = [[label, *(row.get((model, "f"), "-") for model in ("nsr", "mlp"))] for label, row in measurements.items()]
    least, where = min(
        (record["means"]["3^5"], variant)
        for (variant, model, function), record in found.items()
        if (model, function) == ("mlp", "abs")
    )
    return (
        paragraph(
            f"""Nearest to the printed row of f with the NSR, chosen among {len(tried)} variants by the same {seeds}
            seeds: {near}, {distance(found[near, "nsr", "f"]["means"]):.2f} away on average
            ({UNCHANGED}: {distance(found[UNCHANGED, "nsr", "f"]["means"]):.2f}).
            {_on_fresh(records, near, distance)} The least accuracy of the MLP gate for abs at 3^5 is {least:.2f}
            ({where}); the paper prints {printed_value(m, ("mlp", "abs"), "3^5")}. Means and standard
            deviations of f:"""
        )
        + "\n"
        + measured_costs.table(["", "NSR f", "MLP f"], rows)
    )


def _on_fresh(
    records: Sequence[Mapping[str, Any]], variant: str, distance: Callable[[Mapping[str, float]], float]
) -> str:
    """What became of a variant on seeds that had no part in its choice."""
    means = {
        r["model"]: r["means"] for r in records if r["variant"] == variant and _is_fresh(r) and r["function"] == "f"
    }
    if not means:
        return ""
    below = [at for at in SHOWN_POWERS if means["nsr"][at] < means["mlp"][at]]
    return (
        f" On fresh seeds it is {distance(means['nsr']):.2f} away, and the NSR gate is below the MLP gate at "
        f"{' and '.join(below) or 'none of these magnitudes'}."
    )


def _is_fresh(record: Mapping[str, Any]) -> bool:
    return bool(record.get("first_seed"))


def _of_variant(records: Sequence[Mapping[str, Any]], variant: str, *, fresh: bool) -> dict[tuple[str, str], str]:
    """Means and deviations of each gate, on the seeds that variants were chosen with or on fresh ones."""
    return {
        (r["model"], r["function"]): ", ".join(
            f"{rounded(r['means'][at], 2)} ± {r['deviations'][at]:.2f}" for at in SHOWN_POWERS
        )
        for r in records
        if r["variant"] == variant and _is_fresh(r) == fresh
    }


def summarised(m: Measured, gate: tuple[str, str]) -> str:
    """The same from the records of the experiment."""
    model, function = gate
    summary = m.one("piecewise", "paper", model=model, function=function)
    return ", ".join(f"{rounded(summary.metrics[at], 2)} ± {stdev(summary.values[at]):.2f}" for at in SHOWN_POWERS)


def printed_row(m: Measured, gate: tuple[str, str]) -> str:
    """The paper's row."""
    return ", ".join(printed_value(m, gate, at) for at in SHOWN_POWERS)


def printed_value(m: Measured, gate: tuple[str, str], at: str) -> str:
    """A number of Table 2."""
    model, function = gate
    return f"{m.one('piecewise', 'paper', model=model, function=function).published[at]:.2f}"


def redundancy_peak(m: Measured) -> str:
    """With how many units f is learned best."""
    kept = {recipe: [s for s in m.of["redundancy"] if s.recipe == recipe] for recipe in ("paper", "exact")}
    soft = [s.soft for s in kept["exact"] if s.soft]
    return paragraph(
        f"""Ours is highest with {peak(kept["paper"])} units under recipe `paper`, under `exact` with
        {peak(kept["exact"])} as programs and with {peak(soft)} as networks. The numbers in brackets are within noise:
        the 95 % interval of the difference, seed by seed, includes 0 ({kept["paper"][0].seeds} seeds)."""
    )


def digits_difference(m: Measured) -> str:
    """NSR less MLP on test pairs of >, seed by seed, with the interval of a t-test of pairs."""
    nsr, mlp = (m.one("digits", "exact", model=model, comparison=">", pairs="all") for model in ("nsr", "mlp"))
    apart = m.one("digits", "exact", model="nsr", comparison=">", pairs="3 apart").values["not shown"]
    gaps = [one - other for one, other in zip(nsr.values["accuracy"], mlp.values["accuracy"], strict=True)]
    half = float(student_t.ppf(0.975, len(gaps) - 1)) * stdev(gaps) / len(gaps) ** 0.5
    wins = sum(gap > 0 for gap in gaps)
    return paragraph(
        f"On the test pairs of `>` the NSR is right on {fmean(nsr.values['accuracy']):.4f}, the MLP on "
        f"{fmean(mlp.values['accuracy']):.4f}. Seed by seed the NSR less the MLP is {fmean(gaps):+.4f} (95 % interval "
        f"{fmean(gaps) - half:+.4f} to {fmean(gaps) + half:+.4f}, {len(gaps)} seeds); the NSR is ahead in {wins} of "
        f"{len(gaps)}. Shown pairs up to 3 apart, it is right on {min(apart):.4f} to {max(apart):.4f} of the others. "
        f"Settings compared on the split: {_tried(m)}. Of `>`, with at least three seeds: {_on_split(m, 'nsr')}; "
        f"{_on_split(m, 'mlp')}."
    )


def _tried(m: Measured) -> str:
    """How many settings of each cell were tried."""
    tried: dict[tuple[str, str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for record in m.lines("digits_settings.jsonl"):
        cell = record["images"], record["comparison"], record["pairs"]
        tried[cell][record["model"].upper()].add(json.dumps(record["settings"], sort_keys=True))
    parts = []
    for (images, comparison, pairs), models in sorted(tried.items(), reverse=True):
        many = " and ".join(f"{len(models[model])} of the {model}" for model in ("NSR", "MLP"))
        parts.append(f"`{comparison}` on {images}{'' if pairs == 'all' else f', shown pairs up to {pairs},'} {many}")
    return "; ".join(parts)


def _on_split(m: Measured, model: str) -> str:
    """How many settings of > were tried with enough seeds, and the range of their mean accuracies."""
    groups = defaultdict(list)
    for line in (m.folder / "digits_settings.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if (record["model"], record["comparison"], record["images"], record["pairs"]) == (model, ">", "MNIST", "all"):
            groups[json.dumps(record["settings"], sort_keys=True)].append(record["accuracy"])
    means = [fmean(scores) for scores in groups.values() if len(scores) >= 3]
    return f"{len(means)} of the {model.upper()}, with means of {min(means):.4f} to {max(means):.4f}"


def _tables(m: Measured, contender: str, lines: set[str] | None = None) -> list[dict[str, Any]]:
    """Records of the tables with a rule, of some lines of the battery or of all."""
    found = [r for r in m.lines("learn.jsonl") if r["part"] == "rule" and not r["left_out"]]
    return [r for r in found if r["contender"] == contender and (lines is None or r["line"] in lines)]


def _read_back(found: Sequence[Mapping[str, Any]]) -> str:
    return rate_text(sum(bool(record["read_back"]) for record in found), len(found))


def _needs_training(m: Measured) -> set[str]:
    """Lines of the battery of which no table is read without training."""
    untrained = _tables(m, "nsr-no-training")
    return {r["line"] for r in untrained} - {r["line"] for r in untrained if r["read_back"]}


def _from_weights(found: Sequence[Mapping[str, Any]]) -> str:
    """How many tables were read back from the weights of networks, and not from columns that they name."""
    return str(sum(bool(record["read_back"]) and record["origin"] in FROM_WEIGHTS for record in found))


def ablation(m: Measured) -> str:
    """What training contributes to rules in tables, for the README."""
    lines = _needs_training(m)
    trained, untrained = (_tables(m, name, lines) for name in ("nsr", "nsr-untrained"))
    return paragraph(
        f"""Of the random tables of [the battery](docs/battery.md), {_read_back(_tables(m, "nsr"))} are read back. What
        training contributes on its {len(lines)} lines of sums and products:
        {_read_back(_tables(m, "nsr-no-training", lines))} are read without networks, {_read_back(trained)} with them,
        {_from_weights(trained)} from their weights, and {_read_back(untrained)} with untrained ones,
        {_from_weights(untrained)} from weights."""
    )


def battery(m: Measured) -> str:
    """What the battery of tables found, where its table does not say it."""
    of, read, never, alone = _tables, _read_back, _needs_training(m), _tables(m, "nsr-no-screen")
    slower = median(r["cpu_seconds"] for r in alone) / median(r["cpu_seconds"] for r in of(m, "nsr"))
    flipped = [record for record in m.lines("learn.jsonl") if record["part"] == "flipped" and not record["left_out"]]
    noisy = [record for record in flipped if record["line"] in never]
    claims = [record for record in m.lines("learn.jsonl") if record["part"] == "no-rule"]
    made = [record for record in claims if record["rule"]]
    wrong = sum(bool(record["false_claim"]) for record in made)
    be = "is" if wrong == 1 else "are"
    trained, untrained = (of(m, name, never) for name in ("nsr", "nsr-untrained"))
    few, many = ([r for r in untrained if (r["columns"] <= FEW_COLUMNS) == small] for small in (True, False))
    return paragraph(
        f"""Read back: {read(of(m, "nsr"))}; with 5 % of the labels flipped {read(flipped)}. *No training* is the same
        search without networks: of {len(never)} lines of sums, xor of sums and products it reads none,
        {read(of(m, "nsr-no-training", never))} tables; with training {read(trained)}, {_from_weights(trained)} of them
        from the weights of networks (with flipped labels {_from_weights(noisy)} of {len(noisy)}). *Untrained* is the
        whole search with networks that keep the random weights they start with, on these lines: {read(untrained)},
        {_from_weights(untrained)} of them from weights. The others were found by the narrowed screen, of sums of up to
        four of the nine columns that networks weigh most: the fewer columns there are, the more often chance names the
        right ones. Of tables of at most {FEW_COLUMNS} columns {read(few)} are read, of larger ones {read(many)}.
        *No screen* is the search with networks alone: it reads {read(alone)}, in {slower:.0f} times the median time.
        Counts and multiples are found by either.
        On {len(claims)} tables without a rule {len(made)} rules were claimed, of which {wrong} {be} wrong on more
        than 1 % of fresh rows. {_named(of(m, "nsr"))} {_seeds_of_tables(m)}"""
    )


def _named(found: Sequence[Mapping[str, Any]]) -> str:
    """What the convention for factors costs, and how often the evidence names the truth beside a wrong rule."""
    less, more = ([r for r in found if r["line"] == line] for line in ("fraction", "multiple"))
    wrong = [r for r in found if r["rule"] and not r["read_back"]]
    named = f"; the evidence names the true comparison for {sum(bool(r.get('truth_named')) for r in wrong)} of them"
    named = f"{named}, which does not count as read back" if wrong else ""
    mirrored = f", of its mirror image `b < 0.9 a` {_read_back(less)}" if less else ""
    return f"""Where the rows do not distinguish 5 % more from 5 % less, more is taken: of the line `a > 1.1 b`
        {_read_back(more)} are read{mirrored}. Rules that were printed and are wrong: {len(wrong)}{named}."""


def _seeds_of_tables(m: Measured) -> str:
    """Which tables each figure is from."""
    lines: dict[tuple[int, str], dict[str, None]] = {}
    for record in m.lines("learn.jsonl"):
        what = {"flipped": "flipped labels", "no-rule": "no rule"}.get(record["part"], record["contender"])
        lines.setdefault((record["seed"], what), {})[record["line"]] = None
    several = {what for _, what in lines if sum(what == other for _, other in lines) > 1}
    texts: dict[int, list[str]] = {}
    for (seed, what), of in sorted(lines.items()):
        shown = f" ({', '.join(of)})" if what in several and len(of) <= MOST_LINES else ""
        texts.setdefault(seed, []).append(what + shown)
    return "Seeds: " + "; ".join(f"{seed} for {', '.join(texts[seed])}" for seed in sorted(texts)) + "."


def another_seed(m: Measured) -> str:
    """How the search did on flipped tables of a further seed: in all, and the lines that were read worst."""
    records = m.lines("learn_4111.jsonl")
    read: dict[str, list[bool]] = defaultdict(list)
    for record in records:
        read[record["line"]].append(bool(record["read_back"]))
    every = [one for each in read.values() for one in each]
    short = [f"{line} {sum(each)} of {len(each)}" for line, each in read.items() if sum(each) < 0.9 * len(each)]
    return paragraph(f"Seed {records[0]['seed']}: {rate_text(sum(every), len(every))}; least: {', '.join(short)}.")


BLOCKS: Mapping[str, Callable[[Measured], str]] = {
    "results": results,
    "all results": all_results,
    "where the NSR loses": where_the_nsr_loses,
    "losses in short": losses_in_short,
    "where we differ": where_we_differ,
    "usable baselines": usable_baselines,
    "minutes": minutes,
    "speed": speed,
    "engine times": engine_times,
    "core minutes": core_minutes,
    "paper run": paper_run,
    "open points": open_points,
    "redundancy peak": redundancy_peak,
    "digits difference": digits_difference,
    "battery": battery,
    "another seed": another_seed,
    "ablation": ablation,
    **{name: lambda m, block=block: block(m.folder) for name, block in measured_costs.BLOCKS.items()},
}


def written(page: str, m: Measured) -> str:
    """A page with all blocks as the records say."""
    return MARKERS.sub(lambda found: found[1] + BLOCKS[found[2]](m) + found[4], page)


def main() -> None:
    """Rewrite or check the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a block differs")
    parser.add_argument("--from", type=Path, default=ROOT / "results", dest="folder", help="records (default: results)")
    chosen = parser.parse_args()
    measured, differing = Measured(chosen.folder), []
    for name in PAGES:
        page = (ROOT / name).read_text(encoding="utf-8")
        new = written(page, measured)
        pairs = zip(MARKERS.findall(page), MARKERS.findall(new), strict=True)
        differing += [f"{name}: {old[1]}" for old, now in pairs if old[2] != now[2]]
        if not chosen.check and new != page:
            (ROOT / name).write_text(new, encoding="utf-8")
    print("\n".join(differing) if differing else "every block is as the records say")
    if chosen.check and differing:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
