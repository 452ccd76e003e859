import subprocess
import sys

import pytest

from nsr.html.charts import number_axis
from nsr.paper.figures import mean_interval, seed_dots, short


def test_the_report_needs_neither_altair_nor_pandas_nor_a_javascript_engine():
    program = (
        "import sys, nsr.paper.report.page; "
        "print([name for name in ('altair', 'pandas', 'vl_convert') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_an_interval_of_a_mean_stays_within_0_and_1():
    assert mean_interval([0.5]) == (0.5, 0.5)
    low, high = mean_interval([0.4, 0.5, 0.6])  # a standard error of 0.1 / sqrt(3)
    assert (low, high) == (pytest.approx(0.5 - 0.113159, abs=1e-6), pytest.approx(0.5 + 0.113159, abs=1e-6))
    assert mean_interval([0.0, 1.0]) == (0.0, 1.0)


def test_a_share_in_a_square_is_cut_and_not_rounded():
    assert [short(share) for share in (1.0, 0.99999, 0.476, 0.29, 0.001, 0.0)] == [
        *("1", ".99", ".48", ".29", ">0", ".00")
    ]


def test_seeds_at_the_same_place_are_one_dot():
    axis = number_axis("", (0, 1))
    chart = seed_dots([(0, 0.5, "blue")] * 4 + [(1, 0.5, "blue")], x=axis, y=axis, vertical=True)
    assert [(dot.x, dot.y, dot.text) for dot in chart.marks] == [(0, 0.5, "4 seeds: 0.5"), (1, 0.5, "1 seed: 0.5")]
    assert chart.marks[0].radius > chart.marks[1].radius
