"""What ends a command early: Ctrl-C, and the request to end (SIGTERM), which is treated as Ctrl-C."""

import atexit
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from nsr.cli.output import INTERRUPTED

ENDING = (signal.SIGINT, signal.SIGTERM)
AGAIN = 0.05
"""Seconds after which an interrupt is repeated that arrived where Python drops exceptions."""


@contextmanager
def ending_by_signals() -> Iterator[None]:
    """Inside, the first signal is a KeyboardInterrupt. From then on, another one ends the process with 130 at once.

    What Python itself does at its end, after the functions of ``atexit``, is short and not interrupted any more.
    Python drops exceptions in ``__del__``, in callbacks of the garbage collector and of weak references; an interrupt
    that arrives there is repeated. Nothing is changed where signals belong to someone else: outside of the main thread,
    and where they are ignored.
    """
    before, hook = {}, sys.unraisablehook
    if threading.current_thread() is threading.main_thread():
        _ignore_signals_at_exit()
        for number in ENDING:
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, _interrupt)
        if before:
            sys.unraisablehook = functools.partial(_repeat_interrupt, hook)
    try:
        yield
    finally:
        sys.unraisablehook = hook
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


def _repeat_interrupt(hook: Callable[[Any], Any], dropped: Any) -> None:
    if isinstance(dropped.exc_value, KeyboardInterrupt):
        for number in ENDING:
            signal.signal(number, _interrupt)
        again = threading.Timer(AGAIN, signal.pthread_kill, (threading.get_ident(), signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        hook(dropped)


def _end_now(_number: int, _frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
