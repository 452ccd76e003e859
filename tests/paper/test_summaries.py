import dataclasses

import pytest

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.comparisons import ComparisonCell
from nsr.paper.records import Record
from nsr.paper.summaries import largest_profile, summarise

CELL = ComparisonCell("nsr", "=")


def record(seed: int, accuracy: float, recipe: str = "paper", profile: str = "quick") -> Record:
    metrics = {"train": 1.0, "10^2": accuracy, "epochs": 100.0 + seed}
    chosen = EXPERIMENTS["comparisons"].recipes[recipe]
    return Record("comparisons", 1, CELL, chosen, profile, seed, metrics, 0.5, 2**20, "{}")


def test_means_and_perfect_seeds():
    summary, exact = summarise(
        EXPERIMENTS["comparisons"], [record(0, 1.0), record(1, 0.5), record(2, 1.0, "exact"), record(2, 1.0)]
    )
    assert (summary.recipe, exact.recipe) == ("paper", "exact")
    assert summary.metrics == {"train": 1.0, "10^2": pytest.approx(2.5 / 3), "epochs": 101.0}
    assert (summary.seeds, summary.perfect(), summary.perfect("train"), summary.seconds) == (3, 2, 3, 1.5)
    assert summary.values["10^2"] == (1.0, 0.5, 1.0)
    assert summary.published["10^2"] == 0.93


def test_a_mean_over_several_metrics_and_what_counts_towards_perfect():
    experiment = EXPERIMENTS["recurrent"]
    metrics = {"5 x 3^1": 1.0, "5 x 3^2": 1.0, "5 x 3^2 within 0.1": 0.5, "read": 0.0}
    metrics |= {"100,000 elements": 0.0, "100 digits": 0.0, "epochs": 9.0}
    seeds = [metrics | {"5 x 3^2 within 0.1": near} for near in (0.5, 1.0)]
    (summary,) = summarise(
        experiment,
        [
            Record("recurrent", 1, experiment.cells[0], experiment.recipes["exact"], "paper", i, measured, 0.5, 1, "{}")
            for i, measured in enumerate(seeds)
        ],
    )
    assert summary.mean(["5 x 3^1", "5 x 3^2 within 0.1"]) == 0.875
    assert summary.perfect() == 1  # a seed needs all accuracies, with either tolerance, and nothing else


def test_the_largest_profile_is_summarised_unless_another_is_asked_for():
    records = [record(0, 1.0), record(0, 0.5, profile="paper"), record(1, 0.5, profile="paper")]
    (largest,) = summarise(EXPERIMENTS["comparisons"], records)
    (quick,) = summarise(EXPERIMENTS["comparisons"], records, "quick")
    assert (largest.profile, largest.seeds, quick.profile, quick.seeds) == ("paper", 2, "quick", 1)
    assert summarise(EXPERIMENTS["comparisons"], []) == []


def test_json_has_the_cells_fields_and_the_published_numbers():
    (summary,) = summarise(EXPERIMENTS["comparisons"], [record(0, 1.0)])
    row = summary.as_json()
    assert (row["model"], row["comparison"], row["recipe"], row["seeds"]) == ("nsr", "=", "paper", 1)
    assert row["perfect"] == {"seeds": 1, "share": 1.0, "interval": [pytest.approx(0.2065, abs=1e-4), 1.0]}
    assert row["published"]["10^13"] == 0.93


def test_the_order_of_profiles_is_the_experiments():
    comparisons = EXPERIMENTS["comparisons"]
    assert largest_profile(comparisons, [record(0, 1.0, profile="smoke"), record(0, 1.0)]) == "quick"
    assert largest_profile(comparisons, []) is None


def test_a_metric_that_the_experiment_does_not_list_is_an_error():
    unlisted = dataclasses.replace(record(0, 1.0), metrics={"train": 1.0, "depth": 3.0})
    with pytest.raises(ValueError, match="^experiment comparisons measures 'depth', which its metrics do not list$"):
        summarise(EXPERIMENTS["comparisons"], [unlisted])


def test_a_summary_knows_the_environments_of_its_records():
    records = [record(0, 1.0), dataclasses.replace(record(1, 1.0), environment='{"cpu":"x"}')]
    (summary,) = summarise(EXPERIMENTS["comparisons"], records)
    assert summary.environments == {"{}", '{"cpu":"x"}'}
