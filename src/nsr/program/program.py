"""A program: an exact expression over named inputs, with the evidence for it if it was read from a model."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from nsr.errors import InputError, reject_masked
from nsr.program.cells import needs_cells, on_cells
from nsr.program.evaluation import evaluate
from nsr.program.expressions import Expression, Number, Variable
from nsr.program.kinds import Kind

if TYPE_CHECKING:
    from nsr.program.equivalence import Equivalence
    from nsr.program.hardened import Hardened


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """What supports a program. ``harden`` and the estimators of ``nsr.learn`` extend it."""

    rows: int
    """How many rows were examined."""
    agreement: float | None
    """Share of these rows on which the program gives the answer in the data; None where no answers were given."""
    not_covered: tuple[str, ...] = ()
    """Cases that no row shows."""
    not_distinguished: tuple[str, ...] = ()
    """Pairs of comparisons, that of the program first, that mean something else and fit the same rows."""


@dataclass(frozen=True, eq=False)
class Program:
    """An exact expression with named inputs, to be called, printed and emitted in other languages.

    Args:
        expression: What it computes; kept in its canonical form.
        names: The inputs, in the order of the columns; by default the variables of the expression, in natural order.
        evidence: What supports it, if it was read from a model or a table.

    >>> from nsr.program import Program, Variable, Where
    >>> a, b = Variable("a"), Variable("b")
    >>> program = Program(Where(a > b + 12, a, 0))
    >>> print(program)
    where(a > b + 12, a, 0)
    >>> program([10**30 + 13, 10**30])
    1000000000000000000000000000013
    >>> program({"a": [20, 20], "b": [1, 10]}).tolist()
    [20, 0]
    >>> print(program.emit("sql"))
    CASE WHEN "a" > "b" + 12 THEN "a" ELSE 0 END
    """

    expression: Expression
    names: tuple[str, ...] = ()
    evidence: Evidence | None = None

    def __post_init__(self) -> None:
        try:
            self._check()
        except RecursionError:
            raise InputError("the expression is nested too deep: it has hundreds of levels") from None

    def _check(self) -> None:
        if not isinstance(self.expression, Expression):
            raise ValueError(
                f"expression must be an expression, got {self.expression!r}: write a.eq(b) for a == b, and "
                "Program.parse(text) to read text"
            )
        names = tuple(self.names) or self.expression.variables
        if len(set(names)) < len(names):
            raise ValueError(f"names must be unique, got {list(names)}")
        unknown = [name for name in self.expression.variables if name not in names]
        if unknown:
            raise ValueError(f"names must include {unknown[0]!r}, which the expression needs, got {list(names)}")
        kinds = {(node.name, node.kind) for node in self.expression.walk() if isinstance(node, Variable)}
        if len(kinds) > len(self.expression.variables):
            raise ValueError(f"a column must be of one kind, got {sorted(map(str, kinds))}")
        _check_numbers(self.expression)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "expression", self.expression.simplified())

    @classmethod
    def parse(cls, text: str, names: Sequence[str] | None = None, kinds: Mapping[str, Kind] | None = None) -> "Program":
        """Read a program from text: what ``str`` prints, or what a person types. An ``InputError`` says what is wrong.

        >>> from nsr.program import Program
        >>> print(Program.parse("price <= 0.9 * limit AND NOT stock = 0"))
        stock != 0 and 9*limit >= 10*price

        Args:
            text: A formula or a number; ``nsr.program.parser`` describes the language.
            names: The inputs, in the order of the columns. No other name may occur in the text.
            kinds: What the columns hold, for those that are not numbers; by default, what the text implies.
        """
        from nsr.program.parser import parse

        return cls(parse(text, names, kinds), tuple(names or ()))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that the expression uses, in the order of the columns: the arguments of an emitted function."""
        used = set(self.expression.variables)
        return tuple(name for name in self.names if name in used)

    def __call__(self, x: Any) -> Any:
        """Evaluate on rows: a mapping or table of columns, or numbers whose last axis follows ``names``.

        An array or tensor of shape (..., columns) gives one of shape (...); a list of numbers is one row, and a list of
        lists is one row each. A program without names accepts any number of columns.

        Texts, dates and missing cells are for mappings and tables; see ``nsr.program.cells``.

        >>> from datetime import date
        >>> from nsr.program import Program
        >>> late = Program.parse("paid > due + 30 days or paid is missing")
        >>> late({"paid": [date(2024, 3, 1), None, date(2024, 1, 1)], "due": [date(2024, 1, 1)] * 3}).tolist()
        [True, True, False]
        """
        if hasattr(x, "keys") or hasattr(x, "columns"):
            rows = np.zeros(len(x), dtype=np.int64) if hasattr(x, "columns") else None
            columns = {name: x[name] for name in self.inputs if name in x}
            for name, column in columns.items():
                reject_masked(f"column {name!r}", column)
            if needs_cells(self.expression, columns):
                return on_cells(self.expression, columns)
            return evaluate(self.expression, columns, rows=rows)
        reject_masked("x", x)
        x = x if hasattr(x, "shape") else np.array(x, dtype=object)
        shape = tuple(x.shape)
        if not shape or (self.names and shape[-1] != len(self.names)):
            raise ValueError(f"x must have {len(self.names)} numbers in its last axis, got shape {shape}")
        columns = {name: x[..., self.names.index(name)] for name in self.inputs}
        zeros = x.new_zeros(shape[:-1]) if isinstance(x, torch.Tensor) else np.zeros(shape[:-1], dtype=x.dtype)
        return evaluate(self.expression, columns, rows=zeros)

    def emit(self, target: str, **options: Any) -> Any:
        """The program in another language, such as ``"python"``, ``"c"`` or ``"sql"``; see ``nsr.program.emit``."""
        from nsr.program.emit import emit

        return emit(self, target, **options)

    def equivalent(
        self,
        other: "Program | Expression",
        *,
        over: str = "reals",
        low: Number | None = None,
        high: Number | None = None,
        timeout: float = 10.0,
        missing: bool | Collection[str] | None = None,
    ) -> "Equivalence":
        """Prove that another program gives the same answer for all inputs, or find a row where they differ.

        >>> from nsr.program import Program
        >>> program = Program.parse("a > b")
        >>> print(program.equivalent(Program.parse("a >= b + 1"), over="integers"))
        the same for all integers
        >>> print(program.equivalent(Program.parse("a >= b")))
        differ at a = 0, b = 0: False and True

        Args:
            other: The program to compare with; it may have other inputs.
            over: What the inputs are: ``reals``, ``integers``, or ``auto`` for reals and, where these differ, integers.
            low: The least number that an input can be; by default there is none.
            high: The largest.
            timeout: Seconds after which the result is that neither was found.
            missing: Whether cells may be missing; by default those that a program asks about. Names are of columns
                that may have missing cells besides these.
        """
        from nsr.program.equivalence import compare

        return compare(self, other, over=over, low=low, high=high, timeout=timeout, missing=missing)

    def module(self) -> "Hardened":
        """The program as a torch module with exact gates, to replace the trained one."""
        from nsr.program.hardened import Hardened

        return Hardened(self)

    def __eq__(self, other: object) -> bool:
        """Whether the canonical forms are equal; names and evidence do not matter."""
        if isinstance(other, Program):
            return self.expression == other.expression
        return isinstance(other, Expression) and self.expression == other.simplified()

    def __hash__(self) -> int:
        return hash(self.expression)

    def __str__(self) -> str:
        return str(self.expression)

    def __repr__(self) -> str:
        return f"Program({self.expression!r}, names={self.names!r})"

    def _repr_latex_(self) -> str:
        return f"${self.emit('latex')}$"


def _check_numbers(expression: Expression) -> None:
    """Raise an InputError if texts or truth values stand where there must be numbers."""
    computed = [expression, *(child for node in expression.walk() if not node.is_boolean for child in node.children)]
    for node in computed:
        if isinstance(node, Variable) and node.kind in (Kind.TEXT, Kind.BOOLEAN):
            raise InputError(
                f"column {node.name!r} is of kind {str(node.kind)!r}: it can be compared, not computed with"
            )


def default_names(inputs: int) -> tuple[str, ...]:
    """The paper's names for inputs: x1, x2 and so on."""
    return tuple(f"x{position}" for position in range(1, inputs + 1))


def checked_names(names: Sequence[str] | None, inputs: int) -> tuple[str, ...]:
    """Check that there is one name for each input; the paper's names by default."""
    if names is None:
        return default_names(inputs)
    names = tuple(names)
    if len(names) != inputs:
        raise ValueError(f"{inputs} inputs need {inputs} names, got {len(names)}")
    return names
