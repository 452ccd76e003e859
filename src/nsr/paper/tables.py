"""Tables as values: built beside each experiment, printed in the terminal and shown on the page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from nsr.paper.cells import C, Summary, wilson
from nsr.paper.numbers import number, share_interval


@dataclass(frozen=True)
class Mean:
    """A mean accuracy over seeds, and the paper's where it prints one."""

    value: float
    published: float | None = None
    deviation: float | None = field(default=None, compare=False)
    """Standard deviation over the seeds, if there are several."""

    @property
    def spread(self) -> str:
        """The standard deviation, rounded to two digits."""
        return "" if self.deviation is None else f"± {self.deviation:.2f}"

    @property
    def text(self) -> str:
        """The mean with three digits: 1.000 means every row of every seed."""
        return number(self.value)

    @property
    def detail(self) -> str:
        """The paper's value."""
        return "" if self.published is None else f"{self.published:.2f}"

    @property
    def is_best(self) -> bool:
        """Whether every row of every seed is right."""
        return self.value == 1


@dataclass(frozen=True)
class Error:
    """A mean error over seeds."""

    value: float
    deviation: float | None = field(default=None, compare=False)
    """Standard deviation over the seeds, if there are several."""

    @property
    def spread(self) -> str:
        """The standard deviation, two significant digits."""
        return f"± {self.deviation:.2g}" if self.deviation else ""

    @property
    def text(self) -> str:
        """Three significant digits."""
        return f"{self.value:.3g}"

    @property
    def is_best(self) -> bool:
        """Whether there is no error at all."""
        return self.value == 0

    detail = ""


@dataclass(frozen=True)
class Count:
    """The number of seeds at which something holds."""

    successes: int
    seeds: int

    @property
    def text(self) -> str:
        """Successes and seeds."""
        return f"{self.successes} of {self.seeds}"

    @property
    def detail(self) -> str:
        """Wilson's 95 % interval of the share."""
        return share_interval(*wilson(self.successes, self.seeds))

    is_best = False
    spread = ""


@dataclass(frozen=True)
class Number:
    """A plain number, such as a mean number of epochs."""

    value: float

    @property
    def text(self) -> str:
        """Rounded to an integer."""
        return f"{self.value:,.0f}"

    detail = ""
    is_best = False
    spread = ""


Entry = Mean | Error | Count | Number | None
"""The content of one cell of a table; None if there are no results."""


@dataclass(frozen=True)
class Row:
    """A row of a table: its label, and an entry for each column."""

    label: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Table:
    """A table of an experiment. ``foot`` holds its less important rows, such as counts of seeds."""

    title: str
    corner: str
    """Heading of the row labels."""
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    foot: tuple[Row, ...] = ()

    @property
    def has_published(self) -> bool:
        """Whether the paper prints numbers to show beside ours."""
        return any(
            isinstance(entry, Mean) and entry.published is not None for row in self.rows for entry in row.entries
        )


def run_of(summaries: Sequence[Summary[Any]]) -> str:
    """Recipe and number of seeds, for a title."""
    return f"recipe {summaries[0].recipe}, {plural(summaries[0].seeds, 'seed')}"


def plural(number: int, noun: str) -> str:
    """A number and its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def mean_of(summary: Summary[Any], metric: str) -> Mean:
    """A mean without a number of the paper beside it."""
    return Mean(summary.metrics[metric], deviation=summary.deviation([metric]))


SHORTER = {"read without labels": "no labels", "100,000 elements": "10^5 long"}
"""Labels of rows, where the name of the metric would be too wide."""


@dataclass(frozen=True)
class Columns(Generic[C]):
    """The columns of a table, each the summary of one cell, or None where that cell has no results."""

    summaries: Mapping[str, Summary[C] | None]

    @classmethod
    def of(cls, cells: Mapping[str, C], summaries: Iterable[Summary[C]]) -> "Columns[C]":
        """One column for each named cell, filled from summaries of a single recipe."""
        present = {summary.cell: summary for summary in summaries}
        return cls({name: present.get(cell) for name, cell in cells.items()})

    def with_soft(self) -> "Columns[C]":
        """Beside each column in which programs are tested, one for the trained models that they were read from."""
        shown: dict[str, Summary[C] | None] = {}
        for name, summary in self.summaries.items():
            shown[name] = summary
            if summary is not None and summary.soft is not None:
                shown[name.replace("NSR", "soft")] = summary.soft
        return type(self)(shown)

    @property
    def names(self) -> tuple[str, ...]:
        """Headings of the columns."""
        return tuple(self.summaries)

    @property
    def present(self) -> list[Summary[C]]:
        """The summaries that exist."""
        return [summary for summary in self.summaries.values() if summary is not None]

    def row(self, label: str, entry: Callable[[Summary[C]], Entry]) -> Row:
        """A row with an entry for each column that has a summary."""
        return Row(label, tuple(None if s is None else entry(s) for s in self.summaries.values()))

    def compared(self, metric: str) -> Row:
        """A metric beside the paper's."""
        return self.row(metric, lambda s: Mean(s.metrics[metric], s.published.get(metric), s.deviation([metric])))

    def means(self, label: str, metrics: Sequence[str]) -> Row:
        """The mean over several accuracies."""
        return self.row(label, lambda s: Mean(s.mean(metrics), deviation=s.deviation(metrics)))

    def errors(self, label: str, metric: str) -> Row:
        """A metric that is an error."""
        return self.row(label, lambda s: Error(s.metrics[metric], s.deviation([metric])))

    def perfect(self, label: str, *metrics: str) -> Row:
        """The number of seeds at which the metrics, by default all accuracies, are 1."""
        return self.row(label, lambda s: Count(s.perfect(*metrics), s.seeds))

    def counts(self, *flags: str) -> tuple[Row, ...]:
        """The number of perfect seeds, then of those at which each flag holds, and the mean number of epochs."""
        return (
            self.perfect("perfect"),
            *(self.perfect(SHORTER.get(flag, flag), flag) for flag in flags),
            self.row("epochs", lambda s: Number(s.metrics["epochs"])),
        )
