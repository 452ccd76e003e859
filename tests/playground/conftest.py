"""The page in Chromium: opened once, paused, for all tests of a module."""

import shutil
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import pytest

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
PAGE = str(files("nsr") / "play" / "playground.html")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if BROWSER is None:
        pytest.skip("no Chromium: .ci/run installs the Debian package chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=BROWSER, args=ARGUMENTS, timeout=180_000)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def tab(browser: Any) -> Any:
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"file://{PAGE}")
    page.evaluate("nsr.pause()")
    return page
