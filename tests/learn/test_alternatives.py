import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import torch

from nsr.learn import NSRClassifier, alternatives, commands
from nsr.learn.alternatives import conventional, factor, is_in_per_cent, not_distinguished, open_factors
from nsr.learn.objections import vague_atom
from nsr.learn.page import write_page
from nsr.learn.rules import Reader
from nsr.learn.saved import load_saved, to_saved
from nsr.reading.atoms import Atom
from nsr.reading.columns import Columns
from nsr.reading.rows import LabelledRows


def labelled(border: float, *, keep_away: tuple[float, float], count: int = 400, seed: int = 0) -> LabelledRows:
    """Rows of a and b, with the class a > border * b, and none with a ratio between two numbers."""
    rng = np.random.default_rng(seed)
    x = rng.integers(100, 1_000, (4 * count, 2))
    ratio = x[:, 0] / x[:, 1]
    x = x[(ratio < keep_away[0]) | (ratio > keep_away[1])][:count]
    columns = Columns(torch.from_numpy(x), ["a", "b"])
    return LabelledRows(columns, (x[:, 0] > border * x[:, 1]).astype(np.int64), np.ones(len(x)), 2)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [(20, -21, "1.05"), (19, -20, "0.95"), (10, -9, "0.9"), (4, -5, "0.8"), (1, -3, "3"), (1, -1, None), (2, 3, None)],
)
def test_the_factor_of_a_multiple_is_the_simpler_of_two(one, two, expected):
    columns = Columns(torch.ones(2, 2, dtype=torch.int64), ["a", "b"])
    atom = Atom((("a", one), ("b", two)))
    assert factor(columns, atom) == (None if expected is None else Fraction(expected))
    assert is_in_per_cent(columns, atom) == (expected is not None)
    assert factor(columns, atom.with_constant(Fraction(3))) is None


@pytest.mark.parametrize("border", [1.05, 1 / 0.95])
def test_5_per_cent_more_is_taken_before_5_per_cent_less_and_the_other_is_named(border):
    rows = labelled(border, keep_away=(1.0475, 1.0555))
    reader = Reader(rows)
    rule = reader.read([Atom((("a", 19), ("b", -20)))])
    assert rule.wrong == 0
    chosen = conventional(reader, rule)
    assert str(chosen.expression) == "20*a > 21*b"
    assert not_distinguished(reader, chosen) == ("a > 1.05*b and 0.95*a > b",)
    assert not_distinguished(reader, rule) == ("0.95*a > b and a > 1.05*b",)


def test_the_convention_is_silent_where_rows_decide_and_where_prices_differ():
    reader = Reader(labelled(1 / 0.95, keep_away=(1.0522, 1.0555), count=1_500))
    rule = reader.read([Atom((("a", 19), ("b", -20)))])
    assert str(conventional(reader, rule).expression) == "19*a > 20*b"
    reader = Reader(labelled(1 / 0.85, keep_away=(1.174, 1.182)))  # 1.18 fits too, and is no round number
    rule = reader.read([Atom((("a", 17), ("b", -20)))])
    assert str(conventional(reader, rule).expression) == "17*a > 20*b"
    assert "0.85*a > b and a > 1.18*b" in not_distinguished(reader, rule)


def test_a_simpler_factor_that_one_more_row_contradicts_is_named_where_labels_are_wrong():
    exact = labelled(1 / 0.36, keep_away=(2.765, 2.78), count=800)
    x = torch.cat([exact.columns.x, torch.tensor([[2775, 1000]])])  # above 2.77, and below 1 / 0.36
    wrong = np.random.default_rng(1).random(len(exact)) < 0.05

    def reader_of(classes: np.ndarray) -> Reader:
        return Reader(LabelledRows(Columns(x, ["a", "b"]), np.append(classes, 1), np.ones(len(x)), 2))

    reader = reader_of(np.where(wrong, 1 - exact.classes, exact.classes))
    rule, true = (reader.read([Atom((("a", a), ("b", -b)))]) for a, b in ((100, 277), (9, 25)))
    assert rule.wrong == true.wrong - 1
    assert "a > 2.77*b and 0.36*a > b" in not_distinguished(reader, rule)
    reader = reader_of(exact.classes)
    assert not any("0.36*" in pair for pair in not_distinguished(reader, reader.read(rule.atoms)))  # one row decides


@pytest.mark.parametrize(
    ("flip", "expected"), [(False, "a > 1.1*b and 0.9*a > b"), (True, "a <= 1.1*b and 0.9*a <= b")]
)
def test_a_pair_is_written_as_the_rule_compares_and_without_half_steps(flip, expected):
    rng = np.random.default_rng(1)
    x = pd.DataFrame(rng.integers(100, 1_000, (1_600, 2)) / 100, columns=["a", "b"])
    ratio = x["a"] / x["b"]
    x = x[(ratio < 1.098) | (ratio > 1.114)][:400]
    model = NSRClassifier(restarts=2, random_state=0).fit(x, (x["a"] > 1.105 * x["b"]) ^ flip)
    assert model.evidence_.not_distinguished == (expected,)
    assert f"not distinguished by the data: {expected}" in str(model.evidence_)


def test_it_is_in_the_output_the_saved_rule_and_on_the_page(tmp_path):
    rows = labelled(1.05, keep_away=(1.0475, 1.0555))
    table = pd.DataFrame(rows.columns.x.numpy(), columns=["a", "b"]).assign(over=rows.classes)
    table.to_csv(tmp_path / "t.csv", index=False)
    learned = commands.learn(tmp_path / "t.csv", "over", restarts=2)
    assert learned.rule == "1 if 20*a > 21*b, else 0"
    pair = "a > 1.05*b and 0.95*a > b"
    assert f"not distinguished by the data: {pair}" in learned.summary()
    to_saved(learned.estimator, "over").save(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["not_distinguished"] == [pair]
    assert str(load_saved(tmp_path / "r.json").program) == "20*a > 21*b"
    write_page(tmp_path / "p.html", learned)
    assert "a &gt; 1.05*b and 0.95*a &gt; b" in (tmp_path / "p.html").read_text()


@pytest.mark.parametrize(
    ("rows", "weights", "is_vague"),
    [(400, (20, -21), False), (190, (20, -21), True), (400, (200, -211), True)],
)
def test_a_factor_of_whole_per_cents_may_be_open_where_there_are_rows_enough(rows, weights, is_vague):
    reader = Reader(labelled(1.05, keep_away=(1.045, 1.058), count=rows))
    rule = reader.read_all([Atom((("a", weights[0]), ("b", weights[1])))], "screen")
    assert rule.wrong == 0
    assert (vague_atom(reader, rule) is not None) == is_vague


@pytest.mark.parametrize(("rows", "flipped", "is_vague"), [(190, 0, False), (190, 4, True), (210, 4, False)])
def test_a_weighted_comparison_that_some_of_a_few_rows_contradict_needs_clearly_simple_numbers(rows, flipped, is_vague):
    clean = labelled(3.0, keep_away=(2.9, 3.1), count=rows)
    ratio = (clean.columns.x[:, 0] / clean.columns.x[:, 1]).numpy()
    classes = clean.classes.copy()
    classes[np.argsort(ratio)[:flipped]] ^= 1  # far from the border, so that its range is the same
    reader = Reader(LabelledRows(clean.columns, classes, clean.weight, 2))
    rule = reader.read_all([Atom((("a", 1), ("b", -3)))], "training")
    assert rule.wrong == flipped
    assert (vague_atom(reader, rule) is not None) == is_vague


@pytest.mark.parametrize(("border", "weights"), [(0.4283, (7, -3)), (1.568, (125, -196))])
def test_a_factor_that_is_neither_simple_nor_in_per_cent_is_vague(border, weights):
    reader = Reader(labelled(border, keep_away=(border, border), count=700))
    rule = reader.read_all([Atom((("a", weights[0]), ("b", weights[1])))], "screen")
    assert rule.wrong <= 2
    assert vague_atom(reader, rule) is not None


@pytest.mark.parametrize(("border", "weights"), [(3.0, (1, -3)), (0.75, (4, -3)), (1.25, (4, -5)), (0.4, (5, -2))])
def test_simple_factors_are_not_vague(border, weights):
    reader = Reader(labelled(border, keep_away=(border, border), count=700))
    rule = reader.read_all([Atom((("a", weights[0]), ("b", weights[1])))], "screen")
    assert vague_atom(reader, rule) is None


def test_how_far_a_factor_is_open_is_part_of_the_evidence():
    rows = labelled(0.8731, keep_away=(0.8691, 0.8747))
    rule = Reader(rows).read_all([Atom((("a", 100), ("b", -87)))], "screen")
    assert rule.wrong == 0
    ratio = rows.columns.x[:, 0].numpy() / rows.columns.x[:, 1].numpy()
    (text,) = open_factors(Reader(rows), rule)
    low, high = (float(number) for number in re.fullmatch(r"0\.87 could be ([\d.]+) to ([\d.]+) \(.*\)", text).groups())
    assert ratio[ratio < 0.87].max() == pytest.approx(low, abs=1e-4)
    assert ratio[ratio > 0.87].min() == pytest.approx(high, abs=1e-4)
    turned = Reader(rows).read_all([Atom((("a", 23), ("b", -20)))], "screen")
    assert open_factors(Reader(rows), turned)[0].startswith("1.15 could be 1.14")


def test_a_factor_that_rows_determine_is_not_open():
    x = np.vstack([np.random.default_rng(0).integers(1, 1_000, (300, 2)), [[869_999, 1_000_000], [870_001, 1_000_000]]])
    columns = Columns(torch.from_numpy(x), ["a", "b"])
    rows = LabelledRows(columns, (100 * x[:, 0] > 87 * x[:, 1]).astype(np.int64), np.ones(len(x)), 2)
    rule = Reader(rows).read_all([Atom((("a", 100), ("b", -87)))], "screen")
    assert rule.wrong == 0
    assert open_factors(Reader(rows), rule) == ()


def test_a_factor_is_named_where_another_constant_changes_with_it(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(100, 1_000, (400, 2)), rng.integers(0, 100, 400)])
    x = x[np.abs(x[:, 0] / x[:, 1] - 1.1) > 0.06]
    classes = ((x[:, 0] > 1.1 * x[:, 1]) & (x[:, 2] > 50)).astype(np.int64)
    reader = Reader(LabelledRows(Columns(torch.from_numpy(x), ["a", "b", "c"]), classes, np.ones(len(x)), 2))
    multiple, constant = Atom((("a", 10), ("b", -11))), Atom((("c", 1),), Fraction(50))
    rule = reader.read_all([multiple, constant], "screen")
    other = reader.read_all([Atom((("a", 9), ("b", -10))), Atom((("c", 1),), Fraction(101, 2))], "screen")
    changed = replace(other, atoms=(Atom((("c", 1),), Fraction(101, 2)), Atom((("a", 9), ("b", -10)))))
    monkeypatch.setattr(Reader, "read_all", lambda *_: changed)
    monkeypatch.setattr(alternatives, "multiples", lambda *_: [(("a", 9), ("b", -10))])
    assert not_distinguished(reader, rule) == ("a > 1.1*b and 0.9*a > b",)
