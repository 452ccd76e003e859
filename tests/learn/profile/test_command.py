import json

import pytest

from nsr.cli import main
from tests.learn.profile.samples import orders


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "orders.csv"
    orders().to_csv(path, index=False)
    return str(path)


def nsr(capsys, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["profile", *words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


def test_the_statements_are_printed(capsys, table):
    code, out, _ = nsr(capsys, table)
    assert code == 0
    assert out.startswith("gross == net + tax\n    holds for all 400 rows; shuffled, ")


def test_files_are_written(capsys, table, tmp_path):
    code, _, err = nsr(capsys, table, "--html", str(tmp_path / "p.html"), "--json", str(tmp_path / "p.json"), "--all")
    assert code == 0
    assert "What holds in orders.csv" in (tmp_path / "p.html").read_text()
    assert json.loads((tmp_path / "p.json").read_text())["rows"] == 400
    assert f"nsr: wrote {tmp_path}/p.html\n" in err


def test_checks_go_to_standard_output_alone(capsys, table):
    code, out, err = nsr(capsys, table, "--emit", "checks", "--dialect", "postgres")
    assert code == 0
    assert all(line.startswith('SELECT * FROM "orders" WHERE NOT ') for line in out.splitlines())
    assert "nsr: city determines country: about several rows" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.csv"], "nsr: missing.csv does not exist: check the file name and the folder\n"),
        (["TABLE", "--emit", "cobol"], "nsr: unknown language 'cobol': choose from checks, python"),
        (["TABLE", "--least", "2"], "nsr: least must be more than 0.5 and at most 1, got 2"),
        (["TABLE", "--html", "TABLE"], "cannot be written: it is the input; name another file"),
    ],
)
def test_wrong_input_is_a_sentence(capsys, table, words, message):
    code, out, err = nsr(capsys, *(table if word == "TABLE" else word for word in words))
    assert (code, out) == (2, "")
    assert message in err


def test_interrupted(capsys, table, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("nsr.learn.profile.profile", stop)
    assert nsr(capsys, table) == (130, "", "nsr: interrupted\n")
