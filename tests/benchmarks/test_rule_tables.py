import re
import zlib
from fractions import Fraction

import numpy as np
import pytest
from rule_lines import LINES
from rule_tables import DISTRACTORS, ROWS, RuleTable, number, rule_table

from nsr.errors import InputError
from nsr.program import Program

LABELLED = [name for name, line in LINES.items() if line.kind != "number"]
SEEDS = range(4)
VERSIONS = LINES["versions"].plan(np.random.default_rng(0)).rule
TRIANGLE = "a + b > c and a + c > b and b + c > a"


def table_of(line: str, seed: int = 0, **options) -> RuleTable:
    return rule_table(line, np.random.default_rng([seed, zlib.crc32(line.encode())]), **options)


def fresh(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 1])


def python_rule(text: str):
    """The text of a rule as Python, to be independent of the parser."""
    code = re.sub(r"(?<![<>=!])=(?!=)", "==", text)
    code = re.sub(r"at least (\d+) of ", r"\1 <= count", code)
    code = re.sub(r"exactly (\d+) of ", r"\1 == count", code)
    code = re.sub(r"(?<![\w.])(\d+\.\d+)", r"Fraction('\1')", code)
    functions = {
        "Fraction": Fraction,
        "count": lambda *cases: sum(cases),
        "median": lambda *numbers: sorted(numbers)[len(numbers) // 2],
        "where": lambda condition, then, otherwise: then if condition else otherwise,
    }
    compiled = compile(code, "rule", "eval")
    return lambda row: eval(compiled, functions, row)


def some_rows(table: RuleTable, count: int = 50) -> list[int]:
    return list(range(0, len(table.y), max(1, len(table.y) // count)))


def fresh_tables(table: RuleTable) -> list[RuleTable]:
    return [table, table.near(fresh(0), 100), table.far(fresh(0), rows=200), table.far(fresh(0), 10**6, 80)]


@pytest.mark.parametrize("line", LINES)
def test_the_text_of_the_rule_gives_the_answers_near_and_far(line):
    for table in (table_of(line, seed) for seed in SEEDS):
        rule = python_rule(table.rule)
        for rows in fresh_tables(table):
            for row in some_rows(rows):
                answer = rule(rows.exact_row(row))
                assert answer == rows.exact_answer(row)
                assert float(answer) == rows.y[row]


@pytest.mark.parametrize("line", LINES)
def test_the_program_of_the_rule_gives_the_answers(line):
    table = table_of(line, 1)
    program = Program.parse(table.rule)
    for rows in fresh_tables(table):
        assert [program(rows.exact_row(row)) for row in some_rows(rows, 20)] == [
            rows.exact_answer(row) for row in some_rows(rows, 20)
        ]


@pytest.mark.parametrize("line", [name for name in LINES if name != "bmi"])
def test_programs_on_integers_give_the_answers_of_all_rows(line):
    table = next(table for table in (table_of(line, seed) for seed in range(300)) if table.integers)
    answers = Program.parse(table.rule)(table.columns)
    np.testing.assert_allclose(np.asarray(answers, dtype=float), table.y, rtol=1e-12)


@pytest.mark.parametrize("line", LABELLED)
def test_every_class_has_its_share(line):
    least = {"equal": 0.03, "three": 0.03, "grades": 0.015, "triangle": 0.09}.get(line, 0.1)
    for seed in SEEDS:
        table = table_of(line, seed)
        assert table.y.dtype == np.int64
        labels, counts = np.unique(table.y, return_counts=True)
        assert labels.tolist() == {"three": [-1, 0, 1], "grades": list(range(1, 14))}.get(line, [0, 1])
        assert counts.min() >= least * len(table.y)


@pytest.mark.parametrize("line", ["equal", "three"])
def test_equal_columns_are_frequent_by_themselves(line):
    for seed in range(20):
        columns = table_of(line, seed).columns
        assert 0.02 < (columns["a"] == columns["b"]).mean() < 0.35


def test_no_rows_are_planted_on_the_border():
    """In wide ranges, ties are as rare as independent columns make them."""
    ties = rows = expected = 0
    for seed in range(60):
        table = table_of("greater", seed)
        a, b = (table.steps[name] for name in "ab")
        ties, rows = ties + (a == b).sum(), rows + len(a)
        shuffled = fresh(seed).permutation(b)
        expected += (a == shuffled).sum()
    assert rows > 30_000
    assert ties == pytest.approx(expected, rel=0.3)


@pytest.mark.parametrize("line", [name for name in LINES if table_of(name).plan.rivals])
def test_the_rows_rule_out_constants_that_are_as_round(line):
    for table in (table_of(line, seed) for seed in range(8)):
        assert table.plan.rivals
        for rival in table.plan.rivals:
            assert (np.asarray(rival(table.steps)) != table.plan.truth(table.steps)).any()


@pytest.mark.parametrize(
    ("line", "tie", "rule", "other"),
    [
        ("both", "c = d", "a > b and c <= d", "a > b and c < d"),
        ("both", "a = b", "a > b and c <= d", "a >= b and c <= d"),
        (
            "versions",
            "patch = min_patch",
            VERSIONS,
            VERSIONS.replace("patch > min_patch", "patch >= min_patch"),
        ),
        ("triangle", "a + c = b", TRIANGLE, TRIANGLE.replace("a + c > b", "a + c >= b")),
    ],
)
def test_rows_that_show_a_tie_say_what_holds_there(line, tie, rule, other):
    shown = 0
    for table in (table_of(line, seed) for seed in range(12)):
        if table.rule == rule and table.integers and Program.parse(tie)(table.columns).any():
            shown += 1
            assert (Program.parse(other)(table.columns) != table.y).any()
    assert shown > 1


def test_constants_differ_between_tables():
    for line in ("threshold", "gap", "multiple", "tolerance", "tax", "overtime", "shipping", "grades"):
        assert len({table_of(line, seed).rule for seed in range(12)}) > 4


@pytest.mark.parametrize("line", ["greater", "tax", "grades", "cost"])
def test_columns_of_many_scales_in_a_shuffled_order(line):
    tables = [table_of(line, seed) for seed in range(8)]
    for table in tables:
        others = [name for name in table.columns if name not in table.plan.columns]
        assert DISTRACTORS[0] <= len(others) <= DISTRACTORS[1]
        assert ROWS[0] <= len(table.y) <= ROWS[1]
        assert all(column.shape == table.y.shape and np.isfinite(column).all() for column in table.columns.values())
        assert list(table.far(fresh(0)).columns) == list(table.columns)
    assert any(list(table.columns) != sorted(table.columns) for table in tables)
    sizes = [np.abs(own).max() for table in tables for name, own in table.columns.items() if name not in table.steps]
    assert min(sizes) < 0.1
    assert max(sizes) > 10**4


def test_units_differ_between_tables_and_integers_are_integers():
    tables = [table_of("greater", seed) for seed in range(60)]
    scales = [table.plan.columns["a"].scale for table in tables]
    assert {scale.unit for scale in scales} == {1, 10, 100, 1000}
    assert {scale.per for scale in scales} == {1, 10, 100, 1000, 2**20}
    for table, scale in zip(tables, scales, strict=True):
        assert table.integers == (scale.per == 1)
        assert table.columns["a"].dtype == (np.int64 if scale.per == 1 else np.float64)


@pytest.mark.parametrize("line", LINES)
def test_far_ranges_are_a_thousand_times_as_wide(line):
    table = table_of(line)
    near, far = table.near(fresh(0)), table.far(fresh(0))
    for name, column in near.columns.items():
        ratio = np.ptp(far.columns[name]) / np.ptp(column)
        drawn = table.plan.columns.get(name)
        assert ratio > 200 if drawn and drawn.shape != "flag" else ratio < 10


@pytest.mark.parametrize("line", LINES)
def test_a_seed_is_a_table(line):
    one, again, other = table_of(line, 3), table_of(line, 3), table_of(line, 4)
    assert list(one.columns) == list(again.columns)
    assert one.rule == again.rule
    for first, second in ((one, again), (one.far(fresh(0)), again.far(fresh(0)))):
        np.testing.assert_array_equal(first.y, second.y)
        for name in first.columns:
            np.testing.assert_array_equal(first.columns[name], second.columns[name])
    assert not np.array_equal(one.y, other.y)


def test_a_table_of_another_size_has_the_same_rule():
    table = table_of("sum").resized(fresh(0), 700, 40)
    assert len(table.columns) == 40
    assert {len(column) for column in table.columns.values()} == {700}
    np.testing.assert_array_equal(table.plan.truth(table.steps), table.y)
    with pytest.raises(ValueError, match=r"^columns must be at least 3, got 2$"):
        table.resized(fresh(0), 700, 2)


@pytest.mark.parametrize("line", LABELLED)
def test_a_share_of_the_labels_is_another_class_and_fresh_rows_are_clean(line):
    table = table_of(line, 5, flipped=0.05)
    clean = np.asarray(table.plan.truth(table.steps)).astype(int)
    assert (clean != table.y).sum() == round(0.05 * len(table.y))
    assert set(table.y) == set(clean)
    assert list(table.columns) == list(table_of(line, 5).columns)
    np.testing.assert_array_equal(clean, table_of(line, 5).y)
    near = table.near(fresh(0))
    np.testing.assert_array_equal(near.y, near.plan.truth(near.steps))


@pytest.mark.parametrize(
    ("value", "text"), [("75/2", "37.5"), ("-3", "-3"), ("-1/100", "-0.01"), ("0", "0"), ("120", "120")]
)
def test_constants_are_written_as_decimals(value, text):
    assert number(Fraction(value)) == text


def test_an_unknown_line_is_an_error():
    with pytest.raises(InputError, match=r"^unknown line 'greatr': choose from greater, .*; did you mean 'greater'\?$"):
        rule_table("greatr", fresh(0))


@pytest.mark.parametrize(
    ("line", "share", "text"),
    [
        ("greater", 0.5, "flipped must be from 0 to less than 0.5, got 0.5"),
        ("maximum", 0.05, "flipped must be 0 for 'maximum', whose answers are numbers, got 0.05"),
    ],
)
def test_labels_that_cannot_be_flipped_are_an_error(line, share, text):
    with pytest.raises(ValueError) as error:
        table_of(line, flipped=share)
    assert str(error.value) == text
