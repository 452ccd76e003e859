"""The tool that changes single expressions finds those that matter and leaves the others alone."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPECIFICATION = importlib.util.spec_from_file_location("mutate", ROOT / "tools" / "mutate.py")
mutate = importlib.util.module_from_spec(SPECIFICATION)
sys.modules["mutate"] = mutate  # its dataclasses look for their module
SPECIFICATION.loader.exec_module(mutate)

CODE = '''"""Text with 1 > 0 in it."""
é = "ü"


def add(a: "int > 0", b: int = 2) -> "1 + 1":
    if a > b and not b:
        raise ValueError(f"{a + b} is too much")
    return a + b if b == 3 else 0.5
'''


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    (tmp_path / "src" / "nsr").mkdir(parents=True)
    (tmp_path / "src" / "nsr" / "sample.py").write_text(CODE)
    return tmp_path


def test_every_change_and_nothing_of_annotations_and_messages(folder):
    found = {(each.before, each.after) for each in mutate.mutants(folder / "src" / "nsr" / "sample.py")}
    assert found == {
        ("2", "3"),
        ("a > b", "a >= b"),
        ("a > b and (not b)", "a > b or not b"),
        ("not b", "b"),
        ("b == 3", "b != 3"),
        ("3", "4"),
        ("a + b", "a - b"),
        ("0.5", "2.0"),
        ("a + b if b == 3 else 0.5", "0.5 if b == 3 else a + b"),
    }


def test_a_mutant_stands_where_its_expression_did(folder):
    path = folder / "src" / "nsr" / "sample.py"
    source = path.read_bytes()
    for mutant in mutate.mutants(path):
        assert source[mutant.start : mutant.end].decode() in (mutant.before, mutant.before.replace("(not b)", "not b"))
