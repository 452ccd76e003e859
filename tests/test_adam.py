import dataclasses
import math
import os
import subprocess
import sys
import warnings

import pytest
import torch
from torch import nn

from nsr import MLP, NAU, NSR, Ensemble, Piecewise, Recipe, fit
from nsr import adam as module_under_test
from nsr.adam import adam_corrections, adam_step, bounds_of, compiled_step, disagreement
from nsr.data import all_pairs
from nsr.training import Objective

SHORT = Recipe(loss="mae", epochs=40, check_every=20)


class Quadratic(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Parameter(torch.tensor([3.0, -2.0])), nn.Parameter(torch.tensor(0.5))

    def forward(self, target: torch.Tensor) -> torch.Tensor:
        return ((self.a - target) ** 2).sum() + (self.b * self.a).cos().sum()


def test_the_step_is_torchs_adam():
    models = [Quadratic().double() for _ in range(3)]
    for i, model in enumerate(models):
        nn.init.constant_(model.b, i)
    ensemble = Ensemble.of(models)
    zeros = {name: torch.zeros_like(value) for name, value in ensemble.parameters.items()}
    state = (ensemble.parameters, zeros, zeros)
    target = torch.tensor([1.0, 5.0], dtype=torch.float64)
    optimisers = [torch.optim.Adam(model.parameters(), lr=0.05) for model in models]
    for correction in adam_corrections(0.05, 200):
        state, losses = adam_step(ensemble.template, {}, state, {}, correction, (target,), ())
        for i, (model, optimiser) in enumerate(zip(models, optimisers, strict=True)):
            optimiser.zero_grad()
            loss = model(target)
            loss.backward()
            optimiser.step()
            assert losses[i].item() == pytest.approx(loss.item(), rel=1e-12)
    for i, model in enumerate(models):
        torch.testing.assert_close(state[0]["a"][i], model.a.detach(), rtol=1e-11, atol=1e-12)
        torch.testing.assert_close(state[0]["b"][i], model.b.detach(), rtol=1e-11, atol=1e-12)


def test_bounded_parameters_stay_inside():
    module = NAU(2, generator=torch.Generator().manual_seed(0))
    ensemble = Ensemble.of([module])

    class Objective(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return -self.module(x).sum()

    parameters = {"module.weight": ensemble.parameters["weight"]}
    zeros = {"module.weight": torch.zeros_like(parameters["module.weight"])}
    state = (parameters, zeros, zeros)
    for correction in adam_corrections(0.5, 20):
        state, _ = adam_step(Objective(), bounds_of(Objective()), state, {}, correction, (torch.ones(1, 2),), ())
    assert state[0]["module.weight"].tolist() == [[[1.0, 1.0]]]


def test_corrections_are_adams():
    step, root = adam_corrections(0.01, 3)[2].tolist()
    assert step == pytest.approx(0.01 / (1 - 0.9**3), rel=1e-14)
    assert root == pytest.approx(math.sqrt(1 - 0.999**3), rel=1e-12)


def test_bounds_have_the_full_names_of_their_parameters():
    assert bounds_of(NAU(2)) == {"weight": (-1.0, 1.0)}
    assert bounds_of(Piecewise(NSR(2))) == {"arms.weight": (-1.0, 1.0)}


# The compiled step against the eager one


@pytest.fixture
def fresh_process(monkeypatch):
    """No model has been warned about yet."""
    monkeypatch.setattr(module_under_test, "_reported", set())


def first_arguments(kind: type, dtype: torch.dtype) -> tuple:
    """What ``fit`` hands to the first step of three members."""
    ensemble = Ensemble(lambda generator: kind(2, generator=generator, dtype=dtype), range(3))
    parameters = {f"module.{name}": value for name, value in ensemble.parameters.items()}
    zeros = {name: torch.zeros_like(value) for name, value in parameters.items()}
    rows = all_pairs("=").to(dtype)
    objective = Objective(ensemble.template, "mae")
    state = (parameters, zeros, dict(zeros))
    targets = rows.y.expand(3, len(rows))
    return objective, {}, state, {}, adam_corrections(0.01, 5)[0], (rows.weight, rows.x), (targets,)


def changed(result: tuple, part: int, name: str, change) -> tuple:
    """The result of a step with one tensor of one part of its state changed."""
    state, losses = result
    parts = [dict(values) for values in state]
    parts[part][name] = change(parts[part][name])
    return tuple(parts), losses


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", [NSR, MLP])
def test_rounding_is_no_disagreement(kind, dtype):
    arguments = first_arguments(kind, dtype)
    state, losses = adam_step(*arguments)
    assert disagreement((state, losses), arguments) is None
    noise = 1 + 20 * torch.finfo(dtype).eps
    assert disagreement((state, losses * noise), arguments) is None
    for name in state[0]:
        for part in (1, 2):
            assert disagreement(changed((state, losses), part, name, lambda value: value * noise), arguments) is None


class Cancelling(nn.Module):
    """The gradient of ``a`` is zero but for rounding, while that of ``b`` is not."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Parameter(torch.tensor(0.3)), nn.Parameter(torch.tensor(0.7))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        return self.a * rows.sum() + self.b


def test_rounding_may_decide_the_sign_of_a_gradient_and_the_direction_of_its_step():
    ensemble = Ensemble.of([Cancelling()])
    zeros = {name: torch.zeros_like(value) for name, value in ensemble.parameters.items()}
    state, correction = (ensemble.parameters, zeros, zeros), adam_corrections(0.01, 1)[0]
    noise = torch.tensor([1.0, 1e-7, -1.0])  # a sum that cancels but for its rounding
    one, other = ((ensemble.template, {}, state, {}, correction, (x,), ()) for x in (noise, -noise))
    result, mirrored = adam_step(*one), adam_step(*other)
    assert (result[0][1]["a"] * mirrored[0][1]["a"] < 0).all()
    assert (result[0][0]["a"] - mirrored[0][0]["a"]).abs() > 0.005  # steps of full size in opposite directions
    assert disagreement(mirrored, one) is None


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda result: (result[0], result[1] + 0.046), "a loss is "),
        (lambda result: (result[0], result[1] * math.nan), "a loss is nan instead of "),
        (lambda result: changed(result, 1, "module.v1", lambda value: value * 1.01), "a first moment of module.v1 is "),
        (
            lambda result: changed(result, 2, "module.bias", lambda value: value / 2),
            "a second moment of module.bias is ",
        ),
        (
            lambda result: changed(result, 0, "module.w_zero", lambda value: value + 0.01),
            "an updated module.w_zero is ",
        ),
        (lambda result: changed(result, 0, "module.v2", torch.zeros_like), "an updated module.v2 is "),
    ],
    ids=["loss", "nan", "gradient", "square", "update", "zeros"],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_more_than_rounding_is_a_disagreement(wrong, text, dtype):
    arguments = first_arguments(NSR, dtype)
    found = disagreement(wrong(adam_step(*arguments)), arguments)
    assert found is not None
    assert found.startswith(text)


def trained(engine: str, seed: int = 1) -> tuple[torch.Tensor, str]:
    """Weights after a short training, and whether its steps were compiled."""
    model = MLP(2, generator=torch.Generator().manual_seed(seed))
    history = fit(model, all_pairs(">"), SHORT, engine=engine)
    return torch.cat([value.flatten() for value in model.state_dict().values()]), history.engine


def test_a_compiled_step_that_is_off_is_not_used_and_reported_once(monkeypatch, fresh_process):
    calls = []

    def off(*arguments):
        calls.append(arguments)
        state, losses = adam_step(*arguments)
        return state, losses + 0.046

    monkeypatch.setattr(module_under_test, "compiled_step", lambda: off)
    text = (
        r"^MLP\(2, hidden=20\) is trained eagerly, because its compiled training step is wrong on this machine: a loss"
    )
    with pytest.warns(UserWarning, match=text) as caught:
        results = [trained("compiled", seed=seed) for seed in range(2)]
    assert len(caught) == 1
    for seed, (weights, engine) in enumerate(results):
        assert engine == "eager"
        assert torch.equal(weights, trained("eager", seed=seed)[0])
    assert len(calls) == 2  # only the first step of each training


def test_a_compiler_that_fails_is_a_warning_and_the_same_numbers(monkeypatch, fresh_process):
    def fails(*_):
        raise RuntimeError("no such instruction\nand more")

    monkeypatch.setattr(module_under_test, "compiled_step", lambda: fails)
    with pytest.warns(UserWarning, match="eagerly, because compiling the training step failed: no such instruction$"):
        weights, engine = trained("compiled")
    assert engine == "eager"
    assert torch.equal(weights, trained("eager")[0])


def test_a_step_that_agrees_is_used_and_its_numbers_stay_as_they_are(monkeypatch):
    def marked(*arguments):
        return adam_step(*arguments)

    monkeypatch.setattr(module_under_test, "compiled_step", lambda: marked)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weights, engine = trained("compiled")
    assert engine == "compiled"
    assert torch.equal(weights, trained("eager")[0])


@pytest.mark.outer
@pytest.mark.compiled
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", [NSR, MLP])
def test_the_compiled_step_of_this_machine_agrees(kind, dtype):
    torch._dynamo.reset()
    model = kind(2, generator=torch.Generator().manual_seed(0), dtype=dtype)
    assert fit(model, all_pairs("="), SHORT, engine="compiled").engine == "compiled"


@pytest.mark.outer
@pytest.mark.compiled
def test_compiled_code_for_another_vector_width_is_not_taken_from_the_cache(tmp_path):
    code = (
        "import torch; from nsr import MLP, Recipe, fit; from nsr.data import all_pairs\n"
        "model = MLP(2, generator=torch.Generator().manual_seed(0))\n"
        "assert fit(model, all_pairs('='), Recipe(loss='mae', epochs=2), engine='compiled').engine == 'compiled'\n"
    )
    for width in ("default", "avx2"):
        variables = os.environ | {"ATEN_CPU_CAPABILITY": width, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", code], check=True, env=variables)


@pytest.mark.outer
@pytest.mark.compiled
@pytest.mark.usefixtures("unchecked")
def test_any_number_of_kinds_is_compiled_in_one_process():
    torch._dynamo.reset()
    recipe = dataclasses.replace(SHORT, epochs=1)
    kinds = [NSR(2, redundancy=1), NSR(2, redundancy=1, scale=2.0)]
    with torch._dynamo.config.patch(recompile_limit=1):  # it is 8 by default
        assert all(fit(kind, all_pairs(">"), recipe, engine="compiled").engine == "compiled" for kind in kinds)


def test_the_compiled_step_is_made_once():
    assert compiled_step() is compiled_step()
