"""Why a rule is not handed out: too few rows, numbers that are not exact, contradictions that are not random."""

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import binom

from nsr.learn.alternatives import factor, is_in_per_cent
from nsr.learn.candidates import SCREENED, candidate_sums, evenly_spaced
from nsr.learn.diagnostics import (
    BY_CHANCE,
    UNEXPLAINED,
    chance_of_concentration,
    chance_of_nearness,
    nats_unexplained,
    smooth_border,
)
from nsr.learn.evidence import percent
from nsr.learn.precision import Precision, is_plain, precision, total_surprise
from nsr.learn.rules import Reader, Rule, nats_without_rule
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows
from nsr.reading.screen import Screen

CLEAR = 3.0
"""Nats by which a rule must shorten the description of the classes."""
SURPRISING = 2.0
"""Nats by which the numbers of a comparison of sums must be simpler than their ranges would lead one to expect."""
SURPRISING_FACTOR = 1.0
"""The same for a factor that is not in whole per cents: that its border goes through zero says nothing of it."""
SURPRISING_TOGETHER = 5.0
"""The same where a rule weighs columns in several comparisons, as a polygon along a curve does, or multiplies them; or
where some of a few rows contradict it: which of them were taken for wrong labels has made its numbers look simple."""
FEW_WRONG = 5
"""Of more rows that contradict a rule, a test shows whether they lie along its borders; of fewer, hardly."""
TINY = 1e-12
"""The least probability of which a logarithm is taken."""
PER_NUMBER = 1.8
"""The same for each of several numbers of one comparison, since the simplest of each range was taken."""
PER_FACTOR = 1.0
"""The same for each factor beyond three in a comparison of products, of which there are very many."""
RIGHT_ROWS = 500
"""A single sum that is right on so many rows is wrong on few others, even if its numbers were not quite those that are
meant: it is enough that they are as simple as their ranges would lead one to expect."""
PER_CONSTANT = 1.2
"""Nats by which each of many constants that few rows leave open must be simpler, on average."""
CONSTANTS_PER_ROW = 0.005
"""How many constants the rows may leave open: each misplaces about one row in so many."""
UNLIKELY = 0.001
"""Held-out rows speak against a rule if so many of them would contradict it less often than this."""


NO_COMPARISON = "no rule: no comparison of the columns separates the classes better than chance"
"""Why there is no rule for classes that have nothing to do with the columns."""


def contradictions_look_random(rows: LabelledRows, rule: Rule, *, chance: float = BY_CHANCE) -> bool:
    """Whether the rows that contradict a rule are as wrong labels would be, but for so small a chance."""
    if chance_of_nearness(rows, rule) < chance or chance_of_concentration(rows, rule) < chance:
        return False
    screened = rows.subset(evenly_spaced(rows, SCREENED))
    return nats_unexplained(Screen(screened, candidate_sums(screened)), rule) <= UNEXPLAINED


def few_rows(rows: LabelledRows) -> bool:
    """Whether there are too few rows for any rule."""
    return nats_without_rule(rows) < CLEAR + 2 * math.log(6 * len(rows.columns.names))


def objection(rows: LabelledRows, rule: Rule, errors: float, *, confirmed: bool = True) -> str | None:
    """Why a rule is not handed out; None if it is.

    Args:
        rows: All rows.
        rule: What is judged.
        errors: The share of the rows that may contradict it.
        confirmed: Whether rows support its numbers that they were not read from.
    """
    if few_rows(rows):
        rarest = int(np.bincount(rows.classes, minlength=rows.n_classes).min())
        return (
            f"no rule: too few rows to distinguish a rule from chance ({len(rows):,} distinct rows, "
            f"{rarest:,} of the rarest class)"
        )
    if not rule.comparisons or rule.nats > nats_without_rule(rows) - CLEAR:
        return NO_COMPARISON
    if (border := smooth_border(rows, rule)) is not None:
        return (
            f"no exact rule: comparisons only approximate the border, which is about {border}; "
            "add that expression as a column"
        )
    share = rule.wrong / rows.total
    if share > errors:
        return f"no exact rule: {percent(share)} of the rows contradict the nearest rule (allowed: {percent(errors)})"
    if (atom := vague_atom(Reader(rows), rule, confirmed=confirmed)) is not None:
        sides = rows.columns.readable_sides(atom)
        if rule.wrong:
            return (
                f"no exact rule: {percent(share)} of the rows contradict the nearest rule, and if their labels are "
                f"wrong, other numbers do nearly as well where it compares {sides}; more rows would show whether it is "
                "exact"
            )
        return (
            f"no exact rule: comparing {sides} explains the rows, but so do many other numbers; "
            "more rows near that border would show whether it is exact"
        )
    return _contradictions_objection(rows, rule)


def _contradictions_objection(rows: LabelledRows, rule: Rule) -> str | None:
    """Why the rows that contradict a rule are not random."""
    if rule.wrong:
        contradicted = f"no exact rule: {percent(rule.wrong / rows.total)} of the rows contradict the nearest rule"
        screened = rows.subset(evenly_spaced(rows, SCREENED))
        if nats_unexplained(Screen(screened, candidate_sums(screened)), rule) > UNEXPLAINED:
            return f"{contradicted}, and not at random: further comparisons would explain some of them"
        if chance_of_concentration(rows, rule) < BY_CHANCE:
            return f"{contradicted}, and not at random: they are in few of its cases"
        if chance_of_nearness(rows, rule) < BY_CHANCE:
            return f"{contradicted}, and not at random: they lie along its borders"
    return None


def time_objection(limit: float, agreement: float) -> str:
    """Why there is no rule if the time limit ended the search for one.

    Args:
        limit: The time limit, in seconds.
        agreement: The share of the rows on which the best rule so far is right.
    """
    rows = "is exact on the rows" if agreement == 1 else f"is right on {percent(agreement)} of the rows"
    return (
        f"no rule: the time limit of {limit:g} s ended the search; the best rule so far {rows}: "
        f"retry with --time-limit {2.5 * limit:g}"
    )


def vague_atom(reader: Reader, rule: Rule, *, confirmed: bool = True) -> Atom | None:
    """A comparison whose numbers are not simpler than chance would make them; None if there is none.

    Args:
        reader: Reads the rows.
        rule: What is judged.
        confirmed: Whether rows support its numbers that they were not read from.
    """
    if asks_conditions_only(reader.rows.columns, rule):
        return None
    known = [precision(reader, rule, position) for position in range(len(rule.atoms))]
    return _vague_constant(reader, rule, known) or _vague_weights(reader, rule, known, confirmed)


def asks_conditions_only(columns: Columns, rule: Rule) -> bool:
    """Whether a rule compares no numbers: texts and truth values are never vague."""
    return all(columns.meaning.group(name) == "condition" for atom in rule.atoms for name in atom.columns)


def _vague_constant(reader: Reader, rule: Rule, known: Sequence[Precision | None]) -> Atom | None:
    """The first comparison with a constant that the rows leave open, if these are many and not round.

    Where some of a few rows contradict the rule, any border of the rows that are left has fairly round constants.
    """
    constants = [(atom, each) for atom, each in zip(rule.atoms, known, strict=True) if atom.has_constant]
    unknown = {abs(atom.constant) for atom, each in constants if each and each.open}
    fixed = CONSTANTS_PER_ROW * len(reader.rows)
    least = SURPRISING * (3 if rule.wrong and not _many(reader.rows) else 2)
    needed = max(least, PER_CONSTANT * len(unknown) * (len(unknown) > 2 * fixed and not rule.wrong))
    if len(unknown) > fixed and total_surprise(rule, known) < needed:
        return next(atom for atom in rule.atoms if abs(atom.constant) in unknown)
    return None


def _vague_weights(reader: Reader, rule: Rule, known: Sequence[Precision | None], confirmed: bool) -> Atom | None:
    """The first comparison of a weighted sum or a product whose numbers are not surprisingly simple.

    Where the few rows that contradict the rule lie near its borders, taking just these for wrong labels has made its
    numbers look simple: that counts against them. Cuts of one sum into several classes support each other.
    """
    rows, columns = reader.rows, reader.rows.columns
    weighted = [at for at, atom in enumerate(rule.atoms) if _factors(columns, atom) or not is_plain(atom)]
    surprise = {at: each.weights + each.constant for at in weighted if (each := known[at]) is not None}
    parallel = rows.n_classes > 2 and len({rule.atoms[at].canonical.weights for at in weighted}) == 1
    alone = (parallel or len(weighted) == 1) and (_many(rows) or not rule.wrong)
    total, by_choice = sum(surprise.values()), _nats_by_choice(rows, rule) if weighted else 0.0
    right = confirmed and not rule.wrong
    for at, nats in surprise.items():
        each, odd = (
            known[at],
            factor(columns, rule.atoms[at]) is not None and not is_in_per_cent(columns, rule.atoms[at]),
        )
        if odd and not parallel and each is not None and each.weights < SURPRISING_FACTOR:
            return rule.atoms[at]
        if (total if parallel else nats) - by_choice < _needed(rows, rule, at, alone=alone, right=right):
            return rule.atoms[at]
    return None


def _is_odd_factor(columns: Columns, atom: Atom, known: Precision | None) -> bool:
    """Whether a column is compared with a multiple of another whose factor is neither in per cent nor simple."""
    if known is None or factor(columns, atom) is None or is_in_per_cent(columns, atom):
        return False
    return known.weights < SURPRISING_FACTOR


def _many(rows: LabelledRows) -> bool:
    """Whether rows may leave a constant open."""
    return CONSTANTS_PER_ROW * len(rows) >= 1


def _needed(rows: LabelledRows, rule: Rule, at: int, *, alone: bool, right: bool) -> float:
    """Nats by which the numbers of a comparison must be simpler than their ranges would lead one to expect.

    Args:
        rows: All rows.
        rule: What is judged.
        at: Which of its comparisons.
        alone: Whether no other comparison has numbers of its own.
        right: Whether the rule is right on all rows, some of which it was not read from.
    """
    columns, atom = rows.columns, rule.atoms[at]
    factors, numbers = _factors(columns, atom), free_numbers(atom, columns)
    if right and alone and _many(rows) and is_in_per_cent(columns, atom):
        return -math.inf  # a constant of a / b, which may be open as that of a column may
    if right and len(rule.atoms) == 1 and len(rows) >= RIGHT_ROWS and not factors:
        return 0.0
    least = SURPRISING if alone and factors <= 3 else SURPRISING_TOGETHER
    return max(least + PER_FACTOR * max(factors - 3, 0), PER_NUMBER * numbers * (numbers > 1))


def _nats_by_choice(rows: LabelledRows, rule: Rule) -> float:
    """What it would take for the few rows that contradict a rule to lie so near its borders by chance."""
    if not 0 < rule.wrong <= FEW_WRONG:
        return 0.0
    return -math.log(max(chance_of_nearness(rows, rule), TINY))


def free_numbers(atom: Atom, columns: Columns) -> int:
    """How many numbers of an atom are neither 0 nor 1: ratios of weights to the most frequent one, and the constant."""
    sizes = [abs(weight) for _, weight in atom.weights]
    return len(sizes) - max(map(sizes.count, sizes)) + (columns.intended_constant(atom) != 0)


def _factors(columns: Columns, atom: Atom) -> int:
    """How many factors both sides of a comparison of products have; 0 if it compares none."""
    products = [columns.products[name] for name in atom.columns if name in columns.products]
    return sum(len(product.children) for product in products) + (len(atom.columns) - len(products)) * bool(products)


def held_out_objection(wrong: int, rows: int, expected: float, accuracy: float | None) -> str | None:
    """Why held-out rows speak against a rule; None if they do not.

    Args:
        wrong: How many of them contradict it, whatever their weights: a row that occurs twice is one draw.
        rows: How many there are.
        expected: The share of them that should: as many as contradict it elsewhere, and those that open constants cost.
        accuracy: The share of their weight on which it is right, as it is printed.
    """
    if accuracy is None or binom.sf(wrong - 1, rows, min(expected, 1.0)) > UNLIKELY:
        return None
    return f"no rule: the best one is right on only {percent(accuracy)} of the held-out rows"
