from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr.program.expressions import Product, Variable
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns


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
