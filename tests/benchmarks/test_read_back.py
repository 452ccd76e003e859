import zlib

import numpy as np
import pytest
from read_back import DIFFER, NOT_TRIED, PROVED, prove, read_back, right, ties
from rule_tables import FLOAT, Plan, RuleTable, Scale, rule_table

from nsr.program import Program


def tables(line: str, wanted=lambda table: True):
    for seed in range(300):
        table = rule_table(line, np.random.default_rng([seed, zlib.crc32(line.encode())]))
        if wanted(table):
            yield table


def first(line: str, wanted=lambda table: True) -> RuleTable:
    return next(tables(line, wanted))


def fresh(table: RuleTable) -> list[RuleTable]:
    return [table.near(np.random.default_rng(1)), table.far(np.random.default_rng(2))]


def scale_of(table: RuleTable) -> Scale:
    return next(iter(table.plan.columns.values())).scale


@pytest.mark.parametrize("line", ["greater", "equal", "threshold", "gap", "both", "sum", "choice", "versions"])
def test_the_true_rule_is_read_back_and_proved(line):
    table = first(line, lambda table: all(c.scale.per < FLOAT for c in table.plan.columns.values()))
    result = read_back(Program.parse(table.rule), (), table, fresh(table))
    assert result.ok
    assert result.proof == PROVED


def test_a_program_that_floats_get_wrong_is_right_on_decimals():
    table = first("sum", lambda table: scale_of(table).per == 10 and not right(_true(table), table).all())
    assert read_back(Program.parse(table.rule), (), table, [table]).ok


def _true(table: RuleTable):
    return Program.parse(table.rule)(table.columns)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("greater", "a >= b"),
        ("greater", "a > b and n1 > -1000000000000"),
        ("sum", "a + b >= c"),
        ("both", "a > b and c < d"),
        ("choice", "where(a >= b, e + 4, d - c)"),
    ],
)
def test_a_planted_wrong_rule_is_caught_by_proof_without_any_row(line, wrong):
    table = first(line, lambda table: table.integers)
    result = read_back(Program.parse(wrong), (), table, [])
    assert result.proof == DIFFER
    assert not result.ok
    assert result.counterexample.startswith("in steps, differ at ")


def test_a_planted_wrong_rule_is_caught_by_rows():
    table = first("gap", lambda table: table.integers)
    constant = int(table.rule.split()[-1])
    result = read_back(Program.parse(f"a > b + {constant + 1}"), (), table, fresh(table))
    assert (result.rows_equal, result.proof, result.ok) == (False, NOT_TRIED, False)
    assert "a = " in result.counterexample


def test_a_tie_that_no_row_shows_is_exempt_if_it_is_named():
    table = first("greater", lambda table: table.integers and not (table.steps["a"] == table.steps["b"]).any())
    wrong = Program.parse("a >= b")
    assert not read_back(wrong, (), table, fresh(table)).ok
    assert read_back(wrong, ("a == b",), table, fresh(table)).ok
    assert not read_back(wrong, ("a == b + 1",), table, fresh(table)).ok
    larger = first("maximum", lambda table: table.integers and not (table.steps["a"] == table.steps["b"]).any())
    assert prove(Program.parse("where(a >= b, a, b)"), _with_rule(larger, "where(a > b, a, b)"), [])[0] == PROVED


def _with_rule(table: RuleTable, rule: str) -> RuleTable:
    """A table whose text does not need functions."""
    plan = Plan(rule, table.plan.columns, table.plan.truth, table.plan.answer)
    return RuleTable(table.line, plan, table.columns, table.y, table.steps, table.distractors)


def test_a_tie_that_a_row_shows_is_not_exempt():
    table = first("three", lambda table: table.integers)
    wrong = Program.parse("where(a >= b, 1, -1)")
    assert not read_back(wrong, ("a == b",), table, fresh(table)).ok


def test_only_equations_are_exempt():
    found = ties(["a == b", "a > b", "nonsense (", "x = 2.5"])
    assert [set(tie.inputs) for tie in found] == [{"a", "b"}, {"x"}]


def test_proofs_are_about_the_digits_of_the_columns():
    table = first("threshold", lambda table: scale_of(table) == Scale(per=10))
    cut = float(table.rule.split()[-1])
    assert prove(Program.parse(f"x > {cut - 0.05:.2f}"), table, [])[0] == PROVED
    assert prove(Program.parse(f"x > {cut - 0.15:.2f}"), table, [])[0] == DIFFER
    hundreds = first("threshold", lambda table: scale_of(table) == Scale(100))
    assert prove(Program.parse(f"x > {int(hundreds.rule.split()[-1]) - 100}"), hundreds, [])[0] == PROVED


def test_plain_floats_are_compared_by_rows_alone():
    table = first("greater", lambda table: scale_of(table).per == FLOAT)
    assert read_back(Program.parse("a > b"), (), table, fresh(table)).proof == NOT_TRIED
    assert not read_back(Program.parse("a > b + 100000"), (), table, fresh(table)).ok


def test_numbers_are_right_within_a_millionth():
    table = first("maximum")
    assert right(table.y * (1 + 1e-7), table).all()
    assert not right(table.y + np.abs(table.y).max() * 1e-3, table).any()
