import math

import numpy as np
import pytest

from nsr.learn import NSRClassifier
from nsr.learn.exceptions import BY_CHANCE, _chance, exact_rule
from nsr.learn.rules import Reader
from nsr.program import Program
from nsr.reading.atoms import Atom
from nsr.reading.rules import answers
from tests.learn.samples import labelled

SEED = 1
SUMS = [Atom.difference(name).weights for name in "abcd"]


def found(x: np.ndarray, y: np.ndarray) -> Program | None:
    rows = labelled(x, y)
    rule = Reader(rows).read_all([Atom.difference("a", "b")], "screen")
    assert str(rule.expression) == "a > b"
    exact = exact_rule(Reader(rows), rule, SUMS, answers(rule.expression, rows))
    return None if exact is None else Program(exact)


@pytest.mark.parametrize("allowed", [True, False])
def test_a_clause_that_few_rows_show_is_named(allowed):
    """``or c >= 90 and d >= 90``, or ``and not`` so: for four of 600 rows, the clause is dearer than the exceptions."""
    x = np.random.default_rng(SEED).integers(0, 101, (600, 4))
    clause = (x[:, 2] >= 90) & (x[:, 3] >= 90)
    y = (x[:, 0] > x[:, 1]) | clause if allowed else (x[:, 0] > x[:, 1]) & ~clause
    assert 2 <= (y != (x[:, 0] > x[:, 1])).sum() <= 6
    exact = found(x, y)
    assert exact is not None
    assert np.array_equal(np.asarray(exact(dict(zip("abcd", x.T, strict=True)))), y)


def test_wrong_labels_are_in_no_corner():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 101, (600, 4))
        y = x[:, 0] > x[:, 1]
        y[rng.permutation(600)[:4]] ^= True
        assert found(x, y) is None


def test_more_conditions_and_fewer_exceptions_are_more_likely_chance():
    assert _chance(8, 2, 300) == pytest.approx(8 / math.comb(302, 2))
    assert _chance(8, 2, 300) < BY_CHANCE < _chance(8, 2, 30)
    assert _chance(20_000, 4, 300) < BY_CHANCE < _chance(20_000, 3, 300)


def test_the_evidence_prints_it():
    x = np.random.default_rng(4).integers(0, 101, (600, 4))
    y = (x[:, 0] > x[:, 1]) | ((x[:, 2] >= 90) & (x[:, 3] >= 90))
    model = NSRClassifier(restarts=2, random_state=0, proposals=("screen",)).fit(x, y)
    assert str(model.program_) == "x1 > x2"
    exact = model.evidence_.exact
    assert f"right on all rows with a further condition, for example: {exact}" in str(model.evidence_)
    assert np.array_equal(np.asarray(Program.parse(exact, ("x1", "x2", "x3", "x4"))(x)), y)
