"""``nsr learn`` and ``nsr apply``, as a person calls them."""

import json
import os
import sqlite3
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nsr.cli import main
from nsr.errors import InputError
from nsr.learn import NSRRegressor, commands
from nsr.learn.saved import SavedModel, load_saved, saved

EXAMPLES = Path(__file__).parents[2] / "examples"
FEW = ["--restarts", "2"]


def run(*tokens: object) -> int:
    with pytest.raises(SystemExit) as exit_:
        main([str(token) for token in tokens])
    return int(exit_.value.code or 0)


@pytest.fixture(scope="module")
def rule(tmp_path_factory) -> Path:
    """The rule of the example table, saved by the command."""
    path = tmp_path_factory.mktemp("rule") / "rule.json"
    assert run("learn", EXAMPLES / "orders.csv", "--target", "shipped", "--save", path, "--quiet", *FEW) == 0
    return path


def test_the_example_is_learned_applied_and_run_in_sqlite(rule, capsys):
    capsys.readouterr()
    assert run("apply", rule, EXAMPLES / "new_orders.csv") == 0
    said = capsys.readouterr().out.split()
    new = pd.read_csv(EXAMPLES / "new_orders.csv")
    truth = np.where((new["stock"] >= new["ordered"]) & (new["price"] <= new["limit"]), "yes", "no").tolist()
    assert said == ["shipped", *truth]
    database = sqlite3.connect(":memory:")
    new.to_sql("new_orders", database)
    sql = load_saved(rule).program.emit("sql")
    found = database.execute(f"SELECT {sql} FROM new_orders").fetchall()
    assert [("no", "yes")[int(value)] for (value,) in found] == truth
    database.close()


def test_what_was_seen_and_found_is_told(capsys):
    assert run("learn", EXAMPLES / "orders.csv", "--target", "shipped", "--emit", "python", *FEW) == 0
    told = capsys.readouterr()
    assert told.out.startswith("def rule(")
    assert told.out.endswith("\n")
    assert not told.out.endswith("\n\n")
    assert told.err.endswith("nsr: in the code, true stands for yes and false for no\n")
    assert "orders.csv: 280 rows, 6 columns to learn 'shipped' from" in told.err
    assert "column 'country' is left out: text or dates, such as 'DE' in row 2" in told.err
    assert "column 'vat_rate' is left out: constant" in told.err
    assert "yes if limit >= price and ordered <= stock, else no\n\nverified on all 280 rows\n" in told.err


def table(path: Path, rows: int = 120, **columns) -> Path:
    rng = np.random.default_rng(0)
    own = {"a": rng.integers(-50, 50, rows), "b": rng.integers(-50, 50, rows), "c": rng.normal(size=rows)}
    pd.DataFrame(own | {name: make(own, rng) for name, make in columns.items()}).to_csv(path, index=False)
    return path


def test_what_positions_stand_for_is_told_and_columns_are_named_in_both_ways(tmp_path, capsys):
    def three(own, _):
        return np.where(own["a"] > 20, "high", np.where(own["a"] > -10, "middle", "low"))

    path = table(tmp_path / "t.csv", y=three, n=lambda own, _: np.maximum(own["a"], own["b"]))
    words = ["learn", path, "--target", "y", "--emit", "c", "--quiet", *FEW]
    assert run(*words, "--columns", "a", "b") == 0
    told = capsys.readouterr()
    assert told.err.endswith("nsr: in the code, 0 stands for high, 1 for low, 2 for middle\n")
    assert not told.out.endswith("\n\n")
    assert run(*words, "--columns", "a", "--columns", "b") == 0
    assert capsys.readouterr() == told
    assert run("learn", path, "--target", "n", "--columns", "a", "b", "--emit", "sql", "--quiet", *FEW) == 0
    assert "in the code" not in capsys.readouterr().err


def test_labels_that_follow_no_rule_end_with_3_and_a_model(tmp_path, capsys):
    path = table(tmp_path / "t.csv", y=lambda own, rng: rng.integers(0, 2, len(own["a"])))
    assert run("learn", path, "--target", "y", "--save", tmp_path / "m.json", *FEW) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "no comparison of the columns tells the classes apart better than chance" in told.err
    assert "the trained model is right on " in told.err
    assert run("apply", tmp_path / "m.json", path) == 0
    said = capsys.readouterr().out.split()
    assert said[0] == "y"
    assert set(said[1:]) <= {"0", "1"}
    assert len(said) == 121
    assert run("learn", path, "--target", "y", "--quiet", *FEW) == 3
    assert "; --save FILE keeps it" in capsys.readouterr().err


def test_a_saved_model_says_what_it_said(tmp_path):
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c d"])
    model = NSRRegressor(restarts=2, epochs=20, random_state=0).fit(x, np.sin(x["a"]))
    saved(model, "y").save(tmp_path / "m.json")
    again = load_saved(tmp_path / "m.json")
    assert isinstance(again, SavedModel)
    assert again(x) == pytest.approx(model.predict(x), abs=1e-12)


def test_a_file_that_names_too_few_classes_is_said_to(rule, tmp_path):
    whole = json.loads(rule.read_text()) | {"classes": ["no"]}
    path = tmp_path / "r.json"
    path.write_text(json.dumps(whole))
    with pytest.raises(InputError, match="the rule says class 1, counted from 0, and its file names 1"):
        list(commands.apply(path, EXAMPLES / "new_orders.csv"))


def test_columns_that_are_rounded_are_told_of(tmp_path, capsys):
    path = table(tmp_path / "t.csv", id=lambda own, _: np.arange(120) + 2**60, y=lambda own, _: own["a"] > own["b"])
    assert run("learn", path, "--target", "y", *FEW) == 0
    assert "column 'id' has whole numbers beyond 2^53 and is rounded" in capsys.readouterr().err


def test_what_a_sample_does_not_show_is_learned_from_the_rows_that_contradict(tmp_path):
    rng = np.random.default_rng(0)
    own = pd.DataFrame(rng.integers(0, 10**6, (40_000, 2)), columns=["a", "b"])
    own.loc[[5, 700, 39_000], "b"] = own["a"]
    own.assign(y=own["a"] >= own["b"]).to_parquet(tmp_path / "t.parquet")
    told = []
    learned = commands.learn(tmp_path / "t.parquet", "y", restarts=2, seed=7, tell=told.append)
    assert "rows of the table contradict what the sample says: learning again with them" in told[-1]
    assert learned.estimator.rule_ == "True if a >= b, else False"
    assert (learned.verified.rows, learned.verified.wrong) == (40_000, 0)


def test_numbers_are_told_from_classes(tmp_path):
    path = table(tmp_path / "t.csv", larger=lambda own, _: np.maximum(own["a"], own["b"]))
    learned = commands.learn(path, "larger", restarts=2)
    assert not learned.is_class
    assert (learned.verified.rows, learned.verified.wrong) == (120, 0)
    assert learned.estimator.rule_ in ("where(a > b, a, b)", "where(a >= b, a, b)")
    with pytest.raises(InputError, match=r"^the target 'larger' has \d+ different values; classes are 20 at most$"):
        commands.learn(path, "larger", kind="class")
    few = table(tmp_path / "few.csv", few=lambda own, _: np.clip(own["a"], -1, 1))
    assert commands.learn(few, "few", restarts=2).estimator.program_ is not None
    text = table(tmp_path / "text.csv", y=lambda own, _: np.where(own["a"] > 0, "x", "y"))
    with pytest.raises(InputError, match=r"^the target 'y' holds \w+, not numbers: --kind class learns it$"):
        commands.learn(text, "y", kind="number")


def test_rows_that_contradict_are_named_and_all_rows_are_asked(tmp_path, monkeypatch):
    monkeypatch.setattr("nsr.learn.tables.table.SAMPLE", 200)
    path = table(tmp_path / "t.csv", rows=600, y=lambda own, _: (own["a"] > own["b"]).astype(int))
    whole = pd.read_csv(path)
    whole.loc[[100, 500], "y"] = 1 - whole.loc[[100, 500], "y"]
    whole.to_csv(path, index=False)
    learned = commands.learn(path, "y", restarts=2)
    assert str(learned.estimator.program_) == "a > b"
    assert (learned.verified.rows, learned.verified.wrong) == (600, 2)
    assert learned.verified.some.index.tolist() == [102, 502]
    assert "2 of 600 rows contradict it (row 102, 502)" in learned.words()


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["--target", "shiped"], "has no column 'shiped'; did you mean 'shipped'?"),
        (["--target", "shipped", "--kind", "klass"], "unknown kind 'klass': choose from auto, class, number"),
        (["--target", "shipped", "--emit", "pyton"], "unknown language 'pyton': choose from python, c,"),
        (["--target", "shipped", "--errors", "0.7"], "errors must be a share from 0 to below 0.5, got 0.7"),
        (["--target", "shipped", "--restarts", "0"], "restarts must be at least 1, got 0"),
    ],
)
def test_a_wrong_command_is_told_what_would_be_right(tokens, text, capsys):
    assert run("learn", EXAMPLES / "orders.csv", *tokens) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "there is no file"),
        ("{", "is not what nsr learn --save writes"),
        ("[]", "its format is neither nsr-rule/1 nor nsr-model/1"),
        ('{"format": "nsr-rule/1", "target": 3}', "its target or its classes are something else"),
        ('{"format": "nsr-model/1", "target": "y", "classes": null, "names": ["a"]}', "is not what nsr learn --save"),
    ],
)
def test_a_file_that_is_no_rule_is_refused(tmp_path, content, text, capsys):
    path = tmp_path / "rule.json"
    if content is not None:
        path.write_text(content)
    assert run("apply", path, EXAMPLES / "new_orders.csv") == 2
    assert text in capsys.readouterr().err


def test_a_tampered_model_is_refused(tmp_path):
    x = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0)[::-1] % 7})
    saved(NSRRegressor(restarts=1, epochs=2, random_state=0).fit(x, np.sin(x["a"])), "y").save(tmp_path / "m.json")
    whole = json.loads((tmp_path / "m.json").read_text())
    for change in (
        {"probes": whole["probes"][:3]},
        {"units": [0.0] * 8},
        {"probes": [[7, 0, "0"], *whole["probes"][1:]]},
        {"nets": [{}]},
        {"scaling": [[0.0], [1.0], [0.0, 1.0]]},
        {"nets": [whole["nets"][0] | {"arms.bias": [1e999, 0.0]}]},
    ):
        (tmp_path / "m.json").write_text(json.dumps(whole | change))
        with pytest.raises(InputError, match="is not what nsr learn --save writes"):
            load_saved(tmp_path / "m.json")


def test_columns_that_a_rule_needs_and_a_table_lacks(rule, tmp_path, capsys):
    pd.read_csv(EXAMPLES / "new_orders.csv").rename(columns={"stock": "stocks"}).to_csv(tmp_path / "t.csv", index=False)
    assert run("apply", rule, tmp_path / "t.csv") == 2
    assert "has no column 'stock'; did you mean 'stocks'?" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["rule", "model"])
def test_a_table_without_rows_has_no_answers_and_teaches_nothing(rule, tmp_path, capsys, suffix, kind):
    if kind == "model":
        x = pd.DataFrame({"stock": np.arange(40.0), "ordered": np.arange(40.0) % 7})
        rule = tmp_path / "m.json"
        saved(NSRRegressor(restarts=1, epochs=2, random_state=0).fit(x, np.sin(x["stock"])), "shipped").save(rule)
    path, empty = tmp_path / f"t.{suffix}", pd.read_csv(EXAMPLES / "orders.csv")[:0]
    write = partial(pd.DataFrame.to_csv, index=False) if suffix == "csv" else pd.DataFrame.to_parquet
    write(empty, path)
    assert run("apply", rule, path) == 0
    assert capsys.readouterr().out == "shipped\n"
    assert run("apply", rule, path, "--drop-missing") == 0
    assert capsys.readouterr().out == "row,shipped\n"
    assert run("learn", path, "--target", "shipped") == 2
    assert "names its columns and has no rows: add at least two rows of numbers" in capsys.readouterr().err
    write(empty.drop(columns="stock"), path)
    assert run("apply", rule, path) == 2
    assert "has no column 'stock'" in capsys.readouterr().err


def test_an_interrupted_search_says_so(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "learn", interrupted)
    assert run("learn", EXAMPLES / "orders.csv", "--target", "shipped") == 130
    assert capsys.readouterr().err == "nsr: interrupted; nothing was learned\n"
    monkeypatch.setattr(commands, "check_target", interrupted)  # in the first second
    assert run("learn", EXAMPLES / "orders.csv", "--target", "shipped", "--emit", "c") == 130
    assert capsys.readouterr().err == "nsr: interrupted; nothing was learned\n"
    monkeypatch.setattr(commands, "apply", interrupted)
    assert run("apply", "rule.json", EXAMPLES / "orders.csv") == 130
    assert capsys.readouterr().err == "nsr: interrupted\n"


def test_a_sum_of_few_values_is_a_sum_and_no_list_of_cases(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 4, (200, 2)), columns=["a", "b"])
    frame.assign(t=frame["a"] + frame["b"]).to_csv(tmp_path / "t.csv", index=False)
    learned = commands.learn(tmp_path / "t.csv", "t", restarts=2)
    assert learned.estimator.rule_ == "a + b"
    assert (learned.verified.rows, learned.verified.wrong) == (200, 0)


def test_a_folder_that_is_not_there_is_told_before_anything_is_learned(capsys):
    assert run("learn", EXAMPLES / "orders.csv", "--target", "shipped", "--save", "nowhere/rule.json") == 2
    assert capsys.readouterr().err == "nsr: there is no folder nowhere to write rule.json to\n"


@pytest.mark.parametrize("option", ["--save", "--html"])
def test_a_place_that_cannot_be_written_is_told_before_anything_is_learned(tmp_path, capsys, monkeypatch, option):
    words = ["learn", EXAMPLES / "orders.csv", "--target", "shipped", option]
    monkeypatch.setattr(commands, "learn", lambda *_, **__: pytest.fail("it was learned"))
    assert run(*words, tmp_path) == 2
    assert capsys.readouterr().err == f"nsr: {tmp_path} is a folder: name a file in it\n"
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert run(*words, tmp_path / "f") == 2
    assert capsys.readouterr().err.startswith(f"nsr: {tmp_path}/f cannot be written: nothing may be written to")
