"""``nsr learn`` and ``nsr apply``, as a person calls them."""

import json
import os
import re
import sqlite3
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from nsr.cli import main
from nsr.errors import InputError
from nsr.learn import NSRClassifier, NSRRegressor, commands
from nsr.learn.saved import SavedModel, SavedRule, load_saved, to_saved
from nsr.learn.verification import Verifier
from nsr.program import Program

EXAMPLES = Path(__file__).parents[2] / "examples"
SAVED = Path(__file__).parent / "saved_files"
"""Files of the formats nsr-rule/1, nsr-model/1, nsr-model/2 (classes-2, number-2) and nsr-model/3 (network)."""
FEW = ["--restarts", "2"]
NUMBERS = [0.6027556076311561, 0.10405600812449683, 0.08429758433974502, -0.1716224833635548, -0.4526273857684898]


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
    predicted = capsys.readouterr().out.split()
    new = pd.read_csv(EXAMPLES / "new_orders.csv")
    truth = np.where((new["stock"] >= new["ordered"]) & (new["price"] <= new["limit"]), "yes", "no").tolist()
    assert predicted == ["shipped", *truth]
    database = sqlite3.connect(":memory:")
    new.to_sql("new_orders", database)
    sql = load_saved(rule).program.emit("sql")
    found = database.execute(f"SELECT {sql} FROM new_orders").fetchall()
    assert [("no", "yes")[int(value)] for (value,) in found] == truth
    database.close()


def test_input_and_result_are_printed(capsys):
    assert run("learn", EXAMPLES / "orders.csv", "--target", "shipped", "--emit", "python", *FEW) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("def rule(")
    assert printed.out.endswith("\n")
    assert not printed.out.endswith("\n\n")
    assert printed.err.endswith("nsr: in the code, true means yes, false means no\n")
    assert "orders.csv: 280 rows; learning 'shipped' from 7 columns\n" in printed.err
    assert "not using column 'vat_rate': constant" in printed.err
    assert "yes if limit >= price and ordered <= stock, else no\n\nverified on all 280 rows\n" in printed.err


def table(path: Path, rows: int = 120, **columns) -> Path:
    rng = np.random.default_rng(0)
    base = {"a": rng.integers(-50, 50, rows), "b": rng.integers(-50, 50, rows), "c": rng.normal(size=rows)}
    pd.DataFrame(base | {name: make(base, rng) for name, make in columns.items()}).to_csv(path, index=False)
    return path


@pytest.mark.outer
def test_the_meaning_of_codes_is_printed_and_columns_can_be_given_in_both_ways(tmp_path, capsys):
    def three(x, _):
        return np.where(x["a"] > 20, "high", np.where(x["a"] > -10, "middle", "low"))

    path = table(tmp_path / "t.csv", y=three, n=lambda x, _: np.maximum(x["a"], x["b"]))
    words = ["learn", path, "--target", "y", "--emit", "c", "--quiet", *FEW]
    assert run(*words, "--columns", "a", "b") == 0
    printed = capsys.readouterr()
    assert printed.err.endswith("nsr: in the code, 0 means high, 1 means low, 2 means middle\n")
    assert not printed.out.endswith("\n\n")
    assert run(*words, "--columns", "a", "--columns", "b") == 0
    assert capsys.readouterr() == printed
    assert run("learn", path, "--target", "n", "--columns", "a", "b", "--emit", "sql", "--quiet", *FEW) == 0
    assert "in the code" not in capsys.readouterr().err


def test_what_a_database_makes_of_nan_is_printed_for_columns_of_floats(tmp_path, capsys):
    path = tmp_path / "t.csv"
    rows = [(n * 7 % 23, n * 5 % 19) for n in range(60)]
    path.write_text("x,z,y\n" + "".join(f"{x}e0,{z}e0,{int(x > z)}\n" for x, z in rows))
    words = ["learn", path, "--target", "y", "--quiet", *FEW]
    note = "NaN is larger than every number, so that a > b holds for it: store missing numbers as NULL"
    for more, expected in (
        (["--emit", "sql"], [f"nsr: in DuckDB, {note}"]),
        (["--emit", "check-sql", "--dialect", "spark"], [f"nsr: in Spark, {note}"]),
        (["--emit", "sql", "--dialect", "sqlite"], []),
        (["--emit", "python"], []),
    ):
        assert run(*words, *more) == 0
        assert [line for line in capsys.readouterr().err.splitlines() if "NaN" in line] == expected


def test_labels_that_follow_no_rule_end_with_3_and_a_model(tmp_path, capsys):
    path = table(tmp_path / "t.csv", y=lambda x, rng: rng.integers(0, 2, len(x["a"])))
    assert run("learn", path, "--target", "y", "--save", tmp_path / "m.json", *FEW) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "no comparison of the columns separates the classes better than chance" in printed.err
    accuracy = re.search(r"^trained model: held-out accuracy ([0-9.]+) % \([0-9]+ rows\)$", printed.err, re.MULTILINE)
    assert accuracy is not None
    assert 20 < float(accuracy[1]) < 80  # labels at random: on the rows learned from, networks do better
    assert run("apply", tmp_path / "m.json", path) == 0
    predicted = capsys.readouterr().out.split()
    assert predicted[0] == "y"
    assert set(predicted[1:]) <= {"0", "1"}
    assert len(predicted) == 121
    assert run("learn", path, "--target", "y", "--quiet", *FEW) == 3
    assert "\n--save FILE keeps the trained model, no rule\n" in capsys.readouterr().err


@pytest.mark.parametrize("proposals", [("screen",), ("products",)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_saved_network_predicts_the_same(tmp_path, proposals, n_classes):
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.integers(0, 50, (150, 3)), columns=["a", "b", "c d"])
    x["negative"] = -rng.integers(1, 50, 150)  # has no logarithm
    model = NSRClassifier(restarts=2, random_state=0, proposals=proposals).fit(x, rng.integers(0, n_classes, 150))
    assert model.best_.inputs.logarithms == (proposals == ("products",))
    to_saved(model, "y").save(tmp_path / "m.json")
    assert json.loads((tmp_path / "m.json").read_text())["format"] == "nsr-model/3"
    again = load_saved(tmp_path / "m.json")
    assert isinstance(again, SavedModel)
    assert again.predict(x).tolist() == model.predict(x).tolist()
    logits = (each.logits(torch.from_numpy(x.to_numpy())) for each in (again.model, model.best_))
    assert next(logits) == pytest.approx(next(logits), abs=1e-12)
    to_saved(NSRClassifier(restarts=2, random_state=0).fit(x, x["a"] > x["b"]), "y").save(tmp_path / "r.json")
    assert isinstance(load_saved(tmp_path / "r.json"), SavedRule)


def test_a_tampered_network_is_an_error(tmp_path):
    content = json.loads((SAVED / "network.json").read_text())
    first = content["inputs"][0]
    for change in (
        {"inputs": content["inputs"][:1]},
        {"inputs": [first | {"name": "z"}, content["inputs"][1]]},
        {"inputs": [first | {"spread": 0.0}, content["inputs"][1]]},
        {"inputs": [first | {"middle": None}, content["inputs"][1]]},
        {"inputs": [first | {"floor": -1.0}, content["inputs"][1]]},
        {"sizes": [8, 8]},
        {"sizes": [8, -8, 3]},
        {"net": {}},
        {"net": content["net"] | {"logic.output_bias": [1e999, 0.0, 0.0]}},
    ):
        (tmp_path / "m.json").write_text(json.dumps(content | change))
        with pytest.raises(InputError, match="was not written by nsr learn --save"):
            load_saved(tmp_path / "m.json")


def test_large_integers_beside_fractions_are_not_rounded(tmp_path, capsys):
    large = 2**60
    pd.DataFrame({"id": [large + 1, large, large - 1], "z": [0.5, 1.5, 2.5]}).to_csv(tmp_path / "t.csv", index=False)
    for text, predicted in {
        f"id > {large} and z < 1": ["True", "False", "False"],
        f"not (id < {large} or z > 2)": ["True", "True", "False"],
        "where(z > 1, id, z)": ["0.5", str(large), str(large - 1)],
        f"where(id >= {large}, 1, 0)": ["1", "1", "0"],
        "where(z > 2, 4, 3)": ["3", "3", "4"],
    }.items():
        SavedRule("y", None, Program.parse(text, ["id", "z"])).save(tmp_path / "r.json")
        assert run("apply", tmp_path / "r.json", tmp_path / "t.csv") == 0
        assert capsys.readouterr().out.split() == ["y", *predicted]


def test_a_saved_model_predicts_the_same(tmp_path):
    rng = np.random.default_rng(0)
    x = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c d"])
    model = NSRRegressor(restarts=2, random_state=0).fit(x, np.sin(x["a"]))
    to_saved(model, "y").save(tmp_path / "m.json")
    again = load_saved(tmp_path / "m.json")
    assert isinstance(again, SavedModel)
    assert again.predict(x) == pytest.approx(model.predict(x), abs=1e-12)


@pytest.mark.parametrize(
    ("name", "predictions"),
    {
        "rule": ["middle", "low", "middle", "high", "high"],
        "classes": [1, 0, 0, 0, 1],
        "classes-2": [1, 0, 0, 0, 1],
        "number": pytest.approx(NUMBERS, rel=1e-9),
        "number-2": pytest.approx(NUMBERS, rel=1e-9),
        "network": ["high", "middle", "middle", "middle", "low"],
    }.items(),
)
def test_files_of_earlier_versions_predict_the_same(name, predictions):
    rows = pd.DataFrame({"a": [-40, -3, 0, 21, 45], "b": [7, -3, 1, -20, 44]})
    assert load_saved(SAVED / f"{name}.json").predict(rows).tolist() == predictions


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("where(a > b, 1, 10**400)", r"class number above 2\*\*63 \(counting from 0\)"),
        ("where(a > b, 1, -1)", r"class number 1 \(counting from 0\)"),
        ("where(a > b, 1, 1/2)", "a fraction as the number of a class"),
    ],
)
def test_a_file_whose_classes_do_not_exist_is_an_error(formula, text):
    saved = SavedRule("y", ("no", "yes"), Program.parse(formula))
    with pytest.raises(InputError, match=f"^the rule predicts {text}"):
        saved.predict(pd.DataFrame({"a": [1.0, 2.0], "b": [2.0, 1.0]}))


def test_a_file_with_too_few_classes_is_an_error(rule, tmp_path):
    content = json.loads(rule.read_text()) | {"classes": ["no"]}
    path = tmp_path / "r.json"
    path.write_text(json.dumps(content))
    with pytest.raises(
        InputError,
        match=r"the rule predicts class number 1 \(counting from 0\), but the number of classes in its file is 1",
    ):
        list(commands.apply(path, EXAMPLES / "new_orders.csv"))


def test_rounded_columns_are_reported(tmp_path, capsys):
    path = table(tmp_path / "t.csv", id=lambda x, _: np.arange(120) + 2**60, y=lambda x, _: x["a"] > x["b"])
    assert run("learn", path, "--target", "y", *FEW) == 0
    assert "column 'id' holds integers beyond 2^53, which are rounded" in capsys.readouterr().err


def test_the_evidence_comes_from_integers_that_are_not_rounded():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({name: 2**53 + rng.integers(0, 120, 400) for name in "ij"}).assign(f=rng.random(400).round(2))
    learned = commands.learn(rows.assign(y=np.where(rows["i"] <= rows["j"], "yes", "no")), "y", restarts=2)
    evidence = learned.estimator.evidence_
    assert (learned.rule, learned.verified.wrong) == ("yes if i <= j, else no", 0)
    assert (evidence.agreement, evidence.held_out, evidence.rows) == (1, 1, 400)
    away = rows["i"] - rows["j"]
    (margin,) = evidence.margins.values()
    assert (margin.below, margin.at, margin.above) == (-away[away < 0].max(), (away == 0).any(), away[away > 0].min())
    assert learned.program.evidence == evidence


def test_what_a_sample_does_not_show_is_learned_from_the_contradicting_rows(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 10**6, (40_000, 2)), columns=["a", "b"])
    frame.loc[[5, 700, 39_000], "b"] = frame["a"]
    frame.assign(y=frame["a"] >= frame["b"]).to_parquet(tmp_path / "t.parquet")
    messages = []
    learned = commands.learn(tmp_path / "t.parquet", "y", restarts=2, seed=7, on_message=messages.append)
    assert "other rows contradict the rule found in the sample: learning again with them" in messages[-1]
    assert learned.estimator.rule_ == "True if a >= b, else False"
    assert (learned.verified.rows, learned.verified.wrong) == (40_000, 0)


@pytest.mark.outer
def test_numbers_are_distinguished_from_classes(tmp_path):
    path = table(tmp_path / "t.csv", larger=lambda x, _: np.maximum(x["a"], x["b"]))
    learned = commands.learn(path, "larger", restarts=2)
    assert not learned.is_classification
    assert (learned.verified.rows, learned.verified.wrong) == (120, 0)
    assert learned.estimator.rule_ == "max(a, b)"
    many = table(tmp_path / "many.csv", rows=400, id=lambda x, _: np.arange(400))
    with pytest.raises(InputError, match=r"^the target 'id' has 400 distinct values; at most 100 can be classes$"):
        commands.learn(many, "id", kind="class")
    few = table(tmp_path / "few.csv", few=lambda x, _: np.clip(x["a"], -1, 1))
    assert commands.learn(few, "few", restarts=2).estimator.program_ is not None
    text = table(tmp_path / "text.csv", y=lambda x, _: np.where(x["a"] > 0, "x", "y"))
    with pytest.raises(InputError, match=r"^the target 'y' is not numeric \(\w+\): use --kind class$"):
        commands.learn(text, "y", kind="number")


def test_few_decimals_are_classes_or_numbers(tmp_path):
    path = table(tmp_path / "t.csv", rows=400, fee=lambda x, _: np.where(x["a"] > 5, 4.99, 7.5))
    learned = commands.learn(path, "fee", restarts=2)
    assert learned.is_classification
    assert (learned.verified.rows, learned.verified.wrong) == (400, 0)
    three = table(
        tmp_path / "three.csv", rows=400, fee=lambda x, _: np.select([x["a"] > 5, x["b"] > 0], [4.99, 7.5], 9.25)
    )
    learned = commands.learn(three, "fee", restarts=2)
    assert (learned.verified.rows, learned.verified.wrong) == (400, 0)
    to_saved(learned.estimator, "fee").save(tmp_path / "r.json")
    (predicted,) = commands.apply(tmp_path / "r.json", three)
    assert predicted["fee"].tolist() == pd.read_csv(three)["fee"].tolist()


def test_a_number_without_a_rule_prints_the_nearest_one(tmp_path, capsys):
    path = table(tmp_path / "t.csv", y=lambda x, rng: 2 * x["a"] + rng.normal(size=len(x["a"])))
    assert run("learn", path, "--target", "y", "--quiet", *FEW) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    reason, nearest, kept = printed.err.splitlines()
    assert reason == "nsr: no exact rule: no sum of columns gives the target on more rows than chance would"
    assert re.match(r"nearest rule, right on [\d.]+ % of the rows: 2\*a", nearest)
    assert kept == "--save FILE keeps the trained model, no rule"


def test_the_time_limit_is_shared_by_all_searches(tmp_path, monkeypatch):
    limits = []

    def noted(estimator, *_, **__):
        limits.append(estimator.time_limit)
        estimator.program_ = None
        return estimator

    for make in (NSRClassifier, NSRRegressor):
        monkeypatch.setattr(make, "fit", noted)
    path = table(tmp_path / "t.csv", y=lambda x, _: np.clip(x["a"], -2, 2))
    commands.learn(path, "y", time_limit=8.0)
    assert limits == [pytest.approx(4, abs=0.5), pytest.approx(8, abs=0.5)]  # the first one took no time


def test_contradicting_rows_are_named_and_all_rows_are_verified(tmp_path, monkeypatch):
    monkeypatch.setattr("nsr.learn.tables.table.SAMPLE", 200)
    path = table(tmp_path / "t.csv", rows=600, y=lambda x, _: (x["a"] > x["b"]).astype(int))
    frame = pd.read_csv(path)
    frame.loc[[100, 500], "y"] = 1 - frame.loc[[100, 500], "y"]
    frame.to_csv(path, index=False)
    learned = commands.learn(path, "y", restarts=2)
    assert str(learned.estimator.program_) == "a > b"
    assert (learned.verified.rows, learned.verified.wrong) == (600, 2)
    assert learned.verified.examples.index.tolist() == [102, 502]
    assert "contradicted by 2 of 600 rows (rows 102, 502)" in learned.summary()


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["--target", "shiped"], "has no column 'shiped'; did you mean 'shipped'?"),
        (["--target", "shipped", "--kind", "klass"], "unknown kind 'klass': choose from auto, class, number"),
        (["--target", "shipped", "--emit", "pyton"], "unknown language 'pyton': choose from python, pandas, polars"),
        (["--target", "shipped", "--errors", "0.7"], "errors must be at least 0 and less than 0.5, got 0.7"),
        (["--target", "shipped", "--restarts", "0"], "restarts must be at least 1, got 0"),
        (["--target", "shipped", "--time-limit", "0"], "the time limit must be a positive number of seconds, got 0.0"),
        (["--target", "shipped", "--epochs", "9"], "Unknown option: --epochs"),
    ],
)
def test_the_error_of_a_wrong_command_suggests_what_is_right(tokens, text, capsys):
    assert run("learn", EXAMPLES / "orders.csv", *tokens) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "does not exist: nsr learn TABLE --target COLUMN --save"),
        ("{", "was not written by nsr learn --save"),
        ("[]", "its format is none of nsr-rule/1, nsr-model/1, nsr-model/2, nsr-model/3"),
        ('{"format": "nsr-rule/1", "target": 3, "program": {}}', "$.target: 3 is not of type 'string'"),
        (
            '{"format": "nsr-model/1", "target": "y", "classes": null, "names": ["a"]}',
            "was not written by nsr learn --save",
        ),
    ],
)
def test_a_file_that_is_not_a_rule_is_an_error(tmp_path, content, text, capsys):
    path = tmp_path / "rule.json"
    if content is not None:
        path.write_text(content)
    assert run("apply", path, EXAMPLES / "new_orders.csv") == 2
    assert text in capsys.readouterr().err


def test_a_tampered_model_is_an_error(tmp_path):
    x = pd.DataFrame({"a": np.arange(40.0), "b": np.arange(40.0)[::-1] % 7})
    to_saved(NSRRegressor(restarts=1, random_state=0).fit(x, np.sin(x["a"])), "y").save(tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    for change in (
        {"atoms": content["atoms"][:3]},
        {"units": [0.0] * 8},
        {"atoms": [[{"c": 1}, "0"], *content["atoms"][1:]]},
        {"atoms": [[7, 0, "0"], *content["atoms"][1:]]},
        {"atoms": [[["a", 1], "0"], *content["atoms"][1:]]},
        {"nets": [{}]},
        {"scaling": [[0.0], [1.0], [0.0, 1.0]]},
        {"nets": [content["nets"][0] | {"arms.bias": [1e999, 0.0]}]},
    ):
        (tmp_path / "m.json").write_text(json.dumps(content | change))
        with pytest.raises(InputError, match="was not written by nsr learn --save"):
            load_saved(tmp_path / "m.json")


def test_a_tampered_model_of_an_earlier_version_is_an_error(tmp_path):
    content = json.loads((SAVED / "number.json").read_text())
    for probes in (content["probes"][:3], [[7, 0, "0"], *content["probes"][1:]], [[0, "0"], *content["probes"][1:]]):
        (tmp_path / "m.json").write_text(json.dumps(content | {"probes": probes}))
        with pytest.raises(InputError, match="was not written by nsr learn --save"):
            load_saved(tmp_path / "m.json")


def test_a_table_without_a_column_that_the_rule_needs(rule, tmp_path, capsys):
    pd.read_csv(EXAMPLES / "new_orders.csv").rename(columns={"stock": "stocks"}).to_csv(tmp_path / "t.csv", index=False)
    assert run("apply", rule, tmp_path / "t.csv") == 2
    assert "has no column 'stock'; did you mean 'stocks'?" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["rule", "model"])
def test_a_table_without_rows_has_no_predictions_and_cannot_be_learned(rule, tmp_path, capsys, suffix, kind):
    if kind == "model":
        x = pd.DataFrame({"stock": np.arange(40.0), "ordered": np.arange(40.0) % 7})
        rule = tmp_path / "m.json"
        to_saved(NSRRegressor(restarts=1, random_state=0).fit(x, np.sin(x["stock"])), "shipped").save(rule)
    path, empty = tmp_path / f"t.{suffix}", pd.read_csv(EXAMPLES / "orders.csv")[:0]
    write = partial(pd.DataFrame.to_csv, index=False) if suffix == "csv" else pd.DataFrame.to_parquet
    write(empty, path)
    assert run("apply", rule, path) == 0
    assert capsys.readouterr().out == "shipped\n"
    assert run("apply", rule, path, "--drop-missing") == 0
    assert capsys.readouterr().out == "row,shipped\n"
    assert run("learn", path, "--target", "shipped") == 2
    assert "has a header but no rows: add at least two rows" in capsys.readouterr().err
    write(empty.drop(columns="stock"), path)
    assert run("apply", rule, path) == 2
    assert "has no column 'stock'" in capsys.readouterr().err


def test_an_interruption_is_reported(monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "learn", interrupted)
    assert run("learn", EXAMPLES / "orders.csv", "--target", "shipped") == 130
    assert capsys.readouterr().err == "nsr: interrupted; nothing was learned\n"
    monkeypatch.setattr(commands, "check_language", interrupted)  # in the first second
    assert run("learn", EXAMPLES / "orders.csv", "--target", "shipped", "--emit", "c") == 130
    assert capsys.readouterr().err == "nsr: interrupted; nothing was learned\n"
    monkeypatch.setattr(commands, "apply", interrupted)
    assert run("apply", "rule.json", EXAMPLES / "orders.csv") == 130
    assert capsys.readouterr().err == "nsr: interrupted\n"


@pytest.mark.outer
def test_a_sum_with_few_values_is_not_a_list_of_cases(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 4, (200, 2)), columns=["a", "b"])
    frame.assign(t=frame["a"] + frame["b"]).to_csv(tmp_path / "t.csv", index=False)
    learned = commands.learn(tmp_path / "t.csv", "t", restarts=2)
    assert learned.estimator.rule_ == "a + b"
    assert (learned.verified.rows, learned.verified.wrong) == (200, 0)


def test_a_missing_folder_is_an_error_before_anything_is_learned(capsys):
    assert run("learn", EXAMPLES / "orders.csv", "--target", "shipped", "--save", "nowhere/rule.json") == 2
    assert capsys.readouterr().err == "nsr: there is no folder nowhere to write rule.json to\n"


@pytest.mark.parametrize("option", ["--save", "--html"])
def test_a_file_that_cannot_be_written_is_an_error_before_anything_is_learned(tmp_path, capsys, monkeypatch, option):
    words = ["learn", EXAMPLES / "orders.csv", "--target", "shipped", option]
    monkeypatch.setattr(commands, "learn", lambda *_, **__: pytest.fail("it was learned"))
    assert run(*words, tmp_path) == 2
    assert capsys.readouterr().err == f"nsr: {tmp_path} is a folder: name a file in it\n"
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert run(*words, tmp_path / "f") == 2
    assert capsys.readouterr().err == f"nsr: {tmp_path}/f cannot be written: the folder {tmp_path} is not writable\n"


def test_control_characters_in_labels_are_escaped(tmp_path, capsys):
    labels = ["no\x1b[2J", "yes\nverified on all 999 rows"]
    path = table(tmp_path / "t.csv", y=lambda x, _: np.where(x["a"] > x["b"], *reversed(labels)))
    assert run("learn", path, "--target", "y", "--columns", "a", "b", "--emit", "c", *FEW) == 0
    printed = capsys.readouterr().err
    assert r"yes\nverified on all 999 rows if a > b, else no\x1b[2J" in printed
    assert r"true means yes\nverified on all 999 rows, false means no\x1b[2J" in printed
    assert "\x1b" not in printed
    assert "\nverified on all 999 rows" not in printed


def test_rounding_is_measured_with_the_weights_of_a_rule(tmp_path):
    x = pd.DataFrame(np.random.default_rng(0).uniform(-1, 1, (400, 2)), columns=["a", "b"])
    x.assign(y=1000 * (x["a"] - x["b"])).to_csv(tmp_path / "t.csv", index=False)
    learned = commands.learn(tmp_path / "t.csv", "y", restarts=1)
    assert str(learned.estimator.program_) == "1000*a - 1000*b"
    assert learned.verified.wrong == 0


def test_a_rule_that_too_many_rows_of_the_table_contradict_is_withdrawn(tmp_path, monkeypatch):
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 50, (400, 2)), columns=["a", "b"])
    x.assign(y=x["a"] > x["b"]).to_csv(tmp_path / "t.csv", index=False)
    verify = Verifier.__call__
    monkeypatch.setattr(Verifier, "__call__", lambda *a: replace(verify(*a), wrong=60))
    learned = commands.learn(tmp_path / "t.csv", "y", restarts=1)
    assert learned.estimator.program_ is learned.verified is None
    assert learned.estimator.evidence_.reason == (
        "no exact rule: 15 % of all rows contradict the nearest rule (allowed: 10 %)"
    )
    assert "of the rows: True if a > b, else False" in learned.summary()
    assert "trained model" not in learned.summary()  # it was trained on all rows
    x.assign(y=x.max(axis=1)).to_csv(tmp_path / "t.csv", index=False)
    learned = commands.learn(tmp_path / "t.csv", "y", restarts=1)
    assert learned.summary().endswith("of the rows: max(a, b)")


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_out_of_range_is_refused_in_a_sentence(tmp_path, seed):
    with pytest.raises(InputError, match=f"^seed must be from 0 to 4,294,967,295, got {seed}$"):
        commands.learn(tmp_path / "t.csv", "y", seed=seed)


def test_progress_does_not_go_back(tmp_path):
    """A rule that networks find is confirmed by a second search, which begins from 0."""
    seen: dict[str, list[float]] = {}
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 100, (300, 4)), columns=list("abcd"))
    table = x.assign(y=x.a + x.b > x.c)
    commands.learn(table, "y", restarts=8, on_progress=lambda step, done: seen.setdefault(step, []).append(done))
    assert set(seen) >= {"reading", "learning"}
    assert len(seen["learning"]) > 2
    assert seen["learning"] == sorted(seen["learning"])


def test_a_table_of_rare_texts_is_an_error_and_no_traceback(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("day,late\n03/04/2024,yes\n05/06/2024,no\n")
    assert run("learn", path, "--target", "late", "--quiet") == 2
    reason = "'day' (text with 2 different values, each in fewer than 3 rows)"
    assert capsys.readouterr().err == f"nsr: no column is left to learn 'late' from: {reason}\n"


def test_large_integers_are_not_rounded_beside_decimals(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text(
        "a,b\n9007199254740993,9007199254740992.5\n9007199254740993,9007199254740992\n1152921504606846977,3.5\n"
    )
    SavedRule("late", ("no", "yes"), Program.parse("a > b")).save(tmp_path / "classes.json")
    assert run("apply", tmp_path / "classes.json", table) == 0
    assert capsys.readouterr().out == "late\nyes\nyes\nyes\n"
    SavedRule("most", None, Program.parse("max(a, b)")).save(tmp_path / "number.json")
    assert run("apply", tmp_path / "number.json", table) == 0
    assert capsys.readouterr().out == "most\n9007199254740993\n9007199254740993\n1152921504606846977\n"
    table.write_text("a,b\n9007199254740993,9007199254740992\n1152921504606846977,3.5\n3,7.25\n,1.0\n")
    assert run("apply", tmp_path / "number.json", table) == 0
    assert capsys.readouterr().out == 'most\n9007199254740993\n1152921504606846977\n7.25\n""\n'


def test_no_warnings_are_left_where_a_rule_is_withdrawn(tmp_path, capsys):
    generator = np.random.default_rng(0)
    x = pd.DataFrame({name: 2**60 + generator.integers(-50, 50, 100) for name in "ab"}).assign(f=generator.random(100))
    x.assign(target=x[["a", "b"]].max(axis=1)).to_csv(tmp_path / "t.csv", index=False)
    code = run("learn", tmp_path / "t.csv", "--target", "target", "--kind", "number", "--time-limit", "2", *FEW)
    said = capsys.readouterr().err
    assert (code, said.count("holds integers beyond 2^53"), "Warning" in said) == (3, 2, False)


def test_a_saved_rule_holds_all_texts_of_the_columns_that_it_uses(tmp_path):
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"member": rng.choice(["gold", "silver", "none"], 200), "code": [f"c{n}" for n in range(200)]})
    x.assign(y=np.where(x["member"] == "gold", "yes", "no")).to_csv(tmp_path / "t.csv", index=False)
    assert run("learn", tmp_path / "t.csv", "--target", "y", "--save", tmp_path / "r.json", *FEW) == 0
    assert load_saved(tmp_path / "r.json").texts == {"member": ["gold", "none", "silver"]}


def test_texts_that_a_rule_was_learned_without_are_reported_once():
    table = pd.DataFrame({"amount": [300.0] * 4, "country": ["AT", "XX", "YY", None], "score": [50.0] * 4})
    table["opened"] = pd.Timestamp("2024-01-01")
    messages: list[str] = []
    (predicted,) = commands.apply(SAVED / "rule-texts.json", table, on_message=messages.append)
    assert predicted["review"].tolist() == ["yes", "no", "no", "no"]
    assert messages == ["column 'country' has 'XX', which the table of the rule did not have"]
