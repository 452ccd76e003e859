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
    assert all(line.endswith(" s left") for line in printed)


def test_bars_on_a_terminal_and_nothing_when_quiet(monkeypatch, capsys):
    monkeypatch.setattr(Console, "is_terminal", True)
    with stages(quiet=False) as show:
        show("reading", 1.0)
        show("learning", 0.5)
    assert "learning" in capsys.readouterr().err
    with stages(quiet=True) as show:
        show("reading", 0.5)
    assert capsys.readouterr().err == ""
