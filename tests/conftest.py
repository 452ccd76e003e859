"""Shapes and types of every annotated function around tensors are checked while the tests run.

Each process has one thread, also those that tests start: tests run in one process per core.
"""

import os
from collections.abc import Iterator

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
