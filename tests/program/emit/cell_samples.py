"""Random programs with texts, truth values, dates, times, durations and missing cells, and rows for them.

``row_answer`` evaluates one row after the other, as the language is described: the truth for all targets.
"""

import os
import random
from datetime import date, datetime, timedelta
from fractions import Fraction
from functools import cache

from nsr.data import COMPARISONS
from nsr.program import (
    And,
    Compare,
    Constant,
    Count,
    Flag,
    Kind,
    Linear,
    Missing,
    OneOf,
    Or,
    Order,
    Product,
    Program,
    Truth,
    Variable,
    Where,
)
from nsr.program.times import POINTS, UNITS, microseconds

COUNT = int(os.environ.get("NSR_PROGRAMS", "150"))
KINDS = {
    "x": Kind.NUMBER,
    "unit price": Kind.NUMBER,
    "half": Kind.NUMBER,
    "country": Kind.TEXT,
    'a"; drop table t; --': Kind.TEXT,
    "member": Kind.BOOLEAN,
    "has_x": Kind.BOOLEAN,
    "paid": Kind.DATE,
    "date": Kind.DATE,
    "invoiced": Kind.DATE,
    "seen": Kind.TIMESTAMP,
    "größe": Kind.TIMESTAMP,
    "taken": Kind.DURATION,
}
"""``half`` holds floats, other numbers are integers."""
TEXTS = ["", "AT", "DE", "it's", 'a "b"', "back\\slash", "größe", "{{ x }}", "a\nb", "%s", "-- x", " ", "de"]
DATES = [date(2024, 2, 29), date(2024, 1, 31), date(2024, 3, 1), date(1970, 1, 1), date(1969, 12, 31), date(2024, 3, 2)]
DATES += [date(9999, 12, 31), date(1, 1, 1)]
TIMES = [datetime(2024, 2, 29), datetime(2024, 2, 29, 12, 30), datetime(2024, 2, 29, 12, 30, 0, 1)]
TIMES += [datetime(2024, 2, 29, 12, 29, 59, 999999), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1)]
TIMES += [datetime(2024, 3, 1, 0, 0, 0, 500000), datetime(9999, 12, 31, 23, 59, 59, 999999)]
DURATIONS = [timedelta(), timedelta(days=30), timedelta(hours=1), timedelta(microseconds=1), timedelta(days=-1)]
DURATIONS += [timedelta(days=1, microseconds=-1), timedelta(minutes=30)]
POOLS = {Kind.TEXT: TEXTS, Kind.BOOLEAN: [True, False], Kind.DATE: DATES, Kind.TIMESTAMP: TIMES}
POOLS[Kind.DURATION] = DURATIONS


@cache
def rows(count=60):
    """Rows of cells: None where they are missing; some rows have no gaps, one has nothing else."""
    source, found = random.Random(5), [dict.fromkeys(KINDS)]
    while len(found) < count:
        gaps = source.choice([0, 0.2, 0.6])
        found.append({name: None if source.random() < gaps else _cell(source, name) for name in KINDS})
    return found


def _cell(source, name):
    if name == "half":
        return source.randint(-6, 60) / 2
    if KINDS[name] == Kind.NUMBER:
        return source.choice([source.randint(-3, 3), source.randint(0, 40)])
    return source.choice(POOLS[KINDS[name]])


def columns(names):
    return {name: [row[name] for row in rows()] for name in names}


@cache
def programs(count=COUNT, durations=True):
    """Different programs, none of them trivial; ``durations=False`` for databases that have none."""
    source, found = random.Random(count + durations), {}
    while len(found) < count:
        make = source.choice([formula, formula, number])
        expression = make(source, source.choice([0, 1, 1, 2]), durations).simplified()
        if isinstance(expression, Truth | Constant | Variable) or expression.size > 40 or rounds(expression):
            continue
        found[Program(expression)] = None
    return list(found)


def rounds(node, floats=("half",)):
    """Whether floats are mixed with microseconds, which as floats are rounded from the year 2255 on."""
    computed = {leaf.name for side in node.children if not side.is_boolean for leaf in leaves(side)}
    mixed = computed & {*floats} and any(KINDS[name] in (*POINTS, Kind.DURATION) for name in computed)
    return bool(mixed) or any(rounds(child, floats) for child in node.children)


def leaves(node):
    """The columns that a number is computed from, without those of the formulas in it."""
    inner = [leaf for child in node.children if not child.is_boolean for leaf in leaves(child)]
    return [node] if isinstance(node, Variable) else inner


def column(source, *kinds, but=()):
    return Variable(*source.choice([(name, kind) for name, kind in KINDS.items() if kind in kinds and name not in but]))


def formula(source, depth, durations):
    kind = source.choice(["join", "join", "count", *LEAVES] if depth else LEAVES)
    if kind == "join":
        parts = [formula(source, depth - 1, durations) for _ in range(source.randint(2, 3))]
        return source.choice([And, Or])(*parts)
    if kind == "count":
        parts = [formula(source, depth - 1, durations) for _ in range(source.randint(2, 4))]
        return Compare(source.choice(sorted(COMPARISONS)), Count(*parts), source.randint(0, 3))
    return kind(source, depth, durations)


def texts(source, _depth, _durations):
    if source.random() < 0.3:
        return Compare(source.choice(["=", "!="]), column(source, Kind.TEXT), column(source, Kind.TEXT))
    return OneOf(column(source, Kind.TEXT), source.sample(TEXTS, source.randint(1, 3)), source.random() < 0.6)


def flags(source, _depth, _durations):
    return Flag(column(source, Kind.BOOLEAN), source.random() < 0.5)


def gaps(source, _depth, durations):
    kinds = [kind for kind in Kind if durations or kind != Kind.DURATION]
    return Missing(column(source, *kinds), source.random() < 0.5)


def compared_numbers(source, depth, durations):
    sides = [number(source, max(depth - 1, 0), durations) for _ in range(2)]
    return Compare(source.choice(sorted(COMPARISONS)), *sides)


def compared_times(source, _depth, durations):
    """Points in time with durations: constants, columns, and columns of numbers that count days."""
    operator = source.choice(sorted(COMPARISONS))
    left, right = column(source, *POINTS), column(source, *POINTS)
    if source.random() < 0.3:
        moment = source.choice(DATES + TIMES)
        right = Constant(microseconds(moment))
    shift = source.choice(["none", "constant", "constant", "numbers", *(["columns", "only"] if durations else [])])
    if shift == "constant":
        unit = source.choice([*UNITS.values(), UNITS["day"], UNITS["day"]])
        right = right + source.choice([-1, 1, 7, 30, 31]) * unit
    elif shift == "numbers":
        right = right + source.choice([1, 2]) * UNITS[source.choice(["day", "day", "hour"])] * Variable("x")
    elif shift == "columns":
        right = right + source.choice([1, 1, 2, -1]) * Variable("taken", Kind.DURATION)
    elif shift == "only":
        left, right = Variable("taken", Kind.DURATION), Constant(microseconds(source.choice(DURATIONS)))
    return Compare(operator, left, right)


LEAVES = [texts, flags, gaps, compared_numbers, compared_times, compared_times]


def number(source, depth, durations):
    chosen = source.random()
    plain = Variable(source.choice(["x", "unit price"]))
    if depth and chosen < 0.25:
        return Where(formula(source, depth - 1, durations), *(number(source, depth - 1, durations) for _ in range(2)))
    if depth and chosen < 0.35:
        return Count(*(formula(source, depth - 1, durations) for _ in range(source.randint(1, 3))))
    if depth and chosen < 0.5:
        parts = [number(source, depth - 1, durations) for _ in range(source.randint(2, 3))]
        parts += source.choice([[], [], [Constant(1), Constant(20)]])
        return Order(source.randint(1, len(parts)), *parts)
    if chosen < 0.6:
        return source.choice([plain, Variable("half")])
    if chosen < 0.7:
        return Constant(source.randint(-3, 30))
    if chosen < 0.75:
        return Product(plain, Variable(source.choice(["x", "unit price"])))
    if chosen < 0.85:  # a sum of times that is neither a time nor a duration
        kinds = [*POINTS, Kind.DURATION] if durations else POINTS
        return source.choice([1, 2, -1]) * column(source, *kinds) + source.randint(-2, 2) * column(source, *kinds)
    return Linear(
        [(source.choice([1, 2, -3]), plain), (source.choice([1, -1]), Variable("half"))], source.randint(-3, 3)
    )


def row_answer(node, row):
    """The truth value of a formula, or a number; None if it is missing."""
    match node:
        case Truth(value) | Constant(value):
            return value
        case Missing(of, holds):
            return (row[of.name] is None) == holds
        case Flag(of, holds):
            return row[of.name] is holds
        case OneOf(of, holds, among):
            return row[of.name] is not None and (row[of.name] in among) == holds
        case And(parts):
            return all(row_answer(part, row) for part in parts)
        case Or(parts):
            return any(row_answer(part, row) for part in parts)
        case Compare(operator, left, right) if node.of_texts:
            sides = [row[left.name], row[right.name]]
            return None not in sides and (sides[0] == sides[1]) == (operator == "=")
        case Compare(operator, left, right):
            sides = [row_answer(left, row), row_answer(right, row)]
            return None not in sides and bool(COMPARISONS[operator](*sides))
        case Count(parts):
            return Fraction(sum(row_answer(part, row) for part in parts))
        case Where(condition, then, otherwise):
            return row_answer(then if row_answer(condition, row) else otherwise, row)
        case Variable(name, kind):
            cell = row[name]
            if cell is None:
                return None
            return Fraction(cell) if kind == Kind.NUMBER else Fraction(microseconds(cell))
    values = [row_answer(child, row) for child in node.children]
    if None in values:
        return None
    if isinstance(node, Order):
        return sorted(values)[node.rank - 1]
    if isinstance(node, Product):
        product = Fraction(1)
        for value in values:
            product *= value
        return product
    assert isinstance(node, Linear)
    return sum((weight * value for (weight, _), value in zip(node.terms, values, strict=True)), node.constant)


@cache
def answers(program):
    return [row_answer(program.expression, row) for row in rows()]


def agree(found, program):
    """Whether a target's answers are those of ``row_answer``: truth values, numbers, and None."""
    expected = answers(program)
    if program.expression.is_boolean:
        return [None if value is None else bool(value) for value in found] == expected
    return [None if value is None else Fraction(value) for value in found] == expected
