import io

from rich.console import Console

from nsr.cli.progress import StageLines, stages


def test_lines_with_the_time_left_where_there_is_no_terminal():
    stream = io.StringIO()
    lines = StageLines(Console(file=stream), every=0.0)
    for stage, done in (("reading", 0.5), ("reading", 1.0), ("learning", 0.0), ("learning", 0.25)):
        lines(stage, done)
    printed = stream.getvalue().splitlines()
    assert [line.split(",")[0] for line in printed] == ["nsr: reading: 50%", "nsr: learning: 25%"]


def test_the_time_left_counts_from_the_start_of_a_stage_and_is_within_its_limit(monkeypatch):
    clock = iter([0.0, 0.0, 10.0, 30.0, 100.0, 119.5])
    monkeypatch.setattr("nsr.cli.progress.time.monotonic", lambda: next(clock))
    stream = io.StringIO()
    lines = StageLines(Console(file=stream), every=0.0, limits={"learning": 110.0})
    for stage, done in (("reading", 1.0), ("learning", 0.25), ("learning", 0.3), ("learning", 0.9)):
        lines(stage, done)
    assert stream.getvalue().splitlines() == [
        "nsr: learning: 25%, about 60 s left",
        "nsr: learning: 30%, about 20 s left",
        "nsr: learning: 90%",
    ]


def test_bars_on_a_terminal_and_nothing_when_quiet(monkeypatch, capsys):
    monkeypatch.setattr(Console, "is_terminal", True)
    with stages(quiet=False) as show:
        show("reading", 1.0)
        show("learning", 0.5)
    assert "learning" in capsys.readouterr().err
    with stages(quiet=True) as show:
        show("reading", 0.5)
    assert capsys.readouterr().err == ""
