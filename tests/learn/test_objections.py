"""Why rules are not handed out: numbers that only look simple, and rules that rows do not distinguish."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr.learn.judging import Found
from nsr.learn.objections import vague_atom
from nsr.learn.rules import Reader
from nsr.learn.search import _agree
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows


def rows_of(x: np.ndarray, names: str, classes: np.ndarray) -> LabelledRows:
    return LabelledRows(Columns(torch.tensor(x), list(names)), classes, np.ones(len(x)), int(classes.max()) + 1)


@pytest.mark.parametrize(("where", "is_vague"), [("far from the border", False), ("along the border", True)])
def test_wrong_labels_along_a_border_make_its_numbers_look_simple(where, is_vague):
    x = np.random.default_rng(0).integers(0, 500, (300, 2))
    distance = 2 * x[:, 0] - x[:, 1]
    classes = (distance > 0).astype(np.int64)
    ranks = np.argsort(np.abs(distance))
    classes[ranks[[0, 2, 5]] if where == "along the border" else ranks[[100, 170, 250]]] ^= 1
    reader = Reader(rows_of(x, "ab", classes))
    rule = reader.read_all([Atom((("a", 2), ("b", -1)))], "screen")
    assert rule.wrong == 3
    assert (vague_atom(reader, rule) is not None) == is_vague


def test_cuts_of_one_sum_support_each_other():
    x = np.random.default_rng(0).integers(0, 50, (1_500, 2))
    total, cuts = x.sum(1), (40, 55, 70, 85)
    reader = Reader(rows_of(x, "ab", np.digitize(total, cuts)))
    atoms = [Atom((("a", 1), ("b", 1)), Fraction(cut)) for cut in cuts]
    rule = reader.read_all(atoms, "training")
    assert rule.wrong == 0
    assert vague_atom(reader, rule) is None


def test_numbers_that_were_changed_by_held_out_rows_need_more_than_whole_per_cents():
    x = np.random.default_rng(3).integers(100, 1_000, (400, 2))
    x = x[np.abs(x[:, 0] / x[:, 1] - 1.13) > 0.006]
    reader = Reader(rows_of(x, "ab", (x[:, 0] > 1.13 * x[:, 1]).astype(np.int64)))
    rule = reader.read_all([Atom((("a", 100), ("b", -113)))], "screen")
    assert rule.wrong == 0
    assert vague_atom(reader, rule) is None
    assert vague_atom(reader, rule, confirmed=False) is not None


@pytest.mark.parametrize(("tied", "agree"), [(0, True), (12, False)])
def test_rules_that_differ_at_a_tie_that_no_row_shows_agree(tied, agree):
    x = np.random.default_rng(0).integers(0, 40, (600, 4))
    x = x[x[:, 0] != x[:, 1]]
    x[:tied, 1] = x[:tied, 0]
    rows = rows_of(x, "abcd", ((x[:, 0] < x[:, 1]) != (x[:, 2] <= x[:, 3])).astype(np.int64))
    reader = Reader(rows)
    atoms = [Atom((("a", 1), ("b", -1))), Atom((("c", 1), ("d", -1)))]
    strict = reader.read_all(atoms, "screen")
    loose = Reader(rows_of(x, "abcd", ((x[:, 0] <= x[:, 1]) != (x[:, 2] <= x[:, 3])).astype(np.int64))).read_all(
        atoms, "screen"
    )
    found = Found(strict, rows.columns, None, ())
    assert _agree(found, loose, rows.columns, rows) is agree


@pytest.mark.parametrize(("count", "is_vague"), [(100, True), (260, False)])
def test_open_constants_that_some_of_a_few_rows_contradict_are_vague(count, is_vague):
    """The rows inside of an ellipse, read as a corner: 9 of 100 rows contradict it."""
    rng = np.random.default_rng(4)
    x = np.stack([rng.normal(30, 40, count), rng.uniform(-11, 12, count)], 1).round(2)
    classes = ((x[:, 0] > 0) & (x[:, 1] < 6) & (x[:, 1] > -4)).astype(np.int64)
    classes[rng.permutation(count)[: round(0.09 * count)]] ^= 1
    reader = Reader(rows_of(x, "ab", classes))
    rule = reader.read_all(
        [Atom((("a", 1),)), Atom((("b", 1),), Fraction(6)), Atom((("b", 1),), Fraction(-4))], "screen"
    )
    assert (vague_atom(reader, rule) is not None) == is_vague
