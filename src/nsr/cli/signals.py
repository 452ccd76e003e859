"""What ends a command early: Ctrl-C, and the request to end (SIGTERM), which is treated as Ctrl-C."""

import atexit
import functools
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from nsr.cli.output import INTERRUPTED

ENDING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ending_by_signals() -> Iterator[None]:
    """Inside, the first signal is a KeyboardInterrupt. From then on, another one ends the process with 130 at once.

    What Python itself does at its end, after the functions of ``atexit``, is short and not interrupted any more.
    Nothing is changed where signals belong to someone else: outside of the main thread, and where they are ignored.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        _ignore_signals_at_exit()
        for number in ENDING:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, _interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is _interrupt:
                signal.signal(number, handler)


@functools.cache
def _ignore_signals_at_exit() -> None:
    """Python would restore the handlers of the system, so that a second signal would kill the process instead of 130.

    Called before anything else is imported, as the function that is registered first is called last.
    """

    def ignore() -> None:
        for number in ENDING:
            if signal.getsignal(number) is _end_now:
                signal.signal(number, signal.SIG_IGN)

    atexit.register(ignore)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    for number in ENDING:
        signal.signal(number, _end_now)
    raise KeyboardInterrupt


def _end_now(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
