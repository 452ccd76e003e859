import dataclasses

import numpy as np
import pytest
import torch
from torch.nn import functional

from nsr.data import Digits, small_digits
from nsr.data.digits import Pictures
from nsr.errors import InputError
from nsr.native.library import library
from nsr.nn import DigitReader
from nsr.paper.experiments import digits
from nsr.paper.experiments.digits import BINS, EXPERIMENT, SHOWN, DigitsCell, after, read_as, run_cell
from nsr.paper.records import identity
from nsr.paper.sweep.plan import plan


def run(cell: DigitsCell, name: str = "exact", epochs: int = 2, seeds=(0,), **changes):
    return run_cell(cell, dataclasses.replace(EXPERIMENT.recipes[name], epochs=epochs, **changes), list(seeds))


@pytest.fixture(scope="module")
def learned():
    """A register after ten epochs, which take a second."""
    (metrics,) = run(DigitsCell("nsr", ">", "8x8"), epochs=10)
    return metrics


def test_profile_paper_is_mnist_and_the_others_need_no_network():
    for name, images in (("smoke", "8x8"), ("quick", "8x8"), ("paper", "MNIST")):
        cells = EXPERIMENT.cells_of("exact", EXPERIMENT.profiles[name])
        assert {cell.images for cell in cells} == {images}
        assert [(cell.model, cell.comparison) for cell in cells[:6]] == [
            (model, comparison) for comparison in (">", "=") for model in ("classifier", "mlp", "nsr")
        ]
        assert [(cell.model, cell.pairs) for cell in cells[6:]] == [
            (model, pairs) for model in ("mlp", "nsr") for pairs in ("of 0 to 4", "3 apart")
        ]
        assert len(EXPERIMENT.cells_of("paper", EXPERIMENT.profiles[name])) == 3
    paper, exact = EXPERIMENT.recipes["paper"], EXPERIMENT.recipes["exact"]
    assert (paper.loss, paper.epochs, paper.learning_rate, paper.scale) == ("mae", 20, 1e-3, 10.0)
    assert (exact.loss, exact.epochs) == ("bce", 20)
    assert EXPERIMENT.profiles["paper"].seeds == 10


def test_a_register_reads_digits_without_labels(learned):
    assert learned["accuracy"] == learned[after(10)] > 0.95
    assert learned["accuracy"] > learned[after(1)]
    assert learned["digits"] > 0.8
    assert learned["trained on"] == 1347
    shares = np.array([[learned[read_as(digit, start)] for start in BINS] for digit in range(10)])
    assert shares.sum(1) == pytest.approx(1, abs=1e-3)
    means = shares @ np.array(BINS)
    assert np.all(np.diff(means) > 0) or np.all(np.diff(means) < 0)


def test_accuracies_of_equal_and_unequal_pairs_make_up_the_total(learned):
    labels = small_digits().test.labels
    equal = torch.stack([(part.unsqueeze(1) == part).double().mean() for part in labels.split(50)]).mean().item()
    total = equal * learned["equal"] + (1 - equal) * learned["unequal"]
    assert learned["accuracy"] == pytest.approx(total)


def test_a_classifier_learns_digits_and_answers_pairs():
    (metrics,) = run(DigitsCell("classifier", "=", "8x8"), epochs=5)
    assert list(metrics) == [
        "trained on",
        *(after(epoch, what) for epoch in range(1, 6) for what in ("pairs", "digits")),
        *("accuracy", "equal", "unequal", "digits"),
    ]
    assert metrics["digits"] == metrics[after(5, "digits")] > 0.9
    assert metrics["accuracy"] == metrics[after(5)] > 0.95


@pytest.mark.parametrize(
    ("model", "name", "comparison"), [("mlp", "paper", ">"), ("nsr", "paper", "="), ("mlp", "exact", "=")]
)
def test_every_model_runs_under_either_recipe(model, name, comparison):
    (metrics,) = run(DigitsCell(model, comparison, "8x8"), name, epochs=1)
    assert {after(1), "accuracy", "equal", "unequal", "digits", read_as(9, 8.75)} <= set(metrics)
    assert after(2) not in metrics


@pytest.mark.parametrize("pairs", ["of 0 to 4", "3 apart"])
def test_pairs_that_are_not_shown_teach_nothing(pairs, monkeypatch):
    """A set whose digits above 4 are labelled otherwise trains the same; pairs far apart: see the next test."""
    data = small_digits()
    if pairs == "of 0 to 4":
        labels = torch.where(data.train.labels > 4, 14 - data.train.labels, data.train.labels)
        other = dataclasses.replace(data, train=Pictures(data.train.images, labels))
        monkeypatch.setattr(digits, "_load", lambda *_: other)
        (changed,) = run(DigitsCell("nsr", ">", "8x8", pairs), epochs=1)
        monkeypatch.undo()
        (metrics,) = run(DigitsCell("nsr", ">", "8x8", pairs), epochs=1)
        assert changed == metrics
        assert metrics["trained on"] == (data.train.labels <= 4).sum()
    else:
        (metrics,) = run(DigitsCell("nsr", ">", "8x8", pairs), epochs=1)
        assert metrics["trained on"] == 1347
    a, b = torch.arange(10).unsqueeze(1), torch.arange(10).unsqueeze(0)
    assert SHOWN[pairs](a, b).sum() == {"of 0 to 4": 25, "3 apart": 58}[pairs]
    assert {"shown", "not shown"} <= set(metrics)


@pytest.mark.parametrize(("model", "comparison"), [("nsr", ">"), ("mlp", "="), ("classifier", ">")])
def test_without_a_compiler_a_seed_is_as_accurate(model, comparison, monkeypatch):
    """Batches, rates and lambda are the same; rounding is not, so accuracies agree, not weights."""
    cell = DigitsCell(model, comparison, "8x8")
    (in_c,) = run(cell, epochs=3)
    monkeypatch.setattr(digits.DigitTraining, "of", lambda *_: None)
    (in_torch,) = run(cell, epochs=3)
    for epoch in (1, 2, 3):
        assert in_torch[after(epoch)] == pytest.approx(in_c[after(epoch)], abs=0.01)


@pytest.mark.skipif(library() is None, reason="there is no C compiler, or NSR_NATIVE is 0")
def test_steps_in_c_that_differ_from_torch_are_not_taken(monkeypatch):
    plain, cell = digits._loss, DigitsCell("nsr", ">", "8x8")
    monkeypatch.setattr(digits.DigitTraining, "of", lambda *_: None)
    expected = run(cell, epochs=1, starts=1)
    monkeypatch.undo()
    calls = []

    def off_at_first(*arguments):
        loss = plain(*arguments)

        def other(batch: torch.Tensor) -> torch.Tensor:
            calls.append(len(batch))
            return (1.01 if len(calls) == 1 else 1.0) * loss(batch)

        return other

    monkeypatch.setattr(digits, "_loss", off_at_first)
    with pytest.warns(UserWarning, match=r"is trained by torch, because in C the loss is off by "):
        assert run(cell, epochs=1, starts=1) == expected
    assert len(calls) == 1 + 27


def test_lambda_changes_evenly_to_the_last_step_in_c_and_in_torch(monkeypatch):
    data, cell = small_digits(), DigitsCell("nsr", ">", "8x8")
    recipe = dataclasses.replace(
        EXPERIMENT.recipes["exact"], epochs=2, first_scale=1.0, order_scale=5.0, order_selection=0.0
    )
    learned = []
    for training in (digits._in_c, lambda *_: None):
        monkeypatch.setattr(digits, "_in_c", training)
        module = digits._module(cell, recipe, 8, torch.Generator().manual_seed(0))
        generator, scales = torch.Generator().manual_seed(1), []
        for _ in digits._epochs(cell, recipe, module, data, torch.arange(150), generator):
            scales.append(module.comparator.scale)
        assert scales == pytest.approx([1 + 2 * 4 / 5, 5])  # six steps
        learned.append(torch.cat([parameter.detach().flatten() for parameter in module.comparator.parameters()]))
    assert torch.allclose(learned[0], learned[1], atol=1e-4)


def test_of_several_starts_the_least_training_loss_is_kept(monkeypatch):
    """The second start differs from the first; the test images do not choose."""
    starts = iter([(0.3, {"accuracy": 0.9}), (0.1, {"accuracy": 0.7}), (0.2, {"accuracy": 0.8})])
    monkeypatch.setattr(digits, "_start", lambda *_: next(starts))
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], starts=3)
    assert digits.run_on(DigitsCell("nsr", ">", "8x8"), recipe, 0, small_digits()) == {"accuracy": 0.7}
    monkeypatch.undo()
    cell, once = DigitsCell("nsr", ">", "8x8"), dataclasses.replace(recipe, starts=1, epochs=1)
    generator = torch.Generator().manual_seed(0)
    first, second = (digits._start(cell, once, small_digits(), generator) for _ in range(2))
    assert first != second
    kept = digits.run_on(cell, dataclasses.replace(once, starts=2), 0, small_digits())
    assert kept == min(first, second)[1]


@pytest.mark.parametrize("in_c", [True, False])
def test_the_loss_of_an_epoch_is_that_of_its_batches(in_c, monkeypatch):
    data, cell = small_digits(), DigitsCell("classifier", ">", "8x8")
    recipe = dataclasses.replace(EXPERIMENT.recipes["paper"], epochs=2, learning_rate=1e-12)
    if not in_c:
        monkeypatch.setattr(digits, "_in_c", lambda *_: None)
    module = digits._module(cell, recipe, 8, torch.Generator().manual_seed(0))
    expected = functional.cross_entropy(module.logits(data.standard(data.train.images[:100])), data.train.labels[:100])
    trained = digits._epochs(cell, recipe, module, data, torch.arange(100), torch.Generator().manual_seed(1))
    assert [loss for _, loss, _ in trained] == pytest.approx([expected.item()] * 2, rel=1e-5)


def test_small_images_may_have_a_rate_of_their_own(monkeypatch):
    seen, plain = [], digits.schedule
    monkeypatch.setattr(
        digits, "schedule", lambda rates, *rest, **cycle: seen.append(rates) or plain(rates, *rest, **cycle)
    )
    cell, changes = DigitsCell("mlp", ">", "8x8"), {"learning_rate": 0.5, "comparator_rate": 2.0}
    run(cell, "paper", epochs=1, small_rate=0.1, **changes)
    run(cell, "paper", epochs=1, **changes)
    assert seen == [pytest.approx([0.1, 0.2]), pytest.approx([0.5, 1.0])]


def register(comparison: str, recipe):
    return digits._module(DigitsCell("nsr", comparison, "8x8"), recipe, 8, torch.Generator().manual_seed(0)).comparator


@pytest.mark.parametrize(
    ("comparison", "changes", "zero_bit"),
    [("=", {"selection": 3.0, "zero_bit": 1.0}, 1.0), (">", {"order_selection": 3.0, "zero_bit": 1.0}, 0.0)],
)
def test_a_register_may_select_from_the_start_and_weigh_zero_bits_for_equality(comparison, changes, zero_bit):
    recipe = EXPERIMENT.recipes["paper"]
    plain, set_up = (register(comparison, r) for r in (recipe, dataclasses.replace(recipe, **changes)))
    assert torch.allclose(set_up.v1 - plain.v1, torch.tensor([[3.0], [0.0]]))
    assert torch.allclose(set_up.v2 - plain.v2, torch.tensor([[0.0], [3.0]]))
    assert torch.allclose(set_up.w_zero - plain.w_zero, torch.full((10,), zero_bit))
    assert torch.equal(set_up.w_sign, plain.w_sign)


@pytest.mark.parametrize(
    ("model", "comparison", "changes"),
    [
        ("nsr", ">", {"selection": 7.0, "zero_bit": 7.0, "order_selection": 7.0, "order_scale": 7.0}),
        ("nsr", "=", {"order_selection": 7.0, "order_scale": 7.0}),
        ("mlp", ">", {"order_selection": 7.0, "order_scale": 7.0, "first_scale": 7.0, "scale": 7.0}),
        ("mlp", "=", {"selection": 7.0, "zero_bit": 7.0, "order_selection": 7.0, "order_scale": 7.0}),
        ("classifier", ">", {"order_selection": 7.0, "order_scale": 7.0, "comparator_rate": 7.0, "starts": 3}),
    ],
)
def test_settings_of_one_cell_do_not_change_the_records_of_others(model, comparison, changes):
    cell = DigitsCell(model, comparison, "8x8")
    assert run(cell, epochs=1, **changes) == run(cell, epochs=1)


def test_selections_are_sharp_where_training_hides_distances_between_digits_that_it_shows():
    exact = EXPERIMENT.recipes["exact"]
    for pairs, sharp in (("all", False), ("of 0 to 4", False), ("3 apart", True)):
        recipe = exact.of_cell(DigitsCell("nsr", ">", "8x8", pairs))
        assert (recipe.order_selection > 0) == (recipe.order_scale > 0) == sharp
    cell, changes = DigitsCell("nsr", ">", "8x8", "3 apart"), {"order_selection": 0.0, "order_scale": 0.0}
    assert run(cell, epochs=1) != run(cell, epochs=1, **changes)


@pytest.mark.parametrize(("comparison", "last"), [(">", 2.0), ("=", 5.0)])
def test_lambda_for_an_order_may_end_elsewhere(comparison, last):
    data, cell = small_digits(), DigitsCell("nsr", comparison, "8x8")
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], epochs=1, scale=5.0, order_scale=2.0)
    module = digits._module(cell, recipe, 8, torch.Generator().manual_seed(0))
    list(digits._epochs(cell, recipe, module, data, torch.arange(100), torch.Generator().manual_seed(1)))
    assert module.comparator.scale == pytest.approx(last)


def test_selections_of_recipe_exact_stay_sharp_so_that_answers_do_not_turn_round_beyond_the_shown_distances():
    """A register that begins with weak selections learns a term against the distance, which wins far apart."""
    data, cell = small_digits(), DigitsCell("nsr", ">", "8x8", "3 apart")
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], epochs=10)
    logits = []
    for changes in ({}, {"order_selection": 0.0}):
        module = digits._module(cell, dataclasses.replace(recipe, **changes), 8, torch.Generator().manual_seed(0))
        for _ in digits._epochs(cell, recipe, module, data, torch.arange(1347), torch.Generator().manual_seed(1)):
            pass
        apart = torch.tensor([[-9.0, 0.0], [-3.0, 0.0], [3.0, 0.0], [9.0, 0.0]])
        logits.append(module.comparator.logit(apart).detach())
    sharp, weak = logits
    assert sharp[0].item() == pytest.approx(sharp[1].item(), abs=0.01)
    assert sharp[3].item() == pytest.approx(sharp[2].item(), abs=0.01)
    assert (weak[0] - weak[1]).abs() > 0.1


def test_a_batch_without_pairs_that_are_shown_has_a_loss():
    data = small_digits()
    cell, recipe = DigitsCell("nsr", ">", "8x8", "3 apart"), EXPERIMENT.recipes["exact"]
    module = digits._module(cell, recipe, 8, torch.Generator().manual_seed(0))
    apart = torch.stack([(data.train.labels == digit).nonzero()[0, 0] for digit in (0, 9)])
    assert digits._loss(cell, recipe, module, data)(apart).isfinite()


def test_only_shown_pairs_have_a_gradient():
    data = small_digits()
    cell, recipe = DigitsCell("nsr", ">", "8x8", "3 apart"), EXPERIMENT.recipes["exact"]
    module = digits._module(cell, recipe, 8, torch.Generator().manual_seed(0))
    z = torch.zeros(50, 50, requires_grad=True)
    module.logit = lambda _: z
    digits._loss(cell, recipe, module, data)(torch.arange(50)).backward()
    labels = data.train.labels[:50]
    first, second = labels.unsqueeze(1), labels.unsqueeze(0)
    assert torch.equal(z.grad != 0, (first - second).abs() <= 3)
    held, not_held = z.grad[first > second].sum(), z.grad[first <= second].sum()
    assert held.item() == pytest.approx(-0.25)  # either side weighs a half, and each has the slope of a half
    assert not_held.item() == pytest.approx(0.25)


def test_a_seed_has_the_same_record_in_any_block_and_is_an_item_of_its_own():
    cell = DigitsCell("nsr", "=", "8x8")
    together = run(cell, seeds=[0, 1])
    assert run(cell, seeds=[1]) == [together[1]]
    assert together[0] != together[1]
    size = EXPERIMENT.profiles["quick"]
    items = plan(EXPERIMENT, size, ["exact"], range(3), keep=lambda other: other == cell)
    assert [tuple(item.seeds) for item in items] == [(0,), (1,), (2,)]
    shorter = size.shorten(EXPERIMENT.recipes["exact"])
    done = {identity("digits", EXPERIMENT.revision, cell, shorter, "quick", 1)}
    items = plan(EXPERIMENT, size, ["exact"], range(3), done=done, keep=lambda other: other == cell)
    assert [tuple(item.seeds) for item in items] == [(0,), (2,)]


class Written(Digits):
    """Images whose first pixel is a number, and nothing else."""

    def standard(self, images: torch.Tensor) -> torch.Tensor:
        return images.float()


def written(numbers: torch.Tensor, labels: torch.Tensor) -> Pictures:
    images = torch.zeros(len(labels), 8, 8, dtype=torch.uint8)
    images[:, 0, 0] = numbers.to(torch.uint8)
    return Pictures(images, labels)


def number_line(read, train: torch.Tensor, test: torch.Tensor, test_labels: torch.Tensor | None = None):
    """What a network that reads the pixel through a function measures."""
    reader = DigitReader(8)
    reader.forward = lambda images: read(images[:, 0, 0])
    labels = test if test_labels is None else test_labels
    data = Written("written", 16, written(train, train), written(test, labels))
    return digits._number_line(reader, data, torch.arange(len(train)), torch.Generator().manual_seed(0))


def test_a_network_that_counts_downwards_is_read_as_well():
    data = small_digits()
    metrics = number_line(lambda pixel: 9 - pixel, data.train.labels, data.test.labels)
    assert metrics["digits"] == 1
    assert all(metrics[read_as(digit, min(9.0 - digit, 8.75))] == 1 for digit in range(10))


def test_test_images_and_their_labels_do_not_decide_how_numbers_are_mapped_to_digits():
    """Test labels that count the other way are all wrong: a map fixed on test images would find them all right."""
    data = small_digits()
    backwards = 9 - data.test.labels
    metrics = number_line(lambda pixel: pixel, data.train.labels, data.test.labels, backwards)
    assert metrics["digits"] == 0
    shifted = (data.test.labels + 1) % 10
    metrics = number_line(lambda pixel: pixel, data.train.labels, data.test.labels, shifted)
    assert metrics["digits"] == 0


def test_what_a_trained_network_reads_is_mapped_without_test_labels():
    """Of a network and its test labels backwards, no image can be right either way."""
    data, cell = small_digits(), DigitsCell("nsr", ">", "8x8")
    backwards = dataclasses.replace(data, test=Pictures(data.test.images, 9 - data.test.labels))
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], epochs=5, starts=1)
    right, wrong = (digits.run_on(cell, recipe, 0, images)["digits"] for images in (data, backwards))
    assert right > 0.6
    assert wrong <= 1 - right


def test_only_labelled_images_decide_how_numbers_are_mapped_to_digits(monkeypatch):
    """The images that fix the map are 100 training images, which the generator chooses."""
    data, seen, plain = small_digits(), [], digits._number_map
    monkeypatch.setattr(digits, "_number_map", lambda *labelled: seen.append(labelled) or plain(*labelled))
    number_line(lambda pixel: pixel / 2, data.train.labels, data.test.labels)
    chosen = data.train.labels[torch.randperm(1347, generator=torch.Generator().manual_seed(0))[:100]]
    ((numbers, labels),) = seen
    assert torch.equal(labels, chosen)
    assert torch.equal(numbers, chosen / 2)


def test_preparing_looks_for_the_images_before_anything_runs(tmp_path):
    EXPERIMENT.prepare(EXPERIMENT.cells_of("paper", EXPERIMENT.profiles["quick"])[0], None, lambda _: None)
    with pytest.raises(InputError, match=r"^there is no train-images-idx3-ubyte.gz in "):
        EXPERIMENT.prepare(EXPERIMENT.cells[0], tmp_path, lambda _: None)
