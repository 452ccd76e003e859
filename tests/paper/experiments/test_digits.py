import dataclasses

import numpy as np
import pytest
import torch

from nsr.data import Digits, small_digits
from nsr.data.digits import Pictures
from nsr.errors import InputError
from nsr.nn import DigitReader
from nsr.paper.experiments import digits
from nsr.paper.experiments.digits import BINS, EXPERIMENT, SHOWN, DigitsCell, after, read_as, run_cell
from nsr.paper.records import identity
from nsr.paper.sweep.plan import plan


def run(cell: DigitsCell, name: str = "exact", epochs: int = 2, seeds=(0,)):
    return run_cell(cell, dataclasses.replace(EXPERIMENT.recipes[name], epochs=epochs), list(seeds))


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


@pytest.mark.outer
def test_compiled_or_not_a_seed_is_as_accurate(unchecked, monkeypatch):
    cell, plain = DigitsCell("nsr", ">", "8x8"), digits._loss
    (eager,) = run(cell, epochs=3)
    monkeypatch.setattr(digits, "_loss", lambda *arguments: torch.compile(plain(*arguments), backend="aot_eager"))
    (compiled,) = run(cell, epochs=3)
    assert compiled["accuracy"] == pytest.approx(eager["accuracy"], abs=0.01)


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
    assert [item.seeds for item in items] == [(0,), (1,), (2,)]
    shorter = size.shorten(EXPERIMENT.recipes["exact"])
    done = {identity("digits", EXPERIMENT.revision, cell, shorter, "quick", 1)}
    items = plan(EXPERIMENT, size, ["exact"], range(3), done=done, keep=lambda other: other == cell)
    assert [item.seeds for item in items] == [(0,), (2,)]


def test_a_network_that_counts_downwards_is_read_as_well():
    data = small_digits()
    down = DigitReader(8)
    down.forward = lambda images: 9 - images[:, 0, 0]

    def written(labels: torch.Tensor) -> Pictures:
        images = torch.zeros(len(labels), 8, 8, dtype=torch.uint8)
        images[:, 0, 0] = labels.to(torch.uint8)
        return Pictures(images, labels)

    class Plain(Digits):
        def standard(self, images: torch.Tensor) -> torch.Tensor:
            return images.float()

    plain = Plain("written", 16, written(data.train.labels), written(data.test.labels))
    metrics = digits._number_line(down, plain, torch.arange(1347), torch.Generator().manual_seed(0))
    assert metrics["digits"] == 1
    assert all(metrics[read_as(digit, min(9.0 - digit, 8.75))] == 1 for digit in range(10))


def test_preparing_looks_for_the_images_before_anything_runs(tmp_path):
    EXPERIMENT.prepare(EXPERIMENT.cells_of("paper", EXPERIMENT.profiles["quick"])[0], None, lambda _: None)
    with pytest.raises(InputError, match=r"^there is no train-images-idx3-ubyte.gz in "):
        EXPERIMENT.prepare(EXPERIMENT.cells[0], tmp_path, lambda _: None)
