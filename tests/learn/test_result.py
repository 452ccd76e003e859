"""What is printed about a rule that was learned."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from nsr.learn.commands import learn
from nsr.learn.evidence import beginning
from nsr.learn.page.render import write_page
from nsr.learn.result import Learned
from nsr.program import Program
from nsr.program.equivalence import compare
from nsr.program.expressions import Kind
from nsr.reading.derived import Meaning


@pytest.mark.parametrize(
    ("rule", "branches"),
    [
        ("a > 1 or b > 1", [("a > 1", 2), ("b > 1", 2), ("otherwise", 1)]),
        (
            "where(who == 'x', 3, where(a > 1, 2, 1))",
            [("who == 'x'", 1), ("a > 1", 1), ("otherwise", 2)],
        ),
    ],
)
def test_rows_that_meet_each_condition(rule, branches):
    """The last row meets both parts of the or; of a choice, each row counts once."""
    table = pd.DataFrame({"a": [0, 2, 0, 2], "b": [0, 0, 2, 2], "who": ["y", "x", "y", "y"]})
    program = Program.parse(rule, ("a", "b", "who"), {"who": Kind.TEXT})
    estimator = SimpleNamespace(meaning=Meaning())
    learned = Learned("t.csv", "c", 4, 0, (), table, table, table["a"], estimator, program, None, 0.0)  # type: ignore[arg-type]
    assert learned.branches() == branches


@pytest.fixture(scope="module")
def surcharge(tmp_path_factory) -> Learned:
    """A rule over cents, for which floats need a constant between two of them."""
    rng = np.random.default_rng(0)
    cents = {name: rng.integers(0, 60_000, 500) for name in ("claim", "deductible", "other")}
    cents["claim"][:2], cents["deductible"][:2] = [30_000, 30_001], 5_000
    paid = np.where(cents["claim"] > cents["deductible"] + 25_000, "yes", "no")
    file = tmp_path_factory.mktemp("claims") / "claims.csv"
    pd.DataFrame({name: values / 100 for name, values in cents.items()} | {"paid": paid}).to_csv(file, index=False)
    return learn(file, "paid")


def test_the_rule_is_also_printed_with_a_constant_that_cents_have(surcharge):
    lines = surcharge.summary().splitlines()
    assert lines[:2] == [
        "yes if claim > deductible + 250.005, else no",
        "the same for numbers in the steps of the columns: yes if claim > deductible + 250, else no",
    ]
    steps = dict.fromkeys(("claim", "deductible"), Fraction(1, 100))
    other = Program.parse("claim > deductible + 250", surcharge.program.inputs)
    assert compare(surcharge.program, other, over="steps", steps=steps)
    assert not compare(surcharge.program, other, over="reals")


def test_the_page_shows_it_too(surcharge, tmp_path):
    write_page(tmp_path / "rule.html", surcharge)
    page = (tmp_path / "rule.html").read_text()
    assert "<code>yes if claim &gt; deductible + 250, else no</code>" in page


def test_a_rule_whose_constants_columns_have_is_printed_once():
    x = pd.DataFrame(np.random.default_rng(0).integers(0, 50, (300, 3)) / 10, columns=list("abc"))
    learned = learn(x.assign(y=x.a > x.b), "y")
    assert learned.rule == "True if a > b, else False"
    assert learned.rule_in_steps is None


def test_a_very_long_nearest_rule_is_cut():
    assert beginning("x > 1") == "x > 1"
    assert beginning("x" * 1_400) == "x" * 400 + "... and 1,000 more characters"
