"""One search for a rule: its settings, its rows, split three ways, and what was found in them so far."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from nsr.learn.base import PROPOSALS
from nsr.learn.networks import Network, columns_that_matter
from nsr.learn.objections import asks_conditions_only, contradictions_look_random, free_numbers, vague_atom
from nsr.learn.refinement import as_written, polished, with_simpler_parts
from nsr.learn.rules import Alternatives, Preferred, Reader, Rule, description_length, nats_without_rule
from nsr.program.expressions import Expression
from nsr.reading.atoms import Atom
from nsr.reading.columns import Monomial
from nsr.reading.rows import LabelledRows, split_groups
from nsr.reading.rules import answers

CHOOSE, JUDGE = 0.15, 0.15
"""The shares of the rows that rules are chosen by, and judged by."""
SHORT = 0.4
"""A rule ends the search if it costs at most this share of the nats that it explains."""
EXTENDED = 3
"""How many rules are the best ones, which are extended by further comparisons."""
SUSPICIOUS = 0.01
"""The search goes on if rows would contradict a rule so systematically less often than this by chance."""
MATTERING = 9
"""How many columns are taken for those that matter."""
BETTER, FEW = 0.9, 20
"""A network is not read if it is wrong on more than this share of the rows to choose by that the most frequent class is
wrong on, unless there are few of them."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How to search."""

    restarts: int
    errors: float
    rng: np.random.Generator
    preferred: Preferred = field(default_factory=dict)
    """Constants that are taken before simpler ones, where the rows leave one open."""
    proposals: tuple[str, ...] = PROPOSALS
    """What may propose comparisons."""
    deadline: float = math.inf
    """The time of ``time.monotonic`` at which the search ends."""
    time_limit: float = math.inf
    """The seconds that were allowed, as messages name them."""
    model: bool = False
    """Whether a network is wanted even where there is a rule."""
    on_progress: Callable[[float], None] = lambda _: None
    """Called with the share of the search that is done."""

    @property
    def out_of_time(self) -> bool:
        """Whether the search must end."""
        return time.monotonic() > self.deadline


@dataclass(eq=False)
class Attempt:
    """The rows of a search, its rules and its networks."""

    rows: LabelledRows
    settings: Settings
    rules: list[Rule] = field(default_factory=list)
    """With the description of the rows to learn from and to choose by."""
    networks: list[Network] = field(default_factory=list)
    withstood: Expression | None = None
    """The best rule, if networks found no better one."""
    cut_short: bool = False
    """Whether the time limit ended the search."""
    _best: tuple[Expression, Rule] | None = None

    def __post_init__(self) -> None:
        self._parts = split_rows(self.rows, self.settings.rng)
        self._use_parts()

    def _use_parts(self) -> None:
        learn, choose, judge = self._parts
        self.learn, self.judge = self.rows.subset(learn), self.rows.subset(judge)
        self.choose = self.rows.subset(choose)
        self.seen = self.rows.subset(np.sort(np.concatenate([learn, choose])))
        self.reader = Reader(self.learn, self.settings.preferred)
        self.null = nats_without_rule(self.seen)

    def add_products(self, products: Sequence[Monomial]) -> None:
        """Add products to the columns of all rows, which stay in their parts."""
        self.rows = self.rows.with_products(products)
        self._use_parts()

    def reader_of(self, rows: LabelledRows) -> Reader:
        """What reads rules from other rows, with the same preferred constants."""
        return Reader(rows, self.settings.preferred)

    def add(self, atoms: Sequence[Atom], alternatives: Alternatives | None = None, *, origin: str = "screen") -> None:
        """Read a rule from the rows to learn from, and describe with it those to choose by too."""
        self.add_read(self.reader.read(atoms, alternatives, origin=origin))

    def add_read(self, rule: Rule) -> None:
        """Add a rule that was read from the rows to learn from."""
        self.rules.append(rescored(rule, self.learn, self.seen))

    def best_rules(self) -> list[Rule]:
        """Some different rules, the best one last."""
        scored = sorted(self.rules, key=lambda rule: rule.nats)
        return list({rule.expression: rule for rule in reversed(scored)}.values())[-EXTENDED:]

    def best(self) -> Rule:
        """The rule with the shortest description of the rows to learn from and to choose by, read once more from both.

        Rules are compared as they were read.
        """
        if not self.rules:
            self.add(())
        chosen = min(self.rules, key=lambda rule: (rule.nats, rule.expression.size))
        if chosen.wrong == 0 and asks_conditions_only(self.seen.columns, chosen):
            return chosen
        if self._best is None or self._best[0] is not chosen.expression:
            reader = self.reader_of(self.seen)
            final = min((chosen, with_simpler_parts(reader, chosen)), key=lambda rule: (rule.wrong, rule.nats))
            self._best = chosen.expression, as_written(reader, polished(reader, final, self.settings.deadline))
        return self._best[1]

    def finished(self) -> bool:
        """Whether a short rule explains the rows, or time is up."""
        if self.settings.out_of_time and self.rules:
            return True
        if not self.rules or (self.settings.model and not self.networks):
            return False
        best = self.best()
        left = description_length(
            self.seen.classes, answers(best.expression, self.seen), self.seen.weight, self.seen.n_classes
        )
        short = best.nats - left <= SHORT * (self.null - left) or self.withstood == best.expression
        if not best.comparisons or not short:
            return False
        if vague_atom(Reader(self.seen), best) is not None:
            return False
        return best.wrong == 0 or (
            best.wrong <= self.settings.errors * self.seen.total
            and contradictions_look_random(self.seen, best, chance=SUSPICIOUS)
        )

    def could_be_product(self) -> bool:
        """Whether a sum of the best rule has two numbers or more, as a tangent of a product has."""
        return any(free_numbers(atom, self.seen.columns) > 1 for atom in self.best().atoms)

    def better_than_chance(self, network: Network) -> bool:
        """Whether a network is wrong on fewer rows that it was not trained on than the most frequent class is."""
        choose = self.choose
        wrong = float((network.classes(network.bits(choose.columns.x)).numpy() != choose.classes).sum())
        return len(choose) < FEW or wrong <= BETTER * float((choose.classes != self.learn.majority).sum())

    def columns_that_matter(self) -> list[str]:
        """The columns that the networks weigh most, if any of them is better than chance; else none."""
        if not any(map(self.better_than_chance, self.networks)):
            return []
        return columns_that_matter(self.networks, self.choose if len(self.choose) else self.learn)[:MATTERING]


def rescored(rule: Rule, before: LabelledRows, rows: LabelledRows) -> Rule:
    """A rule with the length of the description of other rows."""
    own, others = (
        description_length(some.classes, answers(rule.expression, some), some.weight, some.n_classes)
        for some in (before, rows)
    )
    return replace(rule, nats=rule.nats - own + others, wrong=weight_wrong(rule, rows))


def weight_wrong(rule: Rule, rows: LabelledRows) -> float:
    """The weight of the rows that contradict a rule."""
    return float(rows.weight[answers(rule.expression, rows) != rows.classes].sum())


def split_rows(rows: LabelledRows, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn from, to choose by and to judge by: by groups, if there are any, else stratified by class."""
    part = np.zeros(len(rows), dtype=np.int8)
    if rows.columns.groups is not None:
        part = split_groups(rows.columns.groups, rng, (CHOOSE, JUDGE))
    for label in range(rows.n_classes if rows.columns.groups is None else 0):
        members = rng.permutation(np.flatnonzero(rows.classes == label))
        choose, judge = int(len(members) * CHOOSE), int(len(members) * JUDGE)
        part[members[:choose]] = 1
        part[members[choose : choose + judge]] = 2
    learn, choose_by, judge_by = (np.flatnonzero(part == each) for each in range(3))
    return learn, choose_by, judge_by
