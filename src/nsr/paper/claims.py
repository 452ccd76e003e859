"""What the paper says, ours beside it, and the verdict: a function of records with a stated criterion."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import inf, sqrt
from statistics import fmean, stdev
from typing import Any

from nsr.paper.cells import SOFT, Z_95, Summary, wilson

MARGIN = 0.01
"""How far from a printed number a value may be that counts as equal: one unit of the last digit that is printed."""
ROUNDING = 1e-12
"""By how much the rounding of sums may move an end of an interval."""
SOFT_COLUMN = "soft"
"""The trained networks under recipe ``exact``, where the programs read from them are tested."""


class Verdict(StrEnum):
    """How ours compares with what the paper says."""

    BETTER = "better"
    EQUAL = "equal"
    UNDECIDED = "undecided"
    DIFFERS = "differs"
    OPEN = "not run"


@dataclass(frozen=True)
class Ours:
    """A number of ours: one value for each seed, their mean, and its 95 % interval."""

    values: tuple[float, ...]
    is_rate: bool = False
    """Whether each seed either succeeds (1) or does not (0)."""

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return fmean(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of a rate; for other numbers 1.96 standard errors on either side of the mean."""
        if self.is_rate:
            return wilson(round(sum(self.values)), len(self.values))
        error = stdev(self.values) / sqrt(len(self.values)) if len(self.values) > 1 else 0.0
        low, high = self.mean - Z_95 * error, self.mean + Z_95 * error
        if min(self.values) >= 0 and max(self.values) <= 1:  # accuracies, and their mean, are from 0 to 1
            return max(0.0, low), min(1.0, high)
        return low, high

    @property
    def is_same(self) -> bool:
        """Whether all seeds have the same value, but for the rounding of sums."""
        return max(self.values) - min(self.values) <= 1e-12 * abs(max(self.values))


@dataclass(frozen=True)
class Claim:
    """A statement of the paper about a model, as a range of values that agree with it, and ours for each recipe."""

    model: str
    what: str
    """What is measured."""
    says: str
    """The paper's words or number; empty where it says nothing."""
    ours: Mapping[str, Ours]
    """By recipe, and ``SOFT_COLUMN``."""
    agrees: tuple[float, float] | None = None
    """The least and the largest value that agree with it; None where the paper says nothing."""
    higher_is_better: bool | None = None
    """None: neither is, as for a baseline or the shape of a curve."""
    paper: float | None = field(default=None, compare=False)
    """The number, where it prints one."""
    words: Mapping[str, str] = field(default_factory=dict, compare=False)
    """By recipe, what stands in the place of ``ours`` where that is no number of each seed."""

    def verdict(self, recipe: str) -> Verdict | None:
        """``EQUAL`` where our interval lies inside of the range that agrees; outside of it ``BETTER`` on the better
        side and ``DIFFERS`` on the other; ``UNDECIDED`` where it is partly inside, so that more seeds would be needed.
        None where the paper says nothing."""
        if self.agrees is None:
            return None
        if recipe not in self.ours:
            return Verdict.OPEN
        (low, high), (least, largest) = self.ours[recipe].interval, self.agrees
        if least - ROUNDING <= low and high <= largest + ROUNDING:
            return Verdict.EQUAL
        if low <= largest and high >= least:
            return Verdict.UNDECIDED
        if self.higher_is_better is None:
            return Verdict.DIFFERS
        return Verdict.BETTER if (low > largest) == self.higher_is_better else Verdict.DIFFERS


def printed(model: str, what: str, value: float, ours: Mapping[str, Ours]) -> Claim:
    """A number that the paper prints with two digits. For the NSR higher is better; the MLP is a baseline."""
    agrees = value - MARGIN, value + MARGIN
    return Claim(model, what, f"{value:.2f}", ours, agrees, True if model == "NSR" else None, value)


def at_least(model: str, what: str, says: str, least: float, ours: Mapping[str, Ours]) -> Claim:
    """A statement that something reaches a value."""
    return Claim(model, what, says, ours, (least, inf), True if model == "NSR" else None)


def at_most(model: str, what: str, says: str, largest: float, ours: Mapping[str, Ours]) -> Claim:
    """A statement that something stays below a value: a failure, or an error."""
    return Claim(model, what, says, ours, (-inf, largest))


def over(summaries: Iterable[Summary[Any] | None], names: Sequence[str]) -> dict[str, Ours]:
    """For each recipe the means over these metrics, one for each seed; of the trained networks too, where the programs
    read from them are tested. Several summaries of a recipe are averaged as well."""
    parts: dict[str, list[Sequence[float]]] = {}
    for summary in summaries:
        if summary is None:
            continue
        sides = {summary.recipe: summary, SOFT_COLUMN: summary.soft}
        for column, side in sides.items():
            if side is not None and (column != SOFT_COLUMN or any(SOFT + name in summary.values for name in names)):
                parts.setdefault(column, []).extend(side.values[name] for name in names if name in side.values)
    return {
        column: Ours(tuple(fmean(seed) for seed in zip(*values, strict=False)))
        for column, values in parts.items()
        if values
    }


def between(a: Mapping[str, Ours], b: Mapping[str, Ours]) -> dict[str, Ours]:
    """Differences of two measures, seed by seed, for the recipes that have both."""
    return {
        recipe: Ours(tuple(x - y for x, y in zip(a[recipe].values, b[recipe].values, strict=False)))
        for recipe in a
        if recipe in b
    }


def ratio(a: Mapping[str, Ours], b: Mapping[str, Ours]) -> dict[str, Ours]:
    """Quotients of two errors, seed by seed; a soft network is compared with the baseline of recipe ``exact``."""
    found = {}
    for recipe in a:
        below = b.get("exact" if recipe == SOFT_COLUMN else recipe)
        if below and all(below.values):
            found[recipe] = Ours(tuple(x / y for x, y in zip(a[recipe].values, below.values, strict=False)))
    return found


def successes(summaries: Iterable[Summary[Any]], names: Sequence[str]) -> dict[str, Ours]:
    """For each recipe whether every one of these metrics is 1, for each seed of each summary."""
    found: dict[str, list[float]] = {}
    for summary in summaries:
        for column, side in {summary.recipe: summary, SOFT_COLUMN: summary.soft}.items():
            if side is not None:
                seeds = zip(*(side.values[name] for name in names), strict=True)
                found.setdefault(column, []).extend(float(all(value == 1 for value in seed)) for seed in seeds)
    return {column: Ours(tuple(values), is_rate=True) for column, values in found.items()}


@dataclass(frozen=True)
class Judgement:
    """The verdict of a section under one recipe: over what the paper says about the NSR."""

    counts: Mapping[Verdict, int]

    @property
    def verdict(self) -> Verdict:
        """Differs where any claim does, better where any is and none differs, undecided where any is and none does
        either; so equal only where all are, and open without results."""
        for verdict in (Verdict.DIFFERS, Verdict.BETTER, Verdict.UNDECIDED, Verdict.EQUAL):
            if self.counts.get(verdict):
                return verdict
        return Verdict.OPEN

    @property
    def text(self) -> str:
        """How many claims have which verdict; empty where all have the same."""
        judged = {verdict: number for verdict, number in self.counts.items() if number and verdict != Verdict.OPEN}
        return ", ".join(f"{judged[each]} {each}" for each in Verdict if each in judged) if len(judged) > 1 else ""


def judge(claims: Iterable[Claim], recipe: str, model: str = "NSR") -> Judgement:
    """The verdict of a section under a recipe, for the NSR or for the baseline."""
    counts: dict[Verdict, int] = {}
    for claim in claims:
        verdict = claim.verdict(recipe) if claim.model == model else None
        if verdict is not None:
            counts[verdict] = counts.get(verdict, 0) + 1
    return Judgement(counts)
