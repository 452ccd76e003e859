import csv
import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from nsr.errors import InputError
from nsr.paper import archive, commands
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Record, complete_recipe
from nsr.training import Recipe

FLOATS = EXPERIMENTS["floats"]
OLD_FIELDS = {field.name for field in dataclasses.fields(Recipe)}


def records(seeds=range(3)) -> list[Record]:
    return [
        Record(
            "floats",
            FLOATS.revision,
            cell,
            FLOATS.recipes["exact"],
            "paper",
            seed,
            {">": 1 / 3, "epochs": 40.0},
            0.25,
            9,
            '{"cpu":"x"}',
        )
        for cell in (FLOATS.cells[0], FLOATS.beyond[0])
        for seed in seeds
    ]


def test_what_is_written_is_read_to_the_last_digit(tmp_path):
    files = archive.write(tmp_path, {"floats": records(), "comparisons": []})
    assert [file.name for file in files] == ["floats.csv", "index.json"]
    back = archive.read(tmp_path)["floats"]
    assert sorted(back, key=repr) == sorted(records(), key=repr)


def test_a_metric_that_only_some_cells_have_is_missing_in_the_others(tmp_path):
    changed = [dataclasses.replace(record, metrics={"=": 1.0, "epochs": 2.0}) for record in records()[:3]] + records()[
        3:
    ]
    archive.write(tmp_path, {"floats": changed})
    assert sorted(archive.read(tmp_path)["floats"], key=repr) == sorted(changed, key=repr)
    assert (tmp_path / "floats.csv").read_text().splitlines()[0].endswith("seconds,memory,environment")


def test_equal_records_are_equal_files(tmp_path):
    archive.write(tmp_path / "a", {"floats": records()})
    archive.write(tmp_path / "b", {"floats": records()[::-1]})
    for name in ("floats.csv", "index.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_old_revisions_and_recipes_are_left_out(tmp_path):
    archive.write(tmp_path, {"floats": records()})
    path = tmp_path / "floats.csv"
    path.write_text(path.read_text().replace(f"\n{FLOATS.revision},paper", "\n0,paper", 2))
    assert len(archive.read(tmp_path)["floats"]) == 4
    index = json.loads((tmp_path / "index.json").read_text())
    index["recipes"]["floats paper exact"]["epochs"] += 1
    (tmp_path / "index.json").write_text(json.dumps(index))
    assert archive.read(tmp_path)["floats"] == []


def test_missing_and_broken_files_are_errors_of_one_sentence(tmp_path):
    with pytest.raises(InputError, match="^there are no exported results in .*: nsr results --export DIR writes them$"):
        archive.read(tmp_path)
    archive.write(tmp_path, {"floats": records()})
    path = tmp_path / "floats.csv"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(InputError, match="^the exported results in .* cannot be read: "):
        archive.read(tmp_path)


def _change_cell(folder, column, text, rows=slice(1, 2)):
    path = folder / "floats.csv"
    with path.open(newline="") as file:
        lines = list(csv.reader(file))
    for line in lines[rows]:
        line[lines[0].index(column)] = text
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(lines)


def _change_index(folder, change):
    index = json.loads((folder / "index.json").read_text())
    change(index)
    (folder / "index.json").write_text(json.dumps(index))


def _replace_by_folder(path):
    path.unlink()
    path.mkdir()


BROKEN = {
    "nested JSON": lambda folder: (folder / "index.json").write_text("[" * 100_000 + "]" * 100_000),
    "a list": lambda folder: (folder / "index.json").write_text("[1]"),
    "not UTF-8": lambda folder: (folder / "floats.csv").write_bytes(b"\xff" * 9_000),
    "a long field": lambda folder: _change_cell(folder, "epochs", "1" * 140_000),
    "a folder": lambda folder: _replace_by_folder(folder / "floats.csv"),
    "a folder as index": lambda folder: _replace_by_folder(folder / "index.json"),
    "an empty metric": lambda folder: _change_cell(folder, ">", ""),
    "empty metrics": lambda folder: [_change_cell(folder, name, "", slice(1, None)) for name in (">", "epochs")],
    "not a number": lambda folder: _change_cell(folder, "epochs", "nan"),
    "a seed beyond 64 bits": lambda folder: _change_cell(folder, "seed", "9" * 30),
    "a memory below 0": lambda folder: _change_cell(folder, "memory", "-1"),
    "the same seed": lambda folder: _change_cell(folder, "seed", "0", slice(1, 3)),
    "an unknown metric": lambda folder: _change_cell(folder, ">", "?", slice(0, 1)),
    "a long recipe": lambda folder: _change_index(
        folder, lambda i: i["recipes"].update({"floats paper exact": "q" * 9_000})
    ),
    "a long field of a recipe": lambda folder: _change_index(
        folder, lambda i: i["recipes"]["floats paper exact"].update({"q" * 9_000: 1})
    ),
    "an environment of text": lambda folder: _change_index(
        folder, lambda i: i.update(environments=dict.fromkeys(i["environments"], "x" * 9_000))
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_broken_files_are_errors_of_one_short_sentence(tmp_path, what):
    archive.write(tmp_path, {"floats": records()})
    BROKEN[what](tmp_path)
    with pytest.raises(InputError, match="cannot be read: ") as caught:
        archive.read(tmp_path)
    text = str(caught.value).replace(str(tmp_path), "")
    assert "\n" not in text
    assert len(text) < 300


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("floats.csv", "", "floats.csv has no header"),
        ("floats.csv", "\n", "floats.csv has no header"),
        ("floats.csv", f"a\n{'1' * 140_000}\n", "floats.csv, line 1: field larger than field limit (131072)"),
        ("index.json", "null", "index.json must be an object with the objects environments and recipes"),
        ("index.json", '{"recipes": {}}', "index.json must be an object with the objects environments and recipes"),
        ("index.json", "[" * 100_000, "index.json is nested too deep"),
        (
            "index.json",
            "{",
            "index.json is not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
    ],
)
def test_the_reason_is_in_plain_words(tmp_path, name, content, reason):
    archive.write(tmp_path, {"floats": records()})
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError) as caught:
        archive.read(tmp_path)
    assert str(caught.value) == f"the exported results in {tmp_path} cannot be read: {reason}"


def test_a_recipe_that_is_null(tmp_path):
    archive.write(tmp_path, {"floats": records()})
    _change_index(tmp_path, lambda index: index["recipes"].update({"floats paper exact": None}))
    with pytest.raises(InputError, match=r"floats.csv, row 2: a recipe must be an object, got None$"):
        archive.read(tmp_path)


def test_a_page_without_a_metric_or_a_part_of_an_environment(tmp_path):
    for name in ("comparisons.csv", "index.json"):
        shutil.copy(COMMITTED / name, tmp_path)
    _change_index(tmp_path, lambda index: [each.pop("cpu") for each in index["environments"].values()])
    page = commands.report(exported=tmp_path, html=tmp_path / "page.html")
    assert "<li>unknown, " in page.read_text()
    path = tmp_path / "comparisons.csv"
    path.write_text(path.read_text().replace(",epochs,", ",?,", 1))
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [name for name in lines[0] if name != "?"], extrasaction="ignore")
        table.writeheader()
        table.writerows(lines)
    with pytest.raises(InputError, match="are incomplete: no row has a 'epochs'$"):
        commands.report(exported=tmp_path, html=tmp_path / "page.html")


def test_a_metric_cannot_take_the_name_of_a_column(tmp_path):
    changed = [dataclasses.replace(record, metrics={"seed": 1.0}) for record in records()]
    with pytest.raises(ValueError, match="^a metric of floats has the name of a column: seed$"):
        archive.write(tmp_path, {"floats": changed})


COMMITTED = Path(__file__).parents[2] / "results"


def rows_of(path: Path) -> int:
    with path.open(newline="") as file:
        return sum(1 for _ in csv.DictReader(file))


def test_every_committed_record_is_current():
    records = archive.read(COMMITTED)
    assert {name: len(kept) for name, kept in records.items()} == {
        name: rows_of(COMMITTED / f"{name}.csv") for name in EXPERIMENTS
    }
    for name, experiment in EXPERIMENTS.items():
        size = experiment.profiles["paper"]
        cells = sum(len(experiment.cells_of(recipe, size)) for recipe in experiment.recipes)
        assert len(records[name]) == cells * size.seeds, f"{name} is not complete"
    assert len({record.identity for kept in records.values() for record in kept}) == sum(map(len, records.values()))


def test_the_committed_index_has_every_field_of_every_recipe():
    for key, recipe in json.loads((COMMITTED / "index.json").read_text())["recipes"].items():
        name = key.split()[0]
        assert recipe == dataclasses.asdict(EXPERIMENTS[name].recipe(recipe)), key


@pytest.mark.outer
def test_an_index_from_before_recipes_had_all_fields_is_completed(tmp_path):
    index = json.loads((COMMITTED / "index.json").read_text())
    for key, recipe in index["recipes"].items():
        implied = complete_recipe(key.split()[0], {"name": recipe["name"]})
        index["recipes"][key] = {
            name: value for name, value in recipe.items() if name in OLD_FIELDS or implied.get(name) != value
        }
    (tmp_path / "index.json").write_text(json.dumps(index))
    for name in EXPERIMENTS:
        shutil.copy(COMMITTED / f"{name}.csv", tmp_path)
    assert archive.read(tmp_path) == archive.read(COMMITTED)


def test_a_committed_folder_is_written_again_as_it_is(tmp_path):
    for file in archive.write(tmp_path, archive.read(COMMITTED)):
        assert file.read_bytes() == (COMMITTED / file.name).read_bytes()
