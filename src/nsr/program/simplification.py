"""The canonical form of a program, which equals the original in exact arithmetic.

Sums are flat and sorted. In comparisons every variable stands on the side where its coefficient is positive, the first
one on the left. Negations are pushed into the comparisons. Formulas are flat, sorted and free of repetition. With
floats the order of additions can change the last bit: simplify first, then evaluate.
"""

from fractions import Fraction
from math import gcd, lcm

from nsr.data import COMPARISONS
from nsr.program.expressions import (
    MIRRORED,
    NEGATED,
    And,
    Compare,
    Constant,
    Expression,
    Linear,
    Not,
    Or,
    Truth,
    Variable,
    Where,
    natural_key,
    total,
)

ONE = Fraction(1)


def simplify(expression: Expression) -> Expression:
    """Return the canonical form; simplifying it again changes nothing."""
    match expression:
        case Linear(terms, constant):
            return _sorted_sum(total([(c, simplify(atom)) for c, atom in terms], constant))
        case Compare(operator, left, right):
            return _comparison(operator, simplify(left), simplify(right))
        case Not(part):
            return negated(simplify(part))
        case And() | Or():
            return _joined(type(expression), [simplify(part) for part in expression.parts])
        case Where(condition, then, otherwise):
            return _choice(simplify(condition), simplify(then), simplify(otherwise))
    return expression


def negated(formula: Expression) -> Expression:
    """Negate a canonical formula; the result is canonical too."""
    match formula:
        case Truth(value):
            return Truth(not value)
        case Compare(operator, left, right):
            return Compare(NEGATED[operator], left, right)
        case And(parts):
            return Or(*sorted(map(negated, parts), key=_key))
        case Or(parts):
            return And(*sorted(map(negated, parts), key=_key))
    raise TypeError(f"only a canonical formula can be negated, got {formula!r}")


def _key(expression: Expression) -> tuple[object, ...]:
    """Sort key for canonical trees: variables first, by name; then by size and text."""
    if isinstance(expression, Variable):
        return 0, 0, natural_key(expression.name)
    return 1, expression.size, natural_key(str(expression))


def _sorted_sum(expression: Expression) -> Expression:
    if not isinstance(expression, Linear):
        return expression
    terms = sorted(expression.terms, key=lambda term: (term[0] < 0, _key(term[1])))
    return Linear(tuple(terms), expression.constant)


def _comparison(operator: str, left: Expression, right: Expression) -> Expression:
    """Canonical: positive integer coefficients without a common factor on both sides, the constant on the right."""
    difference = total([(ONE, left), (-ONE, right)])
    if isinstance(difference, Constant):
        return Truth(bool(COMPARISONS[operator](difference.value, 0)))
    linear = difference if isinstance(difference, Linear) else Linear(((ONE, difference),))
    terms = sorted(linear.terms, key=lambda term: _key(term[1]))
    factor = Fraction(lcm(*(c.denominator for c, _ in terms)), gcd(*(c.numerator for c, _ in terms)))
    factor /= gcd(*((c * factor).numerator for c, _ in terms))
    if terms[0][0] < 0:
        operator, factor = MIRRORED[operator], -factor
    scaled = [(coefficient * factor, atom) for coefficient, atom in terms]
    left = total([(c, atom) for c, atom in scaled if c > 0])
    right = total([(-c, atom) for c, atom in scaled if c < 0], -linear.constant * factor)
    return Compare(operator, _sorted_sum(left), _sorted_sum(right))


SIGNS: dict[str, frozenset[int]] = {
    operator: frozenset(sign for sign in (-1, 0, 1) if compare(sign, 0)) for operator, compare in COMPARISONS.items()
}
"""The signs of ``left - right`` for which each comparison holds."""
OPERATORS = {signs: operator for operator, signs in SIGNS.items()}


def _joined(kind: type[And] | type[Or], parts: list[Expression]) -> Expression:
    """Canonical: flat, sorted, without repetition, and with one comparison for any two sides."""
    neutral, absorbing = Truth(kind is And), Truth(kind is Or)  # p or True is True
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    merged = _merge_comparisons(kind, flat) - {neutral}
    if absorbing in merged or _cover_all_cases(merged):
        return absorbing
    kept = _without_implied(merged)
    if len(kept) > 1:
        return kind(*sorted(kept, key=_key))
    return kept.pop() if kept else neutral


def _merge_comparisons(kind: type[And] | type[Or], parts: list[Expression]) -> set[Expression]:
    """Replace all comparisons of the same two sides by one, or by a truth value: a > b or a = b is a >= b."""
    signs: dict[tuple[Expression, Expression], frozenset[int]] = {}
    merged: set[Expression] = set()
    for part in parts:
        if isinstance(part, Compare):
            sides, holds = (part.left, part.right), SIGNS[part.operator]
            others = signs.get(sides, holds)
            signs[sides] = others | holds if kind is Or else others & holds
        else:
            merged.add(part)
    for sides, holds in signs.items():
        merged.add(Compare(OPERATORS[holds], *sides) if holds in OPERATORS else Truth(bool(holds)))
    return merged


def _cover_all_cases(parts: set[Expression]) -> bool:
    """Whether a nested formula meets the negations of all its parts: (p and q) or not p or not q."""
    return any(all(negated(inner) in parts for inner in nested.parts) for nested in _nested(parts))


def _without_implied(parts: set[Expression]) -> set[Expression]:
    """Drop nested formulas that another part makes redundant: p or (p and q) is p."""
    return parts - {nested for nested in _nested(parts) if any(inner in parts for inner in nested.parts)}


def _nested(parts: set[Expression]) -> list[And | Or]:
    return [part for part in parts if isinstance(part, And | Or)]


def _choice(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """Canonical: conditions with > >= = rather than their negations, and > where both branches agree at the tie."""
    if isinstance(condition, Truth):
        return then if condition.value else otherwise
    if then == otherwise:
        return then
    opposite = negated(condition)
    excess = _negative_comparisons(condition) - _negative_comparisons(opposite)
    if excess > 0 or (excess == 0 and str(opposite) < str(condition)):
        condition, then, otherwise = opposite, otherwise, then
    if isinstance(condition, Compare) and _agree_at_tie(condition, then, otherwise):
        if condition.operator == "=":
            return otherwise
        condition = Compare(">", condition.left, condition.right)
    return Where(condition, then, otherwise)


def _negative_comparisons(condition: Expression) -> int:
    """Count < <= !=: of a condition and its negation, the one with fewer of them is kept."""
    return sum(isinstance(node, Compare) and node.operator in ("<", "<=", "!=") for node in condition.walk())


def _agree_at_tie(condition: Compare, then: Expression, otherwise: Expression) -> bool:
    """Whether the branches are equal wherever the two sides of the comparison are."""
    gap, step = total([(ONE, then), (-ONE, otherwise)]), total([(ONE, condition.left), (-ONE, condition.right)])
    gap_terms, step_terms = ({a: c for c, a in e.terms} if isinstance(e, Linear) else {e: ONE} for e in (gap, step))
    if isinstance(gap, Constant) or gap_terms.keys() != step_terms.keys():
        return False
    ratios = {gap_terms[atom] / step_terms[atom] for atom in gap_terms}
    constants = [e.constant if isinstance(e, Linear) else Fraction(0) for e in (gap, step)]
    return len(ratios) == 1 and constants[0] == ratios.pop() * constants[1]
