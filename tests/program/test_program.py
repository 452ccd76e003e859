"""Programs: an expression, the order of its inputs, and all types of rows."""

import copy
import pickle
from dataclasses import FrozenInstanceError
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import nsr.program
from nsr.program import Compare, Constant, Evidence, Program, Truth, Variable, Where
from nsr.program.program import checked_names, default_names
from tests.program.oracle import worth
from tests.program.strategies import INTEGERS, NAMES, expressions, programs

a, b, c = map(Variable, "abc")
more = Compare(">", a, b)
ROWS = [[1, 9, 2], [2, 9, 2], [3, 9, 2]]
TRUTH = [False, False, True]
RULE = Program(more, ("a", "c", "b"))
MAXIMUM = Program(Where(more, a, b), ("a", "c", "b"))


# Types of rows


@pytest.mark.parametrize(
    "make",
    [
        np.array,
        torch.tensor,
        list,
        tuple,
        lambda rows: np.array(rows, dtype=float),
        lambda rows: np.array(rows, dtype=np.uint8),
        lambda rows: np.array(rows, dtype=object),
        lambda rows: torch.tensor(rows, dtype=torch.float32),
        lambda rows: [[Fraction(each) for each in row] for row in rows],
        lambda rows: [[Decimal(each) for each in row] for row in rows],
        lambda rows: pd.DataFrame(rows, columns=["a", "c", "b"]),
        lambda rows: pd.DataFrame(rows, columns=["a", "c", "b"])[["b", "a"]],
        lambda rows: dict(zip("acb", zip(*rows, strict=True), strict=True)),
        lambda rows: MappingProxyType({"a": np.array(rows)[:, 0], "b": 2}),
    ],
)
def test_rows_of_every_type(make):
    assert RULE(make(ROWS)).tolist() == TRUTH
    assert MAXIMUM(make(ROWS)).tolist() == [2, 2, 3]


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        lambda row: np.array(row, dtype=float),
        torch.tensor,
        lambda row: pd.Series(row, index=["a", "c", "b"]),
        lambda row: dict(zip("acb", row, strict=True)),
        lambda row: [Decimal(each) for each in row],
    ],
)
def test_a_single_row_of_every_type(make):
    assert bool(RULE(make([3, 9, 2]))) is True
    assert MAXIMUM(make([3, 9, 2])) == 3
    assert np.shape(RULE(make([3, 9, 2]))) == ()


def test_a_row_of_python_numbers_gives_a_python_number():
    assert RULE([10**1000 + 1, 0, 10**1000]) is True
    assert RULE([[10**1000 + 1, 0, 10**1000], [2**63, 0, 2**63]]).tolist() == [True, False]
    assert RULE([[2**63, 0, -1]]).tolist() == [True]
    assert type(MAXIMUM([1, 2, 3])) is int


@pytest.mark.parametrize("batch", [(), (4,), (2, 3), (0,), (3, 0)])
@pytest.mark.parametrize("make", [np.zeros, torch.zeros])
def test_any_leading_shape(batch, make):
    for program in (RULE, MAXIMUM, Program(Constant(4), ("a", "c", "b")), Program(Truth(True))):
        assert np.shape(program(make((*batch, 3)))) == batch


@given(programs(), st.lists(st.lists(INTEGERS, min_size=len(NAMES), max_size=len(NAMES)), min_size=1, max_size=5))
def test_rows_and_columns_give_the_value_of_the_tree(program, rows):
    truth = [worth(program.expression, dict(zip(NAMES, row, strict=True))) for row in rows]
    answers = [program(rows)] if program.expression.is_boolean else [[program(row) for row in rows]]
    if program.expression.is_boolean:
        answers += [program(np.array(rows)), program(torch.tensor(rows)), program(pd.DataFrame(rows, columns=NAMES))]
    for answer in answers:
        assert list(answer) == truth


@pytest.mark.parametrize(
    ("expression", "answer"),
    [(Constant(4), 4), (Constant(0.1), 0.1), (Truth(True), True), (Where(more, Constant(4), Constant(4)), 4)],
)
def test_a_constant_program_answers_every_row(expression, answer):
    rows = np.zeros((5, 3))
    for program in (Program(expression.simplified()), Program(expression, ("a", "c", "b"))):
        assert program.names in ((), ("a", "c", "b"))
        assert program.inputs == ()
        assert program(rows).tolist() == [answer] * 5
        assert program(torch.tensor(rows)).tolist() == [answer] * 5
        assert program(rows.astype(int)).tolist() == [answer] * 5
        assert program(pd.DataFrame(rows)).tolist() == [answer] * 5
        assert program([0, 0, 0]) == program({}) == program.expression.value
        assert type(program(rows[0])) is (bool if expression.is_boolean else float)
        assert program(torch.zeros(5, 3)).dtype == (torch.bool if expression.is_boolean else torch.float32)


def test_columns_that_the_program_does_not_use_are_ignored():
    assert RULE(np.array([[3.0, np.nan, 2.0]])).tolist() == [True]
    assert RULE(pd.DataFrame({"a": [3], "b": [2], "c": ["text"]})).tolist() == [True]
    assert RULE([3, "text", 2]) is True


# Names


def test_names_default_to_the_variables_in_natural_order():
    rule = Compare(">", Variable("x10"), Variable("x2"))
    assert Program(rule).names == ("x2", "x10")
    assert Program(rule).inputs == ("x2", "x10")
    given_names = Program(rule, ("x10", "other", "x2"))
    assert given_names.names == ("x10", "other", "x2")
    assert given_names.inputs == ("x10", "x2")


def test_names_of_inputs():
    assert default_names(3) == ("x1", "x2", "x3")
    assert checked_names(None, 2) == ("x1", "x2")
    assert checked_names(["a", "b"], 2) == ("a", "b")
    with pytest.raises(ValueError) as error:
        checked_names(["a"], 2)
    assert str(error.value) == "2 inputs need 2 names, got 1"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Program(more, ("a", "b", "a")), "names must be unique, got ['a', 'b', 'a']"),
        (
            lambda: Program(more, ("a", "c")),
            "names must include 'b', which the expression needs, got ['a', 'c']",
        ),
        (lambda: RULE(np.zeros((4, 2))), "x must have 3 numbers in its last axis, got shape (4, 2)"),
        (lambda: RULE(torch.zeros(2)), "x must have 3 numbers in its last axis, got shape (2,)"),
        (lambda: RULE([1, 2]), "x must have 3 numbers in its last axis, got shape (2,)"),
        (lambda: RULE([]), "x must have 3 numbers in its last axis, got shape (0,)"),
        (lambda: RULE(5), "x must have 3 numbers in its last axis, got shape ()"),
        (lambda: RULE("abc"), "x must have 3 numbers in its last axis, got shape ()"),
        (lambda: RULE(np.float64(5)), "x must have 3 numbers in its last axis, got shape ()"),
        (lambda: RULE([[1, 2, 3], [4, 5], [6]]), "'a' must hold numbers, got [1, 2, 3]"),
        (lambda: RULE({"a": 1}), "no value for 'b': the program needs a, b"),
        (lambda: RULE(pd.DataFrame({"b": [1]})), "no value for 'a': the program needs a, b"),
        (
            lambda: RULE(np.array([[np.nan, 0, 0], [1, 0, np.nan], [np.nan, 0, 0]])),
            "'a' holds NaN in 2 rows: NaN is neither less, equal nor greater",
        ),
        (lambda: RULE(np.zeros((2, 3), dtype=complex)), "'a' must hold numbers, got complex128"),
        (lambda: RULE(np.array([["x", "y", "z"]])), "'a' must hold numbers, got <U1"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == text


# Values


def test_the_expression_is_canonical():
    program = Program(Compare("<", b + 12, a))
    assert program.expression == Compare(">", a, b + 12)
    assert str(program) == "a > b + 12"
    assert repr(program) == ("Program(Compare('>', Variable('a'), Linear([(1, Variable('b'))], 12)), names=('a', 'b'))")


@given(programs())
def test_repr_evaluates_to_the_same_program(program):
    public = {name: getattr(nsr.program, name) for name in nsr.program.__all__}
    same = eval(repr(program), public)
    assert same == program
    assert same.names == program.names
    assert str(same) == str(program)


def test_programs_are_equal_if_their_expressions_are():
    evidence = Evidence(rows=3, agreement=None)
    assert evidence.not_covered == ()
    same = [Program(more), Program(Compare("<", b, a), ("b", "a")), Program(more, evidence=evidence)]
    assert same[0] == same[1] == same[2] == Compare("<", b, a)
    assert Compare("<", b, a) == same[0]
    assert len(set(same)) == 1
    assert same[0] != Program(Compare(">=", a, b))
    assert same[0] != Compare(">=", a, b)
    assert same[0] != "a > b"


@given(expressions())
def test_pickle_and_deepcopy_round_trips(expression):
    program = Program(expression)
    for other in (pickle.loads(pickle.dumps(program)), copy.deepcopy(program)):
        assert other == program
        assert hash(other) == hash(program)
        assert other.names == program.names


def test_a_program_cannot_be_changed():
    for field in ("expression", "names", "evidence"):
        with pytest.raises(FrozenInstanceError):
            setattr(RULE, field, None)


def test_a_program_as_a_module():
    assert str(RULE.module()) == "Hardened('a > b')"
    assert RULE.module().program is RULE


@pytest.mark.parametrize("wrong", [False, "a > b", 3, None])
def test_a_program_is_made_of_an_expression(wrong):
    with pytest.raises(ValueError, match=r"^expression must be an expression, got .*: write a.eq\(b\) for a == b"):
        Program(wrong)
