"""Saved files are validated before anything is built from them."""

import contextlib
import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

from nsr.errors import InputError
from nsr.learn.saved import SavedRule, load_saved
from nsr.learn.saved_content import LARGEST
from nsr.learn.tables.forms import DATE_FORMS
from nsr.program import Program
from nsr.program.kinds import Kind

SAVED = Path(__file__).parent / "saved_files"
SCHEMA = json.loads((files("nsr.learn") / "saved.schema.json").read_text())
BEYOND = "1e999999999"
CHANGES = {
    "rule": [
        {"classes": ["\ud800", "low", "middle"]},
        {"classes": [["high"], "low", "middle"]},
        {"target": "\udfff"},
        {"program": ["x"]},
        {"texts": ["a"]},
        {"texts": {"a": ["x"]}},
        {"texts": {"a" * 10_000: ["x"]}},
        {"texts": {"\ud800": ["x"]}},
        {"texts": {"a": ["\ud800"]}},
        {"texts": {"a": [1]}},
        {"texts": {"a": list(map(str, range(41)))}},
        {"dates": ["x"]},
        {"dates": {"x": "day/month/year"}},
        {"dates": {"\ud800": "day/month/year"}},
        {"dates": {"x": "%d') or '"}},
        {"dates": {"x" * 10_000: "day/month/year"}},
    ],
    "classes": [
        {"probes": [[0, 2, BEYOND]] * 8},
        {"probes": [[0, 2, "1e400"]] * 8},
        {"probes": [[0, 2, "1" + "0" * 400]] * 8},
        {"probes": [[0, 2, 0.5]] * 8},
        {"nets": []},
        {"nets": ["x"]},
        {"classes": ["\ud800", "b"]},
        {"classes": None},
        {"classes": [0, 1, 2]},
        {"units": ["x"] * 8},
        {"units": [0.0] * 8},
        {"names": ["a", "a"]},
        {"names": [1, 2]},
        {"names": "ab"},
    ],
    "classes-2": [
        {"atoms": [[{"a": 1}, BEYOND]] * 8},
        {"atoms": [[{"a": 10**30}, "0"]] * 8},
        {"atoms": [[{"a": "1"}, "0"]] * 8},
        {"atoms": [[{}, "0"]] * 8},
        {"nets": [[]]},
    ],
    "number": [{"nets": []}, {"nets": ["x"]}],
    "number-2": [
        {"scaling": "x"},
        {"scaling": [1, 2, 3]},
        {"scaling": [[0.0, 0.0], [1.0, 1.0], ["a", "b"]]},
        {"scaling": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]},
        {"scaling": [[0.0], [1.0], [0.0, 1.0]]},
        {"classes": [0, 1]},
    ],
    "network": [
        {"sizes": [8, 8, 10**12]},
        {"sizes": [10**12, 8, 3]},
        {"sizes": [8, 8, 2]},
        {"classes": ["a", "b"]},
        {"logarithms": "yes"},
        {"net": {"register.weight": [["x"]]}},
    ],
}


@pytest.mark.parametrize("name", [path.stem for path in sorted(SAVED.iterdir())])
def test_saved_files_fit_the_schema(name):
    jsonschema.validate(json.loads((SAVED / f"{name}.json").read_text()), SCHEMA)
    load_saved(SAVED / f"{name}.json")


def test_the_schema_has_all_forms_of_dates():
    dates = SCHEMA["$defs"]["rule"]["properties"]["dates"]
    assert dates["additionalProperties"]["enum"] == list(DATE_FORMS)


def test_the_file_of_a_rule_says_how_its_dates_are_written(tmp_path):
    program = Program.parse("paid > due", None, {"paid": Kind.DATE, "due": Kind.DATE})
    SavedRule("late", ("no", "yes"), program, {"due": "day/month/year"}).save(tmp_path / "new.json")
    SavedRule("late", ("no", "yes"), program).save(tmp_path / "old.json")
    jsonschema.validate(json.loads((tmp_path / "new.json").read_text()), SCHEMA)
    assert load_saved(tmp_path / "new.json").dates == {"due": "day/month/year"}
    assert "dates" not in json.loads((tmp_path / "old.json").read_text())  # older versions can load it


def test_the_file_of_a_rule_holds_the_texts_of_its_columns(tmp_path):
    program = Program.parse("country in ('AT', 'DE')")
    SavedRule("late", ("no", "yes"), program, texts={"country": ["AT", "CH", "DE"]}).save(tmp_path / "new.json")
    SavedRule("late", ("no", "yes"), program).save(tmp_path / "old.json")
    jsonschema.validate(json.loads((tmp_path / "new.json").read_text()), SCHEMA)
    assert load_saved(tmp_path / "new.json").texts == {"country": ["AT", "CH", "DE"]}
    assert load_saved(tmp_path / "old.json").texts == {}
    assert "texts" not in json.loads((tmp_path / "old.json").read_text())  # older versions can load it


@pytest.mark.parametrize(("name", "change"), [(name, change) for name, some in CHANGES.items() for change in some])
def test_a_tampered_file_is_one_short_sentence(tmp_path, name, change):
    content = json.loads((SAVED / f"{name}.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps(content | change))
    with pytest.raises(InputError, match="was not written by nsr learn --save") as caught:
        load_saved(tmp_path / "m.json").predict(pd.DataFrame({"a": [1, 2], "b": [2, 1]}))
    assert len(str(caught.value).removeprefix(str(tmp_path))) < 300


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "1" * 5000, "1" * 500])
def test_numbers_must_be_finite(tmp_path, number):
    text = (SAVED / "number.json").read_text()
    content = json.loads(text)
    content["scaling"][0][0] = "NUMBER"
    (tmp_path / "m.json").write_text(json.dumps(content).replace('"NUMBER"', number))
    with pytest.raises(InputError, match="was not written by nsr learn --save"):
        load_saved(tmp_path / "m.json")


def test_files_that_are_too_large_are_not_read(tmp_path):
    with (tmp_path / "m.json").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(InputError, match="it has more than 20,000,000 bytes"):
        load_saved(tmp_path / "m.json")
    with pytest.raises(InputError, match="cannot be read: Is a directory$"):
        load_saved(tmp_path)


def test_mutated_files_give_a_model_or_one_sentence(tmp_path):
    """Values of all kinds in every place of every format."""
    rng = np.random.default_rng(0)
    values = [None, True, -1, 10**400, 0.5, 1e308, BEYOND, "", "a", "\ud800", [], {}, [[]], [None], {"a": 1}]
    path = tmp_path / "m.json"
    for name in CHANGES:
        text = (SAVED / f"{name}.json").read_text()
        for _ in range(100):
            content = json.loads(text)
            place = content
            while True:
                keys = list(place) if isinstance(place, dict) else list(range(len(place)))
                key = keys[rng.integers(len(keys))]
                if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.2:
                    break
                place = place[key]
            place[key] = values[rng.integers(len(values))]
            path.write_text(json.dumps(content))
            with contextlib.suppress(InputError):
                saved = load_saved(path)
                saved.predict(pd.DataFrame({name: [1.5, 2.0] for name in saved.kinds}))


def test_a_rule_of_numbers_that_claims_classes_is_a_sentence_at_missing_cells(tmp_path):
    program = json.loads(Program.parse("a + b").emit("json"))
    path = tmp_path / "rule.json"
    path.write_text(json.dumps({"format": "nsr-rule/1", "target": "c", "classes": [1], "program": program}))
    rows = pd.DataFrame({"a": [0.0, np.nan], "b": [0.0, 1.0]})
    with pytest.raises(InputError, match="^the rule predicts a missing number as the number of a class$"):
        load_saved(path).predict(rows)
