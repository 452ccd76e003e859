"""A real Slurm of one node, on loopback: its daemons are started and stopped here."""

import signal
import subprocess
import sys

import pytest

pytest.importorskip("dask_jobqueue", reason="needs the extra cluster")

import cluster_faults as faults
from loopback_slurm import Slurm, why_not

pytestmark = [pytest.mark.outer, pytest.mark.skipif(why_not() is not None, reason=str(why_not()))]
SMALL = {
    "names": ["comparisons", "piecewise", "recurrent"],
    "profile": "smoke",
    "recipe": "exact",
    "seeds": 2,
    "only": {"model": ["nsr"]},
}


def test_the_command_has_the_same_records_on_slurm_as_without_it(tmp_path):
    expected = faults.undisturbed(tmp_path / "local", SMALL)
    words = ["reproduce", *SMALL["names"], "--profile", "smoke", "--recipe", "exact", "--model", "nsr", "--seeds", "2"]
    with Slurm(tmp_path / "slurm") as slurm:
        config = faults.slurm_config(tmp_path)
        out = tmp_path / "runs"
        options = ["--cluster", str(config), "--workers", "2", "--walltime", "00:10:00", "--out", str(out), "--json"]
        command = [sys.executable, "-m", "nsr", *words, *options]
        done = subprocess.run(
            command, cwd=tmp_path, env=slurm.environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        assert "nsr: 2 jobs submitted to Slurm, each with 1 workers" in done.stderr
        assert slurm.jobs() == []  # none is left behind
    assert faults.records(out) == expected


def test_jobs_that_are_cancelled_cost_no_record(tmp_path):
    """As when they are preempted: distributed 2694, submitit 1770, dask-jobqueue 611."""
    expected = faults.undisturbed(tmp_path / "local")
    result = faults.try_slurm("scancel", expected, tmp_path, times=2)
    assert (result.code, result.same, result.times) == (0, True, 2), (tmp_path / "scancel" / "log.txt").read_text()


def test_what_slurm_does_not_take_is_one_sentence(tmp_path):
    refused = {
        "--queue=nowhere": "Batch job submission failed: Invalid partition name specified",
        "--directive=--nope": "unrecognized option '--nope'",
        "--memory=100GB": "Batch job submission failed: Requested node configuration is not available",
    }
    with Slurm(tmp_path / "slurm") as slurm:
        config = faults.slurm_config(tmp_path, "workers = 2")
        command = [sys.executable, "-m", "nsr", "reproduce", "comparisons", "--profile", "smoke", "--model", "nsr"]
        for option, reason in refused.items():
            options = ["--cluster", str(config), option, "--out", str(tmp_path / "runs"), "--quiet"]
            done = subprocess.run(
                [*command, *options],
                cwd=tmp_path,
                env=slurm.environment,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr == f"nsr: Slurm does not take the job: {reason}\n"


def test_jobs_that_no_node_can_run_end_the_command_with_the_reason_of_slurm(tmp_path):
    """Slurm takes them, and leaves them in its queue for ever."""
    with Slurm(tmp_path / "slurm") as slurm:
        config = faults.slurm_config(tmp_path)
        command = [sys.executable, "-m", "nsr", "reproduce", "comparisons", "--profile", "smoke", "--quiet"]
        options = ["--cluster", str(config), "--workers", "1", "--cores", "1000", "--out", str(tmp_path / "runs")]
        done = subprocess.run(
            [*command, *options],
            cwd=tmp_path,
            env=slurm.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, "")
        last = done.stderr.splitlines()[-1]
        assert last.startswith("nsr: Slurm cannot start the jobs and gives PartitionConfig as the reason: "), (
            done.stderr
        )
        assert slurm.jobs() == []


def test_ctrl_c_ends_the_command_with_a_word_and_130(tmp_path):
    with Slurm(tmp_path / "slurm") as slurm:
        config = faults.slurm_config(tmp_path)
        command = [sys.executable, "-m", "nsr", "reproduce", "comparisons", "--out", str(tmp_path / "runs")]
        with subprocess.Popen(
            [*command, "--cluster", str(config)], cwd=tmp_path, env=slurm.environment, stderr=subprocess.PIPE, text=True
        ) as process:
            lines = list[str]()
            for line in process.stderr:
                lines.append(line)
                if "submitted to Slurm" in line:
                    process.send_signal(signal.SIGINT)
            assert "nsr: interrupted; finished blocks are kept" in lines[-1], lines
            assert process.wait(60) == 130
        assert slurm.jobs() == []
