import numpy as np
import pandas as pd
import pytest
import torch

from nsr import MLP, NAU, NSR, Ensemble, Piecewise
from nsr.data import node_update_rows, random_graph
from nsr.nn import (
    DigitComparison,
    DigitReader,
    Logic,
    NodeUpdate,
    RecurrentCount,
    RecurrentMinimum,
    RuleNet,
    ShortestPaths,
    WeighingNSR,
)
from nsr.nn.checks import floating_dtype, positive_integer, positive_number


def test_numbers_of_numpy_are_numbers():
    assert positive_integer("inputs", np.int64(3)) == 3
    assert positive_number("scale", np.float32(0.5)) == 0.5
    assert positive_number("scale", 3) == 3.0


def test_an_integer_may_have_a_larger_least_value():
    assert positive_integer("classes", 2, least=2) == 2
    with pytest.raises(ValueError, match="^classes must be at least 2, got 1$"):
        positive_integer("classes", 1, least=2)


def test_booleans_are_not():
    with pytest.raises(ValueError, match="^scale must be a number, got True$"):
        positive_number("scale", True)


def test_the_default_dtype_is_torchs():
    assert floating_dtype(None) == torch.get_default_dtype()


# Lists, arrays and data frames instead of tensors

ROWS = [[1, 2], [4, 3], [5, 5]]
LAYERS = [
    NSR(2),
    NSR(2, constants=True),
    MLP(2),
    NAU(2),
    Piecewise(NSR(2)),
    RecurrentMinimum(NSR(2)),
    RecurrentCount(MLP(2)),
    WeighingNSR(2, 3, zero_bits=True),
    Logic(2, 3, classes=4),
    RuleNet(2, 3, 2),
]
FORMS = {
    "list": lambda rows: rows,
    "tuple": lambda rows: tuple(map(tuple, rows)),
    "array": np.array,
    "narrow": lambda rows: np.array(rows, dtype=np.int8),
    "frame": lambda rows: pd.DataFrame(rows, columns=["a", "b"]),
}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("layer", LAYERS, ids=repr)
def test_every_layer_takes_what_holds_numbers(layer, form):
    expected = layer(torch.tensor(ROWS))
    assert torch.equal(layer(form(ROWS)), expected)
    if hasattr(layer, "logit"):
        assert torch.equal(layer.logit(form(ROWS)), layer.logit(torch.tensor(ROWS)))
    ensemble = Ensemble.of([layer, layer])
    assert torch.equal(ensemble(form(ROWS)), ensemble(torch.tensor(ROWS)))


def test_fractions_in_a_list_are_taken_as_float64():
    register = NSR(2)
    assert torch.equal(register([0.1, 0.2]), register(torch.tensor([0.1, 0.2], dtype=torch.float64)))


def test_the_layers_for_lists_graphs_and_images_take_arrays_too():
    lists, lengths = np.array([[3, 1, 2], [5, 4, 0]]), [3, 2]
    minimum = RecurrentMinimum(NSR(2))
    assert torch.equal(minimum(lists, lengths), minimum(torch.tensor(lists), torch.tensor(lengths)))
    paths = ShortestPaths(minimum)
    rows = node_update_rows([random_graph(np.random.default_rng(0), nodes=4)], messages=3).x
    assert torch.equal(NodeUpdate(paths)(rows.tolist()), NodeUpdate(paths)(rows))
    graph = random_graph(np.random.default_rng(0), nodes=6)
    start = [0.0, *[60.0] * 5]
    expected = paths(torch.tensor(graph.edges), torch.tensor(graph.weights), torch.tensor(start, dtype=torch.float64))
    assert torch.equal(paths(graph.edges, graph.weights, start), expected)
    images = np.random.default_rng(0).random((3, 8, 8), dtype=np.float32)
    comparison = DigitComparison(DigitReader(8), NSR(2))
    assert torch.equal(comparison(images), comparison(torch.tensor(images)))


@pytest.mark.parametrize(
    ("x", "text"),
    [
        ([["a", "b"]], "x must hold numbers that fit int64 or float64, got an array of dtype <U1"),
        ([[1, 2], [3]], "x must have the same number of values in each row"),
        ([1, 2, 3], "x must have 2 numbers in its last axis, got shape (3,)"),
        (5, "x must have 2 numbers in its last axis, got shape ()"),
        ([[2**64, 1]], "x must hold numbers that fit int64 or float64, got an array of dtype object"),
        (
            np.array([[2**63, 1]], dtype=np.uint64),
            "x must hold real numbers, and integers that fit int64, got torch.uint64",
        ),
        ([[1j, 1]], "x must hold real numbers, and integers that fit int64, got torch.complex128"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_anything_else_is_an_error_in_a_sentence(x, text):
    with pytest.raises(ValueError) as error:
        NSR(2)(x)
    assert str(error.value) == text
