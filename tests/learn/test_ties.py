from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr.learn.alternatives import conventional
from nsr.learn.rules import Reader
from nsr.learn.ties import with_ties_of_others, with_usual_ties
from nsr.program import Compare, Count, Program
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows

NAMES = ("a", "b", "c")
TRIANGLE = "a < b + c and a + b > c and a + c > b"


def rows(x, truth: str, wrong: list[int], digits: int = 0) -> LabelledRows:
    """Integers, divided by a power of ten, with the classes of a formula, but for some that are wrong."""
    columns = Columns(torch.from_numpy(x / 10**digits if digits else x), NAMES)
    classes = np.asarray(Program.parse(truth, NAMES)(x)).astype(np.int64)
    classes[wrong] ^= 1
    return LabelledRows(columns, classes, np.ones(len(classes)), 2)


def usual(data: LabelledRows, text: str) -> str:
    """The rule that a formula becomes."""
    reader, expression = Reader(data), Program.parse(text, data.columns.names).expression
    atoms = [atom for node in expression.walk() if (atom := _atom(node)) is not None]
    return str(with_usual_ties(reader, reader.scored(expression, atoms, "screen")).expression)


def _atom(node) -> Atom | None:
    return Atom.from_comparison(node) if isinstance(node, Compare) and not isinstance(node.left, Count) else None


def same(text: str) -> str:
    return str(Program.parse(text, NAMES).expression)


def lengths():
    """300 rows away from every border, then two with a + b = c and one with a + c = b."""
    x = np.random.default_rng(0).integers(1, 100, (400, 3))
    sums = x.sum(1, keepdims=True) - 2 * x
    return np.concatenate([x[(sums != 0).all(1)][:300], [[3, 4, 7], [10, 20, 30], [5, 9, 4]]])


def test_one_wrong_tie_makes_no_difference_between_comparisons_of_the_same_columns():
    data = rows(lengths(), TRIANGLE, [*range(10), 300])
    assert usual(data, "a < b + c and a + b >= c and a + c > b") == same(TRIANGLE)


def test_a_tie_that_rows_speak_for_clearly_stays():
    mixed = "a < b + c and a + b >= c and a + c > b"
    assert usual(rows(lengths(), mixed, list(range(4))), mixed) == same(mixed)


def test_without_wrong_labels_every_row_counts():
    mixed = "a < b + c and a + b >= c and a + c > b"
    assert usual(rows(lengths()[[*range(301), 302]], mixed, []), mixed) == same(mixed)


def test_constants_beside_the_grid_of_decimals_are_moved_to_its_other_side():
    data = rows(lengths(), TRIANGLE, [*range(10), 300], digits=2)
    found = usual(data, "a < b + c - 0.005 and a + b > c - 0.005 and a + c > b + 0.005")
    assert found == same("a < b + c - 0.005 and a + b > c + 0.005 and a + c > b + 0.005")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("at least 2 of (a > 50, b >= 50, c > 50)", "at least 2 of (a > 50, b > 50, c > 50)"),
        ("at least 2 of (a >= 50, b >= 50, c > 50)", "at least 2 of (a >= 50, b >= 50, c >= 50)"),
        ("at least 2 of (a > 50, b >= 50, c < 50)", None),
        ("a > 50 and b >= 50 and c > 50", None),
        ("exactly 1 of (a > 50, b >= 50)", None),
        ("a > b and b >= c and c > a", None),
    ],
)
def test_what_is_of_a_kind(text, expected):
    x = np.random.default_rng(1).integers(0, 100, (300, 3))
    x[x == 50] = 49
    assert usual(rows(x, text, list(range(10))), text) == same(expected or text)


def test_equality_is_included_where_rows_say_so():
    x = np.random.default_rng(1).integers(0, 20, (600, 3))
    truth = "at least 2 of (a >= 10, b >= 10, c >= 10)"
    assert usual(rows(x, truth, list(range(20))), "at least 2 of (a > 10, b >= 10, c >= 10)") == same(truth)


def graded(cuts: dict[int, str], *, unseen: set[int]) -> LabelledRows:
    """Rows of points, with grades by cut points, and no row at some of the cuts."""
    points = np.array([each for each in range(101) if each not in unseen])
    classes = sum(points >= cut if operator == ">=" else points > cut for cut, operator in cuts.items())
    return LabelledRows(
        Columns(torch.tensor(points)[:, None], ["points"]), classes, np.ones(len(points)), len(cuts) + 1
    )


@pytest.mark.parametrize("operator", [">=", ">"])
def test_a_tie_that_no_row_shows_follows_the_others_of_its_column(operator):
    rows = graded(dict.fromkeys((60, 70, 80, 90), operator), unseen={70, 90})
    reader = Reader(rows)
    rule = reader.read_all([Atom.difference("points", None, Fraction(cut)) for cut in (60, 70, 80, 90)], "screen")
    text = str(conventional(reader, rule).expression)
    assert conventional(reader, rule).wrong == 0
    assert text.count(operator + " ") == 4 or text.count("<" + "=" * (operator == ">") + " ") == 4


def test_ties_that_rows_show_stay_where_they_differ():
    rows = graded({60: ">=", 70: ">", 80: ">="}, unseen={80})
    reader = Reader(rows)
    rule = reader.read_all([Atom.difference("points", None, Fraction(cut)) for cut in (60, 70, 80)], "screen")
    assert with_ties_of_others(reader, rule) == rule
