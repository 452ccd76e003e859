"""What is printed about a rule that was learned."""

from types import SimpleNamespace

import pandas as pd
import pytest

from nsr.learn.evidence import beginning
from nsr.learn.result import Learned
from nsr.program import Program
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


def test_a_very_long_nearest_rule_is_cut():
    assert beginning("x > 1") == "x > 1"
    assert beginning("x" * 1_400) == "x" * 400 + "... and 1,000 more characters"
