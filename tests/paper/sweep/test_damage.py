"""What is wrong with a record, for each way in which it can be."""

import json

import pytest

from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Record
from nsr.paper.sweep import damage
from nsr.paper.sweep.damage import COLUMNS, TEXTS, checksum, problem

EXPERIMENT = EXPERIMENTS["comparisons"]
RECIPE = EXPERIMENT.profiles["smoke"].shorten(EXPERIMENT.recipes["paper"])
SEED = EXPERIMENT.revision + 7
"""Unlike the revision, so that one cannot stand for the other."""
RECORD = Record("comparisons", EXPERIMENT.revision, EXPERIMENT.cells[0], RECIPE, "smoke", SEED, {}, 0.5, 1, "{}")
IDENTITY = json.loads(RECORD.identity)

NOT_JSON = "a column is not the JSON that was written"
DISAGREE = "its identity and its columns disagree"
METRICS = "its metrics are not numbers"
FIELDS = "its cell or its recipe has other fields than those of comparisons"


def row(**changes) -> list:
    """The columns of a record, texts as bytes."""
    content = {
        "identity": IDENTITY,
        **IDENTITY,
        "metrics": {"train": 1.0},
        "environment": {},
        "finished": "2026-01-01",
        "memory": 1,
        "seconds": 0.5,
    } | changes
    plain = ("experiment", "profile", "finished")
    texts = {name: content[name] if name in plain else json.dumps(content[name]) for name in TEXTS}
    return [texts[name].encode() if name in TEXTS else content[name] for name in COLUMNS]


def identity(**changes) -> dict:
    return IDENTITY | changes


OTHER_CELL = IDENTITY["cell"] | {"new": 1}
OTHER_RECIPE = IDENTITY["recipe"] | {"new": 1}
OLD = {"revision": 0, "cell": OTHER_CELL, "recipe": OTHER_RECIPE}
GONE = OLD | {"experiment": "gone"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"metrics": {}}, None),
        ({"metrics": {"train": 1, "epochs": 50.0}}, None),
        ({"identity": 3}, NOT_JSON),
        ({"recipe": 3}, NOT_JSON),
        ({"seed": 99}, DISAGREE),
        ({"revision": 99}, DISAGREE),
        ({"profile": "quick"}, DISAGREE),
        ({"experiment": "floats"}, DISAGREE),
        ({"cell": {}}, DISAGREE),
        ({"identity": identity(recipe={}), "recipe": {}}, DISAGREE),
        ({"recipe": IDENTITY["recipe"] | {"epochs": 12345}}, DISAGREE),
        ({"metrics": {"train": float("nan")}}, METRICS),
        ({"metrics": {"train": 1.0, "epochs": float("inf")}}, METRICS),
        ({"metrics": {"train": "1.0"}}, METRICS),
        ({"metrics": {"train": 10**400}}, METRICS),
        ({"metrics": [1.0]}, METRICS),
        ({"seconds": float("inf")}, METRICS),
        ({"environment": [1]}, "its environment is not an object"),
        ({"identity": identity(cell=OTHER_CELL), "cell": OTHER_CELL}, FIELDS),
        ({"identity": identity(recipe=OTHER_RECIPE), "recipe": OTHER_RECIPE}, FIELDS),
        ({"identity": identity(**OLD), **OLD}, None),
        ({"identity": identity(**GONE), **GONE, "metrics": {"new": 1.0}}, None),
        ({"identity": identity(revision=0), "revision": 0, "metrics": {"new": 1.0}}, None),
        ({"metrics": {"train": 1.0, "new": 1.0, "newer": 1.0}}, "comparisons has no metric 'new'"),
        ({"metrics": {"n" * 172: 1.0}}, f"comparisons has no metric '{'n' * 172}'"),
        ({"metrics": {"n" * 173: 1.0}}, f"comparisons has no metric '{'n' * 173}"),
    ],
)
def test_the_problem_of_a_record_without_a_checksum(changes, expected):
    changed = row(**changes)
    assert problem(changed) == expected
    assert damage._reason(changed, None) == (expected or "its checksum is missing")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, None),
        ({"cell": OTHER_CELL}, FIELDS),
        ({"recipe": OTHER_RECIPE}, FIELDS),
        ({"environment": 3}, "its environment is not an object"),
        ({"seconds": float("inf")}, METRICS),
        (OLD, None),
        (GONE, None),
        ({"experiment": "gone", "cell": 3}, None),
    ],
)
def test_a_record_that_agrees_with_its_checksum_may_be_of_another_version(changes, expected):
    """But not of this one with other fields."""
    changed = row(**changes)
    assert damage._reason(changed, checksum(changed)) == expected
    assert damage._reason(changed, b"x" * 16) == "its checksum is wrong"


def test_a_column_of_another_type_is_a_wrong_checksum():
    assert damage._reason(row(memory="many"), b"x" * 16) == "its checksum is wrong"


def test_a_checksum_has_sixteen_bytes():
    assert len(checksum(row())) == 16
    assert len({checksum(row(**{name: value})) for name, value in (("seed", 1), ("memory", 2), ("metrics", 3))}) == 3


def test_a_label_has_at_most_200_characters():
    named = f"comparisons {json.dumps(IDENTITY['cell'])}, profile smoke, seed {SEED}"
    assert damage.label(row()) == named
    assert damage.label(row(experiment="e" * 300)) == "e" * 200
    assert damage.label([*row()[:1], b"\xff", *row()[2:]]) == "\N{REPLACEMENT CHARACTER}" + named[len("comparisons") :]
