"""Evaluation: exact on exact numbers, IEEE arithmetic on floats, and answers in the shape of the rows."""

import decimal
from decimal import Decimal
from fractions import Fraction
from math import prod

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from nsr.data import COMPARISONS
from nsr.program import (
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
from nsr.program.evaluation import evaluate
from tests.program.oracle import holds, worth
from tests.program.strategies import FLOATS, INTEGERS, INTEGRAL, expressions

NAMES = ("a", "b", "c")
a, b, c = map(Variable, NAMES)
more = Compare(">", a, b)
maximum = Where(more, a, b)
GOOGOL = 10**1000
THIRD = Fraction(1, 3)


def rows(numbers, most=6):
    return st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=most)


def columns(table, make):
    return {name: make(list(column)) for name, column in zip(NAMES, zip(*table, strict=True), strict=True)}


def named(row):
    return dict(zip(NAMES, row, strict=True))


# Exact numbers


@given(expressions(NAMES), rows(st.one_of(INTEGERS, st.fractions(), st.integers(-GOOGOL, GOOGOL))))
def test_integers_and_fractions_of_any_size_are_exact(tree, table):
    for row in table:
        got = evaluate(tree, named(row))
        assert got == worth(tree, named(row))
        assert isinstance(got, bool) is tree.is_boolean
        assert isinstance(got, bool | int | Fraction)


@pytest.mark.parametrize("symbol", COMPARISONS)
@pytest.mark.parametrize("step", [-1, 0, 1])
def test_numbers_of_a_thousand_digits_and_their_neighbours(symbol, step):
    tree = Compare(symbol, a, b)
    truth = holds(symbol, step, 0)
    scale = Decimal(f"1e-{700}")
    for one, two in (
        (GOOGOL + step, GOOGOL),
        (Fraction(GOOGOL + step, 7), Fraction(GOOGOL, 7)),
        (Decimal(GOOGOL + step), Decimal(GOOGOL)),
        (Decimal(GOOGOL + step), GOOGOL),
        (Decimal(f"{GOOGOL + step}e-700"), Decimal(f"{GOOGOL}e-700")),
    ):
        assert evaluate(tree, {"a": one, "b": two}) is truth
    assert evaluate(a - b, {"a": GOOGOL + step, "b": GOOGOL}) == step
    assert evaluate(a - b, {"a": Decimal(f"{GOOGOL + step}e-700"), "b": Decimal(f"{GOOGOL}e-700")}) == step * scale


def test_an_integral_answer_is_an_int_and_any_other_a_fraction():
    assert evaluate(a * THIRD, {"a": 6}) == 2
    assert type(evaluate(a * THIRD, {"a": 6})) is int
    assert evaluate(a * THIRD + 0.5, {"a": 7}) == Fraction(17, 6)


def test_decimals_give_decimals_in_any_context():
    values = {"a": Decimal(f"{GOOGOL + 1}e-10"), "b": Decimal("0.1")}
    with decimal.localcontext(decimal.Context(prec=3, Emax=9, Emin=-9, traps=[decimal.Inexact, decimal.Overflow])):
        got = evaluate(2 * a - b * Fraction(1, 8), values)
    assert isinstance(got, Decimal)
    assert Fraction(got) == Fraction(2 * (GOOGOL + 1), 10**10) - Fraction(1, 80)
    assert evaluate(a + b, {"a": Decimal("0.1"), "b": 1}) == Decimal("1.1")
    assert evaluate(Where(more, Constant(4), b), {"a": Decimal(1), "b": Decimal(0)}) == Decimal(4)
    assert isinstance(evaluate(Where(more, Constant(4), b), {"a": Decimal(1), "b": Decimal(0)}), Decimal)


def test_a_decimal_that_does_not_terminate_has_at_least_fifty_digits():
    got = evaluate(a * THIRD, {"a": Decimal(10)})
    assert str(got).startswith("3." + "3" * 49)
    assert abs(Fraction(got) - Fraction(10, 3)) < Fraction(1, 10**50)
    assert evaluate(a, {"a": Decimal(10**5000)}) == 10**5000  # beyond the digits that Python writes of an int


# Arrays of integers


@given(expressions(NAMES, INTEGRAL), rows(INTEGERS))
def test_arrays_of_integers_are_exact_without_fractions(tree, table):
    got = evaluate(tree, columns(table, np.array))
    assert list(np.broadcast_to(got, len(table))) == [worth(tree, named(row)) for row in table]


@given(expressions(NAMES), rows(st.one_of(INTEGERS, st.integers(-(2**63), 2**63 - 1))))
def test_formulas_of_arrays_and_tensors_of_integers_are_exact_even_with_fractions(tree, table):
    formula = tree if tree.is_boolean else Compare(">", tree, a)
    truth = [worth(formula, named(row)) for row in table]
    for make in (np.array, torch.tensor):
        got = evaluate(formula, columns(table, make))
        assert np.broadcast_to(np.asarray(got), len(table)).tolist() == truth


@pytest.mark.parametrize("near", [2**53, 2**61, -(2**61), 2**62, 2**63 - 2, -(2**63) + 1])
@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_constants_beside_large_integers(near, make):
    column = make([near - 1, near, near + 1])
    for constant in (near, near + Fraction(1, 2), near - Fraction(1, 3)):
        for symbol in COMPARISONS:
            got = evaluate(Compare(symbol, a, Constant(constant)), {"a": column})
            assert got.tolist() == [holds(symbol, near + step, constant) for step in (-1, 0, 1)]
    got = evaluate(Compare("=", 3 * a * Fraction(1, 7), Constant(Fraction(3 * near, 7))), {"a": column})
    assert got.tolist() == [False, True, False]


def test_fractions_in_the_branches_of_a_comparison_are_cleared_too():
    near = 2**61
    tree = Compare(">", Where(Compare(">", a, Constant(0)), a * THIRD, a), Constant(Fraction(near, 3)))
    for make in (np.array, torch.tensor):
        assert evaluate(tree, {"a": make([near - 1, near, near + 1])}).tolist() == [False, False, True]


def test_sums_that_would_overflow_int64_use_python_integers():
    top = 2**63 - 1
    column = np.array([top, -top - 1, 0])
    got = evaluate(a + b, {"a": column, "b": column})
    assert got.dtype == object
    assert got.tolist() == [2 * top, -2 * top - 2, 0]
    assert evaluate(-a, {"a": column}).tolist() == [-top, top + 1, 0]
    assert evaluate(Compare(">", a + b, b + c), dict.fromkeys(NAMES, column)).dtype == bool
    assert evaluate(Compare(">", 2 * a, Constant(2**64 - 3)), {"a": column}).tolist() == [True, False, False]
    assert evaluate(Where(Compare(">", a, Constant(0)), Constant(2**63), Constant(-1)), {"a": column}).tolist() == [
        2**63, -1, -1,
    ]  # fmt: skip


def test_sums_that_fit_int64_are_computed_in_int64():
    got = evaluate(2 * a - b, {"a": np.array([2**61]), "b": np.array([5])})
    assert got.dtype == np.int64
    assert got.tolist() == [2**62 - 5]


def test_tensors_are_exact_if_a_sum_overflows_int64_and_raise_if_the_answer_does():
    column = torch.tensor([2**62, 5])
    assert evaluate(Compare(">", 4 * a, 4 * b), {"a": column, "b": column - 1}).tolist() == [True, True]
    got = evaluate(4 * a - 4 * b, {"a": column, "b": column - 1})
    assert got.dtype == torch.int64
    assert got.tolist() == [4, 4]
    for value in (column, column[0]):
        with pytest.raises(ValueError) as error:
            evaluate(2 * a, {"a": value})
        text = "the answer does not fit int64, the largest integer type of torch: pass numpy arrays instead"
        assert str(error.value) == text


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, object])
def test_narrow_integers_do_not_wrap_around(dtype):
    got = evaluate(100 * a + b, {"a": np.array([100, 0], dtype=dtype), "b": np.array([100, 100], dtype=dtype)})
    assert got.tolist() == [10100, 100]
    assert evaluate(a - b, {"a": np.array([0], dtype=dtype), "b": np.array([1], dtype=dtype)}).tolist() == [-1]


def test_unsigned_integers_beyond_int64_are_exact():
    top = 2**64 - 1
    column = np.array([top, top - 1], dtype=np.uint64)
    assert evaluate(Compare(">", a, Constant(top - 1)), {"a": column}).tolist() == [True, False]
    assert evaluate(a + 1, {"a": column}).tolist() == [top + 1, top]


def test_booleans_are_ones_and_zeros():
    assert evaluate(a + b, {"a": np.array([True, False]), "b": True}).tolist() == [2, 1]
    assert evaluate(more, {"a": True, "b": False}) is True
    assert evaluate(maximum, {"a": torch.tensor([True, False]), "b": torch.tensor([False, False])}).tolist() == [1, 0]


def test_arrays_of_python_numbers():
    big = np.array([GOOGOL, -1], dtype=object)
    assert evaluate(Compare(">", a, Constant(GOOGOL - 1)), {"a": big}).tolist() == [True, False]
    assert evaluate(a * THIRD, {"a": np.array([Fraction(1, 2), 3], dtype=object)}).tolist() == [Fraction(1, 6), 1]
    assert evaluate(a * 0.5, {"a": np.array([Decimal("0.1"), 3], dtype=object)}).tolist() == [
        Decimal("0.05"), Decimal("1.5"),
    ]  # fmt: skip
    assert evaluate(more, {"a": np.array([Decimal("0.1")], dtype=object), "b": Fraction(1, 10)}).tolist() == [False]
    assert evaluate(a + b, {"a": np.array([1, 2.5], dtype=object), "b": 1}).dtype == np.float64


def test_an_answer_that_is_a_fraction_is_a_float64():
    for make in (np.array, torch.tensor):
        for tree in (a * THIRD, a + 0.1, Where(Compare(">", a, Constant(0)), a * THIRD, Constant(0))):
            got = evaluate(tree, {"a": make([2**24 + 1, 1])})
            assert str(got.dtype).endswith("float64")
            assert got.tolist() == [float(worth(tree, {"a": value})) for value in (2**24 + 1, 1)]


# Floats


def left_to_right(node, row):
    """IEEE arithmetic as it is promised: constants nearest, parts in their order, n * x / d."""
    match node:
        case Variable(name):
            return row[name]
        case Constant(value):
            return float(value)
        case Truth(value):
            return value
        case Linear():
            added = None
            for coefficient, atom in node.parts():
                part = float(coefficient)
                if atom is not None:
                    part = float(coefficient.numerator)
                    for factor in atom.factors if isinstance(atom, Product) else (atom,):
                        part = part * left_to_right(factor, row)
                    part = part / float(coefficient.denominator)
                added = part if added is None else added + part
            return added
        case Compare(operator, left, right):
            return COMPARISONS[operator](left_to_right(left, row), left_to_right(right, row))
        case And(parts):
            return all(left_to_right(part, row) for part in parts)
        case Or(parts):
            return any(left_to_right(part, row) for part in parts)
        case Not(part):
            return not left_to_right(part, row)
        case Where(condition, then, otherwise):
            return left_to_right(then if left_to_right(condition, row) else otherwise, row)
        case Product(factors):
            return prod(left_to_right(factor, row) for factor in factors)
        case Count(formulas):
            return float(sum(left_to_right(formula, row) for formula in formulas))
        case Order(rank, parts):
            values = [left_to_right(part, row) for part in parts]
            assume(not any(value != value for value in values))  # not defined for NaN
            return sorted(values)[rank - 1]
    raise AssertionError(node)


@given(expressions(NAMES), rows(FLOATS))
def test_scalars_arrays_and_tensors_of_floats_have_the_same_bits(tree, table):
    expected = [left_to_right(tree, named(row)) for row in table]
    tree_has_variables = bool(tree.variables)
    for row, truth in zip(table, expected, strict=True):
        got = evaluate(tree, named(row))
        assert got == (truth if tree_has_variables else worth(tree, {})) or got != got
    for make in (np.array, lambda column: torch.tensor(column, dtype=torch.float64)):
        got = evaluate(tree, columns(table, make), rows=make([0.0] * len(table)))
        np.testing.assert_array_equal(np.asarray(got), np.array(expected))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors_keep_their_dtype(dtype):
    x, y = torch.tensor([1.0, 3.0], dtype=dtype), torch.tensor([2.0, 2.0], dtype=dtype)
    for tree in (maximum, a + 0.1, Where(more, Constant(0.1), Constant(0.2)), Where(more, Constant(0.1), b)):
        got = evaluate(tree, {"a": x, "b": y})
        assert got.dtype == dtype
    assert evaluate(Where(more, Constant(0.1), b), {"a": x, "b": y})[1] == torch.tensor(0.1, dtype=dtype)
    assert evaluate(more, {"a": x, "b": y}).dtype == torch.bool


def test_gradients_flow_through_the_branch_that_was_chosen():
    x = torch.tensor([1.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0, 2.0], dtype=torch.float64, requires_grad=True)
    evaluate(2 * Where(more, 3 * a, b * Fraction(1, 4)) + c, {"a": x, "b": y, "c": 1}).sum().backward()
    assert x.grad.tolist() == [0.0, 6.0]
    assert y.grad.tolist() == [0.5, 0.0]


def test_a_parameter_is_a_tensor():
    parameter = torch.nn.Parameter(torch.tensor([1.0, 3.0]))
    assert evaluate(more, {"a": parameter, "b": 2}).tolist() == [False, True]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_floats_of_numpy_are_widened(dtype):
    column = np.array([0.5, 2.0], dtype=dtype)
    got = evaluate(a + 0.1, {"a": column})
    assert got.dtype == np.float64
    assert got.tolist() == [0.6, 2.1]


def test_one_float_converts_all_values_to_floats():
    near = 2**53 + 1
    assert evaluate(Compare("=", a, b), {"a": 2.0**53, "b": near}) is True
    assert evaluate(Compare("=", a, b), {"a": np.array([2.0**53]), "b": near}).tolist() == [True]
    assert evaluate(Compare("=", a, b), {"a": np.array([2.0**53]), "b": np.array([near])}).tolist() == [True]
    assert evaluate(Compare("=", a, b), {"a": 0.1, "b": Fraction(1, 10)}) is True
    assert evaluate(Compare("=", a, b), {"a": 0.1, "b": Decimal("0.1")}) is True
    assert evaluate(Compare("=", a, b), {"a": torch.tensor([0.1]), "b": Decimal("0.1")}).tolist() == [True]


def test_infinities_are_compared_and_constants_beyond_floats_are_infinite():
    infinite = float("inf")
    assert evaluate(more, {"a": infinite, "b": 1e308}) is True
    assert evaluate(Compare(">=", a, b), {"a": infinite, "b": GOOGOL}) is True
    assert evaluate(Compare("<", a, Constant(GOOGOL)), {"a": 1e308}) is True
    for column in (np.array([1e308, infinite]), torch.tensor([1e308, infinite], dtype=torch.float64)):
        assert evaluate(Compare("<", a, Constant(GOOGOL)), {"a": column}).tolist() == [True, False]
        assert evaluate(a * Fraction(1, GOOGOL), {"a": column[:1]}).tolist() == [0.0]
    assert evaluate(a * Fraction(1, GOOGOL), {"a": np.array([3])}).tolist() == [0.0]


# Shapes and mixtures


@pytest.mark.parametrize("make", [np.array, lambda rows: torch.tensor(rows, dtype=torch.float64), torch.tensor])
def test_values_broadcast_together(make):
    x, y = make([[1], [3]]), make([0, 2, 4])
    got = evaluate(more, {"a": x, "b": y})
    assert got.tolist() == [[True, False, False], [True, True, False]]
    assert evaluate(maximum, {"a": x, "b": 2}).tolist() == [[2], [3]]
    assert evaluate(maximum, {"a": 2, "b": y}).tolist() == [2, 2, 4]


@pytest.mark.parametrize("b_value", [2, np.int64(2), Fraction(2), Decimal(2), 2.0, np.array(2), torch.tensor(2)])
@pytest.mark.parametrize("a_value", [[1, 2, 3], np.array([1, 2, 3]), np.array([1.0, 2, 3]), pd.Series([1, 2, 3]),
                                     torch.tensor([1, 2, 3]), torch.tensor([1.0, 2, 3])])  # fmt: skip
def test_scalars_and_arrays_of_every_kind_mix(a_value, b_value):
    got = evaluate(more, {"a": a_value, "b": b_value})
    assert got.tolist() == [False, False, True]
    assert isinstance(got, torch.Tensor) is any(isinstance(value, torch.Tensor) for value in (a_value, b_value))
    assert evaluate(a + b, {"a": a_value, "b": b_value}).tolist() == [3, 4, 5]


def test_tensors_and_arrays_mix():
    tensor, array = torch.tensor([1.0, 3.0]), np.array([2, 2])
    assert evaluate(maximum, {"a": tensor, "b": array}).tolist() == [2.0, 3.0]
    assert evaluate(maximum, {"a": array, "b": tensor}).dtype == torch.float32
    huge = np.array([GOOGOL, -GOOGOL], dtype=object)
    assert evaluate(more, {"a": tensor, "b": huge}).tolist() == [False, True]
    assert evaluate(more, {"a": tensor.long(), "b": huge}).tolist() == [False, True]
    fractions = np.array([THIRD, 4], dtype=object)
    assert evaluate(maximum, {"a": tensor.long(), "b": fractions}).tolist() == [1, 4]
    assert evaluate(a - b, {"a": tensor.long(), "b": fractions}).tolist() == [2 / 3, -1.0]


@pytest.mark.parametrize(
    ("tree", "numbers", "expected"),
    [
        (Constant(4), np.zeros((2, 1)), np.full((2, 1), 4.0)),
        (Constant(4), np.zeros(2, dtype=np.int8), np.full(2, 4)),
        (Constant(THIRD), np.zeros(2, dtype=int), np.full(2, 1 / 3)),
        (Constant(2**63), np.zeros(2, dtype=int), np.full(2, 2**63, dtype=object)),
        (Constant(GOOGOL), np.zeros(2), np.full(2, np.inf)),
        (Truth(True), np.zeros((0, 2)), np.ones((0, 2), dtype=bool)),
        (And(Truth(True), Truth(False)), np.zeros(2, dtype=object), np.zeros(2, dtype=bool)),
        (Constant(0.1), torch.zeros(2), torch.full((2,), 0.1)),
        (Constant(0.1), torch.zeros(2, dtype=torch.int32), torch.full((2,), 0.1, dtype=torch.float64)),
        (Constant(4), torch.zeros(2, 3, dtype=torch.bool), torch.full((2, 3), 4)),
        (Truth(False), torch.zeros(2), torch.zeros(2, dtype=torch.bool)),
    ],
)
def test_without_variables_the_answer_has_the_shape_and_type_of_the_rows(tree, numbers, expected):
    got = evaluate(tree, {}, rows=numbers)
    assert type(got) is type(expected)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.tolist() == expected.tolist()
    got[...] = 0  # it is not a view of one number


def test_without_variables_and_rows_the_answer_is_one_number():
    assert evaluate(Constant(THIRD), {}) == THIRD
    assert evaluate(Compare(">", Constant(2), Constant(1)), {}) is True


# Errors


@pytest.mark.parametrize(
    ("tree", "values", "text"),
    [
        (more, {"a": 1}, "no value for 'b': the program needs a, b"),
        (more, {}, "no value for 'a': the program needs a, b"),
        (more, {"a": 1, "b": "x"}, "'b' must hold numbers, got 'x'"),
        (more, {"a": 1j, "b": 1}, "'a' must hold numbers, got 1j"),
        (
            more,
            {"a": np.array([1.0, np.nan]), "b": 1},
            "'a' holds NaN in 1 row: NaN is neither less, equal nor greater",
        ),
    ],
)
def test_errors(tree, values, text):
    with pytest.raises(ValueError) as error:
        evaluate(tree, values)
    assert str(error.value) == text


def test_values_of_other_names_are_ignored():
    assert evaluate(a, {"a": 1, "b": "text", "c": float("nan")}) == 1


@pytest.mark.usefixtures("unchecked")
def test_only_known_nodes_can_be_evaluated():
    with pytest.raises(TypeError, match=r"^cannot evaluate Expression\(\)$"):
        evaluate(Expression(), {})


# Products, counts and order statistics


LARGE = 2**31 - 1


@pytest.mark.parametrize(("power", "fits"), [(1, True), (2, False), (5, False)])
def test_products_of_int64_do_not_wrap(power, fits):
    product = a**power * b + 1
    exact = LARGE**power * -7 + 1
    got = evaluate(product, {"a": np.array([LARGE, 2]), "b": np.array([-7, 1])})
    assert got.tolist() == [exact, 2**power + 1]
    assert (got.dtype == np.int64) is fits
    above = evaluate(Product(a, a) > c, {"a": torch.tensor([LARGE, 3]), "c": torch.tensor([5, 10])})
    assert above.tolist() == [True, False]
    if not fits:
        with pytest.raises(ValueError, match="^the answer does not fit int64"):
            evaluate(product, {"a": torch.tensor([LARGE]), "b": torch.tensor([-7])})


def test_products_of_exact_numbers_are_exact():
    assert evaluate(a * b * b, {"a": 10**40 + 1, "b": 10**40 - 1}) == (10**40 + 1) * (10**40 - 1) ** 2
    assert evaluate(a**3, {"a": Fraction(-2, 3)}) == Fraction(-8, 27)
    answer = evaluate(a * b, {"a": Decimal("0.1"), "b": Decimal("1e-30")})
    assert (type(answer), answer) == (Decimal, Decimal("1e-31"))
    assert evaluate(a * b / 3, {"a": np.array([3, 4]), "b": 5}).tolist() == [5.0, 20 / 3]


def test_a_coefficient_comes_first_and_then_the_factors_from_left_to_right():
    row = {"a": 0.1, "b": 0.7, "c": 1.1}
    assert evaluate(3 * a * b * c, row) == 3.0 * 0.1 * 0.7 * 1.1 != 3.0 * (0.1 * 0.7 * 1.1)
    assert evaluate(3 * a * b * c, row) == evaluate(3 * a * b * c, {name: np.array([v]) for name, v in row.items()})[0]


@pytest.mark.parametrize("rank", range(1, 13))
def test_order_statistics_of_twelve_columns(rank):
    names = [f"x{position}" for position in range(12)]
    table = np.random.default_rng(rank).integers(-5, 5, (20, 12))
    expected = np.partition(table, rank - 1, axis=1)[:, rank - 1]
    tree = Order(rank, *map(Variable, names))
    for make in (
        np.asarray,
        np.float64,
        lambda x: x.astype(object) * 10**30,
        torch.tensor,
        lambda x: torch.tensor(x * 1.0),
    ):
        columns = dict(zip(names, map(make, table.T), strict=True))
        scale = 10**30 if columns["x0"].dtype is np.dtype(object) else 1
        assert [int(value) for value in evaluate(tree, columns)] == [int(value) * scale for value in expected]
    frame = pd.DataFrame(table, columns=names)
    assert evaluate(tree, frame).tolist() == expected.tolist()


def test_counts_are_numbers_of_the_type_of_their_rows():
    tree = Count(a > b, b > 1, Truth(True))
    assert evaluate(tree, {"a": 3, "b": 2}) == 3
    assert type(evaluate(tree, {"a": 3, "b": 2})) is int
    for make, kind in ((np.array, np.int64), (np.float64, np.float64)):
        got = evaluate(tree, {"a": make([3, 0]), "b": make([2, 2])})
        assert (got.tolist(), got.dtype) == ([3, 2], kind)
    got = evaluate(tree, {"a": torch.tensor([3.0]), "b": torch.tensor([2.0])})
    assert (got.tolist(), got.dtype) == ([3.0], torch.float32)


def test_gradients_flow_to_the_number_that_has_the_rank():
    x, y = (torch.tensor([1.0, 3.0], requires_grad=True) for _ in range(2))
    evaluate(Order(2, 3 * a, b * b), {"a": x, "b": y}).sum().backward()
    assert (x.grad.tolist(), y.grad.tolist()) == ([3.0, 0.0], [0.0, 6.0])


@pytest.mark.parametrize(
    "column",
    [
        torch.tensor,
        lambda numbers: torch.tensor(numbers, dtype=torch.float32),
        np.array,
        lambda numbers: np.array(numbers, dtype=np.float64),
        lambda numbers: np.array([10**30 * number for number in numbers], dtype=object),
    ],
)
@pytest.mark.parametrize(
    ("formula", "answers"),
    [
        (And(Variable("p") > 0, Variable("q") > 0), [False, False, False, True]),
        (Or(Variable("p") > 0, Variable("q") > 0), [False, True, True, True]),
        (Not(Variable("p") > 0), [True, True, False, False]),
        (And(Not(Variable("p") > 0), Truth(True)), [True, True, False, False]),
        (Truth(False), [False] * 4),
    ],
)
def test_truth_tables_on_every_type(formula, answers, column):
    values = {"p": column([0, 0, 1, 1]), "q": column([0, 1, 0, 1])}
    found = evaluate(formula, values, rows=values["p"])
    assert isinstance(found, type(values["p"]))
    assert found.tolist() == answers


def test_no_rows_are_no_reason_to_overflow():
    nothing = np.array([], dtype=np.int64)
    assert evaluate(2**64 * Variable("a"), {"a": nothing}).tolist() == []
