"""What counts as a reading: how many rows may contradict it, and how large it may be."""

import numpy as np
import pytest
import torch

from nsr.data import Rows, random_lists
from nsr.nn import RecurrentMinimum
from nsr.program import Compare, Or, Truth, Variable
from nsr.reading import UnreadableError, harden
from nsr.reading.columns import Columns
from nsr.reading.evidence import ReadingEvidence
from nsr.reading.gates import LARGEST, Task, _Choice
from nsr.reading.registers import Reading
from tests.reading.samples import written


def pairs(wrong: int) -> Rows:
    """100 pairs with a > b, of which the first ones have the wrong label."""
    x = torch.stack([torch.arange(100) - 50, torch.zeros(100, dtype=torch.int64)], dim=1)
    y = (x[:, 0] > x[:, 1]).double()
    y[:wrong] = 1 - y[:wrong]
    return Rows.of(x, y)


def test_no_more_rows_may_contradict_a_formula_than_errors_allow():
    register = written(2, (0, ">", 1, 0.0))
    assert str(harden(register, names=["a", "b"], data=pairs(5), errors=0.05)) == "a > b"
    with pytest.raises(UnreadableError, match=r"^no exact reading: 6 of 100 rows contradict"):
        harden(register, names=["a", "b"], data=pairs(6), errors=0.05)


def test_no_more_lists_may_contradict_a_loop_than_errors_allow():
    lists = random_lists("minimum", np.random.default_rng(0))
    module = RecurrentMinimum(written(2, (0, "<", 1, 0.0)))

    def with_wrong(count: int) -> Rows:
        y = lists.y.clone()
        y[:count] += 1
        return Rows.of(lists.x, y)

    assert harden(module, data=with_wrong(25), errors=0.05).evidence.agreement == 0.95
    with pytest.raises(UnreadableError, match=r"^no exact reading: 26 of 500 lists contradict"):
        harden(module, data=with_wrong(26), errors=0.05)


def formula(size: int) -> Reading:
    """A disjunction of comparisons of different pairs, with so many nodes: each comparison has three."""
    x = [Variable(f"x{at}") for at in range(1, 41)]
    parts = [Compare("=", x[2 * at], x[2 * at + 1]) for at in range((size - 1) // 3)]
    return Reading(Or(*parts), frozenset(), ())


def choice(rows: int = 10) -> _Choice:
    columns = Columns(torch.arange(rows * 40).reshape(rows, 40), [f"x{at}" for at in range(1, 41)])
    truth = np.zeros(rows, dtype=bool)
    evidence = ReadingEvidence(rows=rows, agreement=1.0, with_model=1.0)
    return _Choice(Task(columns, truth, 0.0), truth, lambda answers: answers == truth, lambda *_: evidence)


def test_a_formula_of_more_than_forty_nodes_is_no_reading():
    small, large = formula(40), formula(43)
    assert (small.formula.size, large.formula.size) == (40, 43)
    assert LARGEST == 40
    assert choice().best([[small]], lambda expression: expression).expression == small.formula
    wrong = Reading(Truth(True), frozenset(), ())
    with pytest.raises(UnreadableError, match="no exact reading: 10 of 10 rows contradict True"):
        choice().best([[wrong], [large]], lambda expression: expression)
