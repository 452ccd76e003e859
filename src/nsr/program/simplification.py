"""The canonical form of a program: equal in exact arithmetic, and one for rules that these steps make equal.

Sums are flat and in order; comparisons have their variables on the side where they are positive, the first of them
on the left; negations are pushed into the comparisons; formulas are flat, in order and without repetition. With
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
    natural,
    total,
)

ONE = Fraction(1)


def simplify(expression: Expression) -> Expression:
    """The canonical form of an expression; simplifying it again changes nothing."""
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
    """The canonical form of the negation of a canonical formula."""
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
    """An order of canonical trees: variables first and by name, then by size and text."""
    if isinstance(expression, Variable):
        return 0, 0, natural(expression.name)
    return 1, expression.size, natural(str(expression))


def _sorted_sum(expression: Expression) -> Expression:
    if not isinstance(expression, Linear):
        return expression
    terms = sorted(expression.terms, key=lambda term: (term[0] < 0, _key(term[1])))
    return Linear(tuple(terms), expression.constant)


def _comparison(operator: str, left: Expression, right: Expression) -> Expression:
    """Canonical: whole coefficients without a common factor, positive on both sides, the constant on the right."""
    difference = total([(ONE, left), (-ONE, right)])
    if isinstance(difference, Constant):
        return Truth(bool(COMPARISONS[operator](difference.value, 0)))
    whole = difference if isinstance(difference, Linear) else Linear(((ONE, difference),))
    terms = sorted(whole.terms, key=lambda term: _key(term[1]))
    factor = Fraction(lcm(*(c.denominator for c, _ in terms)), gcd(*(c.numerator for c, _ in terms)))
    factor /= gcd(*((c * factor).numerator for c, _ in terms))
    if terms[0][0] < 0:
        operator, factor = MIRRORED[operator], -factor
    scaled = [(coefficient * factor, atom) for coefficient, atom in terms]
    left = total([(c, atom) for c, atom in scaled if c > 0])
    right = total([(-c, atom) for c, atom in scaled if c < 0], -whole.constant * factor)
    return Compare(operator, _sorted_sum(left), _sorted_sum(right))


SIGNS: dict[str, frozenset[int]] = {
    operator: frozenset(sign for sign in (-1, 0, 1) if compare(sign, 0)) for operator, compare in COMPARISONS.items()
}
"""Of which signs of a difference each comparison holds."""


def _joined(kind: type[And] | type[Or], parts: list[Expression]) -> Expression:
    """Flat, in order, each part once; comparisons of the same two sides become one."""
    absorbing = kind is Or
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    signs: dict[tuple[Expression, Expression], frozenset[int]] = {}
    rest: set[Expression] = set()
    for part in flat:
        if isinstance(part, Truth):
            if part.value is absorbing:
                return part
        elif isinstance(part, Compare):
            sides, own = (part.left, part.right), SIGNS[part.operator]
            known = signs.get(sides, own)
            signs[sides] = known | own if kind is Or else known & own
        else:
            rest.add(part)
    for sides, those in signs.items():
        if len(those) in (0, 3):
            if (len(those) == 3) is absorbing:
                return Truth(absorbing)
            continue
        rest.add(Compare(next(name for name, own in SIGNS.items() if own == those), *sides))
    if not rest:
        return Truth(not absorbing)
    nested = [part for part in rest if isinstance(part, And | Or)]  # of the other kind: this kind was made flat
    if any(all(negated(inner) in rest for inner in part.parts) for part in nested):  # (p and q) or not p or not q
        return Truth(absorbing)
    kept = rest - {part for part in nested if any(inner in rest for inner in part.parts)}  # p or (p and q) is p
    return kind(*sorted(kept, key=_key)) if len(kept) > 1 else kept.pop()


def _choice(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """Canonical: a condition of > >= = rather than its negation, and > where the branches meet at the tie."""
    if isinstance(condition, Truth):
        return then if condition.value else otherwise
    if then == otherwise:
        return then
    opposite = negated(condition)
    more = _awkward(condition) - _awkward(opposite)
    if more > 0 or (more == 0 and str(opposite) < str(condition)):
        condition, then, otherwise = opposite, otherwise, then
    if isinstance(condition, Compare) and _meet(condition, then, otherwise):
        if condition.operator == "=":
            return otherwise
        condition = Compare(">", condition.left, condition.right)
    return Where(condition, then, otherwise)


def _awkward(condition: Expression) -> int:
    """How many of < <= != it has: of a condition and its negation, that with fewer is kept."""
    return sum(isinstance(node, Compare) and node.operator in ("<", "<=", "!=") for node in condition.walk())


def _meet(condition: Compare, then: Expression, otherwise: Expression) -> bool:
    """Whether both branches are the same number where both sides of the comparison are."""
    gap, step = total([(ONE, then), (-ONE, otherwise)]), total([(ONE, condition.left), (-ONE, condition.right)])
    gap_terms, step_terms = ({a: c for c, a in e.terms} if isinstance(e, Linear) else {e: ONE} for e in (gap, step))
    if isinstance(gap, Constant) or gap_terms.keys() != step_terms.keys():
        return False
    ratios = {gap_terms[atom] / step_terms[atom] for atom in gap_terms}
    constants = [e.constant if isinstance(e, Linear) else Fraction(0) for e in (gap, step)]
    return len(ratios) == 1 and constants[0] == ratios.pop() * constants[1]
