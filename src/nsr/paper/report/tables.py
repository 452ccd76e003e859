"""Summaries as tables for the terminal, the published value beside ours."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from nsr.data import COMPARISONS
from nsr.paper.experiments import comparisons, floats, piecewise, redundancy
from nsr.paper.measure import GATES
from nsr.paper.report import digits
from nsr.paper.report.sections import PATHS_ROWS, RECURRENT_COUNTS, RECURRENT_ROWS, paths_of
from nsr.paper.spec import Experiment
from nsr.paper.summaries import Summary


def tables(experiment: Experiment, summaries: Sequence[Summary]) -> Iterator[Group]:
    """What the terminal shows of an experiment, one recipe after the other."""
    for recipe in experiment.recipes:
        shown = [summary for summary in summaries if summary.recipe == recipe]
        for table in TABLES[experiment.name](experiment, shown) if shown else ():
            title, table.title = table.title, None  # as a title it would wrap at the width of a narrow table
            yield Group(Text(str(title), style="bold"), table)


def table_1(experiment: Experiment, summaries: Sequence[Summary]) -> Iterator[Table]:
    """Table 1, turned so that it fits 80 columns: a row for each magnitude, a column for each comparison."""
    for model in GATES:
        shown = [summary for summary in summaries if getattr(summary.cell, "model", None) == model]
        if not shown:
            continue
        table = _table(f"{experiment.shows}: {model.upper()}, {_how(shown)}, ours and the paper's")
        table.add_column("")
        for summary in shown:
            _add_column(table, summary.cell.comparison)  # type: ignore[attr-defined]
        _add_rows(table, shown, ["train", *(f"10^{power}" for power in comparisons.POWERS)])
        digits = (f"{s.perfect('1000 digits')} of {s.seeds}" for s in shown)
        table.add_row("10^1000", *digits, style="dim")
        yield table


def table_2(experiment: Experiment, summaries: Sequence[Summary]) -> Iterator[Table]:
    """Table 2, turned likewise: a row for each magnitude, a column for each gate and function."""
    table = _table(f"{experiment.shows}: {_how(summaries)}, ours and the paper's")
    table.add_column("")
    for summary in summaries:
        _add_column(table, f"{summary.cell.model.upper()} {summary.cell.function}")  # type: ignore[attr-defined]
    _add_rows(table, summaries, ["train", *(f"3^{power}" for power in piecewise.SHOWN)])
    yield table


def redundancy_table(experiment: Experiment, summaries: Sequence[Summary]) -> Iterator[Table]:
    """The curves as numbers: a row for each number of units."""
    table = _table(f"{experiment.shows}: {_how(summaries)}, mean over all magnitudes")
    table.add_column("units")
    for task in redundancy.TASKS:
        _add_column(table, task)
    for summary in summaries:
        row = (ours(summary.metrics[task]) for task in redundancy.TASKS)
        table.add_row(str(summary.cell.redundancy), *row)  # type: ignore[attr-defined]
    yield table


def recurrent_table(experiment: Experiment, summaries: Sequence[Summary]) -> Iterator[Table]:
    """The maps as numbers: a row for each length, a column for each gate and loop."""
    table = _table(f"{experiment.shows}: {_how(summaries)}, mean over all magnitudes")
    table.add_column("length")
    for summary in summaries:
        _add_column(table, f"{summary.cell.model.upper()} {summary.cell.loop}")  # type: ignore[attr-defined]
    for row, names in RECURRENT_ROWS.items():
        table.add_row(row, *(ours(summary.mean(names)) for summary in summaries))
    _add_counts(table, summaries, RECURRENT_COUNTS)
    yield table


def paths_table(experiment: Experiment, summaries: Sequence[Summary]) -> Iterator[Table]:
    """The curves as numbers: a row for each point, a column for each model."""
    table = _table(f"{experiment.shows}: {_how(summaries)}, mean over nodes / largest weight")
    table.add_column("about")
    for summary in summaries:
        _add_column(table, paths_of(summary.cell))
    for row, name in PATHS_ROWS.items():
        table.add_row(
            row, *(Text(f"{s.metrics[name]:.3g}", style="" if s.metrics[name] else "bold") for s in summaries)
        )
    table.add_row("exact graphs", *(ours(s.metrics["exact"]) for s in summaries))
    _add_counts(table, summaries, ["read"])
    yield table


def digit_tables(experiment: Experiment, summaries: Sequence[Summary]) -> Iterator[Table]:
    """The tables of the page: the paper's cells, then the models that were shown some pairs only."""
    for told in digits.digit_tables(experiment, summaries):
        table = _table(f"{experiment.shows}: {told['title'][0].lower()}{told['title'][1:]}")
        table.add_column(told["corner"])
        for name in told["head"]:
            _add_column(table, name)
        for row, cells in told["body"]:
            table.add_row(row, *(ours(cell[0]) if cell else Text("missing") for cell in cells))
        yield table


def _add_rows(table: Table, shown: Sequence[Summary], names: Sequence[str]) -> None:
    """Means beside the paper's, then how many seeds were perfect and read as the rule, and how long they trained."""
    for name in names:
        table.add_row(name, *(beside(s.metrics[name], s.published.get(name)) for s in shown))
    _add_counts(table, shown, ["read"])


def _add_counts(table: Table, shown: Sequence[Summary], names: Sequence[str]) -> None:
    """How many seeds were perfect, at how many each of the names holds, and how long they trained."""
    table.add_row("perfect", *(f"{s.perfect()} of {s.seeds}" for s in shown), style="dim")
    for name in names:
        table.add_row(name, *(f"{s.perfect(name)} of {s.seeds}" for s in shown), style="dim")
    table.add_row("epochs", *(f"{s.metrics['epochs']:,.0f}" for s in shown), style="dim")


def float_maps(experiment: Experiment, summaries: Sequence[Summary]) -> Iterator[Table]:
    """The maps of > and =, lambda against delta, and the row with lambda from the data for all six."""
    given = {(s.cell.delta, s.cell.scale): s for s in summaries if s.cell.scale != "auto"}  # type: ignore[attr-defined]
    for comparison in (">", "=") if given else ():
        table = _table(f"{experiment.shows}: {comparison}, {_how(summaries)}, mean over 10^2 to 10^13")
        table.add_column("lambda \\ delta")
        deltas = _present(floats.SERIES, (delta for delta, _ in given))
        for delta in deltas:
            _add_column(table, f"{delta:g}")
        for scale in _present(floats.SERIES[::-1], (scale for _, scale in given)):
            found = (given.get((delta, scale)) for delta in deltas)
            table.add_row(f"{scale:g}", *(ours(s.metrics[comparison]) if s else Text("missing") for s in found))
        yield table
    auto = [s for s in summaries if s.cell.scale == "auto"]  # type: ignore[attr-defined]
    if auto:
        table = _table(f"Beyond the paper: lambda from the data, {_how(auto)}, mean over 10^2 to 10^13")
        table.add_column("delta")
        for comparison in COMPARISONS:
            _add_column(table, comparison)
        for summary in auto:
            row = (ours(summary.metrics[comparison]) for comparison in COMPARISONS)
            table.add_row(f"{summary.cell.delta:g}", *row)  # type: ignore[attr-defined]
        yield table


TABLES: Mapping[str, Callable[[Experiment, Sequence[Summary]], Iterator[Table]]] = {
    "comparisons": table_1,
    "floats": float_maps,
    "piecewise": table_2,
    "redundancy": redundancy_table,
    "recurrent": recurrent_table,
    "shortest_paths": paths_table,
    "digits": digit_tables,
}


def ours(mean: float) -> Text:
    """A mean, cut (not rounded) to three digits: 1.000 means every row of every seed."""
    return Text(f"{int(mean * 1000) / 1000:.3f}", style="bold" if mean == 1 else "")


def beside(mean: float, paper: float | None) -> Text:
    """Our mean and the paper's."""
    return ours(mean).append(f" {paper:.2f}" if paper is not None else "  -  ", style="dim")


def _how(summaries: Sequence[Summary]) -> str:
    return f"recipe {summaries[0].recipe}, {summaries[0].seeds} seeds"


def _table(title: str) -> Table:
    return Table(title=title, box=None, padding=(0, 1, 0, 0), pad_edge=False)


def _add_column(table: Table, name: str) -> None:
    table.add_column(Text(name, justify="center"), justify="left", no_wrap=True)


def _present(series: Sequence[float], among: Iterable[float]) -> list[float]:
    there = set(among)
    return [value for value in series if value in there]
