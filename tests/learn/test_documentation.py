"""The outputs that docs/learn.md and docs/profile.md show are those that the commands print."""

import re
import shlex
from pathlib import Path

import pytest

from nsr.cli import main

ROOT = Path(__file__).parents[2]
LEARN, PROFILE = ((ROOT / "docs" / name).read_text() for name in ("learn.md", "profile.md"))
FIRST = re.findall(r"```\n(nsr learn .*)\n```\n\nprints .*\n\n```\n([^`]*)```", LEARN)
SHOWN = re.findall(r"```\n\$ (nsr (?:learn|profile) .*)\n([^`]*)```", LEARN + PROFILE)


def test_the_pages_have_such_examples():
    assert [len(FIRST), len(SHOWN)] == [1, 2]


@pytest.mark.parametrize(("command", "shown"), [*FIRST, *SHOWN])
def test_a_page_shows_what_the_command_prints(command, shown, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(SystemExit) as exit_:
        main(shlex.split(command)[1:])
    printed = capsys.readouterr().out
    assert not exit_.value.code
    assert printed.startswith(shown.removesuffix("...\n"))
    assert shown.endswith("...\n") or printed == shown
