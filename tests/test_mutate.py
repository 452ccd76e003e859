"""The tool that changes single expressions finds those that matter, leaves the others alone, and chooses tests."""

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
LARGEST = 40


def add(a: "int > 0", b: int = 2) -> "1 + 1":
    if a > b and not b:
        raise ValueError(f"{a + b} is too much")
    for each in range(a):
        if each:
            break
        print(each)
    a *= b
    return a + b if b == 3 else 0.5
'''


@pytest.fixture
def found(tmp_path) -> list:
    (tmp_path / "sample.py").write_text(CODE)
    return list(mutate.mutants(tmp_path / "sample.py", tmp_path))


def test_every_change_and_nothing_of_annotations_and_messages(found):
    assert {(each.before, each.after) for each in found} == {
        ("40", "(41)"),
        ("2", "(3)"),
        ("a > b", "(a >= b)"),
        ("a > b and (not b)", "(a > b or not b)"),
        ("not b", "(b)"),
        ("each", "(not each)"),
        ("break", "continue"),
        ("print(each)", "pass"),
        ("a *= b", "a += b"),
        ("b == 3", "(b != 3)"),
        ("3", "(4)"),
        ("a + b", "(a - b)"),
        ("0.5", "(2.0)"),
        ("a + b if b == 3 else 0.5", "(0.5 if b == 3 else a + b)"),
    }


def test_a_mutant_stands_where_its_expression_did_and_is_python(found):
    source = CODE.encode()
    for mutant in found:
        assert source[mutant.start : mutant.end].decode() in (mutant.before, mutant.before.replace("(not b)", "not b"))
        compile(mutant.applied(source), mutant.file, "exec")


def test_what_the_import_runs_is_told_from_what_calls_run(found):
    assert {each.before for each in found if not each.in_function} == {"40", "2"}


MAP = {
    "tests/test_sample.py": {
        "seconds": {"tests/test_sample.py::slow": 3.0, "tests/test_sample.py::quick": 0.1},
        "lines": {"sample.py": {"14": [0, 1], "3": []}},
    },
    "tests/test_other.py": {
        "seconds": {"tests/test_other.py::one": 0.2, "tests/test_other.py::two": 9.0},
        "lines": {"sample.py": {"14": [0], "9": [1]}},
    },
    "tests/test_unrelated.py": {"seconds": {"tests/test_unrelated.py::any": 0.1}, "lines": {"another.py": {"14": [0]}}},
}


def chosen(found, before, budget=100.0):
    [mutant] = [each for each in found if each.before == before]
    first, others, seconds = mutate.tests_for(mutant, MAP, budget)
    return [name.split("::")[1] for name in first], [name.split("::")[1] for name in others], seconds


def test_only_tests_that_reach_the_line_are_chosen_the_quick_ones_first(found):
    assert chosen(found, "b == 3") == (["quick", "slow"], ["one"], pytest.approx(3.3))


def test_a_budget_leaves_out_the_slow_ones(found):
    assert chosen(found, "b == 3", 1.0) == (["quick"], ["one"], pytest.approx(0.3))


def test_a_line_of_the_import_is_reached_by_all_tests_of_the_file(found):
    assert chosen(found, "40") == (["quick", "slow"], ["one", "two"], pytest.approx(12.3))


def test_where_no_test_reaches_a_line_those_of_the_same_name_run(found):
    assert chosen(found, "a > b") == (["quick", "slow"], [], pytest.approx(3.1))


def test_the_second_sample_has_nothing_of_the_first(capsys):
    first = mutate.drawn(["training"], 40, 0, [])
    again = mutate.drawn(["training"], 40, 0, [])
    other = mutate.drawn(["training"], 40, 0, [mutate.asdict(mutant) for _, mutant in first])
    assert first == again
    assert len(other) == 40
    assert not {mutant for _, mutant in first} & {mutant for _, mutant in other}


def test_the_score_leaves_out_what_is_equivalent():
    records = [{"part": "nn", "outcome": "killed"}] * 19 + [{"part": "nn", "outcome": "survived"}]
    records += [{"part": "nn", "outcome": "survived", "equivalent": "the same"}]
    assert (
        mutate.score(records).splitlines()[0].startswith("all: killed 19 of 20: 0.950 (95 % interval 0.764 to 0.991)")
    )
