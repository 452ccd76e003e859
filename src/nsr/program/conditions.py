"""Formulas about single columns that are not numbers: texts, truth values, and cells that are missing.

A missing cell makes every comparison with it false, and its negation too, as in SQL; only ``Missing`` is true of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from nsr.program.expressions import Expression, Formula, Truth, Variable
from nsr.program.kinds import Kind


@dataclass(frozen=True, repr=False)
class Condition(Formula):
    """A formula about one column, or its negation."""

    column: Variable
    holds: bool

    @property
    def children(self) -> tuple[Expression, ...]:
        """The column."""
        return (self.column,)

    def negated(self) -> Self:
        """The condition that holds where this one does not, as long as the cell is not missing."""
        return replace(self, holds=not self.holds)


@dataclass(frozen=True, init=False, repr=False)
class OneOf(Condition):
    """Whether a text is one of several: ``country in ('AT', 'DE')``; with ``holds=False``, whether it is none."""

    texts: tuple[str, ...]

    def __init__(self, column: Variable, texts: Iterable[str], holds: bool = True) -> None:
        _check_column(column, "OneOf", Kind.TEXT)
        if isinstance(texts, str):
            raise ValueError(f"the texts of OneOf must be a list, got the text {texts!r}")
        texts = tuple(sorted(set(texts)))
        if not all(isinstance(text, str) for text in texts):
            raise ValueError(f"the texts of OneOf must be strings, got {list(texts)}")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "texts", texts)
        object.__setattr__(self, "holds", bool(holds))


@dataclass(frozen=True, repr=False)
class Flag(Condition):
    """Whether a column of truth values is true; with ``holds=False``, whether it is false."""

    holds: bool = True

    def __post_init__(self) -> None:
        _check_column(self.column, "Flag", Kind.BOOLEAN)


@dataclass(frozen=True, repr=False)
class Missing(Condition):
    """Whether a cell is missing (NULL, None, NaN); with ``holds=False``, whether it is present."""

    holds: bool = True

    def __post_init__(self) -> None:
        _check_column(self.column, "Missing")


def _check_column(column: object, role: str, kind: Kind | None = None) -> None:
    if not isinstance(column, Variable) or (kind is not None and column.kind != kind):
        wanted = "a variable" if kind is None else f"a variable of kind {str(kind)!r}"
        raise ValueError(f"the column of {role} must be {wanted}, got {column!r}")


def joined_conditions(formulas: set[Expression], *, every: bool) -> set[Expression]:
    """Fewer conditions that say the same, joined by and (``every``) or by or, with at most one of a kind for a column.

    What is compared is present: ``x > 5 and x is present`` is ``x > 5``, and ``x > 5 or x is present`` is ``x is
    present``.
    """
    merged = _merged_texts({each for each in formulas if isinstance(each, OneOf)}, every=every)
    others = {each for each in formulas if not isinstance(each, OneOf)} | merged
    for column in {each.column for each in others if isinstance(each, Flag)}:
        if {Flag(column), Flag(column, False)} <= others:
            others -= {Flag(column), Flag(column, False)}
            others.add(Truth(False) if every else Missing(column, False))
    return _without_presence(others, every=every)


def _merged_texts(conditions: set[OneOf], *, every: bool) -> set[Expression]:
    """One condition for each column: sets of texts, or of all other texts, are united or intersected."""
    found: dict[Variable, OneOf] = {}
    for condition in sorted(conditions, key=repr):
        column = condition.column
        found[column] = _merge(found[column], condition, every=every) if column in found else condition
    return {simple_condition(condition) for condition in found.values()}


def simple_condition(condition: Condition) -> Expression:
    """The canonical form: no text is one of none, and every text is none of none."""
    if not isinstance(condition, OneOf) or condition.texts:
        return condition
    return Truth(False) if condition.holds else Missing(condition.column, False)


def _merge(one: OneOf, other: OneOf, *, every: bool) -> OneOf:
    if every:  # not (not one or not other)
        return _merge(one.negated(), other.negated(), every=False).negated()
    first, second = set(one.texts), set(other.texts)
    match one.holds, other.holds:
        case True, True:
            return OneOf(one.column, first | second)
        case True, False:
            return OneOf(one.column, second - first, False)
        case False, True:
            return OneOf(one.column, first - second, False)
    return OneOf(one.column, first & second, False)


def _without_presence(formulas: set[Expression], *, every: bool) -> set[Expression]:
    """Leave out what follows from, or is followed by, a cell being present."""
    absent, present = (
        {each.column.name for each in formulas if isinstance(each, Missing) and each.holds == holds}
        for holds in (True, False)
    )
    needs = {each: set(each.variables) for each in formulas if _needs_cells(each)}
    needed = set().union(*needs.values())
    if not every:
        return {each for each in formulas if not needs.get(each, set()) & present}
    if absent & (needed | present):
        return {Truth(False)}
    return {
        each for each in formulas if not (isinstance(each, Missing) and not each.holds and each.column.name in needed)
    }


def _needs_cells(formula: Expression) -> bool:
    """Whether a formula can only hold where all of its columns are present: it has no formulas inside."""
    inside = (node for node in formula.walk() if node is not formula)
    return not isinstance(formula, Missing) and not any(node.is_boolean for node in inside)
