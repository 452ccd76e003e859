"""Names and labels that are too long, not UTF-8, or that would control a terminal."""

import io
import os
import pty
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from nsr.cli import main
from nsr.cli.output import print_code, print_message, print_output, without_controls
from nsr.learn.saved import SavedRule
from nsr.program import Program, Variable

LONG = "n" * 300


def nsr(capsys, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(words))
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.fixture
def table(tmp_path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("a,b,label\n" + "".join(f"{i * 7 % 23},{i * 5 % 19},{i % 2}\n" for i in range(60)))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("learn", LONG, "--target", "label"),
        ("learn", "TABLE", "--target", "label", "--save", LONG),
        ("learn", "TABLE", "--target", "label", "--html", LONG),
        ("profile", LONG),
        ("profile", "TABLE", "--html", LONG),
        ("apply", LONG, "TABLE"),
        ("check", LONG, "--against", LONG),
        ("results", "--out", LONG),
        ("results", "--failures", "--out", LONG),
        ("report", "--from", LONG),
        ("reproduce", "comparisons", "--out", LONG),
    ],
)
def test_a_name_of_300_characters_is_one_sentence(capsys, table, words):
    code, out, err = nsr(capsys, *(str(table) if word == "TABLE" else word for word in words))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "too long" in err


@pytest.mark.parametrize("seed", ["-1", "4294967296"])
@pytest.mark.parametrize("command", [("learn", "--target", "label"), ("profile",)])
def test_a_seed_outside_of_its_range_is_one_sentence(capsys, table, command, seed):
    code, _, err = nsr(capsys, command[0], str(table), *command[1:], f"--seed={seed}")
    assert (code, err) == (2, f"nsr: seed must be from 0 to 4,294,967,295, got {seed}\n")


@pytest.mark.parametrize("command", [("learn", "--target", "label"), ("profile",)])
def test_a_table_whose_name_is_not_utf8_is_one_sentence(capsys, table, command):
    other = os.fsdecode(os.fsencode(table.parent) + b"/t\xff.csv")
    table.rename(other)
    code, _, err = nsr(capsys, command[0], other, *command[1:])
    assert code == 2
    assert err.endswith("t\\udcff.csv' is not valid UTF-8: rename the file\n")


@pytest.mark.outer
def test_files_whose_names_are_not_utf8_are_written(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "".join(f"{i},{i + 1}\n" for i in range(60)))
    page, rule = b"p\xff.html", b"r\xff.json"
    command = [sys.executable, "-m", "nsr", "learn", "t.csv", "--target", "b", "--html", page, "--save", rule]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    assert done.stderr.endswith(b"nsr: wrote p\\udcff.html\n")
    assert {page, rule} <= {os.fsencode(entry.name) for entry in tmp_path.iterdir()}


def test_half_of_a_surrogate_pair_is_printed_as_an_escape(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", stream)
    print_output("p\udcff.csv")
    assert stream.seek(0) == 0
    assert stream.read() == "p\\udcff.csv\n"


def test_messages_cannot_control_the_terminal(capsys):
    print_message("red \x1b[31m\x07 \u202e größer\n\tnext")
    assert capsys.readouterr().err == "nsr: red \\x1b[31m\\x07 \\u202e größer\n\tnext\n"
    assert without_controls("größer\n\t") == "größer\n\t"


@pytest.mark.outer
def test_labels_cannot_control_the_terminal_but_stay_as_they_are_in_a_pipe(tmp_path):
    SavedRule("label", ("\x1b[31mred", "blue"), Program(Variable("a") > Variable("b"))).save(tmp_path / "rule.json")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n2,1\n")
    command = [sys.executable, "-m", "nsr", "apply", "rule.json", "t.csv"]
    piped = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, check=True).stdout
    assert piped == b"label\n\x1b[31mred\nblue\n"
    ours, theirs = pty.openpty()
    subprocess.run(command, cwd=tmp_path, stdout=theirs, check=True)
    assert os.read(ours, 1000) == b"label\r\n\\x1b[31mred\r\nblue\r\n"
    os.close(ours)
    os.close(theirs)


def test_what_is_reported_about_a_store_has_no_control_characters_in_a_pipe_either(capsys, tmp_path):
    from nsr.paper.sweep.store import Store

    with closing(Store(tmp_path)) as store:
        failure = "'x' || char(27) || '[32m', 'tb' || char(27) || '[31m' || char(10) || 'b', 3, 't'"
        store._connection.execute(f"INSERT INTO failures VALUES ({failure})")
        row = "'x', 'e', 1, '{}', '{}', 'p' || char(27) || '[31m', 1, '{}', 1.0, 1, '{}', 't', x'00'"
        store._connection.execute(f"INSERT INTO results VALUES ({row})")
    out = ("--out", str(tmp_path))
    assert nsr(capsys, "results", "--failures", *out)[1] == "x\\x1b[32m\ntried 3 times, last:\ntb\\x1b[31m\nb\n"
    named = "record 1 (e {}, profile p\\x1b[31m, seed 1): its checksum is wrong\n"
    assert nsr(capsys, "results", "--verify", *out)[1] == named
    assert nsr(capsys, "results", "--repair", *out)[1] == f"dropped {named}"


def test_code_that_a_terminal_would_show_otherwise_is_announced(capsys, monkeypatch):
    code = '"a\x1b[31m" > 1'
    print_code(code)
    assert capsys.readouterr() == (f"{code}\n", "")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    print_code(code)
    out, err = capsys.readouterr()
    assert out == '"a\\x1b[31m" > 1\n'
    assert err == "nsr: the code has control characters, shown here as escapes: write it to a file to use it\n"
    print_code("a > 1")
    assert capsys.readouterr() == ("a > 1\n", "")


def test_columns_in_sympy_are_symbols_and_are_listed(capsys, tmp_path):
    rows = "".join(f"{i * 7 % 23},{i * 5 % 19},{int(i * 7 % 23 > i * 5 % 19)}\n" for i in range(80))
    (tmp_path / "t.csv").write_text("E,__import__('os').getcwd(),y\n" + rows)
    code, out, err = nsr(capsys, "learn", str(tmp_path / "t.csv"), "--target", "y", "--emit", "sympy", "--quiet")
    assert (code, out) == (0, "Piecewise((1, E_1 > import_os_getcwd), (0, True))\n")
    assert "nsr: in the code, E_1 means E, import_os_getcwd means __import__('os').getcwd()\n" in err
