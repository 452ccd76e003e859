from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch

from nsr.learn.pieces import Piece, Pieces, Targets, find_pieces, recognise_order, recognise_ranges, value_pieces
from nsr.learn.pieces.piece import length, surprise
from nsr.learn.pieces.proposals import Sample, differences, modes
from nsr.learn.pieces.reading import simplest_weight
from nsr.reading.columns import Columns

SEEDS = range(3)


def uniform(rng, rows, low, high, digits):
    return rng.uniform(low, high, rows).round(digits)


def integers(rng, rows, low, high):
    return rng.integers(low, high, rows).astype(float)


def irrelevant(rng, rows, count):
    """Columns of mixed units, from 0.001 to 1,000,000."""
    columns = {}
    for at in range(count):
        scale = 10 ** rng.uniform(-3, 6)
        drawn = [
            scale * rng.normal(0.5, size=rows),
            scale * rng.uniform(size=rows),
            scale * rng.lognormal(size=rows),
            rng.integers(0, max(2, round(scale)), rows).astype(float),
        ]
        columns[f"d{at}"] = drawn[rng.integers(4)]
    return columns


def targets(columns, y) -> Targets:
    x = torch.from_numpy(np.column_stack(list(columns.values())))
    return Targets(Columns(x, list(columns)), np.asarray(y, dtype=float), np.ones(len(y)))


def table(make, seed, *, rows=None, others=None, wrong=0.0):
    rng = np.random.default_rng(seed)
    rows = rows or int(rng.integers(300, 2001))
    columns, y = make(rng, rows)
    columns |= irrelevant(rng, rows, int(rng.integers(5, 21)) if others is None else others)
    y = np.where(rng.random(rows) < wrong, rng.permutation(y), y)
    names = rng.permutation(list(columns))
    return targets({str(name): columns[name] for name in names}, y)


def named(names, draw):
    return lambda rng, rows: {name: draw(rng, rows) for name in names}


def case(names, draw, function):
    columns = named(names, draw)
    return lambda rng, rows: (made := columns(rng, rows), function(*made.values()))


def decimals(rng, rows):
    return uniform(rng, rows, 0, 100, 2)


def small_integers(rng, rows):
    return integers(rng, rows, 0, 40)


def with_gate(function):
    """Columns a and b of money, and a column g that chooses."""

    def make(rng, rows):
        a, b, g = decimals(rng, rows), decimals(rng, rows), uniform(rng, rows, 0, 1, 3)
        return {"a": a, "b": b, "g": g}, function(a, b, g)

    return make


def incomes(rng, rows):
    income = uniform(rng, rows, 0, 120_000, 0)
    brackets = [0.1 * income, 0.15 * income - 1200, 0.25 * income - 6000, 0.3 * income - 10_000]
    return {"income": income}, np.max(brackets, axis=0)


def orders(rng, rows):
    quantity, price = integers(rng, rows, 1, 20), uniform(rng, rows, 1, 100, 2)
    return {"qty": quantity, "price": price}, np.where(quantity > 10, 0.9, 1.0) * quantity * price


def overtime(rng, rows):
    rate, hours = uniform(rng, rows, 10, 60, 2), integers(rng, rows, 10, 61)
    return {"rate": rate, "hours": hours}, np.where(hours > 40, 1.5 * rate * hours - 20 * rate, rate * hours)


BENDS, LEVELS = np.arange(0, 121, 10), np.cumsum([0, 10, 5, 20, 10, 30, 5, 40, 10, 20, 5, 25, 50])
TENS = [f"m{at}" for at in range(10)]
FOUND = {
    "one factor": (case("a", decimals, lambda a: 0.9 * a), {"0.9*a"}),
    "two columns": (case("ab", decimals, lambda a, b: 5 * a + 3 * b + 17), {"5*a + 3*b + 17"}),
    "small integers": (case("ab", small_integers, lambda a, b: 5 * a + 3 * b + 17), {"5*a + 3*b + 17"}),
    "many columns": (
        case("abcde", decimals, lambda a, b, c, d, e: 0.2 * a + 0.3 * b + c / 2 - 2 * d + e / 3 + 4),
        {"a/5 + 0.3*b + c/2 + e/3 - 2*d + 4"},
    ),
    "brackets": (incomes, {"0.1*income", "0.15*income - 1200", "income/4 - 6000", "0.3*income - 10000"}),
    "maximum": (case(TENS, decimals, lambda *m: np.max(m, 0)), set(TENS)),
    "integer maximum": (case(TENS, small_integers, lambda *m: np.max(m, 0)), set(TENS)),
    "median": (case("abc", small_integers, lambda *m: np.median(m, 0)), set("abc")),
    "absolute value": (case("ab", decimals, lambda a, b: np.abs(a - b)), {"a - b", "b - a"}),
    "clip": (case("a", small_integers, lambda a: np.clip(a, 10, 25)), {"a", "10", "25"}),
    "a constant": (with_gate(lambda a, b, g: np.where(g > 0.6, 4.99, 0.9 * a)), {"4.99", "0.9*a"}),
    "weights": (
        with_gate(lambda a, b, g: np.where(g > 0.6, 5 * a + 3 * b + 17, 1.5 * a - b)),
        {"5*a + 3*b + 17", "1.5*a - b"},
    ),
    "fractions": (with_gate(lambda a, b, g: np.where(g > 0.5, a / 3, 1.1 * a)), {"a/3", "1.1*a"}),
    "three columns": (
        case("abc", small_integers, lambda a, b, c: np.where(a > b, a + b - c, c - a)),
        {"a + b - c", "c - a"},
    ),
    "a discount": (orders, {"price*qty", "0.9*price*qty"}),
    "overtime": (overtime, {"hours*rate", "1.5*hours*rate - 20*rate"}),
    "a product and a column": (case("abc", decimals, lambda a, b, c: a * b - c), {"a*b - c"}),
    "a square": (case("ab", decimals, lambda a, b: np.maximum(a**2, 10 * b)), {"a**2", "10*b"}),
}


def texts(found: Pieces) -> set[str]:
    return {str(piece.expression(found.targets)) for piece in found.pieces}


@pytest.mark.outer
@pytest.mark.parametrize("name", FOUND)
def test_pieces_are_found_among_irrelevant_columns(name):
    make, expected = FOUND[name]
    for seed in SEEDS:
        found = find_pieces(table(make, seed), np.random.default_rng(seed))
        assert texts(found) == expected, seed
        assert found.covered.all()
        assert {piece.origin for piece in found.pieces} <= {"enumeration", "consensus", "least squares", "product"}


@pytest.mark.parametrize("name", ["brackets", "maximum", "a constant", "weights", "a discount"])
def test_wrong_targets_do_not_matter(name):
    make, expected = FOUND[name]
    found = find_pieces(table(make, 7, rows=1500, wrong=0.05), np.random.default_rng(0))
    assert texts(found) == expected
    assert found.covered.mean() > 0.93


@pytest.mark.parametrize("others", [0, 6])
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a, b, c, *_: 2 * np.abs(a - b) + c, {"2*a + c - 2*b", "2*b + c - 2*a"}),
        (lambda a, b, c, d, _: 2 * np.abs(a - b) + c - d, {"2*a + c - 2*b - d", "2*b + c - 2*a - d"}),
        (
            lambda a, b, c, d, e: np.where(e < 20, 3 * a + 2 * b + c, a + 5 * b + 4 * c),
            {"3*a + 2*b + c", "a + 5*b + 4*c"},
        ),
        (
            lambda a, b, c, d, e: np.where(e < 20, 3 * a + 2 * b + c + d, a + 5 * b + 4 * c + 2 * d),
            {"3*a + 2*b + c + d", "a + 5*b + 4*c + 2*d"},
        ),
    ],
    ids=["distance", "distance and two columns", "three columns", "four columns"],
)
def test_long_sums_that_each_hold_on_half_of_the_rows(function, expected, others):
    """To reweighted least squares, the other half of the rows are as good."""
    for seed in SEEDS:
        found = find_pieces(
            table(case("abcde", small_integers, function), seed, rows=600, others=others), np.random.default_rng(seed)
        )
        assert texts(found) == expected, seed


@pytest.mark.parametrize("seed", range(4))
def test_pieces_that_are_joined_make_room_for_others(seed):
    """Each fee makes a piece of its own first, more than there may be; together they are one."""
    rng = np.random.default_rng(seed)
    kg, fee = rng.integers(1, 401, 800) / 10, rng.integers(2, 21, 800).astype(float)
    factor = np.select([kg > 30, kg > 20, kg > 10], [1.2, 1.5, 1.8], 2.0)
    found = find_pieces(targets({"kg": kg, "fee": fee}, (fee + factor * kg).round(6)), rng)
    assert texts(found) == {"fee + 2*kg", "fee + 1.8*kg", "fee + 1.5*kg", "fee + 1.2*kg"}


@pytest.mark.parametrize("seed", range(4))
def test_a_limit_that_one_number_of_a_column_shows_is_a_constant(seed):
    """Where hours are 0 the target is 0, and so is any multiple of the hours."""
    rng = np.random.default_rng(seed)
    x = {"hours": integers(rng, 500, 0, 25), "spot": integers(rng, 500, 1, 400)}
    found = find_pieces(targets(x, np.clip(2.5 * x["hours"] - 2.5, 0, 22.5)), rng)
    assert texts(found) == {"2.5*hours - 2.5", "0", "22.5"}


@pytest.mark.outer
@pytest.mark.parametrize("seeds", [range(5), range(5, 20)])
@pytest.mark.parametrize(
    "make",
    [
        lambda rng, rows: ({}, rng.normal(size=rows)),
        lambda rng, rows: ({"a": integers(rng, rows, 0, 30)}, integers(rng, rows, 0, 30)),
        lambda rng, rows: ({"a": integers(rng, rows, 0, 9)}, rng.poisson(6, rows)),
        case("a", decimals, np.sin),
        case("a", lambda rng, rows: uniform(rng, rows, -3, 3, 2), np.exp),
        lambda rng, rows: ({"a": (a := decimals(rng, rows))}, a + rng.normal(size=rows)),
        lambda rng, rows: ({"a": (a := decimals(rng, rows))}, (a + 9 * rng.normal(size=rows)).round(1)),
    ],
    ids=["random", "random integers", "counts", "sine", "exponential", "noise", "rounded noise"],
)
def test_nothing_is_found_where_there_is_nothing(make, seeds):
    for seed in seeds:
        found = find_pieces(table(make, seed, rows=400), np.random.default_rng(seed))
        assert texts(found) == set(), seed
        assert found.holds.shape == (0, 400)


def test_ties_are_evidence_for_neither():
    rng = np.random.default_rng(0)
    a, b = integers(rng, 500, 0, 10), integers(rng, 500, 0, 10)
    found = find_pieces(targets({"a": a, "b": b}, np.maximum(a, b)), rng)
    assert texts(found) == {"a", "b"}
    assert np.array_equal(found.holds.sum(0), 1 + (a == b))
    assert np.array_equal(found.clear, a != b)


def test_a_second_column_that_never_shows_alone_is_not_needed():
    rng = np.random.default_rng(0)
    a = decimals(rng, 300)
    copy = a.copy()
    copy[:3] += 1
    found = find_pieces(targets({"a": a, "copy": copy}, a), rng)
    assert texts(found) == {"a"}


def test_very_many_columns():
    for name in ("a constant", "maximum", "absolute value"):
        make, expected = FOUND[name]
        found = find_pieces(table(make, 1, rows=1000, others=300), np.random.default_rng(0))
        assert texts(found) == expected


def test_short_pieces_do_not_stand_in_for_a_longer_one():
    """Where b = 7, 5*a + 3*b + 17 is 5*a + 38: of many rows, enough to look like a piece."""

    def make(rng, rows):
        a, b, g = integers(rng, rows, 0, 50), integers(rng, rows, 0, 50), uniform(rng, rows, 0, 1, 3)
        return {"a": a, "b": b, "g": g}, np.where(g > 0.6, 5 * a + 3 * b + 17, a - b)

    found = find_pieces(table(make, 0, rows=20_000), np.random.default_rng(0))
    assert texts(found) == {"a - b", "5*a + 3*b + 17"}


def test_the_search_ends_at_the_deadline():
    found = find_pieces(table(FOUND["overtime"][0], 0), np.random.default_rng(0), deadline=0.0)
    assert len(found) == 0


def test_without_products():
    found = find_pieces(table(FOUND["a discount"][0], 0), np.random.default_rng(0), products=False)
    assert not found.targets.columns.products


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("maximum", f"max({', '.join(TENS)})"),
        ("median", "median(a, b, c)"),
        ("absolute value", "abs(a - b)"),
        ("clip", "clip(a, 10, 25)"),
        ("a square", "max(10*b, a**2)"),
        ("one factor", "0.9*a"),
        ("overtime", "where(hours > 40, 1.5*hours*rate - 20*rate, hours*rate)"),
        ("a discount", "where(qty > 10, 0.9*price*qty, price*qty)"),
        ("a constant", None),
    ],
)
def test_the_order_of_the_pieces(name, text):
    found = find_pieces(table(FOUND[name][0], 5, rows=1500), np.random.default_rng(0))
    order = recognise_order(found)
    assert (None if order is None else str(order)) == text


def test_brackets_meet_where_they_are_equal():
    found = find_pieces(table(incomes, 5), np.random.default_rng(0))
    cuts = ["income > 80000", "income > 48000", "income > 24000"]
    text = str(recognise_order(found))
    assert [text.index(cut) for cut in cuts] == sorted(text.index(cut) for cut in cuts)


def test_twelve_brackets():
    found = find_pieces(table(case("a", lambda rng, rows: uniform(rng, rows, 0, 120, 2), bent), 2, rows=1500), RNG)
    assert len(found) == 12
    chain = recognise_order(found)
    values = np.arange(0, 120, 0.5)
    assert [chain.evaluate({"a": float(value)}) for value in values] == pytest.approx(bent(values))


RNG = np.random.default_rng(0)


def bent(x):
    return np.interp(x, BENDS, LEVELS)


def test_an_order_with_wrong_rows():
    found = find_pieces(table(FOUND["maximum"][0], 3, rows=1500, wrong=0.04), np.random.default_rng(0))
    assert recognise_order(found) is None
    assert str(recognise_order(found, errors=0.1)) == f"max({', '.join(TENS)})"


def test_pieces_that_an_order_does_not_need_are_left_out():
    rng = np.random.default_rng(0)
    a, b = decimals(rng, 300), decimals(rng, 300)
    data = targets({"a": a, "b": b}, np.minimum(a, b))
    pieces = tuple(
        Piece(((name, Fraction(1)),), Fraction(constant)) for name, constant in (("a", 0), ("b", 0), ("a", 5))
    )
    assert str(recognise_order(Pieces(data, pieces, np.ones((3, 300), bool)))) == "min(a, b)"


def test_ranges_of_another_column():
    found = find_pieces(table(FOUND["weights"][0], 5, rows=1500), np.random.default_rng(0))
    assert str(recognise_ranges(found)) == "where(g > 0.6, 5*a + 3*b + 17, 1.5*a - b)"
    shuffled = np.random.default_rng(0).permutation(found.targets.x)
    moved = Targets(Columns(torch.from_numpy(shuffled), found.targets.columns.names), found.targets.y, np.ones(1500))
    assert recognise_ranges(Pieces(moved, found.pieces, found.holds)) is None


def test_few_values_are_constants():
    found = value_pieces(targets({"a": np.arange(30.0)}, np.arange(30) % 3 * 2.5))
    assert texts(found) == {"0", "2.5", "5"}
    assert found.clear.all()
    assert len(value_pieces(targets({"a": np.arange(30.0)}, np.arange(30.0)))) == 0


def test_weights_are_the_simplest_in_reach():
    assert simplest_weight(0.15000000000000002, 1e-12) == Fraction(3, 20)
    assert simplest_weight(0.3333333333333, 1e-12) == Fraction(1, 3)
    assert simplest_weight(1 / 7, 1e-12) == Fraction(1, 7)
    assert simplest_weight(-1e-14, 1e-12) == 0


def test_short_numbers_are_cheap():
    numbers = [Fraction(0), Fraction(1), Fraction(5000), Fraction(3, 20), Fraction("4.99")]
    assert all(length(one) < length(other) for one, other in pairwise([*numbers, Fraction("0.123456789")]))


def test_surprise_is_what_hits_are_worth_beyond_chance():
    assert surprise(10, 10, 0.5) == pytest.approx(10)
    assert surprise(5, 10, 0.5) == 0
    assert surprise(0, 0, 0.5) == 0


def test_modes_are_the_largest_groups():
    values = np.array([[1.0, 2.0, 2.0, np.nan, 2.0, 1.0], [np.nan, np.nan, np.nan, 4.0, 4.0, 3.0]])
    sizes, at = modes(values, 0.0, top=2)
    assert sorted(sizes[0]) == [2, 3]
    assert sorted(values[0, at[0]]) == [1, 2]
    assert values[1, at[1, sizes[1].argmax()]] == 4


def test_differences_of_rows_vote_for_pairs():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 100))
    (best, *_) = differences(Sample(x, x[:, 7] - x[:, 40], 2.0**-52, rng), 5)
    assert dict(zip(best.columns, best.weights, strict=True)) == {7: 1.0, 40: -1.0}


def test_weights_count_as_rows():
    data = Targets(
        Columns(torch.tensor([[1.0], [1.0], [3.0]]), ("a",)), np.array([2.0, 2.0, 4.0]), np.array([1.0, 1, 0])
    )
    assert data.distinct().weight.tolist() == [1.0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_piece_that_few_rows_show_is_found_after_the_others(seed):
    rng = np.random.default_rng(seed)
    income = rng.permutation([*rng.integers(0, 50_000, 312), *rng.integers(50_000, 150_000, 8)]).astype(float)
    tax = np.where(
        income > 50_000, 0.45 * income - 13_450, np.where(income > 20_000, 0.25 * income - 3_450, 0.1 * income)
    )
    found = find_pieces(targets({"income": income} | irrelevant(rng, 320, 8), tax.round(2)), rng)
    assert found.covered.all()
    assert {(piece.columns, piece.constant) for piece in found.pieces} == {
        (("income",), constant) for constant in (0, -3_450, -13_450)
    }
