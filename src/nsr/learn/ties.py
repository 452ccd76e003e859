"""Whether comparisons hold for equal numbers, where one or two rows with wrong labels may have decided that.

People write ``at least 3 of (a >= 50, b >= 50, c >= 50)`` and the three inequalities of a triangle: comparisons of one
kind all include equality, or none does. A row that says otherwise is rather a wrong label, unless no label is wrong.
"""

from collections.abc import Mapping
from fractions import Fraction

from nsr.learn.rules import Reader, Rule
from nsr.program.expressions import MIRRORED, And, Compare, Count, Expression, Linear, Or
from nsr.program.substitution import rebuilt
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns

OF_A_KIND = 3
"""So many comparisons or more are expected to be alike."""
UNLIKE = 3.3
"""Nats by which rows must speak for comparisons that differ: more than one row does, of which 4 % have wrong labels."""
TURNED = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}


def with_usual_ties(reader: Reader, rule: Rule) -> Rule:
    """The rule in which comparisons of a kind all include equality, or none does, unless rows speak clearly for it."""
    if not rule.wrong:
        return rule
    columns, options, before = reader.rows.columns, list[Rule](), set(rule.expression.walk())
    for included in (True, False):
        expression = _alike(rule.expression, columns, included).simplified()
        if expression == rule.expression:
            return rule
        nodes = (node for node in expression.walk() if isinstance(node, Compare))
        atoms = [atom for node in nodes if (atom := Atom.from_comparison(node)) is not None]
        options.append(reader.scored(expression, atoms, rule.origin))
    best = min(options, key=lambda each: (each.nats, -len(before & set(each.expression.walk()))))
    return best if best.nats <= rule.nats + UNLIKE else rule


def with_ties_of_others(reader: Reader, rule: Rule) -> Rule:
    """The rule in which a comparison whose tie no row shows includes equality where the others of its kind do.

    Of the comparisons of a column with constants, those of the same column decide, as in grades, where equal marks all
    go with those above or with those below; if there are none, those that are written in the same direction.
    """
    columns = reader.rows.columns
    shown, unseen = list[tuple[Compare, str]](), list[tuple[Compare, str]]()
    for node in dict.fromkeys(rule.expression.walk()):
        atom = _atom(node)
        if atom is not None and len(atom.columns) == 1 and isinstance(node, Compare):
            is_shown = bool((reader.rows.signs(atom) == 0).any())
            (shown if is_shown else unseen).append((node, atom.columns[0]))
    changed: dict[Expression, Expression] = {}
    for comparison, name in unseen:
        same = {_with_above(each) for each, other in shown if other == name}
        alike = {_with_above(each) for each, _ in shown if each.operator[0] == comparison.operator[0]}
        wanted = same or alike
        if len(wanted) == 1 and wanted != {_with_above(comparison)} and columns.meaning.group(name) != "condition":
            changed[comparison] = Compare(TURNED[comparison.operator], *comparison.children)
    if not changed:
        return rule
    return reader.scored(_replaced(rule.expression, changed), rule.atoms, rule.origin)


def _with_above(comparison: Compare) -> bool:
    """Whether equal numbers are on the same side as larger ones."""
    return comparison.operator in (">=", "<")


def _replaced(expression: Expression, changed: Mapping[Expression, Expression]) -> Expression:
    if expression in changed:
        return changed[expression]
    return rebuilt(expression, [_replaced(child, changed) for child in expression.children])


def _alike(expression: Expression, columns: Columns, included: bool) -> Expression:
    """The expression with equality included in all comparisons of a kind, or in none of them."""
    children = [_alike(child, columns, included) for child in expression.children]
    if _of_a_kind(expression):
        children = [_turned(columns, child) if _includes(columns, child) != included else child for child in children]
    return rebuilt(expression, children)


def _of_a_kind(expression: Expression) -> bool:
    """Whether a formula counts inequalities of one direction, or joins inequalities of sums of the same columns."""
    parts = [_atom(child) for child in expression.children]
    atoms = [atom for atom in parts if atom is not None]
    if len(parts) < OF_A_KIND or len(atoms) < len(parts):
        return False
    if isinstance(expression, Count):
        return len({child.operator[0] for child in expression.children if isinstance(child, Compare)}) == 1
    columns = {frozenset(atom.columns) for atom in atoms}
    return isinstance(expression, And | Or) and len(columns) == 1 and len(atoms[0].columns) > 1


def _atom(expression: Expression) -> Atom | None:
    """The atom of an inequality; None for other expressions."""
    inequality = isinstance(expression, Compare) and expression.operator in TURNED
    return Atom.from_comparison(expression) if inequality else None  # type: ignore[arg-type]


def _includes(columns: Columns, comparison: Expression) -> bool:
    """Whether an inequality holds for equal numbers: by its operator, or by a constant half a step beside its own."""
    operator, _, beyond = _parts(columns, comparison)
    return "=" in operator if not beyond else (beyond < 0) == (operator[0] == ">")


def _turned(columns: Columns, comparison: Expression) -> Expression:
    """An inequality that holds for equal numbers if the given one does not."""
    operator, atom, beyond = _parts(columns, comparison)
    if beyond:
        return atom.with_constant(atom.constant - 2 * beyond).compare(operator)
    assert isinstance(comparison, Compare)
    return Compare(TURNED[operator if operator == comparison.operator else MIRRORED[operator]], *comparison.children)


def _parts(columns: Columns, comparison: Expression) -> tuple[str, Atom, Fraction]:
    """The operator and the atom of an inequality, and by how much its constant is beside the intended one."""
    assert isinstance(comparison, Compare)
    atom = Atom.from_comparison(comparison)
    assert atom is not None
    difference = comparison.left - comparison.right
    negative = isinstance(difference, Linear) and difference.terms[0][0] < 0
    operator = MIRRORED[comparison.operator] if negative else comparison.operator
    return operator, atom, atom.constant - columns.intended_constant(atom)
