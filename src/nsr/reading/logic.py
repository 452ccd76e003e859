"""From a truth table over many atoms to a short formula: factors, counts, and covers of conjunctions.

``formulas`` finds the smallest formula of up to four atoms by trying them all. Here any number of atoms may take part,
so the table is taken apart: atoms that are not needed are left out, comparisons that all true rows share are factored
out, and tables that only count how many comparisons hold are written as counts.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nsr.program.expressions import And, Compare, Constant, Count, Expression, Not, Or, Truth, Where
from nsr.program.simplification import SIGNS
from nsr.reading.formulas import Sides, smallest_formula

EXHAUSTIVE = 3
"""Up to this many atoms the smallest formula is searched for exhaustively."""
MOST_COUNTED = 8
"""The largest number of comparisons that a count is looked for in."""


@dataclass(frozen=True, eq=False)
class Table:
    """The class of each pattern of signs that rows show."""

    patterns: np.ndarray
    """(patterns, atoms): -1, 0 or 1 for each atom."""
    classes: np.ndarray
    sides: Sequence[Sides]
    """What each atom compares."""
    cost: Sequence[float]
    """What each atom costs: of two that do equally well, the cheaper one is kept."""

    def only(self, rows: np.ndarray) -> "Table":
        """Some of the patterns."""
        return Table(self.patterns[rows], self.classes[rows], self.sides, self.cost)


def class_formula(table: Table, n_classes: int) -> Expression:
    """The class: a formula for two classes, else a choice that tests for the simplest class first."""
    if n_classes == 2:
        return formula(table, table.classes == 1)
    labels = sorted(set(table.classes.tolist()))
    tests: list[tuple[Expression, int]] = []
    while len(labels) > 1:
        options = [(formula(table, table.classes == label), label) for label in labels]
        test, label = min(options, key=lambda option: (comparisons(option[0]), option[0].size, option[1]))
        tests.append((test, label))
        labels.remove(label)
        table = table.only(np.flatnonzero(table.classes != label))
    expression: Expression = Constant(labels[0] if labels else 0)
    for test, label in reversed(tests):
        expression = Where(test, Constant(label), expression)
    return expression


def comparisons(expression: Expression) -> int:
    """How many comparisons an expression makes."""
    return sum(isinstance(node, Compare) and not isinstance(node.left, Count) for node in expression.walk())


def formula(table: Table, wanted: np.ndarray) -> Expression:
    """A short formula that holds for the wanted patterns and for no other pattern of the table."""
    if wanted.all() or not wanted.any():
        return Truth(bool(wanted.all()))
    needed = _needed(table, wanted)
    if len(needed) <= EXHAUSTIVE:
        options = [_exhaustive(table, wanted, needed), _factored(table, wanted, needed)]
    else:
        options = [_factored(table, wanted, needed), _covered(table, wanted, needed)]
    if len(needed) > 1:
        options += _counted(table, wanted, needed)
    return min(options, key=lambda option: (comparisons(option), option.size, str(option)))


def _needed(table: Table, wanted: np.ndarray) -> list[int]:
    """Atoms that tell all wanted patterns from the others, without the dearest that can be spared."""
    kept = list(range(len(table.sides)))
    for atom in sorted(kept, key=lambda atom: -table.cost[atom]):
        others = [each for each in kept if each != atom]
        if _consistent(table.patterns[:, others], wanted):
            kept = others
    return kept


def _consistent(patterns: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether no wanted pattern equals an unwanted one."""
    if not patterns.shape[1]:
        return bool(wanted.all() or not wanted.any())
    place = np.unique(patterns, axis=0, return_inverse=True)[1].ravel()
    counts = np.bincount(place), np.bincount(place, wanted)
    return bool(((counts[1] == 0) | (counts[1] == counts[0])).all())


def _exhaustive(table: Table, wanted: np.ndarray, atoms: list[int]) -> Expression:
    patterns = map(tuple, table.patterns[:, atoms].tolist())
    return smallest_formula(dict(zip(patterns, wanted.tolist(), strict=True)), [table.sides[at] for at in atoms])


def _literals(table: Table, atoms: Sequence[int]) -> list[tuple[int, str, np.ndarray]]:
    """Each comparison of each atom, and the patterns for which it holds."""
    return [
        (at, operator, np.isin(table.patterns[:, at], list(signs))) for at in atoms for operator, signs in SIGNS.items()
    ]


def _factored(table: Table, wanted: np.ndarray, atoms: list[int]) -> Expression:
    """A comparison that all wanted patterns share, or that no other has, and the rest; else the best choice of two."""
    best: tuple[float, tuple[int, str, np.ndarray], str] | None = None
    for literal in _literals(table, atoms):
        holds = literal[2]
        if not (wanted & ~holds).any() and (~holds).any():
            gain, kind = float((~holds).sum()), "and"
        elif not (holds & ~wanted).any() and holds.any():
            gain, kind = float(holds.sum()), "or"
        else:
            continue
        if best is None or gain > best[0]:
            best = gain, literal, kind
    if best is None:
        return _covered(table, wanted, atoms)
    _, (at, operator, holds), kind = best
    left = np.flatnonzero(holds if kind == "and" else ~holds)
    rest = formula(table.only(left), wanted[left])
    joined = And if kind == "and" else Or
    return joined(Compare(operator, *table.sides[at]), rest).simplified()


def _covered(table: Table, wanted: np.ndarray, atoms: list[int]) -> Expression:
    """The shorter of a cover of the wanted patterns and the negated cover of the others."""
    options = []
    for negated, inside in ((False, wanted), (True, ~wanted)):
        terms = _cover(table, inside, atoms)
        found: Expression = Or(*(And(*(Compare(op, *table.sides[at]) for at, op in term)) for term in terms))
        options.append((Not(found) if negated else found).simplified())
    return min(options, key=lambda option: (comparisons(option), option.size))


def _cover(table: Table, inside: np.ndarray, atoms: list[int]) -> list[list[tuple[int, str]]]:
    """Conjunctions that hold for the inside patterns only, chosen greedily, as few as possible."""
    holds = {(at, operator): mask for at, operator, mask in _literals(table, atoms)}
    left, terms = inside.copy(), []
    exact = {-1: "<", 0: "=", 1: ">"}
    while left.any():
        best: tuple[int, int, list[tuple[int, str]], np.ndarray] | None = None
        for seed in np.flatnonzero(left)[:8]:
            term = [(at, exact[int(table.patterns[seed, at])]) for at in atoms]
            term = _widened(term, holds, inside)
            mask = np.logical_and.reduce([holds[literal] for literal in term])
            key = (int((mask & left).sum()), -len(term))
            if best is None or key > best[:2]:
                best = (*key, term, mask)
        assert best is not None
        terms.append(best[2])
        left &= ~best[3]
    return terms


def _widened(
    term: list[tuple[int, str]], holds: dict[tuple[int, str], np.ndarray], inside: np.ndarray
) -> list[tuple[int, str]]:
    """A conjunction with comparisons dropped or weakened as long as it holds for inside patterns only."""
    wider = {"<": ("<=", "!="), ">": (">=", "!="), "=": ("<=", ">=")}
    outside = ~inside

    def allowed(literals: list[tuple[int, str]]) -> bool:
        return bool(literals) and not np.logical_and.reduce([holds[each] for each in literals] + [outside]).any()

    for literal in list(term):
        others = [each for each in term if each != literal]
        if allowed(others):
            term = others
    for literal in list(term):
        for operator in wider[literal[1]]:
            changed = [(literal[0], operator) if each == literal else each for each in term]
            if allowed(changed):
                term = changed
                break
    return term


def _counted(table: Table, wanted: np.ndarray, atoms: list[int]) -> list[Expression]:
    """The formula as a count of comparisons that hold, where it is one."""
    if len(atoms) > MOST_COUNTED:
        return []
    operators = _two_cases(table, wanted, atoms)
    if operators is None:
        return []
    bits = np.column_stack(
        [np.isin(table.patterns[:, at], list(SIGNS[op])) for at, op in zip(atoms, operators, strict=True)]
    )
    opposite = {">": "<=", ">=": "<", "=": "!="}
    for turned in itertools.product((False, True), repeat=len(atoms)):
        counts = (bits ^ np.array(turned)).sum(1)
        inside, outside = set(counts[wanted].tolist()), set(counts[~wanted].tolist())
        if inside & outside:
            continue
        parts = [
            Compare(opposite[op] if flip else op, *table.sides[at])
            for at, op, flip in zip(atoms, operators, turned, strict=True)
        ]
        if (compared := _compared(inside, outside)) is not None:
            return [Compare(compared[0], Count(*parts), compared[1]).simplified()]
    return []


def _two_cases(table: Table, wanted: np.ndarray, atoms: list[int]) -> list[str] | None:
    """For each atom a comparison that is all that matters of it; None without one."""
    patterns, found = table.patterns[:, atoms].copy(), []
    for position in range(len(atoms)):
        column = patterns[:, position].copy()
        for operator in (">=", ">", "="):
            patterns[:, position] = np.isin(column, list(SIGNS[operator]))
            if _consistent(patterns, wanted):
                found.append(operator)
                break
        else:
            return None
    return found


def _compared(inside: set[int], outside: set[int]) -> tuple[str, int] | None:
    """How a count that is in one set and not in the other compares with a number."""
    if min(inside) > max(outside):
        return ">=", min(inside)
    if max(inside) < min(outside):
        return "<=", max(inside)
    if len(inside) == 1:
        return "=", min(inside)
    return None
