"""Shapes and types of every annotated function around tensors are checked while the tests run.

Each process has one thread, also those that tests start: tests run in one process per core.
"""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import settings
from jaxtyping import config, install_import_hook

os.environ["OMP_NUM_THREADS"] = "1"
torch.set_num_threads(1)

SHAPED = [
    "nsr.nn",
    "nsr.adam",
    "nsr.ensemble",
    "nsr.training",
    "nsr.minibatches",
    "nsr.data",
    "nsr.paper.experiments",
    "nsr.program.hardened",
]
install_import_hook(SHAPED, "beartype.beartype")  # where there are tensors; elsewhere mypy has to do

settings.register_profile("nsr", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("nsr")


@pytest.fixture
def unchecked() -> Iterator[None]:
    """Shape checks off: torch.compile cannot see through them."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, opened once for all tests of a module."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no Chromium: .ci/run installs the Debian package chromium")
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=arguments, timeout=180_000)
        yield opened
        opened.close()
