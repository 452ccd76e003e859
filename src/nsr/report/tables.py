"""Summaries as tables for the terminal, the published value beside ours."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from nsr.experiments.spec import Experiment
from nsr.report.summaries import Summary


def comparison_tables(experiment: Experiment, summaries: Sequence[Summary]) -> Iterator[Table]:
    """Table 1, turned so that it fits 80 columns: a row for each magnitude, a column for each comparison."""
    for recipe in experiment.recipes:
        for model in dict.fromkeys(summary.cell.model for summary in summaries):  # type: ignore[attr-defined]
            shown = [s for s in summaries if s.recipe == recipe and s.cell.model == model]  # type: ignore[attr-defined]
            if shown:
                yield _comparison_table(experiment, recipe, model, shown)


def _comparison_table(experiment: Experiment, recipe: str, model: str, summaries: Sequence[Summary]) -> Table:
    seeds = summaries[0].seeds
    table = Table(
        title=f"{experiment.shows}: {model.upper()}, recipe {recipe}, {seeds} seeds, ours and the paper's",
        title_justify="left",
        title_style="bold",
        box=None,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("")
    for summary in summaries:
        table.add_column(Text(f"{summary.cell.comparison}", justify="center"), justify="left", no_wrap=True)  # type: ignore[attr-defined]
    for name in (name for name in summaries[0].metrics if name != "epochs"):
        table.add_row(name, *(beside(s.metrics[name], s.published.get(name)) for s in summaries))
    table.add_section()
    table.add_row("perfect", *(f"{s.perfect} of {s.seeds}" for s in summaries), style="dim")
    table.add_row("epochs", *(f"{s.metrics['epochs']:,.0f}" for s in summaries), style="dim")
    return table


def beside(ours: float, paper: float | None) -> Text:
    """Our mean, cut (not rounded) to three digits so that 1.000 means every row of every seed; then the paper's."""
    text = Text(f"{int(ours * 1000) / 1000:.3f}", style="bold" if ours == 1 else "")
    return text.append(f" {paper:.2f}" if paper is not None else "  -  ", style="dim")
