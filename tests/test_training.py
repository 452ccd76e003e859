import dataclasses
import functools
import math
import time

import numpy as np
import pandas as pd
import pytest
import torch

from nsr import EXACT, MLP, NAU, NSR, PAPER, Ensemble, Piecewise, Recipe, fit
from nsr.adam import adam_step
from nsr.data import COMPARISONS, Rows, all_pairs, function_of_all_pairs
from nsr.native import library
from nsr.training import Objective, _padded, _rows_of_members, fold

KINDS = {"nsr": NSR, "mlp": MLP}
SHORT = Recipe(loss="mae", epochs=120, check_every=50)


def ensemble(kind: str, seeds, **options) -> Ensemble:
    return Ensemble(lambda generator: KINDS[kind](2, generator=generator, **options), seeds)


def weights(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([value.flatten() for value in module.state_dict().values()])


# Members


@pytest.mark.parametrize("loss", ["mae", "bce"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_member_is_its_seed_trained_alone_to_the_last_bit(kind, loss):
    recipe = dataclasses.replace(SHORT, loss=loss)
    alone = KINDS[kind](2, generator=torch.Generator().manual_seed(3))
    fit(alone, all_pairs("="), recipe)
    for seeds in ([3], [9, 3], range(5), range(33)):
        block = ensemble(kind, seeds)
        fit(block, all_pairs("="), recipe)
        assert torch.equal(weights(block.member(3)), weights(alone)), len(block)


@pytest.mark.outer
@pytest.mark.compiled
@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", KINDS)
def test_compiled_too_and_it_agrees_with_eager_to_rounding(kind):
    torch._dynamo.reset()
    results = []
    for seeds in ([3], [9, 3], range(5), range(33)):
        block = ensemble(kind, seeds, dtype=torch.float64)
        history = fit(block, all_pairs("!="), SHORT, engine="compiled")
        assert history.engine == "compiled"
        results.append(weights(block.member(3)))
    assert all(torch.equal(result, results[0]) for result in results)
    eager = ensemble(kind, [3], dtype=torch.float64)
    assert fit(eager, all_pairs("!="), SHORT, engine="eager").engine == "eager"
    torch.testing.assert_close(weights(eager.member(3)), results[0], rtol=1e-9, atol=1e-11)


def test_a_plain_loop_with_torchs_adam_gives_the_same():
    alone = NSR(2, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    rows = all_pairs(">").to(torch.float64)
    optimiser = torch.optim.Adam(alone.parameters())
    for _ in range(SHORT.epochs):
        optimiser.zero_grad()
        (alone(rows.x)[:, 0] - rows.y).abs().mean().backward()
        optimiser.step()
    block = ensemble("nsr", range(7), dtype=torch.float64)
    fit(block, rows, SHORT)
    torch.testing.assert_close(weights(block.member(5)), weights(alone), rtol=1e-8, atol=1e-10)


# Folding


def test_the_400_pairs_fold_to_39_rows():
    rows = all_pairs(">")
    folded = fold(rows)
    assert (len(rows), len(folded)) == (400, 39)
    assert folded.weight.sum().item() == pytest.approx(1, abs=1e-15)
    equal = folded.x[:, 0] == folded.x[:, 1]
    assert folded.weight[equal].item() == pytest.approx(20 / 400)


@pytest.mark.parametrize("loss", ["mae", "bce"])
@pytest.mark.parametrize("inputs", [2, 3])
def test_folded_gradients_agree_to_rounding(inputs, loss):
    numbers = torch.arange(-3, 4)
    x = torch.cartesian_prod(*[numbers] * inputs)
    rows = Rows.of(x, (x[:, 0] > x[:, 1]).double())
    folded = fold(rows)
    assert len(folded) < len(rows)
    nsr = NSR(inputs, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    gradients = []
    for data in (rows, folded):
        value = Objective(nsr, loss)(data.weight, data.x.double(), data.y)
        gradients.append(torch.autograd.grad(value, list(nsr.parameters())))
    for plain, short in zip(*gradients, strict=True):
        torch.testing.assert_close(plain, short, rtol=1e-11, atol=1e-14)


def test_rows_with_other_answers_are_not_folded_together():
    rows = Rows.of(torch.tensor([[1, 2], [2, 3], [3, 4]]), torch.tensor([1.0, 1.0, 0.0]))
    folded = fold(rows)
    assert sorted(folded.weight.tolist()) == pytest.approx([1 / 3, 2 / 3])


def test_rows_are_folded_by_default_where_the_loss_stays_the_same():
    history = fit(NSR(2), all_pairs(">"), SHORT)
    assert history.rows == 39
    assert fit(NSR(2), all_pairs(">"), SHORT, folded=False).rows == 400
    assert fit(MLP(2), all_pairs(">"), SHORT).rows == 400
    assert fit(NSR(2, constants=True), all_pairs(">"), SHORT).rows == 400


@pytest.mark.parametrize("module", [NSR(2, constants=True), MLP(2)], ids=repr)
def test_folding_is_an_error_where_it_changes_the_loss(module):
    with pytest.raises(ValueError) as error:
        fit(module, all_pairs(">"), SHORT, folded=True)
    assert str(error.value) == (
        f"rows can only be folded for a module that a shift of all inputs leaves unchanged, which {module!r} is not"
    )


def test_targets_between_zero_and_one_survive_folding():
    x = all_pairs(">").x
    rows = Rows.of(x, torch.where(x[:, 0] > x[:, 1], 0.9, 0.1))
    folded = fold(rows)
    assert len(folded) == 39
    assert sorted(set(folded.y.tolist())) == pytest.approx([0.1, 0.9])


def test_narrow_integers_do_not_wrap_around_when_folded():
    rows = Rows.of(torch.tensor([[3, 5], [5, 3], [250, 1]], dtype=torch.uint8), torch.tensor([0.0, 1.0, 1.0]))
    assert sorted(fold(rows).x[:, 1].tolist()) == [-249, -2, 2]


def test_floats_that_a_shift_would_round_are_left_alone():
    opposite = Rows.of(torch.tensor([[1e8, 1.0, 1.5], [1e8, 1.5, 1.0]]), torch.tensor([0.0, 1.0]))
    assert fold(opposite) is opposite
    rounded = Rows.of(torch.tensor([[169919.96875, 884921.25]]), torch.tensor([1.0]))
    assert fold(rounded) is rounded
    integers = Rows.of(torch.tensor([[1.0, 2.0], [2.0, 3.0]]), torch.tensor([1.0, 1.0]))
    assert len(fold(integers)) == 1


def test_each_member_may_have_different_targets():
    comparisons = list(COMPARISONS)
    targets = torch.stack([all_pairs(comparison).y for comparison in comparisons])
    together = Ensemble.of([NSR(2, generator=torch.Generator().manual_seed(7)) for _ in comparisons])
    fit(together, all_pairs(">").with_targets(targets), SHORT)
    for position, comparison in enumerate(comparisons):
        alone = NSR(2, generator=torch.Generator().manual_seed(7))
        fit(alone, all_pairs(comparison), SHORT)
        assert torch.equal(weights(together.member(position)), weights(alone)), comparison


# The loop


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_recipe_exact_learns_every_comparison(comparison):
    rows = all_pairs(comparison)
    block = ensemble("nsr", range(10))
    history = fit(block, rows, EXACT)
    assert ((block(rows.x)[..., 0] > 0.5) == (rows.y > 0.5)).all()
    assert (history.accuracy[-1] > 1 - 1e-6).all()
    assert (history.stopped < EXACT.epochs).all()


def test_members_stop_at_their_own_epoch_with_the_weights_they_had_then():
    block = ensemble("nsr", range(10))
    history = fit(block, all_pairs("="), EXACT)
    assert len(set(history.stopped.tolist())) > 1
    assert history.epochs[-1] == history.stopped.max()
    for seed in (0, 4, 9):
        alone = NSR(2, generator=torch.Generator().manual_seed(seed))
        stopped = fit(alone, all_pairs("="), EXACT).stopped
        assert stopped.item() == history.stopped[seed]
        assert torch.equal(weights(alone), weights(block.member(seed)))


def test_recipe_paper_never_stops_early():
    recipe = dataclasses.replace(PAPER, epochs=600, check_every=100)
    history = fit(NSR(2), all_pairs(">"), recipe)
    assert history.stopped.tolist() == [600]
    assert history.epochs == (100, 200, 300, 400, 500, 600)
    assert history.loss.shape == history.accuracy.shape == (6, 1)
    assert history.loss[-1] < history.loss[0]
    assert history.seconds > 0


def test_the_last_epoch_is_checked():
    history = fit(NSR(2), all_pairs(">"), dataclasses.replace(SHORT, epochs=70))
    assert history.epochs == (50, 70)


def test_the_number_of_threads_is_left_as_it_was():
    before = torch.get_num_threads()
    fit(NSR(2), all_pairs(">"), dataclasses.replace(SHORT, epochs=2))
    assert torch.get_num_threads() == before


def test_without_a_compiler_it_trains_eagerly(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("nsr.training.COMPILING_PAYS", 1)
    library.cache_clear()
    assert fit(NSR(2), all_pairs(">"), SHORT).engine == "eager"
    library.cache_clear()


def test_frozen_parameters_stay_as_they_are():
    nsr = NSR(2, generator=torch.Generator().manual_seed(0))
    nsr.v1.requires_grad_(False)
    before = nsr.v1.clone()
    history = fit(nsr, all_pairs(">"), EXACT)
    assert torch.equal(nsr.v1, before)
    assert history.accuracy[-1] > 1 - 1e-6


@pytest.mark.parametrize(
    "x", [torch.tensor([[0.1, 0.7], [0.9, 0.3]], dtype=torch.float64), torch.tensor([[1, 2], [4, 3]])]
)
def test_rows_are_learned_from_in_the_dtype_of_the_weights(x):
    trained = [MLP(2, generator=torch.Generator().manual_seed(0)) for _ in range(2)]
    for module, rows in zip(trained, (x, x.float()), strict=True):
        fit(module, (rows, torch.tensor([0.0, 1.0])), dataclasses.replace(EXACT, epochs=3), engine="eager")
    for one, two in zip(*(module.parameters() for module in trained), strict=True):
        assert torch.equal(one, two)


def test_integers_too_large_for_float32_are_learned_from_as_they_are():
    n = 2**40
    rows = Rows.of(torch.tensor([[n + 1, n], [n, n + 1]]), torch.tensor([1.0, 0.0]))
    history = fit(NSR(2, generator=torch.Generator().manual_seed(0)), rows, EXACT, folded=False)
    assert history.accuracy[-1] == 1


# Errors


def test_targets_outside_zero_and_one_are_errors():
    rows = Rows.of(torch.tensor([[1, 2], [2, 1]]), torch.tensor([0.0, 2.0]))
    with pytest.raises(ValueError, match=r"^targets must lie in \[0, 1\], got 0 to 2$"):
        fit(NSR(2), rows, EXACT)


def test_cross_entropy_needs_logits():
    module = torch.nn.Linear(2, 2)
    with pytest.raises(ValueError, match="^loss 'bce' needs a module with a logit method, which Linear"):
        fit(module, all_pairs(">"), EXACT)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"loss": "rmse"}, "loss must be one of mae, mse, bce, got 'rmse'"),
        ({"epochs": 0}, "epochs must be an integer of at least 1, got 0"),
        ({"check_every": 0}, "check_every must be an integer of at least 1, got 0"),
        ({"patience": -1}, "patience must be an integer of at least 0, got -1"),
        ({"learning_rate": 0.0}, "learning_rate must be positive and finite, got 0.0"),
        ({"learning_rate": math.inf}, "learning_rate must be positive and finite, got inf"),
    ],
)
def test_bad_recipes_are_errors_in_a_sentence(changes, text):
    with pytest.raises(ValueError) as error:
        dataclasses.replace(PAPER, **changes)
    assert str(error.value) == text


# Numbers, rows for each member, sparsity


def piecewise(generator: torch.Generator) -> Piecewise:
    return Piecewise(NSR(2, generator=generator), generator=generator)


def test_members_with_different_rows_are_their_seeds_in_any_block_and_trained_alone():
    rows = [function_of_all_pairs("abs", np.random.default_rng(seed)) for seed in range(3)]
    rows = [Rows.of(each.x + seed, each.y) for seed, each in enumerate(rows)]
    recipe = dataclasses.replace(SHORT, sparsity=0.5)
    block = Ensemble(piecewise, range(3))
    fit(block, Rows.each(rows), recipe)
    for seed in range(3):
        single = Ensemble(piecewise, [seed])
        fit(single, Rows.each([rows[seed]]), recipe)
        assert torch.equal(weights(block.member(seed)), weights(single.member(seed)))
        alone = piecewise(torch.Generator().manual_seed(seed))
        fit(alone, rows[seed], recipe)  # rows that are shared are multiplied in another order
        torch.testing.assert_close(weights(block.member(seed)), weights(alone), rtol=1e-3, atol=1e-4)


def test_the_squared_error_and_its_gradient_are_the_weighted_ones_of_the_book():
    line = torch.nn.Linear(1, 1, bias=False, dtype=torch.float64)
    torch.nn.init.constant_(line.weight, 2.0)
    x, y, weight = torch.tensor([[1.0], [3.0]]).double(), torch.tensor([5.0, 4.0]).double(), torch.tensor([0.25, 0.75])
    value = Objective(line, "mse")(weight.double(), x, y)
    (slope,) = torch.autograd.grad(value, [line.weight])
    assert value.item() == 0.25 * (2 - 5) ** 2 + 0.75 * (6 - 4) ** 2
    assert slope.item() == 2 * (0.25 * (2 - 5) * 1 + 0.75 * (6 - 4) * 3)


def test_numbers_are_right_within_the_tolerance():
    module = piecewise(torch.Generator().manual_seed(0))
    rows = function_of_all_pairs("abs", np.random.default_rng(0))
    with torch.no_grad():
        expected = ((module(rows.x) - rows.y).abs() <= 3).double().mean()
    recipe = dataclasses.replace(SHORT, epochs=1, tolerance=3.0, learning_rate=1e-12)
    assert fit(module, rows, recipe).accuracy[-1].item() == pytest.approx(expected.item(), abs=1e-6)


def test_sparsity_pulls_weights_to_integers_late_and_leaves_the_others_alone():
    rows = function_of_all_pairs("abs", np.random.default_rng(0))
    results = {}
    for sparsity in (0.0, 1e4):
        module = piecewise(torch.Generator().manual_seed(1))
        fit(module, rows, dataclasses.replace(SHORT, sparsity=sparsity))
        results[sparsity] = module
    assert torch.equal(results[1e4].arms.weight, results[1e4].arms.weight.round())
    assert not torch.equal(results[0.0].arms.weight, results[0.0].arms.weight.round())
    assert not torch.equal(results[1e4].gate.v1, results[1e4].gate.v1.round())


def test_settings_that_came_later_are_no_part_of_the_identity_of_old_results():
    assert set(PAPER.settings()) == {"name", "loss", "epochs", "learning_rate", "check_every", "patience"}
    assert dataclasses.replace(PAPER, sparsity=0.3).settings()["sparsity"] == 0.3
    with pytest.raises(ValueError, match=r"^sparsity must be finite and not negative, got -1.0$"):
        dataclasses.replace(PAPER, sparsity=-1.0)
    with pytest.raises(ValueError, match=r"^members must have rows of one shape, got \[\(400, 2\), \(2, 2\)\]$"):
        Rows.each([all_pairs(">"), Rows.of(torch.zeros(2, 2), torch.zeros(2))])


# Data as people have it

X, Y = [[1, 2], [5, 5], [2, 1], [7, 3]], [0, 0, 1, 1]


@pytest.mark.parametrize(
    "data",
    [
        (X, Y),
        (np.array(X), np.array(Y)),
        (torch.tensor(X), torch.tensor(Y, dtype=torch.bool)),
        (pd.DataFrame(X), pd.Series(Y)),
        Rows.of(X, Y),
    ],
    ids=["lists", "arrays", "tensors", "frame", "rows"],
)
def test_fit_takes_a_pair_of_whatever_holds_numbers(data):
    expected, model = (NSR(2, generator=torch.Generator().manual_seed(0)) for _ in range(2))
    fit(expected, Rows.of(torch.tensor(X), torch.tensor(Y).double()), EXACT)
    assert fit(model, data, EXACT).accuracy[-1] == 1
    assert torch.equal(weights(model), weights(expected))
    assert fit(Ensemble.of([NSR(2)]), data, SHORT).rows == 4


def test_other_data_is_refused_before_anything_is_trained():
    model = NSR(2)
    before = weights(model)
    with pytest.raises(ValueError, match=r"^data must be Rows or a pair \(x, y\), got a list of 4$"):
        fit(model, X, EXACT)
    with pytest.raises(ValueError, match="^y must hold numbers that fit int64 or float64, got an array of dtype <U3$"):
        fit(model, (X, ["no", "no", "yes", "yes"]), EXACT)
    assert torch.equal(weights(model), before)


def test_a_recipe_needs_no_name():
    recipe = Recipe(loss="mae", epochs=3)
    assert recipe.name == recipe.settings()["name"] == "custom"
    assert (PAPER.settings()["name"], EXACT.settings()["name"]) == ("paper", "exact")


def test_progress_is_reported_at_each_check():
    shares = []
    fit(NSR(2), (X, Y), SHORT, on_progress=shares.append)
    assert shares == [50 / 120, 100 / 120, 1]


@pytest.mark.usefixtures("unchecked")
def test_a_wrong_model_or_recipe_is_refused_in_a_sentence():
    rows = all_pairs(">")
    with pytest.raises(ValueError, match=r"^recipe must be a Recipe such as EXACT, got 'exact'$"):
        fit(NSR(2), rows, "exact")
    with pytest.raises(ValueError, match=r"^model must be an Ensemble or a module such as NSR\(2\), got <class"):
        fit(NSR, rows, EXACT)
    with pytest.raises(ValueError, match=r"^learning_rate must be positive and finite, got '0.1'$"):
        Recipe(loss="bce", epochs=5, learning_rate="0.1")
    with pytest.raises(ValueError, match=r"^epochs must be an integer of at least 1, got True$"):
        Recipe(loss="bce", epochs=True)
    with pytest.raises(ValueError, match=r"^seeds must be several, as in range\(3\), got 3$"):
        Ensemble(lambda generator: NSR(2, generator=generator), 3)
    with pytest.raises(ValueError, match=r"^gate must be a module that compares, such as NSR\(2\), got 2$"):
        Piecewise(2)


@pytest.mark.parametrize("patience", [1, 3])
def test_a_member_stops_after_as_many_right_checks_in_a_row_as_patience_says(patience):
    rows = all_pairs(">")
    recipe = Recipe(loss="bce", epochs=400, learning_rate=1e-2, check_every=5, patience=patience)
    history = fit(Ensemble(lambda g: NSR(2, generator=g), [0]), rows, recipe)
    accuracy = dict(zip(history.epochs, (history.accuracy[:, 0] > 1 - 1e-5).tolist(), strict=True))
    stopped = int(history.stopped[0])
    assert stopped < recipe.epochs
    streak = [epoch for epoch in accuracy if epoch <= stopped]
    assert all(accuracy[epoch] for epoch in streak[-patience:])
    assert not accuracy[streak[-patience - 1]]


def test_the_recipe_of_the_paper_is_what_section_4_1_says():
    assert (PAPER.loss, PAPER.epochs, PAPER.learning_rate, PAPER.patience) == ("mae", 50_000, 1e-3, 0)


def test_the_history_of_a_stopped_member_stays_although_torch_trains_it_on():
    members = [NAU(1), NAU(1)]
    for member, weight in zip(members, (0.5, -0.9), strict=True):
        with torch.no_grad():
            member.weight.fill_(weight)
    # The first step takes a weight of 0.5 to 0.4, which is near enough to 0.35; momentum takes it past that.
    recipe = Recipe(loss="mse", epochs=5, learning_rate=0.1, check_every=1, patience=1, tolerance=0.06)
    both = Ensemble.of(members)
    history = fit(both, ([[1.0]], [0.35]), recipe, engine="eager")
    assert history.stopped.tolist() == [1, 5]
    assert history.accuracy[:, 0].tolist() == [1.0] * 5
    assert len(set(history.loss[:, 0].tolist())) == 1
    assert both.member(0).weight.item() == pytest.approx(0.4)


def test_the_first_members_have_the_first_rows():
    each = [Rows(torch.randn(4, 2), torch.randn(4), torch.rand(4)) for _ in range(5)]
    some, first = _rows_of_members(Rows.each(each), 3), Rows.each(each[:3])
    assert (some.x.dim(), some.y.dim(), some.weight.dim()) == (3, 2, 2)
    for name in ("x", "y", "weight"):
        torch.testing.assert_close(getattr(some, name), getattr(first, name))


def test_an_error_about_rows_names_the_shape_that_was_given():
    x = torch.arange(6).repeat(100, 1).reshape(-1, 3)  # 200 rows, one or two when folded
    with pytest.raises(ValueError, match=r"x must have 2 numbers in its last axis, got shape \(200, 3\)"):
        fit(NSR(2, generator=torch.Generator().manual_seed(0)), (x, torch.ones(200)), EXACT)


# Borders


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"epochs": 2.5}, "epochs must be an integer of at least 1, got 2.5"),
        ({"tolerance": -0.1}, "tolerance must be finite and not negative, got -0.1"),
        ({"tolerance": math.inf}, "tolerance must be finite and not negative, got inf"),
        ({"sparsity": math.inf}, "sparsity must be finite and not negative, got inf"),
        ({"sparsity": "1"}, "sparsity must be finite and not negative, got '1'"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_settings_beyond_their_borders_are_errors(changes, text):
    with pytest.raises(ValueError) as error:
        dataclasses.replace(PAPER, **changes)
    assert str(error.value) == text


def test_negative_targets_are_errors():
    with pytest.raises(ValueError, match=r"^targets must lie in \[0, 1\], got -1 to 1$"):
        fit(NSR(2), ([[1, 2], [2, 1]], [-1.0, 1.0]), EXACT)


def test_by_default_the_rows_are_checked_every_thousand_epochs_and_nothing_stops_early():
    history = fit(NSR(2, generator=torch.Generator().manual_seed(0)), (X, Y), Recipe(loss="mae", epochs=2_500))
    assert history.epochs == (1_000, 2_000, 2_500)
    assert history.stopped.tolist() == [2_500]
    assert history.accuracy[:, 0].tolist() == [1.0] * 3


def test_recipe_exact_checks_every_twenty_epochs_up_to_two_thousand():
    contradictory = Rows.of([[1, 2], [1, 2]], [0.0, 1.0])
    history = fit(NSR(2, generator=torch.Generator().manual_seed(0)), contradictory, EXACT)
    assert history.epochs == tuple(range(20, 2_001, 20))
    assert history.stopped.tolist() == [2_000]


@pytest.mark.parametrize(("recipe", "step"), [(PAPER, 1e-3), (EXACT, 1e-2)])
def test_the_first_step_of_adam_is_the_learning_rate(recipe, step):
    module = NSR(2, generator=torch.Generator().manual_seed(0))
    before = weights(module)
    fit(module, ([[1, 2], [5, 5], [2, 1]], [1, 0, 1]), dataclasses.replace(recipe, epochs=1), engine="eager")
    assert (weights(module) - before).abs().max().item() == pytest.approx(step, rel=1e-3)


def line(weight: float) -> NAU:
    nau = NAU(1)
    torch.nn.init.constant_(nau.weight, weight)
    return nau


@pytest.mark.parametrize(("tolerance", "right"), [(None, 0.5), (0.25, 1.0), (0.2, 0.5)])
def test_a_number_is_right_up_to_the_tolerance_which_is_a_tenth_by_default(tolerance, right):
    recipe = Recipe(
        loss="mae", epochs=1, learning_rate=1e-12, **({} if tolerance is None else {"tolerance": tolerance})
    )
    history = fit(line(0.5), ([[1.0], [1.0]], [0.59, 0.75]), recipe)
    assert history.accuracy.tolist() == [[right]]


def test_a_half_is_a_no_for_the_target_and_for_the_answer():
    register = NSR(2)
    for parameter in register.parameters():
        torch.nn.init.zeros_(parameter)  # it answers a half
    recipe = Recipe(loss="mae", epochs=1, learning_rate=1e-12)
    for target, right in ((0.5, 1.0), (0.0, 1.0), (1.0, 0.0)):
        assert fit(register, ([[1, 2]], [target]), recipe).accuracy.item() == right


@pytest.mark.parametrize(("rows", "engine"), [(199_999, "eager"), (200_000, "compiled")])
def test_compiling_pays_from_two_hundred_thousand_rows_in_all_epochs(rows, engine, monkeypatch):
    monkeypatch.setattr("nsr.training.has_compiler", lambda: True)
    monkeypatch.setattr("nsr.training.compiled_or_eager", lambda *_: functools.partial(adam_step))
    x = torch.arange(rows).unsqueeze(-1) / rows
    recipe = Recipe(loss="mae", epochs=1)
    nau = NAU(1, dtype=torch.float64)
    assert fit(nau, (x, x[:, 0]), recipe).engine == engine
    half = x[: rows // 2]
    assert fit(nau, (half, half[:, 0]), dataclasses.replace(recipe, epochs=2)).engine == engine


def test_training_runs_in_one_thread_and_leaves_the_number_as_it_was():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        seen = []
        fit(NSR(2), (X, Y), SHORT, on_progress=lambda _: seen.append(torch.get_num_threads()))
        assert (set(seen), torch.get_num_threads()) == ({1}, 2)
    finally:
        torch.set_num_threads(before)


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match=r"^unknown engine 'fast': choose from native, compiled, eager$"):
        fit(NSR(2), (X, Y), SHORT, engine="fast")


def test_the_seconds_are_those_of_the_training():
    began = time.perf_counter()
    history = fit(NSR(2), (X, Y), dataclasses.replace(SHORT, epochs=1), engine="eager")
    assert 0 < history.seconds <= time.perf_counter() - began


def test_the_last_member_is_repeated_until_a_block_is_full():
    assert _padded(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 4).tolist() == [[1, 2], [3, 4], [3, 4], [3, 4]]
    assert _padded(torch.tensor([[1.0]]), 3).tolist() == [[1], [1], [1]]
    assert _padded(torch.tensor([1.0, 2.0]), 2).tolist() == [1, 2]
