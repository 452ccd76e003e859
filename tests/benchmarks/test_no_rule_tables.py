import numpy as np
import pytest
from no_rule_tables import REAL, RULELESS, no_rule_table


def table_of(name: str, table: int):
    return no_rule_table(name, np.random.default_rng([5, table]), table=table)


def test_there_are_three_hundred_and_sixty_of_them_are_small():
    assert sum(kind.tables for kind in RULELESS.values()) == 300
    assert RULELESS["real"].tables == len(REAL) == len(set(REAL))
    small = 0
    for name, kind in RULELESS.items():
        if name != "clusters":
            small += sum(len(table_of(name, table).y) == 100 for table in range(kind.tables))
    assert small + RULELESS["clusters"].tables // 5 == 60


@pytest.mark.parametrize("name", RULELESS)
def test_fresh_rows_have_the_same_columns_and_a_seed_is_a_table(name):
    for number in (0, 4):
        table, again = table_of(name, number), table_of(name, number)
        np.testing.assert_array_equal(table.y, again.y)
        near = table.near(np.random.default_rng(1))
        assert list(near.columns) == list(table.columns) == list(again.columns)
        assert all(len(column) == len(table.y) for column in table.columns.values())
        assert all(np.isfinite(column).all() and len(column) == len(near.y) for column in near.columns.values())
        assert table.rule is None


@pytest.mark.parametrize("name", [name for name, kind in RULELESS.items() if kind.tables and name not in {"numbers"}])
def test_classes_have_their_share(name):
    for number in (0, 1, 2):
        table = table_of(name, number)
        labels, counts = np.unique(table.y, return_counts=True)
        assert len(labels) == 2 if table.kind == "binary" else len(labels) > 2
        assert counts.min() >= 0.05 * len(table.y)


def test_real_tables_hold_out_three_tenths():
    for number in range(len(REAL)):
        table = table_of("real", number)
        rows, held_out = len(table.y), len(table.near(np.random.default_rng(0)).y)
        assert rows == 100 or held_out / (rows + held_out) == pytest.approx(0.3, abs=0.01)
        assert REAL[number][1] not in table.columns
