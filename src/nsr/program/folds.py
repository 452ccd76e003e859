"""A loop over a list as a program: a state, its start, its step (Section 4.5)."""

import keyword
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from nsr.program.evaluation import evaluate
from nsr.program.expressions import Compare, Expression, Variable, Where
from nsr.program.program import Evidence

FIRST, ITEM = Variable("first"), Variable("x")
"""The first element of the list, which start and step may use, and the one whose turn it is."""


@dataclass(frozen=True)
class Fold:
    """``state = start``, and then for every element ``x`` after the first ``state = step``.

    Args:
        state: The name of the state in ``step``.
        start: What it is at first, a number that may use ``first``.
        step: What it becomes, a number that may use the state, ``x`` and ``first``.
        evidence: How it was found, where it was read from a model.
    """

    state: str
    start: Expression
    step: Expression
    evidence: Evidence | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.state, str) or not self.state.isidentifier() or keyword.iskeyword(self.state):
            raise ValueError(f"the name of the state must be a word, got {self.state!r}")
        if self.state in (FIRST.name, ITEM.name):
            raise ValueError(f"the state needs a name of its own, got {self.state!r}")
        for what, part, known in (
            ("start", self.start, {FIRST.name}),
            ("step", self.step, {FIRST.name, ITEM.name, self.state}),
        ):
            if part.is_truth or not set(part.variables) <= known:
                raise ValueError(f"{what} must be a number that uses {', '.join(sorted(known))} alone, got {part}")
            object.__setattr__(self, what, part.simplified())

    def __call__(self, items: Any, lengths: Any = None) -> Any:
        """The state after the last element of a list, or of every list in the last axis of an array or tensor.

        Args:
            items: Numbers of any kind: a list may hold integers of any size.
            lengths: For arrays and tensors, how many elements of each list count; all by default.
        """
        if not hasattr(items, "shape"):
            if lengths is not None:
                raise ValueError("lengths are for arrays and tensors of lists: a single list has its own")
            return self._list(items)
        if items.ndim == 0 or items.shape[-1] == 0:
            raise ValueError(f"a list must have at least one element, got shape {tuple(items.shape)}")
        if lengths is not None:
            known = _checked_lengths(lengths, tuple(items.shape))
            lengths = torch.as_tensor(known, device=items.device) if isinstance(items, torch.Tensor) else known
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
        numbers = iter(items)
        try:
            first = next(numbers)
        except StopIteration:
            raise ValueError("a list must have at least one element, got none") from None
        if isinstance(first, list | tuple):
            raise ValueError(f"a list must hold numbers, got {first!r}: several lists are an array, one in each row")
        state = self._at(self.start, first, first, first)
        for item in numbers:
            state = self._at(self.step, state, first, item)
        return state

    def _at(self, expression: Expression, state: Any, first: Any, item: Any) -> Any:
        return evaluate(expression, {self.state: state, FIRST.name: first, ITEM.name: item}, rows=first)

    def emit(self, target: str, **options: str) -> str:
        """The loop in another language: ``python`` or ``c``."""
        from nsr.program.emit.folds import emit_fold

        return emit_fold(self, target, **options)

    def __str__(self) -> str:
        step = self.step
        written = f"{step.then} if {step.condition} else {step.otherwise}" if isinstance(step, Where) else str(step)
        return f"{self.state} = {self.start}\nfor x in rest:\n    {self.state} = {written}"


def _checked_lengths(lengths: Any, shape: tuple[int, ...]) -> np.ndarray:
    known = np.asarray(lengths)
    if known.dtype.kind not in "iu" or known.shape != shape[:-1]:
        raise ValueError(
            f"lengths must be whole numbers of shape {shape[:-1]}, got {known.dtype} of shape {known.shape}"
        )
    outside = known[(known < 1) | (known > shape[-1])]
    if outside.size:
        raise ValueError(f"lengths must be from 1 to {shape[-1]}, got {outside.flat[0]}")
    return known


def minima(state: str) -> tuple[Fold, Fold]:
    """The minimum of a list under a name. Which of two equal numbers it keeps makes no difference."""
    best = Variable(state)
    more, no_less = (Fold(state, FIRST, Where(Compare(symbol, best, ITEM), ITEM, best)) for symbol in (">", ">="))
    return more, no_less


MINIMA = minima("best")
