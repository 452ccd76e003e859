"""Loops over lists as programs: a state, its start and its step (Section 4.5)."""

import html
import keyword
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from nsr.program.evaluation import evaluate, on_exact_numbers
from nsr.program.expressions import Compare, Expression, Variable, Where
from nsr.program.program import Evidence

FIRST, ITEM = Variable("first"), Variable("x")
"""The first element of the list and the current one."""


@dataclass(frozen=True)
class Fold:
    """A loop: ``state = start``, then ``state = step`` for every element ``x`` after the first.

    Args:
        state: Name of the state in ``step``.
        start: Initial state: a number that may use ``first``, the first element.
        step: Next state: a number that may use the state, ``x`` and ``first``.
        evidence: What supports it, if it was read from a model.

    >>> from nsr.program import Fold, Variable, Where
    >>> best, x = Variable("best"), Variable("x")
    >>> minimum = Fold("best", start=Variable("first"), step=Where(best > x, x, best))
    >>> minimum([3, 10**100, -2])
    -2
    >>> print(minimum)
    best = first
    for x in rest:
        best = x if best > x else best
    """

    state: str
    start: Expression
    step: Expression
    evidence: Evidence | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.state, str) or not self.state.isidentifier() or keyword.iskeyword(self.state):
            raise ValueError(f"the name of the state must be a Python identifier, got {self.state!r}")
        if self.state in (FIRST.name, ITEM.name):
            raise ValueError(f"the state cannot be named {self.state!r}, which is the name of an element of the list")
        for role, part, known in (
            ("start", self.start, {FIRST.name}),
            ("step", self.step, {FIRST.name, ITEM.name, self.state}),
        ):
            if part.is_boolean or not set(part.variables) <= known:
                raise ValueError(f"{role} must be a number that uses only {', '.join(sorted(known))}, got {part}")
            object.__setattr__(self, role, part.simplified())

    def __call__(self, items: Any, lengths: Any = None) -> Any:
        """The final state for a list, or for every list in the last axis of an array or tensor.

        Args:
            items: Numbers of any type; a list may hold integers of any size.
            lengths: For arrays and tensors, the number of elements of each list; all by default.
        """
        if not hasattr(items, "shape"):
            if lengths is not None:
                raise ValueError("lengths apply to arrays and tensors of lists, not to a single list")
            return self._list(items)
        if items.ndim == 0 or items.shape[-1] == 0:
            raise ValueError(f"a list must have at least one element, got shape {tuple(items.shape)}")
        if lengths is not None:
            checked = _checked_lengths(lengths, tuple(items.shape))
            lengths = torch.as_tensor(checked, device=items.device) if isinstance(items, torch.Tensor) else checked
        where = torch.where if isinstance(items, torch.Tensor) else np.where
        first = items[..., 0]
        state = self._at(self.start, first, first, first)
        for position in range(1, items.shape[-1]):
            new = self._at(self.step, state, first, items[..., position])
            state = new if lengths is None else where(position < lengths, new, state)
        return state

    def _list(self, items: Iterable[Any]) -> Any:
        if not isinstance(items, Iterable):
            raise ValueError(f"a list must hold numbers, got {items!r}")
        numbers = list(items)
        if not numbers:
            raise ValueError("a list must have at least one element, got none")
        first = numbers[0]
        if isinstance(first, list | tuple):
            raise ValueError(f"a list must hold numbers, got {first!r}: pass several lists as the rows of an array")
        at = self._at_integers if all(type(number) is int for number in numbers) else self._at
        state = at(self.start, first, first, first)
        for item in numbers[1:]:
            state = at(self.step, state, first, item)
        return state

    def _at_integers(self, expression: Expression, state: Any, first: int, item: int) -> Any:
        return on_exact_numbers(expression, {self.state: state, FIRST.name: first, ITEM.name: item})

    def _at(self, expression: Expression, state: Any, first: Any, item: Any) -> Any:
        return evaluate(expression, {self.state: state, FIRST.name: first, ITEM.name: item}, rows=first)

    def emit(self, target: str, **options: str) -> str:
        """The loop in another language: ``"python"`` or ``"c"``."""
        from nsr.program.emit.folds import emit_fold

        return emit_fold(self, target, **options)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def __str__(self) -> str:
        step = self.step
        written = f"{step.then} if {step.condition} else {step.otherwise}" if isinstance(step, Where) else str(step)
        return f"{self.state} = {self.start}\nfor x in rest:\n    {self.state} = {written}"


def _checked_lengths(lengths: Any, shape: tuple[int, ...]) -> np.ndarray:
    checked = np.asarray(lengths)
    if checked.dtype.kind not in "iu" or checked.shape != shape[:-1]:
        raise ValueError(
            f"lengths must be integers of shape {shape[:-1]}, got {checked.dtype} of shape {checked.shape}"
        )
    outside = checked[(checked < 1) | (checked > shape[-1])]
    if outside.size:
        raise ValueError(f"lengths must be from 1 to {shape[-1]}, got {outside.flat[0]}")
    return checked


def minima(state: str) -> tuple[Fold, Fold]:
    """The two ways to write the minimum of a list, which keep different ones of two equal numbers."""
    best = Variable(state)
    strict, weak = (Fold(state, FIRST, Where(Compare(symbol, best, ITEM), ITEM, best)) for symbol in (">", ">="))
    return strict, weak


MINIMA = minima("best")
