"""The entropy screen against entropies that are computed group by group."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest
import torch

from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import DEPTH, PLAIN, Screen, patterns, uncertainty_left

A, B, DIFFERENCE = (("a", 1),), (("b", 1),), (("a", 1), ("b", -1))


def rows_of(x, classes, weight=None, n_classes=None) -> LabelledRows:
    classes = np.asarray(classes)
    weight = np.ones(len(classes)) if weight is None else np.asarray(weight, dtype=float)
    columns = Columns(torch.as_tensor(x), ("a", "b"))
    return LabelledRows(columns, classes, weight, n_classes or int(classes.max()) + 1)


def random_rows(seed: int, n_classes: int = 3) -> LabelledRows:
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 5, (60, 2))
    return rows_of(x, rng.integers(0, n_classes, 60), rng.integers(1, 4, 60), n_classes)


def entropy(groups, rows: LabelledRows) -> float:
    """Nats over all rows that are needed to tell the class within its group."""
    total, cells = Counter(), Counter()
    for group, label, weight in zip(groups, rows.classes.tolist(), rows.weight.tolist(), strict=True):
        total[group] += weight
        cells[group, label] += weight
    return -sum(count * log(count / total[group]) for (group, _), count in cells.items())


@pytest.mark.parametrize("seed", range(3))
def test_what_each_constant_leaves_is_the_entropy_of_below_at_and_above(seed):
    rows = random_rows(seed)
    known = np.random.default_rng(9).integers(0, 2, len(rows))
    values, column = np.unique(rows.columns.x[:, 0].numpy(), return_inverse=True)
    left = uncertainty_left(column, len(values), known, rows)
    sides = [np.sign(rows.columns.x[:, 0].numpy() - value) for value in values]
    expected = [entropy(list(zip(known.tolist(), side.tolist(), strict=True)), rows) for side in sides]
    np.testing.assert_allclose(left, expected, atol=1e-8)
    assert rows.uncertainty(known) == pytest.approx(entropy(known.tolist(), rows))


def test_patterns_are_numbered_as_products_of_signs_are():
    rows, atoms = random_rows(0), [Atom.difference("a", "b"), Atom.difference("b", constant=Fraction(1))]
    order = list(product((-1, 0, 1), repeat=2))
    signs = list(zip(*(rows.signs(atom).tolist() for atom in atoms), strict=True))
    assert [order[code] for code in patterns(rows, atoms)] == signs


def test_the_best_split_is_the_constant_that_leaves_least():
    rows = rows_of([[n, 0] for n in range(10)], [0] * 4 + [1] * 6)
    [split] = Screen(rows, [A]).splits(np.zeros(10, dtype=np.int64))
    assert split.atom.weights == A
    assert split.left == 0
    assert split.atom.constant in (3, 4)


def test_of_equally_good_constants_the_middle_one_is_taken():
    rows = rows_of([[n, 0] for n in range(9)], [0] * 9, n_classes=2)  # nothing to tell apart: all leave nothing
    [split] = Screen(rows, [A]).splits(np.zeros(9, dtype=np.int64))
    assert split.atom.constant == 4


def test_a_constant_that_is_taken_is_passed_over():
    rows = rows_of([[n / 10, 0.0] for n in range(10)], [0] * 4 + [2] + [1] * 5)
    screen, groups = Screen(rows, [A]), np.zeros(10, dtype=np.int64)
    [first] = screen.splits(groups)
    assert first.atom == Atom(A, Fraction(2, 5))
    [second] = screen.splits(groups, [first.atom])
    assert second.atom.constant in (Fraction(3, 10), Fraction(1, 2))
    [other] = screen.splits(groups, [Atom(B, Fraction(2, 5))])  # of another sum
    assert other.atom == first.atom


def test_a_sum_of_several_columns_must_be_better_by_more_than_a_little():
    x = [[n, 0] for n in range(12)]
    rows = rows_of(x, [0] * 6 + [1] * 6)
    assert [split.atom.weights for split in Screen(rows, [DIFFERENCE, A]).splits(np.zeros(12, int))] == [A, DIFFERENCE]
    heavy = rows_of([[0, 1], [5, 6], [6, 5], [1, 0]] * 10, [0, 0, 1, 1] * 10)  # a > b: a alone leaves far more
    best, second = Screen(heavy, [A, DIFFERENCE]).splits(np.zeros(40, int))
    assert best.atom.weights == DIFFERENCE
    assert second.left > best.left + PLAIN


def test_a_chain_ends_where_nothing_is_left_and_goes_on_from_where_it_starts():
    x = [[a, b] for a in range(6) for b in range(6)]
    rows = rows_of(x, [int(a > 2 and b > 3) for a, b in x])
    screen = Screen(rows, [A, B])
    chain = screen.chain()
    assert sorted(atom.weights for atom in chain) == [A, B]
    assert entropy(patterns(rows, chain).tolist(), rows) == 0
    start = [Atom(A, Fraction(2))]
    assert screen.chain(start=start)[0] == start[0]
    assert screen.chain(start=chain) == chain
    only = screen.chain(sums=[A])
    assert {atom.weights for atom in only} == {A}
    assert len(only) <= DEPTH
    first = screen.chain(taken=[chain[0]])
    assert chain[0] not in first


def test_first_atoms_are_of_different_sums_and_values_are_counted():
    rows = random_rows(2)
    screen = Screen(rows, [A, B, DIFFERENCE])
    assert len({atom.weights for atom in screen.first_atoms(3)}) == 3
    assert screen.first_atoms(1) == screen.first_atoms(3)[:1]
    assert screen.n_values(DIFFERENCE) == len(set((rows.columns.x[:, 0] - rows.columns.x[:, 1]).tolist()))
    assert screen.among == 3
    assert Screen(rows, [A], among=7).among == 7


@pytest.mark.parametrize("seed", range(3))
def test_each_atom_of_a_chain_leaves_the_least_and_there_are_at_most_four(seed):
    rows = random_rows(seed)
    chain = Screen(rows, [A, B]).chain()
    assert len(chain) == 4
    every = [Atom(weights, Fraction(value)) for weights in (A, B) for value in range(-4, 5)]
    for count in range(4):
        left = {atom: entropy(patterns(rows, [*chain[:count], atom]).tolist(), rows) for atom in every}
        least = min(value for atom, value in left.items() if atom not in chain[:count])
        assert left[chain[count]] == pytest.approx(least)


def test_a_chain_goes_on_while_anything_is_left_and_something_can_be_compared():
    rows = rows_of([[n, 0] for n in range(5)], [0, 1, 0, 1, 0], weight=[0.1] * 5)
    chain = Screen(rows, [A]).chain()
    assert sorted(atom.constant for atom in chain) == [1, 3]
    assert Screen(rows, [A]).chain(start=chain[:1]) == chain
    assert Screen(rows, [A]).chain(sums=[]) == []
    assert Screen(rows, [B]).chain(taken=[Atom(B, Fraction(0))]) == []  # the only value of b


@pytest.mark.parametrize(("nats", "best"), [(5.5, A), (6.5, DIFFERENCE), (12.0, DIFFERENCE)])
def test_a_sum_of_two_columns_is_taken_if_it_is_better_by_six_nats(nats, best):
    x, classes = [[0, 1], [5, 6], [6, 5], [1, 0]], [0, 0, 1, 1]
    groups = np.zeros(4, dtype=np.int64)
    [alone] = Screen(rows_of(x, classes), [A]).splits(groups)
    rows = rows_of(x, classes, weight=[nats / alone.left] * 4)  # a - b leaves nothing, and a leaves as much
    assert Screen(rows, [A, DIFFERENCE]).splits(groups)[0].atom.weights == best


def test_a_constant_without_a_unit_is_passed_over_too():
    rows = rows_of(torch.tensor([[n / 3, 0.0] for n in range(10)], dtype=torch.float64), [0] * 4 + [2] + [1] * 5)
    screen, groups = Screen(rows, [A]), np.zeros(10, dtype=np.int64)
    [first] = screen.splits(groups)
    [second] = screen.splits(groups, [first.atom])
    assert float(first.atom.constant) == 4 / 3
    assert second.atom != first.atom
