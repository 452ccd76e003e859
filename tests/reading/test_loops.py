"""Reading loops over lists of different lengths, and messages of shortest paths."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from nsr import NSR, Recipe, fit
from nsr.data import node_update_rows, random_graph, random_lists
from nsr.nn import MLP, NAU, NodeUpdate, RecurrentMinimum, ShortestPaths
from nsr.program import Paths, Variable
from nsr.program.folds import MINIMA
from nsr.reading import UnreadableError, harden
from tests.reading.samples import written


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
