import json
from io import StringIO
from types import SimpleNamespace

import learn
import numpy as np
import pytest
from contenders import CONTENDERS, differences
from learn_report import markdown, print_tables, wilson
from no_rule_tables import no_rule_table
from oblique import ObliqueTree
from rich.console import Console
from rule_lines import LINES
from scipy.stats import binomtest

from nsr.errors import InputError
from nsr.learn import NSRClassifier, networks
from nsr.program import Program

NAMES = [*LINES, "random", "ellipse", "sine-class", "clusters", "logistic", "numbers", "real"]


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (0, 300), (7, 10), (10, 10), (359, 360)])
def test_intervals_are_those_of_scipy(successes, trials):
    known = binomtest(successes, trials).proportion_ci(0.95, method="wilson")
    assert wilson(successes, trials) == pytest.approx((known.low, known.high), abs=1e-12)


def test_an_interval_of_nothing_is_an_error():
    with pytest.raises(ValueError, match=r"^successes must be from 0 to trials, and trials more than 0, got 0 of 0$"):
        wilson(0, 0)


def test_the_battery_has_ten_tables_of_37_rules_and_300_without_one():
    todo = learn.cases(NAMES, None, learn.PARTS, ["nsr", "tree"], learn.BATTERY_SEED)
    counts = {(part, name): 0 for part in learn.PARTS for name in ("nsr", "tree")}
    for case in todo:
        counts[case.part, case.contender] += 1
    labelled = sum(line.kind != "number" for line in LINES.values())
    assert len(LINES) == 37
    assert list(counts.values()) == [370, 370, 10 * labelled, 10 * labelled, 300, 0]
    assert learn.BATTERY_SEED not in (0, learn.DEVELOPMENT_SEED)


def test_a_table_is_the_same_whichever_lines_are_chosen():
    one, other = (learn.cases(lines, 1, ["rule"], ["tree"], 3)[0] for lines in (["sum", "gap"], ["sum"]))
    assert one.rng(0).random() == other.rng(0).random()
    seeds = [learn.Case("rule", "sum", table, "tree", seed).rng(0).random() for table in (0, 1) for seed in (1, 2)]
    assert len(set(seeds)) == 4


def record_of(line: str = "three", contender: str = "tree", part: str = "rule", table: int = 0) -> dict:
    return learn.run(learn.Case(part, line, table, contender, 1), 60)


def test_a_tree_is_measured_on_fresh_rows():
    record = record_of()
    assert record["error"] is None
    assert 0.5 < record["near"] < 1
    assert record["far"] < record["near"]
    assert record["read_back"] is None
    assert record["size"] > 5
    assert record["cpu_seconds"] < 5


def test_differences_of_columns_make_a_tree_exact():
    record = record_of(contender="difference-tree")
    assert (record["near"], record["far"]) == (1, 1)
    assert differences(np.array([[1, 4, 9]])).tolist() == [[1, 4, 9, -3, -8, -5, 3, 8, 5]]


def test_a_failure_and_a_contender_that_cannot_take_part_are_records(monkeypatch):
    assert record_of("maximum", "oblique")["left_out"] == "the oblique tree has classes only"

    def broken(kind):
        raise RuntimeError(f"no {kind}")

    monkeypatch.setitem(learn.CONTENDERS, "tree", learn.CONTENDERS["tree"].__class__("tree", "nodes", broken, len))
    assert record_of()["error"] == "RuntimeError: no classes"


def test_a_table_that_takes_too_long_is_a_record(monkeypatch):
    class Endless:
        def fit(self, *_):
            while True:
                pass

    endless = learn.CONTENDERS["tree"].__class__("tree", "nodes", lambda kind: Endless(), len)
    monkeypatch.setitem(learn.CONTENDERS, "tree", endless)
    record = learn.run(learn.Case("rule", "three", 0, "tree", 1), 1)
    assert record["error"] == "TimeoutError: the time limit of a table"


def test_ours_and_its_parts_may_give_programs():
    assert [name for name, contender in CONTENDERS.items() if contender.has_rules] == [
        "nsr",
        "nsr-no-training",
        "nsr-untrained",
        "nsr-no-screen",
    ]


def test_untrained_networks_keep_the_weights_they_start_with(monkeypatch):
    rates = []
    monkeypatch.setattr(NSRClassifier, "fit", lambda *_: rates.append(networks.LEARNING_RATE))
    CONTENDERS["nsr-untrained"].make("binary").fit([[1.0], [2.0]], [0, 1])
    assert rates == [0.0]
    assert networks.LEARNING_RATE > 0


def claimed(rule: str | None, table, fresh) -> dict:
    program = None if rule is None else Program.parse(rule, list(table.columns))
    evidence = SimpleNamespace(
        not_covered=(), not_distinguished=(), origin="training", reason=None if rule else "no rule"
    )
    return learn.claim(SimpleNamespace(program_=program, rule_=rule, evidence_=evidence), table, fresh)


def test_a_claim_about_a_table_without_a_rule_is_false_if_fresh_rows_contradict_it():
    table = no_rule_table("random", np.random.default_rng(0), table=0)
    fresh = {"near": table.near(np.random.default_rng(1))}
    assert claimed(None, table, fresh)["false_claim"] is False
    assert claimed("a > b", table, fresh)["false_claim"] is True
    assert claimed("a > b", table, fresh)["origin"] == "training"
    fresh["near"].y[:] = Program.parse("a > b")(fresh["near"].columns)
    fresh["near"].y[:20] ^= 1
    assert claimed("a > b", table, fresh)["false_claim"] is False
    fresh["near"].y[20] ^= 1
    assert claimed("a > b", table, fresh)["false_claim"] is True


@pytest.fixture
def threads_as_they_are(monkeypatch):
    monkeypatch.setattr(learn, "start_process", lambda: None)


@pytest.mark.usefixtures("threads_as_they_are")
def test_a_run_that_was_stopped_continues(tmp_path, monkeypatch):
    file = tmp_path / "learn.jsonl"
    todo = learn.cases(["three", "equal"], 2, ["rule"], ["tree"], 1)
    learn.measure_all(todo[:2], file, 1, 60)
    file.write_text(file.read_text() + file.read_text().splitlines()[0][:40])
    asked = []
    monkeypatch.setattr(learn, "run", lambda case, limit: asked.append(case) or {**_blank(case), "near": 1.0})
    records = learn.measure_all(todo, file, 1, 60)
    assert asked == todo[2:]
    assert len(records) == len(learn.read(file)) == 4
    assert learn.measure_all(todo, file, 1, 60) == records


def _blank(case, **known) -> dict:
    about = {name: getattr(case, name) for name in ("part", "line", "table", "contender", "seed")}
    return learn.asdict(learn.Record(**about, rows=300, columns=9, kind="binary", **known))


@pytest.mark.usefixtures("threads_as_they_are")
def test_errors_are_tried_again(tmp_path, monkeypatch):
    file = tmp_path / "learn.jsonl"
    (case,) = learn.cases(["three"], 1, ["rule"], ["tree"], 1)
    file.write_text(json.dumps(_blank(case, error="lost")) + "\n")
    monkeypatch.setattr(learn, "run", lambda case, limit: _blank(case, near=1.0))
    (record,) = learn.measure_all([case], file, 1, 60)
    assert record["error"] is None
    assert learn.read(file) == [record]


def test_reports_count_what_was_read_back():
    todo = learn.cases(["sum", "random"], 4, learn.PARTS, ["nsr", "tree"], 1)
    records = []
    for case in todo:
        if case.part == "no-rule":
            claim = {"rule": "a > b", "false_claim": True, "wrong": 0.5} if case.table == 0 else {"false_claim": False}
            records.append(_blank(case, read_back=False, seconds=1.0, cpu_seconds=1.0, **claim))
        elif case.contender == "nsr":
            known = {"read_back": case.table > 0, "rule": "a > b"}
            records.append(_blank(case, **known, near=1.0, far=1.0, seconds=2.0, cpu_seconds=2.0, size=5))
        else:
            records.append(
                _blank(case, near=1.0, far=0.5 + 0.5 * (case.table == 3), seconds=0.01, cpu_seconds=0.01, size=99)
            )
    text = markdown(records)
    assert "| `a + b > c` | 3 of 4 | 1 of 4 | 3 of 4 | 2.0 |" in text
    assert "| 95 % interval | 30.1 to 95.4 | 4.6 to 69.9 | 30.1 to 95.4 |  |" in text
    assert "| NSR | 100 | 100 | 1 | 5 nodes | 2.00 |" in text
    assert "| decision tree | 100 | 62.5 |  | 99 nodes | 0.01 |" in text
    assert "| labels at random | 4 | 1 | 1 |" in text
    shown = StringIO()
    print_tables(records, Console(width=150, file=shown))
    assert "false: random 0, wrong on 50.0%: a > b" in shown.getvalue()
    assert "not read back: sum 0 (300 rows)" in shown.getvalue()


def test_an_oblique_tree_finds_a_sum_and_three_classes():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 3)) * [1, 100, 1000] + [0, 50, 10]
    y = np.where(100 * x[:, 0] + x[:, 1] > 60, "more", np.where(x[:, 2] > 0, "less", "none"))
    model = ObliqueTree().fit(x, y)
    assert (model.predict(x) == y).mean() > 0.97
    assert model.node_count < 60


def test_records_of_the_first_edition_are_not_mixed_with_new_ones(tmp_path):
    file = tmp_path / "learn.json"
    file.write_text("[\n]\n")
    with pytest.raises(InputError, match="holds records of the first edition of the battery; choose another file$"):
        learn.read(file)
