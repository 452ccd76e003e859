"""From a rule that was read to the one that a person would write: simpler parts, one idea, usual conventions.

Each function takes the rows with their reader and a rule, and returns a rule that describes the rows as well or better.
"""

import math
import time
from collections.abc import Iterator

from nsr.learn.alternatives import conventional, factor
from nsr.learn.candidates import candidate_sums, neighbours
from nsr.learn.chains import parts_by_size
from nsr.learn.lookups import shorter_conditions, without_overlaps
from nsr.learn.order_reading import read_order
from nsr.learn.orders import is_order
from nsr.learn.precision import SUBSTITUTE, multiples, simpler_sums, substitutes
from nsr.learn.rules import Reader, Rule
from nsr.learn.votes import read_votes
from nsr.reading.atoms import Atom, Weights

CLOSE = 2.0
"""Nats by which another rule may be longer and still explain the rows as well."""
SAME = 0.005
"""The share of the rows on which two rules may differ and still count as the same: in a constant, say."""
SAME_MULTIPLE = 0.02
"""The same for another factor of a comparison of a column with a multiple of another, which the evidence names."""
APART = 15.0
"""Nats by which a rule may be longer if it has plain comparisons in the place of a heavily weighted sum."""


def with_simpler_parts(reader: Reader, rule: Rule) -> Rule:
    """A rule read anew, with simpler weights and fewer texts where the rows allow them."""
    alternatives = {
        atom.weights: [*simpler_sums(reader, rule.atoms, at), *multiples(reader, rule.atoms, at)]
        if len(atom.weights) > 1
        else shorter_conditions(reader.rows.columns, atom)
        for at, atom in enumerate(rule.atoms)
    }
    return reader.read(rule.atoms, alternatives, origin=rule.origin)


def polished(reader: Reader, rule: Rule, deadline: float = math.inf) -> Rule:
    """A rule with sums that differ in one column or weight as long as they explain the rows better.

    Where labels are wrong, the weights of a network lead near the true sum, and not always to it. Sums of the screen
    are only made shorter: what is to be added to them is for networks to say.
    """
    while time.monotonic() < deadline:
        nearby = {
            atom.weights: neighbours(reader.rows.columns, atom.weights, more=rule.origin != "screen")
            for atom in rule.atoms
        }
        better = reader.read(rule.atoms, nearby, origin=rule.origin)
        if better.nats > rule.nats - 1e-6:
            break
        rule = better
    return rule


def as_written(reader: Reader, rule: Rule) -> Rule:
    """A rule as a person would write it, as long as the rows are described as well."""
    return conventional(reader, as_one_idea(reader, _taken_apart(reader, rule)))


def as_one_idea(reader: Reader, rule: Rule) -> Rule:
    """A rule as a lexicographic order of its comparisons and of further ones, or as a count, if that is shorter."""
    atoms = [part for atom in rule.atoms for part in parts_by_size(atom)]
    order = read_order(reader, atoms, candidate_sums(reader.rows), rule.origin)
    rule = _shorter(rule, order)
    return _shorter(rule, read_votes(reader, rule.atoms, rule.origin))


def _shorter(rule: Rule, other: Rule | None) -> Rule:
    """The rule that describes the rows better; one that is right on all rows stays so."""
    if other is None or (other.wrong and not rule.wrong):
        return rule
    return min(rule, other, key=lambda each: each.nats)


def _taken_apart(reader: Reader, rule: Rule) -> Rule:
    """A rule with ``20*a + c > 20*b + d`` as two comparisons, of a and b and of c and d, if these do as well.

    Likewise with single texts in the place of sets of texts that overlap.
    """
    parts = [part for atom in rule.atoms for part in parts_by_size(atom)]
    atoms = without_overlaps(reader.rows.columns, parts)
    if set(atoms) == set(rule.atoms):
        return rule
    apart = reader.read(atoms, origin=rule.origin)
    return apart if apart.wrong <= rule.wrong and apart.nats <= rule.nats + APART else rule


def is_rival(other: Rule, rule: Rule, margin: float = CLOSE) -> bool:
    """Whether another rule explains the rows about as well; one that rows contradict is no rival of an exact one."""
    return other.nats <= rule.nats + margin and (rule.wrong > 0 or other.wrong == 0)


def rivals(reader: Reader, rule: Rule, deadline: float = math.inf) -> Iterator[tuple[Rule, float]]:
    """Rules that explain all rows as well, each with the share of the rows on which it may differ all the same.

    They have other simple weights, or another comparison in the place of one that decides few rows: that could be any
    of those that happen to put them on the same sides.
    """
    sums = candidate_sums(reader.rows)
    for at, atom in enumerate(rule.atoms):
        same = SAME if factor(reader.rows.columns, atom) is None else SAME_MULTIPLE
        others = [(Atom(weights), CLOSE, same) for weights in _other_weights(reader, rule, at)]
        others += [(other, SUBSTITUTE, 0.0) for other in substitutes(reader, rule.atoms, at, sums)]
        for other, margin, same in others:
            if time.monotonic() > deadline:
                return
            if other.weights != atom.weights:
                changed = _changed(reader, [*rule.atoms[:at], other, *rule.atoms[at + 1 :]], rule)
                if is_rival(changed, rule, margin):
                    yield changed, same


def _changed(reader: Reader, atoms: list[Atom], rule: Rule) -> Rule:
    """The rule of other atoms; an order, if the given one is an order and that describes the rows better."""
    changed = reader.read_all(atoms, rule.origin)
    order = read_order(reader, atoms, (), rule.origin) if is_order(rule.expression, rule.atoms) else None
    return changed if order is None or order.nats >= changed.nats else order


def _other_weights(reader: Reader, rule: Rule, at: int) -> list[Weights]:
    if len(rule.atoms[at].weights) == 1:
        return []
    return list(dict.fromkeys([*simpler_sums(reader, rule.atoms, at), *multiples(reader, rule.atoms, at)]))
