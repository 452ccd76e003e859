"""The layer of the page is the layer of Python: outputs, gradients and training."""

from typing import Any

import pytest
import torch

from nsr import MLP, NSR, Recipe, fit
from nsr.data import all_pairs
from nsr.training import LOSSES

pytestmark = pytest.mark.outer

ORDER = ("v1", "v2", "w_sign", "w_zero", "bias", "offset")
MLP_ORDER = ("v", "bias_v", "h", "bias")
BUILD = """
const build = ({kind, inputs, redundancy, scale, constants}) =>
  kind === "nsr" ? new nsr.Register({inputs, redundancy, scale, constants}) : new nsr.MLP(inputs, redundancy);
"""
STEP = """
cases => {
  %s
  return cases.map(each => {
    const model = build(each), rows = nsr.rowsOf(each.x, each.y, each.weight);
    model.parameters.set(each.parameters);
    const z = new Float64Array(rows.count), gradient = new Float64Array(model.parameters.length);
    model.logits(rows, z);
    const loss = model.gradient(rows, each.loss, gradient);
    return {z: [...z], loss, gradient: [...gradient]};
  });
}
"""
TRAIN = """
each => {
  %s
  const model = build(each), rows = nsr.rowsOf(each.x, each.y);
  model.parameters.set(each.parameters);
  const adam = new nsr.Adam(model);
  for (let i = 0; i < each.epochs; i++) adam.step(rows, each.loss, each.rate);
  return [...model.parameters];
}
"""


def flat(model: NSR | MLP, values: dict[str, torch.Tensor]) -> torch.Tensor:
    order = ORDER if isinstance(model, NSR) else MLP_ORDER
    return torch.cat([values[name].detach().flatten() for name in order if name in values])


def random_model(index: int, generator: torch.Generator) -> NSR | MLP:
    def pick(*choices: Any) -> Any:
        return choices[int(torch.randint(len(choices), (), generator=generator))]

    if index % 4 == 3:
        return MLP(pick(2, 3), hidden=pick(5, 20), generator=generator, dtype=torch.float64)
    inputs, constants = pick((2, False), (2, False), (2, True), (1, True), (4, False), (3, True))
    model = NSR(
        inputs,
        redundancy=pick(1, 3, 10),
        scale=pick(0.1, 1.0, 1.0, 10.0),
        constants=constants,
        generator=generator,
        dtype=torch.float64,
    )
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            spread = pick(0.5, 2.0) if name in ("v1", "v2") else pick(0.1, 1.0, 3.0)
            parameter.copy_(spread * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return model


def described(model: NSR | MLP) -> dict[str, Any]:
    values = dict(model.named_parameters())
    common = {"inputs": model.inputs, "parameters": flat(model, values).tolist()}
    if isinstance(model, MLP):
        return {"kind": "mlp", "redundancy": model.hidden, "scale": 1, "constants": False, **common}
    return {
        "kind": "nsr",
        "redundancy": model.redundancy,
        "scale": model.scale,
        "constants": model.constants,
        **common,
    }


def test_outputs_and_gradients_of_1000_random_models_agree(tab):
    generator = torch.Generator().manual_seed(0)
    cases, expected = [], []
    for index in range(1000):
        model, loss = random_model(index, generator), ("bce", "mae", "mse")[index % 3]
        x = torch.randint(-10, 10, (12, model.inputs), generator=generator).double()
        x = x + torch.rand(x.shape, generator=generator, dtype=torch.float64) * (index % 2)
        y = torch.randint(2, (12,), generator=generator).double()
        weight = torch.rand(12, generator=generator, dtype=torch.float64).softmax(0)
        total = (LOSSES[loss](model, x, y) * weight).sum()
        total.backward()
        gradient = flat(model, {name: p.grad for name, p in model.named_parameters() if p.grad is not None})
        expected.append((model.logit(x).detach(), float(total.detach()), gradient))
        rows = {"x": x.T.tolist(), "y": y.tolist(), "weight": weight.tolist(), "loss": loss}
        cases.append(described(model) | rows)
    found = tab.evaluate(STEP % BUILD, cases)
    for each, (z, loss, gradient) in zip(found, expected, strict=True):
        torch.testing.assert_close(torch.tensor(each["z"], dtype=torch.float64), z, rtol=1e-12, atol=1e-12)
        assert each["loss"] == pytest.approx(loss, rel=1e-12, abs=1e-12)
        actual = torch.tensor(each["gradient"], dtype=torch.float64)
        torch.testing.assert_close(actual, gradient, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", ["bce", "mae"])
@pytest.mark.parametrize("comparison", [">", "="])
@pytest.mark.parametrize("model", ["nsr", "constants", "mlp"])
def test_200_epochs_from_the_same_start_agree(tab, model, comparison, loss):
    generator = torch.Generator().manual_seed(7)
    if model == "mlp":
        module: NSR | MLP = MLP(2, generator=generator, dtype=torch.float64)
    else:
        module = NSR(2, constants=model == "constants", generator=generator, dtype=torch.float64)
    rows, epochs, rate = all_pairs(comparison), 200, 0.01
    start = described(module)
    data = {"x": rows.x.double().T.tolist(), "y": rows.y.double().tolist()}
    found = tab.evaluate(TRAIN % BUILD, start | data | {"loss": loss, "epochs": epochs, "rate": rate})
    recipe = Recipe(loss=loss, epochs=epochs, learning_rate=rate, check_every=epochs)
    fit(module, rows, recipe, folded=False, engine="eager")
    expected = flat(module, dict(module.named_parameters()))
    off = (torch.tensor(found, dtype=torch.float64) - expected).abs().max()
    assert off < 1e-9
    assert (expected - torch.tensor(start["parameters"], dtype=torch.float64)).abs().max() > 0.1
