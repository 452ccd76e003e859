from fractions import Fraction

import numpy as np
import pytest

from nsr.learn import orders, refinement, rules, search
from nsr.learn.attempt import Settings
from nsr.learn.order_reading import read_order
from nsr.learn.orders import can_be_levels, is_order, order_nats, written_out
from nsr.learn.rules import Reader
from nsr.program import Program
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows

MAJOR, MINOR, PATCH = Atom.difference("a", "b"), Atom.difference("c", "d"), Atom.difference("e", "f")
YEAR, MONTH = Atom.difference("year", None, Fraction(3)), Atom.difference("month", None, Fraction(6))
VERSIONS = "a > b or a = b and (c > d or c = d and e > f)"


@pytest.mark.parametrize(
    ("levels", "ties", "text"),
    [
        ([(MAJOR, 1), (MINOR, 1), (PATCH, 1)], False, VERSIONS),
        ([(MAJOR, 1), (MINOR, -1)], True, "a > b or a = b and c <= d"),
        ([(MINOR, -1), (MAJOR, 1)], False, "c < d or c = d and a > b"),
        ([(YEAR, 1), (MONTH, 1)], True, "year > 3 or year = 3 and month >= 6"),
    ],
)
def test_an_order_is_written_out_and_recognised(levels, ties, text):
    expression = written_out(levels, ties=ties).simplified()
    assert Program(expression) == Program.parse(text)
    assert is_order(expression, [atom for atom, _ in reversed(levels)])


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("a > b or a >= b and c > d", True),
        ("a >= b and (a > b or c >= d)", True),
        ("a > b or c > d", False),
        ("a > b and c > d", False),
        ("a >= b or a = b and c > d", False),
        ("a > b or a != b and c > d", False),
        ("a < b and c > d or a > b and c < d", False),
    ],
)
def test_an_order_is_recognised_however_it_is_written(text, is_one):
    assert is_order(Program.parse(text).expression, [MAJOR, MINOR]) == is_one


def test_levels_are_of_different_columns_and_without_weights():
    assert can_be_levels([MAJOR, MINOR])
    assert can_be_levels([YEAR, MONTH])
    assert not can_be_levels([MAJOR, MONTH])
    assert not can_be_levels([MAJOR, Atom.difference("b", "c")])
    assert not can_be_levels([Atom((("a", 2), ("b", -1)))])
    assert not is_order(Program.parse("a > b").expression, [MAJOR])


def test_a_further_level_costs_a_bit_beside_its_comparison():
    assert order_nats(3) - order_nats(2) == pytest.approx(np.log(2))


def versions(count: int, wrong: float, seed: int, *, columns: int = 14) -> LabelledRows:
    """Rows of two versions of three numbers, with more columns that do not matter, and wrong labels."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, (4, 4, 9, 9, 20, 20) + (30,) * (columns - 6), (count, columns))
    y = np.array([tuple(row[:6:2]) > tuple(row[1:6:2]) for row in x.tolist()])
    flipped = rng.permutation(count)[: round(wrong * count)]
    y[flipped] ^= True
    import torch

    names = [chr(97 + at) for at in range(columns)]
    return LabelledRows(Columns(torch.from_numpy(x), names), y.astype(np.int64), np.ones(count), 2)


def test_further_levels_are_found_among_all_differences():
    rows = versions(600, 0.05, 0)
    sums = [Atom.difference(one, other).weights for one in "abcdefgh" for other in "abcdefgh" if one < other]
    rule = read_order(Reader(rows), [MAJOR], sums, "screen")
    assert Program(rule.expression) == Program.parse(VERSIONS)
    assert read_order(Reader(rows), [MAJOR], [], "screen") is None


@pytest.mark.outer
def test_the_price_of_an_order_decides_where_the_last_level_decides_few_rows(monkeypatch):
    """With 5 % wrong labels, and few rows that are equal in two levels: without the price, the last one is lost."""
    rows = versions(500, 0.05, 7)
    x = rows.columns.x.numpy()
    assert ((x[:, 0] == x[:, 1]) & (x[:, 2] == x[:, 3])).sum() < 25

    def found() -> Program:
        settings = Settings(restarts=2, errors=0.1, rng=np.random.default_rng(0), proposals=("screen",))
        return Program(search.search(rows, settings).rule.expression)

    assert found() == Program.parse(VERSIONS)
    monkeypatch.setattr(rules, "is_order", lambda *_: False)
    monkeypatch.setattr(refinement, "read_order", lambda *_: None)
    assert found() != Program.parse(VERSIONS)


def test_without_classes_of_two_there_is_no_order():
    rows = versions(300, 0.0, 0)
    three = LabelledRows(rows.columns, rows.classes + (rows.columns.x[:, 0] > 2).numpy(), rows.weight, 3)
    assert read_order(Reader(three), [MAJOR, MINOR], [], "screen") is None
    assert orders.MOST_LEVELS >= 3
