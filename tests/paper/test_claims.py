"""Verdicts are functions of records with a stated criterion: every outcome, on made-up records."""

import dataclasses
from math import inf

import pytest

from nsr.paper.cells import Summary
from nsr.paper.claims import (
    Claim,
    Ours,
    Verdict,
    at_least,
    at_most,
    between,
    judge,
    over,
    printed,
    successes,
)
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.comparisons import MAGNITUDES, TABLE_1, ComparisonCell
from nsr.paper.report.page import section

COMPARISONS = EXPERIMENTS["comparisons"]
BETTER, EQUAL, UNDECIDED = Verdict.BETTER, Verdict.EQUAL, Verdict.UNDECIDED
DIFFERS, OPEN = Verdict.DIFFERS, Verdict.OPEN


def ours(*values: float) -> dict[str, Ours]:
    return {"paper": Ours(values)}


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ((0.93, 0.93), EQUAL),
        ((0.94, 0.94), EQUAL),  # one unit of the last digit that is printed
        ((0.92, 0.92), EQUAL),
        ((0.9401, 0.9401), BETTER),
        ((0.9199, 0.9199), DIFFERS),
        ((0.7, 1.0), UNDECIDED),  # 0.85, with an interval that has all that agrees inside of it
        ((0.92, 0.96), UNDECIDED),  # 0.94, with an interval that reaches beyond 0.94
        ((0.929, 0.931), EQUAL),
        ((0.84, 0.86), DIFFERS),
        ((0.99, 1.0), BETTER),
        ((0.5,), DIFFERS),  # a single seed has no spread
    ],
)
def test_a_printed_number_of_the_nsr(values, verdict):
    assert printed("NSR", "=", 0.93, ours(*values)).verdict("paper") == verdict


def test_a_baseline_is_equal_or_differs_but_never_better():
    for value, verdict in ((0.93, EQUAL), (0.99, DIFFERS), (0.5, DIFFERS)):
        assert printed("MLP", "=", 0.93, ours(value, value)).verdict("paper") == verdict


def test_words_are_ranges():
    assert at_least("NSR", "", "perfect", 0.99, ours(1.0, 1.0)).verdict("paper") == EQUAL
    assert at_least("NSR", "", "perfect", 0.99, ours(0.9, 0.9)).verdict("paper") == DIFFERS
    assert at_most("NSR", "", "close to 0", 0.01, ours(1e-9, 2e-9)).verdict("paper") == EQUAL
    assert at_least("NSR", "", "perfect", 0.99, ours(0.98, 1.0)).verdict("paper") == UNDECIDED
    par = Claim("NSR", "less the MLP", "on par", ours(0.4, 0.38), (-0.01, 0.01), True)
    assert par.verdict("paper") == BETTER
    assert dataclasses.replace(par, ours=ours(0.4, 0.0, 0.0, 0.0)).verdict("paper") == UNDECIDED
    assert at_most("NSR", "", "close to 0", 0.01, ours(0.5, 0.5)).verdict("paper") == DIFFERS
    fails = Claim("NSR", "", "not learned", ours(0.95, 0.95), (0.0, 0.6), True)
    assert fails.verdict("paper") == BETTER
    lower = Claim("NSR", "", "an error", ours(0.1, 0.1), (0.2, inf), False)
    assert lower.verdict("paper") == BETTER


def test_what_did_not_run_is_open_and_what_the_paper_does_not_say_has_no_verdict():
    claim = printed("NSR", "=", 0.93, {})
    assert claim.verdict("paper") == OPEN
    assert Claim("NSR", "seeds", "", ours(1.0)).verdict("paper") is None


def test_the_intervals_are_wilsons_for_rates_and_of_the_mean_for_the_rest():
    rate = Ours((1.0,) * 15 + (0.0,) * 133, is_rate=True)
    assert rate.interval == pytest.approx((0.0624, 0.1605), abs=1e-4)  # Newcombe (1998), Table I
    assert Ours((0.4, 0.5, 0.6)).interval == pytest.approx((0.5 - 0.113159, 0.5 + 0.113159), abs=1e-6)
    assert Ours((-1.0, 2.0)).interval == pytest.approx((0.5 - 2.939946, 0.5 + 2.939946), abs=1e-6)
    low, high = Ours((0.98, 1.0, 1.0)).interval
    assert low < 0.99 < high == 1.0  # accuracies end at 1


def test_a_section_differs_if_any_claim_does_and_is_better_if_any_is_and_none_differs():
    better, equal, differs = (printed("NSR", "=", 0.93, ours(value, value)) for value in (1.0, 0.93, 0.5))
    baseline = printed("MLP", "=", 0.93, ours(0.5, 0.5))
    undecided = printed("NSR", "=", 0.93, ours(0.7, 1.0))
    for claims, verdict, text in [
        ([equal, equal, undecided, baseline], UNDECIDED, "2 equal, 1 undecided"),
        ([better, undecided, baseline], BETTER, "1 better, 1 undecided"),
        ([undecided, differs], DIFFERS, "1 undecided, 1 differs"),
        ([better, equal, differs, baseline], DIFFERS, "1 better, 1 equal, 1 differs"),
        ([better, equal, baseline], BETTER, "1 better, 1 equal"),
        ([equal, equal, baseline], EQUAL, ""),
        ([printed("NSR", "=", 0.93, {})], OPEN, ""),
        ([baseline], OPEN, ""),
    ]:
        judgement = judge(claims, "paper")
        assert (judgement.verdict, judgement.text) == (verdict, text)
    assert judge([better, baseline], "paper", "MLP").verdict == DIFFERS


def table_1(recipe: str = "paper", profile: str = "paper", **changed: float) -> list[Summary[ComparisonCell]]:
    """Two seeds that reach exactly what the paper prints, except for the models that are named."""
    found = []
    for cell, row in TABLE_1.items():
        shift = changed.get(cell.model, 0.0)
        last = row["10^13"]
        values = {name: (row.get(name, last) + shift,) * 2 for name in ("train", *MAGNITUDES)}
        values |= {"read": (1.0, 1.0), "read without labels": (1.0, 1.0), "1000 digits": (1.0, 1.0)}
        values |= {"epochs": (1.0, 1.0)}
        accuracies = ("train", *MAGNITUDES)
        found.append(Summary(cell, recipe, profile, values, accuracies, 1.0, 1, row))
    return found


@pytest.mark.parametrize("profile", ["paper", "quick", "smoke"])
@pytest.mark.parametrize(
    ("shift", "verdict", "beaten"), [(0.0, EQUAL, False), (0.02, BETTER, False), (-0.02, DIFFERS, True)]
)
def test_all_four_outcomes_of_table_1_in_every_profile(profile, shift, verdict, beaten):
    summaries = table_1(profile=profile, nsr=shift) if not beaten else table_1(profile=profile, nsr=-0.7)
    found = section(COMPARISONS, summaries)
    assert found.judgement("paper").verdict == verdict
    assert found.judgement("paper", "MLP").verdict == EQUAL
    assert found.judgement("exact").verdict == OPEN
    assert bool(found.beaten) == beaten


def test_a_partial_run_judges_what_there_is():
    kept = [s for s in table_1(recipe="exact", nsr=0.05) if s.cell == ComparisonCell("nsr", "=")]
    found = section(COMPARISONS, kept)
    assert found.judgement("exact").verdict == BETTER
    assert found.judgement("paper").verdict == OPEN
    assert not found.has_mlp


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_without_results_no_claim_has_a_verdict(name):
    claims = EXPERIMENTS[name].claims([])
    assert all(claim.verdict("paper") in (OPEN, None) for claim in claims)
    assert all(not claim.ours for claim in claims)


@dataclasses.dataclass(frozen=True)
class Task:
    name: str


def summary(name: str, **values: tuple[float, ...]) -> Summary[Task]:
    values = {key.replace("soft_", "soft "): each for key, each in values.items()}
    return Summary(Task(name), "exact", "paper", values, (), 1.0, 1, {})


def test_means_are_over_metrics_and_cells_seed_by_seed_and_soft_where_there_are_programs():
    one, two = summary("one", a=(1.0, 0.0), b=(0.5, 0.5)), summary("two", a=(0.0, 1.0), b=(0.5, 0.5))
    assert over([one, None], ["a", "b"])["exact"].values == (0.75, 0.25)
    assert over([one, two], ["a"])["exact"].values == (0.5, 0.5)
    assert over([], ["a"]) == over([one], ["c"]) == {}
    soft = summary("soft", a=(1.0, 1.0), soft_a=(0.5, 0.0), b=(1.0, 1.0))
    assert over([soft], ["a"])["soft"].values == (0.5, 0.0)
    assert "soft" not in over([soft], ["b"])
    assert between(over([one], ["a"]), over([two], ["a"]))["exact"].values == (1.0, -1.0)
    assert successes([one, two], ["a"])["exact"] == Ours((1.0, 0.0, 0.0, 1.0), is_rate=True)
    assert successes([one], ["a", "b"])["exact"].values == (0.0, 0.0)
