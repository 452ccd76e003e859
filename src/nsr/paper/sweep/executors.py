"""Where items run: any ``concurrent.futures.Executor``. Here, processes of this machine."""

import multiprocessing
import os
import signal
import threading
from concurrent.futures import Executor, ProcessPoolExecutor


def local(workers: int) -> Executor:
    """Spawned processes with one thread each. Never forked: a fork after torch has run hangs."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)


def _start_worker() -> None:
    """One thread; Ctrl-C is the parent's business; and no worker outlives its parent."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
