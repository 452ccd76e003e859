"""The page: one self-contained HTML file that is a function of summaries, and the same figures as pictures."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nsr.errors import needs_extra
from nsr.files import write
from nsr.html.charts import power_text
from nsr.html.page import write_html
from nsr.paper.cells import Summary
from nsr.paper.claims import SOFT_COLUMN, Claim, Judgement, Ours, judge
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.experiments.comparisons import overview
from nsr.paper.figures import Figure
from nsr.paper.numbers import interval, number
from nsr.paper.report.appendix import mlp_weights, nsr_weights, runtimes
from nsr.paper.report.bits import status_bit_figures
from nsr.paper.report.diagrams import DIAGRAMS
from nsr.paper.report.findings import Loss, baselines, differences, losses
from nsr.paper.spec import Experiment
from nsr.paper.tables import Table, plural

UNKNOWN = dict.fromkeys(("cpu", "cores", "instructions", "system", "python", "torch", "nsr", "training"), "unknown")
"""What the page shows of an environment that was not recorded completely."""
FILE_WIDTH = 480
"""Width of a figure as a file, in pixels."""

Summaries = Mapping[str, Sequence[Summary[Any]]]
"""The summaries of each experiment, by its name."""


@dataclass(frozen=True)
class Section:
    """What the page shows of an experiment, besides its figures."""

    experiment: Experiment[Any]
    profile: str
    seeds: list[int]
    complete: int
    """Number of cells with all seeds of the profile."""
    expected: int
    """Number of cells of the profile."""
    minutes: Mapping[str, float]
    """Minutes of one core, by recipe."""
    megabytes: float
    """Peak memory of a worker."""
    claims: Sequence[Claim]
    has_mlp: bool
    """Whether there are results of an MLP to compare with."""
    differences: list[str]
    """Where recipe ``paper`` differs from the printed numbers."""
    losses: list[Loss]
    """Where our NSR is worse than our MLP."""
    baselines: list[str]
    """Whether the MLP of each cell fits its training rows."""
    tables: Sequence[Table]

    @property
    def is_empty(self) -> bool:
        """Whether there are no results at all."""
        return not self.seeds

    @property
    def columns(self) -> dict[str, str]:
        """The columns of the table of claims: recipes, and the trained networks where programs are tested."""
        present = {column for claim in self.claims for column in claim.ours}
        names = {recipe: f"recipe {recipe}" for recipe in self.experiment.recipes}
        if SOFT_COLUMN in present:
            names |= {"exact": "recipe exact: program", SOFT_COLUMN: "recipe exact: soft network"}
        return {name: text for name, text in names.items() if name in present}

    @property
    def tests_programs(self) -> bool:
        """Whether programs read from networks are tested in their place, for some of the claims at least."""
        return SOFT_COLUMN in self.columns

    def seeds_of(self, column: str) -> str:
        """How many seeds the means of a column are over."""
        ours = [claim.ours[column] for claim in self.claims if column in claim.ours]
        numbers = {len(each.values) for each in ours if not each.is_rate} or {len(each.values) for each in ours}
        least, largest = min(numbers), max(numbers)
        return plural(least, "seed") if least == largest else f"{least} to {largest} seeds"

    def judgement(self, recipe: str, model: str = "NSR") -> Judgement:
        """The verdict under a recipe."""
        return judge(self.claims, recipe, model)

    @property
    def beaten(self) -> list[Loss]:
        """The losses of what is tested: the NSR, or the program read from it."""
        return [loss for loss in self.losses if not loss.soft]

    @property
    def soft_losses(self) -> list[Loss]:
        """The losses of the trained networks whose programs are tested."""
        return [loss for loss in self.losses if loss.soft]


def section(experiment: Experiment[Any], summaries: Sequence[Summary[Any]]) -> Section:
    """The section of an experiment."""
    profile = summaries[0].profile if summaries else "paper"
    size = experiment.profiles[profile]
    expected = {(recipe, cell) for recipe in experiment.recipes for cell in experiment.cells_of(recipe, size)}
    complete = {(summary.recipe, summary.cell) for summary in summaries if summary.seeds >= size.seeds}
    return Section(
        experiment=experiment,
        profile=profile,
        seeds=sorted({summary.seeds for summary in summaries}),
        complete=len(expected & complete),
        expected=len(expected),
        minutes={
            recipe: sum(summary.seconds for summary in summaries if summary.recipe == recipe) / 60
            for recipe in experiment.recipes
        },
        megabytes=max((summary.memory for summary in summaries), default=0) / 2**20,
        claims=experiment.claims(summaries),
        has_mlp=any(getattr(summary.cell, "model", None) == "mlp" for summary in summaries),
        differences=differences(summaries),
        losses=losses(experiment, summaries),
        baselines=baselines(summaries),
        tables=experiment.tables(summaries),
    )


def write_page(file: Path, summaries: Summaries) -> None:
    """Write the page. What has no results is listed as not run."""
    environments = {text for group in summaries.values() for summary in group for text in summary.environments}
    sections = [section(experiment, summaries.get(name, [])) for name, experiment in EXPERIMENTS.items()]
    write_html(
        file,
        "nsr.paper.report",
        "page.html.j2",
        sections=sections,
        overview=drawn(overview(summaries.get("comparisons", []))),
        answers={name: drawn(experiment.answer(summaries.get(name, []))) for name, experiment in EXPERIMENTS.items()},
        figures={name: drawn(experiment.figures(summaries.get(name, []))) for name, experiment in EXPERIMENTS.items()},
        raised=raised,
        value=value_text,
        interval=interval_text,
        diagrams=DIAGRAMS,
        runtimes=runtimes(summaries),
        weights=[nsr_weights(), mlp_weights()],
        bits=drawn(status_bit_figures()),
        environments=[UNKNOWN | json.loads(environment) for environment in sorted(environments)],
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )


def drawn(figures: Iterable[Figure]) -> list[dict[str, str]]:
    """Figures as the template shows them."""
    return [{"name": name, "title": title, "svg": chart.on_page(title)} for name, title, chart in figures]


def value_text(ours: Ours) -> str:
    """A mean, or the number of successes."""
    if ours.is_rate:
        return f"{sum(ours.values):.0f} of {len(ours.values)}"
    return number(ours.mean) if any(ours.values) else "0"


def interval_text(ours: Ours) -> str:
    """Its 95 % interval."""
    if ours.is_same and not ours.is_rate and len(ours.values) > 1:
        return "every seed"
    return interval(*ours.interval)


def raised(text: str) -> str:
    """Exponents as superscripts: 10^2 as 10²."""
    return re.sub(r"(\d)\^(-?\d+)", lambda found: power_text(int(found[1]), int(found[2])), text)


def all_figures(summaries: Summaries) -> Iterator[Figure]:
    """Every figure of the page."""
    yield from overview(summaries.get("comparisons", []))
    yield from status_bit_figures()
    for name, experiment in EXPERIMENTS.items():
        yield from experiment.answer(summaries.get(name, []))
        yield from experiment.figures(summaries.get(name, []))


def write_figures(folder: Path, summaries: Summaries) -> int:
    """Write every figure as SVG and PNG; returns their number."""
    with needs_extra("reproduce"):
        import vl_convert

    written = 0
    for name, title, chart in all_figures(summaries):
        picture = chart.as_file(title, FILE_WIDTH)
        write(folder / f"{name}.svg", picture)
        write(folder / f"{name}.png", vl_convert.svg_to_png(picture, scale=2))
        written += 1
    return written
