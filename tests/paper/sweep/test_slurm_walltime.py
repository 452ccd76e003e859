"""Walltimes that end, on a real Slurm of one node: its shortest is a minute."""

import pytest

pytest.importorskip("dask_jobqueue", reason="needs the extra cluster")

import cluster_faults as faults
from loopback_slurm import why_not

pytestmark = [pytest.mark.outer, pytest.mark.skipif(why_not() is not None, reason=str(why_not()))]


@pytest.mark.parametrize("fault", ["slurm-lifetime", "slurm-walltime"])
def test_a_walltime_that_ends_costs_no_record_and_its_jobs_are_replaced(tmp_path, fault):
    """dask-jobqueue 122 and 611: workers that leave before the limit, and jobs that Slurm itself ends at the limit."""
    expected = faults.undisturbed(tmp_path / "local")
    result = faults.try_slurm(fault, expected, tmp_path)
    log = (tmp_path / fault / "log.txt").read_text()
    assert (result.code, result.same) == (0, True), log
    assert result.times >= 1, log
