import dataclasses

import pytest

from nsr.paper.cells import Summary
from nsr.paper.experiments.redundancy import EXPERIMENT, TASKS, RedundancyCell, peak, run_cell


@pytest.fixture(autouse=True)
def eager(monkeypatch):
    """A compiler takes longer than these small runs."""
    monkeypatch.setattr("nsr.training.has_compiler", lambda: False)


def test_the_grid_is_one_to_fifteen_units():
    assert [cell.redundancy for cell in EXPERIMENT.cells] == list(range(1, 16))
    assert EXPERIMENT.profiles["paper"].seeds == 100


def test_the_three_tasks_are_measured_and_equality_is_learned_with_ten_units():
    recipe = dataclasses.replace(EXPERIMENT.recipes["exact"], epochs=400)
    for metrics in run_cell(RedundancyCell(10), recipe, [0]):
        assert list(metrics) == [*TASKS, "soft f"]
        assert metrics["="] == metrics["!="] == 1


def test_a_seed_has_the_same_record_in_any_block():
    recipe = dataclasses.replace(EXPERIMENT.recipes["paper"], epochs=40)
    together = run_cell(RedundancyCell(3), recipe, range(4))
    assert run_cell(RedundancyCell(3), recipe, [3, 1]) == [together[3], together[1]]


def test_the_table_says_where_f_peaks():
    def summary(units: int, f: float) -> Summary:
        values = {"=": (1.0, 1.0), "!=": (1.0, 1.0), "f": (f, f)}
        return Summary(RedundancyCell(units), "paper", "paper", values, TASKS, 1.0, 0, {})

    [table] = EXPERIMENT.tables([summary(1, 0.5), summary(2, 0.6), summary(3, 0.7), summary(4, 0.6)])
    assert table.title.endswith("; f peaks at 3 units")


def test_a_peak_names_its_ties_and_what_is_within_noise():
    values = {1: (0.1, 0.1, 0.2), 2: (0.7, 0.9, 0.8), 3: (0.9, 0.8, 0.8), 4: (0.9, 0.9, 0.7), 5: (0.5, 0.5, 0.5)}
    kept = [
        Summary(RedundancyCell(units), "paper", "paper", dict.fromkeys(TASKS, each), (), 1.0, 1, {})
        for units, each in values.items()
    ]
    assert peak(kept) == "3, 4 (or 2)"
    assert peak(kept[:1] + kept[4:]) == "5"
    assert peak(kept[:2]) == "2"
    claims = {claim.what: claim for claim in EXPERIMENT.claims(kept)}
    assert claims["f: most with so many units (or, within noise)"].words == {"paper": "3, 4 (or 2)"}
