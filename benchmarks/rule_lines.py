"""The rules of the battery, a function each that draws units, ranges and round constants.

Truths are written on integer steps; a constant of the text is its number of steps times the unit. In titles, constants
and units are an example: every table draws its own.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from rule_tables import FLOAT, Column, Kind, Line, Plan, Scale, Steps, Truth, number

_found: dict[str, Line] = {}
LINES: Mapping[str, Line] = MappingProxyType(_found)
"""The kinds of tables that have a rule, by name."""

INTEGERS, TENTHS, CENTS, FLOATS = Scale(), Scale(per=10), Scale(per=100), Scale(per=FLOAT)
DECIMALS = (INTEGERS, INTEGERS, TENTHS, CENTS)


def _line(name: str, title: str, kind: Kind) -> Callable[[Callable[[np.random.Generator], Plan | None]], Line]:
    def add(plan: Callable[[np.random.Generator], Plan | None]) -> Line:
        _found[name] = Line(name, title, kind, plan)
        return _found[name]

    return add


def _pick(rng: np.random.Generator, *choices):
    return choices[int(rng.integers(len(choices)))]


def _scale(rng: np.random.Generator) -> Scale:
    """A unit from 0.001 to 1000, or floats with many digits in one of five tables."""
    power = int(rng.integers(-3, 4))
    return FLOATS if rng.random() < 0.2 else Scale(10 ** max(power, 0), 10 ** max(-power, 0))


def _group(
    rng: np.random.Generator,
    names: str | tuple[str, ...],
    scale: Scale | None = None,
    *,
    span: float | None = None,
    shift: float = 0.15,
) -> dict[str, Column]:
    """Columns of one unit and one distribution, each shifted a little."""
    scale = _scale(rng) if scale is None else scale
    shape, group = _pick(rng, "uniform", "normal", "skewed"), str(rng.integers(2**40))
    width = 10 ** rng.uniform(1.2, 4) if span is None else span
    width = width * FLOAT / _pick(rng, 1, 10, 100) if scale == FLOATS and span is None else width
    low = _pick(rng, 0.0, 0.0, -0.5) * width
    columns = {}
    for name in names:
        start = round(low + shift * width * rng.uniform(-1, 1) * (low < 0) + shift * width * rng.uniform() * (low >= 0))
        columns[name] = Column(start, start + round(width * rng.uniform(0.85, 1.15)), shape, scale, group)
    return columns


def _few(rng: np.random.Generator, names: str | tuple[str, ...], low: int, high: int) -> dict[str, Column]:
    """Columns of one small range, so that two of them are often equal."""
    values, start = int(rng.integers(low, high + 1)), _pick(rng, 0, 1, 10, 50)
    scale, group = _pick(rng, *DECIMALS, Scale(5), Scale(100)), str(rng.integers(2**40))
    return {name: Column(start, start + values - 1, "uniform", scale, group) for name in names}


def _one(low: int, high: int, scale: Scale, shape: str = "uniform", group: str = "") -> Column:
    return Column(low, high, shape, scale, group)


def _cut(rng: np.random.Generator, low: float, high: float, scale: Scale) -> tuple[int, int]:
    """A round constant in a range, in steps, and the distance in steps to the next that is as round."""
    width = high - low
    digit = Fraction(10) ** int(np.floor(np.log10(width / 5)))
    digit *= _pick(rng, 1, 1, Fraction(1, 2), 5) if width / 5 >= 1 else 1
    resolution = Fraction(scale.unit, scale.per)
    value = round(Fraction(rng.uniform(low, high)) / digit) * digit
    value = round(value / resolution) * resolution
    place = next(power for power in range(7, -8, -1) if (value / Fraction(10) ** power).denominator == 1 or power == -7)
    neighbour = max(Fraction(10) ** min(place, 0), resolution)
    return int(value / resolution), max(1, int(neighbour / resolution))


def _shifted(make: Callable[..., Truth], *constants: tuple[int, int]) -> tuple[Truth, ...]:
    """The truth with one constant moved up or down."""
    values = [value for value, _ in constants]
    return tuple(
        make(*values[:at], value + sign * step, *values[at + 1 :])
        for at, (value, step) in enumerate(constants)
        for sign in (-1, 1)
    )


def _tie(left: str, right: str) -> tuple[str, Truth]:
    """Two columns that are equal."""
    return left, lambda t: t[left] - t[right]


def _sum_tie(one: str, two: str, total: str) -> tuple[str, Truth]:
    """Two columns whose sum is a third."""
    return one, lambda t: t[one] + t[two] - t[total]


# One comparison of two columns, or of a column and a constant


@_line("greater", "a > b", "binary")
def _(rng):
    return Plan("a > b", _group(rng, "ab"), lambda t: t["a"] > t["b"])


@_line("equal", "a = b", "binary")
def _(rng):
    return Plan("a = b", _few(rng, "ab", 4, 30), lambda t: t["a"] == t["b"], least=0.03, most=0.97)


def _threshold_column(rng) -> tuple[Column, tuple[int, int]]:
    scale = _pick(rng, *DECIMALS, Scale(per=2), Scale(100), FLOATS)
    width = int(10 ** rng.uniform(1.3, 2.3)) * (FLOAT if scale == FLOATS else 1)
    low = _pick(rng, 0, 0, -width // 3, width // 2)
    column = _one(low, low + width, scale, _pick(rng, "uniform", "normal"))
    inside = [float(scale.exact(low + share * width // 10)) for share in (2, 8)]
    return column, _cut(rng, *inside, scale)


@_line("threshold", "x >= 37.5", "binary")
def _(rng):
    column, cut = _threshold_column(rng)

    def truth(c):
        return lambda t: t["x"] >= c

    return Plan(f"x >= {column.scale.text(cut[0])}", {"x": column}, truth(cut[0]), rivals=_shifted(truth, cut))


@_line("gap", "a > b + 12", "binary")
def _(rng):
    scale = _pick(rng, *DECIMALS, Scale(per=2), Scale(per=4))
    width = int(10 ** rng.uniform(1.3, 2.3))
    cut = _cut(rng, float(scale.exact(0.05 * width)), float(scale.exact(0.5 * width)), scale)

    def truth(c):
        return lambda t: t["a"] > t["b"] + c

    columns = _group(rng, "ab", scale, span=width)
    if cut[0] == 0:
        return None
    return Plan(f"a > b + {scale.text(cut[0])}", columns, truth(cut[0]), rivals=_shifted(truth, cut))


# Formulas


@_line("both", "a > b and c <= d", "binary")
def _(rng):
    return Plan(
        "a > b and c <= d",
        _group(rng, "ab") | _group(rng, "cd"),
        lambda t: (t["a"] > t["b"]) & (t["c"] <= t["d"]),
        ties=(_tie("a", "b"), _tie("c", "d")),
    )


@_line("either", "a = b or c = 1", "binary")
def _(rng):
    columns = _few(rng, "ab", 4, 20) | {"c": _one(0, _pick(rng, 3, 4, 6, 8), INTEGERS)}
    return Plan("a = b or c = 1", columns, lambda t: (t["a"] == t["b"]) | (t["c"] == 1))


@_line("flag", "flag = 1 and x >= 37.5", "binary")
def _(rng):
    column, cut = _threshold_column(rng)

    def truth(c):
        return lambda t: (t["flag"] == 1) & (t["x"] >= c)

    columns = {"flag": Column(0, 1, "flag"), "x": column}
    rule = f"flag = 1 and x >= {column.scale.text(cut[0])}"
    tie = "x", lambda t: t["x"] - cut[0]
    return Plan(rule, columns, truth(cut[0]), rivals=_shifted(truth, cut), ties=(tie,))


@_line("three", "sign of a - b", "classes")
def _(rng):
    rule = "where(a > b, 1, where(a = b, 0, -1))"
    return Plan(rule, _few(rng, "ab", 4, 30), lambda t: np.sign(t["a"] - t["b"]), least=0.03)


@_line("two-of-four", "exactly 2 of (a > b, c > d, e > f, g > h)", "binary")
def _(rng):
    columns = {}
    for pair in ("ab", "cd", "ef", "gh"):
        columns |= _group(rng, pair)
    rule = "exactly 2 of (a > b, c > d, e > f, g > h)"
    return Plan(
        rule,
        columns,
        lambda t: sum(t[pair[0]] > t[pair[1]] for pair in ("ab", "cd", "ef", "gh")) == 2,
        ties=tuple(_tie(*pair) for pair in ("ab", "cd", "ef", "gh")),
    )


@_line("at-least", "at least 3 of 5 columns >= 50", "binary")
def _(rng):
    scale, names = _pick(rng, INTEGERS, INTEGERS, TENTHS), "pqrst"
    width = _pick(rng, 20, 50, 100)
    columns = _group(rng, names, scale, span=width)
    if any(column.low < 0 for column in columns.values()):
        return None
    cut = _cut(rng, float(scale.exact(0.35 * width)), float(scale.exact(0.75 * width)), scale)

    def truth(*cuts):
        return lambda t: sum(t[name] >= c for name, c in zip(names, cuts, strict=True)) >= 3

    rule = f"at least 3 of ({', '.join(f'{name} >= {scale.text(cut[0])}' for name in names)})"
    ties = tuple((name, lambda t, name=name: t[name] - cut[0]) for name in names)
    return Plan(rule, columns, truth(*[cut[0]] * 5), rivals=_shifted(truth, *[cut] * 5), ties=ties)


@_line("any-equal", "any of 5 columns = key", "binary")
def _(rng):
    names = ("p", "q", "r", "s", "t", "key")
    rule = " or ".join(f"{name} = key" for name in names[:-1])
    return Plan(rule, _few(rng, names, 15, 50), lambda t: np.any([t[name] == t["key"] for name in names[:-1]], axis=0))


@_line("versions", "version above version, three numbers each", "binary")
def _(rng):
    columns = {}
    for name, low, high in (("major", 2, 5), ("minor", 4, 12), ("patch", 5, 30)):
        top = int(rng.integers(low, high + 1))
        columns |= {each: _one(0, top, INTEGERS, group=name) for each in (name, f"min_{name}")}
    rule = "major > min_major or major = min_major and (minor > min_minor or minor = min_minor and patch > min_patch)"

    def truth(t: Steps) -> np.ndarray:
        above, same = t["patch"] > t["min_patch"], None
        for name in ("minor", "major"):
            same = t[name] == t[f"min_{name}"]
            above = (t[name] > t[f"min_{name}"]) | (same & above)
        return above

    return Plan(rule, columns, truth, ties=(_tie("patch", "min_patch"),))


# Comparisons of sums, multiples and products


@_line("sum", "a + b > c", "binary")
def _(rng):
    columns = _group(rng, "ab")
    return Plan("a + b > c", columns | _total(rng, columns, "c"), lambda t: t["a"] + t["b"] > t["c"])


def _total(rng: np.random.Generator, columns: Mapping[str, Column], name: str) -> dict[str, Column]:
    """A column of about the size of the sum of others."""
    first = next(iter(columns.values()))
    low, high = (sum(getattr(column, end) for column in columns.values()) for end in ("low", "high"))
    shift = round((high - low) * rng.uniform(-0.15, 0.15))
    return {name: Column(low + shift, high + shift, first.shape, first.scale, first.group)}


@_line("multiple", "a > 1.1 b", "binary")
def _(rng):
    percent = _pick(rng, 80, 90, 105, 110, 120, 125, 150)
    columns = _group(rng, "ab", shift=0.05)
    if columns["a"].low < 0:
        return None

    def truth(factor):
        return lambda t: 100 * t["a"] > factor * t["b"]

    step = 10 if percent % 10 == 0 else 1
    rule = f"a > {number(Fraction(percent, 100))}*b"
    return Plan(rule, columns, truth(percent), rivals=_shifted(truth, (percent, step)))


@_line("fraction", "b < 0.9 a", "binary")
def _(rng):
    """What the convention for factors that the rows leave open costs: it prefers those above 1."""
    percent = _pick(rng, 80, 85, 90, 95)
    columns = _group(rng, "ab", shift=0.05)
    if columns["a"].low < 0:
        return None

    def truth(factor):
        return lambda t: 100 * t["b"] < factor * t["a"]

    step = 10 if percent % 10 == 0 else 1
    rule = f"b < {number(Fraction(percent, 100))}*a"
    return Plan(rule, columns, truth(percent), rivals=_shifted(truth, (percent, step)))


@_line("income", "income >= 3 rent", "binary")
def _(rng):
    tenths, scale = _pick(rng, 20, 25, 30, 35, 40), _pick(rng, INTEGERS, Scale(10), CENTS, Scale(50))
    top = int(10 ** rng.uniform(1.5, 4))
    shape, low = _pick(rng, "uniform", "normal", "skewed"), top // 10
    columns = {
        "rent": _one(low, top, scale, shape, "money"),
        "income": _one(low * tenths // 10, top * tenths // _pick(rng, 7, 10, 13), scale, shape, "money"),
    }

    def truth(factor):
        return lambda t: 10 * t["income"] >= factor * t["rent"]

    rule = f"income >= {number(Fraction(tenths, 10))}*rent"
    return Plan(rule, columns, truth(tenths), rivals=_shifted(truth, (tenths, 1)))


@_line("differences", "a - b > c - d", "binary")
def _(rng):
    return Plan("a - b > c - d", _group(rng, "abcd"), lambda t: t["a"] - t["b"] > t["c"] - t["d"])


@_line("budget", "rent + food + travel <= income", "binary")
def _(rng):
    columns = _group(rng, ("rent", "food", "travel"))
    columns |= _total(rng, columns, "income")
    return Plan("rent + food + travel <= income", columns, lambda t: t["rent"] + t["food"] + t["travel"] <= t["income"])


@_line("triangle", "a + b > c and a + c > b and b + c > a", "binary")
def _(rng):
    columns = _group(rng, "abc")
    if any(column.low < 0 for column in columns.values()):
        return None
    return Plan(
        "a + b > c and a + c > b and b + c > a",
        columns,
        lambda t: (t["a"] + t["b"] > t["c"]) & (t["a"] + t["c"] > t["b"]) & (t["b"] + t["c"] > t["a"]),
        ties=tuple(_sum_tie(*sides) for sides in ("abc", "acb", "bca")),
        branch=lambda t: np.select(
            [t["a"] + t["b"] <= t["c"], t["a"] + t["c"] <= t["b"], t["b"] + t["c"] <= t["a"]], [1, 2, 3]
        ),
        least=0.03,
    )


@_line("apart", "abs(a - b) > c", "binary")
def _(rng):
    columns = _group(rng, "ab")
    first = columns["a"]
    columns["c"] = Column(
        0, round((first.high - first.low) * rng.uniform(0.3, 0.9)), "uniform", first.scale, first.group
    )
    return Plan("abs(a - b) > c", columns, lambda t: np.abs(t["a"] - t["b"]) > t["c"])


@_line("tolerance", "abs(t - target) > 2.5", "binary")
def _(rng):
    scale = _pick(rng, TENTHS, TENTHS, INTEGERS, CENTS)
    cut = (_pick(rng, 5, 10, 15, 20, 25, 30, 50), 1)
    width = round(cut[0] * rng.uniform(2.5, 6))
    low = int(rng.integers(0, 300))
    shape = _pick(rng, "uniform", "normal")
    columns = {name: _one(low, low + width, scale, shape, "degrees") for name in ("t", "target")}

    def truth(c):
        return lambda t: np.abs(t["t"] - t["target"]) > c

    rule = f"abs(t - target) > {scale.text(cut[0])}"
    return Plan(rule, columns, truth(cut[0]), rivals=_shifted(truth, cut))


@_line("xor-sums", "(a + b > c) xor (d > e + f)", "binary")
def _(rng):
    columns, others = _group(rng, "ab"), _group(rng, "ef")
    columns |= _total(rng, columns, "c") | others | _total(rng, others, "d")
    return Plan(
        "a + b > c and d <= e + f or a + b <= c and d > e + f",
        columns,
        lambda t: (t["a"] + t["b"] > t["c"]) ^ (t["d"] > t["e"] + t["f"]),
        ties=(_sum_tie("a", "b", "c"), _sum_tie("e", "f", "d")),
    )


@_line("cost", "qty * price > budget", "binary")
def _(rng):
    scale = _pick(rng, INTEGERS, INTEGERS, TENTHS, CENTS)
    pieces, price = _pick(rng, 10, 20, 50, 100), round(10 ** rng.uniform(1.5, 3.5))
    columns = {
        "qty": _one(1, pieces, INTEGERS, group="pieces"),
        "price": _one(price // 10, price, scale, _pick(rng, "uniform", "skewed"), "money"),
        "budget": _one(0, round(pieces * price * rng.uniform(0.3, 0.8)), scale, "uniform", "money"),
    }
    return Plan("qty*price > budget", columns, lambda t: t["qty"] * t["price"] > t["budget"])


@_line("bmi", "weight / height^2 > 25", "binary")
def _(rng):
    tenths = _pick(rng, 185, 220, 250, 250, 270, 300)
    columns = {
        "height": _one(145, 205, CENTS, _pick(rng, "uniform", "normal"), "height"),
        "weight": _one(450, 1250, TENTHS, _pick(rng, "uniform", "normal"), "weight"),
    }

    def truth(limit):  # kg in tenths, cm: weight / 10 > limit / 10 * (height / 100) ** 2
        return lambda t: 10_000 * t["weight"].astype(object) > limit * t["height"].astype(object) ** 2

    step = 10 if tenths % 10 == 0 else 1
    rule = f"weight > {number(Fraction(tenths, 10))}*height**2"
    return Plan(rule, columns, truth(tenths), rivals=_shifted(truth, (tenths, step)))


# Steps along one column


@_line("grades", "13 grades by 12 cut points", "classes")
def _(rng):
    top, scale = _pick(rng, (100, INTEGERS), (60, INTEGERS), (200, Scale(per=2)))
    steps = np.sort(rng.choice(np.arange(top // 10, top - top // 30, max(1, top // 50)), 12, replace=False))
    cuts = [(int(cut), 1) for cut in steps]

    def truth(*cuts):
        return lambda t: np.searchsorted(np.array(cuts), t["score"], side="right") + 1

    rule = "1"
    for grade, (cut, _) in enumerate(cuts, start=2):
        rule = f"where(score >= {scale.text(cut)}, {grade}, {rule})"
    columns = {"score": _one(0, top, scale, _pick(rng, "uniform", "uniform", "normal"))}
    values = [cut for cut, _ in cuts]
    return Plan(rule, columns, truth(*values), rivals=_shifted(truth, *cuts), least=0.015)


@_line("shipping", "4.99, 7.5, 9.9 or 14 by weight", "number")
def _(rng):
    scale = _pick(rng, INTEGERS, TENTHS, Scale(100))
    top = int(rng.integers(25, 120))
    cuts = [(int(cut), 1) for cut in np.sort(rng.choice(np.arange(2, top, _pick(rng, 1, 5)), 3, replace=False))]
    prices = _pick(rng, (499, 750, 990, 1400), (350, 499, 699, 1200), (0, 395, 595, 1000), (500, 800, 1250, 2000))

    def tier(*cuts):
        return lambda t: np.searchsorted(np.array(cuts), t["weight"], side="left")

    def truth(*cuts):
        return lambda t: np.array(prices)[tier(*cuts)(t)]

    texts, values = [CENTS.text(price) for price in prices], [cut for cut, _ in cuts]
    one, two, three = (f"weight <= {scale.text(cut)}" for cut in values)
    return Plan(
        f"where({one}, {texts[0]}, where({two}, {texts[1]}, where({three}, {texts[2]}, {texts[3]})))",
        {"weight": _one(1, top, scale)},
        truth(*values),
        CENTS,
        _shifted(truth, *cuts),
        tier(*values),
        least=0.05,
    )


@_line("tax", "tax in 4 brackets", "number")
def _(rng):
    cuts = _pick(
        rng, (10_000, 30_000, 70_000), (12_000, 40_000, 80_000), (9_000, 20_000, 50_000), (1_000, 5_000, 20_000)
    )
    rates = _pick(rng, (0, 10, 20, 40), (0, 15, 25, 42), (5, 10, 25, 45), (10, 20, 30, 40))
    scale = _pick(rng, INTEGERS, INTEGERS, Scale(10), Scale(100))
    low, high = 0, round(cuts[2] * rng.uniform(1.3, 1.8))
    steps = [cut // scale.unit for cut in cuts]

    def bracket(t: Steps) -> np.ndarray:
        return np.searchsorted(np.array(steps), t["income"], side="left")

    def truth(t: Steps) -> np.ndarray:
        parts = [np.clip(t["income"] - low, 0, None) for low in (0, *steps)]
        parts = [
            part if position == 3 else np.minimum(part, steps[position] - (0, *steps)[position])
            for position, part in enumerate(parts)
        ]
        parts[0] = np.minimum(t["income"], steps[0])  # below 0, the first rate goes on
        return sum(rate * part for rate, part in zip(rates, parts, strict=True))

    pieces, paid, before = [], Fraction(0), 0
    for rate, cut in zip(rates, (*cuts, None), strict=True):
        factor = Fraction(rate, 100)
        constant = paid - factor * before
        term = f" {'-' if constant < 0 else '+'} {number(abs(constant))}" if constant else ""
        pieces.append(f"{number(factor)}*income{term}" if rate else "0")
        if cut is not None:
            paid, before = paid + factor * (cut - before), cut
    rule = pieces[3]
    for cut, piece in zip(cuts[::-1], pieces[2::-1], strict=True):
        rule = f"where(income <= {cut}, {piece}, {rule})"
    column = _one(low, high // scale.unit, scale, "uniform" if cuts[2] < 40_000 else _pick(rng, "uniform", "skewed"))
    return Plan(rule, {"income": column}, truth, Scale(scale.unit, 100), branch=bracket, least=0.03)


@_line("discount", "where(pieces >= 10, 0.9 price, price)", "number")
def _(rng):
    cut, off = (_pick(rng, 5, 10, 12, 20, 25), 1), _pick(rng, 5, 10, 15, 20, 25)
    scale = _pick(rng, INTEGERS, TENTHS, CENTS)
    columns = {
        "pieces": _one(1, round(cut[0] * rng.uniform(1.5, 3)), INTEGERS),
        "price": _one(1, round(10 ** rng.uniform(2, 4)), scale, _pick(rng, "uniform", "skewed")),
    }

    def truth(c):
        return lambda t: np.where(t["pieces"] >= c, (100 - off) * t["price"], 100 * t["price"])

    return Plan(
        f"where(pieces >= {cut[0]}, {number(Fraction(100 - off, 100))}*price, price)",
        columns,
        truth(cut[0]),
        Scale(scale.unit, scale.per * 100),
        _shifted(truth, cut),
        lambda t: t["pieces"] >= cut[0],
    )


@_line("overtime", "20 hours, half as much again beyond 40", "number")
def _(rng):
    rate, limit = _pick(rng, 12, 15, 18, 20, 24, 25, 30, 40), _pick(rng, 35, 38, 40, 40, 48)
    scale = _pick(rng, INTEGERS, Scale(per=2), Scale(per=4), TENTHS)
    bound = limit * scale.per
    columns = {"hours": _one(bound // 2, bound * 3 // 2, scale, _pick(rng, "uniform", "normal"))}

    def truth(t: Steps) -> np.ndarray:
        return 2 * rate * t["hours"] + rate * np.clip(t["hours"] - bound, 0, None)

    more = number(Fraction(3 * rate, 2))
    return Plan(
        f"where(hours > {limit}, {more}*hours - {number(Fraction(rate * limit, 2))}, {rate}*hours)",
        columns,
        truth,
        Scale(1, 2 * scale.per),
        branch=lambda t: t["hours"] > bound,
    )


# Numbers chosen by comparisons of columns


@_line("distance", "|a - b|", "number")
def _(rng):
    columns = _group(rng, "ab")
    return Plan(
        "abs(a - b)", columns, lambda t: np.abs(t["a"] - t["b"]), columns["a"].scale, branch=lambda t: t["a"] > t["b"]
    )


@_line("choice", "where(a > b, e + 4, d - c)", "number")
def _(rng):
    scale, more = _pick(rng, *DECIMALS, Scale(per=2)), _pick(rng, 1, 2, 4, 5, 10, 20)
    columns = _group(rng, "ab") | _group(rng, "cde", scale, span=10 ** rng.uniform(1.5, 3.5))
    return Plan(
        f"where(a > b, e + {more}, d - c)",
        columns,
        lambda t: np.where(t["a"] > t["b"], t["e"] + more * scale.per, t["d"] - t["c"]),
        scale,
        ties=(_tie("a", "b"),),
        branch=lambda t: t["a"] > t["b"],
    )


def _extreme(name: str, function: str, names: str) -> None:
    pick = {"max": np.max, "min": np.min, "median": np.median}[function]
    rule = f"{function}({', '.join(names)})"

    def plan(rng):
        columns = _group(rng, names)

        def stacked(t: Steps) -> np.ndarray:
            return np.stack([t[each] for each in names])

        def truth(t: Steps) -> np.ndarray:
            return pick(stacked(t), axis=0).astype(np.int64)

        def branch(t: Steps) -> np.ndarray:
            return (stacked(t) == truth(t)).argmax(0)

        return Plan(rule, columns, truth, columns[names[0]].scale, branch=branch, least=0.3 / len(names))

    title = rule if len(names) < 8 else f"{function} of {len(names)} columns"
    _found[name] = Line(name, title, "number", plan)


_extreme("maximum", "max", "ab")
_extreme("min-4", "min", "abcd")
_extreme("max-4", "max", "abcd")
_extreme("min-8", "min", "abcdefgh")
_extreme("max-8", "max", "abcdefgh")
_extreme("median", "median", "abc")
