"""What the page and the README say about records: where we differ, where the NSR loses, which baselines are usable."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from statistics import stdev
from typing import Any

from nsr.paper.cells import Summary, wilson
from nsr.paper.numbers import number, share_interval
from nsr.paper.spec import Experiment

DIFFERENCE = 0.05
"""The least difference from a mean of the paper that is listed."""
LOSS = 0.01
"""The least difference of mean accuracies at which the NSR is said to lose to the MLP."""
FACTOR = 1.1
"""The same for mean errors, as a ratio."""
FITS = 0.99
"""The least training accuracy of a seed that fits: always answering "unequal" is right on 0.95 of the pairs for =."""
USABLE = 0.9
"""The least share of seeds that fit, for a usable baseline."""
TRAINING = ("train within 0.1", "train")
"""Metrics of the training rows, the most lenient first: a model that does not fit them is no baseline."""
ROWS_OF = {
    "train within 0.1": "of the training rows within 0.1",
    "train": "of the training rows",
    "shown": "of the test pairs of the kind that training shows",
    "accuracy": "of the test pairs",
}
TESTED = ("shown", "accuracy")
"""Where there is none, as for digits: pairs of test images that are like those of training."""
LEARNED = 0.95
"""The least accuracy on these of a seed that learned: images that were never seen are not all read, and always
answering "unequal" is right on 0.90 of the pairs for =."""


def mean_text(summary: Summary[Any], metric: str) -> str:
    """Mean and standard deviation over the seeds."""
    values = summary.values[metric]
    deviation = stdev(values) if len(values) > 1 else 0.0
    return f"{number(summary.metrics[metric])} ± {number(deviation)}"


def rate_text(successes: int, seeds: int) -> str:
    """Successes and seeds, with Wilson's 95 % interval of the share."""
    low, high = wilson(successes, seeds)
    return f"{successes} of {seeds} ({share_interval(low, high)})"


def differences(summaries: Sequence[Summary[Any]]) -> list[str]:
    """Where recipe ``paper`` differs from the printed numbers: the largest difference of each cell."""
    lines = []
    for summary in summaries:
        if summary.recipe != "paper" or not summary.published:
            continue
        name = max(summary.published, key=lambda name: abs(summary.metrics[name] - summary.published[name]))
        ours, paper = summary.metrics[name], summary.published[name]
        if abs(ours - paper) >= DIFFERENCE:
            fields = " ".join(str(value) for value in vars(summary.cell).values())
            spread = mean_text(summary, name).split(" ± ")[1]
            lines.append(
                f"{fields}: at {name} ours is {number(ours)} (standard deviation of {summary.seeds} seeds {spread}), "
                f"the paper's {paper:.2f}"
            )
    return lines


@dataclass(frozen=True)
class Loss:
    """Points of a curve at which the NSR is worse than the MLP."""

    cell: str
    """The fields of the cell besides the model."""
    short: str
    """The same without those that have their default."""
    recipe: str
    soft: bool
    """Whether the trained model itself is compared, where its program is tested."""
    points: tuple[str, ...]
    """Names of the metrics, in the order in which they are measured."""
    of: int
    """How many points were compared."""
    worst: str
    """The metric with the largest difference."""
    nsr: str
    mlp: str
    """Means and standard deviations there."""
    seeds: int

    @property
    def place(self) -> str:
        """Where most, in a few words."""
        nsr, mlp = (text.split(" ")[0] for text in (self.nsr, self.mlp))
        return f"{self.short}, recipe {self.recipe}: {nsr} against {mlp} at {self.worst}"

    @property
    def text(self) -> str:
        """One line."""
        what = "the soft NSR" if self.soft else "the NSR"
        where = self.points[0] if len(self.points) == 1 else f"{self.points[0]} to {self.points[-1]}"
        return (
            f"{self.cell}, recipe {self.recipe}, {self.seeds} seeds: {what} is worse at {len(self.points)} of "
            f"{self.of} points ({where}), most at {self.worst}: NSR {self.nsr}, MLP {self.mlp}"
        )


def losses(experiment: Experiment[Any], summaries: Sequence[Summary[Any]]) -> list[Loss]:
    """Where the mean of our NSR is worse than that of our MLP, for each pair of cells that differ in the model only.

    Accuracies count from ``LOSS`` on, errors from a ratio of ``FACTOR`` on. Where programs are tested, the trained
    models are compared too: what a program reaches is not what a network reaches.
    """
    kinds = {metric.name: metric.kind for metric in experiment.metrics}
    found = []
    for nsr, mlp in _pairs(summaries):
        sides = [(nsr, False)] + ([(nsr.soft, True)] if nsr.soft else [])
        for ours, soft in sides:
            names = [name for name in mlp.values if kinds[name] in ("accuracy", "error") and name in ours.values]
            worse = [name for name in names if _margin(ours, mlp, name, kinds[name]) > 0]
            if worse:
                worst = max(worse, key=lambda name: _margin(ours, mlp, name, kinds[name]))
                defaults = {field.name: field.default for field in fields(nsr.cell)}
                values = {name: value for name, value in asdict(nsr.cell).items() if name != "model"}
                cell = " ".join(str(value) for value in values.values())
                short = " ".join(str(value) for name, value in values.items() if value != defaults[name])
                found.append(
                    Loss(
                        cell=cell or experiment.name.replace("_", " "),
                        short=short or experiment.name.replace("_", " "),
                        recipe=nsr.recipe,
                        soft=soft,
                        points=tuple(worse),
                        of=len(names),
                        worst=worst,
                        nsr=mean_text(ours, worst),
                        mlp=mean_text(mlp, worst),
                        seeds=min(ours.seeds, mlp.seeds),
                    )
                )
    return found


def _pairs(summaries: Sequence[Summary[Any]]) -> Iterator[tuple[Summary[Any], Summary[Any]]]:
    """Summaries of the NSR, each with that of the MLP in the same cell."""
    present = {(summary.recipe, summary.cell): summary for summary in summaries}
    for (recipe, cell), summary in present.items():
        if getattr(cell, "model", None) == "nsr" and (recipe, other := replace(cell, model="mlp")) in present:
            yield summary, present[recipe, other]


def _margin(ours: Summary[Any], mlp: Summary[Any], name: str, kind: str) -> float:
    """By how much the NSR loses, beyond what is tolerated; not above zero if it does not."""
    if kind == "accuracy":
        return mlp.metrics[name] - ours.metrics[name] - LOSS
    return ours.metrics[name] - FACTOR * mlp.metrics[name]


def baselines(summaries: Sequence[Summary[Any]]) -> list[str]:
    """For each cell of the MLP, whether it fits its training rows well enough to be a baseline."""
    lines = []
    for summary in summaries:
        metric = next((name for name in (*TRAINING, *TESTED) if name in summary.values), None)
        if getattr(summary.cell, "model", None) != "mlp" or metric is None:
            continue
        cell = " ".join(str(value) for name, value in asdict(summary.cell).items() if name != "model")
        least = FITS if metric in TRAINING else LEARNED
        fitting = sum(value >= least for value in summary.values[metric])
        judgement = "a usable baseline" if fitting >= USABLE * summary.seeds else "not a usable baseline"
        rows = ROWS_OF[metric]
        lines.append(
            f"MLP {cell}, recipe {summary.recipe}: right on {mean_text(summary, metric)} {rows}, "
            f"{rate_text(fitting, summary.seeds)} seeds on {least} or more: {judgement}"
        )
    return lines
