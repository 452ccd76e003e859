import json
import subprocess
import sys

import pytest

from nsr import __version__
from nsr.cli import main


def nsr(capsys, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_json_alone_goes_to_standard_output(capsys):
    words = ["reproduce", "comparisons", "--profile", "smoke", "--recipe", "exact", "--model", "nsr", "--seeds", "2"]
    code, out, err = nsr(capsys, *words, "--comparison", ">", "--workers", "1", "--json")
    assert code == 0
    (row,) = json.loads(out)["comparisons"]
    assert (row["model"], row["comparison"], row["seeds"], row["recipe"]) == ("nsr", ">", 2, "exact")
    assert row["metrics"]["10^15"] == 1
    assert "1 blocks to run" in err


def test_tables_by_default_and_no_progress_when_quiet(capsys):
    code, out, err = nsr(capsys, "reproduce", "--profile", "smoke", "--recipe", "exact", "--model", "nsr", "--quiet")
    assert (code, err) == (0, "")
    assert "Table 1: NSR, recipe exact, 2 seeds" in out
    assert "10^15" in out


def test_list_and_version(capsys):
    code, out, _ = nsr(capsys, "list")
    assert code == 0
    assert "comparisons" in out
    assert "Table 1" in out
    assert nsr(capsys, "--version")[1].strip() == f"nsr {__version__}"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["reproduce", "comparisonz"], "nsr: unknown experiment 'comparisonz': choose from comparisons; did you mean"),
        (["reproduce", "--profile", "papr"], "nsr: unknown profile 'papr': choose from smoke, quick, paper; did you"),
        (["reproduce", "--recipe", "exat"], "nsr: unknown recipe 'exat': choose from paper, exact, both; did you mean"),
        (["reproduce", "--comparison", "=>"], "nsr: unknown comparison '=>': choose from >, <, >=, <=, =, !=; did you"),
        (["reproduce", "--seeds", "0"], "nsr: seeds must be at least 1, got 0"),
        (["reproduce", "--seeds", "ten"], 'nsr: Invalid value for --seeds: unable to convert "ten" into int.'),
        (["reproduce", "--sedes", "3"], "nsr: Unknown option: --sedes. Did you mean --seeds?"),
        (["reprodce"], 'nsr: Unknown command "reprodce". Did you mean "reproduce"?'),
    ],
)
def test_a_wrong_command_is_one_sentence_and_exit_code_2(capsys, words, text):
    code, out, err = nsr(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(text)
    assert len(err.splitlines()) == 1


def test_interrupted(capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("nsr.workflows.reproduce", stop)
    code, _, err = nsr(capsys, "reproduce")
    assert (code, err) == (130, "nsr: interrupted\n")


def test_the_installed_command_helps():
    command = [sys.executable, "-m", "nsr", "--help"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "reproduce" in printed
