"""The examples of the README and of every page of docs/ are run, and their links lead somewhere."""

import io
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from nsr.cli import main

ROOT = Path(__file__).parents[1]
PAGES = {path.name: path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SLOW = {("train.md", 0), ("train.md", 1), ("deploy.md", 0), ("deploy.md", 1), ("learn.md", 1)}
"""Examples of the outer ring: they compile, or learn from the same table as others."""


def examples(page: Path) -> list[tuple[str, str]]:
    """Every block of Python of a page, and the block right after it: what it prints."""
    text, found = page.read_text(), []
    for block in FENCE.finditer(text):
        if block[1] == "python":
            printed = re.match(r"\n\n```\n(.*?)^```$", text[block.end() :], re.MULTILINE | re.DOTALL)
            found.append((block[2], printed[1] if printed else ""))
    return found


def sessions(page: Path) -> list[tuple[str, str]]:
    """Every command of a page after a prompt, and what the page shows below it."""
    blocks = [block[2] for block in FENCE.finditer(page.read_text()) if block[1] == "console"]
    commands = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in commands)]


def run(command: str, folder: Path) -> str:
    """What a command prints on standard output. Commands of nsr run in this process, which has torch already."""
    words = shlex.split(command.removesuffix(" 2> /dev/null"))
    if words[0] != "nsr":
        return subprocess.run(words, capture_output=True, text=True, check=True, cwd=folder).stdout
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()), pytest.raises(SystemExit):
        main(words[1:])
    return out.getvalue()


def is_shown(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed; "..." stands for the lines that follow."""
    return printed.startswith(shown.removesuffix("...\n")) if shown.endswith("...\n") else printed == shown


def cases(*, slow: bool) -> list[object]:
    """Examples of all pages; that of the README has a test of its own."""
    found = [(name, at) for name, page in PAGES.items() if name != "README.md" for at in range(len(examples(page)))]
    return [pytest.param(PAGES[name], at, id=f"{name}-{at}") for name, at in found if ((name, at) in SLOW) == slow]


@pytest.mark.parametrize(("page", "at"), cases(slow=False))
def test_an_example_prints_what_the_page_shows(page, at, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    code, printed = examples(page)[at]
    exec(compile(code, f"{page.name}, example {at}", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == printed


@pytest.mark.outer
@pytest.mark.parametrize(("page", "at"), cases(slow=True))
def test_a_slow_example_prints_what_the_page_shows(page, at):
    code, printed = examples(page)[at]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert ran.stdout == printed


@pytest.mark.outer
@pytest.mark.parametrize("page", [page for page in PAGES.values() if sessions(page)], ids=lambda page: page.name)
def test_commands_print_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command, shown in sessions(page):
        printed = run(command, tmp_path)
        assert is_shown(shown, printed), f"$ {command}\n{printed}"


def test_every_page_with_commands_or_examples_is_among_them():
    assert {name for name, page in PAGES.items() if sessions(page)} >= {"README.md", "learn.md", "deploy.md"}
    assert {name for name, page in PAGES.items() if examples(page)} >= {"README.md", "train.md", "read.md"}
    assert all(at < len(examples(PAGES[name])) for name, at in SLOW)
    for page in PAGES.values():
        others = [block[2] for block in FENCE.finditer(page.read_text()) if block[1] != "console"]
        assert not [block for block in others if "$ " in block], "a prompt outside of a block of console is not run"


def slug(heading: str) -> str:
    """The anchor that GitHub and the site give to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)}


@pytest.mark.parametrize("page", [*PAGES.values(), ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_every_link_leads_somewhere(page):
    text = FENCE.sub("", page.read_text())
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)", text)
    lost = []
    for link in links:
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert lost == []
