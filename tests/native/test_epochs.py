"""The epochs in C against torch: loss, gradients and updates, for every model of the paper."""

import ctypes
import importlib
import os
import platform
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from nsr.data import Rows, all_pairs, function_of_all_pairs, node_update_rows, random_graph, random_lists
from nsr.ensemble import Ensemble
from nsr.native import NativeTraining, library
from nsr.nn import MLP, NAU, NSR, NodeUpdate, Piecewise, RecurrentCount, RecurrentMinimum, ShortestPaths
from nsr.training import EXACT, Recipe, fit, fold

library_module = importlib.import_module("nsr.native.library")
pytestmark = pytest.mark.skipif(library() is None, reason="no C compiler")

MEMBERS = 3


def each(draw):
    return Rows.each([draw(np.random.default_rng(seed)) for seed in range(MEMBERS)])


def rounds(generator):
    graphs = [random_graph(generator, nodes=6, largest=10) for _ in range(4)]
    return node_update_rows(graphs, messages=5, largest=10).distinct().filled(160)


def paths(gate, generator, learned=False):
    return NodeUpdate(
        ShortestPaths(RecurrentMinimum(gate), NAU(2, bias=True, generator=generator) if learned else None)
    )


GATES = {"nsr": NSR, "mlp": MLP}
PAIRS = all_pairs(">")
CASES = {
    **{
        f"{name} {loss} {rows}": (
            lambda g, gate=gate: gate(2, generator=g),
            fold(PAIRS) if rows == "folded" else PAIRS,
            loss,
        )
        for name, gate in GATES.items()
        for loss in ("mae", "mse", "bce")
        for rows in ("folded", "all")
    },
    **{
        f"{name} {function}": (
            lambda g, gate=gate, n=n: Piecewise(gate(n, generator=g), generator=g),
            each(lambda generator, function=function: function_of_all_pairs(function, generator)),
            loss,
        )
        for name, gate in GATES.items()
        for function, n, loss in (("abs", 2, "mae"), ("f", 5, "mae"), ("f", 5, "mse"))
    },
    **{
        f"{name} {loop}": (
            lambda g, gate=gate, kind=kind: kind(gate(2, generator=g)),
            each(lambda generator, loop=loop: random_lists(loop, generator, count=120)),
            "mae",
        )
        for name, gate in GATES.items()
        for loop, kind in (("minimum", RecurrentMinimum), ("count", RecurrentCount))
    },
    **{
        f"{name} paths{' learned' * learned}": (
            lambda g, gate=gate, learned=learned: paths(gate(2, generator=g), g, learned),
            each(rounds),
            "mae",
        )
        for name, gate in GATES.items()
        for learned in (False, True)
    },
    "nsr of one unit": (lambda g: NSR(2, redundancy=1, generator=g), PAIRS, "mae"),
    "nsr of 50 units and 4 inputs": (
        lambda g: NSR(4, redundancy=50, scale=0.5, generator=g),
        Rows.of(torch.randint(-9, 10, (70, 4), generator=torch.Generator().manual_seed(0)), torch.arange(70) % 2),
        "mae",
    ),
    "nsr of a large scale": (lambda g: NSR(2, scale=1e6, generator=g), PAIRS, "bce"),
}


@pytest.mark.parametrize("case", CASES)
def test_epochs_are_torchs(case):
    build, rows, loss = CASES[case]
    recipe = Recipe(loss=loss, epochs=12, learning_rate=1e-3, sparsity=0.3)
    native, eager = Ensemble(build, range(MEMBERS)), Ensemble(build, range(MEMBERS))
    histories = fit(native, rows, recipe, engine="native"), fit(eager, rows, recipe, engine="eager")
    assert [history.engine for history in histories] == ["native", "eager"]
    torch.testing.assert_close(histories[0].loss, histories[1].loss, rtol=2e-5, atol=2e-6)
    for name, value in eager.parameters.items():
        torch.testing.assert_close(native.parameters[name], value, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("case", ["nsr mae folded", "mlp f", "nsr minimum", "nsr paths learned"])
def test_a_member_is_its_seed_trained_alone_to_the_last_bit(case):
    build, rows, loss = CASES[case]
    recipe = Recipe(loss=loss, epochs=50)
    together = Ensemble(build, range(MEMBERS))
    fit(together, rows, recipe, engine="native")
    for seed in range(MEMBERS):
        own = rows if rows.x.dim() == 2 else Rows(rows.x[seed], rows.y[seed], rows.weight.expand(MEMBERS, -1)[seed])
        alone = Ensemble(build, [seed])
        fit(alone, own, recipe, engine="native")
        for name, value in alone.parameters.items():
            assert torch.equal(value[0], together.parameters[name][seed])


def test_epochs_in_one_call_or_several_are_the_same():
    results = []
    for check_every in (60, 7):
        model = NSR(2, generator=torch.Generator().manual_seed(0))
        fit(model, PAIRS, Recipe(loss="mae", epochs=60, check_every=check_every), engine="native")
        results.append(torch.cat([value.flatten() for value in model.state_dict().values()]))
    assert torch.equal(*results)


def test_a_member_that_has_stopped_is_trained_no_further():
    ensemble = Ensemble(lambda g: NSR(2, generator=g), range(20))
    history = fit(ensemble, PAIRS, EXACT, engine="native")
    assert len(set(history.stopped.tolist())) > 1
    again = Ensemble(lambda g: NSR(2, generator=g), [7])
    assert fit(again, PAIRS, EXACT, engine="native").stopped[0] == history.stopped[7]
    assert torch.equal(again.parameters["v1"][0], ensemble.parameters["v1"][7])


OTHER_CPUS = {"AVX2": ["-mavx2", "-mfma", "-mno-avx512f"], "without vectors of its own": []}


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """Where the libraries for other CPUs are kept: each is built once."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.outer
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the options are those of x86-64")
@pytest.mark.parametrize("cpu", OTHER_CPUS)
@pytest.mark.parametrize("case", ["nsr mae folded", "nsr bce all", "mlp f", "mlp minimum", "nsr paths learned"])
def test_numbers_are_the_same_on_every_cpu(case, cpu, cache, monkeypatch):
    build, rows, loss = CASES[case]
    results = []
    for options in (library_module.MACHINE, OTHER_CPUS[cpu]):
        monkeypatch.setattr(library_module, "MACHINE", tuple(options))
        monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
        library.cache_clear()
        ensemble = Ensemble(build, range(MEMBERS))
        assert fit(ensemble, rows, Recipe(loss=loss, epochs=300, sparsity=0.3)).engine == "native"
        results.append(torch.cat([value.flatten() for value in ensemble.parameters.values()]))
    monkeypatch.undo()
    library.cache_clear()
    assert len(list((cache / "nsr").glob("*.so"))) >= 2
    assert torch.equal(*results)


class Wider(NSR):
    """A register that does something else."""

    def logit(self, x):
        return 2 * super().logit(x)


def hooked():
    module = NSR(2)
    module.register_forward_hook(lambda *_: None)
    return module


def frozen():
    module = NSR(2)
    module.w_zero.requires_grad_(False)
    return module


@pytest.mark.parametrize(
    "module",
    [Wider(2), hooked(), frozen(), NSR(2, dtype=torch.float64), NSR(2, constants=True), NSR(2, redundancy=5000)],
    ids=["subclass", "hook", "frozen", "float64", "constants", "too large"],
)
def test_other_modules_are_left_to_torch(module):
    recipe = Recipe(loss="mae", epochs=2)
    assert fit(module, PAIRS, recipe).engine == "eager"
    with pytest.raises(ValueError, match=r"^engine 'native' cannot train .*: leave the choice to fit$"):
        fit(module, PAIRS, recipe, engine="native")


def test_integers_too_large_for_float32_are_left_to_torch():
    rows = replace(PAIRS, x=PAIRS.x + 2**40)
    assert fit(NSR(2), rows, Recipe(loss="mae", epochs=2), folded=False).engine == "eager"


def test_a_native_step_that_is_off_is_not_used_and_reported(monkeypatch, fresh_process):
    advance = NativeTraining.advance

    def off(self, *arguments):
        losses = advance(self, *arguments)
        self.state[1][:, 3] *= 1.01
        return losses

    monkeypatch.setattr(NativeTraining, "advance", off)
    register = NSR(2, generator=torch.Generator().manual_seed(0))
    with pytest.warns(UserWarning, match=r"^NSR\(2, redundancy=10, scale=1.0\) is trained eagerly, because its native"):
        assert fit(register, PAIRS, Recipe(loss="mae", epochs=2)).engine == "eager"


@pytest.fixture
def fresh_process(monkeypatch):
    """As if nothing had been reported yet."""
    monkeypatch.setattr("nsr.adam._reported", set())


@pytest.mark.outer
def test_it_can_be_switched_off():
    code = (
        "from nsr import NSR, Recipe, fit; from nsr.data import all_pairs;"
        "print(fit(NSR(2), all_pairs('>'), Recipe(loss='mae', epochs=2)).engine)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"NSR_NATIVE": "0"}, capture_output=True, text=True, check=True
    )
    assert result.stdout == "eager\n"


def test_the_library_has_no_symbols_of_torch_or_python():
    assert isinstance(library(), ctypes.CDLL)
    listed = subprocess.run(["nm", "-D", library()._name], capture_output=True, text=True, check=False)
    assert listed.returncode or not {"Py_Initialize", "PyObject_Call"} & set(listed.stdout.split())
    assert "c10" not in listed.stdout


def test_a_pull_reaches_the_weights_of_a_nau():
    build, rows, loss = CASES["nsr f"]
    results = []
    for sparsity in (0.0, 1.0):
        ensemble = Ensemble(build, range(MEMBERS))
        fit(ensemble, rows, Recipe(loss=loss, epochs=200, learning_rate=0.01, sparsity=sparsity), engine="native")
        weight = ensemble.parameters["arms.weight"]
        assert weight.abs().max() <= 1
        results.append((weight - weight.round()).abs().mean())
    assert results[1] < results[0]
