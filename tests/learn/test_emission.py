"""``nsr emit``: a saved rule in another language, without the table."""

import json
from pathlib import Path

import duckdb
import pytest

from nsr.cli import main
from nsr.learn.emission import NOT_TEXT
from nsr.learn.saved import SavedRule
from nsr.program import Program
from nsr.program.emit import TARGETS

MODEL = Path(__file__).parent / "saved_files" / "classes.json"
ROWS = [(5, 3), (3, 3), (2, 3)]
RULES = {
    "two": SavedRule("late", ("no", "yes"), Program.parse("days > due")),
    "three": SavedRule(
        "late", ("early", "late", "on time"), Program.parse("where(days > due, 1, where(days = due, 2, 0))")
    ),
    "number": SavedRule("late", None, Program.parse("max(days - due, 0)")),
}
ANSWERS = {"two": ["yes", "no", "no"], "three": ["late", "on time", "early"], "number": [2, 0, 0]}
NEEDS_TABLE = ("check-sql", "dbt")


@pytest.fixture(params=RULES)
def name(request):
    return request.param


@pytest.fixture
def saved(name, tmp_path):
    RULES[name].save(tmp_path / "rule.json")
    return tmp_path / "rule.json"


def emit(capsys, *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["emit", *map(str, words)])
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


@pytest.mark.parametrize("language", [target for target in TARGETS if target not in NOT_TEXT])
def test_every_language_of_nsr_learn_is_printed_or_written(capsys, saved, language):
    table = ["--table", "orders"] if language in NEEDS_TABLE else []
    code, out, _ = emit(capsys, saved, "--to", language, *table)
    assert code == 0
    assert "days" in out
    file = saved.with_name("out.txt")
    code, nothing, err = emit(capsys, saved, "--to", language, *table, "--out", file)
    assert (code, nothing) == (0, "")
    assert file.read_text() == out
    assert err.endswith(f"wrote {file}\n")


def test_the_check_returns_the_rows_that_break_the_rule(capsys, saved, name):
    code, query, _ = emit(capsys, saved, "--to", "check-sql", "--table", "orders")
    assert code == 0
    database = duckdb.connect()
    database.execute(
        f"CREATE TABLE orders (days BIGINT, due BIGINT, late {'BIGINT' if name == 'number' else 'VARCHAR'})"
    )
    given = [*ANSWERS[name][:2], ANSWERS[name][0]]  # the last row is wrong
    database.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(*r, y) for r, y in zip(ROWS, given, strict=True)])
    assert database.execute(query).fetchall() == [(2, 3, given[2])]


@pytest.mark.parametrize("classes", [[], ["yes"], ["a", "b", "c"]])
@pytest.mark.parametrize("language", ["python", "json"])
def test_a_formula_needs_two_classes(capsys, tmp_path, classes, language):
    RULES["two"].save(tmp_path / "rule.json")
    content = json.loads((tmp_path / "rule.json").read_text()) | {"classes": classes}
    (tmp_path / "rule.json").write_text(json.dumps(content))
    code, out, err = emit(capsys, tmp_path / "rule.json", "--to", language)
    assert (code, out, err.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("name", "legend"),
    [
        ("two", "nsr: in the code, true means yes, false means no\n"),
        ("three", "nsr: in the code, 0 means early, 1 means late, 2 means on time\n"),
        ("number", ""),
    ],
)
def test_the_meaning_of_the_values_is_printed(capsys, saved, legend):
    assert emit(capsys, saved, "--to", "sql")[2] == legend


@pytest.mark.parametrize("name", ["two"])
def test_missing_values_can_be_written_for(capsys, saved):
    assert emit(capsys, saved, "--to", "sql")[1] == '"days" > "due"\n'
    assert emit(capsys, saved, "--to", "sql", "--missing")[1] == 'COALESCE("days" > "due", FALSE)\n'


@pytest.mark.parametrize("name", ["two"])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--to", "dbt"], "dbt needs the name of the table, which {rule} does not hold: add --table NAME"),
        (["--to", "check-sql"], "check-sql needs the name of the table, which {rule} does not hold: add --table NAME"),
        (["--to", "python", "--table", "orders"], "the name of a table is for SQL, not for python"),
        (["--to", "python", "--dialect", "postgres"], "a dialect is for SQL, not for python"),
        (["--to", "sql", "--dialect", "postgre"], "unknown dialect 'postgre': choose from "),
        (["--to", "onnx"], "unknown language 'onnx': choose from python, "),
        (["--to", "sql", "--out", "{rule}"], "{rule} cannot be written: it is the input; name another file"),
    ],
)
def test_wrong_words_are_errors(capsys, saved, words, sentence):
    before = saved.read_text()
    code, out, err = emit(capsys, saved, *(word.format(rule=saved) for word in words))
    assert (code, out) == (2, "")
    assert err.startswith(f"nsr: {sentence.format(rule=saved)}")
    assert saved.read_text() == before


def test_files_without_a_rule_are_errors(capsys, tmp_path):
    code, _, err = emit(capsys, MODEL, "--to", "sql")
    expected = f"nsr: {MODEL} holds a trained model and no rule: nothing can be written in another language\n"
    assert (code, err) == (2, expected)
    (tmp_path / "other.json").write_text(json.dumps({"a": 1}))
    code, _, err = emit(capsys, tmp_path / "other.json", "--to", "sql")
    assert code == 2
    assert "other.json" in err
