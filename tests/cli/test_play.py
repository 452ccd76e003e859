"""``nsr play`` opens the page, writes it, or prints where it is."""

import sys
import webbrowser
from pathlib import Path

import pytest

from nsr.cli import main


def play(capsys, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["play", *words])
    out, err = capsys.readouterr()
    return stop.value.code, out, err


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or True)
    return addresses


def test_without_a_display_the_path_is_printed(capsys, monkeypatch, opened):
    monkeypatch.delenv("DISPLAY", raising=False)
    code, out, err = play(capsys)
    page = Path(out.strip())
    assert (code, err, opened) == (0, "", [])
    assert page.read_text().startswith("<!doctype html>")


def test_with_a_display_a_browser_is_opened(capsys, monkeypatch, opened):
    monkeypatch.setenv("DISPLAY", ":0")
    code, out, err = play(capsys)
    assert (code, err, opened) == (0, "", [Path(out.strip()).as_uri()])


def test_a_missing_browser_is_reported(capsys, monkeypatch, opened):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert play(capsys)[2] == "nsr: no browser was found: open the file in one\n"


def test_the_page_is_written_where_asked(capsys, tmp_path, opened):
    code, out, err = play(capsys, "--out", str(tmp_path / "page.html"))
    assert (code, out, err, opened) == (0, "", f"nsr: wrote {tmp_path / 'page.html'}\n", [])
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    code, _, err = play(capsys, "--out", str(tmp_path / "no" / "page.html"))
    assert (code, err) == (2, f"nsr: there is no folder {tmp_path / 'no'} to write page.html to\n")
