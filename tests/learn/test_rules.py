import math
import re
from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr.learn.candidates import candidate_sums, comparable
from nsr.learn.chains import grown
from nsr.learn.diagnostics import (
    BY_CHANCE,
    Margin,
    _separating_line,
    chance_of_nearness,
    margins,
    nats_unexplained,
    not_covered,
    smooth_border,
)
from nsr.learn.rules import Reader, description_length
from nsr.program import Program
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows
from nsr.reading.rules import answers
from nsr.reading.screen import Screen
from tests.learn.samples import integers as numbers
from tests.learn.samples import labelled

NAMES = ("a", "b", "c", "d")


def rule_of(rows: LabelledRows):
    screen, reader = Screen(rows, candidate_sums(rows)), Reader(rows)
    return screen, reader.read(grown(screen, reader, []))


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a > b", lambda a, b, c, d: a > b),
        ("a >= b", lambda a, b, c, d: a >= b),
        ("a == b", lambda a, b, c, d: a == b),
        ("c > 7", lambda a, b, c, d: c > 7),
        ("a > b + 12", lambda a, b, c, d: a > b + 12),
        ("a > b and c <= d", lambda a, b, c, d: (a > b) & (c <= d)),
        ("a == b or c == 1", lambda a, b, c, d: (a == b) | (c == 1)),
        ("c == 1 or c > d", lambda a, b, c, d: (c == 1) | (c > d)),
    ],
)
@pytest.mark.parametrize("wrong", [0.0, 0.05])
def test_rules_are_read_back_also_where_some_labels_are_wrong(text, holds, wrong):
    x = numbers(600)
    y = holds(*x.T)
    y ^= np.random.default_rng(1).random(len(y)) < wrong
    screen, rule = rule_of(labelled(x, y))
    truth = holds(*x.T)
    assert np.array_equal(answers(rule.expression, screen.rows), truth), f"{rule.expression} is not {text}"
    if not wrong:
        assert rule.wrong == 0
    assert nats_unexplained(screen, rule) < 5


def test_three_classes_of_one_difference_are_one_rule():
    x = numbers()
    screen, rule = rule_of(labelled(x, np.sign(x[:, 0] - x[:, 1]) + 1, 3))
    assert rule.comparisons == 2
    assert Program(rule.expression).equivalent(Program.parse("where(a < b, 0, where(a == b, 1, 2))"))
    assert rule.wrong == 0
    assert not_covered(screen.rows.columns, rule) == ()
    assert margins(screen.rows.columns, rule) == {"a and b": Margin(1.0, True, 1.0)}


def test_labels_that_follow_nothing_have_no_rule():
    rng = np.random.default_rng(0)
    for _ in range(5):
        rows = labelled(rng.normal(size=(200, 4)), rng.random(200) < 0.5)
        _, rule = rule_of(rows)
        assert rule.comparisons == 0
        nothing = description_length(rows.classes, np.zeros_like(rows.classes), rows.weight, 2)
        assert rule.nats == pytest.approx(nothing)


def test_what_only_comes_near_a_rule_leaves_something_over():
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 10, (800, 2))
    screen, rule = rule_of(labelled(x, x[:, 0] * x[:, 1] > 25))
    assert 0 < rule.wrong < 0.1 * len(x)
    assert nats_unexplained(screen, rule) > 5


@pytest.mark.parametrize("seed", range(5))
def test_rows_that_contradict_by_chance_lie_anywhere_and_those_of_a_product_along_the_borders(seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 20, (350, 2)).round(2)
    flipped = (x[:, 0] > 5) & (x[:, 1] > 5) ^ (rng.random(350) < 0.05)
    screen, rule = rule_of(labelled(x, flipped))
    assert chance_of_nearness(screen.rows, rule) > BY_CHANCE
    screen, rule = rule_of(labelled(x, x[:, 0] * x[:, 1] > 75))
    assert rule.wrong > 0
    assert chance_of_nearness(screen.rows, rule) < BY_CHANCE


@pytest.mark.parametrize(
    ("border", "about"),
    [
        (lambda a, b: a > 1.1 * b, r"b < 0.9\d* \* a [-+] 0.\d+|a > 1.\d+ \* b [-+] 0.\d+"),
        (lambda a, b: a + b > 60, r"[ab] > -\d.* \* [ab] \+ .*"),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_staircase_along_a_smooth_border_is_distinguished_from_a_rule(border, about, seed):
    x = np.random.default_rng(seed).integers(0, 60, (500, 2)).astype(np.float64)
    screen, rule = rule_of(labelled(x, border(*x.T)))
    assert re.fullmatch(about, smooth_border(screen.rows, rule))


@pytest.mark.parametrize(
    "holds",
    [
        lambda a, b: a > b + 12,
        lambda a, b: (a > 12) & (a <= 40),
        lambda a, b: (a > 12) & (b <= 40) & (a <= b + 5),
        lambda a, b: (a > 12) | (b == 7),
    ],
)
def test_rules_of_several_constants_are_no_staircase(holds):
    x = np.random.default_rng(0).integers(0, 60, (300, 2)).astype(np.float64)
    screen, rule = rule_of(labelled(x, holds(*x.T)))
    assert smooth_border(screen.rows, rule) is None


def test_a_wrong_label_that_a_slant_would_explain_is_no_slant():
    x = np.random.default_rng(0).uniform(0, 100, (300, 2))
    x[:2] = (99.9, 99.8), (0.2, 0.1)  # as near to the line as no other row, one at each end of it
    x = x[np.abs(x[:, 0] - x[:, 1]) > 0.09]
    y = x[:, 0] > x[:, 1]
    y[0] = False
    assert _separating_line(x, ["a", "b"], y).startswith("b < 0.9")
    rows = labelled(x, y)
    rule = Reader(rows).read([Atom.difference("a", "b")])
    assert str(rule.expression) == "a > b"
    assert rule.wrong == 1
    assert smooth_border(rows, rule) is None


def test_margins_say_both_sides():
    assert str(Margin(1.0, True, 0.25)) == "1 below, on it, 0.25 above"
    assert str(Margin(math.inf, False, 0.25)) == "0.25 above"


def test_a_rule_has_the_roundest_numbers_that_the_rows_allow():
    x = np.random.default_rng(0).uniform(0, 100, (9_000, 1)).round(2)
    x = x[x[:, 0] != 37.5]
    _, rule = rule_of(labelled(x, x[:, 0] > 37.5))
    assert rule.atoms[0].constant == Fraction(75, 2)


def test_cases_that_no_row_shows_are_named():
    x = numbers()
    x = x[x[:, 0] != x[:, 1]]
    screen, rule = rule_of(labelled(x, x[:, 0] > x[:, 1]))
    assert not_covered(screen.rows.columns, rule) == ("a == b",)


def test_columns_of_other_sizes_are_not_compared():
    x = numbers(columns=3) * np.array([1.0, 1e-3, 1e6])
    pairs = list(comparable(labelled(x, x[:, 0] > 0).columns))
    assert pairs == [(("a", 1),), (("b", 1),), (("c", 1),)]
    assert (("a", 1), ("b", -1)) in list(comparable(labelled(numbers(columns=2), np.zeros(300)).columns))


@pytest.mark.parametrize("other", ["narrow", "mostly zero"])
def test_columns_that_overlap_are_compared_whatever_their_spread(other):
    rng = np.random.default_rng(0)
    if other == "narrow":
        x = np.column_stack([rng.uniform(0, 100, 500), rng.uniform(50, 50.4, 500)])
        x[:20, 0] = rng.uniform(50, 50.4, 20)
    else:
        x = np.column_stack([rng.uniform(0, 100, 500), np.where(rng.random(500) < 0.96, 0, rng.uniform(0, 100, 500))])
    _, rule = rule_of(labelled(x, x[:, 0] > x[:, 1]))
    assert str(rule.expression) == "a > b"
    assert rule.wrong == 0


def test_decimals_are_exact_also_beside_columns_of_floats():
    rng = np.random.default_rng(0)
    rows = Columns(torch.tensor([[2.9, 2.6, 1 / 3], [0.1, 7.25, math.pi]], dtype=torch.float64), NAMES[:3])
    assert rows.unit((("a", 1), ("b", -1))) == Fraction(1, 100)
    assert rows.signs(Atom.difference("a", "b", Fraction("0.3"))).tolist() == [0, -1]
    assert rows.unit((("a", 1), ("c", -1))) is None
    cents = rng.integers(100, 900, (600, 2))
    cents[:60, 1] = cents[:60, 0] - 30
    x = np.column_stack([cents / 100, rng.normal(size=600)])
    _, rule = rule_of(labelled(x, cents[:, 0] > cents[:, 1] + 30))
    assert rule.wrong == 0  # although floats round b + 0.3
    assert len(rule.atoms) == 1
    assert Fraction("0.3") < rule.atoms[0].constant < Fraction("0.31")


def test_the_uncertainty_that_a_screen_finds_is_the_entropy_of_the_groups():
    rows = labelled([[1.0], [2.0], [3.0], [4.0]], [0, 1, 1, 0])
    assert rows.uncertainty(np.zeros(4, dtype=np.int64)) == pytest.approx(4 * math.log(2))
    split = Screen(rows, candidate_sums(rows)).splits(np.zeros(4, dtype=np.int64))[0]
    assert split.left == pytest.approx(2 * math.log(2))  # one row apart from the others, or one at an end
    groups = rows.columns.signs(split.atom).astype(np.int64) + 1
    assert rows.uncertainty(groups) == pytest.approx(split.left)


@pytest.mark.parametrize("opposite", [False, True])
def test_a_number_and_its_negative_cost_one_number_and_decide_a_border_that_the_rows_leave_open(opposite):
    x = numbers(600)[:, :2]
    x = x[np.abs(x[:, 0] - x[:, 1]) != 7]  # 6 < abs(a - b) < 8: the rows allow 6.1 to 7.9 on both sides
    x = x[x[:, 0] - x[:, 1] != 8]
    x = np.vstack([x, [[20, 13], [20, 13], [5, 13]]])
    y = np.abs(x[:, 0] - x[:, 1]) > 7
    rows = labelled(x, y)
    below = Atom((("a", 1), ("b", -1)), Fraction(-7))
    above = Atom((("b", 1), ("a", -1)), Fraction(-7)) if opposite else Atom((("a", 1), ("b", -1)), Fraction(7))
    rule = Reader(rows).read([below, above])
    one, two = (atom.canonical for atom in rule.atoms)
    assert one.constant == -two.constant
    alone = Reader(rows).price(one) + Reader(rows).price(two)
    formula = 2 * math.log(12) + description_length(rows.classes, rows.classes, rows.weight, 2)
    assert rule.wrong == 0
    assert rule.nats < alone + formula - 1


@pytest.mark.parametrize("seed", [0, 1, 41])
def test_two_wrong_labels_in_a_rare_case_make_a_formula_no_longer(seed):
    x = numbers(1200, 6, seed, low=0, high=40)
    flipped = (x[:, :5] == x[:, 5:]).any(1) ^ (np.random.default_rng(seed).random(1200) < 0.05)
    rule = Reader(labelled(x, flipped)).read_all([Atom(((name, 1), ("f", -1))) for name in "abcde"], "screen")
    assert str(rule.expression) == "a == f or b == f or c == f or d == f or e == f"


def spelled(x, y, text):
    rows = labelled(x, y)
    expression = Program.parse(text, ("a", "b")).expression
    return str(Reader(rows).tidied(expression, [Atom((("a", 1),), 65), Atom((("b", 1),), 5)], "screen").expression)


MIXED = "a >= 65 and b > 5 or a > 65 and b <= 5 or a <= 65 and b == 9"


def test_a_border_has_one_spelling_unless_rows_demand_both():
    x = np.random.default_rng(0).integers((0, 0), (100, 9), (400, 2)).astype(np.float64)
    x[(x[:, 0] == 65) & (x[:, 1] <= 5), 0] = 64
    wanted = Program.parse(MIXED, ("a", "b"))(x)
    found = spelled(x, wanted, MIXED)
    assert "a >= 65" in found
    assert "a > 65" not in found
    assert "a <= 65" not in found
    open_tie = x[x[:, 0] != 65]
    assert ">= 65" not in spelled(
        open_tie, open_tie[:, 0] > 65, "a >= 65 and b > 5 or a > 65 and b <= 5 or a > 65 and b == 3"
    )


def test_rows_may_demand_both_spellings():
    x = np.random.default_rng(0).integers((60, 0), (70, 9), (600, 2)).astype(np.float64)
    text = "a >= 65 and b > 5 or a > 65 and b <= 5"
    assert ((x[:, 0] == 65) & (x[:, 1] <= 5)).any()
    assert ((x[:, 0] == 65) & (x[:, 1] > 5)).any()
    found = spelled(x, Program.parse(text, ("a", "b"))(x), text)
    assert ">= 65" in found
    assert "a > 65" in found
