"""Leave out statements that follow from others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

from nsr.learn.profile.chance import order_chance, rarity
from nsr.learn.profile.columns import SampledColumn
from nsr.learn.profile.equations import Equation
from nsr.learn.profile.statements import Candidate, Dependency, Exactly
from nsr.program.conditions import Missing
from nsr.program.expressions import Compare, Linear, Variable


def without_implied(
    candidates: Sequence[Candidate], equations: Sequence[Equation], columns: Mapping[str, SampledColumn]
) -> list[Candidate]:
    """The candidates that do not follow from others, in the same order."""
    orders = [each for each in candidates if is_order(each)]
    sums = [each for each in candidates if _is_sum_order(each)]
    passed = list(_transitive(orders, columns))
    dropped = {id(order) for order, is_implied in passed if is_implied}
    weaker = {id(order): _strictness(order, columns) for order, is_implied in passed if not is_implied}
    dropped |= {id(each) for each in orders if any(_equation_implies(e, each, columns) for e in equations)}
    dropped |= {id(each) for each in orders if any(_sum_implies(larger, each, columns) for larger in sums)}
    dropped |= {id(each) for each in _implied_gaps(candidates)}
    rules = [set(each.columns) for each in candidates if isinstance(each.claim, Exactly)]
    dropped |= {id(each) for each in candidates if each.condition is not None and set(each.columns) in rules}
    dropped |= {id(each) for each in _implied_dependencies(candidates)}
    return [weaker.get(id(each), each) for each in candidates if id(each) not in dropped]


def is_order(candidate: Candidate) -> bool:
    """Whether two columns are ordered on all rows."""
    claim = candidate.claim
    plain = isinstance(claim, Compare) and isinstance(claim.left, Variable) and isinstance(claim.right, Variable)
    return plain and claim.operator in ("<", "<=") and candidate.condition is None  # type: ignore[union-attr]


def _is_sum_order(candidate: Candidate) -> bool:
    claim = candidate.claim
    return isinstance(claim, Compare) and claim.operator == "<=" and any(isinstance(s, Linear) for s in claim.children)


def _sides(candidate: Candidate) -> tuple[str, str]:
    assert isinstance(candidate.claim, Compare)
    left, right = candidate.claim.children
    assert isinstance(left, Variable)
    assert isinstance(right, Variable)
    return left.name, right.name


def _transitive(orders: Sequence[Candidate], columns: Mapping[str, SampledColumn]) -> Iterable[tuple[Candidate, bool]]:
    """Orders that follow from two others through a column in between, which is present on all of their rows.

    Of ``a < c`` beside ``a <= b`` and ``b <= c``, only ``a <= c`` follows: then the second value is False.
    """
    edges = {_sides(order): order for order in orders}
    after: dict[str, set[str]] = {}
    before: dict[str, set[str]] = {}
    for low, high in edges:
        after.setdefault(low, set()).add(high)
        before.setdefault(high, set()).add(low)
    for (low, high), order in edges.items():
        found = set[bool]()
        for middle in after[low] & before[high]:
            first, second = edges[low, middle], edges[middle, high]
            if first.breaks + second.breaks <= order.breaks and _covers(columns, middle, (low, high)):
                found.add(_is_strict(first) or _is_strict(second) or not _is_strict(order))
        if found:
            yield order, True in found


def _is_strict(order: Candidate) -> bool:
    return isinstance(order.claim, Compare) and order.claim.operator == "<"


def _strictness(order: Candidate, columns: Mapping[str, SampledColumn]) -> Candidate:
    """A strict order, if it is known that the first column is not greater: only as surprising as the lack of ties."""
    low, high = (columns[name] for name in _sides(order))
    both = low.present & high.present
    one, other = low.numbers[both], high.numbers[both]
    ties = order_chance(one, other) - order_chance(one, other, strict=True)
    return replace(order, surprise=rarity(len(one), order.breaks, ties), chance=1 - ties)


def _covers(columns: Mapping[str, SampledColumn], middle: str, ends: tuple[str, str]) -> bool:
    both = columns[ends[0]].present & columns[ends[1]].present
    return bool((columns[middle].present | ~both).all())


def _equation_implies(equation: Equation, order: Candidate, columns: Mapping[str, SampledColumn]) -> bool:
    """Whether an order follows from an equation of its columns, and the signs of all columns."""
    low, high = _sides(order)
    names = [column.name for column in equation.columns]
    if low not in names or high not in names:
        return False
    if any(len(factors) > 1 for _, factors in equation.terms):
        target = equation.terms[-1][1][0].name
        others = [name for name in names if name not in (low, target)] or [low]
        return high == target and columns[low].low >= 0 and all(columns[name].low >= 1 for name in others)
    weights = {factors[0].name: coefficient for coefficient, factors in equation.terms}
    scale = 1 / weights[high]  # high - low = constant - (the weight of low + 1) * low - the other terms
    weights = {name: scale * weight for name, weight in weights.items() if name != high}
    weights[low] += 1
    if set(weights) == {low}:  # the equation gives the one from the other
        ends = (columns[low].low, columns[low].high)
        return all(float(scale * equation.constant) - float(weights[low]) * end >= 0 for end in ends)
    parts = [_sign(-weight, columns[name]) for name, weight in weights.items() if weight]
    constant = scale * equation.constant
    if constant < 0 or None in parts:
        return False
    return constant > 0 or 1 in parts or (isinstance(order.claim, Compare) and order.claim.operator == "<=")


def _sign(weight: Fraction, column: SampledColumn) -> int | None:
    """The least sign of a term: 1 if it is positive, 0 if it can be 0, None if it can be negative."""
    least = column.low if weight > 0 else -column.high
    return None if least < 0 else int(least > 0)


def _sum_implies(larger: Candidate, order: Candidate, columns: Mapping[str, SampledColumn]) -> bool:
    """Whether ``a <= c`` follows from ``a + b <= c``, because ``b`` is never negative."""
    low, high = _sides(order)
    assert isinstance(larger.claim, Compare)
    sides = [side.variables for side in larger.claim.children]
    if low not in sides[0] or high not in sides[1] or larger.breaks > order.breaks or larger.score < order.score / 2:
        return False
    others = [(name, place) for place, side in enumerate(sides) for name in side if name not in (low, high)]
    return all(columns[name].low >= 0 if place == 0 else columns[name].high <= 0 for name, place in others)


def _implied_gaps(candidates: Sequence[Candidate]) -> Iterable[Candidate]:
    """Implications between missing cells that follow from two others."""
    edges = {
        (each.condition.column.name, each.claim.column.name): each
        for each in candidates
        if isinstance(each.condition, Missing) and isinstance(each.claim, Missing)
    }
    names = {name for pair in edges for name in pair}
    for (one, other), middle in product(edges, names):
        if (one, middle) in edges and (middle, other) in edges:
            yield edges[one, other]


def _implied_dependencies(candidates: Sequence[Candidate]) -> Iterable[Candidate]:
    """Dependencies that follow from others, or from an equation or a rule about the same columns."""
    closer = [set(each.columns) for each in candidates if not isinstance(each.claim, Dependency)]
    edges: dict[tuple[str, str], Candidate] = {}
    mutual = set[tuple[str, str]]()
    for each in candidates:
        if isinstance(each.claim, Dependency):
            pair = (each.claim.source, each.claim.target)
            if any(columns == set(pair) for columns in closer):
                yield each
            edges[pair] = each
            if each.claim.mutual:
                mutual.add(pair)
                edges[pair[1], pair[0]] = each
    for (one, other), each in edges.items():
        if (one, other) in mutual or (other, one) in mutual:
            continue
        for middle in {name for pair in edges for name in pair} - {one, other}:
            if (one, middle) in edges and (middle, other) in edges and not _is_later_twin(mutual, one, other, middle):
                yield each
                break
    for each in candidates:
        if isinstance(each.claim, Exactly) and any(set(pair) == set(each.columns) for pair in mutual):
            yield each


def _is_later_twin(mutual: set[tuple[str, str]], one: str, other: str, middle: str) -> bool:
    """Whether the way is through a column that says the same as one of the ends and comes later: keep the first."""
    twins = [end for end in (one, other) if (end, middle) in mutual or (middle, end) in mutual]
    return any(end < middle for end in twins)
