import io
from dataclasses import replace

import pytest
from rich.console import Console

from nsr.cli.sweep_progress import Bars, Lines, Pace, make_observer
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Record
from nsr.paper.spec import PROFILES
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.run import Observer

EXPERIMENT = EXPERIMENTS["comparisons"]
ITEMS = plan(EXPERIMENT, PROFILES["quick"], ("exact",), range(2))[:2]


def records(item, seconds=1.0):
    return [
        Record(item.experiment, 1, item.cell, item.recipe, "quick", seed, {"epochs": 500.0}, seconds, 1, "{}")
        for seed in item.seeds
    ]


def test_lines_give_blocks_speed_and_time_left():
    stream = io.StringIO()
    lines = Lines(Console(file=stream), every=0.0)
    lines.planned(ITEMS)
    lines.workers(1)
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


def estimate(item):
    return EXPERIMENTS[item.experiment].seconds(item.cell, item.recipe)


def left(items, finished, *, workers=1, seconds=1.0):
    """After some items have finished, each with records of so many seconds for a seed."""
    pace = Pace()
    pace.planned(items)
    pace.workers = workers
    for item in finished:
        pace.finished(item, records(item, seconds))
    return pace.left()


@pytest.fixture
def now(monkeypatch):
    """A clock that is set by hand."""
    at = [0.0]
    monkeypatch.setattr("nsr.cli.sweep_progress.time.monotonic", lambda: at[0])
    return at


def test_the_time_left_follows_what_records_took_and_not_when_workers_began(now):
    """Workers that import torch for ten seconds, and blocks that are not finished yet, are no pace."""
    stream = io.StringIO()
    lines = Lines(Console(file=stream), every=0.0)
    lines.planned([ITEMS[0]] * 9)
    lines.workers(2)
    now[0] = 20.0
    lines.finished(ITEMS[0], records(ITEMS[0], 2.0))  # eight blocks of two seeds are left, four for each worker
    assert "1 of 9 blocks, 20 s, 2 workers, about 16 s left" in stream.getvalue()


@pytest.mark.parametrize(("passed", "expected"), [(0.0, 16.0), (3.0, 13.0), (8.0, 8.0), (100.0, 8.0)])
def test_the_time_left_goes_down_between_items_but_not_to_nothing(now, passed, expected):
    pace = Pace()
    pace.planned([ITEMS[0]] * 5)
    pace.workers = 1
    now[0] = 20.0
    pace.finished(ITEMS[0], records(ITEMS[0], 2.0))
    now[0] += passed
    assert pace.left() == expected


@pytest.mark.usefixtures("now")
def test_the_time_left_allows_for_the_longer_epochs_of_digits():
    """Estimates of what has no records are taken to be wrong too, but not by as much as those of what has some."""
    slow = plan(EXPERIMENTS["digits"], PROFILES["quick"], ("exact",), range(1))[0]
    seconds = 4 * estimate(ITEMS[0])
    assert left([*ITEMS, slow], ITEMS[:1], seconds=seconds) == pytest.approx(2 * seconds + 2 * estimate(slow))


@pytest.mark.usefixtures("now")
def test_kinds_of_items_have_paces_of_their_own():
    fast = replace(ITEMS[0], cell=replace(ITEMS[0].cell, model="mlp"))
    pace = Pace()
    pace.workers = 1
    pace.planned([ITEMS[0], fast] * 3)
    pace.finished(ITEMS[0], records(ITEMS[0], 5.0))
    pace.finished(fast, records(fast, 0.5))
    assert pace.left() == pytest.approx(2 * (2 * 5.0 + 2 * 0.5))


@pytest.mark.usefixtures("now")
def test_fewer_blocks_than_workers_do_not_use_all_of_them():
    assert left([ITEMS[0]] * 3, [ITEMS[0]], workers=8) == 2.0


def test_items_without_records_say_nothing_of_the_time_left():
    pace = Pace()
    pace.workers = 1
    pace.planned(ITEMS)
    pace.finished(ITEMS[0], [])
    assert pace.left() is None


def test_the_time_left_follows_workers_that_come_and_go(now):
    stream = io.StringIO()
    lines = Lines(Console(file=stream), every=0.0)
    lines.planned([ITEMS[0]] * 4)
    now[0] = 20.0
    lines.workers(1)
    lines.finished(ITEMS[0], records(ITEMS[0], 15.0))  # 30 seconds of a worker for a block, and three blocks are left
    lines.workers(3)
    lines.tick()
    lines.workers(0)
    lines.tick()
    printed = stream.getvalue().splitlines()[-3:]
    assert ", 1 worker, about 90 s left" in printed[0]
    assert ", 3 workers, about 30 s left" in printed[1]
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
    bars.workers(1)
    bars.finished(ITEMS[0], records(ITEMS[0], 30.0))
    bars.progress.refresh()
    bars.close()
    drawn = console.file.getvalue()
    assert "comparisons" in drawn
    assert "1/2" in drawn
    assert "left 0:01:00" in drawn
    assert "model epochs/s" in drawn


def test_bars_on_a_terminal_lines_elsewhere_nothing_when_quiet(monkeypatch):
    assert type(make_observer(quiet=True)) is Observer
    monkeypatch.setattr(Console, "is_terminal", False)
    assert type(make_observer(quiet=False)) is Lines
    monkeypatch.setattr(Console, "is_terminal", True)
    assert type(make_observer(quiet=False)) is Bars
