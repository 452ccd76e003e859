import subprocess
import sys

import pytest

from nsr.paper.figures import mean_interval


def test_importing_the_experiments_loads_neither_altair_nor_pandas():
    program = "import sys, nsr.paper.experiments; print([name for name in ('altair', 'pandas') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_an_interval_of_a_mean_stays_within_0_and_1():
    assert mean_interval([0.5]) == (0.5, 0.5)
    low, high = mean_interval([0.4, 0.5, 0.6])  # a standard error of 0.1 / sqrt(3)
    assert (low, high) == (pytest.approx(0.5 - 0.113159, abs=1e-6), pytest.approx(0.5 + 0.113159, abs=1e-6))
    assert mean_interval([0.0, 1.0]) == (0.0, 1.0)
