"""What all targets have in common, and how one is added."""

import subprocess
import sys

import pytest

from nsr.errors import InputError
from nsr.program import Compare, Program, Variable
from nsr.program.emit import TARGETS, emit
from nsr.program.emit.exactness import integer_range
from nsr.program.emit.names import identifiers, is_python_name, printable

PROGRAM = Program(Compare(">", Variable("a"), Variable("b")))


@pytest.mark.parametrize("target", TARGETS)
def test_programs_can_be_emitted_in_every_target(target):
    options = {"table": "t"} if target in ("check-sql", "dbt") else {}
    assert type(PROGRAM.emit(target, **options)) is type(emit(PROGRAM, target, **options))


def test_unknown_targets_and_options_are_errors_with_a_suggestion():
    with pytest.raises(InputError, match=r"^unknown target 'pyhton': choose from python, pandas, .* mean 'python'\?$"):
        emit(PROGRAM, "pyhton")
    with pytest.raises(InputError, match="^unknown option of target 'python' 'nam': choose from name, "):
        emit(PROGRAM, "python", nam="rule")


@pytest.mark.parametrize("target", ["sympy", "onnx"])
def test_a_missing_extra_is_named(target, monkeypatch):
    monkeypatch.setitem(sys.modules, target, None)
    with pytest.raises(InputError) as error:
        emit(PROGRAM, target)
    assert str(error.value).startswith(f"this needs {target}: ")
    assert "pip install 'neural-status-registers[export]'" in str(error.value)


def test_sympy_and_onnx_are_imported_lazily_and_warnings_point_at_the_caller():
    code = (
        "import sys, nsr.program.emit; from nsr.program import *\n"
        "print('sympy' in sys.modules, 'onnx' in sys.modules)\n"
        "Program(Variable('a') + (2**53 + 1)).emit('python')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False False\n"
    assert ran.stderr.startswith("<string>:3: InexactWarning: 9007199254740993 is not a float: ")


TOY = """
from nsr.program import Program
from nsr.program.emit.targets import target


@target("toy")
def toy_text(rule: Program, *, shout: bool = False) -> str:
    return str(rule).upper() if shout else str(rule)
"""


def test_a_target_is_added_by_one_file_and_one_import(tmp_path, monkeypatch):
    (tmp_path / "toy_target.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(TARGETS, "toy", None)  # so that it is removed after the test
    from toy_target import toy_text  # the one line elsewhere

    assert PROGRAM.emit("toy") == toy_text(PROGRAM) == "a > b"
    assert PROGRAM.emit("toy", shout=True) == "A > B"
    with pytest.raises(InputError, match="^unknown option of target 'toy' 'shoot': choose from shout; did you mean"):
        PROGRAM.emit("toy", shoot=True)


def test_the_command_accepts_every_target_that_gives_text(monkeypatch):
    from nsr.learn.commands import check_language

    monkeypatch.setitem(TARGETS, "toy", str)
    for name in ("toy", "python", "json"):
        check_language(name)
    with pytest.raises(InputError, match="'onnx'"):
        check_language("onnx")


def test_identifiers_are_valid_different_and_not_taken():
    names = ["a b", "a_b", "a-b", "1", "", "ä", "é è", "class", "taken", "x" * 100]
    found = identifiers(names, taken=("taken",))
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    assert all(map(is_python_name, found.values()))
    assert (found["a_b"], found["a b"], found["a-b"], found["ä"]) == ("a_b", "a_b_1", "a_b_2", "ä")
    assert "taken" not in found.values()


def test_printable_text_is_one_line():
    assert printable("a\n\u202e\U000e0001é") == "a\\x0a\\u202e\\U000e0001é"
    assert printable("é", ascii_only=True) == "\\xe9"


def test_the_range_of_integers_is_the_largest():
    a, b = Variable("a"), Variable("b")
    assert integer_range(a) == 2**63 - 1
    assert integer_range(a * 3 - b * 2 + 7) == (2**63 - 1 - 7) // 5
    assert integer_range(a + 2**63) is None
    assert integer_range(a * 2**63) is None
    assert integer_range(a * b) == 3037000499
    assert 3037000499**2 < 2**63 < 3037000500**2
    assert integer_range(5 * a * a * b - 3) == 1226421
    assert 5 * 1226421**3 + 3 < 2**63 <= 5 * 1226422**3 + 3
    assert integer_range(a * b * 2**62) == 1
