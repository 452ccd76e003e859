"""What counts as a reading: how many rows may contradict it, and how large it may be."""

import numpy as np
import pytest
import torch

from nsr.data import Rows, random_lists
from nsr.nn import Piecewise, RecurrentMinimum
from nsr.program import Compare, Constant, Or, Truth, Variable
from nsr.reading import UnreadableError, harden
from nsr.reading.columns import Columns
from nsr.reading.evidence import ReadingEvidence
from nsr.reading.gates import LARGEST, Task, _Choice
from nsr.reading.registers import Reading
from tests.reading.samples import unit_weights, written


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


def choice(rows: int = 10, errors: float = 0.0) -> _Choice:
    columns = Columns(torch.arange(rows * 40).reshape(rows, 40), [f"x{at}" for at in range(1, 41)])
    truth = np.zeros(rows, dtype=bool)
    evidence = ReadingEvidence(rows=rows, agreement=1.0, with_model=1.0)
    return _Choice(Task(columns, truth, errors), truth, lambda answers: answers == truth, lambda *_: evidence)


def test_a_formula_of_more_than_forty_nodes_is_no_reading():
    small, large = formula(40), formula(43)
    assert (small.formula.size, large.formula.size) == (40, 43)
    assert LARGEST == 40
    assert choice().best([[small]], lambda expression: expression).expression == small.formula
    wrong = Reading(Truth(True), frozenset(), ())
    with pytest.raises(UnreadableError, match="no exact reading: 10 of 10 rows contradict True"):
        choice().best([[wrong], [large]], lambda expression: expression)


def first_rows(count: int) -> Reading:
    """A formula that holds on so many of the rows of ``choice``, although it should on none."""
    return Reading(Compare("<", Variable("x1"), Constant(40 * count)), frozenset(), ())


@pytest.mark.parametrize(
    ("rows", "wrong", "wrong_with_more", "taken"),
    [
        (1000, 10, 6, 10),  # a further comparison must explain five of a thousand rows
        (1000, 10, 5, 5),
        (100, 3, 3, 3),  # and at least one
        (100, 3, 2, 2),
        (100, 3, 1, 1),
    ],
)
def test_a_further_comparison_must_explain_enough_rows(rows, wrong, wrong_with_more, taken):
    found = choice(rows, errors=0.2).best([[first_rows(wrong)], [first_rows(wrong_with_more)]], lambda formula: formula)
    assert found.expression == first_rows(taken).formula


@pytest.mark.parametrize(("wrong", "shown"), [(4, 4), (5, 5), (6, 5)])
def test_an_error_shows_five_rows(wrong, shown):
    with pytest.raises(UnreadableError) as error:
        harden(written(2, (0, ">", 1, 0.0)), data=pairs(wrong))
    assert len(str(error.value).splitlines()) == 1 + shown
    assert error.value.rows == tuple(range(wrong))


HOLDS = Compare(">", Variable("x"), Constant(-1))


@pytest.mark.parametrize(
    ("numbers", "formula", "advice"),
    [
        ([0.1, 0.25], HOLDS, "; floats round sums of decimals: try integers, every number times 100"),
        ([0.1, 0.25], Truth(True), ""),
        ([1.0, 2.0], HOLDS, ""),
        ([1 / 3, 2 / 3], HOLDS, ""),
    ],
)
def test_integers_are_advised_where_decimals_are_compared(numbers, formula, advice):
    columns = Columns(torch.tensor(numbers, dtype=torch.float64).unsqueeze(-1), ["x"])
    truth = np.zeros(2, dtype=bool)
    evidence = ReadingEvidence(rows=2, agreement=None, with_model=0.0)
    undecided = _Choice(Task(columns, None, 0.0), truth, lambda answers: answers == truth, lambda *_: evidence)
    with pytest.raises(UnreadableError) as error:
        undecided.best([[Reading(formula, frozenset(), ())]], lambda expression: expression)
    assert error.value.reason == f"no exact reading: 2 of 2 rows contradict {formula}, the nearest program{advice}"
    assert str(error.value).splitlines()[1] == f"  row 0: x = {numbers[0]!r}; the model's answer is False"


def test_comparisons_that_cancel_out_are_dropped():
    zero = [(1, ">", 2, 0.0), (1, "<=", 2, 0.0)]  # b with the number 0, and its opposite
    register = written(2, (0, ">", 1, 0.0), *zero, constants=True)
    rows = torch.cartesian_prod(torch.arange(-3, 4), torch.arange(-3, 4))
    read = harden(register, names="ab", data=rows)
    assert str(read) == "a > b"
    assert read.evidence.dropped == ("b with 0",)
    assert read.evidence.margin == pytest.approx(register.logit(rows).abs().min().item())
    opposite = written(3, (0, ">", 1, 0.0), (1, ">", 2, 0.0), (1, "<=", 2, 0.0))
    assert harden(opposite, names="abc", data=torch.randint(-3, 4, (90, 3))).evidence.dropped == ("b with c",)


def test_a_number_agrees_with_the_model_if_it_is_as_near_as_a_twentieth_of_the_row():
    """Both branches are a + 1 in the model; the answers say a + 1.975."""
    module = Piecewise(written(2, (0, ">", 1, 0.0)))
    with torch.no_grad():
        module.arms.weight.copy_(torch.tensor([[1.0, 0.0], [1.0, 0.0]]))
        module.arms.bias.fill_(1.0)
    x = torch.tensor([[18.0, 0.0], [9.0, 10.0], [-10.0, 10.0], [0.0, 0.0]], dtype=torch.float64)
    read = harden(module, names="ab", data=(x, x[:, 0] + 1.975))
    assert str(read) == "a + 1.975"
    assert read.evidence.agreement == 1
    assert read.evidence.with_model == 0.5  # 0.975 is at most 0.05 * (1 + 19), and more than 0.05 * (1 + 18)
    assert read.evidence.distance == pytest.approx(0.975)


def test_of_equally_good_readings_the_first_is_taken_and_large_ones_are_passed_over():
    same = Reading(Compare("<=", Variable("x1"), Constant(40 * 3 - 1)), frozenset(), ())
    assert same.formula != first_rows(3).formula
    found = choice(100, errors=0.2).best([[formula(43), first_rows(3), same]], lambda expression: expression)
    assert found.expression == first_rows(3).formula
    with pytest.raises(UnreadableError) as error:
        choice(100).best([[first_rows(3), same]], lambda expression: expression)
    assert error.value.program == first_rows(3).formula


UNTIED = torch.tensor([[1, 2], [2, 1], [5, 9], [9, 5]])


@torch.no_grad()
@pytest.mark.parametrize(
    ("weights", "read"),
    [
        (unit_weights(">", size=0.5), "a > b"),  # a logit of a half is above 0
        (unit_weights(">=", size=0.5), "a >= b"),
        ((10.0, 0.0, 0.0), "a > b"),  # and at the tie the logit is 0, which is not
        ((0.0, 0.0, 0.0), "False"),
    ],
)
def test_a_register_says_yes_where_its_logit_is_above_zero(weights, read):
    register = written(2, (0, ">", 1, 0.0), redundancy=1, scale=50.0)
    register.w_sign[0], register.w_zero[0], register.bias[0] = weights
    assert str(harden(register, names="ab", data=UNTIED)) == read


def test_sources_name_constants_only_where_there_are_some():
    rows = torch.arange(-5, 6).unsqueeze(-1)
    constants = harden(written(1, (0, ">", 1, 2.0), constants=True), data=rows).evidence.sources
    assert dict(constants) == {
        "compared numbers": "weights",
        "comparisons and their formula": "answers",
        "constants": "answers",
        "acceptance": "answers",
    }
    assert "constants" not in dict(harden(written(2, (0, ">", 1, 0.0)), data=UNTIED).evidence.sources)
    always = harden(written(2), data=(UNTIED, torch.zeros(4))).evidence
    assert dict(always.sources) == {"formula": "answers", "acceptance": "labels"}
    assert (always.agreement, always.with_model, always.margin) == (1, 1, 0)


def test_where_both_branches_give_the_same_the_first_is_read():
    module = Piecewise(written(3, (0, ">", 1, 0.0), scale=50.0))
    with torch.no_grad():
        module.arms.weight.copy_(torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
        module.arms.bias.zero_()
    x = torch.cartesian_prod(torch.arange(-3, 4), torch.arange(-3, 4))[:, [0, 1, 1]]
    assert str(harden(module, names="abc", data=(x, x[:, 1]))) == "b"
