"""A saved rule keeps how the dates of its columns are written: ``nsr apply`` and emitted code read them so."""

import io
import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest

from nsr.cli import main
from nsr.errors import InputError
from nsr.learn import commands
from nsr.learn.saved import SavedRule, load_saved, to_saved
from nsr.learn.tables.forms import DATE_FORMS, strptime_format
from nsr.program import Kind, Program

KINDS = {"due": Kind.DATE, "arrived": Kind.DATE}
LATE = Program.parse("arrived >= due + 8 days", None, KINDS)
DAY_FIRST = dict.fromkeys(KINDS, "day/month/year")


def parcels(rows: int, last_day: int, form: str = "%d/%m/%Y", seed: int = 0) -> pd.DataFrame:
    """Random dates of 2024 whose days are at most ``last_day``, as texts, and whether the parcel is late."""
    rng = np.random.default_rng(seed)
    due, arrived = (
        pd.to_datetime({"year": 2024, "month": rng.integers(5, 8, rows), "day": rng.integers(1, last_day + 1, rows)})
        for _ in range(2)
    )
    late = np.where(arrived >= due + pd.Timedelta(days=8), "yes", "no")
    return pd.DataFrame({"due": due.dt.strftime(form), "arrived": arrived.dt.strftime(form), "late": late})


def saved(folder, dates, program=LATE):
    path = folder / "rule.json"
    SavedRule("late", ("no", "yes"), program, dates).save(path)
    return path


def function_of(source: str):
    namespace: dict = {}
    exec(compile(source, "emitted", "exec"), namespace)
    return namespace["rule"]


def answers(function, table: pd.DataFrame) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.where(function(table), "yes", "no").tolist()


def as_csv(table: pd.DataFrame) -> pd.DataFrame:
    """The table as someone has it who loads its CSV without further options."""
    return pd.read_csv(io.StringIO(table.to_csv(index=False)))


@cache
def learned():
    return commands.learn(parcels(400, 30), "late", restarts=2)


def test_a_rule_is_applied_to_dates_whose_order_only_its_table_showed(tmp_path):
    to_saved(learned().estimator, "late", learned().program, learned().dates).save(tmp_path / "rule.json")
    assert load_saved(tmp_path / "rule.json").dates == DAY_FIRST
    new = parcels(300, 12, seed=1)
    new.to_csv(tmp_path / "new.csv", index=False)
    (found,) = commands.apply(tmp_path / "rule.json", tmp_path / "new.csv")
    assert found["late"].tolist() == new["late"].tolist()


def test_nsr_learn_saves_the_order(tmp_path, monkeypatch, capsys):
    result = learned()
    monkeypatch.setattr(commands, "learn", lambda *_, **__: result)
    parcels(400, 30).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(SystemExit) as stop:
        main(["learn", str(tmp_path / "t.csv"), "--target", "late", "--save", str(tmp_path / "rule.json"), "--quiet"])
    assert not stop.value.code, capsys.readouterr().err
    assert load_saved(tmp_path / "rule.json").dates == DAY_FIRST


def test_an_older_rule_says_what_would_be_right(tmp_path):
    parcels(300, 12).to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(InputError) as caught:
        list(commands.apply(saved(tmp_path, {}), tmp_path / "new.csv"))
    message = str(caught.value)
    assert "is of kind text, but the rule needs date: " in message
    assert " (day/month) or " in message
    assert message.endswith(
        "write dates as 2024-12-31, or add to the file of the rule how they are written, as in "
        '"dates": {"arrived": "day/month/year"}'
    )


@pytest.mark.parametrize("language", ["pandas", "pandera"])
def test_learned_code_reads_the_dates_of_its_table(language):
    source = learned().emit(language).replace("import pandera.pandas as pa\n", "").partition("\n\nschema")[0]
    new = parcels(300, 12, seed=1)
    assert answers(function_of(source), as_csv(new)) == new["late"].tolist()


@pytest.mark.parametrize("written", list(DATE_FORMS))
def test_pandas_reads_a_csv_as_nsr_does(tmp_path, written):
    form = strptime_format(written)
    new = parcels(300, 12, form, seed=2)
    if "time" in written:
        new.loc[::2, "due"] = new.loc[::2, "due"].str.removesuffix(":00")
    path = saved(tmp_path, dict.fromkeys(KINDS, written))
    function = function_of(commands.emit(path, "pandas").text)
    assert answers(function, as_csv(new)) == new["late"].tolist()
    new.to_csv(tmp_path / "new.csv", index=False)
    (found,) = commands.apply(path, tmp_path / "new.csv")
    assert found["late"].tolist() == new["late"].tolist()
    gap = as_csv(new)  # integers become floats
    gap.loc[0, "due"] = None
    assert answers(function, gap)[1:] == new["late"].tolist()[1:]
    parsed = parcels(300, 12, "%Y-%m-%d", seed=2).astype({"due": "datetime64[us]", "arrived": "datetime64[us]"})
    assert answers(function, parsed) == new["late"].tolist()


@pytest.mark.parametrize(("dates", "form"), [(DAY_FIRST, "%Y-%m-%d"), (DAY_FIRST, "%m/%d/%Y"), ({}, "%d/%m/%Y")])
def test_pandas_does_not_guess(tmp_path, dates, form):
    function = function_of(commands.emit(saved(tmp_path, dates), "pandas").text)
    with pytest.raises(ValueError, match=r"doesn't match format|is not ISO8601 format"):
        function(as_csv(parcels(300, 30, form)))


def test_pandas_reads_iso_dates_without_a_format(tmp_path):
    new = parcels(300, 30, "%Y-%m-%d")
    assert answers(function_of(commands.emit(saved(tmp_path, {}), "pandas").text), as_csv(new)) == new["late"].tolist()


@pytest.mark.parametrize("formula", ["arrived >= due + 8 days", "arrived >= due", "arrived = due", "due >= 2024-06-01"])
def test_polars_needs_dates_and_refuses_texts(tmp_path, formula):
    program = Program.parse(formula, None, {name: KINDS[name] for name in KINDS if name in formula})
    expression = eval(commands.emit(saved(tmp_path, {}, program), "polars").text, {"pl": pl})
    texts = pl.from_pandas(parcels(300, 30))
    with pytest.raises(pl.exceptions.InvalidOperationError):
        texts.select(expression)
    parsed = texts.with_columns(pl.col(*KINDS).str.to_date("%d/%m/%Y"))
    assert parsed.select(expression).to_series().to_list() == list(program(parsed.select(*program.inputs).to_dict()))


@pytest.mark.parametrize(
    ("language", "reported"), [("polars", True), ("python", True), ("sql", True), ("pandas", False)]
)
def test_nsr_emit_says_which_columns_must_be_dates(tmp_path, capsys, language, reported):
    with pytest.raises(SystemExit):
        main(["emit", str(saved(tmp_path, DAY_FIRST)), "--to", language])
    err = capsys.readouterr().err
    assert ("the code needs dates in column 'due', not texts as in the table (day/month/year)" in err) is reported
