import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from nsr import __version__
from nsr.cli import main
from nsr.learn.saved import SavedRule
from nsr.paper.sweep import run
from nsr.program import Program, Variable

SCHEMA = json.loads((files("nsr.paper.report") / "results.schema.json").read_text())
SMALL = ["--profile", "smoke", "--recipe", "exact", "--model", "nsr", "--comparison", ">", "--workers", "1"]
IN_THREADS = ["--executor", "concurrent.futures:ThreadPoolExecutor"]


def nsr(capsys, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> str:
    folder = str(tmp_path_factory.mktemp("runs"))
    subprocess.run(
        [sys.executable, "-m", "nsr", "reproduce", "comparisons", *SMALL, "--out", folder, "--quiet"], check=True
    )
    return folder


def test_json_alone_goes_to_standard_output_and_fits_the_schema(capsys, tmp_path):
    code, out, err = nsr(capsys, "reproduce", "comparisons", *SMALL, "--json", "--out", str(tmp_path))
    assert code == 0
    jsonschema.validate(json.loads(out), SCHEMA)
    (row,) = json.loads(out)["comparisons"]
    assert (row["model"], row["comparison"], row["seeds"], row["recipe"]) == ("nsr", ">", 2, "exact")
    assert row["metrics"]["10^15"] == 1
    assert "1 block to run" in err


def test_a_second_call_only_writes_the_page(capsys, runs):
    code, out, err = nsr(capsys, "reproduce", "comparisons", *SMALL, "--out", runs)
    assert code == 0
    assert "Table 1: NSR, recipe exact, 2 seeds" in out
    assert err.splitlines() == [
        f"nsr: wrote {runs}/report.html",
        f"nsr: nothing to run: all results are in {runs}",
    ]


def test_results(capsys, runs, tmp_path):
    code, out, err = nsr(capsys, "results", "comparisons", "--out", runs, "--json")
    assert (code, err) == (0, "")
    jsonschema.validate(json.loads(out), SCHEMA)
    assert json.loads(out)["comparisons"][0]["published"]["10^13"] == 1
    assert "Table 1: NSR" in nsr(capsys, "results", "--out", runs)[1]
    assert nsr(capsys, "results", "--out", runs, "--failures")[:2] == (0, "")
    _, out, _ = nsr(capsys, "results", "--out", runs, "--export", str(tmp_path))
    assert out.splitlines() == [f"{tmp_path}/comparisons.csv", f"{tmp_path}/index.json"]
    code, out, _ = nsr(capsys, "report", "--from", str(tmp_path), "--html", str(tmp_path / "page.html"))
    assert (code, out) == (0, f"{tmp_path}/page.html\n")


def test_a_failure_is_reported_and_exits_with_1(capsys, tmp_path, monkeypatch):
    def fails(_):
        raise RuntimeError("out of paper")

    monkeypatch.setattr(run, "run_item", fails)
    code, _, err = nsr(capsys, "reproduce", "comparisons", *SMALL, *IN_THREADS, "--out", str(tmp_path), "--quiet")
    assert code == 1
    assert "1 of 1 blocks failed; nsr results --failures shows why, and the same command retries them" in err
    assert "RuntimeError: out of paper" in nsr(capsys, "results", "--failures", "--out", str(tmp_path))[1]


def test_damaged_records_are_listed_and_dropped(capsys, runs, tmp_path):
    shutil.copytree(runs, tmp_path / "runs")
    out = ("--out", str(tmp_path / "runs"))
    assert nsr(capsys, "results", "--verify", *out) == (0, "", "nsr: 2 of 2 records are intact\n")
    connection = sqlite3.connect(tmp_path / "runs" / "nsr.sqlite")
    with connection:
        connection.execute("UPDATE results SET metrics = replace(metrics, '1.0', '0.5') WHERE seed = 1")
    connection.close()
    code, _, err = nsr(capsys, "reproduce", "comparisons", *SMALL, *out)
    assert (code, err.count("\n")) == (2, 1)
    assert "a record is damaged" in err
    code, listed, err = nsr(capsys, "results", "--verify", *out)
    assert (code, err) == (1, "nsr: 1 of 2 records are intact\n")
    assert listed.startswith("record 2 (comparisons {")
    assert listed.endswith(", profile smoke, seed 1): its checksum is wrong\n")
    assert nsr(capsys, "results", "--repair", *out)[:2] == (0, f"dropped {listed}")
    assert nsr(capsys, "reproduce", "comparisons", *SMALL, *out, "--quiet")[0] == 0
    assert nsr(capsys, "results", "--verify", *out) == (0, "", "nsr: 2 of 2 records are intact\n")


def test_a_folder_deleted_during_a_run_is_reported_and_exits_with_1(capsys, tmp_path, monkeypatch):
    def deletes(item):
        shutil.rmtree(tmp_path / "runs")
        return run_item(item)

    run_item = run.run_item
    monkeypatch.setattr(run, "run_item", deletes)
    folder = tmp_path / "runs"
    options = (*IN_THREADS, "--out", str(folder), "--quiet", "--json")
    code, out, err = nsr(capsys, "reproduce", "comparisons", *SMALL, *options)
    assert (code, out) == (1, "")
    assert err.startswith(f"nsr: the results are lost: {folder}/nsr.sqlite was deleted or replaced during the run")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_the_request_to_end_keep_what_is_finished_and_exit_with_130(tmp_path, number):
    command = [sys.executable, "-m", "nsr", "reproduce", "comparisons", "--recipe", "paper", "--workers", "1"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert "blocks to run" in process.stderr.readline()
    time.sleep(1)
    os.kill(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith("nsr: interrupted; finished blocks are kept, and the same command continues from there\n")
    assert "Traceback" not in err
    with closing(sqlite3.connect(tmp_path / "nsr.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM claims").fetchone() == (0,)


SLOW_TO_END = """
import os, signal, sys, time
from nsr.cli import main
from nsr.paper import commands

def slow(*names, **options):
    try:
        print("started", flush=True)
        time.sleep(60)
    finally:
        print("ending", flush=True)
        time.sleep(60)

commands.reproduce = slow
signal.signal(signal.SIGINT, signal.default_int_handler)
main(["reproduce", "comparisons", "--quiet"])
"""


def test_ctrl_c_twice_exits_with_130_at_once():
    process = subprocess.Popen([sys.executable, "-c", SLOW_TO_END], stdout=subprocess.PIPE, text=True)
    for word in ("started\n", "ending\n"):
        assert process.stdout.readline() == word
        process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    process.stdout.close()


SLOW_TO_BE_TORN_DOWN = """
import os, signal, time
from nsr.cli import main
from nsr.paper import commands

class Slow:
    def __init__(self):
        self.write, self.sleep = os.write, time.sleep
    def __del__(self):
        self.write(1, b"torn down\\n")
        self.sleep(0.5)

slow = Slow()
commands.reproduce = lambda *names, **options: print("started", flush=True) or time.sleep(60)
signal.signal(signal.SIGINT, signal.default_int_handler)
main(["reproduce", "comparisons", "--quiet"])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_while_python_ends_exits_with_130_too(number):
    process = subprocess.Popen([sys.executable, "-c", SLOW_TO_BE_TORN_DOWN], stdout=subprocess.PIPE, text=True)
    for word in ("started\n", "torn down\n"):
        assert process.stdout.readline() == word
        process.send_signal(number)
    assert process.wait(timeout=20) == 130
    process.stdout.close()


def test_handlers_of_signals_are_restored(capsys):
    before = signal.getsignal(signal.SIGTERM)
    nsr(capsys, "list")
    assert signal.getsignal(signal.SIGTERM) is before


def test_list_and_version(capsys):
    code, out, _ = nsr(capsys, "list")
    assert code == 0
    assert "comparisons" in out
    assert "Table 1" in out
    assert nsr(capsys, "--version")[1].strip() == f"nsr {__version__}"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (
            ["reproduce", "comparisonz"],
            "nsr: unknown experiment 'comparisonz': choose from comparisons, floats, piecewise, redundancy, recurrent,",
        ),
        (["reproduce", "--profile", "papr"], "nsr: unknown profile 'papr': choose from smoke, quick, paper; did you"),
        (["reproduce", "--recipe", "exat"], "nsr: unknown recipe 'exat': choose from paper, exact, both; did you mean"),
        (["reproduce", "--comparison", "=>"], "nsr: unknown comparison '=>': choose from >, <, >=, <=, =, !=; did you"),
        (["reproduce", "--seeds", "0"], "nsr: seeds must be from 1 to 1,000,000, got 0"),
        (["reproduce", "--seeds", "ten"], 'nsr: Invalid value for --seeds: unable to convert "ten" into int.'),
        (["reproduce", "--sedes", "3"], "nsr: Unknown option: --sedes. Did you mean --seeds?"),
        (["reprodce"], 'nsr: Unknown command "reprodce". Did you mean "reproduce"?'),
        (
            ["reproduce", "digits", "--data", "nowhere"],
            "nsr: there is no folder nowhere: --data names the folder with the files of MNIST",
        ),
        (
            ["reproduce", "digits", "--data", "."],
            "nsr: --data is only for runs that read MNIST, such as digits --profile paper",
        ),
        (
            ["reproduce", "--executor", "dsk"],
            "nsr: unknown executor 'dsk': choose from local, dask, slurm, ",
        ),
        (["reproduce", "--cluster", "nowhere"], "nsr: cannot read the cluster file nowhere: No such file or directory"),
        (["results", "--out", "nowhere"], "nsr: there are no results in nowhere: run nsr reproduce first, or name"),
        (["report", "--from", "nowhere"], "nsr: there are no exported results in nowhere: nsr results --export DIR"),
    ],
)
def test_a_wrong_command_is_one_sentence_and_exit_code_2(capsys, words, text):
    code, out, err = nsr(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(text)
    assert len(err.splitlines()) == 1


def test_a_folder_without_mnist_is_one_sentence_before_any_worker_starts(capsys, tmp_path, monkeypatch):
    words = ["reproduce", "digits", "--profile", "paper", "--out", str(tmp_path / "runs")]
    sentence = f"nsr: there is no train-images-idx3-ubyte.gz in {tmp_path}: MNIST is read from "
    code, out, err = nsr(capsys, *words, "--data", str(tmp_path))
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(sentence)
    monkeypatch.setenv("NSR_DATA", str(tmp_path))
    code, out, err = nsr(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(sentence)


def test_the_command_runs_as_a_module():
    printed = subprocess.run([sys.executable, "-m", "nsr", "--help"], capture_output=True, text=True, check=True).stdout
    assert "reproduce" in printed


@pytest.fixture
def rule(tmp_path) -> Path:
    """A saved rule, which says what the column a says, beside a table of one row."""
    SavedRule("y", None, Program(Variable("a"))).save(tmp_path / "rule.json")
    (tmp_path / "t.csv").write_text("a\n1\n")
    return tmp_path / "rule.json"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(("unbuffered", "command"), [("1", "apply"), ("", "list")])
def test_an_output_that_is_full_is_one_sentence_and_exit_code_1(rule, unbuffered, command):
    words = [str(rule), str(rule.with_name("t.csv"))] if command == "apply" else []
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "nsr", command, *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert (done.returncode, done.stderr) == (1, "nsr: cannot write the output: No space left on device\n")


@pytest.mark.outer
def test_a_reader_that_has_gone_is_no_error(rule, tmp_path):
    (tmp_path / "t.csv").write_text("a\n" + "1\n" * 100_000)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "nsr", "apply", str(rule), str(tmp_path / "t.csv")],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": ""},
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
