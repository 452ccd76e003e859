import io

from rich.console import Console

from nsr.cli.progress import Bars, Lines, Observer, Shares, choose, share
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Record
from nsr.paper.spec import PROFILES
from nsr.paper.sweep.plan import plan

EXPERIMENT = EXPERIMENTS["comparisons"]
ITEMS = plan(EXPERIMENT, PROFILES["quick"], ("exact",), range(2))[:2]


def records(item):
    return [
        Record(item.experiment, 1, item.cell, item.recipe, "quick", seed, {"epochs": 500.0}, 1.0, 1, "{}")
        for seed in item.seeds
    ]


def test_lines_say_how_far_how_fast_and_how_long_still():
    stream = io.StringIO()
    lines = Lines(Console(file=stream), every=0.0)
    lines.planned(ITEMS)
    for item in ITEMS:
        lines.finished(item, records(item))
    lines.close()
    said = stream.getvalue().splitlines()
    assert said[0] == "nsr: 2 blocks to run"
    assert said[1].startswith("nsr: 1 of 2 blocks, ")
    assert "model epochs/s" in said[1]
    assert "about 0 s left" in said[2]


def test_lines_keep_still_between_but_not_at_the_end():
    stream = io.StringIO()
    lines = Lines(Console(file=stream), every=1e9)
    lines.planned(ITEMS)
    for item in ITEMS:
        lines.finished(item, records(item))
    assert len(stream.getvalue().splitlines()) == 2


def test_the_time_left_knows_that_an_epoch_of_digits_takes_longer(monkeypatch):
    dear = plan(EXPERIMENTS["digits"], PROFILES["quick"], ("exact",), range(1))[:1]
    stream, now = io.StringIO(), [0.0]
    monkeypatch.setattr("nsr.cli.progress.time.monotonic", lambda: now[0])
    lines = Lines(Console(file=stream), every=0.0)
    lines.planned([*ITEMS, *dear])
    now[0] = 10.0
    lines.finished(ITEMS[0], records(ITEMS[0]))
    told = stream.getvalue().splitlines()[-1]
    cheap = len(ITEMS[0].seeds) * ITEMS[0].recipe.epochs
    left = 10 * (cheap + dear[0].recipe.epochs * EXPERIMENTS["digits"].cost) / cheap
    assert f"about {left:.0f} s left" in told


def test_lines_say_that_it_is_alive_while_nothing_is_finished():
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


def test_what_is_chosen(monkeypatch):
    assert type(choose(quiet=True)) is Observer
    monkeypatch.setattr(Console, "is_terminal", False)
    assert type(choose(quiet=False)) is Lines
    monkeypatch.setattr(Console, "is_terminal", True)
    assert type(choose(quiet=False)) is Bars


def test_shares_are_lines_with_the_time_left_where_there_is_no_terminal():
    stream = io.StringIO()
    shares = Shares(Console(file=stream), every=0.0)
    for what, done in (("reading", 0.5), ("reading", 1.0), ("learning", 0.0), ("learning", 0.25)):
        shares(what, done)
    lines = stream.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == ["nsr: reading: 50%", "nsr: learning: 25%"]
    assert all(line.endswith(" s left") for line in lines)


def test_shares_are_bars_on_a_terminal_and_nothing_when_quiet(monkeypatch, capsys):
    monkeypatch.setattr(Console, "is_terminal", True)
    with share(quiet=False) as show:
        show("reading", 1.0)
        show("learning", 0.5)
    assert "learning" in capsys.readouterr().err
    with share(quiet=True) as show:
        show("reading", 0.5)
    assert capsys.readouterr().err == ""
