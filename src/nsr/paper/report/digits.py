"""The tables of Section 4.7, for the page and for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from nsr.paper.experiments.digits import MODELS
from nsr.paper.spec import Experiment
from nsr.paper.summaries import Summary

DIGIT_ROWS: Mapping[str, tuple[str, Sequence[str]]] = {
    ">": (">", ["accuracy"]),
    "digits": (">", ["digits"]),
    "=": ("=", ["accuracy"]),
    "equal pairs": ("=", ["equal"]),
    "unequal pairs": ("=", ["unequal"]),
    "balanced": ("=", ["equal", "unequal"]),
}
"""Rows of the tables of Section 4.7: the comparison, and the metrics whose mean each shows."""
TOLD = {"of 0 to 4": "of 0 to 4", "3 apart": "up to 3 apart"}
UNSEEN_ROWS = {"all pairs": "accuracy", "shown": "shown", "not shown": "not shown", "digits": "digits"}
"""Rows of its table of models that were shown some pairs only."""


def digit_tables(experiment: Experiment, summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """The ends of the curves as numbers, a table for each recipe, then the models that were shown some pairs only."""
    tables = []
    for recipe in experiment.recipes:
        there = {(s.cell.model, s.cell.comparison): s for s in _cells(summaries, recipe)}  # type: ignore[attr-defined]
        body = []
        for row, (comparison, names) in DIGIT_ROWS.items():
            found = [there.get((model, comparison)) for model in MODELS]
            if any(found):  # = is beyond the paper, and has recipe exact alone
                body.append((row, [s and (s.mean(names), None) for s in found]))
        if there:
            title = f"Recipe {recipe}, {_data(list(there.values()))}"
            tables.append({"title": title, "corner": "pairs", "head": MODELS, "body": body, "foot": []})
    unseen = _cells(summaries, "exact", beyond=True)
    if unseen:
        head = [f"{s.cell.model.upper()} {TOLD[s.cell.pairs]}" for s in unseen]  # type: ignore[attr-defined]
        body = [(row, [(s.metrics[name], None) for s in unseen]) for row, name in UNSEEN_ROWS.items()]
        title = f"Shown some pairs only, recipe exact, {unseen[0].seeds} seeds"
        tables.append({"title": title, "corner": "pairs", "head": head, "body": body, "foot": []})
    return tables


def _cells(summaries: Sequence[Summary], recipe: str, *, beyond: bool = False) -> list[Summary]:
    """The summaries of the paper's cells, or of the ones that were shown some pairs only."""
    return [s for s in summaries if s.recipe == recipe and (s.cell.pairs != "all") == beyond]  # type: ignore[attr-defined]


def _data(summaries: Sequence[Summary]) -> str:
    """Which images, how many seeds, and how long one of the last model took."""
    one, last = summaries[0], summaries[-1]
    seconds = last.seconds / last.seeds
    images = max(summary.metrics["trained on"] for summary in summaries)
    name = one.cell.images  # type: ignore[attr-defined]
    model = last.cell.model.upper()  # type: ignore[attr-defined]
    return f"{images:,.0f} images of {name}, {one.seeds} seeds, {model} {seconds:.0f} s a seed"
