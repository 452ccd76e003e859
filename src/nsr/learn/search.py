"""The search for a rule: comparisons are proposed, rules are read from them, the best is chosen, and then judged.

Rows are split three ways: to learn from, to choose by, and to judge by. The last are looked at once, for a rule that is
finished. What proposes comparisons, in this order, as long as no rule explains the rows: a screen of single columns and
differences of two; networks that weigh columns; networks that weigh logarithms, whose sums are products.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from torch import Tensor

from nsr.learn.candidates import SCREENED, candidate_sums, evenly_spaced, short_sums
from nsr.learn.diagnostics import (
    BY_CHANCE,
    UNEXPLAINED,
    chance_of_concentration,
    chance_of_nearness,
    margins,
    nats_unexplained,
    not_covered,
    smooth_border,
)
from nsr.learn.base import PROPOSALS
from nsr.learn.evidence import RuleEvidence, percent
from nsr.learn.networks import Inputs, Network, columns_that_matter, train_networks
from nsr.learn.proposals import Proposal, propose
from nsr.learn.precision import precision, simpler_sums, total_surprise
from nsr.learn.rules import (
    Preferred,
    Reader,
    Rule,
    case_nats,
    cases,
    description_length,
    exception_nats,
    nats_without_rule,
)
from nsr.learn.interactions import interactions
from nsr.learn.steps import steps_along_one_sum
from nsr.program.expressions import Expression
from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows
from nsr.reading.rules import answers
from nsr.reading.screen import Screen
from nsr.reading.weights import integer_weights

HELD_OUT = 0.2
CHOOSE, JUDGE = 0.15, 0.15
"""The shares of the rows that rules are chosen by, and judged by."""
CLEAR = 3.0
"""Nats by which a rule must shorten the description of the classes."""
SHORT = 0.4
"""A rule ends the search if it costs at most this share of the nats that it explains."""
DEEPEST = 10
"""How many comparisons the screen takes together at most."""
SLOW, PROGRESS = 5, 0.03
"""From so many comparisons on, each must explain at least this share of the classes: stairs along a slope do not."""
SAME_SUM = 2
"""How many of them may compare the same sum; steps along one sum are looked for separately."""
GROWN_ON = 1_000
"""Chains are grown on this many rows at most."""
SURPRISING = 3.0
"""Nats by which the numbers of a comparison of sums must be simpler than their ranges would lead one to expect."""
CONSTANTS_PER_ROW = 0.005
"""How many constants the rows may leave open: each misplaces about one row in so many."""
CLOSE = 20
"""How many of the best splits are compared by the length of the description, prices included."""
DESCRIPTIONS = (case_nats, exception_nats)
CHAINS = 4
"""How many first comparisons the screen tries, and how many pairs of them."""
MATTERING = 9
"""How many columns are taken for those that matter."""
HEAVY = 5
"""A weight is heavy if it is so many times another one."""
APART = 15.0
"""Nats by which a rule may be longer if it has plain comparisons in the place of a heavily weighted sum."""
EXTENDED = 3
"""How many rules are extended by further comparisons."""
READ = 8
"""How many networks are read."""
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
    model: bool = False
    """Whether a network is wanted even where there is a rule."""
    on_progress: Callable[[float], None] = lambda _: None
    """Called with the share of the search that is done."""


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
    """Look for the rule that gives the class of every row."""
    attempt = _Attempt(rows, settings)
    for share, stage in attempt.stages():
        if attempt.finished():
            break
        stage()
        settings.on_progress(share)
    return attempt.found()


@dataclass(eq=False)
class _Attempt:
    """One search: the rows, split three ways, and what was found so far."""

    rows: LabelledRows
    settings: Settings
    rules: list[Rule] = field(default_factory=list)
    networks: list[Network] = field(default_factory=list)
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

    def stages(self) -> Iterator[tuple[float, Callable[[], None]]]:
        """What to try, one after the other, with the share of the search that is done after it."""
        wanted = self.settings.proposals
        if "screen" in wanted:
            yield 0.1, self.from_screen
        if "training" in wanted:
            yield 0.3, lambda: self.from_training(SPARSITIES[0])
            yield 0.4, self.from_narrowed_screen
        if "products" in wanted:
            yield 0.6, self.from_products
        if "training" in wanted:
            yield 0.8, lambda: self.from_training(SPARSITIES[1])
            yield 0.9, self.from_narrowed_screen
            yield 1.0, lambda: self.from_training(SPARSITIES[0], narrowed=True)

    def finished(self) -> bool:
        """Whether a short rule explains the rows, or time is up."""
        if time.monotonic() > self.settings.deadline and self.rules:
            return True
        if not self.rules or (self.settings.model and not self.networks):
            return False
        best = self.best()
        left = description_length(
            self.seen.classes, answers(best.expression, self.seen), self.seen.weight, self.seen.n_classes
        )
        if not best.comparisons or best.nats - left > SHORT * (self.null - left):
            return False
        if _vague(Reader(self.seen), best) is not None:
            return False
        return best.wrong == 0 or (
            best.wrong <= self.settings.errors * self.seen.total and _look_random(self.seen, best)
        )

    def best(self) -> Rule:
        """The rule with the shortest description of the rows to learn from and to choose by, read once more from both.

        Rules are compared as they were read from the rows to learn from.
        """
        chosen = min(self._rescored(), key=lambda rule: (rule.nats, rule.expression.size))
        if self._best is None or self._best[0] is not chosen.expression:
            reader = Reader(self.seen, self.settings.preferred)
            alternatives = {
                atom.weights: simpler_sums(reader, chosen.atoms, at)
                for at, atom in enumerate(chosen.atoms)
                if len(atom.weights) > 1
            }
            again = reader.read(chosen.atoms, alternatives, origin=chosen.origin)
            final = min((chosen, again), key=lambda rule: (rule.wrong, rule.nats))
            self._best = chosen.expression, self._taken_apart(reader, final)
        return self._best[1]

    def _taken_apart(self, reader: Reader, rule: Rule) -> Rule:
        """A rule with ``20*a + c > 20*b + d`` as two comparisons where these do as well: first a and b, then c and d."""
        atoms = [part for atom in rule.atoms for part in parts_by_size(atom)]
        if len(atoms) == len(rule.atoms):
            return rule
        apart = reader.read(atoms, origin=rule.origin)
        return apart if apart.wrong <= rule.wrong and apart.nats <= rule.nats + APART else rule

    def from_screen(self) -> None:
        """Comparisons of single columns and of two, chosen greedily."""
        screened = self.learn.subset(evenly_spaced(self.learn, GROWN_ON))
        screen = Screen(screened, candidate_sums(screened))
        self.rules.append(self.reader.read(()))
        self._screen(screen, "screen")

    def _screen(self, screen: Screen, origin: str) -> None:
        """Chains of comparisons, grown from none, from the best ones, and from pairs that matter together."""
        if (steps := steps_along_one_sum(screen)) is not None:
            self.rules.append(self.reader.read(steps, origin=origin))
            if self.finished():
                return
        for start in [[], *([atom] for atom in screen.first_atoms(CHAINS)), *interactions(screen)[:CHAINS]]:
            self.rules.append(self.reader.read(grown(screen, self.reader, start), origin=origin))
            if self.rules[-1].wrong == 0 or time.monotonic() > self.settings.deadline:
                break
        self._extend(screen.sums)

    def _extend(self, sums: Sequence[Weights]) -> None:
        """Add comparisons to the best rules where rows contradict them: few do, so the rows to choose by count too."""
        screen = Screen(self.seen.subset(evenly_spaced(self.seen, GROWN_ON)), sums)
        scored = sorted(self._rescored(), key=lambda rule: rule.nats)
        for rule in list({rule.expression: rule for rule in reversed(scored)}.values())[-EXTENDED:]:
            if rule.wrong and rule.comparisons:
                atoms = grown(screen, Reader(self.seen), list(rule.atoms))
                if set(atoms) != set(rule.atoms):
                    self.rules.append(self.reader.read(atoms, origin=rule.origin))

    def _rescored(self) -> list[Rule]:
        """All rules, with the description of the rows to learn from and to choose by."""
        return [_rescored(rule, self.learn, self.seen) for rule in self.rules]

    def from_training(self, sparsity: float, *, narrowed: bool = False) -> None:
        """Comparisons of sums that networks learn, from all columns or from those that matter to earlier networks."""
        inputs = Inputs.of(self.learn)
        self._read_networks(inputs.only(self._columns_that_matter()) if narrowed else inputs, sparsity, "training")

    def from_narrowed_screen(self) -> None:
        """Sums of up to four columns with weights 1 and -1, of the columns that matter to the networks."""
        sums = list(short_sums(self.learn.columns, self._columns_that_matter()))
        self._screen(Screen(self.learn.subset(evenly_spaced(self.learn, GROWN_ON)), sums), "training")

    def _columns_that_matter(self) -> list[str]:
        return columns_that_matter(self.networks, self.rows.subset(self._parts[1]))[:MATTERING]

    def from_products(self) -> None:
        """Comparisons of products that networks of logarithms learn."""
        inputs = Inputs.of(self.learn, logarithms=True)
        if len(inputs.names) > 1:
            self._read_networks(inputs, SPARSITIES[0], "products")

    def _read_networks(self, inputs: Inputs, sparsity: float, origin: str) -> None:
        settings = self.settings
        networks = train_networks(
            self.learn,
            inputs,
            settings.restarts,
            settings.rng,
            choose=self.rows.subset(self._parts[1]),
            sparsity=sparsity,
            deadline=settings.deadline,
        )
        for network in networks[:READ]:
            proposal = propose(network, self.learn)
            if proposal.products:
                self.rows = self.rows.with_products(proposal.products)
                self.split()
            self.rules.append(self.reader.read(proposal.atoms, proposal.alternatives, origin=origin))
            if self.rules[-1].wrong == 0 and self.finished():
                break
        self.networks += networks
        if not self.finished():
            self._extend(candidate_sums(self.learn))

    def found(self) -> Found:
        """The best rule, read once more from all rows but those to judge by, and then judged."""
        self.rules = self.rules or [self.reader.read(())]
        final = self.best()
        judged = _wrong(final, self.judge)
        accuracy = 1 - judged / self.judge.total if len(self.judge) else None
        again = Reader(self.rows, self.settings.preferred).read(final.atoms, origin=final.origin)
        whole = _rescored(final, self.seen, self.rows)
        if judged and again.wrong < whole.wrong:
            whole, reread = again, True
        else:
            reread = False
        evidence = RuleEvidence(
            rows=len(self.rows),
            agreement=1 - whole.wrong / self.rows.total,
            held_out=accuracy,
            held_out_rows=len(self.judge),
            origin=whole.origin,
            restarts=self.settings.restarts if self.networks else 0,
            reread=reread,
            margins=margins(self.rows.columns, whole),
            not_covered=not_covered(self.rows.columns, whole),
            reason=_objection(self.rows, whole, self.settings.errors)
            or _held_out_objection(accuracy, len(self.judge), whole, self.settings.errors),
        )
        order = np.argsort([-_right(network, self.rows) for network in self.networks], kind="stable")
        return Found(whole, self.rows.columns, evidence, tuple(self.networks[at] for at in order))


def grown(screen: Screen, reader: Reader, atoms: list[Atom]) -> list[Atom]:
    """Atoms chosen greedily, each for the description it shortens most, as long as one does.

    Two descriptions count: one sees progress in mixed cases, the other insists that cases become pure.
    """
    rows, sums = screen.rows, screen.sums
    now = [math.inf, math.inf]
    while len(atoms) <= DEEPEST:
        place = cases(_signs(rows, atoms))
        price = sum(map(reader.price, atoms))
        now = [min(before, describe(rows, place) + price) for before, describe in zip(now, DESCRIPTIONS, strict=True)]
        splits = screen.splits(place, atoms, sums)
        if len(sums) == len(screen.sums):
            sums = [split.atom.weights for split in splits[: max(100, len(rows.columns.names))]]
        used = Counter(atom.weights for atom in atoms)
        sums = [weights for weights in sums if used[weights] < SAME_SUM]
        enough = PROGRESS * nats_without_rule(rows) if len(atoms) >= SLOW else 0.0
        close = dict.fromkeys([*_best_at_zero(rows, place, sums)[:CLOSE], *(split.atom for split in splits[:CLOSE])])
        options = [[*atoms, atom] for atom in close if atom not in atoms]
        for before, describe in zip(now, DESCRIPTIONS, strict=True):
            nats = [describe(rows, cases(_signs(rows, option))) + sum(map(reader.price, option)) for option in options]
            if options and min(nats) < before - enough:
                atoms = options[int(np.argmin(nats))]
                break
        else:
            break
    return atoms


def _best_at_zero(rows: LabelledRows, place: np.ndarray, sums: Sequence[Weights]) -> list[Atom]:
    """Sums of several columns compared with 0, those that leave the least uncertainty first."""
    atoms = [Atom(weights) for weights in sums if len(weights) > 1]
    return sorted(atoms, key=lambda atom: rows.uncertainty(place * 3 + rows.signs(atom) + 1))


def parts_by_size(atom: Atom) -> list[Atom]:
    """An atom of weights of two sizes as one atom for each size; others as they are."""
    sizes = sorted({abs(weight) for _, weight in atom.weights}, reverse=True)
    if atom.constant or len(sizes) != 2 or sizes[0] < HEAVY * sizes[1]:
        return [atom]
    parts = [[(name, weight // size) for name, weight in atom.weights if abs(weight) == size] for size in sizes]
    if any(sum(weight for _, weight in part) for part in parts):
        return [atom]
    return [Atom(integer_weights(*zip(*((name, Fraction(weight)) for name, weight in part)))) for part in parts]


def _signs(rows: LabelledRows, atoms: Sequence[Atom]) -> np.ndarray:
    signs = [rows.signs(atom) for atom in atoms]
    return np.column_stack(signs) if signs else np.zeros((len(rows), 0), dtype=np.int8)


def _rescored(rule: Rule, before: LabelledRows, rows: LabelledRows) -> Rule:
    """A rule with the length of the description of other rows."""
    own, others = (
        description_length(some.classes, answers(rule.expression, some), some.weight, some.n_classes)
        for some in (before, rows)
    )
    return replace(rule, nats=rule.nats - own + others, wrong=_wrong(rule, rows))


def _look_random(rows: LabelledRows, rule: Rule) -> bool:
    """Whether the rows that contradict a rule are as wrong labels would be."""
    if chance_of_nearness(rows, rule) < BY_CHANCE or chance_of_concentration(rows, rule) < BY_CHANCE:
        return False
    screened = rows.subset(evenly_spaced(rows, SCREENED))
    return nats_unexplained(Screen(screened, candidate_sums(screened)), rule) <= UNEXPLAINED


def _objection(rows: LabelledRows, rule: Rule, errors: float) -> str | None:
    """Why a rule is not handed out; None if it is."""
    without = nats_without_rule(rows)
    if without < CLEAR + 2 * math.log(6 * len(rows.columns.names)):
        rarest = int(np.bincount(rows.classes, minlength=rows.n_classes).min())
        return (
            f"no rule: too few rows to tell a rule from chance ({len(rows):,} distinct rows, "
            f"{rarest:,} of the rarest class)"
        )
    if not rule.comparisons or rule.nats > without - CLEAR:
        return "no rule: no comparison of the columns separates the classes better than chance"
    if (border := smooth_border(rows, rule)) is not None:
        return (
            f"no exact rule: comparisons only approximate the border, which is about {border}; "
            "add that expression as a column"
        )
    if (atom := _vague(Reader(rows), rule)) is not None:
        left, right = map(rows.columns.written_out, atom.sides)
        return (
            f"no exact rule: comparing {left} with {right} explains the rows, but so do many other numbers; "
            "more rows near that border would tell whether it is exact"
        )
    return _contradictions_objection(rows, rule, errors)


def _contradictions_objection(rows: LabelledRows, rule: Rule, errors: float) -> str | None:
    """Why the rows that contradict a rule are too many, or not random."""
    share = rule.wrong / rows.total
    contradicted = f"no exact rule: {percent(share)} of the rows contradict the nearest rule"
    if share > errors:
        return f"{contradicted} (allowed: {percent(errors)})"
    if rule.wrong:
        screened = rows.subset(evenly_spaced(rows, SCREENED))
        if nats_unexplained(Screen(screened, candidate_sums(screened)), rule) > UNEXPLAINED:
            return f"{contradicted}, and not at random: further comparisons would explain some of them"
        if chance_of_concentration(rows, rule) < BY_CHANCE:
            return f"{contradicted}, and not at random: they are in few of its cases"
        if chance_of_nearness(rows, rule) < BY_CHANCE:
            return f"{contradicted}, and not at random: they lie along its borders"
    return None


def _vague(reader: Reader, rule: Rule) -> Atom | None:
    """A comparison of a sum whose numbers are not simpler than chance would make them; None if there is none."""
    known = [precision(reader, rule, position) for position in range(len(rule.atoms))]
    unknown = {abs(atom.constant) for atom, each in zip(rule.atoms, known, strict=True) if each and each.open}
    if total_surprise(rule, known) < SURPRISING * 2 and len(unknown) > CONSTANTS_PER_ROW * len(reader.rows):
        return next(atom for atom in rule.atoms if abs(atom.constant) in unknown)
    for position, atom in enumerate(rule.atoms):
        plain = sorted(weight for _, weight in atom.weights) == [-1, 1] and atom.constant == 0
        each = known[position]
        if len(atom.weights) > 1 and not plain and each is not None and each.weights + each.constant < SURPRISING:
            return atom
    return None


def _held_out_objection(accuracy: float | None, rows: int, rule: Rule, errors: float) -> str | None:
    """Why held-out rows speak against a rule; None if they do not."""
    if accuracy is None or 1 - accuracy <= errors + 2 * math.sqrt((errors + 1 / rows) / rows):
        return None
    return f"no rule: the best one is right on only {percent(accuracy)} of the held-out rows"


def split_rows(rows: LabelledRows, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn from, to choose by and to judge by, stratified by class."""
    part = np.zeros(len(rows), dtype=np.int8)
    for label in range(rows.n_classes):
        members = rng.permutation(np.flatnonzero(rows.classes == label))
        choose, judge = int(len(members) * CHOOSE), int(len(members) * JUDGE)
        part[members[:choose]] = 1
        part[members[choose : choose + judge]] = 2
    learn, choose_by, judge_by = (np.flatnonzero(part == each) for each in range(3))
    return learn, choose_by, judge_by


def _wrong(rule: Rule, rows: LabelledRows) -> float:
    return float(rows.weight[answers(rule.expression, rows) != rows.classes].sum())


def _right(network: Network, rows: LabelledRows) -> float:
    return float(rows.weight[network.logits(rows.columns.x).argmax(1) == rows.classes].sum())


def probabilities(network: Network, x: Tensor) -> np.ndarray:
    """(rows, classes): a network's probability for each class."""
    z = network.logits(x)
    odds = np.exp(z - z.max(1, keepdims=True))
    return np.asarray(odds / odds.sum(1, keepdims=True))
