"""The page of ``nsr profile``: the statements in groups, and the rows that break them, in one HTML file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nsr.html.page import write_html
from nsr.learn.profile.redundancy import is_order
from nsr.learn.profile.report import holds, share, shown_statements
from nsr.learn.profile.statements import Family, Profile, Statement
from nsr.program.emit.names import printable
from nsr.program.expressions import Compare

MOST_ROWS = 10
"""How many of the rows that break a statement are shown."""
LONGEST_LABEL = 22
STEP, HEIGHT, BOX = 210, 44, 28
"""Pixels from one layer of the order diagram to the next, from one column to the next, and of a box."""


def write_page(path: Path, profile: Profile, *, everything: bool = False) -> None:
    """Write the page of a profile."""
    shown = shown_statements(profile, everything=everything)
    write_html(
        path,
        "nsr.learn.profile",
        "profile.html.j2",
        profile=profile,
        name=printable(Path(profile.source).name),
        keys=list(map(printable, profile.keys)),
        notes=list(map(printable, profile.notes)),
        groups=[group for family in Family if (group := _group(family, shown))],
        ranges=[printable(str(statement)) for statement in shown if statement.is_trivial],
        total=sum(not statement.is_trivial for statement in shown),
        hidden=len(profile.statements) - len(shown),
    )


def _group(family: Family, shown: Sequence[Statement]) -> dict[str, Any] | None:
    """The statements of a family, and a diagram of the orders."""
    statements = [statement for statement in shown if statement.family == family and not statement.is_trivial]
    if not statements:
        return None
    diagram = order_diagram(statements) if family == Family.ORDER else None
    return {"title": str(family), "statements": [_card(each) for each in statements], "diagram": diagram}


def _card(statement: Statement) -> dict[str, Any]:
    chance = statement.candidate.chance
    return {
        "text": printable(str(statement)),
        "holds": holds(statement),
        "share": statement.holds / statement.rows,
        "chance": chance,
        "shuffled": share(chance),
        "surprise": f"{statement.score:,.0f}",
        "breaks": statement.breaks,
        "columns": list(map(printable, statement.candidate.columns)),
        "examples": list(_examples(statement)),
    }


def _examples(statement: Statement) -> Iterator[dict[str, Any]]:
    """The first rows that break a statement, with the cells that it is about."""
    rows = statement.examples[:MOST_ROWS]
    for at, row in enumerate(rows.index):
        yield {"row": f"{row:,}", "cells": [_cell(rows[name].iloc[at]) for name in statement.candidate.columns]}


def _cell(value: Any) -> str:
    """A cell as text."""
    if pd.isna(value):
        return "missing"
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, pd.Timestamp):
        return str(value.date() if value == value.normalize() else value)
    return f"{value:.10g}" if isinstance(value, float) else printable(str(value))


@dataclass(frozen=True)
class Box:
    """A column in the order diagram."""

    name: str
    title: str
    label: str
    x: int
    y: int


@dataclass(frozen=True)
class Diagram:
    """Columns from the smallest on the left to the largest on the right, with arrows for the orders."""

    width: int
    height: int
    boxes: Sequence[Box]
    arrows: Sequence[tuple[Box, Box]]


def order_diagram(statements: Sequence[Statement]) -> Diagram | None:
    """A diagram of the orders that hold on all rows, of columns that are ordered with at least two others."""
    edges = []
    for statement in statements:
        claim = statement.candidate.claim
        if is_order(statement.candidate) and isinstance(claim, Compare) and not statement.breaks:
            edges.append((claim.left.variables[0], claim.right.variables[0]))
    layers = _layers(edges)
    if not layers:
        return None
    lines: dict[int, int] = {}
    boxes = {}
    for name, layer in layers.items():
        line = lines.get(layer, 0)
        lines[layer] = line + 1
        boxes[name] = Box(name, printable(name), _shortened(name), layer * STEP, line * HEIGHT + 4)
    arrows = [(boxes[low], boxes[high]) for low, high in edges if low in boxes]
    width = max(layers.values()) * STEP + STEP - 30
    return Diagram(width, max(lines.values()) * HEIGHT, list(boxes.values()), arrows)


def _layers(edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """How many columns are below each one, for groups of at least three columns; groups stay together."""
    depth = {name: 0 for edge in edges for name in edge}
    for _ in depth:
        for low, high in edges:
            depth[high] = min(max(depth[high], depth[low] + 1), len(depth))
    kept: dict[str, int] = {}
    for group in _components(edges):
        if len(group) > 2 and max(depth[name] for name in group) < len(depth):
            kept |= {name: depth[name] for name in sorted(group, key=lambda name: (depth[name], name))}
    return kept


def _components(edges: Sequence[tuple[str, str]]) -> list[set[str]]:
    """Columns that are connected by orders."""
    groups: list[set[str]] = []
    for edge in edges:
        touched = [group for group in groups if group & set(edge)]
        groups = [group for group in groups if not group & set(edge)] + [set(edge).union(*touched)]
    return groups


def _shortened(name: str) -> str:
    name = printable(name)
    return name if len(name) <= LONGEST_LABEL else name[: LONGEST_LABEL - 1] + "…"
