from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr.program.expressions import Product, Variable
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns, product_name


def test_differences_that_int64_cannot_hold_do_not_wrap():
    rows = Columns(torch.tensor([[2**62, -(2**62)], [1, 2], [-(2**62), 2**62]]), ("a", "b"))
    assert rows.signs(Atom.difference("a", "b")).tolist() == [1, -1, -1]


def test_constants_between_integers_have_rows_on_either_side_only():
    rows = Columns(torch.tensor([[1], [2], [3]]), ("a",))
    assert rows.signs(Atom.difference("a", constant=Fraction(5, 2))).tolist() == [-1, -1, 1]
    assert rows.signs(Atom.difference("a", constant=Fraction(2))).tolist() == [-1, 0, 1]
    assert rows.distances(Atom.difference("a", constant=Fraction(5, 2))).tolist() == [-1.5, -0.5, 0.5]


def test_cases_that_no_row_shows_are_named():
    columns = Columns(torch.tensor([[1, 2], [2, 1]]), ("a", "b"))
    assert columns.cases_not_covered(Atom.difference("a", "b")) == ["a == b"]
    assert columns.cases_not_covered(Atom.difference("a", constant=Fraction(1))) == ["a < 1"]


def test_tolerances_are_zero_for_integers_and_grow_with_the_numbers():
    integers = Columns(torch.tensor([[3, 4]]), ("a", "b"))
    assert integers.tolerance(np.array([7.0])).tolist() == [0.0]
    assert integers.tolerance(np.array([7.5]))[0] > 0
    small, large = (Columns(torch.tensor([[size, 1.0]]), ("a", "b")).tolerance(np.array([size])) for size in (1.0, 1e6))
    assert 0 < small < large


def test_the_grid_of_a_sum_is_that_of_the_numbers_the_columns_hold():
    x = torch.tensor([[0.5, 0.25, 3.0], [2.0, 0.75, 6.0], [1.5, 1.0, 9.0]], dtype=torch.float64)
    columns = Columns(x, ["halves", "quarters", "threes"])
    assert columns.step((("halves", 1),)) == Fraction(1, 10)
    assert columns.grid((("halves", 1),)) == Fraction(1, 2)
    assert columns.grid((("halves", 1), ("quarters", -1))) == Fraction(1, 4)
    assert columns.grid((("threes", 2),)) == 6
    assert Columns(torch.tensor([[0.1], [1 / 3]]).double(), ["floats"]).grid((("floats", 1),)) is None


CENTS = Columns(torch.tensor([[0.5, 2.25], [1.75, 1.3], [0.07, 3.0]], dtype=torch.float64), ["a", "b"])
SUM = (("a", 1), ("b", 1))


@pytest.mark.parametrize(
    ("constant", "intended"), [("3.005", 3), ("2.995", 3), ("3.105", "3.1"), ("3.01", "3.01"), ("3", 3)]
)
def test_a_constant_that_stands_half_a_step_beside_a_number_means_the_simpler_neighbour(constant, intended):
    assert CENTS.intended_constant(Atom(SUM, Fraction(constant))) == Fraction(intended)


@pytest.mark.parametrize(
    ("constant", "below", "above", "beside"),
    [
        ("3", "2.99", "3", "2.995"),
        ("3", "3", "3.01", "3.005"),
        ("2.997", "2.99", "3", "2.995"),
        ("3.3", "2", "5", "3.305"),
        ("3.3", "3.306", "5", "4.153"),  # half a step above it is not in the gap
        ("3", "2.95", "3", "2.995"),
        ("2.997", "2.997", "3.2", "3.005"),
        ("3", "2.995", "3", "2.9975"),  # half a step below it is an end of the gap
        ("3.307", "2", "5", "3.305"),
        ("3.307", "3.305", "3.4", "3.3525"),
    ],
)
def test_beside_the_grid_no_sum_of_cents_is_equal_to_the_constant(constant, below, above, beside):
    atom = Atom(SUM, Fraction(constant))
    assert CENTS.beside_the_grid(atom, Fraction(below), Fraction(above)) == Fraction(beside)


def test_where_there_is_no_grid_a_constant_keeps_a_quarter_of_the_gap_from_both_sides():
    thirds = Columns(torch.tensor([[1 / 3], [2 / 3]]).double(), ["x"])
    atom = Atom((("x", 1),), Fraction(1, 3))
    assert thirds.beside_the_grid(atom, Fraction(10), Fraction(14)) == 12
    assert thirds.beside_the_grid(atom, Fraction(0), Fraction(4)) == 2
    assert thirds.beside_the_grid(atom, Fraction("6.2"), Fraction("10.2")) == 8  # 10 is too near to an end
    assert thirds.beside_the_grid(atom, Fraction("-0.9"), Fraction("3.1")) == 1  # and so is 0
    assert thirds.intended_constant(atom) == Fraction(1, 3)


def test_products_are_columns_and_a_product_of_one_column_is_that_column():
    wider = CENTS.with_products([(("a", 1), ("b", 1)), (("a", 2),), (("b", 1),)])
    a, b = Variable("a"), Variable("b")
    assert list(wider.products.values()) == [Product(a, b), Product(a, a), b]
    expected = [[0.5 * 2.25, 0.25, 2.25], [1.75 * 1.3, 3.0625, 1.3], [0.07 * 3, 0.0049, 3.0]]
    np.testing.assert_allclose(wider.x[:, 2:].numpy(), expected, rtol=1e-15)
    assert CENTS.with_products([]) is CENTS


def test_products_are_exact_while_they_fit_and_floats_beyond():
    x = torch.tensor([[10.0**9 + 0.01, 3.0], [7.0, 1 / 3]], dtype=torch.float64)
    columns = Columns(x, ["large", "thirds"])
    wider = columns.with_products([(("large", 2),), (("large", 1), ("thirds", 1))])
    assert wider.x[:, 2].tolist() == pytest.approx([(10**9 + 0.01) ** 2, 49.0], rel=1e-15)
    assert wider.x[:, 3].tolist() == pytest.approx([3 * 10**9 + 0.03, 7 / 3], rel=1e-15)


def column(*numbers: float) -> Columns:
    """One column of float64 with the name x."""
    return Columns(torch.tensor(numbers, dtype=torch.float64).unsqueeze(-1), ["x"])


@pytest.mark.parametrize(
    ("number", "unit"),
    [
        (3.0, "1"),
        (2.5, "1/10"),
        (1e-9, "1/1000000000"),
        (1e-10, None),  # ten places are no short decimal
        (2.0**53 - 1, "1"),
        (2.0**53, None),  # its neighbours are no integers any more
    ],
)
def test_the_unit_of_a_float_is_its_last_place_if_that_is_near(number, unit):
    assert column(0.0, number).unit((("x", 1),)) == (None if unit is None else Fraction(unit))


def test_a_sum_has_a_unit_while_int64_has_room():
    large = Columns(torch.tensor([[2**60]]), ["x"])
    assert large.unit((("x", 3),)) == 1
    assert large.unit((("x", 4),)) is None
    cents = column(0.25, 1e12)
    assert cents.unit((("x", 10**4),)) == Fraction(1, 100)
    assert cents.unit((("x", 10**5),)) is None  # 10^19 hundredths


def test_columns_without_rows_and_of_zeros():
    empty = Columns(torch.zeros(0, 2), ["x", "y"])
    assert len(empty) == 0
    assert empty.unit((("x", 2**62), ("y", 1))) == 1
    assert Columns(torch.zeros(3, 1, dtype=torch.int64), ["x"]).grid((("x", 1),)) == 1
    assert Columns(torch.tensor([[1], [2]]), ["x"]).grid((("x", 1),)) == 1
    with pytest.raises(ValueError, match="shorter"):
        Columns(torch.zeros(2, 2), ["x", "y", "z"])


@pytest.mark.parametrize(
    ("numbers", "product", "dtype"),
    [
        ((10**9 + 7, 10**9 + 9), (10**9 + 7) * (10**9 + 9), torch.int64),
        ((2**61 + 1, 1), 2**61 + 1, torch.int64),
        ((2**31, 2**31 - 1), 2**31 * (2**31 - 1), torch.int64),
        ((2**31, 2**31), 2.0**62, torch.float64),
    ],
)
def test_products_of_integers_are_integers_while_they_fit(numbers, product, dtype):
    wider = Columns(torch.tensor([numbers]), ["a", "b"]).with_products([(("a", 1), ("b", 1))])
    assert wider.x.dtype == dtype
    assert wider.x[0, 2].item() == product


def test_a_product_has_a_name_of_its_own_and_is_made_once():
    a, b, both, square = ("a", 1), ("b", 1), (("a", 1), ("b", 1)), (("a", 2),)
    assert product_name((a,)) == "a"
    assert [product_name(monomial) for monomial in (square, both)] == ["\0a^2", "\0a^1*b^1"]
    wider = CENTS.with_products([both])
    again = wider.with_products([both, square])
    assert again.names == ("a", "b", "\0a^1*b^1", "\0a^2")
    named = Variable(product_name(both)) > 1
    assert wider.written_out(named) == (Product(Variable(a[0]), Variable(b[0])) > 1)
    assert wider.readable(named) == wider.written_out(named)
    assert CENTS.written_out(Variable("a") > 1) == (Variable("a") > 1)


def test_distances_are_in_the_numbers_of_the_rows_and_zero_on_the_border():
    tenths = column(0.5, 0.3, 0.2)
    assert tenths.distances(Atom((("x", 1),), Fraction(3, 10))) == pytest.approx([0.2, 0.0, -0.1])
    assert tenths.distances(Atom((("x", 1),), Fraction(3, 10)))[1] == 0
    thirds = column(1 / 3, 2 / 3)
    assert thirds.distances(Atom((("x", 1),), Fraction(1, 2))) == pytest.approx([-1 / 6, 1 / 6])


@pytest.mark.parametrize(
    ("x", "weights", "constant", "exact"),
    [
        ([[1, 2]], {"a": 2, "b": -3}, "5", True),
        ([[1, 2]], {"a": 1, "b": -1}, "5/2", False),
        ([[1, 2]], {"a": 1}, "5/2", True),
        ([[1.0, 2.0]], {"a": 2, "b": -3}, "5", True),
        ([[1.0, 2.0]], {"a": 1, "b": -1}, "5/2", False),
        ([[1.0, 2.5]], {"a": 2, "b": -3}, "5", False),
        ([[1.0, 2.5]], {"a": 2}, "5", True),
        ([[1.5, 2.5]], {"a": 1}, "5/2", True),
        ([[1.5, 2.5]], {"a": 2}, "5/2", False),
        ([[1.5, 2.5]], {"a": 1, "b": -1}, "0", True),
        ([[1.5, 2.5]], {"a": 1, "b": -1}, "1", False),
        ([[1.5, 2.5]], {"a": 1, "b": 1}, "0", False),
        ([[1.5, 2.5]], {"a": 1, "b": -2}, "0", False),
        ([[1.5, 2.5]], {"\0a^2": 1}, "1", False),  # a product is rounded
    ],
)
def test_floats_decide_as_exact_numbers_do_where_nothing_is_computed(x, weights, constant, exact):
    columns = Columns(torch.tensor(x), ["a", "b"]).with_products([(("a", 2),)])
    assert columns.floats_are_exact(Atom(tuple(weights.items()), Fraction(constant))) is exact
