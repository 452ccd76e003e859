"""Appendices C and E beside ours, and the diagrams."""

import re
import xml.etree.ElementTree as ET

from nsr.paper.cells import Summary
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.report import appendix
from nsr.paper.report.appendix import mlp_weights, nsr_weights, runtimes
from nsr.paper.report.diagrams import BOX, DIAGRAMS, HEIGHT
from tests.paper import test_paper


def test_two_rows_of_weights_for_the_nsr_fail_with_relaxed_bits():
    table = nsr_weights()
    relaxed = {row[0]: row[-1] for row in table.rows}
    assert {name for name, text in relaxed.items() if text != "right"} == {"x1 < x2", "x1 >= x2"}
    assert relaxed["x1 < x2"] == "wrong where x1 - x2 >= 2"
    assert all(row[-2] == "right" for row in table.rows)


def test_one_row_of_weights_for_the_mlp_computes_another_comparison():
    assert {row[0]: row[-1] for row in mlp_weights().rows if row[-1] != "right"} == {"x1 <= x2": "computes <"}


def test_runtimes_are_those_of_the_records():
    cell = EXPERIMENTS["piecewise"].cells[0]
    fast, slow = (
        Summary(cell, "paper", "paper", {"train": (1.0,) * 10}, (), seconds, 1, {}) for seconds in (30.0, 90.0)
    )
    rows = {row[0]: row[1:] for row in runtimes({"piecewise": [fast, slow]}).rows}
    assert rows["piecewise"] == ("minutes on 2 CPU cores", "3.0 to 9.0 s", "2.0", "missing", "missing")
    assert rows["digits"][0] == "about 9 hours for 20 epochs on a GTX Titan"


def test_diagrams_are_pictures_with_every_box_and_arrow():
    assert [diagram.name for diagram in DIAGRAMS] == ["register", "piecewise", "minimum", "count", "paths"]
    for diagram in DIAGRAMS:
        root = ET.fromstring(diagram.svg)
        texts = [element.text for element in root.iter("text")]
        assert texts == [box.text for box in diagram.boxes]
        assert len(list(root.iter("path"))) == len(diagram.arrows)


def test_the_weights_are_those_typed_a_second_time():
    assert appendix.NSR_WEIGHTS == test_paper.NSR_WEIGHTS
    assert appendix.MLP_WEIGHTS == test_paper.MLP_WEIGHTS


def test_no_arrow_runs_through_a_box_and_no_two_end_at_the_same_point():
    for diagram in DIAGRAMS:
        lines = [tuple(map(float, found)) for found in re.findall(r"M(\S+) (\S+?)L(\S+) (\S+?)\"", diagram.svg)]
        assert len(lines) == len(diagram.arrows)
        assert len({line[2:] for line in lines}) == len(lines)
        for (x1, y1, x2, y2), ends in zip(lines, diagram.arrows, strict=True):
            others = [box for place, box in enumerate(diagram.boxes) if place not in ends]
            for step in range(101):
                x, y = x1 + (x2 - x1) * step / 100, y1 + (y2 - y1) * step / 100
                assert not any(b.left < x < b.left + BOX and abs(y - b.middle) < HEIGHT / 2 for b in others)


def test_the_columns_of_runtimes_have_different_names():
    columns = runtimes({}).columns
    assert len(set(columns)) == len(columns)
