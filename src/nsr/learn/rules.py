"""From comparisons and rows to the rule that gives the class of every row.

The rule with the shortest description of rule and rows together is chosen (minimum description length): a further
comparison must explain more than it costs to name. So random labels give no rule, and a few wrong labels do not make a
rule longer.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from scipy.special import gammaln

from nsr.learn.orders import is_order, order_nats
from nsr.learn.proposals import CONSTANT, best_cut
from nsr.program.conditions import OneOf
from nsr.program.expressions import Compare, Constant, Count, Expression, Truth, Variable
from nsr.program.substitution import rebuilt, without_parts
from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns
from nsr.reading.logic import Table, class_formula, comparisons
from nsr.reading.rounding import number_nats, simplest
from nsr.reading.rows import LabelledRows
from nsr.reading.rules import Gap, SideClasses, answers, floats_agree, gap_between
from nsr.reading.weights import weights_nats

DECISIVE = 4.0
"""Nats by which the rows of a case must favour one class where labels may be wrong; else the case is left open."""
CERTAIN = 0.02
"""How many rows of each class a case is thought to have before any is seen: below 1, cases are expected to be pure."""
WOBBLE = 2.0
"""How many more rows a simpler constant may contradict where labels are wrong anyway."""
PER_ROW = 1.5
"""Nats that a row costs which a simpler constant contradicts."""
LN2 = math.log(2)
MOST_ATOMS = 40

Preferred = Mapping[Weights, Sequence[Fraction]]
"""Constants for sums that are taken before simpler ones."""
Alternatives = Mapping[Weights, Sequence[Weights]]
"""Sums that may stand in for a sum."""


@dataclass(frozen=True, eq=False)
class Rule:
    """An expression for the class: a formula if there are two classes, else a choice between class numbers."""

    expression: Expression
    atoms: tuple[Atom, ...]
    """What the expression compares."""
    nats: float
    """The length of the description: the rule, and the classes of the rows given the rule."""
    wrong: float
    """The weight of the rows that contradict it."""
    origin: str = "screen"
    """What proposed its comparisons."""

    @property
    def comparisons(self) -> int:
        """How many comparisons it makes."""
        return comparisons(self.expression)


@dataclass(eq=False)
class Reader:
    """Reads rules from rows."""

    rows: LabelledRows
    preferred: Preferred = field(default_factory=dict)
    _prices: dict[Atom, float] = field(default_factory=dict)

    def read(self, atoms: Sequence[Atom], alternatives: Alternatives | None = None, *, origin: str = "screen") -> Rule:
        """The rule with the shortest description that compares these sums, or alternatives, with suitable constants."""
        chosen, left_out = list(dict.fromkeys(atoms))[:MOST_ATOMS], []
        for _ in range(2):
            every = self._with_better_sums(self._with_zeros(chosen), alternatives or {})
            chosen = self._without_superfluous(every)
            left_out += [atom for atom in every if atom not in chosen]
        rule = self.read_all(chosen, origin)
        for atom in self._worth_adding(chosen, left_out):
            rule = min(rule, self.read_all([*rule.atoms, atom], origin), key=lambda each: each.nats)
        return rule

    def read_all(self, atoms: list[Atom], origin: str) -> Rule:
        """The rule that compares all of these sums, whether it pays or not, with suitable constants."""
        return self._rule(self._with_simple_constants(self._with_zeros(atoms)), origin)

    def _worth_adding(self, kept: Sequence[Atom], left_out: Sequence[Atom]) -> list[Atom]:
        """Atoms that were left out although they explain more rows than they cost.

        Cases are a poor price for formulas such as ``a = k or b = k or ...``, which have many cases and are short.
        """
        now = self._contradicted(kept)
        per_row = math.log(max(self.rows.total / max(now, 1.0), math.e))
        return [
            atom
            for atom in dict.fromkeys(left_out)
            if (now - self._contradicted([*kept, atom])) * per_row > self.price(atom)
        ]

    def signs(self, atoms: Sequence[Atom]) -> np.ndarray:
        """(rows, atoms): each row's side of each atom."""
        if not atoms:
            return np.zeros((len(self.rows), 0), dtype=np.int8)
        return np.column_stack([self.rows.signs(atom) for atom in atoms])

    def nats(self, atoms: Sequence[Atom]) -> float:
        """What atoms cost, and the classes of the rows given each row's side of each."""
        return exception_nats(self.rows, cases(self.rows, atoms)) + sum(map(self.price, atoms))

    def price(self, atom: Atom) -> float:
        """Nats to name an atom: its sum and its constant, if it has one."""
        if atom not in self._prices:
            self._prices[atom] = self._price(atom)
        return self._prices[atom]

    def _price(self, atom: Atom) -> float:
        columns = self.rows.columns
        n_columns = len(columns.names) - len(columns.products)
        factors = [len(columns.products[name].children) for name in atom.columns if name in columns.products]
        nats = weights_nats(atom.weights, n_columns) + sum(count * math.log(max(n_columns, 2)) for count in factors)
        nats += _texts_nats(columns, atom.weights)
        constant = columns.intended_constant(atom)
        if constant == 0 and len(atom.weights) > 1:
            return nats
        return nats + self._number_price(constant) + (CONSTANT if len(atom.weights) > 1 else 0.0)

    def prices(self, atoms: Sequence[Atom]) -> float:
        """Nats to name some atoms: a number is named once, although others are compared with it or its negative."""
        intended = self.rows.columns.intended_constant
        numbers = [abs(intended(atom)) for atom in {each.canonical for each in atoms}]
        again = {number: count - 1 for number, count in Counter(numbers).items() if number and count > 1}
        saved = sum(count * max(self._number_price(number) - LN2, 0.0) for number, count in again.items())
        return sum(map(self.price, atoms)) - saved

    def _number_price(self, constant: Fraction) -> float:
        """Nats to name a constant: it is simple, or one of the places between two rows."""
        return min(number_nats(constant) or LN2, math.log(len(self.rows)) + 3.0)

    def _with_better_sums(self, atoms: list[Atom], alternatives: Alternatives) -> list[Atom]:
        """Each atom with the best of the sums that may stand in for its own, the others staying as they are."""
        atoms = list(atoms)
        for position, atom in enumerate(atoms):
            sums = list(dict.fromkeys([atom.weights, *alternatives.get(atom.weights, ())]))
            if len(sums) == 1:
                continue
            sides = self.side_classes(atoms, position)
            if sides is None:
                continue
            known = (sides.below == self.rows.classes) | (sides.above == self.rows.classes)
            deciding = np.flatnonzero((sides.below != sides.above) & known)
            if not len(deciding):
                continue
            side = np.where(sides.above[deciding] == self.rows.classes[deciding], 1, -1)
            columns, weight = self.rows.columns.subset(deciding), self.rows.weight[deciding]
            cuts = [best_cut(columns, weights, side, weight) for weights in sums]
            least = min(cut.wrong for cut in cuts)
            nats = math.log(len(self.rows) / max(least, 1.0))
            n_columns = len(self.rows.columns.names)
            best = min(cuts, key=lambda cut: cut.nats(n_columns, nats) + _texts_nats(self.rows.columns, cut.weights))
            if best.weights != atom.weights:
                atoms[position] = Atom(best.weights, best.constant)
        return list(dict.fromkeys(atoms))

    def _without_superfluous(self, atoms: list[Atom]) -> list[Atom]:
        """Leave out atoms as long as that makes the description shorter."""
        now = self.nats(atoms)
        while atoms:
            options = [[*atoms[:at], *atoms[at + 1 :]] for at in range(len(atoms))]
            nats = [self.nats(option) for option in options]
            best = int(np.argmin(nats))
            if nats[best] > now:
                break
            atoms, now = options[best], nats[best]
        return atoms

    def _with_zeros(self, atoms: list[Atom]) -> list[Atom]:
        """Sums of several columns with the constant 0, all of them or one after the other, where rows allow it."""

        def zero(atom: Atom) -> Atom:
            return atom.with_constant(Fraction(0)) if len(atom.weights) > 1 else atom

        together = list(dict.fromkeys(map(zero, atoms)))
        if self._contradicted(together) <= self._contradicted(atoms):
            return together
        for atom in atoms:
            changed = list(dict.fromkeys(zero(each) if each == atom else each for each in atoms))
            if self._contradicted(changed) <= self._contradicted(atoms):
                atoms = changed
        return atoms

    def _contradicted(self, atoms: Sequence[Atom]) -> float:
        """The weight of the rows that no formula of the atoms can be right on."""
        return outvoted(case_counts(self.rows, cases(self.rows, atoms)))

    def _with_simple_constants(self, atoms: list[Atom]) -> list[Atom]:
        """Each atom with a simple constant; one that another atom has is simple too.

        So is the negative of a simple constant of the same sum, as in ``abs(a - b) > 5``.
        """
        atoms, simple = list(atoms), set[Atom]()
        for _ in range(2):
            for position, atom in enumerate(atoms):
                sides = self.side_classes(atoms, position)
                if sides is None:
                    continue
                gap, loose = (gap_between(self.rows, atom, replace(sides, slack=each)) for each in (0.0, sides.slack))
                if gap is not None and loose is not None:
                    others = [each for each in atoms if each != atom]
                    negative = _negative_constants(simple, atom)
                    atoms[position] = atom.with_constant(self._constant(atom, gap, loose, others, sides, negative))
                    simple = {*simple - {atom}, atoms[position]}
        return list(dict.fromkeys(atoms))

    @property
    def _per_row(self) -> float:
        """Nats that a row costs which a simpler constant contradicts; a wrong label could be of any other class."""
        return PER_ROW + math.log(self.rows.n_classes - 1) / 2

    def misplaced(self, atom: Atom, sides: SideClasses) -> float:
        """The weight of the rows that are on the wrong side of an atom; equal rows are on the better side."""
        signs, rows = self.rows.signs(atom), self.rows
        below, above = (rows.weight * (classes != rows.classes) for classes in (sides.below, sides.above))
        equal = signs == 0
        return float(below[signs < 0].sum() + above[signs > 0].sum() + min(below[equal].sum(), above[equal].sum()))

    def _constant(
        self, atom: Atom, gap: Gap, loose: Gap, others: Sequence[Atom], sides: SideClasses, negative: set[Fraction]
    ) -> Fraction:
        """A preferred constant if one fits, else the cheapest; away from rows that float sums would misplace.

        One that another atom has is cheap if the sum can be equal to it, and so are those of ``negative``. Constants of
        the same sum stay in order.

        One that a few more rows contradict, where labels are wrong anyway, must be simpler by what these rows cost.
        """
        fitting = [value for value in self.preferred.get(atom.weights, ()) if gap.low <= value <= gap.high]
        options = [simplest(gap.low, gap.high, gap.middle), simplest(loose.low, loose.high, loose.middle)]
        cuts = [cut for each in others if (cut := _on_the_same_sum(each, atom)) is not None]
        step = self.rows.columns.step(atom.weights)
        known = {each.constant for each in others if each.constant and _on_the_same_sum(each, atom) is None}
        known = {each for each in known if step is None or (each / step).denominator == 1} | negative
        options += [each for each in (*known, Fraction(0)) if sides.slack or gap.low <= each <= gap.high]
        options = [each for each in options if not any(_apart(each, atom.constant, cut) for cut in cuts)]
        least = self.misplaced(atom.with_constant(gap.middle), sides)

        def cost(each: Fraction) -> float:
            extra = self.misplaced(atom.with_constant(each), sides) - least
            named = LN2 if each in known else number_nats(each)
            return self._per_row * max(extra, 0.0) + (
                named if len(atom.weights) == 1 else (CONSTANT + named) * (each != 0)
            )

        constant = fitting[0] if fitting else min(dict.fromkeys(options), key=cost, default=gap.middle)
        atom = atom.with_constant(constant)
        no_grid = self.rows.columns.unit(atom.weights) is None
        if floats_agree(self.rows, atom) if no_grid else self.rows.columns.floats_are_exact(atom):
            return constant
        if sides.slack and step is not None and (constant / step).denominator == 1:
            beside = (constant + step / 2, constant - step / 2)  # the best cut may be elsewhere, where labels are wrong
            return min(beside, key=lambda each: self.misplaced(atom.with_constant(each), sides))
        return self.rows.columns.beside_the_grid(atom, gap.below, gap.above)

    def side_classes(self, atoms: Sequence[Atom], position: int) -> SideClasses | None:
        """The class of each row below and above an atom; None where equal rows belong to neither."""
        others = cases(self.rows, [*atoms[:position], *atoms[position + 1 :]])
        votes = self._votes_of_sides(others, atoms[position])
        side, contradicted = self._side_of_ties(votes)
        if side == 0:
            return None
        below, equal, above = votes[:, 0], votes[:, 1], votes[:, 2]
        below, above = (below + equal, above) if side < 0 else (below, equal + above)
        low, high = below.argmax(1), above.argmax(1)
        per_row = nats_per_row(contradicted, self.rows.total)
        low, high = np.where(_decided(below, per_row), low, high), np.where(_decided(above, per_row), high, low)
        return SideClasses(low[others], high[others], WOBBLE if contradicted > 0 else 0.0)

    def _votes_of_sides(self, others: np.ndarray, atom: Atom) -> np.ndarray:
        """(cases, 3, classes): the weight of the rows below, at and above an atom, in cases of other atoms."""
        rows, n_cases = self.rows, int(others.max()) + 1
        cells = refined(rows, others, atom) * rows.n_classes + rows.classes
        return np.bincount(cells, rows.weight, n_cases * 3 * rows.n_classes).reshape(n_cases, 3, rows.n_classes)

    def _side_of_ties(self, votes: np.ndarray) -> tuple[int, float]:
        """-1 or 1 where equal rows belong to those below or above, 0 where to neither; and the rows outvoted anyway."""
        below, equal, above = votes[:, 0], votes[:, 1], votes[:, 2]
        lost = [sum(map(outvoted, parts)) for parts in ((below + equal, above), (below, equal + above))]
        contradicted = outvoted(votes.reshape(-1, self.rows.n_classes))
        if min(lost) > contradicted + (WOBBLE if contradicted > 0 else 0.0):
            return 0, contradicted
        return (-1, 1)[int(np.argmin(lost))], contradicted

    def _rule(self, atoms: list[Atom], origin: str) -> Rule:
        rows = self.rows
        table = self._table(atoms)
        expression = (
            class_formula(table, rows.n_classes)
            if len(table.classes)
            else class_formula(Table(np.zeros((1, 0)), np.array([rows.majority]), [], []), rows.n_classes)
        )
        return self.tidied(expression, atoms, origin)

    def tidied(self, expression: Expression, atoms: Sequence[Atom], origin: str) -> Rule:
        """An expression over some atoms as a rule, with its ties on the better side and without superfluous parts."""
        expression = self._with_one_spelling(self._with_best_ties(self._with_flags(expression)))
        return self._pruned(self.scored(expression, atoms, origin))

    def _pruned(self, rule: Rule) -> Rule:
        """A rule without those of its conditions that only explain a few rows, of which the labels may be wrong."""
        while rule.wrong:
            options = [self.scored(each, rule.atoms, rule.origin) for each in without_parts(rule.expression)]
            shorter = min(options, key=lambda each: each.nats, default=rule)
            if shorter.nats >= rule.nats:
                break
            rule = shorter
        return rule

    def scored(self, expression: Expression, atoms: Sequence[Atom], origin: str) -> Rule:
        """An expression over some atoms as a rule, with the length of its description."""
        rows, guess = self.rows, answers(expression, self.rows)
        nats = description_length(rows.classes, guess, rows.weight, rows.n_classes)
        used = _used(expression, atoms)
        nats += self.prices(used) + _formula_nats(expression, used)
        return Rule(expression, tuple(used), nats, float(rows.weight[guess != rows.classes].sum()), origin)

    def _with_flags(self, expression: Expression) -> Expression:
        """The expression with ``flag = 1`` in the place of ``flag > 0``, for columns that only hold 0 and 1."""
        x = self.rows.columns.x
        names = {node.name for node in expression.walk() if isinstance(node, Variable)}
        flags = {name for name in names if set(x[:, self.rows.columns.names.index(name)].tolist()) == {0, 1}}
        return with_flags(expression, flags).simplified() if flags else expression

    def _with_best_ties(self, expression: Expression) -> Expression:
        """The expression with > in the place of >=, or the reverse, where fewer rows contradict it."""
        if not self._contradicts(expression):
            return expression
        for sides in _inequalities(expression):
            other = with_turned_ties(expression, sides).simplified()
            if self._contradicts(other) < self._contradicts(expression):
                expression = other
        return expression

    def _with_one_spelling(self, expression: Expression) -> Expression:
        """The expression with one of > and >= for each border, as long as no more rows contradict it."""
        for sides in _inequalities(expression):
            operators = {node.operator for node in _comparisons_of(expression, sides)}
            if not (operators & {">", "<="} and operators & {">=", "<"}) or operators & {"=", "!="}:
                continue
            least = self._contradicts(expression)
            options = [_spelled(expression, sides, spelling).simplified() for spelling in ((">", "<="), (">=", "<"))]
            fitting = [each for each in options if self._contradicts(each) <= least]
            before = set(expression.walk())
            expression = max(fitting, key=lambda each: len(before & set(each.walk())), default=expression)
        return expression

    def _contradicts(self, expression: Expression) -> float:
        return float(self.rows.weight[answers(expression, self.rows) != self.rows.classes].sum())

    def _table(self, atoms: Sequence[Atom]) -> Table:
        """The class of every case that the rows decide."""
        rows, signs = self.rows, self.signs(atoms)
        place = cases(rows, atoms)
        votes = case_counts(rows, place)
        per_row = nats_per_row(outvoted(votes), rows.total)
        decided, classes = _decided(votes, per_row), votes.argmax(1)
        first = np.zeros(len(votes), dtype=np.int64)
        first[place] = np.arange(len(place))
        if not decided.all():  # few rows are at a constant: together with those beside it they may be enough
            merged = self._without_ties(atoms, signs)
            together = case_counts(rows, merged)
            classes = np.where(decided, classes, together.argmax(1)[merged[first]])
            decided |= _decided(together, per_row)[merged[first]]
        return Table(
            signs[first][decided],
            classes[decided],
            [atom.sides for atom in atoms],
            [self.price(atom) for atom in atoms],
        )

    def _without_ties(self, atoms: Sequence[Atom], signs: np.ndarray) -> np.ndarray:
        """The case of each row where rows at a constant count to the side that they belong to."""
        signs = signs.copy()
        for at, atom in enumerate(atoms):
            others = cases(self.rows, [*atoms[:at], *atoms[at + 1 :]])
            side, _ = self._side_of_ties(self._votes_of_sides(others, atom))
            signs[signs[:, at] == 0, at] = side
        return np.unique(signs, axis=0, return_inverse=True)[1].ravel()


def cases(rows: LabelledRows, atoms: Iterable[Atom]) -> np.ndarray:
    """The number of the case of each row, 0, 1, ...: rows of one case are on the same side of every atom."""
    place = np.zeros(len(rows), dtype=np.int64)
    for atom in atoms:
        place = np.unique(refined(rows, place, atom), return_inverse=True)[1]
    return place


def refined(rows: LabelledRows, place: np.ndarray, atom: Atom) -> np.ndarray:
    """Cases with one more atom; some of the numbers may be of no row."""
    signs: np.ndarray = rows.signs(atom)
    return np.asarray(place * 3 + signs + 1)


def case_nats(rows: LabelledRows, place: np.ndarray) -> float:
    """Nats to describe the classes of rows case by case: cases are expected to be pure, and few rows say little."""
    counts = case_counts(rows, place)
    totals, n_classes = counts.sum(1), rows.n_classes
    pure = gammaln(totals + n_classes * CERTAIN) - gammaln(n_classes * CERTAIN)
    return float(pure.sum() - (gammaln(counts + CERTAIN) - gammaln(CERTAIN)).sum())


def exception_nats(rows: LabelledRows, place: np.ndarray) -> float:
    """Nats to describe the classes of rows by one class for each case, and a list of the rows that are exceptions."""
    counts = case_counts(rows, place)
    guess = counts.argmax(1)[place]
    exceptions = description_length(rows.classes, guess, rows.weight, rows.n_classes)
    return int((counts.sum(1) > 0).sum()) * math.log(rows.n_classes) + exceptions


def case_counts(rows: LabelledRows, place: np.ndarray) -> np.ndarray:
    """(cases, classes): the weight of the rows."""
    n_cases, n_classes = int(place.max()) + 1, rows.n_classes
    return np.bincount(place * n_classes + rows.classes, rows.weight, n_cases * n_classes).reshape(n_cases, n_classes)


def outvoted(votes: np.ndarray) -> float:
    """The weight of the rows that are not of their case's majority class."""
    return round(float((votes.sum(1) - votes.max(1)).sum()), 6)


def _texts_nats(columns: Columns, weights: Weights) -> float:
    """Nats to name further texts of a condition such as ``country in ('AT', 'DE')``."""
    meant = (columns.meaning.derived.get(name) for name, _ in weights)
    return LN2 * sum(len(each.texts) - 1 for each in meant if isinstance(each, OneOf))


def _on_the_same_sum(other: Atom, atom: Atom) -> Fraction | None:
    """The constant of another atom if it compares the same sum; its negative if that has the opposite signs."""
    if dict(other.weights) == dict(atom.weights):
        return other.constant
    opposite = {name: -weight for name, weight in atom.weights}
    return -other.constant if dict(other.weights) == opposite else None


def _negative_constants(simple: Iterable[Atom], atom: Atom) -> set[Fraction]:
    """The negatives of the constants that other atoms of the same sum have."""
    constants = (_on_the_same_sum(each, atom) for each in simple if each != atom)
    return {-constant for constant in constants if constant}


def _apart(one: Fraction, other: Fraction, between: Fraction) -> bool:
    """Whether a number lies between two others, or is the first of them."""
    return (one - between) * (other - between) <= 0


def nats_per_row(wrong: float, total: float) -> float:
    """Nats by which a row speaks for its class where so many of all labels are wrong; infinitely many if none is."""
    return math.inf if wrong == 0 else math.log(max(total - wrong, wrong) / wrong)


def _decided(votes: np.ndarray, per_row: float) -> np.ndarray:
    """For which cases the rows speak clearly enough for one class."""
    ranked = np.sort(votes, axis=1)
    lead = ranked[:, -1] - ranked[:, -2]
    return np.asarray((lead > 0) & (np.where(lead > 0, lead, 1) * per_row >= DECISIVE))


def with_turned_ties(expression: Expression, sides: tuple[Expression, Expression]) -> Expression:
    """The expression with > in the place of >= and so on, wherever it compares these two sides."""
    turned = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}
    children = [with_turned_ties(child, sides) for child in expression.children]
    if isinstance(expression, Compare) and (expression.left, expression.right) == sides:
        return Compare(turned.get(expression.operator, expression.operator), *sides)
    return rebuilt(expression, children)


def _inequalities(expression: Expression) -> list[tuple[Expression, Expression]]:
    """What is compared by an inequality, but for counts."""
    compared = (node for node in expression.walk() if isinstance(node, Compare) and not isinstance(node.left, Count))
    return list(dict.fromkeys((node.left, node.right) for node in compared if node.operator[0] in "<>"))


def _comparisons_of(expression: Expression, sides: tuple[Expression, Expression]) -> list[Compare]:
    return [node for node in expression.walk() if isinstance(node, Compare) and (node.left, node.right) == sides]


def _spelled(expression: Expression, sides: tuple[Expression, Expression], spelling: tuple[str, str]) -> Expression:
    """The expression with one of two operators, for above and for below, wherever it compares these two sides."""
    if isinstance(expression, Compare) and (expression.left, expression.right) == sides:
        return Compare(spelling[expression.operator[0] == "<"], *sides)
    return rebuilt(expression, [_spelled(child, sides, spelling) for child in expression.children])


def with_flags(expression: Expression, flags: set[str]) -> Expression:
    """The expression with columns that only hold 0 and 1 compared by = where they are compared with a constant."""
    children = [with_flags(child, flags) for child in expression.children]
    if not isinstance(expression, Compare) or not isinstance(expression.right, Constant):
        return rebuilt(expression, children)
    if not isinstance(expression.left, Variable) or expression.left.name not in flags:
        return rebuilt(expression, children)
    holds = [bool(expression.evaluate({expression.left.name: value})) for value in (0, 1)]
    return Truth(holds[0]) if holds[0] == holds[1] else Compare("=", expression.left, holds.index(True))


def _used(expression: Expression, atoms: Sequence[Atom]) -> list[Atom]:
    """The atoms that an expression compares."""
    found = [Atom.from_comparison(node) for node in expression.walk() if isinstance(node, Compare)]
    shown = {(atom.weights, atom.constant) for atom in found if atom is not None}
    sums = {weights for weights, _ in shown}
    return [atom for atom in atoms if _canonical(atom) in shown or (len(atom.weights) == 1 and atom.weights in sums)]


def _canonical(atom: Atom) -> tuple[Weights, Fraction]:
    again = Atom.from_comparison(atom.compare(">"))  # type: ignore[arg-type]
    assert again is not None
    return again.weights, again.constant


def _formula_nats(expression: Expression, used: Sequence[Atom]) -> float:
    """Nats to combine comparisons: for each, its operator and which atom it is; an order is one idea."""
    count = comparisons(expression)
    nats = count * math.log(6 * max(len(used), 1))
    return order_nats(len(used)) if count > len(used) and is_order(expression, used) else nats


def description_length(classes: np.ndarray, guess: np.ndarray, weight: np.ndarray, n_classes: int) -> float:
    """Nats to describe the classes of rows given a guess: how many rows are exceptions, which, and their classes."""
    total = float(weight.sum())
    wrong = min(float(weight[classes != guess].sum()), total)
    which = gammaln(total + 1) - gammaln(wrong + 1) - gammaln(total - wrong + 1)
    return float(which + wrong * math.log(max(n_classes - 1, 1)) + math.log(total + 1))


def nats_without_rule(rows: LabelledRows) -> float:
    """Nats to list the classes of rows without a rule."""
    return rows.uncertainty(np.zeros(len(rows), dtype=np.int64))
