"""Where items run: any ``concurrent.futures.Executor``. Here, processes of this machine."""

import multiprocessing
from concurrent.futures import Executor, ProcessPoolExecutor


def local(workers: int) -> Executor:
    """Spawned processes with one thread each. Never forked: a fork after torch has run hangs."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)


def _start_worker() -> None:
    import torch

    torch.set_num_threads(1)
