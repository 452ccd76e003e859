"""Numbers that the rows leave open: ``a > 1.05*b`` and ``0.95*a > b`` fit the same rows and mean something else.

5 % more and 5 % less are equally simple, so neither the rows nor the price can choose. A stated convention does: the
factor above 1 is taken, as in ``income >= 3*rent``. It applies only where two factors differ from 1 by the same amount
and the same rows contradict both. The other one is part of the evidence.
"""

import math
from collections.abc import Iterator
from fractions import Fraction

from nsr.learn.precision import multiples, ranges_of_factor
from nsr.learn.rules import Reader, Rule
from nsr.learn.ties import with_ties_of_others, with_usual_ties
from nsr.program.expressions import MIRRORED, Compare, Expression, Linear, Variable
from nsr.reading.atoms import Atom, Weights
from nsr.reading.columns import Columns
from nsr.reading.rounding import number_nats

AS_SIMPLE = 2.0
"""Nats by which the price of another factor may be higher for it to be named in the evidence."""
AS_GOOD = 2.0
"""Nats by which the description of the rows may be longer with another factor, where labels are wrong, likewise."""
PER_CENT = 100
"""Factors of a multiple are usually given in per cent: 1.05, 0.9."""


def factor(columns: Columns, atom: Atom) -> Fraction | None:
    """The factor r of a comparison of ``a`` with ``r*b``, of two columns and without a constant; None for others.

    It is the simpler of r and 1/r: both name the same border.
    """
    if len(atom.weights) != 2 or columns.intended_constant(atom) or set(atom.columns) & set(columns.products):
        return None
    (_, one), (_, two) = atom.weights
    if one * two > 0 or abs(one) == abs(two):
        return None
    ratio = Fraction(-two, one)
    return min(ratio, 1 / ratio, key=lambda each: (number_nats(each), each < 1))


def is_in_per_cent(columns: Columns, atom: Atom) -> bool:
    """Whether an atom compares a column with a multiple of another, of whole per cents, either way round."""
    known = factor(columns, atom)
    return known is not None and any((each * PER_CENT).denominator == 1 for each in (known, 1 / known))


def conventional(reader: Reader, rule: Rule) -> Rule:
    """The rule with 5 % more in the place of 5 % less, and so on, where both fit the same rows; with its usual ties."""
    rule, columns = with_ties_of_others(reader, with_usual_ties(reader, rule)), reader.rows.columns
    for at in range(len(rule.atoms)):
        known = factor(columns, rule.atoms[at])
        if known is None or known > 1:
            continue
        others = _other_multiples(reader, rule, at)
        options = [changed for above, _, changed in others if above - 1 == 1 - known and changed.wrong <= rule.wrong]
        rule = min(options, key=lambda each: each.nats, default=rule)
    return rule


def not_distinguished(reader: Reader, rule: Rule) -> tuple[str, ...]:
    """Pairs of comparisons, that of the rule first, that mean something else and explain the rows about as well."""
    columns, found = reader.rows.columns, list[str]()
    for at, atom in enumerate(rule.atoms):
        known = factor(columns, atom)
        if known is None:
            continue
        for other, new, changed in _other_multiples(reader, rule, at):
            if number_nats(other) <= number_nats(known) + AS_SIMPLE:
                pair = (_as_multiple(columns, one, each) for one, each in ((rule, atom), (changed, new)))
                found.append(" and ".join(pair))
    return tuple(dict.fromkeys(found))


def open_factors(reader: Reader, rule: Rule) -> tuple[str, ...]:
    """For each factor of a rule that is right on all rows, from where to where it could be as far as they show."""
    columns, found = reader.rows.columns, list[str]()
    for at, atom in enumerate(rule.atoms if not rule.wrong else ()):
        known = factor(columns, atom)
        if known is None:
            continue
        own = Fraction(-atom.weights[1][1], atom.weights[0][1])
        inside = [(low, high) for low, high in ranges_of_factor(reader, rule.atoms, at) if low <= own <= high]
        if not inside:
            continue
        low, high = inside[0]
        one, two = atom.columns
        if known != own:
            (low, high), one, two = (1 / high, 1 / low), two, one
        least, most = _four_digits(low, up=True), _four_digits(high, up=False)
        if float(least) >= float(most):
            continue  # known to four digits
        text = f"{_decimal(known)} could be {least} to {most}"
        found.append(f"{text} (between {columns.readable(Variable(one))} and {columns.readable(Variable(two))})")
    return tuple(found)


def _decimal(number: Fraction) -> str:
    return str(Linear([(number, Variable("x"))])).removesuffix("*x")


def _four_digits(number: Fraction, *, up: bool) -> str:
    """A positive number in four digits, not beyond it in one direction."""
    step = Fraction(10) ** (math.floor(math.log10(number)) - 3)
    count = -(-number // step) if up else number // step
    return f"{float(count * step):.4g}"


def _other_multiples(reader: Reader, rule: Rule, at: int) -> Iterator[tuple[Fraction, Atom, Rule]]:
    """Other factors of a comparison, each with its atom and a rule that has it and explains the rows about as well.

    No more rows contradict it, or where rows contradict both, it is simpler by what these cost.
    """
    atom, columns = rule.atoms[at], reader.rows.columns
    for weights in multiples(reader, rule.atoms, at):
        other = factor(columns, Atom(weights))
        if other is None or _same_border(weights, atom.weights):
            continue
        changed = reader.read_all([*rule.atoms[:at], Atom(weights), *rule.atoms[at + 1 :]], rule.origin)
        new = next((each for each in changed.atoms if _same_border(each.weights, weights)), None)
        as_good = changed.wrong <= rule.wrong or (rule.wrong > 0 and changed.nats <= rule.nats + AS_GOOD)
        if new is not None and len(changed.atoms) == len(rule.atoms) and as_good:
            yield other, new, changed


def _same_border(one: Weights, other: Weights) -> bool:
    return Atom(one).canonical == Atom(other).canonical


def _as_multiple(columns: Columns, rule: Rule, atom: Atom) -> str:
    """A comparison of a rule as ``a > 1.05*b``: with the simpler of its two factors, and without a half step."""
    (one, first), (two, second) = atom.weights
    operator = _operator(rule.expression, atom)
    ratio, known = Fraction(-second, first), factor(columns, atom)
    left: Expression = Variable(one)
    right: Expression = Variable(two)
    if known == ratio:
        right = Linear([(ratio, Variable(two))])
    else:
        left = Linear([(1 / ratio, Variable(one))])
    return str(columns.readable(Compare(operator, left, right)))


def _operator(expression: Expression, atom: Atom) -> str:
    """What a rule says of the first column of an atom and the multiple of the second."""
    canonical = atom.canonical
    for node in expression.walk():
        shown = Atom.from_comparison(node) if isinstance(node, Compare) else None
        if shown is None or shown.canonical.weights != canonical.weights:
            continue
        assert isinstance(node, Compare)
        difference = (node.left - node.right).simplified()
        assert isinstance(difference, Linear)
        weights = {term.name: weight for weight, term in difference.terms if isinstance(term, Variable)}
        turned = weights[atom.columns[0]] < 0
        operator = MIRRORED[node.operator] if turned else node.operator
        half = -difference.constant if turned else difference.constant
        return _without_half_step(operator, half)
    return "="


def _without_half_step(operator: str, beyond: Fraction) -> str:
    """The operator where a constant half a step above or below was added to the difference of both sides."""
    if not beyond or operator in ("=", "!="):
        return operator
    return {">": ">=", "<": "<"}[operator[0]] if beyond > 0 else {">": ">", "<": "<="}[operator[0]]
