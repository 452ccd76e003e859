"""Columns that stand for conditions and times, put back into the terms of their table."""

from fractions import Fraction

from nsr.program.conditions import Missing
from nsr.program.expressions import Compare, Constant, Variable
from nsr.reading.derived import Meaning

A, B, X = Variable("a"), Variable("b"), Variable("x")
MEANING = Meaning({"flag": A > B, "gap": Missing(X), "days": (X / 86_400_000_000).simplified()})


def test_what_a_column_stands_for_has_a_group_a_unit_and_a_source():
    assert [MEANING.group(name) for name in ("flag", "days", "other")] == ["condition", "time", "number"]
    assert MEANING.microseconds("days") == 86_400_000_000
    assert MEANING.microseconds("flag") is None
    assert [MEANING.source(name) for name in ("flag", "days", "other")] == ["a", "x", "other"]


def text(expression, meaning=MEANING) -> str:
    return str(meaning.of(expression))


def test_a_comparison_of_a_condition_is_the_condition_its_opposite_or_neither():
    flag = Variable("flag")
    assert text(flag > Fraction(1, 2)) == "a > b"
    assert text(flag.eq(1)) == "a > b"
    assert text(flag < Fraction(1, 2)) == "a <= b"
    assert text(flag >= 0) == "True"
    assert text(flag > 1) == "False"


def test_the_opposite_of_a_condition_mentions_cells_that_may_be_missing():
    gaps = Meaning(MEANING.derived, frozenset({"b"}))
    assert text(Variable("flag") < Fraction(1, 2), gaps) == "b is missing or a <= b"
    assert text(Variable("gap") < Fraction(1, 2), Meaning(MEANING.derived, frozenset({"x"}))) == "x is present"


def test_elsewhere_a_condition_counts_as_a_number_and_a_time_as_its_unit():
    counted = MEANING.of(Compare(">", Variable("flag") + Variable("other"), Constant(1)))
    for a, b, other, holds in ((2, 1, 1, True), (1, 2, 1, False), (1, 2, 2, True)):
        assert bool(counted.evaluate({"a": a, "b": b, "other": other})) is holds
    late = MEANING.of(Variable("days") > 3)
    assert bool(late.evaluate({"x": 3 * 86_400_000_000 + 1}))
    assert not bool(late.evaluate({"x": 3 * 86_400_000_000}))
    assert Meaning().of(A > B) == (A > B)
