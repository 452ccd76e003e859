from statistics import fmean, stdev

import numpy as np
import pytest

from nsr.paper.cells import Cell, Metric, SeedValues, Summary, by_recipe, grouped, metrics, wilson
from nsr.paper.experiments import EXPERIMENTS


def summary(recipe: str, **values: tuple[float, ...]) -> Summary[Cell]:
    return Summary(Cell(), recipe, "quick", values, ("right",), 1.0, 1, {})


def test_metrics_have_a_name_and_a_kind():
    assert metrics(accuracy=["train"], flag=["read"], count=["epochs"]) == (
        Metric("train", "accuracy"),
        Metric("read", "flag"),
        Metric("epochs", "count"),
    )


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=EXPERIMENTS)
def test_no_experiment_lists_a_metric_twice(experiment):
    names = [metric.name for metric in experiment.metrics]
    assert len(names) == len(set(names))


def test_perfect_seeds_need_every_accuracy_and_nothing_else():
    two = summary("paper", right=(1.0, 0.5), read=(0.0, 1.0))
    assert (two.perfect(), two.perfect("read"), two.perfect("right", "read")) == (1, 1, 0)


def test_groups_keep_their_order():
    summaries = [summary("paper", right=(1.0,)), summary("exact", right=(1.0,)), summary("paper", right=(0.0,))]
    assert list(by_recipe(summaries)) == ["paper", "exact"]
    assert by_recipe(summaries)["paper"] == [summaries[0], summaries[2]]
    assert grouped(summaries, Summary.perfect) == {1: summaries[:2], 0: summaries[2:]}


# From Newcombe (1998), Statistics in Medicine 17, Table I, method 3.
@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_intervals_are_the_published_ones(successes, trials, low, high):
    assert wilson(successes, trials) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_soft_metrics_replace_those_of_programs_and_do_not_count_as_accuracies():
    tested = summary("exact", **{"right": (1.0, 1.0), "soft right": (0.5, 1.0), "read": (1.0, 1.0)})
    assert tested.perfect() == 2
    assert tested.soft is not None
    assert (tested.soft.perfect(), tested.soft.metrics["right"], tested.soft.perfect("read")) == (1, 0.75, 2)
    assert summary("exact", right=(1.0,)).soft is None
    assert metrics(soft=["right"]) == (Metric("soft right", "soft"),)


def test_means_of_shared_rows_are_those_of_all_seeds():
    rng = np.random.default_rng(0)
    rows = (rng.random((50, 2)) * 10.0 ** rng.integers(-20, 20, (50, 2))).tolist()
    positions = rng.integers(0, 50, 1000).tolist()
    values = SeedValues(["a", "b"], rows, positions)
    expanded = [rows[position][1] for position in positions]
    assert values["b"] == tuple(expanded)
    assert values.mean("b") == fmean(expanded)
    assert SeedValues(["a"], [[1e300], [1.0]], [0, 0, 1]).mean("a") == fmean([1e300, 1e300, 1.0])
    assert SeedValues(["a", "b"], [[1, 1], [1, 0.5]], [0, 1, 0]).count_perfect(["a", "b"]) == 2


def test_the_deviation_of_shared_rows_is_that_of_all_seeds():
    rng = np.random.default_rng(0)
    rows, positions = rng.random((50, 2)).tolist(), rng.integers(0, 50, 1000).tolist()
    values = SeedValues(["a", "b"], rows, positions)
    expanded = [rows[position] for position in positions]
    assert values.deviation(["b"]) == pytest.approx(stdev(b for _, b in expanded), rel=1e-12)
    assert values.deviation(["a", "b"]) == pytest.approx(stdev(map(fmean, expanded)), rel=1e-12)


def test_equal_seeds_do_not_deviate_and_a_single_one_has_no_deviation():
    assert SeedValues(["a"], [[0.1], [0.1], [0.7]], [0, 1, 0]).deviation(["a"]) == 0
    assert SeedValues(["a"], [[0.1]], [0]).deviation(["a"]) is None
