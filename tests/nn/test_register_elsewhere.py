"""The layers under vmap, torch.compile, torch.export and onnxruntime give what eager torch gives."""

import io
import warnings

import onnxruntime
import pytest
import torch
from torch.func import functional_call, stack_module_state, vmap

from nsr import MLP, NSR
from nsr.nn import RuleNet, WeighingNSR

pytestmark = pytest.mark.usefixtures("unchecked")


def build(name: str, seed: int, dtype: torch.dtype = torch.float64) -> torch.nn.Module:
    generator = torch.Generator().manual_seed(seed)
    return {
        "register": lambda: NSR(3, generator=generator, dtype=dtype),
        "constants": lambda: NSR(3, constants=True, generator=generator, dtype=dtype),
        "mlp": lambda: MLP(3, generator=generator, dtype=dtype),
        "weighing": lambda: WeighingNSR(3, 4, zero_bits=True, scale=0.3, generator=generator, dtype=dtype),
        "rule": lambda: RuleNet(3, 4, 2, generator=generator, dtype=dtype),
        "classes": lambda: RuleNet(3, 4, 2, classes=5, zero_bits=True, generator=generator, dtype=dtype),
    }[name]()


def numbers(*shape: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    return 4 * torch.randn(*shape, generator=torch.Generator().manual_seed(1), dtype=dtype)


KINDS = pytest.mark.parametrize("kind", ["register", "constants", "mlp", "weighing", "rule", "classes"])


@KINDS
def test_vmap_over_models(kind):
    models = [build(kind, seed) for seed in range(4)]
    state = stack_module_state(models)
    x = numbers(6, 3)
    stacked = vmap(lambda p, b: functional_call(models[0], (p, b), (x,)))(*state)
    torch.testing.assert_close(stacked, torch.stack([model(x) for model in models]), rtol=1e-14, atol=1e-15)


@KINDS
def test_vmap_over_rows(kind):
    model, x = build(kind, 0), numbers(6, 3)
    torch.testing.assert_close(vmap(model)(x), model(x), rtol=1e-14, atol=1e-15)


@pytest.mark.outer
@pytest.mark.compiled
@KINDS
def test_torch_compile_in_one_graph(kind):
    model, x = build(kind, 0), numbers(6, 3)
    torch._dynamo.reset()
    fast = torch.compile(model, fullgraph=True)
    torch.testing.assert_close(fast(x), model(x), rtol=1e-12, atol=1e-14)


@KINDS
def test_torch_export_with_any_number_of_rows(kind):
    model = build(kind, 0)
    rows = {0: torch.export.Dim("rows", min=2)}
    exported = torch.export.export(model, (numbers(6, 3),), dynamic_shapes=({**rows},)).module()
    x = numbers(17, 3)
    torch.testing.assert_close(exported(x), model(x), rtol=1e-14, atol=1e-15)


INTEGERS = torch.tensor([[2**60 + 1, 2**60, 5], [7, 7, 7], [-3, 2**62, 1]])


@KINDS
def test_integers_under_vmap_and_export(kind):
    model = build(kind, 0, torch.float32)
    expected = model(INTEGERS)
    torch.testing.assert_close(vmap(model)(INTEGERS), expected)
    exported = torch.export.export(model, (INTEGERS,), dynamic_shapes=({0: torch.export.Dim("rows", min=2)},)).module()
    torch.testing.assert_close(exported(INTEGERS), expected)


@pytest.mark.compiled
def test_integers_are_exact_in_a_compiled_register():
    model = build("weighing", 0)
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1, -1, 0], [1, -1, -1], [4, -4, 0], [-(2.0**31), 2.0**31, 1]]))
    torch._dynamo.reset()
    fast = torch.compile(model.differences, fullgraph=True)
    assert fast(INTEGERS[:2]).tolist() == [[1, -4, 4, 5 - 2**31], [0, -7, 0, 7]]


@pytest.mark.outer
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@KINDS
def test_onnxruntime(kind, dtype):
    model = build(kind, 0, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the exporter's own making
        program = torch.onnx.export(
            model, (numbers(6, 3, dtype=dtype),), dynamo=True, verbose=False, dynamic_shapes=({0: "rows"},)
        )
    file = io.BytesIO()
    program.save(file)
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    x = numbers(17, 3, dtype=dtype)
    (answer,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    torch.testing.assert_close(torch.from_numpy(answer), model(x).detach(), rtol=tolerance, atol=tolerance)
