"""Evaluating programs: exactly on integers, Fraction and Decimal, and as IEEE arithmetic on floats.

- Python integers, Fraction and Decimal of any size: no rounding anywhere. Decimal in, Decimal out.
- Arrays and tensors of integers: exact in int64; where a sum could leave it, Python integers go on. Comparisons have
  their denominators multiplied out; an answer that is a fraction is a float64.
- Floats (scalars, arrays, tensors): a constant is its nearest float, and sums are added from left to right, so that
  every emitted program gives the same bits. One float among the values makes floats of them all. float16 and float32
  arrays of numpy are widened to float64 first; tensors keep their dtype.
"""

import operator
from collections.abc import Mapping
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import torch

from nsr.data import COMPARISONS
from nsr.program.expressions import And, Compare, Constant, Expression, Linear, Not, Or, Truth, Variable, Where
from nsr.program.values import INT64, floats, nearest, plain
from nsr.program.whole import reach, whole


def evaluate(expression: Expression, values: Mapping[str, Any], *, rows: Any = None) -> Any:
    """The value of an expression where each variable has the value of its name.

    Values are scalars, or numpy arrays (or what numpy takes for one) or torch tensors that broadcast together. Rows
    that hold NaN have no answer and are refused.

    Args:
        expression: What to evaluate.
        values: A value for each variable. Others are not looked at.
        rows: Numbers of the shape and kind that the answer of an expression without variables takes.
    """
    missing = [name for name in expression.variables if name not in values]
    if missing:
        raise ValueError(f"there is no value for {missing[0]!r}: the program needs {', '.join(expression.variables)}")
    given = {name: plain(name, values[name]) for name in expression.variables}
    if rows is not None:
        given[""] = plain("rows", rows)  # no variable has an empty name
    tensors = [value for value in given.values() if isinstance(value, torch.Tensor)]
    if any(tensor.is_floating_point() for tensor in tensors):
        return _Tensors(given).answer(expression)
    given = {name: value.numpy(force=True) if torch.is_tensor(value) else value for name, value in given.items()}
    answer = _answer(expression, given)
    return _as_tensor(answer).to(tensors[0].device) if tensors else answer


def on_floats(expression: Expression, columns: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """The value on tensors of floats, without a look at the numbers: it can be compiled, and NaN is not refused."""
    return _Tensors(columns).answer(expression)


def _answer(expression: Expression, given: Mapping[str, Any]) -> Any:
    """The value where numpy arrays and Python numbers are given."""
    arrays = [value for value in given.values() if isinstance(value, np.ndarray)]
    if any(isinstance(value, float) for value in given.values()) or any(array.dtype.kind == "f" for array in arrays):
        walk = _Arrays if arrays else _Scalars
        return walk({name: floats(value) for name, value in given.items()}).answer(expression)
    if not arrays:
        exact = {name: Fraction(value) if isinstance(value, Decimal) else value for name, value in given.items()}
        answer = _Scalars(exact).answer(expression)
        if expression.is_truth:
            return answer
        return _as_decimal(answer) if any(isinstance(value, Decimal) for value in given.values()) else _whole(answer)
    multiplied = whole(expression)
    if _fits(multiplied, given):
        return _WholeArrays(given).answer(multiplied)
    objects = {name: np.asarray(value, dtype=object) for name, value in given.items()}
    decimal = any(isinstance(value, Decimal) for array in objects.values() for value in array.flat)
    answer = _Objects({name: _exact(array) for name, array in objects.items()}).answer(expression)
    return _as_decimals(answer) if decimal and not expression.is_truth else answer


def _fits(expression: Expression, given: Mapping[str, Any]) -> bool:
    """Whether all values are integers and nothing can leave int64."""
    if any(np.asarray(value).dtype != np.int64 for value in given.values()):
        return False
    sizes = [abs(int(end)) for value in given.values() if np.size(value) for end in (np.min(value), np.max(value))]
    numbers = (node for node in expression.walk() if not node.is_truth)
    return all(reach(number, max(sizes, default=0)) <= INT64 for number in numbers)


class _Scalars:
    """The walk over the tree. This class is for Python scalars; those below say what differs for arrays."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.floating = any(isinstance(value, float) for value in values.values())

    def answer(self, expression: Expression) -> Any:
        return self.value(expression)

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
                return COMPARISONS[node.operator](self.value(node.left), self.value(node.right))
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
        return nearest(value) if self.floating else _whole(value)

    def over(self, value: Any, divisor: int) -> Any:
        return value / nearest(divisor) if self.floating else value * Fraction(1, divisor)

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

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.floating = True

    def answer(self, expression: Expression) -> Any:
        with np.errstate(all="ignore"):
            answer = self.value(expression)
        shape = np.broadcast_shapes(*map(np.shape, self.values.values()))
        return answer if np.shape(answer) == shape else np.full(shape, answer)

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        return np.where(condition, then, otherwise)

    def both(self, one: Any, other: Any) -> Any:
        return np.logical_and(one, other)

    def either(self, one: Any, other: Any) -> Any:
        return np.logical_or(one, other)

    def negation(self, one: Any) -> Any:
        return np.logical_not(one)


class _WholeArrays(_Arrays):
    """numpy arrays of int64, for expressions without fractions in comparisons."""

    def constant(self, value: Fraction) -> Any:
        return value.numerator if value.denominator == 1 else nearest(value)


class _Objects(_Arrays):
    """numpy arrays of Python integers and Fractions."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.floating = False

    def answer(self, expression: Expression) -> Any:
        return np.asarray(super().answer(expression), dtype=bool if expression.is_truth else object)

    def constant(self, value: Fraction) -> Any:
        return np.asarray(_whole(value), dtype=object)  # left alone, numpy takes 2**63 for uint64

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        return np.where(np.asarray(condition, dtype=bool), then, otherwise)


class _Tensors(_Scalars):
    """torch tensors of floats, in their own dtype; gradients flow through the branch that was chosen."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.floating = True
        tensors = [value for value in values.values() if isinstance(value, torch.Tensor)]
        self.device = tensors[0].device
        self.dtype = reduce(torch.promote_types, (each.dtype for each in tensors if each.is_floating_point()))
        self.values = {name: self.number(value) for name, value in values.items()}

    def answer(self, expression: Expression) -> torch.Tensor:
        value = self.value(expression)
        answer = self.truth(value) if expression.is_truth else self.number(value)
        shape = torch.broadcast_tensors(*self.values.values())[0].shape  # type: ignore[no-untyped-call]
        return answer if answer.shape == shape else answer.expand(shape).clone()

    def where(self, condition: Any, then: Any, otherwise: Any) -> torch.Tensor:
        return torch.where(self.truth(condition), self.number(then), self.number(otherwise))

    def both(self, one: Any, other: Any) -> torch.Tensor:
        return self.truth(one) & self.truth(other)

    def either(self, one: Any, other: Any) -> torch.Tensor:
        return self.truth(one) | self.truth(other)

    def negation(self, one: Any) -> torch.Tensor:
        return ~self.truth(one)

    def truth(self, value: Any) -> torch.Tensor:
        return torch.as_tensor(value, dtype=torch.bool, device=self.device)

    def number(self, value: Any) -> torch.Tensor:
        own = value if isinstance(value, torch.Tensor) else floats(value)
        return torch.as_tensor(own, dtype=self.dtype, device=self.device)


def _whole(value: Any) -> Any:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def _exact(array: np.ndarray) -> np.ndarray:
    """The same numbers with every Decimal as a Fraction."""
    return np.asarray(np.frompyfunc(lambda each: Fraction(each) if isinstance(each, Decimal) else each, 1, 1)(array))


def _as_decimals(array: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(_as_decimal, 1, 1)(array))


def _as_decimal(value: Fraction | int) -> Decimal:
    """A rational as a Decimal: exactly where a decimal ends, else to 50 digits and more."""
    above, below = Decimal(value.numerator), Decimal(value.denominator)
    digits = above.adjusted() + 4 * below.adjusted() + 55
    with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])):
        return above / below


def _as_tensor(answer: Any) -> torch.Tensor:
    """An exact answer as a tensor of bool, int64 or, where it is a fraction, float64."""
    array = np.asarray(answer)
    if array.dtype.kind in "bif":
        return torch.as_tensor(array)
    if any(Fraction(each).denominator > 1 for each in array.flat):
        return torch.as_tensor(floats(array.astype(object)))
    if any(abs(each) > INT64 for each in array.flat):
        raise ValueError("the answer leaves int64, the largest integers of a tensor: give numpy arrays for larger ones")
    return torch.as_tensor(array.astype(np.int64))
