"""Statements about a table: what is claimed, on how many rows it holds, and how surprising that is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import pandas as pd

from nsr.program.expressions import And, Expression, Not, Or
from nsr.program.text import name as written_name

THRESHOLD = 7.0
"""Nats: a statement is shown if a table of independent columns would give one with a chance of about one in 1,000."""
NODE = math.log(2)
"""Nats that each node of a statement costs."""


class Family(StrEnum):
    """What a statement is about; the groups of the page, in order."""

    ORDER = "orders"
    EQUALITY = "equalities and sums"
    PRESENCE = "presence"
    DEPENDENCY = "columns that follow from others"


@dataclass(frozen=True)
class Dependency:
    """One column is determined by another: rows with the same ``source`` have the same ``target``."""

    source: str
    target: str
    mutual: bool = False
    """Whether each determines the other."""

    def __str__(self) -> str:
        source, target = written_name(self.source), written_name(self.target)
        return f"{source} and {target} determine each other" if self.mutual else f"{source} determines {target}"


@dataclass(frozen=True)
class Exactly:
    """One formula holds exactly where another does."""

    what: Expression
    where: Expression

    def __str__(self) -> str:
        return f"{self.what} exactly where {self.where}"

    @property
    def formula(self) -> Expression:
        """The same as one formula."""
        return Or(And(self.what, self.where), And(Not(self.what), Not(self.where)))


Claim = Expression | Exactly | Dependency


@dataclass(frozen=True, eq=False)
class Candidate:
    """A statement that holds in the sample."""

    family: Family
    claim: Claim
    columns: tuple[str, ...]
    """The columns that it is about."""
    chance: float
    """The share of rows on which it would hold if the columns were shuffled."""
    surprise: float
    """Nats: minus the logarithm of the chance that it holds on as many rows of the sample after shuffling."""
    tried: int
    """How many statements of the same form were tried."""
    condition: Expression | None = None
    """Only rows that meet it count."""
    breaks: int = 0
    """How many rows of the sample break it."""
    choices: float = 0.0
    """Nats for what else was chosen, such as a constant or the texts in a list."""

    @property
    def formula(self) -> Expression | None:
        """What must hold on each row; None for a dependency, which is about several rows."""
        if self.row_claim is None or self.condition is None:
            return self.row_claim
        return Or(Not(self.condition), self.row_claim)

    @property
    def row_claim(self) -> Expression | None:
        """The claim as a formula, without the condition."""
        if isinstance(self.claim, Dependency):
            return None
        return self.claim.formula if isinstance(self.claim, Exactly) else self.claim

    @cached_property
    def score(self) -> float:
        """The surprise, less the price of what was tried and of the length of the statement."""
        size = 3 if self.formula is None else self.formula.size
        return self.surprise - math.log(max(1, self.tried)) - self.choices - NODE * size

    @property
    def holding(self) -> Expression | None:
        """The rows that meet the condition and support the claim."""
        return None if self.row_claim is None else self._where(self.row_claim)

    @property
    def breaking(self) -> Expression | None:
        """The rows that meet the condition and break the claim. Rows with missing cells do neither."""
        return None if self.row_claim is None else self._where(Not(self.row_claim))

    def _where(self, claim: Expression) -> Expression:
        return claim if self.condition is None else And(self.condition, claim)

    def __str__(self) -> str:
        return str(self.claim) if self.condition is None else f"if {self.condition} then {self.claim}"


@dataclass(frozen=True, eq=False)
class Statement:
    """A statement that was counted on all rows of the table."""

    candidate: Candidate
    holds: int
    breaks: int
    examples: pd.DataFrame = field(default_factory=pd.DataFrame)
    """The first rows that break it; the index holds their row numbers."""
    check: Expression | None = None
    """What holds on all rows but those that break it: the formula, or a cell that it needs is missing."""
    sql_options: Mapping[str, bool] = field(default_factory=dict)
    """Options of the target ``sql`` that suit the types of its columns."""

    @property
    def rows(self) -> int:
        """How many rows it is about: those that meet its condition and have all of its cells."""
        return self.holds + self.breaks

    @property
    def family(self) -> Family:
        """The group that it belongs to."""
        return self.candidate.family

    @property
    def score(self) -> float:
        """How surprising it is, in nats."""
        return self.candidate.score

    @property
    def is_surprising(self) -> bool:
        """Whether it is shown by default."""
        return self.score >= THRESHOLD

    @property
    def is_trivial(self) -> bool:
        """Whether it is an order that would hold anyway on nearly all rows, as of columns with different ranges."""
        return self.family == Family.ORDER and self.score <= 0

    def __str__(self) -> str:
        return str(self.candidate)


@dataclass(frozen=True, eq=False)
class Profile:
    """What was found about a table."""

    source: str
    rows: int
    columns: int
    sampled: int
    """How many rows the statements were proposed from."""
    statements: Sequence[Statement]
    """The most surprising first; those that follow from others are left out."""
    keys: Sequence[str]
    """Columns without repeated or missing values."""
    notes: Sequence[str]
    """What was not tried, and which columns were not used."""
    seconds: float

    @property
    def table_name(self) -> str:
        """What checks call the table: the name of the file without its ending, or of the table in a database."""
        return self.source.rpartition("::")[2].rpartition("/")[2].partition(".")[0] or "table"

    @property
    def surprising(self) -> list[Statement]:
        """The statements that would not hold by chance."""
        return [statement for statement in self.statements if statement.is_surprising]
