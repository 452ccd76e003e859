"""``nsr check``, as a person calls it."""

import re
import shlex
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from nsr.cli import main
from nsr.learn.saved import SavedRule
from nsr.program import Program
from nsr.program.equivalence import _Search

SAVED = Path(__file__).parent / "saved_files"
NAMES = ("stock", "ordered", "price", "limit", "weight_kg")
ORDERS = "limit >= price and ordered <= stock"


@pytest.fixture
def save(tmp_path):
    """Save a rule, as ``nsr learn --save`` does."""

    def write(text, classes=("no", "yes"), names=NAMES, file="rule.json", gaps=(), steps=None, texts=None):
        program = Program.parse(text, names)
        used = {name: step for name, step in (steps or {}).items() if name in program.inputs}
        SavedRule("shipped", classes, program, gaps=gaps, steps=used, texts=texts or {}).save(tmp_path / file)
        return tmp_path / file

    return write


def nsr(capsys, *words):
    with pytest.raises(SystemExit) as stop:
        main(["check", *map(str, words)])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.mark.parametrize(
    ("rule", "against", "options", "code", "printed"),
    [
        (ORDERS, "not (price > limit or stock < ordered)", (), 0, "the same for all numbers"),
        (ORDERS, "price <= limit AND ordered < stock + 1", ("--over", "integers"), 0, "the same for all integers"),
        (
            ORDERS,
            "price < limit & ordered <= stock",
            (),
            1,
            "differ at stock = 0, ordered = 0, price = 0, limit = 0: yes and no",
        ),
        ("price > 3", "price >= 4", (), 1, "the same for all integers; they differ at price = 3.5: yes and no"),
        ("price > 3", "price >= 4", ("--over", "reals"), 1, "differ at price = 3.5: yes and no"),
        ("price > 3", "price >= 3", ("--low", "-2", "--high", "1/2"), 0, "the same for all numbers from -2 to 0.5"),
        ("price > 3", "weight_kg > 3", ("--low", "3"), 1, "differ at price = 3, weight_kg = 4: no and yes"),
    ],
)
def test_a_rule_is_checked_against_a_formula(save, capsys, rule, against, options, code, printed):
    assert nsr(capsys, save(rule), "--against", against, *options) == (code, f"{printed}\n", "")


MISSING_POLICIES = [
    ("limit < price", "where(limit >= price, 0, 1) = 1", "price = 0, limit is missing: no and yes"),
    ("limit < price", "not limit >= price", None),
    ("limit < price", "at most 0 of (limit >= price)", "price = 0, limit is missing: no and yes"),
    (
        "price is present and (limit < price or limit is missing)",
        "price is present and where(limit >= price, 0, 1) = 1",
        None,
    ),
]


@pytest.mark.parametrize(("rule", "against", "row"), MISSING_POLICIES)
def test_cells_that_can_be_missing_are_in_the_proof(save, capsys, rule, against, row):
    verdict = (0, "the same for all rows\n", "") if row is None else (1, f"differ at {row}\n", "")
    assert nsr(capsys, save(rule, gaps=["limit"]), "--against", against) == verdict


def test_rows_with_missing_cells_where_the_table_had_none_are_shown_but_do_not_count(save, capsys):
    code, out, _ = nsr(capsys, save("limit < price"), "--against", "where(limit >= price, 0, 1) = 1")
    cells = "they differ at price is missing, limit = 0: no and yes"
    assert (code, out) == (0, f"the same for all numbers; with missing cells, {cells}\n")
    policy = "where(limit >= price, 0, 1) = 1 and limit is present"
    code, out, _ = nsr(capsys, save("limit < price", gaps=["limit"]), "--against", policy)
    assert (code, out) == (0, f"the same for all rows; with missing cells in other columns, {cells}\n")
    rule = save("max(price, limit)", classes=None)
    code, out, _ = nsr(capsys, rule, "--against", "where(price > limit, price, limit)")
    cells = "they differ at price is missing, limit = 0: missing and 0"
    assert (code, out) == (0, f"the same for all numbers; with missing cells, {cells}\n")


PARKING = "where(electric == 'no', min(2.5*hours + 1, 25), where(electric == 'yes', min(2*hours, 18), 2.5*hours + 1))"


@pytest.mark.parametrize(
    ("texts", "against", "options", "code", "printed"),
    [
        (
            ["no", "yes"],
            "where(electric = 'no', min(2.5*hours + 1, 25), min(2*hours, 18))",
            ("--over", "integers"),
            0,
            "the same for all rows of integers with the texts of the table; "
            "with other texts, they differ at electric = 'other', hours = 0: 1 and 0; "
            "with missing cells, they differ at electric is missing, hours = 0: 1 and 0",
        ),
        (
            ["no", "other", "yes"],
            "where(electric in ('no', 'other'), min(2.5*hours + 1, 25), min(2*hours, 18))",
            ("--low", "0", "--high", "8"),
            0,
            "the same for all rows from 0 to 8 with the texts of the table; "
            "with other texts, they differ at electric = 'other_', hours = 0: 1 and 0; "
            "with missing cells, they differ at electric is missing, hours = 0: 1 and 0",
        ),
        (["no", "yes"], PARKING, (), 0, "the same for all rows"),
        (
            ["no", "yes"],
            "where(electric in ('no', 'rarely'), min(2.5*hours + 1, 25), min(2*hours, 18))",
            (),
            1,
            "differ at electric = 'rarely', hours = 10: 26 and 25",
        ),
        (
            None,
            "where(electric = 'no', min(2.5*hours + 1, 25), min(2*hours, 18))",
            (),
            1,
            "differ at electric = 'other', hours = 0: 1 and 0",
        ),
    ],
)
def test_texts_that_the_table_lacks_are_shown_but_do_not_count(save, capsys, texts, against, options, code, printed):
    known = {} if texts is None else {"electric": texts}
    rule = save(PARKING, classes=None, names=("electric", "hours"), texts=known)
    assert nsr(capsys, rule, "--against", against, *options) == (code, f"{printed}\n", "")


def test_texts_of_two_rules_count_together(save, capsys):
    plain = {"classes": None, "names": ("region", "price")}
    rule = save("where(region == 'north', 1, 2)", texts={"region": ["north", "south"]}, **plain)
    other = save("where(region == 'south', 2, 1)", texts={"region": ["north", "south"]}, file="other.json", **plain)
    code, out, _ = nsr(capsys, rule, "--against", other)
    assert (code, out.split(";")[0]) == (0, "the same for all rows with the texts of the table")
    other = save("where(region == 'south', 2, 1)", texts={"region": ["east", "south"]}, file="other.json", **plain)
    assert nsr(capsys, rule, "--against", other)[:2] == (1, "differ at region = 'east': 2 and 1\n")


STEPS = {"price": Fraction(1, 10), "limit": Fraction(1, 10), "stock": Fraction(1)}


@pytest.mark.parametrize(
    ("rule", "against", "options", "code", "printed"),
    [
        (
            "price > limit + 2.55",
            "price - limit > 2.5",
            (),
            1,
            "the same for all multiples of 0.1; they differ at price = 0, limit = -2.55: no and yes",
        ),
        ("price > limit + 2.55", "price - limit > 2.5", ("--over", "steps"), 0, "the same for all multiples of 0.1"),
        (
            "price > limit + 2.55 and stock > 3",
            "price - limit >= 2.6 and stock >= 4",
            ("--over", "steps"),
            0,
            "the same for all numbers in the steps of the columns",
        ),
        ("price > 2.55", "price > 2.45", ("--over", "steps"), 1, "differ at price = 2.5: no and yes"),
        ("price > 2.55", "price > 2.45", (), 1, "differ at price = 2.5: no and yes"),
        ("stock > 3", "stock >= 4", ("--over", "steps"), 0, "the same for all integers"),
        (
            "price > weight_kg + 2.55 and stock > 3",
            "price > weight_kg + 2.5 and stock >= 4",
            ("--over", "steps"),
            1,
            "differ at stock = 4, price = 0, weight_kg = -2.55: no and yes",
        ),
        (
            "stock > 3 and price > 2 or weight_kg > 5",
            "stock >= 4 and price >= 2.1 or weight_kg > 5",
            ("--over", "steps", "--low", "0.1"),
            0,
            "the same for all numbers in the steps of the columns of at least 0.1",
        ),
    ],
)
def test_proofs_over_the_steps_of_the_table(save, capsys, rule, against, options, code, printed):
    assert nsr(capsys, save(rule, steps=STEPS), "--against", against, *options) == (code, f"{printed}\n", "")


def test_a_rule_is_checked_against_another(save, capsys):
    rule, other = save(ORDERS), save("stock >= ordered and limit > price", file="other")
    assert nsr(capsys, rule, "--against", rule)[:2] == (0, "the same for all numbers\n")
    assert nsr(capsys, rule, "--against", other)[1].endswith(": yes and no\n")
    assert nsr(capsys, other, "--against", rule)[1].endswith(": no and yes\n")


def test_classes_numbers_and_names_are_printed(save, capsys):
    grades = "where(price > 20, 0, where(limit > 0, 2, 1))"
    rule = save(grades, classes=("high", "lo\nw", "middle"))
    assert nsr(capsys, rule, "--against", grades)[0] == 0
    changed = "where(price > 20, 0, where(limit > 0, 1, 7))"
    assert nsr(capsys, rule, "--against", changed)[1] == "differ at price = 0, limit = 0: lo\\nw and 7\n"
    rule = save("`unit price`/3", classes=None, names=("unit price", "b"))
    assert nsr(capsys, rule, "--against", '"unit price" * 2')[1] == "differ at `unit price` = 1: 1/3 and 2\n"


def test_numbers_are_printed_in_one_form_beside_texts(save, capsys):
    rule = save("where(e == 'no', 2.5*h + 1, 2*h)", classes=None, names=("e", "h"))
    code, out, _ = nsr(capsys, rule, "--against", "where(e == 'no', 2.5*h + 2, 2*h)")
    assert (code, out) == (1, "differ at e = 'no', h = 0: 1 and 2\n")
    code, out, _ = nsr(capsys, rule, "--against", "where(e == 'no', 2.5*h + 1/3, 2*h)")
    assert (code, out) == (1, "differ at e = 'no', h = 0: 1 and 1/3\n")
    rule = save("price > 3", classes=(4.5, 7.0))
    assert nsr(capsys, rule, "--against", "price > 4")[1].endswith(": 7 and 4.5\n")


def test_numbers_beside_texts_are_compared_without_rounding(save, capsys):
    rule = save("where(e == 'no', 2.5*h, 2/3)", classes=None, names=("e", "h"))
    code, out, _ = nsr(capsys, rule, "--against", "where(e == 'no', 2.5*h, 0.6666666666666666)")
    assert (code, out) == (1, "differ at e = 'other', h = 0: 2/3 and 0.6666666666666666\n")


def test_time_that_runs_out_exits_with_3(save, capsys, monkeypatch):
    monkeypatch.setattr(_Search, "exhausted", lambda *_: None)
    words = save(ORDERS), "--against", "price > limit", "--time-limit", "0.5"
    assert nsr(capsys, *words) == (3, "not decided within 0.5 s for all numbers\n", "")


@pytest.mark.parametrize(
    ("rule", "against", "problem"),
    [
        ("rule.json", "price > > 3", "cannot read 'price > > 3': expected a number, a name or '(' at position 9"),
        (
            "rule.json",
            "limt > 3",
            "cannot read 'limt > 3': at position 1, unknown name 'limt': choose from stock, ordered,",
        ),
        ("rule.json", "x" * 400, "cannot read 'xxxx"),
        (
            "rule.json",
            "price + 1",
            "'price + 1' is a number, but the rule predicts no or yes: write a formula such as a > 20",
        ),
        (
            "rule.json",
            "price > limit + 3 days",
            "cannot read 'price > limit + 3 days': column 'limit' is a number: "
            "expected no date or duration beside it (or a unit such as days after it), at position 9",
        ),
        ("rule.json", "price > 2024-01-31", "column 'price' is a number: expected no date or duration beside it"),
        ("rule.json", SAVED / "classes.json", "classes.json holds a trained model: only rules can be compared"),
        ("rule.json", SAVED / "rule.json", "must predict the same classes, got no, yes and high, low, middle"),
        ("rule.json", "missing.json", "missing.json does not exist: nsr learn TABLE"),
        (SAVED / "number.json", "a > b", "number.json holds a trained model: only rules can be compared"),
    ],
)
def test_what_cannot_be_checked_is_one_sentence(save, capsys, monkeypatch, rule, against, problem):
    monkeypatch.chdir(save(ORDERS).parent)
    code, out, err = nsr(capsys, rule, "--against", against)
    assert (code, out) == (2, "")
    assert problem in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("against", "problem"),
    [
        ("price + 3 days", "'price' is a number: expected no date or duration beside it"),
        ("price + 3 days*limit", "'price' is a number: expected no date or duration beside it"),
        ("3 days", "expected a number, got the date or duration '3 days' at position 1"),
        ("stock + 3 days", "expected a number, got the date or duration 'stock + 3 days' at position 1"),
        ("where(price > 3, -(2 weeks), price)", "expected a number, got the date or duration 'where("),
        ("max(2024-01-31, price)", "expected a number, got the date or duration 'max("),
    ],
)
def test_numbers_and_durations_are_not_mixed(save, capsys, against, problem):
    code, out, err = nsr(capsys, save("price + limit", classes=None), "--against", against)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert problem in err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--over", "real"), "unknown set of numbers 'real': choose from reals, integers, auto; did you mean 'reals'?"),
        (("--low", "3", "--high", "2"), "low must be at most high, got 3 and 2"),
        (("--high", "1e999999999"), "--high must be a number such as -5, 1/2 or 1e6, got '1e999999999'"),
        (("--low", "x"), "--low must be a number such as -5, 1/2 or 1e6, got 'x'"),
        (("--low", "1/0"), "--low must be a number such as -5, 1/2 or 1e6, got '1/0'"),
        (("--time-limit", "0"), "the time limit must be more than 0 and at most 86,400 seconds, got 0.0"),
    ],
)
def test_wrong_options_are_one_sentence(save, capsys, options, problem):
    assert nsr(capsys, save(ORDERS), "--against", ORDERS, *options) == (2, "", f"nsr: {problem}\n")


def test_the_page_shows_what_the_command_prints(save, capsys, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "learn.md").read_text()
    names = ("order", "ordered", "stock", "price", "limit", "weight_kg")
    steps = {"ordered": Fraction(1), "stock": Fraction(1), "price": Fraction(1, 100), "limit": Fraction(1, 10)}
    monkeypatch.chdir(save(ORDERS, names=names, steps=steps).parent)
    examples = re.findall(r"^\$ nsr check (.*)\n(.*)$", page, re.MULTILINE)
    assert len(examples) == 5
    for words, printed in examples:
        assert nsr(capsys, *shlex.split(words))[1] == f"{printed}\n"


def test_a_missing_extra_is_named(save, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    code, _, err = nsr(capsys, save(ORDERS), "--against", ORDERS)
    assert (code, err) == (2, "nsr: this needs z3: install it with pip install 'neural-status-registers[prove]'\n")
