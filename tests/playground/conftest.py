"""The page in Chromium: opened once, paused, for all tests of a module."""

from importlib.resources import files
from typing import Any

import pytest

PAGE = str(files("nsr") / "play" / "playground.html")


@pytest.fixture(scope="module")
def tab(browser: Any) -> Any:
    page = browser.new_page()
    page.set_default_timeout(120_000)
    page.goto(f"file://{PAGE}")
    page.evaluate("nsr.pause()")
    return page
