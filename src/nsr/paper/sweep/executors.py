"""Where items run: any ``concurrent.futures.Executor``. Here, processes on this machine.

To run them elsewhere, write a function from a number of workers to an executor and pass it to
``nsr.paper.commands.reproduce`` as ``make_executor``. When workers die, the executor must report it as a
``concurrent.futures.BrokenExecutor``: it is then replaced by a new one, and its items run again.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

MakeExecutor = Callable[[int], Executor]
"""Makes an executor with this number of workers."""


def local(workers: int, method: str = "spawn") -> Executor:
    """Spawned processes with one thread each. Fork them only where torch has not run: a fork after it has run hangs."""
    context = multiprocessing.get_context(method)
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker)


@contextmanager
def keeping_interrupts() -> Iterator[None]:
    """Around imports of others: dask-jobqueue has Ctrl-C end the process without a word as soon as it is imported."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is not before and before is not None:
            signal.signal(signal.SIGINT, before)


def _start_worker() -> None:
    """One thread; Ctrl-C is left to the parent; and no worker outlives its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_exit_with_parent, daemon=True).start()
    import torch  # takes seconds, during which the parent may end

    torch.set_num_threads(1)


def _exit_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
