import numpy as np
import pandas as pd
import pytest

from nsr.errors import InputError
from nsr.learn.profile import profile
from tests.learn.profile.samples import independent, orders

PLANTED = {
    "low <= high",
    "gross == net + tax",
    "total == quantity*price",
    "due == start + 30 days",
    "start <= shipped",
    "late exactly where shipped > due",
    "first_name is present exactly where kind == 'private'",
    "city determines country",
}


def statements(source, **options) -> list[str]:
    return [str(statement) for statement in profile(source, **options).surprising]


@pytest.mark.parametrize("seed", range(3))
def test_planted_statements_are_found_and_nothing_else(tmp_path, seed):
    path = tmp_path / "orders.csv"
    orders(seed=seed).to_csv(path, index=False)
    assert set(statements(path)) == PLANTED


def test_floats_are_equal_within_their_rounding():
    found = statements(orders())
    assert "abs(net + tax - gross) <= 0.000001" in found
    assert "low <= high" in found


def test_a_product_rounded_to_cents(tmp_path):
    generator = np.random.default_rng(4)
    table = pd.DataFrame(
        {"hours": generator.integers(1, 400, 300) / 10, "rate": generator.integers(900, 9000, 300) / 100}
    )
    table["pay"] = (table.hours * table.rate + 1e-9).round(2)
    table.to_csv(tmp_path / "pay.csv", index=False)
    assert statements(tmp_path / "pay.csv") == ["abs(hours*rate - pay) <= 0.005"]


def test_a_multiple_and_a_percentage(tmp_path):
    generator = np.random.default_rng(5)
    celsius = generator.integers(-20, 40, 200)
    table = pd.DataFrame(
        {"celsius": celsius, "fahrenheit": (celsius * 1.8 + 32).round(1), "share": generator.integers(0, 100, 200)}
    )
    table["rest"] = 100 - table.share
    table.to_csv(tmp_path / "t.csv", index=False)
    assert set(statements(tmp_path / "t.csv")) == {"fahrenheit == 1.8*celsius + 32", "share + rest == 100"}


def test_orders_that_follow_from_others_are_left_out():
    generator = np.random.default_rng(6)
    a = generator.integers(0, 100, 300)
    b = a + generator.integers(0, 20, 300)
    c = b + generator.integers(0, 20, 300)
    assert statements(pd.DataFrame({"a": a, "b": b, "c": c})) == ["a <= b", "b <= c"]


def test_equal_columns_make_their_orders_redundant():
    generator = np.random.default_rng(7)
    a = generator.integers(0, 100, 300)
    b = a + generator.integers(0, 20, 300)
    names = generator.choice(["x", "y", "z"], 300)
    table = pd.DataFrame({"a": a, "again": a, "b": b, "name": names, "label": names})
    assert set(statements(table)) == {"a == again", "a <= b", "name == label"}


def test_columns_of_other_ranges_are_trivial():
    generator = np.random.default_rng(8)
    table = pd.DataFrame({"year": generator.integers(1990, 2020, 500), "age": generator.integers(0, 100, 500)})
    found = profile(table)
    assert found.surprising == []
    assert [str(statement) for statement in found.statements if statement.is_trivial] == ["age < year"]


def test_a_sum_against_a_third_column():
    generator = np.random.default_rng(9)
    sides = generator.integers(1, 1000, (5000, 3)) / 10
    ordered = np.sort(sides, axis=1)
    triangles = sides[ordered[:, 2] <= ordered[:, 0] + ordered[:, 1]]
    found = statements(pd.DataFrame(triangles, columns=list("abc")))
    assert set(found) == {"a <= b + c", "b <= a + c", "c <= a + b"}


def test_an_order_under_a_condition():
    generator = np.random.default_rng(10)
    kind = generator.choice(["up", "free"], 400)
    a = generator.integers(0, 100, 400)
    b = np.where(kind == "up", a + generator.integers(0, 30, 400), generator.integers(0, 130, 400))
    assert statements(pd.DataFrame({"kind": kind, "a": a, "b": b})) == ["if kind == 'up' then a <= b"]


def test_cells_that_must_be_present():
    generator = np.random.default_rng(11)
    status = generator.choice(["new", "shipped", "lost"], 300)
    carrier = np.where((status == "shipped") | (generator.random(300) < 0.5), "DHL", None)
    phone = pd.Series(np.where(generator.random(300) < 0.5, "1", None))
    table = pd.DataFrame(
        {"status": status, "carrier": carrier, "phone": phone, "prefix": phone.where(phone.isna(), "2")}
    )
    assert set(statements(table)) == {
        "if status == 'shipped' then carrier is present",
        "phone is missing exactly where prefix is missing",
    }


def test_a_code_and_its_name_determine_each_other():
    generator = np.random.default_rng(12)
    code = generator.integers(0, 30, 600)
    table = pd.DataFrame({"code": [f"c{each}" for each in code], "name": [f"n{each * 7 % 30}" for each in code]})
    table["part"] = [f"p{each % 5}" for each in code]
    assert set(statements(table)) == {"code and name determine each other", "code determines part"}


def test_a_threshold():
    generator = np.random.default_rng(13)
    age = generator.integers(0, 90, 900)
    assert statements(pd.DataFrame({"age": age, "adult": age >= 18})) == ["adult exactly where age >= 18"]


def test_keys_are_named():
    table = orders().assign(id=np.arange(400) + 7)
    assert profile(table).keys == ["id"]


@pytest.mark.parametrize("seed", range(10))
def test_independent_columns_give_no_statement(seed):
    assert statements(independent(seed)) == []


@pytest.mark.outer
def test_at_most_one_of_100_independent_tables_gives_a_statement():
    assert sum(bool(statements(independent(seed))) for seed in range(100, 200)) <= 1


def test_the_time_limit_is_kept_and_what_was_not_tried_is_reported():
    wide = pd.DataFrame(np.random.default_rng(14).normal(size=(200, 150)), columns=[f"c{n}" for n in range(150)])
    found = profile(wide, time_limit=1.0)
    assert found.seconds < 6
    assert any(note.startswith("not tried, or not to the end: ") for note in found.notes)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"least": 0.4}, "least must be more than 0.5 and at most 1, got 0.4"),
        ({"time_limit": 0}, "the time limit must be a positive number of seconds, got 0"),
    ],
)
def test_wrong_options(option, message):
    with pytest.raises(InputError) as problem:
        profile(pd.DataFrame({"a": [1, 2]}), **option)
    assert str(problem.value) == message


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tables_with_hardly_any_rows(rows):
    assert statements(pd.DataFrame({"a": [1.5, 2][:rows], "b": ["x", "y"][:rows]})) == []


def test_a_number_beyond_the_largest_float_is_part_of_no_equation(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{row * 7 % 23},{row * 7 % 23 + row % 4}" for row in range(40)]
    path.write_text("\n".join(["a,b", *lines, "1e999,5"]))
    assert not any("==" in statement for statement in statements(path))
