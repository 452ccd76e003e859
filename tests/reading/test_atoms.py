from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr.program import Compare, Constant, Linear, Variable, Where
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns

A, B, C = map(Variable, "abc")


def test_sides_put_every_column_where_its_weight_is_positive():
    atom = Atom((("a", 2), ("b", 1), ("c", -3)), Fraction(5))
    left, right = atom.sides
    assert (str(left), str(right), str(atom)) == ("2*a + b", "3*c + 5", "2*a + b = 3*c + 5")
    assert atom.compare(">") == Compare(">", 2 * A + B, 3 * C + 5).simplified()
    assert atom.columns == ("a", "b", "c")


@pytest.mark.parametrize(
    ("comparison", "atom"),
    [
        (Compare(">", A, B), Atom.difference("a", "b")),
        (Compare("<=", A, Constant(3)), Atom.difference("a", constant=Fraction(3))),
        (Compare(">", Linear([(Fraction(11, 10), B)]), A), Atom((("b", 11), ("a", -10)))),
        (Compare(">", Linear([(Fraction(1, 2), A)]), B), Atom((("a", 1), ("b", -2)))),
        (Compare("=", Constant(7), 2 * A), Atom.difference("a", constant=Fraction(7, 2))),
        (Compare(">", A + B, C + 40), Atom((("a", 1), ("b", 1), ("c", -1)), Fraction(40))),
        (Compare(">", Where(Compare(">", A, B), A, B), C), None),
    ],
)
def test_the_atom_of_a_comparison_has_coprime_integer_weights(comparison, atom):
    assert Atom.from_comparison(comparison) == atom


def test_only_a_comparison_between_columns_needs_no_constant():
    assert not Atom.difference("a", "b").has_constant
    assert Atom.difference("a").has_constant
    assert Atom.difference("a", "b", Fraction(1, 2)).has_constant


@pytest.mark.parametrize("dtype", [torch.int64, torch.float64])
def test_signs_of_weighted_sums_are_those_of_exact_arithmetic(dtype):
    rng = np.random.default_rng(0)
    cents = rng.integers(-500, 500, (2_000, 3))
    cents[:300, 2] = 2 * cents[:300, 0] + 3 * cents[:300, 1] - 40  # on the border
    x = torch.from_numpy(cents) if dtype is torch.int64 else torch.from_numpy(cents / 100)
    scale = 1 if dtype is torch.int64 else 100
    atom = Atom((("a", 2), ("b", 3), ("c", -1)), Fraction(40, scale))
    exact = [2 * int(a) + 3 * int(b) - int(c) - 40 for a, b, c in cents]
    signs = Columns(x, "abc").signs(atom)
    assert signs.tolist() == np.sign(exact).tolist()
    assert (signs == 0).sum() >= 300


def test_sums_of_floats_without_a_common_unit_are_computed_in_float64():
    columns = Columns(torch.tensor([[1 / 3, 2.0], [0.1, np.pi]], dtype=torch.float64), "ab")
    assert columns.unit((("a", 1), ("b", 1))) is None
    assert columns.sums((("a", 1), ("b", 2))).tolist() == [1 / 3 + 4.0, 0.1 + 2 * np.pi]
    assert columns.signs(Atom((("a", 1), ("b", 2)), Fraction(5))).tolist() == [-1, 1]


def test_one_border_has_one_canonical_atom():
    one = Atom((("b", 2), ("a", -1)), Fraction(-3))
    assert (
        one.canonical == Atom((("a", 1), ("b", -2)), Fraction(3)).canonical == Atom((("a", 1), ("b", -2)), Fraction(3))
    )
