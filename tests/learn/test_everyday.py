"""Raw tables with texts, dates and missing cells, and the tables that users of other tools have asked for."""

import re
import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest
import torch

from nsr.learn import commands
from nsr.learn.attempt import split_rows
from nsr.learn.features import features_of
from nsr.learn.gaps import with_gaps
from nsr.learn.preparation import prepare
from nsr.learn.saved import load_saved, to_saved
from nsr.learn.tables import read
from nsr.program import Program
from nsr.program.cells import evaluate_cells
from nsr.program.kinds import Kind
from nsr.reading.columns import Columns
from nsr.reading.derived import Meaning
from nsr.reading.rows import LabelledRows

N = 600
RNG = np.random.default_rng(20261118)


def some(values, share_missing: float = 0.0) -> pd.Series:
    column = pd.Series(RNG.choice(values, N), dtype=object)
    return column.mask(pd.Series(RNG.random(N) < share_missing), None)


def days(low: int, high: int, start: str = "2024-01-01") -> pd.Series:
    return pd.Series(pd.Timestamp(start) + pd.to_timedelta(RNG.integers(low, high, N), "D"))


def orders() -> pd.DataFrame:
    """An everyday table: numbers, texts, dates, truth values and gaps."""
    ordered = days(0, 300)
    table = pd.DataFrame(
        {
            "order": [f"A{number:05d}" for number in range(N)],
            "ordered": ordered,
            "shipped": ordered + pd.to_timedelta(RNG.integers(0, 40, N), "D"),
            "due": ordered + pd.to_timedelta(RNG.integers(5, 35, N), "D"),
            "member": some(["gold", "silver", "bronze", "none"]),
            "country": some(["DE", "AT", "CH", "FR", "IT", "ES", "PL", "US"]),
            "total": np.round(RNG.uniform(1, 300, N), 2),
            "items": RNG.integers(1, 20, N),
            "express": RNG.random(N) < 0.3,
            "discount": pd.Series(RNG.integers(0, 60, N)).astype("Int64").mask(pd.Series(RNG.random(N) < 0.3)),
            "first_name": some(["Ann", "Bob", "Cy", "Di"], 0.4),
        }
    )
    table["shipped"] = table["shipped"].mask(RNG.random(N) < 0.15)
    return table


RULES = {
    "member == 'gold' and total > 100": lambda t: (t.member == "gold") & (t.total > 100),
    "country in ('AT', 'CH', 'DE')": lambda t: t.country.isin(["DE", "AT", "CH"]),
    "items >= 15 or country in ('AT', 'CH', 'DE', 'IT')": lambda t: (
        t.country.isin(["DE", "AT", "CH", "IT"]) | (t["items"] >= 15)
    ),
    "due < shipped": lambda t: t.shipped > t.due,
    "shipped is missing or due < shipped": lambda t: (t.shipped > t.due) | t.shipped.isna(),
    "shipped > ordered + 14 days": lambda t: t.shipped > t.ordered + pd.Timedelta(days=14),
    "ordered >= 2024-06-01": lambda t: t.ordered >= pd.Timestamp("2024-06-01"),
    "discount is missing or discount <= 20": lambda t: t.discount.isna() | (t.discount <= 20).fillna(False),
    "member != 'gold' or first_name is present": lambda t: (t.member != "gold") | t.first_name.notna(),
    "express and items <= 10 or total > 250": lambda t: t.express & (t["items"] <= 10) | (t.total > 250),
    "member != 'gold' and discount > 30": lambda t: (t.member != "gold") & (t.discount > 30).fillna(False),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules_with_texts_dates_and_gaps_are_read_back(rule):
    table = orders()
    holds = RULES[rule](table).astype(bool)
    learned = commands.learn(table.assign(answer=np.where(holds, "yes", "no")), "answer", restarts=8)
    assert learned.program is not None, learned.summary()
    assert learned.verified.wrong == 0
    fresh = orders()
    truth = RULES[rule](fresh).astype(bool).to_numpy()
    wrong = (learned.program(fresh) != truth).mean()
    assert wrong == 0 or learned.estimator.evidence_.not_covered, learned.rule
    wanted = Program.parse(rule, list(table), KINDS)
    assert (wanted(fresh) == truth).all()


KINDS = {
    "order": Kind.TEXT,
    "ordered": Kind.DATE,
    "shipped": Kind.DATE,
    "due": Kind.DATE,
    "member": Kind.TEXT,
    "country": Kind.TEXT,
    "express": Kind.BOOLEAN,
    "first_name": Kind.TEXT,
}


def test_a_raw_export_goes_through_unchanged(tmp_path):
    table = orders()
    late = (table.shipped > table.due).map({True: "yes", False: "no"})
    path = tmp_path / "export.csv"
    with path.open("w") as file:
        file.write("order;ordered;shipped;due;member;total;discount;late\n")
        for at, row in enumerate(table.itertuples()):
            total = f"€ {row.total + 1000:,.2f}".translate(str.maketrans(",.", ".,"))
            shipped = "" if pd.isna(row.shipped) else row.shipped.date()
            discount = "" if pd.isna(row.discount) else f"{row.discount} %"
            cells = (row.order, row.ordered.date(), shipped, row.due.date(), row.member, total, discount, late[at])
            file.write(";".join(map(str, cells)) + "\n")
    messages: list[str] = []
    learned = commands.learn(path, "late", on_message=messages.append)
    assert learned.rule == "yes if due < shipped, else no"
    assert learned.verified.wrong == 0
    assert any("'total': read as numbers: '€ 1." in message for message in messages)
    assert any("'discount': read as numbers" in message for message in messages)
    assert "not using column 'order': text with 600 different values" in messages


def rejected(program: Program, table: pd.DataFrame) -> list[int]:
    """The positions of the rows that the emitted check returns from DuckDB."""
    with duckdb.connect() as database:
        database.register("checked", table.assign(position=np.arange(len(table))))
        return sorted(database.execute(program.emit("check-sql", table="checked")).df()["position"])


def test_great_expectations_194_one_column_is_never_below_another():
    table = pd.DataFrame({"a": RNG.integers(0, 100, N), "b": RNG.integers(0, 100, N), "c": RNG.integers(0, 9, N)})
    learned = commands.learn(table.assign(valid=table.a >= table.b), "valid")
    assert learned.rule == "True if a >= b, else False"
    assert rejected(learned.program, table) == np.flatnonzero(table.a < table.b).tolist()


def test_sdv_1191_the_end_is_after_the_start():
    table = pd.DataFrame({"start": days(0, 400), "end": days(0, 400), "room": some(["A", "B", "C"])})
    learned = commands.learn(table.assign(valid=table.end > table.start), "valid")
    assert learned.rule == "True if end > start, else False"
    assert rejected(learned.program, table) == np.flatnonzero(table.end <= table.start).tolist()


def test_deequ_110_private_customers_have_a_first_name():
    table = pd.DataFrame(
        {
            "type": some(["private", "company", "public"]),
            "first_name": some(["Ann", "Bob", "Cy"], 0.4),
            "company": some(["X", "Y"], 0.5),
        }
    )
    valid = (table.type != "private") | table.first_name.notna()
    learned = commands.learn(table.assign(valid=valid), "valid")
    assert learned.rule == "True if first_name is present or type != 'private', else False"
    assert rejected(learned.program, table) == np.flatnonzero(~valid).tolist()


def test_imodels_117_categories():
    table = pd.DataFrame(
        {"job": some(list("abcdefgh")), "age": RNG.integers(18, 80, N), "city": some(["Rome", "Oslo", "Bern"])}
    )
    chosen = (table.job.isin(["b", "d", "g"]) & (table.age < 40)).map({True: "call", False: "write"})
    learned = commands.learn(table.assign(contact=chosen), "contact")
    assert learned.verified.wrong == 0
    fresh = pd.DataFrame({"job": some(list("abcdefgh")), "age": RNG.integers(18, 80, N), "city": some(["Rome"])})
    writes = ~(fresh.job.isin(["b", "d", "g"]) & (fresh.age < 40))
    assert (learned.program(fresh) == writes).all()
    assert rejected(learned.program, fresh) == np.flatnonzero(~writes).tolist()


def test_pysr_150_which_column_is_taken_depends_on_a_comparison_of_columns():
    table = pd.DataFrame(RNG.integers(-50, 50, (N, 4)), columns=["x", "y", "z", "w"])
    table["out"] = np.where(table.x > table.y, table.z, table.w)
    learned = commands.learn(table, "out")
    assert str(learned.program) == "where(x > y, z, w)"
    table.loc[[3, 77], "out"] += 1000
    with duckdb.connect() as database:
        database.register("the table", table)
        wrong = database.execute(learned.emit("check-sql")).df()
    assert sorted(wrong["out"]) == sorted(table.loc[[3, 77], "out"])


def test_several_classes_of_texts_and_dates():
    table = orders()
    state = np.select([table.shipped.isna(), table.shipped > table.due], ["open", "late"], "in time")
    learned = commands.learn(table.assign(state=state), "state")
    assert learned.verified.wrong == 0
    assert "open if shipped is missing" in learned.rule or "shipped is missing" in learned.rule


def test_a_number_that_depends_on_a_text():
    table = orders()
    price = np.where(table.country == "DE", 5, np.where(table.express, 12, 8))
    learned = commands.learn(table.assign(price=price), "price")
    assert learned.verified.wrong == 0
    fresh = orders()
    assert (learned.program(fresh) == np.where(fresh.country == "DE", 5, np.where(fresh.express, 12, 8))).all()


def test_times_with_hours():
    start = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 10**7, N), "s"))
    end = start + pd.to_timedelta(RNG.integers(0, 200_000, N), "s")
    table = pd.DataFrame({"start": start, "end": end, "n": RNG.integers(0, 9, N)})
    learned = commands.learn(table.assign(late=table.end > table.start + pd.Timedelta(hours=24)), "late")
    assert learned.rule == "True if end > start + 1 day, else False"


def test_texts_of_two_columns_can_be_equal():
    table = pd.DataFrame({"billing": some(["DE", "AT", "CH"], 0.1), "shipping": some(["DE", "AT", "CH"], 0.1)})
    table["n"] = RNG.integers(0, 100, N)
    same = (table.billing == table.shipping) & table.billing.notna()
    learned = commands.learn(table.assign(same=same), "same")
    assert learned.rule == "True if billing == shipping, else False"


@pytest.mark.outer
@pytest.mark.parametrize("language", ["check-sql", "dbt", "check-constraint", "pandera", "python", "polars"])
def test_a_learned_rule_is_emitted_with_its_target_and_classes(language):
    table = orders()
    learned = commands.learn(table.assign(late=np.where(table.shipped > table.due, "yes", "no")), "late")
    text = learned.emit(language, "postgres" if "sql" in language else None)
    assert "shipped" in text
    if language in ("check-sql", "dbt", "check-constraint"):
        assert '"late" = CASE WHEN "due" < "shipped" THEN \'yes\' ELSE \'no\' END' in text


def test_a_dialect_is_for_sql():
    table = orders()
    learned = commands.learn(table.assign(late=table.total > 100), "late")
    with pytest.raises(ValueError, match="a dialect is for SQL, not for python"):
        learned.emit("python", "postgres")


def test_rows_without_a_target_are_skipped():
    table = orders()
    answer = pd.Series(np.where(table.total > 100, "yes", "no")).mask(pd.Series(np.arange(N) < 50), None)
    messages: list[str] = []
    learned = commands.learn(table.assign(answer=answer), "answer", on_message=messages.append)
    assert learned.rule == "yes if total > 100, else no"
    assert "skipping 50 rows with missing values" in messages
    assert learned.verified.rows == N - 50


def test_a_saved_rule_predicts_from_texts_dates_and_gaps(tmp_path):
    table = orders()
    late = (table.shipped > table.due) | (table.member == "gold")
    learned = commands.learn(table.assign(late=late), "late", restarts=8)
    to_saved(learned.estimator, "late", learned.program).save(tmp_path / "rule.json")
    fresh = orders()
    fresh.to_csv(tmp_path / "fresh.csv", index=False)
    (answers,) = list(commands.apply(tmp_path / "rule.json", tmp_path / "fresh.csv"))
    assert (answers["late"].to_numpy() == ((fresh.shipped > fresh.due) | (fresh.member == "gold")).to_numpy()).all()
    assert load_saved(tmp_path / "rule.json").program == learned.program


def test_a_rule_is_not_applied_to_columns_of_another_kind(tmp_path):
    table = orders()
    learned = commands.learn(table.assign(late=table.shipped > table.due), "late", restarts=8)
    to_saved(learned.estimator, "late", learned.program).save(tmp_path / "rule.json")
    (tmp_path / "fresh.csv").write_text("shipped,due\n3,4\n5,6\n")
    with pytest.raises(ValueError, match="'shipped' of .* is of kind number, but the rule needs timestamp"):
        list(commands.apply(tmp_path / "rule.json", tmp_path / "fresh.csv"))


def test_whole_groups_are_held_out():
    groups = RNG.integers(0, 40, N)
    columns = Columns(torch.from_numpy(RNG.integers(0, 100, (N, 2))), ["a", "b"], groups=groups)
    rows = LabelledRows(columns, (groups % 2).astype(np.int64), np.ones(N), 2)
    parts = split_rows(rows, np.random.default_rng(0))
    assert sorted(np.concatenate(parts)) == list(range(N))
    owners = [set(groups[part]) for part in parts]
    assert not owners[0] & owners[1]
    assert not (owners[0] | owners[1]) & owners[2]
    assert [0.65 < len(parts[0]) / N < 0.75, 0.1 < len(parts[1]) / N < 0.2, 0.1 < len(parts[2]) / N < 0.2] == [True] * 3


@pytest.mark.parametrize("kind", ["class", "number"])
def test_a_column_of_groups_is_not_learned_from(kind):
    table = pd.DataFrame(
        {"customer": RNG.integers(0, 30, N), "a": RNG.integers(0, 100, N), "b": RNG.integers(0, 100, N)}
    )
    answer = (table.a > table.b).astype(int) if kind == "class" else table[["a", "b"]].max(axis=1)
    learned = commands.learn(table.assign(answer=answer), "answer", group="customer")
    assert learned.rule == ("1 if a > b, else 0" if kind == "class" else "max(a, b)")
    assert "customer" not in learned.x.columns
    with pytest.raises(ValueError, match="column 'one' has 1 group: at least 3 are needed"):
        commands.learn(table.assign(answer=answer, one=1), "answer", group="one")


def test_features_are_numbers_without_gaps_and_stand_for_conditions():
    table = orders()
    kinds = prepare(read(table.assign(answer=table.total > 100)), "answer").kinds
    features = features_of(table, kinds, table.total > 100)
    x = features.encode(table)
    assert {dtype.kind for dtype in x.dtypes} <= {"i", "f"}
    assert not x.isna().any().any()
    for name, condition in features.conditions.items():
        assert set(x[name]) <= {0, 1}
        assert (evaluate_cells(condition, table, N) == (x[name] == 1)).all()
    assert features.unit == 86_400_000_000
    assert str(Meaning(features.derived).of(Program.parse("shipped > due + 3").expression)) == "shipped > due + 3 days"


def test_a_missing_cell_is_on_the_side_that_the_rows_show():
    x = [1, 5, None, 9]
    truth = np.array([False, False, True, True])
    start = Program.parse("x > 5").expression

    def wrong(expression):
        return int((evaluate_cells(expression, {"x": x}, 4) != truth).sum())

    assert str(with_gaps(start, frozenset({"x"}), wrong)) == "x is missing or x > 5"
    truth[2] = False
    assert str(with_gaps(start, frozenset({"x"}), wrong)) == "x > 5"


def test_equal_rows_count_as_often_as_they_occur_where_few_different_rows_are_possible():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"member": rng.choice(["gold", "silver", "none"], 80), "express": rng.choice(["yes", "no"], 80)}
    )
    free = np.where((table.member == "gold") | (table.express == "yes"), "yes", "no")
    learned = commands.learn(table.assign(free=free), "free", restarts=2)
    assert learned.rule == "yes if express == 'yes' or member == 'gold', else no", learned.summary()


def test_copies_of_rows_are_no_evidence_where_many_different_rows_are_possible():
    rng = np.random.default_rng(0)
    few = pd.DataFrame(rng.normal(size=(6, 8)).round(6), columns=list("abcdefgh")).assign(y=list("ppqpqq"))
    learned = commands.learn(pd.concat([few] * 40, ignore_index=True), "y", restarts=2)
    assert learned.program is None
    assert "(6 distinct rows, 3 of the rarest class)" in str(learned.estimator.evidence_.reason)


def test_dates_that_rows_leave_open_are_round():
    offset = RNG.integers(3, 200, N) * RNG.choice([-1, 1], N)  # no row is within three days of it
    table = pd.DataFrame({"day": pd.Timestamp("2024-01-01") + pd.to_timedelta(offset, "D"), "n": RNG.integers(0, 9, N)})
    learned = commands.learn(table.assign(new=table.day >= pd.Timestamp("2024-01-01")), "new")
    assert learned.rule in ("True if day >= 2024-01-01, else False", "True if day > 2024-01-01, else False")


def test_of_many_texts_those_that_say_most_are_used():
    table = pd.DataFrame({f"t{at}": some([f"v{value}" for value in range(20)]) for at in range(15)})
    table["x"] = RNG.integers(0, 1000, N)
    answer = table.t7.isin(["v3", "v4", "v5", "v6"]) & (table.x > 300)
    messages: list[str] = []
    learned = commands.learn(table.assign(answer=answer), "answer", on_message=messages.append)
    assert learned.x.shape[1] <= 201
    assert any("texts and gaps, the 200 most associated with the target are used" in each for each in messages)
    assert learned.verified is not None, learned.summary()
    assert learned.verified.wrong == 0


@pytest.mark.outer
@pytest.mark.parametrize("seed", range(4))
def test_missing_dates_leave_no_phantom_conditions(seed):
    """What stands in the place of missing dates may be far apart: no part of a rule is about that."""
    rng = np.random.default_rng(seed)
    start = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, N), "D"))
    end = start + pd.to_timedelta(rng.integers(0, 40, N), "D")
    table = pd.DataFrame({"start": start.mask(rng.random(N) < 0.06), "end": end.mask(rng.random(N) < 0.06)})
    table["kind"] = rng.choice(["a", "b", "c"], N)
    late = (table.end > table.start + pd.Timedelta(days=14)) | (table.kind == "c")
    learned = commands.learn(table.assign(late=late), "late", restarts=8)
    assert learned.program is not None, learned.summary()
    durations = re.findall(r"start \+ (\d+) days", learned.rule)
    assert set(durations) <= {"14", "15"}, learned.rule
    for border, margin in learned.estimator.evidence_.margins.items():
        assert margin.below <= 40 * 86_400_000_000, border


@pytest.mark.outer
@pytest.mark.parametrize(
    "written",
    ["%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%d-%b-%Y", "%Y%m%d", "%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M:%S"],
)
def test_dates_are_read_as_people_write_them(tmp_path, written):
    table = orders()[["ordered", "shipped", "items"]]
    late = (table.shipped > table.ordered + pd.Timedelta(days=14)).map({True: "yes", False: "no"})
    text = table.assign(late=late)
    for name in ("ordered", "shipped"):
        text[name] = table[name].dt.strftime(written).fillna("")
    text.to_csv(tmp_path / "t.csv", index=False)
    made = read(tmp_path / "t.csv")
    assert made.columns["ordered"].kind in (Kind.DATE, Kind.TIMESTAMP)
    assert (made.sample["shipped"].reset_index(drop=True) == table.shipped).sum() == table.shipped.notna().sum()
    learned = commands.learn(tmp_path / "t.csv", "late", restarts=8)
    assert learned.rule in (
        "yes if shipped >= ordered + 15 days, else no",
        "yes if shipped > ordered + 14 days, else no",
    )


def test_days_and_months_that_cannot_be_distinguished_stay_texts(tmp_path):
    (tmp_path / "t.csv").write_text("d,y\n" + "03/04/2024,0\n05/06/2024,1\n" * 20)
    assert read(tmp_path / "t.csv").columns["d"].kind == Kind.TEXT


def test_a_check_of_numbers_allows_for_the_rounding_of_floats():
    table = orders()[["member", "total", "items"]].assign(total=lambda t: t.total.round(0).astype(int))
    table["price"] = np.where(table.member == "gold", 0.9 * table.total * table["items"], table.total * table["items"])
    learned = commands.learn(table, "price")
    assert learned.program is not None, learned.summary()
    database = sqlite3.connect(":memory:")
    table.to_sql("the table", database, index=False)
    assert database.execute(learned.emit("check-sql", "sqlite")).fetchall() == []
    database.execute('UPDATE "the table" SET price = price + 0.01 WHERE rowid = 7')
    assert len(database.execute(learned.emit("check-sql", "sqlite")).fetchall()) == 1
    database.close()


@pytest.mark.parametrize("language", ["check-sql", "dbt"])
@pytest.mark.parametrize("unit", [1, 100])
def test_a_check_of_cents_holds_in_a_table_of_floats_and_one_of_integers_is_exact(tmp_path, language, unit):
    gross, tax, dues = RNG.integers(300_000, 600_000, N), RNG.integers(1_000, 200_000, N), RNG.integers(100, 9_000, N)
    cents = {"gross": gross, "tax": tax, "dues": dues, "net": gross - tax - dues}
    pd.DataFrame({name: each / unit if unit > 1 else each for name, each in cents.items()}).to_csv(
        tmp_path / "pay.csv", index=False
    )
    learned = commands.learn(tmp_path / "pay.csv", "net")
    assert str(learned.program) == "gross - dues - tax"
    to_saved(learned.estimator, "net", learned.program, steps=learned.steps).save(tmp_path / "rule.json")
    saved = commands.emit(tmp_path / "rule.json", language, table="pay").text
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE pay AS FROM read_csv('{tmp_path / 'pay.csv'}')")
        for written in (learned.emit(language), saved):
            assert ("1e-14" in written) == (unit == 100)
            query = written.replace("{{ ref('pay') }}", "pay")
            assert database.execute(query).fetchall() == []
            database.execute(f"UPDATE pay SET net = net + 1.0 / {unit} WHERE rowid = 7")
            assert len(database.execute(query).fetchall()) == 1
            database.execute(f"UPDATE pay SET net = {cents['net'][7]} / {unit} WHERE rowid = 7")


def test_a_date_is_no_target():
    with pytest.raises(ValueError, match="the target 'due' holds dates or times: a rule gives classes or numbers"):
        commands.learn(orders(), "due")


def test_the_texts_that_are_left_are_named():
    table = pd.DataFrame({"size": some(["small", "medium", "large", "xl"]), "n": RNG.integers(0, 99, N)})
    answer = table["size"].eq("small").map({True: "a", False: "b"})
    learned = commands.learn(table.assign(answer=answer), "answer")
    assert "not in" not in learned.rule
    assert learned.verified.wrong == 0


SYMPTOMS = ("fever", "cough", "rash", "pain", "chill")


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("at least 2 of (chill == 'y', cough == 'y', fever == 'y', pain == 'y', rash == 'y')", lambda x: x.sum(1) >= 2),
        ("exactly 2 of (chill == 'y', cough == 'y', fever == 'y', pain == 'y', rash == 'y')", lambda x: x.sum(1) == 2),
        ("rash == 'y' or cough == 'y' and fever == 'y'", lambda x: (x[:, 0] & x[:, 1] | x[:, 2]) == 1),
    ],
)
def test_columns_of_yes_and_no_alone(rule, holds, seed):
    """Of 600 rows only 32 are different: they are no copies."""
    x = np.random.default_rng(seed).integers(0, 2, (600, 5))
    table = pd.DataFrame(np.where(x == 1, "y", "n"), columns=SYMPTOMS)
    learned = commands.learn(table.assign(ill=np.where(holds(x), "yes", "no")), "ill")
    assert learned.rule == f"yes if {rule}, else no"


@pytest.mark.parametrize("as_file", [True, False])
def test_texts_that_are_taken_for_missing_cells_are_reported(tmp_path, as_file):
    """NA may be North America."""
    regions = {"US": "NA", "CA": "NA", "DE": "EU", "FR": "EU", "JP": "AS"}
    country = np.random.default_rng(0).choice(list(regions), 400)
    table = pd.DataFrame({"country": country, "region": [regions[each] for each in country]})
    path = tmp_path / "orders.csv"
    table.to_csv(path, index=False)
    messages: list[str] = []
    learned = commands.learn(path if as_file else table, "region", on_message=messages.append)
    count = (table.region == "NA").sum()
    assert learned.dropped == count
    assert f"column 'region': {count} cells such as 'NA' are taken for missing" in messages


def test_empty_cells_are_no_surprise(tmp_path):
    path = tmp_path / "orders.csv"
    path.write_text("country,paid\n" + "DE,yes\n,no\nFR,no\n" * 40)
    messages: list[str] = []
    commands.learn(path, "paid", on_message=messages.append)
    assert not any("taken for missing" in message for message in messages)


@pytest.mark.outer
@pytest.mark.parametrize("seed", [1, 3, 4])
def test_a_weighted_sum_of_two_scores(seed):
    rng = np.random.default_rng(seed)
    rows = 800 if seed == 1 else 1_400
    exam, project = rng.integers(0, 101, rows), rng.integers(0, 101, rows)
    table = pd.DataFrame({"exam": exam, "project": project, "passed": 3 * exam + 2 * project >= 250})
    assert commands.learn(table, "passed").rule == "True if 3*exam + 2*project >= 250, else False"


@pytest.mark.parametrize("where_missing", ["late", "default"])
def test_what_is_printed_is_right_at_missing_cells_too(tmp_path, where_missing):
    rng = np.random.default_rng(2)
    due = rng.integers(0, 300, 700)
    paid = (due + rng.integers(-30, 100, 700)).astype(float)
    paid[rng.random(700) < 0.2] = np.nan
    known = np.select([paid > due + 45, paid <= due + 10], ["default", "ontime"], "late")
    table = pd.DataFrame({"paid": paid, "due": due, "status": np.where(np.isnan(paid), where_missing, known)})
    learned = commands.learn(table, "status")
    texts = {"late": "(ontime if due >= paid - 10, else late) if paid is missing or due >= paid - 45, else default"}
    texts["default"] = "default if due < paid - 45 or paid is missing, else ontime if due >= paid - 10, else late"
    assert learned.rule == texts[where_missing]
    counts = table["status"].value_counts()
    first = dict(learned.branches())
    assert first["otherwise"] == counts["default" if where_missing == "late" else "late"]
    assert sum(first.values()) == len(table)


def test_durations_of_comparisons_that_vote_are_round():
    rng = np.random.default_rng(6)
    opened = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400_000, 800), unit="min")
    minutes = rng.gamma(2, 24 * 60, 800).astype(int)
    priority = rng.choice(["P1", "P2", "P3"], 800)
    late = (priority == "P1") & (minutes > 24 * 60) | (minutes > 72 * 60)
    table = pd.DataFrame({"opened": opened, "resolved": opened + pd.to_timedelta(minutes, unit="min")})
    learned = commands.learn(table.assign(priority=priority, status=np.where(late, "breach", "kept")), "status")
    assert "1 day" in learned.rule
    assert "3 days" in learned.rule
    assert "seconds" not in learned.rule


def test_a_column_of_integers_is_not_compared_with_the_fraction_of_another():
    rng = np.random.default_rng(7)
    n = 900
    table = pd.DataFrame({name: rng.poisson(4, n) for name in ("tenure", "trainings", "visits")})
    table["review"] = rng.uniform(1, 5, n).round(1)
    holds = (
        (table["tenure"] >= 4).astype(int)
        + (table["trainings"] >= 5)
        + (table["visits"] >= 4)
        + (table["review"] >= 3.5)
    )
    learned = commands.learn(table.assign(promoted=np.where(holds >= 3, "yes", "no")), "promoted")
    assert all(
        float(each).is_integer() for each in re.findall(r"(?:tenure|trainings|visits) [<>]=? ([\d.]+)", learned.rule)
    )
    assert "review >= 3.5" in learned.rule
