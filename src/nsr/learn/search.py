"""The search for a rule: comparisons are proposed, rules are read from them, the best is chosen, and then judged.

Rows are split three ways: to learn from, to choose by, and to judge by. The last are looked at once, for a rule that is
finished. What proposes comparisons, in this order, as long as no rule explains the rows: a screen of single columns and
differences of two; networks that weigh columns; networks that weigh logarithms, whose sums are products.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from nsr.learn.alternatives import conventional, not_distinguished, open_factors
from nsr.learn.base import PROPOSALS
from nsr.learn.candidates import candidate_sums, evenly_spaced, short_sums
from nsr.learn.chains import grown
from nsr.learn.diagnostics import deciding_rows, margins, not_covered
from nsr.learn.evidence import RuleEvidence
from nsr.learn.exceptions import exact_rule
from nsr.learn.interactions import Interactions
from nsr.learn.lookups import read_lookup
from nsr.learn.networks import Inputs, Network, columns_that_matter, train_networks
from nsr.learn.objections import (
    asks_conditions_only,
    contradictions_look_random,
    few_rows,
    free_numbers,
    held_out_objection,
    objection,
    time_objection,
    vague_atom,
)
from nsr.learn.proposals import propose
from nsr.learn.ratios import Multiple, best_multiples
from nsr.learn.refinement import CLOSE, SAME, as_one_idea, as_written, is_rival, polished, rivals, with_simpler_parts
from nsr.learn.rules import Alternatives, Preferred, Reader, Rule, description_length, nats_without_rule
from nsr.learn.steps import steps_along_one_sum
from nsr.learn.votes import read_votes, voting_atoms
from nsr.program.expressions import Expression
from nsr.program.program import Program
from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows, split_groups
from nsr.reading.rules import answers
from nsr.reading.screen import Screen

CHOOSE, JUDGE = 0.15, 0.15
"""The shares of the rows that rules are chosen by, and judged by."""
SHORT = 0.4
"""A rule ends the search if it costs at most this share of the nats that it explains."""
GROWN_ON = 1_000
"""Chains are grown on this many rows at most."""
CHAINS = 4
"""How many first comparisons the screen tries, and how many pairs of them."""
GROUPS = 2
"""How many groups of comparisons that say something together it tries."""
MULTIPLES = 2
"""How many multiples of columns it tries by themselves."""
MATTERING, FEW_MATTERING = 9, 6
"""How many columns are taken for those that matter; so many are screened where there are more than two classes."""
CONFIRMATIONS = 4
"""How many other seeds may be needed to confirm a rule: each that leads to a better one begins anew."""
EXTENDED = 3
"""How many rules are extended by further comparisons."""
SUSPICIOUS = 0.01
"""The search goes on if rows would contradict a rule so systematically less often than this by chance."""
READ = 8
"""How many networks are read."""
BETTER, FEW = 0.9, 20
"""A network is not read if it is wrong on more than this share of the rows to choose by that the most frequent class is
wrong on, unless there are few of them."""
_PROPOSED_BY = {"columns": "training"}
"""What of ``PROPOSALS`` an origin belongs to, if it is not one of them: networks name the columns of that screen."""
SPARSITIES = (4e-3, 2e-2)
"""Penalties on the weights of networks, in the order in which they are tried."""


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


@dataclass(frozen=True, eq=False)
class Found:
    """The best rule, the evidence for it, all networks that were read, and the best of these."""

    rule: Rule
    columns: Columns
    """The columns that the rule compares: those of the table, and products of them."""
    evidence: RuleEvidence
    networks: tuple[Network, ...]

    @property
    def best(self) -> Network | None:
        """The network to predict with; None if none was trained."""
        return self.networks[0] if self.networks else None


def search(rows: LabelledRows, settings: Settings) -> Found:
    """Look for the rule that gives the class of every row; one that another seed does not confirm is not handed out.

    If another seed leads to a rule that is clearly better, that one is to be confirmed in turn.
    """
    attempt = _Attempt(rows, settings)
    attempt.run(settings.proposals)
    found = attempt.found()
    for _ in range(CONFIRMATIONS):
        if found.evidence.reason is not None or settings.out_of_time:
            return found
        for other, same in attempt.rivals(found.rule):
            if not _agree(found, other, attempt.rows.columns, rows, same=same):
                return _not_the_only_one(found, attempt.rows.columns.readable(other.expression))
        if settings.out_of_time:
            return found
        attempt = _Attempt(rows, settings)
        since = PROPOSALS.index(_PROPOSED_BY.get(found.rule.origin, found.rule.origin))
        attempt.run([name for name in settings.proposals if PROPOSALS.index(name) >= since])
        other = attempt.reread(attempt.best())
        if not is_rival(other, found.rule) or _agree(found, other, attempt.rows.columns, rows):
            return found
        rival = attempt.rows.columns.readable(other.expression)
        if other.nats >= found.rule.nats - CLOSE:
            break
        rival, found = found.columns.readable(found.rule.expression), attempt.found()
    return _not_the_only_one(found, rival)


def _not_the_only_one(found: Found, other: Expression) -> Found:
    reason = (
        f"no exact rule: more rows are needed to distinguish the nearest rule from another one, which tests {other}"
    )
    return replace(found, evidence=replace(found.evidence, reason=reason))


def _agree(found: Found, other: Rule, columns: Columns, rows: LabelledRows, *, same: float = SAME) -> bool:
    """Whether two rules give the same answers but for a share of the rows, and of rows with the columns shuffled.

    Shuffled rows with a tie that no row shows do not count: the evidence names it.
    """
    names = rows.columns.names
    texts = found.columns.written_out(found.rule.expression), columns.written_out(other.expression)
    atoms = [atom for rule in (found.rule, other) for atom in rule.atoms if set(atom.columns) <= set(names)]
    unseen = [atom for atom in dict.fromkeys(atoms) if (rows.signs(atom) != 0).all()]
    for x in (rows.columns.x, _shuffled(rows)):
        shown = Columns(x, names)
        one, two = (shown.evaluate(Program(text, names)) for text in texts)
        tied = np.any([np.zeros(len(x), dtype=bool), *(shown.signs(atom) == 0 for atom in unseen)], axis=0)
        if ((one != two) & ~tied).mean() > same:
            return False
    return True


def _shuffled(rows: LabelledRows) -> Tensor:
    """The rows with each column of the table shuffled by itself."""
    x, rng = rows.columns.x, np.random.default_rng(0)
    sources = [rows.columns.meaning.source(name) for name in rows.columns.names]
    order = {source: rng.permutation(len(x)) for source in dict.fromkeys(sources)}
    return torch.stack([column[order[source]] for source, column in zip(sources, x.T, strict=True)], -1)


@dataclass(eq=False)
class _Attempt:
    """One search: the rows, split three ways, and what was found so far."""

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
        self.split()

    def split(self) -> None:
        """Split the rows by class; products that were added to the columns are in all parts."""
        if not hasattr(self, "_parts"):
            self._parts = split_rows(self.rows, self.settings.rng)
        learn, choose, judge = self._parts
        self.learn, self.judge = self.rows.subset(learn), self.rows.subset(judge)
        self.seen = self.rows.subset(np.sort(np.concatenate([learn, choose])))
        self.reader = Reader(self.learn, self.settings.preferred)
        self.null = nats_without_rule(self.seen)

    def run(self, wanted: Sequence[str]) -> None:
        """Try one thing after the other until a rule explains the rows."""
        for share, stage in self.stages(wanted):
            if self.finished() and not (stage == self.from_products and self.could_be_product()):
                break
            before = self.best().expression if self.rules else None
            stage()
            self.withstood = before if self.networks and self.best().expression == before else None
            self.settings.on_progress(share)
        self.cut_short = self.settings.out_of_time

    def stages(self, wanted: Sequence[str]) -> Iterator[tuple[float, Callable[[], None]]]:
        """What to try, with the share of the search that is done after it."""
        if "screen" in wanted:
            yield 0.1, self.from_screen
        if "training" in wanted:
            yield 0.3, lambda: self.from_training(SPARSITIES[0])
        if "products" in wanted:
            yield 0.5, self.from_products
        if "training" in wanted:
            yield 0.6, self.from_narrowed_screen
            yield 0.8, lambda: self.from_training(SPARSITIES[1])
            yield 0.9, self.from_narrowed_screen
            yield 1.0, lambda: self.from_training(SPARSITIES[0], narrowed=True)

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

    def best(self) -> Rule:
        """The rule with the shortest description of the rows to learn from and to choose by, read once more from both.

        Rules are compared as they were read.
        """
        if not self.rules:
            self._add(())
        chosen = min(self.rules, key=lambda rule: (rule.nats, rule.expression.size))
        if chosen.wrong == 0 and asks_conditions_only(self.seen.columns, chosen):
            return chosen
        if self._best is None or self._best[0] is not chosen.expression:
            reader = Reader(self.seen, self.settings.preferred)
            final = min((chosen, with_simpler_parts(reader, chosen)), key=lambda rule: (rule.wrong, rule.nats))
            self._best = chosen.expression, as_written(reader, polished(reader, final, self.settings.deadline))
        return self._best[1]

    def from_screen(self) -> None:
        """Comparisons of single columns and of two, chosen greedily."""
        screened = self.learn.subset(evenly_spaced(self.learn, GROWN_ON))
        screen = Screen(screened, candidate_sums(screened))
        self._add(())
        self._screen(screen, "screen")

    def _screen(self, screen: Screen, origin: str) -> None:
        """Chains of comparisons, grown from none, from the best ones, and from pairs that matter together."""
        if (lookup := read_lookup(self.reader, origin)) is not None:
            self.rules.append(_rescored(lookup, self.learn, self.seen))
            if self.finished():
                return
        if (steps := steps_along_one_sum(screen)) is not None:
            self._add(steps, origin=origin)
            if self.finished():
                return
        for start in self._starts(screen):
            self._add(grown(screen, self.reader, start, self.settings.deadline), origin=origin)
            if self.rules[-1].wrong == 0 or self.settings.out_of_time:
                break
        votes = (read_votes(self.reader, atoms, origin) for atoms in voting_atoms(screen))
        self.rules += [_rescored(rule, self.learn, self.seen) for rule in votes if rule is not None]
        if self.best().wrong == 0 and self.finished():
            return
        self._add_multiples(screen, origin)
        self._extend(screen.sums)

    def _starts(self, screen: Screen) -> Iterator[list[Atom]]:
        """What chains begin with: nothing, one comparison, and those that say something together."""
        yield []
        yield from ([atom] for atom in screen.first_atoms(CHAINS))
        together = Interactions(screen)
        yield from together.pairs()[:CHAINS]
        yield from together.groups()[:GROUPS]

    def _add_multiples(self, screen: Screen, origin: str) -> None:
        """Multiples of columns: by themselves, and in the place of the stairs that rules make along them."""
        pairs = [(one, two) for (one, _), (two, _) in (weights for weights in screen.sums if len(weights) == 2)]
        alone = best_multiples(screen.rows, pairs, count=MULTIPLES)
        starts: list[tuple[list[Atom], Multiple]] = [([], each) for each in alone]
        for rule in self._best_rules():
            for pair in _stairs(rule):
                others = [atom for atom in rule.atoms if not set(atom.columns) <= set(pair)]
                starts += [(others, each) for each in best_multiples(screen.rows, [pair], others)]
        for others, multiple in starts:
            if self.settings.out_of_time:
                return
            atoms = [*others, multiple.atom]
            atoms = atoms if others else grown(screen, self.reader, atoms, self.settings.deadline)
            self._add(atoms, {multiple.atom.weights: multiple.sums}, origin=origin)

    def _best_rules(self) -> list[Rule]:
        """Some different rules, the best one last."""
        scored = sorted(self.rules, key=lambda rule: rule.nats)
        return list({rule.expression: rule for rule in reversed(scored)}.values())[-EXTENDED:]

    def _extend(self, sums: Sequence[Weights]) -> None:
        """Add comparisons to the best rules where rows contradict them: few do, so the rows to choose by count too."""
        screen = Screen(self.seen.subset(evenly_spaced(self.seen, GROWN_ON)), sums)
        reader = Reader(self.seen, self.settings.preferred)
        best = [rule for rule in self._best_rules() if rule.wrong and rule.comparisons]
        self.rules += [self._extended(screen, reader, rule) for rule in best]

    def _extended(self, screen: Screen, reader: Reader, rule: Rule) -> Rule:
        """A rule with further comparisons where they explain rows that contradict it."""
        atoms = grown(screen, reader, list(rule.atoms), self.settings.deadline)
        return rule if set(atoms) == set(rule.atoms) else reader.read(atoms, origin=rule.origin)

    def _add(self, atoms: Sequence[Atom], alternatives: Alternatives | None = None, *, origin: str = "screen") -> None:
        """Read a rule from the rows to learn from, and describe with it those to choose by too."""
        rule = self.reader.read(atoms, alternatives, origin=origin)
        self.rules.append(_rescored(rule, self.learn, self.seen))

    def from_training(self, sparsity: float, *, narrowed: bool = False) -> None:
        """Comparisons of sums that networks learn, from all columns or from those that matter to earlier networks."""
        if narrowed and not any(map(self._better_than_chance, self.networks)):
            return
        inputs = Inputs.of(self.learn)
        self._read_networks(inputs.only(self._columns_that_matter()) if narrowed else inputs, sparsity, "training")

    def from_narrowed_screen(self) -> None:
        """Sums of up to four columns with weights 1 and -1, of the columns that matter to the networks."""
        if not any(map(self._better_than_chance, self.networks)):
            return
        most = MATTERING if self.learn.n_classes == 2 else FEW_MATTERING
        sums = list(short_sums(self.learn.columns, self._columns_that_matter()[:most]))
        if not sums:
            return
        self._screen(Screen(self.learn.subset(evenly_spaced(self.learn, GROWN_ON)), sums), "columns")

    def _columns_that_matter(self) -> list[str]:
        choose = self.rows.subset(self._parts[1])
        return columns_that_matter(self.networks, choose if len(choose) else self.learn)[:MATTERING]

    def from_products(self) -> None:
        """Comparisons of products that networks of logarithms learn."""
        inputs = Inputs.of(self.learn, logarithms=True)
        if len(inputs.names) > 1:
            self._read_networks(inputs, SPARSITIES[0], "products")

    def _read_networks(self, inputs: Inputs, sparsity: float, origin: str) -> None:
        settings = self.settings
        if not inputs.names:
            return
        networks = train_networks(
            self.learn,
            inputs,
            settings.restarts,
            settings.rng,
            choose=self.rows.subset(self._parts[1]),
            sparsity=sparsity,
            deadline=settings.deadline,
        )
        for network in filter(self._better_than_chance, networks[:READ]):
            proposal = propose(network, self.learn)
            if proposal.products:
                self.rows = self.rows.with_products(proposal.products)
                self.split()
            self._add(proposal.atoms, proposal.alternatives, origin=origin)
            if settings.out_of_time or (self.rules[-1].wrong == 0 and self.finished()):
                break
        self.networks += networks
        if not self.finished():
            self._extend(candidate_sums(self.learn))

    def _better_than_chance(self, network: Network) -> bool:
        """Whether a network is wrong on fewer rows that it was not trained on than the most frequent class is."""
        choose = self.rows.subset(self._parts[1])
        wrong = float((network.classes(network.bits(choose.columns.x)).numpy() != choose.classes).sum())
        return len(choose) < FEW or wrong <= BETTER * float((choose.classes != self.learn.majority).sum())

    def _reason(self, seen: Rule, rule: Rule, accuracy: float | None) -> str | None:
        """Why the rule is not handed out, and whether more time might help; None if it is."""
        expected = (_contradicting(seen, self.seen) + len(seen.atoms)) / len(self.seen)
        before = {atom.canonical for atom in seen.atoms}
        confirmed = not _contradicting(seen, self.judge) or {atom.canonical for atom in rule.atoms} <= before
        reason = objection(self.rows, rule, self.settings.errors, confirmed=confirmed)
        reason = reason or held_out_objection(_contradicting(seen, self.judge), len(self.judge), expected, accuracy)
        if reason is not None and self.cut_short and not few_rows(self.rows):
            return time_objection(self.settings.time_limit, 1 - rule.wrong / self.rows.total)
        return reason

    def reread(self, rule: Rule) -> Rule:
        """A rule that was read without the rows to judge by, read again with all rows if that explains them better."""
        before = _rescored(rule, self.seen, self.rows)
        reader = Reader(self.rows, self.settings.preferred)
        if not _wrong(rule, self.judge):
            return conventional(reader, before)
        screen = Screen(self.rows.subset(evenly_spaced(self.rows, GROWN_ON)), candidate_sums(self.rows))
        again = polished(reader, reader.read(rule.atoms, origin=rule.origin), self.settings.deadline)
        best = min(before, again, self._extended(screen, reader, again), key=lambda each: each.nats)
        best = as_one_idea(reader, best)
        others = (other for other, _ in self.rivals(best))
        return conventional(reader, min((best, *others), key=lambda each: each.nats))

    def rivals(self, rule: Rule) -> Iterator[tuple[Rule, float]]:
        """Rules that explain all rows as well, each with the share of the rows on which it may differ all the same."""
        return rivals(Reader(self.rows, self.settings.preferred), rule, self.settings.deadline)

    def _exact_rule(self, rule: Rule) -> str | None:
        """A longer rule that is right on all rows, if few rows contradict the rule and are hardly random."""
        if not rule.wrong:
            return None
        reader = Reader(self.rows, self.settings.preferred)
        exact = exact_rule(reader, rule, candidate_sums(self.rows), answers(rule.expression, self.rows))
        return None if exact is None else str(self.rows.columns.readable(exact))

    def found(self) -> Found:
        """The best rule, read once more from all rows but those to judge by, and then judged."""
        final = self.best()
        accuracy = 1 - _wrong(final, self.judge) / self.judge.total if len(self.judge) else None
        chosen = self.reread(final)
        deciding = deciding_rows(Reader(self.rows), chosen)
        evidence = RuleEvidence(
            rows=len(self.rows),
            agreement=1 - chosen.wrong / self.rows.total,
            held_out=accuracy,
            held_out_rows=len(self.judge),
            origin=chosen.origin,
            restarts=self.settings.restarts if self.networks else 0,
            reread=chosen.expression != final.expression,
            margins=margins(self.rows.columns, chosen, deciding),
            not_covered=not_covered(self.rows.columns, chosen, deciding),
            not_distinguished=not_distinguished(Reader(self.rows, self.settings.preferred), chosen),
            factors=open_factors(Reader(self.rows), chosen),
            exact=self._exact_rule(chosen),
            reason=self._reason(final, chosen, accuracy),
        )
        order = np.argsort([-_right(network, self.seen) for network in self.networks], kind="stable")
        networks = tuple(self.networks[at] for at in order)
        if networks and len(self.judge):
            evidence = replace(evidence, model_held_out=_right(networks[0], self.judge) / self.judge.total)
        return Found(chosen, self.rows.columns, evidence, networks)


def _stairs(rule: Rule) -> list[tuple[str, str]]:
    """Pairs of columns that a rule compares in two ways or more: with each other and with constants."""
    pairs = {atom.columns for atom in rule.atoms if len(atom.columns) == 2}
    alone = sorted({atom.columns[0] for atom in rule.atoms if len(atom.columns) == 1})
    pairs |= set(itertools.combinations(alone, 2))
    within = {pair: sum(set(atom.columns) <= set(pair) for atom in rule.atoms) for pair in pairs}
    return sorted((one, two) for (one, two), count in within.items() if count > 1)


def _rescored(rule: Rule, before: LabelledRows, rows: LabelledRows) -> Rule:
    """A rule with the length of the description of other rows."""
    own, others = (
        description_length(some.classes, answers(rule.expression, some), some.weight, some.n_classes)
        for some in (before, rows)
    )
    return replace(rule, nats=rule.nats - own + others, wrong=_wrong(rule, rows))


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


def _wrong(rule: Rule, rows: LabelledRows) -> float:
    return float(rows.weight[answers(rule.expression, rows) != rows.classes].sum())


def _contradicting(rule: Rule, rows: LabelledRows) -> int:
    """How many rows contradict a rule, whatever their weights."""
    return int((answers(rule.expression, rows) != rows.classes).sum())


def _right(network: Network, rows: LabelledRows) -> float:
    return float(rows.weight[network.logits(rows.columns.x).argmax(1) == rows.classes].sum())


def probabilities(network: Network, x: Tensor) -> np.ndarray:
    """(rows, classes): a network's probability for each class."""
    z = network.logits(x)
    odds = np.exp(z - z.max(1, keepdims=True))
    return np.asarray(odds / odds.sum(1, keepdims=True))
