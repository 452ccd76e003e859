"""A program: an exact expression over named inputs, with the evidence for it where it was read from a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from nsr.program.evaluation import evaluate
from nsr.program.expressions import Expression

if TYPE_CHECKING:
    from nsr.program.hardened import Hardened


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """How well a program, the model it was read from and the data agree."""

    rows: int
    """How many rows were looked at."""
    with_model: float
    """Share of the rows on which the program says what the model says."""
    with_data: float | None
    """Share of the rows on which the program says what the data say; None where no answers were given."""
    margin: float | None = None
    """For a formula: the smallest size of the model's logit on a row."""
    distance: float | None = None
    """For a number: the largest distance of the model from the program on a row."""
    dropped: tuple[str, ...] = ()
    """What the model has and the program does not need."""
    unseen: tuple[str, ...] = ()
    """Cases that no row shows. Of them the program says what the model does there, if that makes it no larger."""


@dataclass(frozen=True, eq=False)
class Program:
    """An expression over inputs in an order: what a trained model says.

    Args:
        expression: What it computes, brought to its canonical form.
        names: The inputs, in the order of the columns; by default those that the expression needs, in natural order.
        evidence: How it was found, where it was read from a model.
    """

    expression: Expression
    names: tuple[str, ...] = ()
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        names = tuple(self.names) or self.expression.variables
        if len(set(names)) < len(names):
            raise ValueError(f"names must differ from one another, got {list(names)}")
        unknown = [name for name in self.expression.variables if name not in names]
        if unknown:
            raise ValueError(f"names must include {unknown[0]!r}, which the expression needs, got {list(names)}")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "expression", self.expression.simplified())

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names it depends on, in the order of the columns: the arguments of an emitted function."""
        used = set(self.expression.variables)
        return tuple(name for name in self.names if name in used)

    def __call__(self, x: Any) -> Any:
        """Its answer for rows: a mapping or table of columns, or numbers whose last axis follows ``names``.

        An array or a tensor (..., columns) gives an array or a tensor (...); a list of numbers is one row, and a list
        of lists has a row in each. A program without names takes any number of columns.
        """
        if hasattr(x, "keys") or hasattr(x, "columns"):
            rows = np.zeros(len(x), dtype=np.int64) if hasattr(x, "columns") else None
            return evaluate(self.expression, {name: x[name] for name in self.inputs if name in x}, rows=rows)
        x = x if hasattr(x, "shape") else np.array(x, dtype=object)
        shape = tuple(x.shape)
        if not shape or (self.names and shape[-1] != len(self.names)):
            raise ValueError(f"x must have {len(self.names)} numbers in its last axis, got shape {shape}")
        columns = {name: x[..., self.names.index(name)] for name in self.inputs}
        zeros = x.new_zeros(shape[:-1]) if isinstance(x, torch.Tensor) else np.zeros(shape[:-1], dtype=x.dtype)
        return evaluate(self.expression, columns, rows=zeros)

    def emit(self, target: str, **options: Any) -> Any:
        """The same program in another language; see ``nsr.program.emit``."""
        from nsr.program.emit import emit

        return emit(self, target, **options)

    def module(self) -> "Hardened":
        """The same program as a torch module with exact gates, to take the place of the soft one."""
        from nsr.program.hardened import Hardened

        return Hardened(self)

    def __eq__(self, other: object) -> bool:
        """Whether the rule is the same, by its canonical form; the evidence does not matter."""
        if isinstance(other, Program):
            return self.expression == other.expression
        return isinstance(other, Expression) and self.expression == other.simplified()

    def __hash__(self) -> int:
        return hash(self.expression)

    def __str__(self) -> str:
        return str(self.expression)

    def __repr__(self) -> str:
        return f"Program({str(self)!r})"


def default_names(inputs: int) -> tuple[str, ...]:
    """The paper's names of the inputs: x1, x2 and so on."""
    return tuple(f"x{position}" for position in range(1, inputs + 1))


def checked_names(names: Sequence[str] | None, inputs: int) -> tuple[str, ...]:
    """One name for each input, the paper's by default."""
    if names is None:
        return default_names(inputs)
    names = tuple(names)
    if len(names) != inputs:
        raise ValueError(f"names must be {inputs}, one for each input, got {len(names)}")
    return names
