"""Saved rules on the page: the same text and the same exact answers as in Python."""

import json
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsr.learn.saved import load_saved
from nsr.program import Program, load
from nsr.program.times import microseconds
from tests.program.emit.cell_samples import answers, programs, rows
from tests.program.strategies import programs as number_programs

pytestmark = pytest.mark.outer

ANSWERS = """
([text, rows]) => {
  const program = nsr.programOf(JSON.parse(text));
  const cell = ([kind, value]) => kind === "number" ? nsr.Rational.of(BigInt(value[0]), BigInt(value[1])) : value;
  const answers = rows.map(row => {
    const cells = new Map(Object.entries(row).map(([name, value]) => [name, cell(value)]));
    const answer = nsr.evaluate(program.expression, cells);
    return typeof answer === "object" && answer !== null ? answer.toString() : answer;
  });
  return {text: nsr.textOf(program.expression), answers};
}
"""


def cell(value):
    """A value as the page's evaluator takes it."""
    if value is None or isinstance(value, str | bool):
        return ["plain", value]
    number = Fraction(microseconds(value) if isinstance(value, date | timedelta) else value)
    return ["number", [str(number.numerator), str(number.denominator)]]


def on_page(tab, program, table):
    sent = [{name: cell(value) for name, value in row.items()} for row in table]
    found = tab.evaluate(ANSWERS, [program.emit("json"), sent])
    return found["text"], [Fraction(value) if isinstance(value, str) else value for value in found["answers"]]


def test_300_programs_on_tables_with_gaps_agree(tab):
    for program in programs(300):
        text, found = on_page(tab, program, rows())
        assert text == str(program)
        assert found == answers(program), text


NUMBERS = st.one_of(
    st.integers(-4, 4),
    st.integers(-(10**40), 10**40),
    st.fractions(-9, 9, max_denominator=12),
    st.decimals(-1000, 1000, allow_nan=False, allow_infinity=False, places=4),
)


@settings(max_examples=300)
@given(data=st.data(), program=number_programs())
def test_300_programs_on_numbers_of_any_size_agree(tab, data, program):
    table = [dict(zip(program.names, row, strict=True)) for row in data.draw(tables(len(program.names)))]
    text, found = on_page(tab, program, table)
    assert text == str(program)
    expected = [program(row) for row in table]
    assert found == [each if isinstance(each, bool) else Fraction(each) for each in expected]


def tables(columns):
    return st.lists(st.lists(NUMBERS.map(Fraction), min_size=columns, max_size=columns), min_size=1, max_size=4)


PREDICTIONS = """
([rule, table]) => {
  const read = nsr.loadRule(rule);
  return nsr.cellsOf(read.program, nsr.parseCsv(table)).map(row => nsr.prediction(read, row));
}
"""


def test_a_saved_rule_predicts_its_classes(tab):
    text = (Path(__file__).parents[1] / "learn" / "saved_files" / "rule.json").read_text()
    table = 'b,note,a\n0,"x, ""y""",20.0000000000000000001\n-1,,2e1\n1,z,-3\n-1,z,-3\n'
    assert tab.evaluate(PREDICTIONS, [text, table]) == ["high", "middle", "middle", "low"]


@pytest.mark.parametrize(
    ("rule", "table", "message"),
    [
        ("{", "a\n1", "the file is not JSON"),
        ('{"format": "nsr-model/3"}', "a\n1", "this file holds a trained model, not a rule"),
        (None, "b,c\n1,2", 'the table has no column "a"; its columns are b, c'),
        (None, "a,b\n1,2\nx,3", '"x" is not a number (row 3, column "a")'),
        (None, "a,b\n1,2\n1", "row 3 has 1 cells, but the header has 2"),
        (None, "", "the table is empty"),
    ],
)
def test_what_cannot_be_used_is_explained(tab, rule, table, message):
    rule = Program.parse("a > b").emit("json") if rule is None else rule
    problem = "try { run(argument) } catch (error) { return error.message }"
    found = tab.evaluate(f"argument => {{ const run = {PREDICTIONS}; {problem} }}", [rule, table])
    assert message in found


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ({"constant": 0.5}, 'a number must be an integer or a string such as "1/3", got 0.5'),
        ({"variable": "z"}, "a variable must be one of the names"),
        ({"compare": "~", "left": {"constant": 1}, "right": {"constant": 2}}, "a comparison must be one of"),
        ({"and": [{"variable": "a"}]}, "there must be a formula where there is a node variable"),
        ({"alert": 1}, "a node must be an object with one of"),
    ],
)
def test_programs_are_checked_as_in_python(tab, expression, message):
    text = json.dumps({"format": "nsr-program/1", "names": ["a"], "expression": expression})
    with pytest.raises(ValueError):
        load(text)
    found = tab.evaluate("text => { try { nsr.loadRule(text) } catch (error) { return error.message } }", text)
    assert message in found


LEARN = """
([operator, delta]) => {
  const labels = nsr.labelsOf(operator);
  return nsr.ruleFile(nsr.readRule(labels, false), nsr.Rational.parse(delta));
}
"""


@pytest.mark.parametrize("operator", [">", "<", ">=", "<=", "=", "!="])
def test_a_rule_saved_by_the_page_loads_in_python(tab, tmp_path, operator):
    (tmp_path / "rule.json").write_text(tab.evaluate(LEARN, [operator, "0.001"]))
    saved = load_saved(tmp_path / "rule.json")
    assert str(saved.program) == f"a {'==' if operator == '=' else operator} b"


def test_a_drawn_rule_has_its_constants_in_units_of_delta(tab):
    labels = "Uint8Array.from({length: 400}, (_, i) => Math.floor(i / 20) - i % 20 > 3 && i % 20 < 12)"
    text = tab.evaluate(f"nsr.ruleFile(nsr.readRule({labels}, true), nsr.Rational.of(1, 10))")
    assert str(load(json.dumps(json.loads(text)["program"]))) == "b <= 0.1 and a > b + 0.3"
