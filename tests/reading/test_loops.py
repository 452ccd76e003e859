"""Reading loops over lists of different lengths, and messages of shortest paths."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr import NSR, Recipe, fit
from nsr.data import node_update_rows, random_graph, random_lists
from nsr.nn import MLP, NAU, NodeUpdate, RecurrentCount, RecurrentMinimum, ShortestPaths
from nsr.program import Constant, Paths, Variable
from nsr.program.folds import MINIMA
from nsr.reading import UnreadableError, harden
from nsr.reading.loops import _pairs_met, read_loop
from tests.reading.samples import unit_weights, written


def paths(*, weight: tuple[float, float] | None = None, bias: float = 0.0, operator: str = "<=") -> ShortestPaths:
    message = None
    if weight is not None:
        message = NAU(2, bias=True)
        with torch.no_grad():
            message.weight.copy_(torch.tensor([weight]))
            message.bias.fill_(bias)
    return ShortestPaths(RecurrentMinimum(written(2, (0, operator, 1, 0.0))), message)


def rows():
    graphs = [random_graph(np.random.default_rng(seed), nodes=8) for seed in range(6)]
    return node_update_rows(graphs, messages=7).distinct()


@pytest.mark.parametrize("operator", ["<", "<="])
@pytest.mark.parametrize("data", [True, False])
def test_shortest_paths_with_a_given_message(operator, data):
    read = harden(paths(operator=operator), data=rows() if data else None)
    assert isinstance(read, Paths)
    assert read.shortest
    assert read.fold in MINIMA
    assert read.evidence.agreement == (1.0 if data else None)
    assert "[distance + weight for every edge to it]" in str(read)


@pytest.mark.parametrize(("weight", "bias"), [((1.0, 1.0), 0.0), ((0.97, 0.99), -0.004), ((0.9, 0.8), 0.3)])
def test_a_learned_message_is_read_where_the_data_say_the_same(weight, bias):
    assert harden(NodeUpdate(paths(weight=weight, bias=bias)), data=rows()).shortest


def test_no_more_lists_may_contradict_a_loop_than_errors_allow():
    lists = torch.randint(-10, 10, (100, 4), generator=torch.Generator().manual_seed(1))
    answers = lists.min(-1).values.double()
    answers[:10] -= 1  # ten wrong labels
    loop = RecurrentMinimum(written(2, (0, "<=", 1, 0.0)))
    assert harden(loop, data=(lists, answers), errors=0.1).evidence.agreement == 0.9
    with pytest.raises(UnreadableError, match="10 of 100 lists contradict the nearest loop"):
        harden(loop, data=(lists, answers), errors=0.09)
    with pytest.raises(UnreadableError, match="10 of 100 lists contradict the nearest loop"):
        harden(loop, data=(lists, answers), errors=0.05)


def test_without_data_the_message_is_what_the_weights_say():
    read = harden(paths(weight=(1.0, -1.0), bias=2.5))
    assert read.message == (Variable("distance") - Variable("weight") + Fraction(5, 2)).simplified()


def test_what_is_not_the_minimum_is_refused_with_lists():
    with pytest.raises(UnreadableError, match="lists contradict the nearest loop") as refusal:
        harden(paths(operator=">="), data=rows())
    assert "should give" in str(refusal.value)
    with pytest.raises(UnreadableError, match="lists contradict"):
        harden(paths(weight=(1.0, 0.0)), data=rows())
    with pytest.raises(UnreadableError, match="only a module with an NSR can be read"):
        harden(ShortestPaths(RecurrentMinimum(MLP(2))), data=rows())


@pytest.mark.parametrize(("weight", "bias"), [((0.51, 0.51), 0.0), ((0.6, 0.6), 2.2)])
def test_without_answers_a_message_that_is_not_nearly_whole_is_refused(weight, bias):
    """The program is compared with the whole model, not with its fold on messages that are rounded already."""
    with pytest.raises(UnreadableError, match=r"^with the message distance \+ weight"):
        harden(paths(weight=weight, bias=bias), data=rows().x)
    read = harden(paths(weight=weight, bias=bias), data=rows())
    assert read.shortest
    assert read.evidence.with_model < 0.9
    assert read.evidence.distance > 5


def test_a_gate_that_is_not_exact_may_still_make_the_right_loop():
    """Early in training: wrong only where the answers of whole lists do not show it."""
    lists = random_lists("minimum", np.random.default_rng(0))
    module = RecurrentMinimum(NSR(2, generator=torch.Generator().manual_seed(0)))
    fit(module, lists, Recipe(name="short", loss="mae", epochs=24, learning_rate=0.03), engine="eager")
    read = harden(module, data=lists)
    assert read in MINIMA
    assert read.evidence.agreement == 1
    assert read.evidence.margin is not None
    with pytest.raises(ValueError, match="^names are for columns, and a loop has none$"):
        harden(module, names=("a", "b"), data=lists)


def test_rows_that_are_no_inboxes_are_refused():
    with pytest.raises(ValueError, match=r"^data must hold a count, a distance and pairs in each row, got \(5, 3\)$"):
        harden(paths(), data=torch.zeros(5, 3))


def test_what_follows_a_list_is_not_read():
    """Numbers after the end of a list would make the minimum another one."""
    own = rows()
    filled = own.x.clone()
    for row, count in zip(filled, filled[:, 0].long().tolist(), strict=True):
        row[2 + 2 * count :] = -1000.0
    module = paths()
    assert torch.equal(NodeUpdate(module)(filled), NodeUpdate(module)(own.x))
    assert harden(module, data=(filled, own.y)).shortest


def test_an_untrained_module_is_refused_or_read_as_what_it_does():
    refused = 0
    for seed in range(5):
        module = ShortestPaths(RecurrentMinimum(NSR(2, generator=torch.Generator().manual_seed(seed))))
        try:
            assert harden(module, data=rows()).shortest
        except UnreadableError:
            refused += 1
    assert refused >= 3


def test_evidence_says_where_the_parts_of_a_loop_and_of_a_message_came_from():
    lists = random_lists("minimum", np.random.default_rng(0))
    module = RecurrentMinimum(written(2, (0, "<", 1, 0.0)))
    gate = {"compared numbers": "weights", "comparisons and their formula": "answers"}
    assert dict(harden(module, data=lists).evidence.sources) == gate | {"acceptance": "labels"}
    assert dict(harden(module, data=lists.x).evidence.sources) == gate | {"acceptance": "answers"}
    learned = {"weights of the message": "weights", "constant of the message": "labels", "acceptance": "labels"}
    assert dict(harden(paths(weight=(0.97, 0.99)), data=rows()).evidence.sources) == gate | learned
    alone = harden(paths(weight=(1.0, 1.0)), data=rows().x).evidence.sources
    assert dict(alone) == gate | dict.fromkeys(("weights of the message", "constant of the message"), "weights") | {
        "acceptance": "answers"
    }
    assert dict(harden(paths(), data=rows()).evidence.sources) == gate | {"acceptance": "labels"}


def minimum() -> RecurrentMinimum:
    return RecurrentMinimum(written(2, (0, "<=", 1, 0.0), scale=10.0)).double()


@torch.no_grad()
@pytest.mark.parametrize(
    ("model", "near"),
    [([3.0, 30.0, 0.1], True), ([3.0, 33.0, 0.0], True), ([3.0, 34.0, 0.0], False), ([3.0, 30.0, 0.11], False)],
)
def test_without_answers_a_loop_must_be_within_a_tenth_of_the_model(model, near):
    lists = torch.tensor([[3, 5], [40, 30], [0, 2]])
    if near:
        evidence = read_loop(minimum(), lists, None, 0.0, model=np.array(model)).evidence
        assert evidence.with_model == 1
        assert evidence.distance == pytest.approx(np.abs(np.array(model) - [3, 30, 0]).max())
    else:
        with pytest.raises(UnreadableError, match="1 of 3 lists contradict"):
            read_loop(minimum(), lists, None, 0.0, model=np.array(model))
        assert read_loop(minimum(), lists, None, 0.4, model=np.array(model)).evidence.with_model == pytest.approx(2 / 3)


def test_the_gate_is_read_on_the_pairs_that_the_lists_show():
    assert harden(minimum(), data=[[1, 2], [5, 3], [4, 9]]).evidence.not_covered == ("best == x",)
    assert harden(minimum(), data=[[1, 2], [5, 3], [4, 4]]).evidence.not_covered == ()
    one = harden(minimum(), data=[[1], [5]])  # no list shows a pair: the gate is asked about integers
    assert one in MINIMA
    assert one.evidence.not_covered == ()


def test_a_contradicting_list_is_shown_with_what_it_should_give():
    lists = [[at, 9, 8] for at in range(7)]
    with pytest.raises(UnreadableError) as error:
        harden(minimum(), data=(lists, [-1.0] * 7))
    lines = str(error.value).splitlines()
    assert lines[0] == "no exact reading: 7 of 7 lists contradict the nearest loop"
    assert lines[-5:] == [f"  list {at}: [{at}, 9, 8] should give -1, not {at}" for at in range(5)]
    assert error.value.rows == tuple(range(7))


def test_by_default_a_loop_is_read_on_500_lists():
    read = harden(minimum())
    assert read in MINIMA
    assert read.evidence.rows == 500
    lists = torch.randint(-10, 10, (500, 5), generator=torch.Generator().manual_seed(0))
    soft = RecurrentMinimum(written(2, (0, "<=", 1, 0.0)))
    assert harden(soft).evidence == harden(soft, data=lists).evidence  # the distance depends on every list


def test_a_row_may_hold_a_distance_alone():
    alone = harden(paths(), data=torch.tensor([[0.0, 4.0], [0.0, 7.0]]))
    assert alone.shortest
    with pytest.raises(ValueError, match=r"got \(5, 1\)$"):
        harden(paths(), data=torch.zeros(5, 1))


@pytest.mark.parametrize(("bias", "constant"), [(0.3, 0), (0.7, 1), (2.25, "2.25")])
def test_of_several_constants_of_a_message_the_answers_choose(bias, constant):
    """An integer is tried first, then the learned constant, then 0."""
    own = rows()
    module = paths(weight=(1.0, 1.0), bias=bias)
    inbox = own.x.double()
    counts = inbox[:, 0].long()
    arrived = inbox[:, 2::2] + inbox[:, 3::2] + float(Fraction(constant))
    present = torch.arange(arrived.shape[1]) < counts.unsqueeze(-1)
    answers = torch.minimum(inbox[:, 1], torch.where(present, arrived, torch.inf).amin(-1))
    read = harden(module, data=(inbox, answers))
    assert read.message == (Variable("distance") + Variable("weight") + Fraction(constant)).simplified()


def test_a_count_starts_at_zero_and_grows_by_one():
    lists = torch.tensor([[3, 3, 1, 3], [2, 5, 5, 5], [4, 4, 4, 4], [0, -1, 1, 0]])
    module = RecurrentCount(written(2, (0, "=", 1, 0.0), scale=10.0))
    read = harden(module, data=(lists, torch.tensor([2.0, 0.0, 3.0, 1.0])))
    assert (read.state, read.start) == ("count", Constant(0))
    assert read.evidence.agreement == 1
    assert read(lists, torch.full((4,), 4)).tolist() == [2, 0, 3, 1]
    assert read(lists, torch.tensor([2, 4, 1, 3])).tolist() == [1, 0, 0, 0]
    assert read.evidence.not_covered == ()


def test_a_gate_meets_the_smallest_number_so_far():
    """Pairs of a list are the one that is kept and the next, and none of what follows the list."""
    lists = torch.tensor([[5, 1, 3], [9, 7, 7]])
    with torch.no_grad():
        own = read_loop(minimum(), lists, None, 0.0).evidence
        assert own.not_covered == ()  # 7 and 7 are met
        short = read_loop(minimum(), lists, None, 0.0, lengths=torch.tensor([3, 2])).evidence
        assert short.not_covered == ("best == x",)
    assert own.margin is not None
    assert own.dropped == ()


@torch.no_grad()
@pytest.mark.parametrize(
    ("lists", "not_covered"),
    [
        ([[1, 3, 1], [5, 4, 9]], ()),  # 1 is kept and met again
        ([[5, 4, 4], [1, 2, 3]], ()),  # 4 takes the place of 5
        ([[5, 4, 5], [1, 2, 3]], ("best == x",)),  # 5 is not kept
    ],
)
@pytest.mark.parametrize("size", [0.5, 10.0])
def test_a_pair_is_what_the_gate_keeps_and_the_next_number(lists, not_covered, size):
    module = minimum()
    module.gate.w_sign[0], module.gate.w_zero[0], module.gate.bias[0] = unit_weights("<=", size=size)
    lists = torch.tensor(lists)
    read = read_loop(module, lists, lists.amin(-1).double().numpy(), 0.0)
    assert read.evidence.not_covered == not_covered
    assert read.evidence.margin == pytest.approx(size, rel=1e-3)


def test_by_default_paths_are_read_on_25_graphs():
    generator = np.random.default_rng(0)
    inboxes = node_update_rows([random_graph(generator) for _ in range(25)], messages=9).distinct().x
    assert harden(paths()).evidence == harden(paths(), data=inboxes).evidence


def test_a_gate_that_never_keeps_anything_gives_the_last_number_and_each_part_has_one_source():
    lists = torch.tensor([[1, 2, 3], [3, 1, 2]])
    read = harden(RecurrentMinimum(written(2)), data=(lists, lists[:, -1].double()))
    assert read.evidence.dropped == ("best with x",)
    assert read.evidence.sources == (("formula", "answers"), ("acceptance", "labels"))


def test_a_gate_that_does_not_decide_keeps_nothing():
    """The program of a gate holds where its logit is positive, and the pairs it is read on are those it would meet."""
    undecided = RecurrentMinimum(written(2)).double()
    for parameter in undecided.parameters():
        torch.nn.init.zeros_(parameter)
    met = _pairs_met(undecided, torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.double), torch.tensor([3]))
    assert met.tolist() == [[1, 2], [2, 3]]
