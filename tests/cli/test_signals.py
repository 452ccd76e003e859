"""An interrupt is not lost where Python drops exceptions."""

import gc
import signal
import sys
import time

import pytest

from nsr.cli.signals import ending_by_signals


class Interrupted:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def in_del() -> None:
    Interrupted()


def in_garbage_collection() -> None:
    def interrupt(phase: str, _: dict[str, int]) -> None:
        gc.callbacks.remove(interrupt)
        signal.raise_signal(signal.SIGINT)

    gc.callbacks.append(interrupt)
    gc.collect()


def interrupted(where) -> None:
    with ending_by_signals():
        where()
        time.sleep(10)


@pytest.mark.parametrize("where", [in_del, in_garbage_collection])
def test_an_interrupt_that_python_drops_is_repeated(where):
    hook = sys.unraisablehook
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted(where)
        assert sys.unraisablehook is hook
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def test_other_dropped_exceptions_go_where_they_went(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda dropped: seen.append(dropped.exc_type))

    class Wrong:
        def __del__(self) -> None:
            raise ValueError

    with ending_by_signals():
        Wrong()
    assert seen == [ValueError]
