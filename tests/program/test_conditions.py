"""Texts, truth values, dates and missing cells in the language: canonical forms, text, parser, JSON."""

import random
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsr.errors import InputError
from nsr.program import And, Compare, Flag, Kind, Missing, Not, OneOf, Or, Program, Truth, Variable, load
from tests.program.emit.cell_samples import KINDS, formula, number, row_answer, rows

SEEDS = st.integers(0, 2**32)
COUNTRY, MEMBER, X = Variable("country", "text"), Variable("member", "boolean"), Variable("x")


def drawn(seed):
    """A random expression, not simplified."""
    source = random.Random(seed)
    return source.choice([formula, number])(source, source.choice([0, 1, 2, 3]), True)


@pytest.mark.parametrize("condition", [OneOf(COUNTRY, ["AT", "DE"]), Flag(MEMBER), Missing(X)])
def test_a_negated_condition_is_of_the_same_class_and_about_the_same_column(condition):
    other = condition.negated()
    assert (type(other), other.column, other.holds) == (type(condition), condition.column, False)
    assert other.negated() == condition


@given(SEEDS)
def test_text_json_and_repr_give_the_same_program(seed):
    program = Program(drawn(seed))
    assert Program.parse(str(program), kinds=program.expression.kinds) == program
    assert load(program.emit("json")) == program
    names = {
        name: getattr(__import__("nsr.program").program, name) for name in __import__("nsr.program").program.__all__
    }
    assert eval(repr(program.expression), names) == program.expression


@given(SEEDS)
def test_simplifying_again_changes_nothing(seed):
    expression = drawn(seed)
    once = expression.simplified()
    assert once.simplified() == once
    if expression.is_boolean:
        negation = Not(expression).simplified()
        assert negation.simplified() == negation


@given(SEEDS)
def test_the_canonical_form_means_the_same_where_nothing_is_missing(seed):
    expression = drawn(seed)
    for row in rows():
        if None not in row.values():
            assert row_answer(expression.simplified(), row) == row_answer(expression, row)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("country = 'AT' or country = 'DE'", "country in ('AT', 'DE')"),
        ("country in ('AT', 'DE') and country != 'DE'", "country == 'AT'"),
        ("country = 'AT' and country = 'DE'", "False"),
        ("country != 'AT' or country = 'AT'", "country is present"),
        ("country != 'AT' and country != 'DE'", "country not in ('AT', 'DE')"),
        ("not country in ('AT')", "country != 'AT'"),
        ("not country is missing", "country is present"),
        ("country is not null", "country is present"),
        ("x > 5 and x is present", "x > 5"),
        ("x > 5 or x is present", "x is present"),
        ("x > 5 and x is missing", "False"),
        ("not (x is missing or x > 5)", "x <= 5"),
        ("paid > invoiced + 30 days", "paid > invoiced + 30 days"),
        ("paid - invoiced > 4 weeks", "paid > invoiced + 28 days"),
        ("shipped >= 2024-01-01", "shipped >= 2024-01-01"),
        ("2024-01-31T12:30:00 > shipped", "shipped < 2024-01-31T12:30:00"),
        ("name = 'it''s'", "name == 'it''s'"),
        (r"name = 'a\nb\\'", r"name == 'a\nb\\'"),
    ],
)
def test_canonical_text(written, canonical):
    assert str(Program.parse(written)) == canonical


def test_kinds_are_implied_by_the_text():
    program = Program.parse("member = 'gold' and paid > 2024-01-01 and seen > 2024-01-01T12:00:00 and x > 3")
    assert program.expression.kinds == {
        "member": Kind.TEXT,
        "paid": Kind.DATE,
        "seen": Kind.TIMESTAMP,
        "x": Kind.NUMBER,
    }


def test_a_column_of_truth_values_is_a_formula():
    kinds = {"member": Kind.BOOLEAN}
    assert Program.parse("member and x > 3", kinds=kinds) == And(Flag(MEMBER), X > 3)
    assert Program.parse("not member", kinds=kinds) == Flag(MEMBER, False)
    assert str(Program.parse("not member or x > 3", kinds=kinds)) == "not member or x > 3"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("country > 'AT'", "texts can only be compared by = and !="),
        ("country in ()", "expected a text in single quotes"),
        ("country in 'AT'", "and texts"),
        ("country is 3", "expected 'missing' or 'present'"),
        ("paid > 2024-02-30", "expected a date that exists, got '2024-02-30'"),
        ("x + 1 is missing", "expected a column for 'is'"),
        ("country = 'AT", "expected a closing '"),
        ("country = 'AT' and country + 1 > 3", "it can be compared, not computed with"),
        ("country = 'AT' and country > 3", "cannot be a text and something else"),
    ],
)
def test_wrong_text_is_an_error_with_a_sentence(text, message):
    with pytest.raises(InputError, match=message):
        Program.parse(text)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OneOf(X, ["a"]), "the column of OneOf must be a variable of kind 'text'"),
        (lambda: OneOf(COUNTRY, "AT"), "must be a list, got the text 'AT'"),
        (lambda: Flag(COUNTRY), "the column of Flag must be a variable of kind 'boolean'"),
        (lambda: Missing(X + 1), "the column of Missing must be a variable"),
        (lambda: Compare(">", COUNTRY, Variable("city", "text")), "texts can only be compared with texts"),
        (lambda: Compare("=", COUNTRY, X), "texts can only be compared with texts"),
        (lambda: Program(COUNTRY), "can be compared, not computed with"),
        (lambda: Program(MEMBER + 1), "can be compared, not computed with"),
        (lambda: Program(And(X > 3, OneOf(Variable("x", "text"), ["a"]))), "a column must be of one kind"),
        (lambda: Variable("x", "money"), "kind of variable"),
    ],
)
def test_trees_that_make_no_sense_are_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ('{"in": ["a"], "column": {"variable": "c"}}', "must be a variable of kind 'text'"),
        ('{"in": "a", "column": {"variable": "c", "kind": "text"}}', "must be a non-empty list"),
        ('{"in": [1], "column": {"variable": "c", "kind": "text"}}', "texts must be strings"),
        ('{"flag": 1, "column": {"variable": "c", "kind": "boolean"}}', "must be true or false"),
        ('{"missing": true, "column": {"constant": 1}}', "the column of a condition must be a variable"),
        ('{"missing": true, "column": {"variable": "c", "kind": "money"}}', "the kind of a variable must be one of"),
        ('{"variable": "c", "kind": "text"}', "not computed with"),
    ],
)
def test_wrong_json_is_an_error_with_a_sentence(node, message):
    with pytest.raises(InputError, match=message):
        load(f'{{"format": "nsr-program/2", "names": ["c"], "expression": {node}}}')


def test_programs_of_numbers_keep_the_old_format():
    assert '"nsr-program/1"' in Program(X > 3).emit("json")
    assert '"nsr-program/2"' in Program(Missing(X)).emit("json")


def test_random_names_are_those_of_the_kinds():
    assert {"paid", "country"} <= set(KINDS)
    assert Or(Missing(X), X > 3).simplified() == Program.parse("x is missing or x > 3").expression
    assert Program.parse("paid = '2024-01-31'", kinds={"paid": Kind.DATE})({"paid": date(2024, 1, 31)}) is True


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("c in ('a', 'b') or c in ('b', 'd')", "c in ('a', 'b', 'd')"),
        ("c in ('a', 'b') and c in ('b', 'd')", "c == 'b'"),
        ("c in ('a', 'b') or c not in ('b', 'd')", "c != 'd'"),
        ("c not in ('b', 'd') or c in ('a', 'b')", "c != 'd'"),
        ("c in ('a', 'b') and c not in ('b', 'd')", "c == 'a'"),
        ("c not in ('a', 'b') or c not in ('b', 'd')", "c != 'b'"),
        ("c not in ('a', 'b') and c not in ('b', 'd')", "c not in ('a', 'b', 'd')"),
        ("c = 'a' and c = 'b'", "False"),
        ("c = 'a' or c != 'a'", "c is present"),
        ("c = 'a' and d = 'a'", "c == 'a' and d == 'a'"),
        ("not (c = 'a' or d = 'b')", "c != 'a' and d != 'b'"),
        ("not (c = 'a' and d = 'b')", "c != 'a' or d != 'b'"),
        ("x > 5 and x is present", "x > 5"),
        ("x > 5 or x is present", "x is present"),
        ("x > 5 and x is missing", "False"),
        ("x is missing and x is present", "False"),
        ("x > 5 and y is present", "y is present and x > 5"),
        ("x > 5 or y is present", "y is present or x > 5"),
        ("x > 5 and y is missing", "y is missing and x > 5"),
        ("c = 'a' and c is present", "c == 'a'"),
        ("not (x <= 5 or x is missing)", "x > 5"),
    ],
)
def test_conditions_about_one_column_become_one(text, simple):
    assert str(Program.parse(text)) == simple
    assert Program.parse(text) == Program.parse(simple, kinds=Program.parse(text).expression.kinds)


def test_a_truth_value_and_its_negation():
    flag = Variable("f", Kind.BOOLEAN)
    assert And(Flag(flag), Flag(flag, False)).simplified() == Truth(False)
    assert Or(Flag(flag), Flag(flag, False)).simplified() == Missing(flag, False)
    assert Or(Flag(flag), Missing(flag)).simplified() == Or(Flag(flag), Missing(flag))
    assert Not(Or(Flag(flag), Missing(flag))).simplified() == Flag(flag, False)
    assert OneOf(Variable("c", Kind.TEXT), []).simplified() == Truth(False)
    assert OneOf(Variable("c", Kind.TEXT), [], False).simplified() == Missing(Variable("c", Kind.TEXT), False)
