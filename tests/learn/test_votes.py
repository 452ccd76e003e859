import numpy as np
import pytest

from nsr.learn.candidates import candidate_sums
from nsr.learn.rules import Reader
from nsr.learn.votes import read_votes, voting_atoms
from nsr.reading.atoms import Atom
from nsr.reading.screen import Screen
from tests.learn.samples import integers, labelled

NAMES = "abcdefghijklmnopqrst"


def at_least_three(rows, seed, wrong=0.05):
    x = integers(rows, 20, seed, low=0, high=100)
    holds = (x[:, :5] >= 50).sum(1) >= 3
    return labelled(x, holds ^ (np.random.default_rng(seed).random(rows) < wrong), names=NAMES)


def best_of(rows):
    reader = Reader(rows)
    rules = [read_votes(reader, atoms, "screen") for atoms in voting_atoms(Screen(rows, candidate_sums(rows)))]
    return min((rule for rule in rules if rule is not None), key=lambda rule: rule.nats)


@pytest.mark.parametrize("seed", range(6))
def test_the_comparisons_that_vote_are_found_in_few_rows_with_wrong_labels(seed):
    rows = at_least_three(400, seed)
    best = best_of(rows)
    assert {name for atom in best.atoms for name in atom.columns} == set("abcde")
    assert best.wrong <= 0.07 * len(rows)


def test_votes_of_differences():
    x = integers(600, 8, 3, low=0, high=1000)
    rows = labelled(x, (x[:, :4] > x[:, 4:]).sum(1) >= 3)
    assert str(best_of(rows).expression) == "at least 3 of (a > e, b > f, c > g, d > h)"


@pytest.mark.parametrize("least", [2, 3, 4])
def test_constants_are_chosen_given_the_other_votes(least):
    x = integers(1000, 5, 1, low=0, high=100)
    rows = labelled(x, (x >= 50).sum(1) >= least)
    rule = read_votes(Reader(rows), [Atom(((name, 1),), 40 + 5 * at) for at, name in enumerate("abcde")], "screen")
    assert rule.wrong == 0
    assert str(rule.expression).startswith(f"at least {least} of (a ")


def test_a_comparison_may_vote_against_the_class():
    x = integers(1000, 3, 2, low=0, high=100)
    bits = np.column_stack([x[:, 0] >= 50, x[:, 1] < 30, x[:, 2] >= 50])
    rule = read_votes(Reader(labelled(x, bits.sum(1) >= 2)), [Atom(((name, 1),), 40) for name in "abc"], "screen")
    assert rule.wrong == 0
    assert "b < 30" in str(rule.expression)


def test_two_comparisons_and_three_classes_do_not_vote():
    x = integers(100, 3)
    three = labelled(x, np.sign(x[:, 0]) + 1, 3)
    assert read_votes(Reader(labelled(x, x[:, 0] > 0)), [Atom((("a", 1),)), Atom((("b", 1),))], "screen") is None
    assert read_votes(Reader(three), [Atom(((name, 1),)) for name in "abc"], "screen") is None
    assert list(voting_atoms(Screen(three, candidate_sums(three)))) == []


@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_exactly_so_many_may_be_wanted(wanted):
    x = integers(800, 4, wanted, low=0, high=100)
    rows = labelled(x, (x >= 60).sum(1) == wanted)
    rule = read_votes(Reader(rows), [Atom(((name, 1),), 50 + at) for at, name in enumerate("abcd")], "screen")
    assert rule.wrong == 0
    assert str(rule.expression).startswith("exactly ")


def test_flags_are_counted_and_not_compared_with_each_other():
    flags = integers(500, 5, 0, low=0, high=2)
    rows = labelled(flags, flags.sum(1) >= 2)
    assert all(len(weights) == 1 for weights in candidate_sums(rows))
    assert str(best_of(rows).expression) == "at least 2 of (a == 1, b == 1, c == 1, d == 1, e == 1)"
