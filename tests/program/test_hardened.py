"""A program that replaces the module it was read from."""

import copy
import pickle
import subprocess
import sys

import pytest
import torch
from torch import nn

from nsr.program import Compare, Constant, Or, Program, Truth, Variable, Where
from nsr.program.hardened import Hardened

a, b = Variable("a"), Variable("b")
more = Compare(">", a, b)
RULE = Hardened(Program(more, ("a", "b")))
MAXIMUM = Hardened(Program(Where(more, a, b), ("a", "b")))
X = torch.tensor([[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]])


def test_a_formula_answers_as_a_register_does():
    assert RULE(X).tolist() == [[0, 1], [0, 1], [1, 0]]


def test_a_number_answers_as_a_piecewise_function_does():
    assert MAXIMUM(X).tolist() == [2, 2, 3]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_answers_have_the_dtype_of_the_rows(dtype):
    assert RULE(X.to(dtype)).dtype == dtype
    assert MAXIMUM(X.to(dtype)).dtype == dtype
    assert Hardened(Program(Constant(0.1)))(X.to(dtype)).tolist() == torch.full((3,), 0.1, dtype=dtype).tolist()


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_integers_are_answered_in_the_default_dtype(dtype):
    assert RULE(X.to(dtype)).dtype == torch.get_default_dtype()
    assert RULE(X.to(dtype)).tolist() == [[0, 1], [0, 1], [1, 0]]
    assert MAXIMUM(X.to(dtype)).tolist() == [2, 2, 3]


def test_integers_are_compared_exactly():
    n = 2**62
    rows = torch.tensor([[n, n + 1], [n, n], [n + 1, n]])
    assert RULE(rows)[:, 0].tolist() == [0, 0, 1]
    shifted = Hardened(Program(Compare(">", 4 * a - 1, 4 * b), ("a", "b")))
    assert shifted(rows)[:, 0].tolist() == [0, 0, 1]


@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3), (0,), (3, 0)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_any_leading_shape(batch, dtype):
    x = torch.zeros(*batch, 2, dtype=dtype)
    assert RULE(x).shape == (*batch, 2)
    assert MAXIMUM(x).shape == batch
    for expression in (Truth(True), Or(more, Compare("<=", a, b))):
        answer = Hardened(Program(expression, ("a", "b")))(x)
        assert answer.shape == (*batch, 2)
        assert (answer == torch.tensor([1.0, 0.0])).all()
    assert Hardened(Program(Constant(4)))(x).shape == batch


def test_gradients_flow_through_the_branch_that_a_row_takes():
    x = X.clone().requires_grad_()
    MAXIMUM(x).sum().backward()
    assert x.grad.tolist() == [[0, 1], [0, 1], [1, 0]]
    assert not RULE(x).requires_grad


def test_it_has_no_parameters_and_an_empty_state_dict():
    assert list(RULE.parameters()) == []
    assert RULE.state_dict() == {}
    RULE.load_state_dict({})


def test_inside_a_sequential():
    network = nn.Sequential(nn.Linear(2, 2), RULE, nn.Linear(2, 1))
    expected = network[2](RULE(network[0](X)))
    assert torch.equal(network(X), expected)
    assert set(network.state_dict()) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    other = copy.deepcopy(network)
    other.load_state_dict(network.state_dict())
    assert torch.equal(other(X), expected)
    assert other[1].program == RULE.program


def test_deepcopy_pickle_and_repr():
    for other in (copy.deepcopy(MAXIMUM), pickle.loads(pickle.dumps(MAXIMUM))):
        assert torch.equal(other(X), MAXIMUM(X))
        assert repr(other) == repr(MAXIMUM) == "Hardened('where(a > b, a, b)')"


@pytest.mark.usefixtures("unchecked")
def test_errors_for_rows_without_an_answer():
    for x, text in (
        (torch.zeros(4, 3), "x must have 2 numbers in its last axis, got shape (4, 3)"),
        (torch.zeros(2, dtype=torch.complex64), "'a' must hold real numbers, got torch.complex64"),
    ):
        with pytest.raises(ValueError) as error:
            RULE(x)
        assert str(error.value) == text


def test_rows_with_nan_give_nan_as_from_a_register():
    x = torch.tensor([[0.0, 1.0], [1.0, torch.nan], [3.0, 1.0]])
    assert RULE(x).isnan().tolist() == [[False, False], [True, True], [False, False]]
    assert MAXIMUM(x).isnan().tolist() == [False, True, False]


@pytest.mark.outer
def test_it_can_be_compiled():
    code = (
        "import torch; from nsr.program import Compare, Program, Variable, Where; a, b = map(Variable, 'ab'); "
        "module = Program(Where(Compare('>', a, b), a + 4, b)).module(); x = torch.tensor([[1., 2.], [3., 2.]]); "
        "print(torch.compile(module, fullgraph=True, backend='eager')(x).tolist())"
    )  # elsewhere: dynamo cannot see through the shape checks of these tests
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[2.0, 7.0]\n"


@pytest.mark.usefixtures("unchecked")
def test_it_can_be_vectorised_and_exported():
    stacked = torch.stack([X, X.flip(0)])
    assert torch.equal(torch.func.vmap(RULE)(stacked), RULE(stacked))
    exported = torch.export.export(MAXIMUM, (X,), dynamic_shapes=({0: torch.export.Dim("rows")},))
    assert torch.equal(exported.module()(X.repeat(3, 1)), MAXIMUM(X.repeat(3, 1)))
