import io

from rich.console import Console

from nsr.cli.sweep_progress import Bars, Lines, make_observer
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Record
from nsr.paper.spec import PROFILES
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.run import Observer

EXPERIMENT = EXPERIMENTS["comparisons"]
ITEMS = plan(EXPERIMENT, PROFILES["quick"], ("exact",), range(2))[:2]


def records(item):
    return [
        Record(item.experiment, 1, item.cell, item.recipe, "quick", seed, {"epochs": 500.0}, 1.0, 1, "{}")
        for seed in item.seeds
    ]


def test_lines_give_blocks_speed_and_time_left():
    stream = io.StringIO()
    lines = Lines(Console(file=stream), every=0.0)
    lines.planned(ITEMS)
    for item in ITEMS:
        lines.finished(item, records(item))
    lines.close()
    lines_printed = stream.getvalue().splitlines()
    assert lines_printed[0] == "nsr: 2 blocks to run"
    assert lines_printed[1].startswith("nsr: 1 of 2 blocks, ")
    assert "model epochs/s" in lines_printed[1]
    assert "about 0 s left" in lines_printed[2]


def test_lines_are_limited_to_one_in_a_while_but_the_last_is_always_printed():
    stream = io.StringIO()
    lines = Lines(Console(file=stream), every=1e9)
    lines.planned(ITEMS)
    for item in ITEMS:
        lines.finished(item, records(item))
    assert len(stream.getvalue().splitlines()) == 2


def test_the_time_left_allows_for_the_longer_epochs_of_digits(monkeypatch):
    slow = plan(EXPERIMENTS["digits"], PROFILES["quick"], ("exact",), range(1))[:1]
    stream, now = io.StringIO(), [0.0]
    monkeypatch.setattr("nsr.cli.sweep_progress.time.monotonic", lambda: now[0])
    lines = Lines(Console(file=stream), every=0.0)
    lines.planned([*ITEMS, *slow])
    now[0] = 10.0
    lines.finished(ITEMS[0], records(ITEMS[0]))
    printed = stream.getvalue().splitlines()[-1]
    cheap, digits = (EXPERIMENTS[i.experiment].seconds(i.cell, i.recipe) for i in (ITEMS[0], slow[0]))
    left = 10 * (len(ITEMS[0].seeds) * cheap + digits) / (len(ITEMS[0].seeds) * cheap)
    assert f"about {left:.0f} s left" in printed


def test_the_time_left_follows_workers_that_come_and_go(monkeypatch):
    stream, now = io.StringIO(), [0.0]
    monkeypatch.setattr("nsr.cli.sweep_progress.time.monotonic", lambda: now[0])
    lines = Lines(Console(file=stream), every=0.0)
    lines.planned([ITEMS[0]] * 4)
    lines.workers(2)
    now[0] = 10.0
    lines.workers(1)
    now[0] = 20.0
    lines.finished(ITEMS[0], records(ITEMS[0]))  # 30 seconds of a worker for a block, and three blocks are left
    lines.workers(5)
    lines.tick()
    lines.workers(0)
    lines.tick()
    printed = stream.getvalue().splitlines()[-3:]
    assert ", 1 worker, about 90 s left" in printed[0]
    assert ", 5 workers, about 18 s left" in printed[1]
    assert printed[2].endswith("1 of 4 blocks, 20 s, 0 workers")


def test_lines_are_printed_while_nothing_is_finished():
    stream = io.StringIO()
    lines = Lines(Console(file=stream), every=0.0)
    lines.planned(ITEMS)
    lines.tick()
    assert stream.getvalue().splitlines()[1].startswith("nsr: 0 of 2 blocks, ")
    lines.planned([])
    assert len(stream.getvalue().splitlines()) == 2


def test_bars_are_drawn_on_a_terminal():
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    bars = Bars(console)
    bars.planned(ITEMS)
    bars.finished(ITEMS[0], records(ITEMS[0]))
    bars.progress.refresh()
    bars.close()
    drawn = console.file.getvalue()
    assert "comparisons" in drawn
    assert "1/2" in drawn
    assert "model epochs/s" in drawn


def test_bars_on_a_terminal_lines_elsewhere_nothing_when_quiet(monkeypatch):
    assert type(make_observer(quiet=True)) is Observer
    monkeypatch.setattr(Console, "is_terminal", False)
    assert type(make_observer(quiet=False)) is Lines
    monkeypatch.setattr(Console, "is_terminal", True)
    assert type(make_observer(quiet=False)) is Bars
