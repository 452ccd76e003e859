"""Evaluating programs: exactly on integers, Fraction and Decimal, and as IEEE arithmetic on floats.

- Python integers, Fraction and Decimal of any size: no rounding anywhere. Decimal in, Decimal out.
- Arrays and tensors of integers: exact in int64; where a sum could leave it, numpy goes on with Python integers.
- Floats (scalars, arrays, tensors): a constant is its nearest float, and sums are added from left to right, so that
  every emitted program gives the same bits. float16 and float32 arrays of numpy are widened to float64 first.
"""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce
from math import lcm
from typing import Any

import numpy as np
import torch

from nsr.program.expressions import And, Compare, Constant, Expression, Linear, Not, Or, Truth, Variable, Where
from nsr.tasks import COMPARISONS

INT64 = 2**63 - 1


def evaluate(expression: Expression, values: Mapping[str, Any]) -> Any:
    """The value of an expression where each variable has the value of its name.

    Values are scalars, or numpy arrays (or what numpy takes for one) or torch tensors that broadcast together. Rows
    that hold NaN have no answer and are refused.
    """
    missing = [name for name in expression.variables if name not in values]
    if missing:
        raise ValueError(f"there is no value for {missing[0]!r}: the program needs {', '.join(expression.variables)}")
    given = {name: _plain(name, values[name]) for name in expression.variables}
    kinds = [type(value) for value in given.values()]
    if torch.Tensor in kinds:
        return _Tensors(given).value(expression)
    if np.ndarray in kinds:
        arrays = {name: np.asarray(value) for name, value in given.items()}
        if any(array.dtype.kind == "f" for array in arrays.values()):
            return _Arrays({name: array.astype(np.float64, copy=False) for name, array in arrays.items()}).value(
                expression
            )
        return _whole_arrays(expression, arrays)
    decimal = Decimal in kinds
    exact = {name: Fraction(value) if isinstance(value, Decimal) else value for name, value in given.items()}
    answer = _Scalars(exact).value(expression)
    if isinstance(answer, Fraction | int) and not isinstance(answer, bool):
        return _as_decimal(Fraction(answer)) if decimal else _whole(answer)
    return answer


def _plain(name: str, value: Any) -> Any:
    """A value as a Python scalar, an array or a tensor of one of few dtypes, and a refusal of what is no number."""
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            raise ValueError(f"{name!r} must hold real numbers, got {value.dtype}")
        bad = int(value.isnan().sum())
        if bad:
            raise ValueError(_no_number(name, bad))
        return value if value.is_floating_point() else value.to(torch.int64)
    if isinstance(value, bool | np.bool_):
        return int(value)
    if isinstance(value, int | Fraction):
        return value
    if isinstance(value, float | Decimal | np.floating):
        if value != value:
            raise ValueError(_no_number(name, 1))
        return value if isinstance(value, Decimal) else float(value)
    if isinstance(value, np.integer):
        return int(value)
    array = np.asarray(value)
    if array.dtype.kind not in "biufO" or (array.dtype.kind == "O" and not _numbers(array)):
        raise ValueError(f"{name!r} must hold numbers, got {array.dtype if array.ndim else repr(value)}")
    if array.dtype.kind == "f":
        bad = int(np.isnan(array).sum())
        if bad:
            raise ValueError(_no_number(name, bad))
    if array.dtype == np.uint64 and array.size and int(array.max()) > INT64:
        return array.astype(object)
    return array.astype(np.int64, copy=False) if array.dtype.kind in "biu" else array


def _numbers(array: np.ndarray) -> bool:
    return all(isinstance(value, int | Fraction) for value in array.flat)


def _no_number(name: str, count: int) -> str:
    return f"{name!r} holds NaN in {count} {'row' if count == 1 else 'rows'}: NaN is neither less, equal nor greater"


def _whole_arrays(expression: Expression, arrays: dict[str, np.ndarray]) -> Any:
    """On arrays of integers: int64 as long as nothing can overflow, Python integers where it could."""
    largest = max((abs(int(end)) for a in arrays.values() if a.size for end in (a.min(), a.max())), default=0)
    safe = max((_reach(node, largest) for node in expression.walk()), default=0) <= INT64
    if safe and all(array.dtype == np.int64 for array in arrays.values()):
        return _WholeArrays(arrays).value(expression)
    answer = np.asarray(_Objects({name: array.astype(object) for name, array in arrays.items()}).value(expression))
    return answer.astype(bool) if expression.is_truth else answer


def _reach(node: Expression, largest: int) -> Fraction:
    """How large the value of a node can be, with the denominators of its comparison multiplied out."""
    match node:
        case Variable():
            return Fraction(largest)
        case Constant(value):
            return abs(value)
        case Linear(terms, constant):
            return sum((abs(c.numerator) * _reach(atom, largest) for c, atom in terms), abs(constant))
        case Where(_, then, otherwise):
            return max(_reach(then, largest), _reach(otherwise, largest))
        case Compare(_, left, right):
            return denominators(node) * max(_reach(left, largest), _reach(right, largest))
    return Fraction(0)


def denominators(comparison: Compare) -> int:
    """What to multiply both sides of a comparison with, so that only integers remain in it."""
    found = [1]
    for side in (comparison.left, comparison.right):
        if isinstance(side, Constant):
            found.append(side.value.denominator)
        elif isinstance(side, Linear):
            found += [side.constant.denominator, *(coefficient.denominator for coefficient, _ in side.terms)]
    return lcm(*found)


@dataclass
class _Scalars:
    """The walk over the tree. This class is for Python scalars; those below say what differs for arrays."""

    values: Mapping[str, Any]

    def __post_init__(self) -> None:
        self.floating = any(isinstance(value, float) for value in self.values.values())

    def value(self, node: Expression) -> Any:
        match node:
            case Variable(name):
                return self.values[name]
            case Constant(value):
                return self.constant(value)
            case Linear():
                return reduce(operator.add, (self.part(c, atom) for c, atom in node.parts()))
            case Where(condition, then, otherwise):
                return self.where(self.value(condition), self.value(then), self.value(otherwise))
            case Truth(value):
                return value
            case Compare():
                return self.compare(node)
            case Not(part):
                return self.negation(self.value(part))
            case And():
                return reduce(self.both, map(self.value, node.parts))
            case Or():
                return reduce(self.either, map(self.value, node.parts))
        raise TypeError(f"no value for {node!r}")

    def part(self, coefficient: Fraction, atom: Expression | None) -> Any:
        """``n * x / d``, as every target writes it."""
        if atom is None:
            return self.constant(coefficient)
        value = self.value(atom)
        if coefficient.numerator != 1:
            value = -value if coefficient.numerator == -1 else self.constant(Fraction(coefficient.numerator)) * value
        return value if coefficient.denominator == 1 else self.over(value, coefficient.denominator)

    def constant(self, value: Fraction) -> Any:
        return float(value) if self.floating else _whole(value)

    def over(self, value: Any, divisor: int) -> Any:
        return value / divisor if isinstance(value, float) else Fraction(value, divisor)

    def compare(self, node: Compare) -> Any:
        return COMPARISONS[node.operator](self.value(node.left), self.value(node.right))

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        return then if condition else otherwise

    def both(self, one: Any, other: Any) -> Any:
        return one and other

    def either(self, one: Any, other: Any) -> Any:
        return one or other

    def negation(self, one: Any) -> Any:
        return not one


class _Arrays(_Scalars):
    """numpy arrays of float64."""

    def __post_init__(self) -> None:
        self.floating = True
        self.shape = np.broadcast_shapes(*(np.shape(value) for value in self.values.values()))

    def value(self, node: Expression) -> Any:
        with np.errstate(all="ignore"):
            return super().value(node)

    def over(self, value: Any, divisor: int) -> Any:
        return value / divisor

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        return np.where(condition, then, otherwise)

    def both(self, one: Any, other: Any) -> Any:
        return np.logical_and(one, other)

    def either(self, one: Any, other: Any) -> Any:
        return np.logical_or(one, other)

    def negation(self, one: Any) -> Any:
        return np.logical_not(one)


class _WholeArrays(_Arrays):
    """numpy arrays of int64. Comparisons stay exact: their denominators are multiplied out."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.floating = False

    def constant(self, value: Fraction) -> Any:
        return value.numerator if value.denominator == 1 else float(value)

    def compare(self, node: Compare) -> Any:
        factor = denominators(node)
        sides = [side * factor if factor > 1 else side for side in (node.left, node.right)]
        return COMPARISONS[node.operator](*map(self.value, sides))


class _Objects(_Arrays):
    """numpy arrays of Python integers and Fractions."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.floating = False

    def over(self, value: Any, divisor: int) -> Any:
        return value * Fraction(1, divisor)


class _Tensors(_WholeArrays):
    """torch tensors, in their own dtype; gradients flow through the branch that was chosen."""

    def __post_init__(self) -> None:
        tensors = [value for value in self.values.values() if isinstance(value, torch.Tensor)]
        self.floating = any(value.is_floating_point() for value in tensors)
        self.device = tensors[0].device

    def constant(self, value: Fraction) -> Any:
        return float(value) if self.floating or value.denominator > 1 else value.numerator

    def compare(self, node: Compare) -> Any:
        return _Scalars.compare(self, node) if self.floating else super().compare(node)

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        return torch.where(self.tensor(condition), self.tensor(then), self.tensor(otherwise))

    def both(self, one: Any, other: Any) -> Any:
        return torch.logical_and(self.tensor(one), self.tensor(other))

    def either(self, one: Any, other: Any) -> Any:
        return torch.logical_or(self.tensor(one), self.tensor(other))

    def negation(self, one: Any) -> Any:
        return torch.logical_not(self.tensor(one))

    def tensor(self, value: Any) -> torch.Tensor:
        return torch.as_tensor(value, device=self.device)


def _whole(value: Any) -> Any:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def _as_decimal(value: Fraction) -> Decimal:
    """A rational as a Decimal: exactly where a decimal ends, else to 50 digits beyond its whole part."""
    with localcontext() as context:
        context.prec = len(str(abs(value.numerator))) + len(str(value.denominator)) * 4 + 50
        return Decimal(value.numerator) / Decimal(value.denominator)
