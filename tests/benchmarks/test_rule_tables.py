import numpy as np
import pytest
from rule_tables import DISTRACTORS, LINES, ROWS, RULELESS, RuleTable, rule_table

from nsr.errors import InputError
from nsr.program import And, Compare, Constant, Expression, Or, Program, Variable, Where

A, B, C, D, E, X = (Variable(name) for name in "abcdex")
GREATER, EQUAL = Compare(">", A, B), Compare("=", A, B)
TRUTHS: dict[str, Expression] = {
    "greater": GREATER,
    "equal": EQUAL,
    "threshold": Compare(">=", X, Constant(37.5)),
    "both": And(GREATER, Compare("<=", C, D)),
    "either": Or(EQUAL, Compare("=", C, Constant(1))),
    "three": Where(Compare("<", A, B), Constant(-1), Where(EQUAL, Constant(0), Constant(1))),
    "distance": Where(GREATER, A - B, B - A),
    "choice": Where(GREATER, E + 4, D - C),
    "maximum": Where(GREATER, A, B),
    "gap": Compare(">", A, B + 12),
}
BINARY = [name for name, line in LINES.items() if line.kind == "binary"]
SEEDS = range(8)


def table_of(line: str, seed: int = 0, **options) -> RuleTable:
    return rule_table(line, np.random.default_rng(seed), **options)


def fresh(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 1])


def test_there_is_a_truth_for_every_line():
    assert list(TRUTHS) == list(LINES)


@pytest.mark.parametrize("line", TRUTHS)
def test_the_rule_is_the_text_of_the_true_program(line):
    assert LINES[line].rule == str(Program(TRUTHS[line]))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("line", TRUTHS)
def test_the_true_program_says_what_the_rows_say_near_and_far(line, seed):
    table = table_of(line, seed)
    for rows in (table, table.near(fresh(seed)), table.far(fresh(seed)), table.far(fresh(seed), 10**6)):
        np.testing.assert_array_equal(Program(TRUTHS[line])(rows.columns), rows.y)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("line", [name for name, line in LINES.items() if line.kind != "number"])
def test_every_class_has_its_share(line, seed):
    table = table_of(line, seed)
    for rows in (table, table.near(fresh(seed)), table.far(fresh(seed))):
        assert rows.classification
        assert rows.y.dtype == np.int64
        labels, counts = np.unique(rows.y, return_counts=True)
        assert labels.tolist() == ([-1, 0, 1] if line == "three" else [0, 1])
        if line == "equal":
            assert counts[1] == round(0.02 * len(rows.y))
        else:
            assert counts.min() >= 0.15 * len(rows.y)


@pytest.mark.parametrize("line", [*LINES, *RULELESS])
def test_columns_of_many_scales_in_a_shuffled_order(line):
    tables = [table_of(line, seed) for seed in SEEDS]
    for table in tables:
        others = [name for name in table.columns if name.startswith("n")]
        assert DISTRACTORS[0] <= len(others) <= DISTRACTORS[1]
        assert ROWS[0] <= len(table.y) <= ROWS[1]
        assert all(column.shape == table.y.shape and np.isfinite(column).all() for column in table.columns.values())
        assert list(table.far(fresh(0)).columns) == list(table.columns)
    assert any(list(table.columns) != sorted(table.columns) for table in tables)
    sizes = [np.abs(own).max() for table in tables for name, own in table.columns.items() if name.startswith("n")]
    assert min(sizes) < 0.1
    assert max(sizes) > 10**4


def test_units_differ_between_tables_and_whole_numbers_are_integers():
    tables = [table_of("greater", seed) for seed in range(30)]
    units = {(table.grids[0].unit, table.grids[0].per) for table in tables}
    assert units == {(1, 1000), (1, 100), (1, 10), (1, 1), (10, 1), (100, 1), (1000, 1)}
    for table in tables:
        assert table.columns["a"].dtype == (np.int64 if table.grids[0].per == 1 else np.float64)


@pytest.mark.parametrize("line", LINES)
def test_far_ranges_are_a_thousand_times_as_wide(line):
    table = table_of(line)
    near, far = table.near(fresh(0)), table.far(fresh(0))
    for name in TRUTHS[line].variables:
        assert 300 < np.ptp(far.columns[name]) / np.ptp(near.columns[name]) < 3000
    for name in set(table.columns) - set(TRUTHS[line].variables):
        assert np.ptp(far.columns[name]) < 10 * np.ptp(near.columns[name])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("line", "strict", "loose"), [("greater", ">", ">="), ("threshold", ">=", ">")])
def test_rows_lie_on_the_boundary(line, strict, loose, seed):
    columns = table_of(line, seed).columns
    left, right = (X, Constant(37.5)) if line == "threshold" else (A, B)
    one, other = (Program(Compare(symbol, left, right))(columns) for symbol in (strict, loose))
    assert (one != other).mean() == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize("line", [*LINES, *RULELESS])
def test_a_seed_is_a_table(line):
    one, again, other = table_of(line, 3), table_of(line, 3), table_of(line, 4)
    assert list(one.columns) == list(again.columns)
    for first, second in ((one, again), (one.far(fresh(0)), again.far(fresh(0)))):
        np.testing.assert_array_equal(first.y, second.y)
        for name in first.columns:
            np.testing.assert_array_equal(first.columns[name], second.columns[name])
    assert not np.array_equal(one.y, other.y)


@pytest.mark.parametrize("line", BINARY)
def test_a_share_of_the_labels_is_flipped_and_fresh_rows_are_clean(line):
    table = table_of(line, 5, flipped=0.05)
    program = Program(TRUTHS[line])
    assert (program(table.columns) != table.y).sum() == round(0.05 * len(table.y))
    np.testing.assert_array_equal(program(table.near(fresh(0)).columns), table.near(fresh(0)).y)


@pytest.mark.parametrize("line", RULELESS)
def test_tables_without_a_rule(line):
    table = table_of(line)
    assert table.rule is None
    if table.classification:
        assert table.y.mean() == pytest.approx(0.5, abs=0.01)
    else:
        assert np.unique(table.y).size > 200


def test_an_unknown_line_is_refused():
    with pytest.raises(InputError, match=r"^unknown line 'greatr': choose from greater, .*; did you mean 'greater'\?$"):
        table_of("greatr")


@pytest.mark.parametrize(
    ("line", "share", "text"),
    [
        ("greater", 0.5, "flipped must be from 0 to less than 0.5, got 0.5"),
        ("three", 0.05, "flipped must be 0 for 'three', whose labels are not two, got 0.05"),
        ("maximum", 0.05, "flipped must be 0 for 'maximum', whose labels are not two, got 0.05"),
    ],
)
def test_labels_that_cannot_be_flipped_are_refused(line, share, text):
    with pytest.raises(ValueError) as refusal:
        table_of(line, flipped=share)
    assert str(refusal.value) == text
