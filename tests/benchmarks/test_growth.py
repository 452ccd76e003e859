import json

import growth
import pytest


def test_sizes_vary_one_number_at_a_time():
    todo = growth.sizes(["greater", "max-8"], "tree", [300, 900], [5, 30])
    assert [(size.axis, size.line, size.rows, size.columns) for size in todo] == [
        ("rows", "greater", 300, 15),
        ("rows", "greater", 900, 15),
        ("rows", "max-8", 300, 15),
        ("rows", "max-8", 900, 15),
        ("columns", "greater", 1000, 5),
        ("columns", "greater", 1000, 30),
        ("columns", "max-8", 1000, 30),
    ]


def test_a_fit_is_a_record_with_its_seconds():
    record = growth.measure(growth.Size("rows", "greater", "tree", 300, 9), 60)
    assert record["error"] is None
    assert 0 < record["seconds"] < 10
    assert record["read_back"] is None


def record_of(size: growth.Size, **known) -> dict:
    return {**growth.asdict(size), "seconds": 1.0, "cpu_seconds": 1.0, "read_back": True, "error": None, **known}


def test_records_of_a_file_are_not_measured_again(tmp_path):
    todo = growth.sizes(["greater"], "nsr", [300, 900], [5])
    file = tmp_path / "growth.jsonl"
    file.write_text("".join(json.dumps(record_of(size)) + "\n" for size in todo))
    assert growth.measure_all(todo, file, 60) == [record_of(size) for size in todo]


def test_larger_sizes_are_left_out_after_one_that_took_too_long(tmp_path):
    todo = growth.sizes(["greater"], "nsr", [300, 900], [])
    file = tmp_path / "growth.jsonl"
    slow = record_of(todo[0], seconds=None, error="TimeoutError: the time limit of a fit")
    file.write_text(json.dumps(slow) + "\n")
    assert growth.measure_all(todo, file, 60) == [slow]


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_the_chart_is_a_file(tmp_path, kind):
    todo = growth.sizes(["greater", "sum"], "nsr", [300, 900], [5, 10])
    file = tmp_path / f"growth.{kind}"
    growth.chart([record_of(size, seconds=size.rows / 100) for size in todo]).save(file)
    assert file.stat().st_size > 1000
