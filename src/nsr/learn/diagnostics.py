"""What speaks against a rule, and how near the rows come to its borders."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.stats import binom, mannwhitneyu, rankdata

from nsr.learn.candidates import SCREENED, evenly_spaced
from nsr.learn.rules import Reader, Rule, cases
from nsr.program.text import name
from nsr.program.times import duration_text
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows
from nsr.reading.rules import answers
from nsr.reading.screen import Screen

BY_CHANCE = 1e-4
"""Rows that contradict a rule are not random errors if they would lie so near its borders less often than this."""
UNEXPLAINED = 5.0
"""Contradictions still count as random if a further comparison explains up to this many nats, after its price."""
ROWS_PER_CONSTANT = 20
"""A smooth border is only looked for where there are this many rows for each of its constants."""


def nats_unexplained(screen: Screen, rule: Rule) -> float:
    """Nats by which the best further comparison explains the rows that contradict a rule, after its price.

    Random wrong labels leave nothing; a rule that only approximates the truth leaves much.
    """
    rows, guess = screen.rows, answers(rule.expression, screen.rows)
    wrong = LabelledRows(rows.columns, (guess != rows.classes).astype(np.int64), rows.weight, 2)
    if not wrong.classes.any():
        return 0.0
    other = Screen(wrong, screen.sums)
    groups = guess if rows.n_classes == 2 else np.zeros_like(guess)  # in many groups, chance explains something
    now = wrong.uncertainty(groups)
    price = Reader(wrong).price
    return max(now - split.left - price(split.atom) - math.log(6) for split in other.splits(groups))


def chance_of_nearness(rows: LabelledRows, rule: Rule) -> float:
    """The probability that contradicting rows would lie so near the borders of a rule if they were drawn at random.

    Wrong labels can be anywhere. A rule that only follows a smooth border is contradicted along it.
    """
    guess = answers(rule.expression, rows)
    wrong = guess != rows.classes
    if not wrong.any() or wrong.all():
        return 1.0
    nearness = np.ones(len(rows))  # the rank of each row's distance from the nearest border that decides it
    for at, atom in enumerate(rule.atoms):
        others = cases(rows, [*rule.atoms[:at], *rule.atoms[at + 1 :]])
        shown = np.bincount(others * rows.n_classes + guess, minlength=(others.max() + 1) * rows.n_classes) > 0
        decides = shown.reshape(-1, rows.n_classes).sum(1)[others] > 1
        rank = rankdata(np.abs(rows.columns.distances(atom))) / len(rows)
        nearness = np.where(decides, np.minimum(nearness, rank), nearness)
    return float(mannwhitneyu(nearness[wrong], nearness[~wrong], alternative="less").pvalue)


def chance_of_concentration(rows: LabelledRows, rule: Rule) -> float:
    """The probability that so many contradicting rows would be in one case of a rule if they were drawn at random."""
    signs = [rows.signs(atom) for atom in rule.atoms]
    wrong = answers(rule.expression, rows) != rows.classes
    if not wrong.any() or not signs:
        return 1.0
    place = np.unique(np.column_stack(signs), axis=0, return_inverse=True)[1].ravel()
    total, contradicting = np.bincount(place), np.bincount(place, wrong)
    chances = binom.sf(contradicting - 1, total, wrong.mean())
    return float(min(1.0, chances.min() * len(total)))


def smooth_border(rows: LabelledRows, rule: Rule) -> str | None:
    """A line that separates the classes with fewer constants than a rule, if any.

    A rule with several constants is then a staircase along a border that comparisons cannot express. Two rows that
    contradict the rule, and not the line, weigh as much as a constant. A column of two values has no slope: with a
    flag, a line is only another way to write two constants.
    """
    used = {column for atom in rule.atoms for column in atom.columns}
    columns = [position for position, column in enumerate(rows.columns.names) if column in used]
    constants = sum(atom.has_constant for atom in rule.atoms) + rule.wrong / 2
    if rows.n_classes != 2 or len(columns) < 2:
        return None
    x = rows.columns.x.double().numpy()[:, columns]
    if any(len(np.unique(column)) <= 2 for column in x.T):
        return None
    names = [name(rows.columns.names[column]) for column in columns]
    if len(names) < constants and len(rows) > ROWS_PER_CONSTANT * len(names):
        return _separating_line(x, names, rows.classes == 1)
    return None


def _separating_line(terms: np.ndarray, texts: Sequence[str], holds: np.ndarray) -> str | None:
    """An inequality of a sum of terms that holds for exactly these rows, as text; None without one."""
    scale = np.abs(terms).max(0)
    if not (scale > 0).all():
        return None
    signed = np.where(holds, 1.0, -1.0)[:, None] * np.column_stack([terms / scale, np.ones(len(terms))])
    tried = signed[evenly_spaced(signed, SCREENED)]  # the result is checked on all
    # The widest margin: weights of at most 1, and every row on its side by at least the last variable.
    limits = np.column_stack([-tried, np.ones(len(tried))])
    bounds = [*[(-1, 1)] * len(texts), (None, None), (None, 1)]
    found = linprog([0.0] * signed.shape[1] + [-1.0], limits, np.zeros(len(tried)), bounds=bounds)
    if not found.success or found.x[-1] < 1e-9 or (signed @ found.x[:-1] <= 0).any():
        return None
    weights, constant = found.x[:-2] / scale, float(found.x[-2])
    lead = int(np.abs(found.x[:-2]).argmax())
    others = [f"{-weights[at] / weights[lead]:.4g} * {texts[at]}" for at in range(len(texts)) if at != lead]
    right = " + ".join([*others, f"{-constant / weights[lead]:.4g}"])
    return f"{texts[lead]} {'>' if weights[lead] > 0 else '<'} {right}".replace("+ -", "- ")


@dataclass(frozen=True)
class Margin:
    """How far the nearest rows on either side are from where a comparison changes, and whether any lie there."""

    below: float
    at: bool
    above: float
    microseconds: int | None = None
    """Of the unit, where times are compared."""

    def __str__(self) -> str:
        below = [f"{self._written(self.below)} below"] if self.below < math.inf else []
        above = [f"{self._written(self.above)} above"] if self.above < math.inf else []
        return ", ".join(below + ["on it"] * self.at + above)

    def _written(self, distance: float) -> str:
        duration = None if self.microseconds is None else duration_text(round(distance * self.microseconds))
        return duration or np.format_float_positional(float(f"{distance:.3g}"), trim="-")


def deciding_rows(reader: Reader, rule: Rule) -> list[np.ndarray]:
    """For each comparison of a rule, the rows whose class depends on it: all, where equality is a case of its own."""
    every = np.arange(len(reader.rows))
    sides = [reader.side_classes(rule.atoms, at) for at in range(len(rule.atoms))]
    return [every if each is None else np.flatnonzero(each.below != each.above) for each in sides]


def margins(columns: Columns, rule: Rule, deciding: Sequence[np.ndarray] | None = None) -> dict[str, Margin]:
    """For each comparison of a rule, how near the rows that it decides come to where it changes."""
    near = {}
    for at, atom in enumerate(rule.atoms):
        if _is_flag(columns, atom):
            continue
        distances = columns.distances(atom) if deciding is None else columns.subset(deciding[at]).distances(atom)
        below, above = (
            np.min(side, initial=math.inf) for side in (-distances[distances < 0], distances[distances > 0])
        )
        unit = columns.meaning.microseconds(atom.columns[0])
        near[columns.readable_sides(atom)] = Margin(float(below), bool((distances == 0).any()), float(above), unit)
    return near


def _is_flag(columns: Columns, atom: Atom) -> bool:
    """Whether an atom is of a single column that only holds 0 and 1: it has no border to be near to."""
    name = atom.columns[0]
    return len(atom.columns) == 1 and set(columns.x[:, columns.names.index(name)].tolist()) == {0, 1}


def not_covered(columns: Columns, rule: Rule, deciding: Sequence[np.ndarray] | None = None) -> tuple[str, ...]:
    """Cases of a rule that no row shows which it decides: single comparisons, and two of them equal at once.

    There, the rule gives whatever is shortest.
    """
    shown = [columns] * len(rule.atoms) if deciding is None else [columns.subset(rows) for rows in deciding]
    shown = [some for some, atom in zip(shown, rule.atoms, strict=True) if not _is_flag(columns, atom)]
    atoms = [atom.with_constant(columns.intended_constant(atom)) for atom in rule.atoms if not _is_flag(columns, atom)]
    single = [case for atom, some in zip(atoms, shown, strict=True) for case in some.cases_not_covered(atom)]
    ties = [(atom, columns.signs(atom) == 0) for atom in atoms]
    joint = [
        " and ".join(str(columns.readable(atom.compare("="))) for atom in (one, other))
        for (one, here), (other, there) in itertools.combinations(ties, 2)
        if one.weights != other.weights and here.any() and there.any() and not (here & there).any()
    ]
    return (*single, *joint)
