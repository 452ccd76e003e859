"""Evaluating programs on columns of a table: texts, truth values, dates, and cells that are missing.

A cell is missing if it is None, NaN, NaT or pandas.NA. A comparison with a missing cell is false, and so is its
negation; a number that is computed from a missing cell is missing. Each comparison is evaluated in the types of its own
columns: an integer of 19 digits is not rounded because another column holds fractions. Where integers beyond 2^53 meet
floats, rows are evaluated exactly: a float is the decimal that it prints as, and beyond 2^53 the integer that it is.
"""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from nsr.program.conditions import Condition, Flag, Missing, OneOf
from nsr.program.evaluation import as_decimal, evaluate
from nsr.program.expressions import And, Compare, Constant, Count, Expression, Or, Truth, Variable, Where, rational
from nsr.program.kinds import Kind
from nsr.program.substitution import rebuilt
from nsr.program.times import TEMPORAL, microseconds, parse_point

LARGEST_FLOAT_INTEGER = 2**53
"""Up to this, all integers are floats."""
TRUTHS = {True: True, False: False, "true": True, "false": False}


def needs_cells(expression: Expression, columns: Mapping[str, Any]) -> bool:
    """Whether there are texts, dates, truth values or missing cells, so that numbers alone will not do."""
    if any(isinstance(node, Condition) for node in expression.walk()):
        return True
    plain = (column for column in columns.values() if not hasattr(column, "new_zeros"))  # not a tensor
    return any(kind != Kind.NUMBER for kind in expression.kinds.values()) or any(
        is_missing(column if np.ndim(column) else [column]).any() for column in plain if np.ndim(column) < 2
    )


def on_cells(expression: Expression, columns: Mapping[str, Any]) -> Any:
    """Evaluate on columns, or on the cells of a single row."""
    unknown = [name for name in expression.variables if name not in columns]
    if unknown:
        raise ValueError(f"no value for {unknown[0]!r}: the program needs {', '.join(expression.variables)}")
    several = [column for column in columns.values() if _is_column(column)]
    rows = len(several[0]) if several else 1
    if any(len(column) != rows for column in several):
        raise ValueError(f"columns must be equally long, got {sorted({len(column) for column in several})}")
    full = {name: column if _is_column(column) else [column] * rows for name, column in columns.items()}
    answer = evaluate_cells(expression, full, rows)
    return answer if several else answer.tolist()[0]


def exact_answer(expression: Expression, row: Mapping[str, Any]) -> Any:
    """The value for a row whose numbers are integers and Fractions, without rounding; None where it is missing."""
    cells = {name: _column(name, [row[name]], kind) for name, kind in expression.kinds.items()}
    exact = _ExactCells(cells, 1)
    if expression.is_boolean:
        return bool(exact.formula(expression)[0])
    return None if exact.missing(expression)[0] else exact.number(expression)[0]


def _is_column(value: Any) -> bool:
    return not isinstance(value, str) and hasattr(value, "__len__") and np.ndim(value) == 1


def evaluate_cells(expression: Expression, columns: Mapping[str, Any], rows: int) -> np.ndarray:
    """The values of a canonical expression on so many rows.

    Args:
        expression: A formula, which gives truth values; or a number, which gives numbers, and None where it is missing.
        columns: For each variable, a sequence of cells.
        rows: How many there are.
    """
    cells = _Cells({name: _column(name, columns[name], kind) for name, kind in expression.kinds.items()}, rows)
    if expression.is_boolean:
        return cells.formula(expression)
    numbers, missing = cells.number(expression), cells.missing(expression)
    if not missing.any():
        return numbers
    answer = numbers.astype(object)
    answer[missing] = None
    return answer


def is_missing(cells: Any) -> np.ndarray:
    """Which cells of a column are missing."""
    if hasattr(cells, "isna"):  # pandas
        return np.asarray(cells.isna(), dtype=bool)
    array = _array(cells)
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array))
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind != "O":
        return np.zeros(len(array), dtype=bool)
    return np.array([_is_missing(cell) for cell in array], dtype=bool)


def _is_missing(cell: Any) -> bool:
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError, ArithmeticError):
        return False


def _array(cells: Any) -> np.ndarray:
    if hasattr(cells, "dtype"):
        return np.asarray(cells)
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


Column = tuple[np.ndarray, np.ndarray]
"""Cells, with some value where they are missing; and which are missing."""


def _column(name: str, cells: Any, kind: Kind) -> Column:
    """The cells of a column as numbers, truth values or texts, with some value in the place of missing ones."""
    missing = is_missing(cells)
    if not missing.any():
        return _values(name, _array(cells), kind), missing
    present = _present(cells, missing)
    if present.dtype.kind == "O" and len(present) and all(isinstance(cell, int | np.integer) for cell in present):
        present = np.array([int(cell) for cell in present])  # such as pandas.NA beside integers
    values = _values(name, present, kind) if len(present) else np.zeros(0, dtype=object if kind == Kind.TEXT else int)
    filled = np.zeros(len(missing), dtype=values.dtype)
    filled[~missing] = values
    return filled, missing


def _present(cells: Any, missing: np.ndarray) -> np.ndarray:
    """The cells that are not missing; as an array, all of them would be floats if some are missing integers."""
    if hasattr(cells, "isna"):  # pandas
        return np.asarray(cells[~missing])
    if hasattr(cells, "drop_nulls"):  # polars
        return np.asarray(cells.filter((~missing).tolist()))
    return np.asarray(_array(cells)[~missing])


def _values(name: str, cells: np.ndarray, kind: Kind) -> np.ndarray:
    if kind == Kind.NUMBER:
        return np.asarray(cells)  # checked where it is used
    if kind == Kind.TEXT:
        return _converted(name, cells, kind, lambda cell: str(cell) if isinstance(cell, str) else None)
    if kind == Kind.BOOLEAN:
        if cells.dtype.kind == "b":
            return cells
        return _converted(name, cells, kind, lambda cell: TRUTHS.get(cell)).astype(bool)
    assert kind in TEMPORAL
    if cells.dtype.kind in "mM":
        return cells.astype(f"{cells.dtype.kind}8[us]").astype(np.int64)
    return _converted(name, cells, kind, _microseconds).astype(np.int64)


def _microseconds(cell: Any) -> int | None:
    if isinstance(cell, np.datetime64 | np.timedelta64):
        cell = cell.item()
    if hasattr(cell, "to_pydatetime"):
        cell = cell.to_pydatetime()
    if isinstance(cell, date | timedelta):
        return microseconds(cell)
    return parse_point(cell) if isinstance(cell, str) else None


def _converted(name: str, cells: np.ndarray, kind: Kind, convert: Any) -> np.ndarray:
    converted = np.empty(len(cells), dtype=object)
    converted[:] = [convert(cell) for cell in cells]
    wrong = next((cell for cell, value in zip(cells, converted, strict=True) if value is None), None)
    if wrong is not None:
        raise ValueError(f"{name!r} must hold cells of kind {str(kind)!r}, got {wrong!r}")
    return converted


class _Cells:
    """Evaluates a canonical tree from its leaves: formulas become truth values, which choices and counts then use."""

    def __init__(self, columns: Mapping[str, Column], rows: int) -> None:
        self.columns, self.rows = columns, rows

    def formula(self, node: Expression) -> np.ndarray:
        """Where a formula holds."""
        match node:
            case Truth(value):
                return np.full(self.rows, value)
            case And(parts) | Or(parts):
                join = np.logical_and if isinstance(node, And) else np.logical_or
                return np.asarray(reduce(join, map(self.formula, parts)))
            case Condition():
                return self.condition(node)
            case Compare() if node.of_texts:
                (one, _), (other, _) = (self.columns[name] for name in (node.left.name, node.right.name))  # type: ignore[attr-defined]
                equal = np.asarray(one == other, dtype=bool)
                return np.asarray((equal if node.operator == "=" else ~equal) & ~self.missing(node))
            case Compare():
                return np.asarray(np.asarray(self.plain(node), dtype=bool) & ~self.missing(node))
        raise TypeError(f"only canonical formulas can be evaluated on cells, got {node!r}")

    def condition(self, node: Condition) -> np.ndarray:
        cells, missing = self.columns[node.column.name]
        match node:
            case Missing(_, holds):
                return np.asarray(missing == holds)
            case Flag(_, holds):
                return np.asarray((cells == holds) & ~missing)
            case OneOf(_, holds, texts):
                wanted = set(texts)
                among = np.fromiter((cell in wanted for cell in cells), dtype=bool, count=len(cells))
                return np.asarray((among == holds) & ~missing)
        raise TypeError(f"cannot evaluate {node!r}")

    def number(self, node: Expression) -> np.ndarray:
        """The values of a number, whatever it is where cells are missing."""
        if isinstance(node, Where):
            one, other = _without_rounding(self.number(node.then), self.number(node.otherwise))
            return np.where(self.formula(node.condition), one, other)
        return np.broadcast_to(np.asarray(self.plain(node)), (self.rows,))

    def plain(self, node: Expression) -> Any:
        """A comparison of numbers, or a number, with the formulas inside it evaluated first."""
        values: dict[str, np.ndarray] = {}
        prepared = self.prepared(node, values)
        rounded = _rounded_rows(values, self.rows)
        if not rounded.any():
            return evaluate(prepared, values, rows=np.zeros(self.rows, dtype=np.int64))
        answer = np.empty(self.rows, dtype=bool if node.is_boolean else object)
        answer[~rounded] = evaluate(prepared, {name: column[~rounded] for name, column in values.items()})
        exact = evaluate(prepared, {name: _exact_numbers(column[rounded]) for name, column in values.items()})
        answer[rounded] = exact if node.is_boolean else np.frompyfunc(_written_number, 1, 1)(exact)
        return answer

    def prepared(self, node: Expression, values: dict[str, np.ndarray]) -> Expression:
        """The node with 0 or 1 in the place of each formula inside it; the values of its variables are collected."""
        match node:
            case Variable(name):
                values[name] = self.columns[name][0]
                return Variable(name)
            case Constant():
                return node
            case Where(condition, then, otherwise):
                holds = self.indicator(condition, values)
                return Where(holds, self.prepared(then, values), self.prepared(otherwise, values))
            case Count(formulas):
                return Count(*(self.indicator(formula, values) for formula in formulas))
        return rebuilt(node, [self.prepared(child, values) for child in node.children])

    def indicator(self, formula: Expression, values: dict[str, np.ndarray]) -> Compare:
        name = f"\0{len(values)}"
        values[name] = self.formula(formula).astype(np.int64)
        return Compare("=", Variable(name), 1)

    def missing(self, node: Expression) -> np.ndarray:
        """Where a number, or a side of a comparison, is missing."""
        match node:
            case Variable(name):
                return self.columns[name][1]
            case Where(condition, then, otherwise):
                return np.where(self.formula(condition), self.missing(then), self.missing(otherwise))
            case Constant() | Count():
                return np.zeros(self.rows, dtype=bool)
        return self.any_missing(node.children)

    def any_missing(self, nodes: Sequence[Expression]) -> np.ndarray:
        return np.asarray(reduce(np.logical_or, map(self.missing, nodes), np.zeros(self.rows, dtype=bool)))


class _ExactCells(_Cells):
    """Evaluates a single row, whose numbers are integers and Fractions, without rounding."""

    def plain(self, node: Expression) -> Any:
        values: dict[str, np.ndarray] = {}
        prepared = self.prepared(node, values)
        answer = np.empty(1, dtype=bool if node.is_boolean else object)
        answer[0] = evaluate(prepared, {name: _exact_number(column[0]) for name, column in values.items()})
        return answer


def _without_rounding(one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two branches; of Python numbers where integers of one would be rounded beside floats of the other."""
    kinds = {one.dtype.kind, other.dtype.kind}
    if kinds == {"i", "f"}:
        integers = one if one.dtype.kind == "i" else other
        if len(integers) and max(abs(int(integers.min())), abs(int(integers.max()))) > LARGEST_FLOAT_INTEGER:
            return one.astype(object), other.astype(object)
    return one, other


def _rounded_rows(values: Mapping[str, np.ndarray], rows: int) -> np.ndarray:
    """The rows where a number that no float can hold would become one, because other numbers are floats."""
    large, finite, has_floats = np.zeros(rows, dtype=bool), np.ones(rows, dtype=bool), False
    for column in values.values():
        if column.dtype.kind == "f":
            has_floats, finite = True, finite & np.isfinite(column)
        elif column.dtype.kind in "iu":
            large |= np.asarray((column > LARGEST_FLOAT_INTEGER) | (column < -LARGEST_FLOAT_INTEGER))
        elif column.dtype.kind == "O":
            floats = np.fromiter((isinstance(cell, float) for cell in column), dtype=bool, count=rows)
            has_floats = has_floats or bool(floats.any())
            large |= np.fromiter(map(_is_large, column), dtype=bool, count=rows)
            finite &= ~floats | np.array([cell - cell == 0 for cell in column], dtype=bool)
    return large & finite if has_floats else np.zeros(rows, dtype=bool)


def _is_large(cell: Any) -> bool:
    is_exact = isinstance(cell, int | np.integer | Fraction | Decimal)
    return is_exact and not -LARGEST_FLOAT_INTEGER <= cell <= LARGEST_FLOAT_INTEGER


def _exact_numbers(column: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(_exact_number, 1, 1)(column), dtype=object)


def _exact_number(cell: Any) -> Any:
    cell = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(cell, Decimal):
        return Fraction(cell)
    if not isinstance(cell, float):
        return cell
    return rational(cell) if abs(cell) <= LARGEST_FLOAT_INTEGER else int(cell)


def _written_number(value: Any) -> Any:
    """An integer, a decimal that ends, or else the nearest float."""
    if not isinstance(value, Fraction):
        return value
    if value.denominator == 1:
        return value.numerator
    decimal = as_decimal(value)
    return decimal if Fraction(decimal) == value else float(value)
