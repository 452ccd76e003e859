"""From atoms to rules: votes of patterns, formulas, and the constants that rows allow."""

from fractions import Fraction
from itertools import combinations
from math import log

import pytest
import torch

from nsr.program.expressions import Truth
from nsr.reading.atoms import Atom
from nsr.reading.rules import (
    WOBBLE,
    answers,
    best_combinations,
    class_expression,
    comparisons,
    floats_agree,
    majority_classes,
    simplest_atom,
)
from tests.reading.test_screen import DIFFERENCE, A, entropy, patterns, random_rows, rows_of

ATOMS = [Atom.difference("a", "b"), Atom(A, Fraction(1)), Atom.difference("b", constant=Fraction(-2))]


def contradicted(rows, atoms) -> float:
    """The weight of the rows that are not of the class of most rows with their pattern."""
    found: dict[int, dict[int, float]] = {}
    for code, label, weight in zip(patterns(rows, atoms), rows.classes, rows.weight, strict=True):
        votes = found.setdefault(int(code), {})
        votes[int(label)] = votes.get(int(label), 0) + weight
    return sum(sum(votes.values()) - max(votes.values()) for votes in found.values())


@pytest.mark.parametrize("seed", range(3))
def test_the_best_combination_of_each_size_is_contradicted_least(seed):
    rows = random_rows(seed)
    for count, best in enumerate(best_combinations(rows, ATOMS)):
        assert len(best) == count
        least = min(contradicted(rows, chosen) for chosen in combinations(ATOMS, count))
        assert contradicted(rows, best) == pytest.approx(least)


def test_of_equally_good_combinations_the_cheapest_is_taken():
    rows = rows_of([[1, 0], [2, 0], [-1, 0], [-2, 0]], [1, 1, 0, 0])
    same = [Atom(A, Fraction(0)), Atom.difference("a", "b")]
    for cheap in same:
        _, one, _ = best_combinations(rows, same, cost=lambda atoms, cheap=cheap: float(list(atoms) != [cheap]))
        assert one == [cheap]


def test_the_class_of_a_pattern_is_that_of_most_of_its_weight():
    rows = rows_of([[1, 0], [1, 0], [1, 0], [0, 0], [0, 1]], [0, 1, 1, 0, 1], weight=[5, 1, 1, 1, 1])
    assert majority_classes(rows, [Atom.difference("a", "b")]) == {(1,): 0, (0,): 0, (-1,): 1}
    assert majority_classes(rows, []) == {(): 0}


def test_a_pattern_stays_open_unless_its_rows_decide_it():
    x = [[1, 0]] * 20 + [[0, 1]] * 20 + [[0, 0]]
    rows = rows_of(x, [1] * 18 + [0] * 2 + [0] * 20 + [1])
    atom = [Atom.difference("a", "b")]
    assert majority_classes(rows, atom, decisive=5.0) == {(1,): 1, (-1,): 0}
    assert (0,) in majority_classes(rows, atom, decisive=2.0)  # log(39 / 2) is 2.97 nats
    assert majority_classes(rows, atom, decisive=100.0) == {}
    even = rows_of([[1, 0], [1, 0], [0, 1]], [0, 1, 0])
    assert majority_classes(even, atom, decisive=0.1) == {(-1,): 0}
    right = rows_of([[1, 0], [0, 1]], [1, 0])
    assert majority_classes(right, atom, decisive=1000.0) == {(1,): 1, (-1,): 0}  # no label is wrong
    assert majority_classes(right, atom) == {(1,): 1, (-1,): 0}  # and no row is a tie
    assert majority_classes(even, atom) == {(1,): 0, (-1,): 0}


@pytest.mark.parametrize(("decisive", "decided"), [(2 * log(3), True), (2 * log(3) + 1e-9, False)])
def test_a_pattern_is_decided_by_the_lead_times_the_nats_of_a_label(decisive, decided):
    rows = rows_of([[1, 0]] * 4, [2, 2, 2, 0])  # a quarter of the labels is wrong; 2 leads by two rows
    assert majority_classes(rows, [Atom.difference("a", "b")], decisive=decisive) == ({(1,): 2} if decided else {})


@pytest.mark.parametrize(("decisive", "decided"), [(0.5, True), (0.6, False)])
def test_half_a_row_decides_half_as_much(decisive, decided):
    rows = rows_of([[1, 0]] * 2, [1, 0], weight=[0.75, 0.25])  # half of log(3) is 0.549
    assert majority_classes(rows, [Atom.difference("a", "b")], decisive=decisive) == ({(1,): 1} if decided else {})


def test_two_classes_are_a_formula_and_more_are_a_choice():
    atom = Atom.difference("a", "b")
    assert str(class_expression({(-1,): 0, (0,): 0, (1,): 1}, [atom], 2)) == "a > b"
    assert class_expression({(-1,): 0}, [atom], 2) == Truth(False)
    three = class_expression({(-1,): 2, (0,): 1, (1,): 0}, [atom], 3)
    rows = rows_of([[0, 1], [1, 1], [2, 1]], [2, 1, 0])
    assert answers(three, rows).tolist() == [2, 1, 0]
    assert comparisons(three) == 2
    assert str(three) == "where(a > b, 0, where(a == b, 1, 2))"
    two = [atom, Atom.difference("b", constant=Fraction(3))]
    table = {(a, b): 0 if a > 0 and b > 0 else 2 if a > 0 else 1 for a in (-1, 0, 1) for b in (-1, 0, 1)}
    assert str(class_expression(table, two, 3)).startswith("where(a <= b, 1, ")  # the class of fewest comparisons first
    assert answers(class_expression({}, [], 3), rows).tolist() == [0, 0, 0]


def allowed(rows, atoms, position) -> tuple:
    """The gap from which the constant of an atom would be chosen."""
    seen = []
    simplest_atom(rows, atoms, position, lambda atom, gap: seen.append(gap) or gap.middle)
    return seen[0] if seen else None


def test_the_gap_lies_between_the_values_on_both_sides_of_the_cut():
    rows = rows_of([[n, 0] for n in (1, 3, 4, 9, 11)], [0, 0, 0, 1, 1])
    gap = allowed(rows, [Atom(A, Fraction(4))], 0)
    assert (gap.low, gap.high, gap.below, gap.above, gap.middle) == (4, 9, 4, 9, Fraction(13, 2))
    chosen = simplest_atom(rows, [Atom(A, Fraction(4))], 0, lambda atom, gap: gap.middle)
    assert chosen == Atom(A, Fraction(13, 2))


def test_where_labels_are_wrong_the_gap_may_contradict_two_rows_more():
    classes = [0] * 10 + [1] * 10
    exact = rows_of([[n, 0] for n in range(20)], classes)
    assert allowed(exact, [Atom(A, Fraction(9))], 0).low == 9
    classes[3] = 1
    noisy = rows_of([[n, 0] for n in range(20)], classes)
    gap = allowed(noisy, [Atom(A, Fraction(9))], 0)
    assert WOBBLE == 2
    assert (gap.low, gap.high) == (7, 12)
    assert (gap.below, gap.above) == (9, 10)


@pytest.mark.parametrize(
    ("numbers", "classes", "gap"),
    [
        ([1, 4, 4, 4, 9, 11], [0, 0, 0, 0, 1, 1], (4, 9)),  # rows that are equal to 4 are like those below it
        ([1, 3, 4, 9, 9, 9], [0, 0, 1, 1, 1, 1], (3, 4)),  # and here like those above it
    ],
)
def test_rows_on_the_border_belong_to_either_side(numbers, classes, gap):
    found = allowed(rows_of([[n, 0] for n in numbers], classes), [Atom(A, Fraction(4))], 0)
    assert (found.low, found.high) == gap


def test_the_cut_contradicts_the_least_weight():
    rows = rows_of([[n, 0] for n in (1, 2, 3, 4)], [0, 1, 0, 1], weight=[1, 1, 5, 1])
    gap = allowed(rows, [Atom(A, Fraction(3))], 0)
    assert (gap.below, gap.above) == (3, 4)


@pytest.mark.parametrize(("weight", "allows"), [(2.0, True), (2.5, False)])
def test_where_labels_are_wrong_two_rows_on_the_border_do_not_count(weight, allows):
    classes = [0] * 4 + [2] + [1] * 4
    classes[1] = 1  # a wrong label
    rows = rows_of([[n, 0] for n in range(9)], classes, weight=[1.0] * 4 + [weight] + [1.0] * 4)
    assert (allowed(rows, [Atom(A, Fraction(4))], 0) is not None) is allows


def test_the_gap_ends_at_the_first_and_at_the_last_value():
    low = rows_of([[n, 0] for n in range(12)], [0, 0, *[1] * 7, 0, 1, 1])
    gap = allowed(low, [Atom(A, Fraction(1))], 0)
    assert (gap.low, gap.high, gap.below, gap.above) == (0, 4, 1, 2)
    high = rows_of([[n, 0] for n in range(12)], [0, 0, 1, *[0] * 7, 1, 1])
    gap = allowed(high, [Atom(A, Fraction(9))], 0)
    assert (gap.low, gap.high, gap.below, gap.above) == (7, 11, 9, 10)


def test_where_equality_is_a_case_of_its_own_and_at_the_ends_an_atom_stays():
    equal = rows_of([[n, 0] for n in range(9)], [0] * 4 + [1] + [0] * 4)
    atom = Atom(A, Fraction(4))
    assert allowed(equal, [atom], 0) is None
    assert simplest_atom(equal, [atom], 0, lambda atom, gap: gap.middle) is atom
    constant = rows_of([[n, 0] for n in range(9)], [1] * 9)
    assert allowed(constant, [Atom(A, Fraction(0))], 0) is None
    assert allowed(constant, [Atom(A, Fraction(8))], 0) is None


def test_the_other_atoms_decide_with_it():
    x = [[a, b] for a in range(6) for b in range(6)]
    rows = rows_of(x, [int(a > 2 and b > 3) for a, b in x])
    atoms = [Atom.difference("b", constant=Fraction(3)), Atom(A, Fraction(2))]
    assert (allowed(rows, atoms, 1).low, allowed(rows, atoms, 1).high) == (2, 3)
    assert (allowed(rows, atoms, 0).low, allowed(rows, atoms, 0).high) == (3, 4)
    assert entropy(patterns(rows, atoms).tolist(), rows) == 0


def test_floats_that_round_do_not_agree_with_an_exact_atom():
    atom = Atom(DIFFERENCE, Fraction(1, 5))
    exact = rows_of(torch.tensor([[0.75, 0.5], [0.25, 0.5], [0.75, 0.55]], dtype=torch.float64), [1, 0, 0])
    assert exact.signs(atom).tolist() == [1, -1, 0]
    assert floats_agree(exact, atom)
    rounded = rows_of(torch.tensor([[0.3, 0.1]], dtype=torch.float64), [0])  # 0.1 + 0.2 is more than 0.3 in floats
    assert rounded.signs(atom).tolist() == [0]
    assert not floats_agree(rounded, atom)
    assert answers(atom.compare("<"), rounded).tolist() == [1]
