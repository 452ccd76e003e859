"""The canonical form of a program, which equals the original in exact arithmetic.

Sums and products are flat and sorted, with the coefficient of a product pulled out; products of sums are not expanded.
In comparisons every variable stands on the side where its coefficient is positive, the first one on the left. Negations
are pushed into the comparisons. Formulas are flat, sorted and free of repetition. Counts are compared with >= <= = !=,
and become And and Or where they can. The numbers of a minimum, maximum or median are sorted. With floats the order of
additions and multiplications can change the last bit: simplify first, then evaluate.

Where cells are missing, the canonical form is what a program means: ``a > b or a <= b`` becomes true, although neither
of the two comparisons holds where ``a`` is missing.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import gcd, lcm

from nsr.data import COMPARISONS
from nsr.program.conditions import Condition, Missing, OneOf, joined_conditions, simple_condition
from nsr.program.expressions import (
    MIRRORED,
    NEGATED,
    And,
    Compare,
    Constant,
    Count,
    Expression,
    Linear,
    Not,
    Or,
    Order,
    Product,
    Truth,
    Variable,
    Where,
    coefficient_and_factors,
    natural_key,
    total,
)
from nsr.program.kinds import Kind

ONE = Fraction(1)


def simplify(expression: Expression) -> Expression:
    """Return the canonical form; simplifying it again changes nothing."""
    match expression:
        case Linear(terms, constant):
            return _sorted_sum(_with_text_totals(total([(c, simplify(atom)) for c, atom in terms], constant)))
        case Compare(operator, left, right):
            return _comparison(operator, simplify(left), simplify(right))
        case Not(part):
            return negated(simplify(part))
        case And() | Or():
            return _joined(type(expression), [simplify(part) for part in expression.parts])
        case Where(condition, then, otherwise):
            return _choice(simplify(condition), simplify(then), simplify(otherwise))
        case Product(factors):
            return _product(map(simplify, factors))
        case Count(formulas):
            return _count(map(simplify, formulas))
        case Order(rank, parts):
            return _order(rank, [simplify(part) for part in parts])
        case Condition():
            return simple_condition(expression)
    return expression


def negated(formula: Expression) -> Expression:
    """Negate a canonical formula; the result is canonical too."""
    match formula:
        case Truth(value):
            return Truth(not value)
        case Compare(">=", Count() as count, Constant(value)):
            return Compare("<=", count, value - 1)
        case Compare("<=", Count() as count, Constant(value)):
            return Compare(">=", count, value + 1)
        case Compare(operator, left, right):
            return Compare(NEGATED[operator], left, right)
        case Condition():
            return formula.negated()
        case And(parts):
            return _joined_negations(Or, {negated(part) for part in parts})
        case Or(parts):
            return _joined_negations(And, {negated(part) for part in parts})
    raise TypeError(f"only a canonical formula can be negated, got {formula!r}")


def _joined_negations(kind: type[And] | type[Or], parts: set[Expression]) -> Expression:
    """Join the negations of canonical parts: where cells can be missing, some may follow from others."""
    if any(isinstance(part, Condition) for part in parts):
        parts = joined_conditions(parts, every=kind is And) - {Truth(kind is And)}
        if Truth(kind is Or) in parts or not parts:
            return Truth(kind is (Or if parts else And))
        if len(parts) == 1:
            return parts.pop()
    return kind(*sorted(parts, key=_key))


def _key(expression: Expression) -> tuple[object, ...]:
    """Sort key for canonical trees: variables first, by name; then by size and text."""
    if isinstance(expression, Variable):
        return 0, 0, natural_key(expression.name), expression.kind
    return 1, expression.size, natural_key(str(expression))


def _sorted_sum(expression: Expression) -> Expression:
    if not isinstance(expression, Linear):
        return expression
    terms = sorted(expression.terms, key=lambda term: (term[0] < 0, _key(term[1])))
    return Linear(tuple(terms), expression.constant)


def _with_text_totals(expression: Expression) -> Expression:
    """A sum with one term for each total that the texts of a column have, if these are not more terms.

    ``300*count(c == 'DE') + 200*count(c in ('AT', 'DE'))`` is ``500*count(c == 'DE') + 200*count(c == 'AT')``.
    """
    if not isinstance(expression, Linear):
        return expression
    found: dict[Variable, list[tuple[Fraction, OneOf, Expression]]] = {}
    for coefficient, atom in expression.terms:
        if (condition := _counted_texts(atom)) is not None:
            found.setdefault(condition.column, []).append((coefficient, condition, atom))
    kept, parts = list(expression.terms), list[tuple[Fraction, Expression]]()
    for column, terms in found.items():
        fewer = _text_totals(column, [(coefficient, condition) for coefficient, condition, _ in terms])
        if len(terms) > 1 and len(fewer) <= len(terms):
            kept = [term for term in kept if (term[0], term[1]) not in {(c, atom) for c, _, atom in terms}]
            parts += fewer
    return total([*kept, *parts], expression.constant) if parts or len(kept) < len(expression.terms) else expression


def _counted_texts(number: Expression) -> OneOf | None:
    """The condition on a text that a number is 1 or 0 for."""
    match number:
        case Count((OneOf() as condition,)):
            return condition
        case Count((Missing(column, False),)) if column.kind == Kind.TEXT:
            return OneOf(column, (), False)
    return None


def _text_totals(column: Variable, terms: list[tuple[Fraction, OneOf]]) -> list[tuple[Fraction, Expression]]:
    """A coefficient and a count for each total other than 0; a missing cell has none, like in the given terms."""
    rest = sum((coefficient for coefficient, condition in terms if not condition.holds), Fraction(0))
    totals = {
        text: sum((c for c, condition in terms if (text in condition.texts) == condition.holds), Fraction(0))
        for text in sorted({text for _, condition in terms for text in condition.texts})
    }
    values = sorted({*totals.values(), rest} - {Fraction(0)})
    conditions = {
        value: OneOf(
            column, [text for text, each in totals.items() if (each == value) == (value != rest)], value != rest
        )
        for value in values
    }
    return [(value, Count(simple_condition(condition))) for value, condition in conditions.items()]


def _product(factors: Iterable[Expression]) -> Expression:
    """Canonical: factors sorted, and sums without a common factor, the first of their terms positive."""
    coefficient, atoms = ONE, list[Expression]()
    for factor in factors:
        further, inner = coefficient_and_factors(factor)
        coefficient *= further
        for atom in inner:
            scale, primitive = _primitive(atom)
            coefficient *= scale
            atoms.append(primitive)
    if not atoms:
        return Constant(coefficient)
    product = Product(*sorted(atoms, key=_key)) if len(atoms) > 1 else atoms[0]
    return _sorted_sum(total([(coefficient, product)]))


def _primitive(number: Expression) -> tuple[Fraction, Expression]:
    """Split a canonical number into a factor and a sum whose terms have integer coefficients without a common one."""
    if not isinstance(number, Linear):
        return ONE, number
    scale = 1 / _clearing_factor([coefficient for coefficient, _ in number.terms])
    if min(number.terms, key=lambda term: _key(term[1]))[0] < 0:
        scale = -scale
    return scale, _sorted_sum(total([(1 / scale, number)]))


def _clearing_factor(coefficients: list[Fraction]) -> Fraction:
    """The factor that makes coefficients integers without a common factor."""
    factor = Fraction(lcm(*(c.denominator for c in coefficients)), gcd(*(c.numerator for c in coefficients)))
    return factor / gcd(*((c * factor).numerator for c in coefficients))


def _count(formulas: Iterable[Expression]) -> Expression:
    """Canonical: sorted, without truth values, and without formulas of which exactly one holds."""
    constant, kept = 0, list[Expression]()
    for formula in formulas:
        if isinstance(formula, Truth):
            constant += formula.value
        elif (opposite := negated(formula)) in kept:
            kept.remove(opposite)
            constant += 1
        else:
            kept.append(formula)
    if not kept:
        return Constant(constant)
    return total([(ONE, Count(*sorted(kept, key=_key)))], Fraction(constant))


def _order(rank: int, parts: list[Expression]) -> Expression:
    """Canonical: sorted, and without parts that cannot matter."""
    constants = sorted(part.value for part in parts if isinstance(part, Constant))
    if len(constants) == len(parts):
        return Constant(constants[rank - 1])
    if rank in (1, len(parts)):
        return _extreme(rank > 1, parts)
    for part in set(parts):
        times = parts.count(part)
        if len(parts) - times < rank <= times:  # wherever the others are, this one has the rank
            return part
    return Order(rank, *sorted(parts, key=_constants_last))


def _constants_last(number: Expression) -> tuple[object, ...]:
    return isinstance(number, Constant), *_key(number)


def _extreme(largest: bool, parts: list[Expression]) -> Expression:
    """Canonical minimum or maximum: flat, without repetition, with one constant at most."""
    flat = {inner for part in parts for inner in _flat_parts(largest, part)}
    bounds = [part.value for part in flat if isinstance(part, Constant)]
    kept = sorted((part for part in flat if not isinstance(part, Constant)), key=_key)
    if not bounds and len(kept) == 2 and total([(ONE, part) for part in kept]) == Constant(0):
        return _sorted_sum(total([(ONE if largest else -ONE, _absolute(kept[0]))]))
    if bounds:
        bound = max(bounds) if largest else min(bounds)
        if len(kept) == 1 and (clipped := _clipped(largest, bound, kept[0])) is not None:
            return clipped
        kept = [*kept, Constant(bound)]
    return kept[0] if len(kept) == 1 else Order(len(kept) if largest else 1, *kept)


def _flat_parts(largest: bool, part: Expression) -> tuple[Expression, ...]:
    """The parts of a maximum inside a maximum; an absolute value stays as it is."""
    same = isinstance(part, Order) and part.absolute is None and (part.is_maximum if largest else part.is_minimum)
    return part.parts if same and isinstance(part, Order) else (part,)


def _absolute(number: Expression) -> Expression:
    """The absolute value of a canonical number that is not constant: of two numbers, the one that starts with plus."""
    if isinstance(number, Linear) and len(number.terms) == 1 and number.constant == 0:
        ((coefficient, atom),) = number.terms
        return total([(abs(coefficient), _absolute(atom))])
    if isinstance(number, Order) and number.absolute is not None:
        return number
    if isinstance(number, Linear) and min(number.terms, key=lambda term: _key(term[1]))[0] < 0:
        number = _sorted_sum(total([(-ONE, number)]))
    return Order(2, number, _sorted_sum(total([(-ONE, number)])))


def _clipped(largest: bool, bound: Fraction, inner: Expression) -> Expression | None:
    """The maximum of a constant and a minimum with another constant, or the other way round, as one node."""
    if not isinstance(inner, Order) or not (inner.is_minimum if largest else inner.is_maximum):
        return None
    bounds = [part for part in inner.parts if isinstance(part, Constant)]
    if len(bounds) != 1:
        return None
    low, high = (bound, bounds[0].value) if largest else (bounds[0].value, bound)
    if low >= high:
        return Constant(bound)
    others = _extreme(not largest, [part for part in inner.parts if not isinstance(part, Constant)])
    return Order(2, *sorted((others, Constant(low), Constant(high)), key=_constants_last))


def _comparison(operator: str, left: Expression, right: Expression) -> Expression:
    """Canonical: positive integer coefficients without a common factor on both sides, the constant on the right."""
    difference = _with_text_totals(total([(ONE, left), (-ONE, right)]))
    if isinstance(difference, Constant):
        return Truth(bool(COMPARISONS[operator](difference.value, 0)))
    linear = difference if isinstance(difference, Linear) else Linear(((ONE, difference),))
    terms = sorted(linear.terms, key=lambda term: _key(term[1]))
    factor = _clearing_factor([coefficient for coefficient, _ in terms])
    if terms[0][0] < 0:
        operator, factor = MIRRORED[operator], -factor
    scaled = [(coefficient * factor, atom) for coefficient, atom in terms]
    left = total([(c, atom) for c, atom in scaled if c > 0])
    right = total([(-c, atom) for c, atom in scaled if c < 0], -linear.constant * factor)
    if isinstance(left, Count) and isinstance(right, Constant):
        return _count_comparison(operator, left, right.value)
    return Compare(operator, _sorted_sum(left), _sorted_sum(right))


def _count_comparison(operator: str, count: Count, value: Fraction) -> Expression:
    """A canonical count compared with a constant."""
    numbers = range(len(count.formulas) + 1)
    compared = _count_among(count, {number for number in numbers if COMPARISONS[operator](number, value)})
    assert compared is not None, "one comparison holds for numbers that one comparison describes"
    return compared


def _count_among(count: Count, numbers: set[int]) -> Expression | None:
    """The formula that a count is one of these numbers, if it takes no more than one comparison, And or Or."""
    size = len(count.formulas)
    others = set(range(size + 1)) - numbers
    if not numbers or not others:
        return Truth(bool(numbers))
    for few, kind in ((numbers, And), (others, Or)):
        if few in ({0}, {size}):
            negative = few == {size * (kind is Or)}
            return _joined(kind, [negated(part) if negative else part for part in count.formulas])
    for operator, bound in (("=", min(numbers)), ("!=", min(others)), (">=", min(numbers)), ("<=", max(numbers))):
        if numbers == {number for number in range(size + 1) if COMPARISONS[operator](number, bound)}:
            return Compare(operator, count, bound)
    return None


SIGNS: dict[str, frozenset[int]] = {
    operator: frozenset(sign for sign in (-1, 0, 1) if compare(sign, 0)) for operator, compare in COMPARISONS.items()
}
"""The signs of ``left - right`` for which each comparison holds."""
OPERATORS = {signs: operator for operator, signs in SIGNS.items()}


def _joined(kind: type[And] | type[Or], parts: list[Expression]) -> Expression:
    """Canonical: flat, sorted, without repetition, and with one comparison for any two sides."""
    neutral, absorbing = Truth(kind is And), Truth(kind is Or)  # p or True is True
    flat = [inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))]
    for count, compared in _repeated_counts(flat).items():
        rest = [part for part in flat if part not in compared]
        if (fewer := _merge_counts(kind, count, compared)) != compared:
            return _joined(kind, [*rest, *fewer])
    merged = joined_conditions(_merge_comparisons(kind, flat), every=kind is And) - {neutral}
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


def _repeated_counts(parts: list[Expression]) -> dict[Count, set[Expression]]:
    """The counts that are compared with more than one constant, with these comparisons."""
    compared: dict[Count, set[Expression]] = {}
    for part in parts:
        if isinstance(part, Compare) and isinstance(part.left, Count) and isinstance(part.right, Constant):
            compared.setdefault(part.left, set()).add(part)
    return {count: several for count, several in compared.items() if len(several) > 1}


def _operator_and_value(comparison: Expression) -> tuple[str, Fraction]:
    assert isinstance(comparison, Compare)
    assert isinstance(comparison.right, Constant)
    return comparison.operator, comparison.right.value


def _merge_counts(kind: type[And] | type[Or], count: Count, compared: set[Expression]) -> set[Expression]:
    """The fewest comparisons of a count: for And the least and the largest number, and the gaps between them."""
    if kind is Or:
        return {negated(part) for part in _merge_counts(And, count, {negated(part) for part in compared})}
    numbers = {
        number
        for number in range(len(count.formulas) + 1)
        if all(COMPARISONS[operator](number, value) for operator, value in map(_operator_and_value, compared))
    }
    if (one := _count_among(count, numbers)) is not None:
        return {one}
    bounds = [(">=", min(numbers)), ("<=", max(numbers))]
    gaps = [("!=", number) for number in range(min(numbers), max(numbers)) if number not in numbers]
    return {_count_comparison(operator, count, Fraction(number)) for operator, number in bounds + gaps} - {Truth(True)}


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


def with_order(expression: Expression) -> Expression:
    """The canonical form, with choices between the larger and the smaller of two numbers as max, min and abs.

    ``where(a > b, a, b)`` becomes ``max(a, b)``, ``where(a > b, a - b, b - a)`` becomes ``abs(a - b)``, and
    ``where(x >= 0, where(x > 9, 9, x), 0)`` becomes ``clip(x, 0, 9)``.
    """
    return simplify(_with_order(simplify(expression)))


def _with_order(expression: Expression) -> Expression:
    match expression:
        case Linear(terms, constant):
            return Linear([(coefficient, _with_order(atom)) for coefficient, atom in terms], constant)
        case Compare(operator, left, right):
            return Compare(operator, _with_order(left), _with_order(right))
        case Order(rank, parts):
            return Order(rank, *map(_with_order, parts))
        case And(parts) | Or(parts) | Product(parts) | Count(parts):
            return type(expression)(*map(_with_order, parts))
        case Where(condition, then, otherwise):
            chosen = _choice(*(simplify(_with_order(part)) for part in (condition, then, otherwise)))
            return _chosen_by_size(chosen) if isinstance(chosen, Where) else chosen
    return expression


def _chosen_by_size(choice: Where) -> Expression:
    """A maximum or minimum where the condition compares the branches, else the choice itself."""
    condition, then, otherwise = choice.condition, choice.then, choice.otherwise
    if not isinstance(condition, Compare) or condition.operator not in (">", ">="):
        return choice
    if (ratio := _ratio_of_gaps(condition, then, otherwise)) is not None:
        return _extreme(ratio > 0, [then, otherwise])
    for branch, other in ((then, otherwise), (otherwise, then)):
        limits = [part.value for part in (*branch.children, other) if isinstance(part, Constant)]
        if not isinstance(branch, Order) or len(branch.parts) != 2 or len(limits) != 2:
            continue
        (number,) = (part for part in branch.parts if not isinstance(part, Constant))
        ratio = _ratio_of_gaps(condition, *(number if side is branch else side for side in (then, otherwise)))
        low, high = limits if branch.is_maximum else reversed(limits)
        if ratio is not None and (ratio > 0) == branch.is_minimum and low < high:
            return _extreme(ratio > 0, [branch, other])
    return choice


def _negative_comparisons(condition: Expression) -> int:
    """Count < <= !=: of a condition and its negation, the one with fewer of them is kept."""
    nodes = list(condition.walk())
    compared = sum(isinstance(node, Compare) and node.operator in ("<", "<=", "!=") for node in nodes)
    return compared + sum(isinstance(node, Condition) and not node.holds for node in nodes)


def _agree_at_tie(condition: Compare, then: Expression, otherwise: Expression) -> bool:
    """Whether the branches are equal wherever the two sides of the comparison are."""
    return _ratio_of_gaps(condition, then, otherwise) is not None


def _ratio_of_gaps(condition: Compare, then: Expression, otherwise: Expression) -> Fraction | None:
    """The difference of the branches over that of the sides of the comparison, if it is always the same."""
    gap, step = total([(ONE, then), (-ONE, otherwise)]), total([(ONE, condition.left), (-ONE, condition.right)])
    gap_terms, step_terms = ({a: c for c, a in e.terms} if isinstance(e, Linear) else {e: ONE} for e in (gap, step))
    if isinstance(gap, Constant) or gap_terms.keys() != step_terms.keys():
        return None
    ratios = {gap_terms[atom] / step_terms[atom] for atom in gap_terms}
    constants = [e.constant if isinstance(e, Linear) else Fraction(0) for e in (gap, step)]
    ratio = ratios.pop()
    return ratio if not ratios and constants[0] == ratio * constants[1] else None
