"""Classes and prices that texts decide."""

import numpy as np
import pandas as pd
import pytest
import torch

from nsr.learn import commands
from nsr.learn.diagnostics import chance_of_nearness
from nsr.learn.lookups import read_lookup, shorter_conditions
from nsr.learn.rules import Reader
from nsr.program.conditions import OneOf
from nsr.program.expressions import Variable
from nsr.program.kinds import Kind
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns
from nsr.reading.derived import Meaning
from nsr.reading.rows import LabelledRows

COUNTRIES = ("AT", "BE", "CH", "CZ", "DE", "DK", "ES", "FI", "FR", "GR", "HU", "IT", "LU", "NL", "NO", "PL", "PT", "SE")
COUNTRY = Variable("country", Kind.TEXT)


def orders(rows: int = 600, seed: int = 0, countries=COUNTRIES) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.1, 30, rows).round(1)
    return pd.DataFrame({"country": rng.choice(countries, rows), "weight": weight, "items": rng.integers(1, 9, rows)})


def conditions(classes, rows: int = 900, wrong: float = 0.0) -> LabelledRows:
    """Rows with a column of 0 and 1 for each country, and the class of its country, some of which are wrong."""
    rng = np.random.default_rng(0)
    country = rng.integers(0, len(classes), rows)
    y = np.asarray(classes)[country]
    n_classes = max(classes) + 1
    y = np.where(rng.random(rows) < wrong, rng.integers(0, n_classes, rows), y)
    asked = {f"is {name}": OneOf(COUNTRY, [name]) for name in COUNTRIES[: len(classes)]}
    x = np.eye(len(classes), dtype=np.int64)[country]
    columns = Columns(torch.from_numpy(x), tuple(asked), meaning=Meaning(asked))
    return LabelledRows(columns, y, np.ones(rows), n_classes)


def test_a_class_for_each_text():
    table = orders()
    warehouses = {country: f"W{at:02}" for at, country in enumerate(COUNTRIES)}
    learned = commands.learn(table.assign(warehouse=table.country.map(warehouses)), "warehouse")
    asked = ", else ".join(f"{warehouses[country]} if country == '{country}'" for country in COUNTRIES[1:])
    assert learned.rule == f"{asked}, else W00"


def test_a_class_for_several_texts():
    north, south = ("DK", "FI", "NO", "SE"), ("ES", "GR", "IT", "PT")
    table = orders()
    region = np.select([table.country.isin(north), table.country.isin(south)], ["north", "south"], "rest")
    learned = commands.learn(table.assign(region=region), "region")
    assert learned.rule == f"north if country in {north}, else south if country in {south}, else rest"


@pytest.mark.parametrize("wrong", [0.0, 0.05])
def test_some_labels_may_be_wrong(wrong):
    rows = conditions([0, 1, 2, 3, 4], wrong=wrong)
    rule = read_lookup(Reader(rows), "screen")
    assert rule.comparisons == 4
    assert rule.wrong <= 1.2 * wrong * len(rows)


def test_a_text_with_rows_of_several_classes_is_left_to_others():
    rows = conditions([0, 1, 2, 3])
    mixed = rows.columns.x[:, 3].numpy() == 1
    rows.classes[mixed] = np.arange(mixed.sum()) % 4
    rule = read_lookup(Reader(rows), "screen")
    assert "is CZ" not in {name for atom in rule.atoms for name in atom.columns}


def test_two_classes_or_columns_of_numbers_are_no_lookup():
    assert read_lookup(Reader(conditions([0, 1, 1])), "screen") is None
    x = torch.arange(30).reshape(-1, 2)
    assert (
        read_lookup(Reader(LabelledRows(Columns(x, ("a", "b")), np.arange(15) % 3, np.ones(15), 3)), "screen") is None
    )


def test_a_set_of_texts_can_be_asked_for_fewer():
    asked = {"one": OneOf(COUNTRY, ["AT"]), "two": OneOf(COUNTRY, ["AT", "DE"]), "all": OneOf(COUNTRY, COUNTRIES)}
    asked["other"] = OneOf(Variable("member", Kind.TEXT), ["gold"])
    columns = Columns(torch.zeros(3, 5, dtype=torch.int64), (*asked, "n"), meaning=Meaning(asked))
    shorter = {name: shorter_conditions(columns, Atom.difference(name)) for name in columns.names}
    assert shorter == {
        "one": [],
        "two": [(("one", 1),)],
        "all": [(("one", 1),), (("two", 1),)],
        "other": [],
        "n": [],
    }


def test_texts_and_numbers_decide_together():
    table = orders(900, countries=("AT", "CH", "DE", "FR", "IT"))
    tariff = np.where(table.weight >= 15, "bulk", "std-" + table.country)
    learned = commands.learn(table.assign(tariff=tariff), "tariff")
    assert " in (" not in learned.rule
    assert learned.rule.startswith("bulk if weight >= 15, else std-")
    assert learned.rule.count("country ==") == 4


def test_a_price_is_a_choice_between_numbers_and_no_sum_of_conditions():
    table = orders(countries=("AT", "CH", "DE", "FR"))
    light, home = table.weight <= 5, table.country == "DE"
    price = np.select([light & home, home, light], [4.99, 9.99, 12.5], 24.0)
    learned = commands.learn(table.assign(price=price), "price")
    assert "count(" not in learned.rule
    assert sorted(float(part.split()[0]) for part in learned.rule.split(", else ")) == [4.99, 9.99, 12.5, 24.0]


def test_many_comparisons_need_little_memory():
    """Each pattern of signs had its place in an array: 3 to the power of 17."""
    rows = conditions([*range(18)], rows=2_000, wrong=0.05)
    assert chance_of_nearness(rows, read_lookup(Reader(rows), "screen")) > 1e-4
