"""Evaluating programs: exactly on integers, Fraction and Decimal, and as IEEE arithmetic on floats.

- Python integers, Fraction and Decimal of any size: no rounding anywhere. Decimal in, Decimal out.
- Arrays and tensors of integers: exact in int64, and in Python integers where a sum or product could overflow.
  Comparisons are cleared of denominators; an answer that is a fraction becomes a float64.
- Floats (scalars, arrays, tensors): a constant becomes the nearest float, sums are added from left to right, and a term
  is its coefficient's numerator times its factors from left to right, then divided by the denominator, so that every
  emitted program gives the same bits. If one value is a float, all are converted to floats. numpy arrays of float16 and
  float32 are widened to float64 first; tensors keep their dtype. The minimum, maximum or median of numbers of which one
  is NaN, such as inf - inf, is not defined.
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
from nsr.program.expressions import (
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Not,
    Or,
    Order,
    Product,
    Truth,
    Variable,
    Where,
)
from nsr.program.integers import magnitude_bound, with_integer_coefficients
from nsr.program.values import INT64, as_plain, floats, nearest_float


def evaluate(expression: Expression, values: Mapping[str, Any], *, rows: Any = None) -> Any:
    """Evaluate an expression with a value for each variable.

    Values are scalars, numpy arrays (or anything that numpy converts to one) or torch tensors that broadcast together.
    NaN raises a ValueError, because it is neither less than, equal to nor greater than anything.

    Args:
        expression: The expression to evaluate.
        values: A value for each variable; other entries are ignored.
        rows: Array, tensor or number whose shape and type the answer takes if the expression has no variables.
    """
    missing = [name for name in expression.variables if name not in values]
    if missing:
        raise ValueError(f"no value for {missing[0]!r}: the program needs {', '.join(expression.variables)}")
    given = {name: as_plain(name, values[name]) for name in expression.variables}
    if rows is not None:
        given[""] = as_plain("rows", rows)  # no variable has an empty name
    tensors = [value for value in given.values() if isinstance(value, torch.Tensor)]
    if any(tensor.is_floating_point() for tensor in tensors):
        return _Tensors(given).answer(expression)
    given = {name: value.numpy(force=True) if torch.is_tensor(value) else value for name, value in given.items()}
    answer = _answer(expression, given)
    return _as_tensor(answer).to(tensors[0].device) if tensors else answer


def on_floats(expression: Expression, columns: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """Evaluate on tensors of floats without inspecting the numbers: can be compiled, and does not reject NaN."""
    return _Tensors(columns).answer(expression)


def on_exact_numbers(expression: Expression, values: Mapping[str, int | Fraction]) -> Any:
    """Evaluate on int and Fraction without inspecting the numbers, as the steps of a long loop need."""
    answer = _Scalars(values).answer(expression)
    return answer if expression.is_boolean else _int_if_integral(answer)


def _answer(expression: Expression, given: Mapping[str, Any]) -> Any:
    """Evaluate on numpy arrays and Python numbers."""
    has_arrays = any(isinstance(value, np.ndarray) for value in given.values())
    if any(map(_is_floating, given.values())):
        evaluator = _Arrays if has_arrays else _Scalars
        return evaluator({name: floats(value) for name, value in given.items()}).answer(expression)
    return _exact_arrays(expression, given) if has_arrays else _exact_scalars(expression, given)


def _is_floating(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def _exact_scalars(expression: Expression, given: Mapping[str, Any]) -> Any:
    """Evaluate on int, Fraction and Decimal. A number is a Decimal if one was given."""
    exact = {name: Fraction(value) if isinstance(value, Decimal) else value for name, value in given.items()}
    answer = _Scalars(exact).answer(expression)
    if expression.is_boolean:
        return answer
    has_decimals = any(isinstance(value, Decimal) for value in given.values())
    return as_decimal(answer) if has_decimals else _int_if_integral(answer)


def _exact_arrays(expression: Expression, given: Mapping[str, Any]) -> Any:
    """Evaluate on arrays of integers, Fraction and Decimal: in int64 where nothing overflows."""
    multiplied = with_integer_coefficients(expression)
    if _fits_int64(multiplied, given):
        return _Int64Arrays(given).answer(multiplied)
    objects = {name: np.asarray(value, dtype=object) for name, value in given.items()}
    has_decimals = any(isinstance(value, Decimal) for array in objects.values() for value in array.flat)
    answer = _Objects({name: _without_decimals(array) for name, array in objects.items()}).answer(expression)
    return _as_decimals(answer) if has_decimals and not expression.is_boolean else answer


def _fits_int64(expression: Expression, given: Mapping[str, Any]) -> bool:
    """Whether all values are integers and no intermediate result can leave int64."""
    if any(np.asarray(value).dtype != np.int64 for value in given.values()):
        return False
    sizes = [abs(int(end)) for value in given.values() if np.size(value) for end in (np.min(value), np.max(value))]
    numbers = (node for node in expression.walk() if not node.is_boolean)
    return all(magnitude_bound(number, max(sizes, default=1)) <= INT64 for number in numbers)


class _Scalars:
    """Evaluates the tree recursively on Python scalars. The subclasses override what differs for arrays."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self.floating = any(isinstance(value, float) for value in values.values())

    def answer(self, expression: Expression) -> Any:
        return self.value(expression)

    def value(self, node: Expression) -> Any:
        match node:
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
        return self.number_value(node)

    def number_value(self, node: Expression) -> Any:
        match node:
            case Variable(name):
                return self.values[name]
            case Constant(value):
                return self.constant(value)
            case Linear():
                return reduce(operator.add, (self.part(c, atom) for c, atom in node.parts()))
            case Product(factors):
                return reduce(operator.mul, map(self.value, factors))
            case Where(condition, then, otherwise):
                return self.where(self.value(condition), self.value(then), self.value(otherwise))
            case Count(formulas):
                one, zero = self.constant(Fraction(1)), self.constant(Fraction(0))
                return reduce(operator.add, (self.where(self.value(part), one, zero) for part in formulas))
            case Order() if (absolute := node.absolute) is not None:  # as abs of it: its negative may round differently
                value = self.value(absolute)
                return self.order(2, [value, -value])
            case Order(rank, parts):
                return self.order(rank, [self.value(part) for part in parts])
        raise TypeError(f"cannot evaluate {node!r}")

    def part(self, coefficient: Fraction, atom: Expression | None) -> Any:
        """``n * x / d``, in the order of operations that every target uses; ``n * x * y / d`` for a product."""
        if atom is None:
            return self.constant(coefficient)
        first, *rest = map(self.value, atom.factors if isinstance(atom, Product) else (atom,))
        if coefficient.numerator != 1:
            first = -first if coefficient.numerator == -1 else self.constant(Fraction(coefficient.numerator)) * first
        value = reduce(operator.mul, rest, first)
        return value if coefficient.denominator == 1 else self.divide(value, coefficient.denominator)

    def constant(self, value: Fraction) -> Any:
        return nearest_float(value) if self.floating else _int_if_integral(value)

    def divide(self, value: Any, divisor: int) -> Any:
        return value / nearest_float(divisor) if self.floating else value * Fraction(1, divisor)

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        return then if condition else otherwise

    def order(self, rank: int, values: list[Any]) -> Any:
        return sorted(values)[rank - 1]

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

    def order(self, rank: int, values: list[Any]) -> Any:
        if rank in (1, len(values)):
            return reduce(np.minimum if rank == 1 else np.maximum, values)
        return np.sort(np.stack(np.broadcast_arrays(*values)), axis=0)[rank - 1]

    def both(self, one: Any, other: Any) -> Any:
        return np.logical_and(one, other)

    def either(self, one: Any, other: Any) -> Any:
        return np.logical_or(one, other)

    def negation(self, one: Any) -> Any:
        return np.logical_not(one)


class _Int64Arrays(_Arrays):
    """numpy arrays of int64, for expressions without fractions in comparisons."""

    def constant(self, value: Fraction) -> Any:
        return value.numerator if value.denominator == 1 else nearest_float(value)


class _Objects(_Arrays):
    """numpy arrays of Python integers and Fractions."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.floating = False

    def answer(self, expression: Expression) -> Any:
        return np.asarray(super().answer(expression), dtype=bool if expression.is_boolean else object)

    def constant(self, value: Fraction) -> Any:
        return np.asarray(_int_if_integral(value), dtype=object)  # otherwise numpy would make 2**63 a uint64

    def where(self, condition: Any, then: Any, otherwise: Any) -> Any:
        return np.where(np.asarray(condition, dtype=bool), then, otherwise)


class _Tensors(_Scalars):
    """torch tensors of floats, in their dtype; gradients flow through the chosen branch."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.floating = True
        tensors = [value for value in values.values() if isinstance(value, torch.Tensor)]
        self.device = tensors[0].device
        self.dtype = reduce(torch.promote_types, (tensor.dtype for tensor in tensors if tensor.is_floating_point()))
        self.values = {name: self.number(value) for name, value in values.items()}

    def answer(self, expression: Expression) -> torch.Tensor:
        value = self.value(expression)
        answer = self.truth(value) if expression.is_boolean else self.number(value)
        shape = torch.broadcast_tensors(*self.values.values())[0].shape  # type: ignore[no-untyped-call]
        return answer if answer.shape == shape else answer.expand(shape).clone()

    def where(self, condition: Any, then: Any, otherwise: Any) -> torch.Tensor:
        return torch.where(self.truth(condition), self.number(then), self.number(otherwise))

    def order(self, rank: int, values: list[Any]) -> torch.Tensor:
        numbers = torch.broadcast_tensors(*map(self.number, values))  # type: ignore[no-untyped-call]
        return torch.stack(numbers).sort(dim=0, stable=True).values[rank - 1]

    def both(self, one: Any, other: Any) -> torch.Tensor:
        return self.truth(one) & self.truth(other)

    def either(self, one: Any, other: Any) -> torch.Tensor:
        return self.truth(one) | self.truth(other)

    def negation(self, one: Any) -> torch.Tensor:
        return ~self.truth(one)

    def truth(self, value: Any) -> torch.Tensor:
        return torch.as_tensor(value, dtype=torch.bool, device=self.device)

    def number(self, value: Any) -> torch.Tensor:
        numbers = value if isinstance(value, torch.Tensor) else floats(value)
        return torch.as_tensor(numbers, dtype=self.dtype, device=self.device)


def _int_if_integral(value: Any) -> Any:
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def _without_decimals(array: np.ndarray) -> np.ndarray:
    """Replace every Decimal by a Fraction."""
    convert = np.frompyfunc(lambda value: Fraction(value) if isinstance(value, Decimal) else value, 1, 1)
    return np.asarray(convert(array))


def _as_decimals(array: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(as_decimal, 1, 1)(array))


def as_decimal(value: Fraction | int) -> Decimal:
    """Convert a rational to a Decimal: exactly if the decimal terminates, otherwise to at least 50 digits."""
    above, below = Decimal(value.numerator), Decimal(value.denominator)
    digits = above.adjusted() + 4 * below.adjusted() + 55
    with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])):
        return above / below


def _as_tensor(answer: Any) -> torch.Tensor:
    """Convert an exact answer to a tensor of bool, int64 or, if it holds fractions, float64."""
    array = np.asarray(answer)
    if array.dtype.kind in "bif":
        return torch.as_tensor(array)
    if any(Fraction(value).denominator > 1 for value in array.flat):
        return torch.as_tensor(floats(array.astype(object)))
    if any(abs(value) > INT64 for value in array.flat):
        raise ValueError("the answer does not fit int64, the largest integer type of torch: pass numpy arrays instead")
    return torch.as_tensor(array.astype(np.int64))
