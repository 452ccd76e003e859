"""Rules as a person would write them in terms of the table, as long as no more rows contradict them."""

import pandas as pd
import pytest

from nsr.learn.tidying import tidied
from nsr.program import Program
from nsr.program.kinds import Kind

TABLE = pd.DataFrame({"country": ["AT", "DE", None, "AT", "FR", None], "vip": [True, False, True, False, True, False]})
KINDS = {"country": Kind.TEXT, "vip": Kind.BOOLEAN}


def read(text: str) -> Program:
    return Program.parse(text, tuple(TABLE), KINDS)


def tidy(text: str) -> str:
    rule = read(text)

    def wrong(expression) -> int:
        return sum(bool(Program(expression, rule.names)(row)) != bool(rule(row)) for row in TABLE.to_dict("records"))

    return str(tidied(rule.expression, TABLE, wrong, shorten=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("count(vip) > count(country is missing)", "vip and country is present"),
        ("count(vip) >= count(country is missing)", "vip or country is present"),
        (
            "count(vip) > count(country == 'AT')",
            "count(vip) > count(country == 'AT')",
        ),  # a missing country is not != 'AT'
        ("count(vip) < count(country is missing)", "not vip and country is missing"),
        ("count(vip) <= count(country is missing)", "not vip or country is missing"),
        ("count(country == 'AT') > count(country is missing)", "country == 'AT'"),
        ("count(vip) = count(country is missing)", "count(vip) == count(country is missing)"),
        (
            "count(vip, country == 'AT') > count(country is missing)",
            "count(vip, country == 'AT') > count(country is missing)",
        ),
    ],
)
def test_single_conditions_are_not_counted(text, expected):
    tidy_text = tidy(text)
    assert all(bool(read(tidy_text)(row)) == bool(read(text)(row)) for row in TABLE.to_dict("records"))
    assert read(tidy_text) == read(expected)
