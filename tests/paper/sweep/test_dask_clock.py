"""When a worker counts as lost, and what follows: with a scheduler that is made up and a clock that is set by hand."""

import asyncio
import logging
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from typing import Any

import pytest
import torch

pytest.importorskip("distributed", reason="needs the extra cluster")

from distributed.comm.core import CommClosedError

from nsr.errors import FailedError, InputError
from nsr.paper.sweep import dask as ours
from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.dask import DaskExecutor, make_dask
from nsr.paper.sweep.run import NoWorkersError, SchedulerLostError
from nsr.paper.sweep.worker import LostWorkerError, MismatchError, versions

PATIENT = 20
"""Seconds for what takes no time but on a machine that is busy."""


class Loop(asyncio.SelectorEventLoop):
    """Its time goes on when ``advance`` is called."""

    now = 1000.0

    def time(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        """Set the clock, and wait for all that follows from it."""

        async def settle() -> None:
            self.now += seconds
            for _ in range(50):
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(settle(), self).result(PATIENT)


class Submitted:
    """The future of an item: it finishes when its client no longer holds items back."""

    def __init__(self, client: "Client", call: Callable[[], Any], options: dict[str, Any]) -> None:
        self.client, self.call, self.options, self.released = client, call, options, 0

    async def _result(self) -> Any:
        await self.client.free.wait()
        if self.client.error is not None:
            raise self.client.error
        return self.call()

    def release(self) -> None:
        self.released += 1


class Client:
    """A client and its scheduler, whose workers are a dictionary."""

    def __init__(self, loop: Loop) -> None:
        self.loop, self.scheduler, self.status = SimpleNamespace(asyncio_loop=loop), self, "running"
        self.workers: dict[str, dict[str, Any]] = {}
        self.looks, self.asked, self.restarted = 0, list[str](), list[list[str]]()
        self.submitted: list[Submitted] = []
        self.free = asyncio.Event()
        self.error: BaseException | None = None
        self.trouble: Exception | None = None
        self.answer: Callable[[], Any] = versions
        self.events_of: Callable[[str], Any] = lambda _: ()
        self.on_close: Callable[[float], None] = lambda _: None

    def add(self, address: str, **about: Any) -> None:
        self.workers[address] = {"status": "running", "nthreads": 1, "nanny": None} | about

    async def identity(self, *, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1
        self.looks += 1
        if self.trouble is not None:
            raise self.trouble
        now = self.loop.asyncio_loop.time()
        return {"workers": {address: {"last_seen": now} | about for address, about in self.workers.items()}}

    async def events(self, *, topic: str) -> Any:
        found = self.events_of(topic)
        return await found if asyncio.iscoroutine(found) else found

    async def _run(self, function: Callable[..., Any], *, workers: list[str], wait: bool) -> dict[str, Any]:
        assert function is ours.prepare_worker
        assert wait
        self.asked += workers
        return {workers[0]: self.answer()}

    async def _restart_workers(self, workers: list[str], **_: Any) -> None:
        self.restarted.append(workers)

    def submit(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Submitted:
        self.submitted.append(Submitted(self, lambda: function(*arguments), options))
        return self.submitted[-1]

    def close(self, timeout: float) -> None:
        self.on_close(timeout)

    def let_finish(self) -> None:
        """Items end from now on."""
        self.loop.asyncio_loop.call_soon_threadsafe(self.free.set)
        self.loop.asyncio_loop.advance(0)


@pytest.fixture
def loop(monkeypatch) -> Iterator[Loop]:
    made = Loop()
    thread = threading.Thread(target=made.run_forever, daemon=True)
    thread.start()
    monkeypatch.setattr(ours, "time", SimpleNamespace(monotonic=made.time))
    yield made
    made.call_soon_threadsafe(made.stop)
    thread.join(PATIENT)
    made.close()


@pytest.fixture
def client(loop) -> Client:
    made = Client(loop)
    made.add("a")
    return made


def started(client: Client, messages: list[str] | None = None, **options: Any) -> DaskExecutor:
    return DaskExecutor(client, ClusterConfig(), (messages if messages is not None else []).append, **options)


def test_workers_are_looked_at_every_second(client, loop):
    with started(client):
        assert client.looks == 1
        loop.advance(0.75)
        assert client.looks == 1
        loop.advance(0.25)
        assert client.looks == 2


def test_a_worker_is_lost_after_more_than_a_minute_without_a_heartbeat(client, loop):
    client.workers["a"]["last_seen"] = 5.0
    messages: list[str] = []
    with started(client, messages) as executor:
        first, second = (executor.submit(max, 1, 2) for _ in range(2))
        loop.advance(60)
        assert (executor.capacity(), first.done(), messages) == ((2, 1), False, [])
        loop.advance(1)
        assert executor.capacity() == (1, 0)
        errors = [future.exception(PATIENT) for future in (first, second)]
    assert [(str(error), error.blamed) for error in errors] == [
        ("a: no heartbeat for 60 s", True),
        ("a: no heartbeat for 60 s", False),
    ]
    assert messages == ["worker a: no heartbeat for 60 s; 2 blocks run again"]


def test_an_idle_worker_is_lost_without_a_message(client, loop):
    messages: list[str] = []
    with started(client, messages) as executor:
        client.workers.clear()
        loop.advance(1)
        assert (executor.capacity(), messages) == ((1, 0), [])


@pytest.mark.parametrize("nanny", [None, "tcp://nanny"])
def test_a_worker_hangs_after_more_than_an_hour_with_one_item(client, loop, nanny):
    client.workers["a"]["nanny"] = nanny
    with started(client) as executor:
        loop.advance(5000)  # idle, which is no reason
        assert executor.capacity() == (2, 1)
        future = executor.submit(max, 1, 2)
        loop.advance(3600)
        assert (future.done(), client.restarted) == (False, [])
        loop.advance(1)
        error = future.exception(PATIENT)
        assert (str(error), error.blamed) == ("a: no result after 3600 s", True)
        assert client.restarted == ([] if nanny is None else [["a"]])
        loop.advance(1)
        assert (executor.capacity(), client.asked) == ((1, 0), ["a"])  # although its heartbeats go on
        about = client.workers.pop("a")
        loop.advance(1)
        client.workers["a"] = about
        loop.advance(1)
        assert (executor.capacity(), client.asked) == ((2, 1), ["a", "a"])


def test_missing_workers_are_replaced_every_ten_seconds(client, loop):
    calls: list[float] = []
    with started(client, keep=lambda: calls.append(loop.now)):
        for _ in range(23):
            loop.advance(1)
    assert calls == [1011.0, 1022.0]


@pytest.mark.parametrize(("threads", "slots"), [(1, 2), (2, 1), (4, 1)])
def test_a_worker_of_many_threads_gets_no_item_in_advance(client, threads, slots):
    client.workers["a"]["nthreads"] = threads
    with started(client) as executor:
        assert executor.capacity() == (slots, 1)


def test_a_worker_that_is_about_to_leave_gets_nothing(client, loop):
    client.add("b")
    client.add("c", status="closing_gracefully")
    with started(client) as executor:
        assert (executor.capacity(), client.asked) == ((4, 2), ["a", "b"])
        client.workers["a"]["status"] = "closing_gracefully"
        loop.advance(1)
        assert executor.capacity() == (2, 2)
        for _ in range(3):
            executor.submit(max, 1, 2)
        loop.advance(0)
        assert [each.options["workers"] for each in client.submitted] == [["b"], ["b"]]


def test_idle_workers_come_first(client, loop):
    client.add("b")
    with started(client) as executor:
        for _ in range(5):
            executor.submit(max, 1, 2)
        loop.advance(0)
        assert [each.options["workers"] for each in client.submitted] == [["a"], ["b"], ["a"], ["b"]]


@pytest.mark.parametrize("error", [OSError("closed"), TimeoutError()])
def test_a_worker_that_does_not_answer_is_asked_again(client, loop, error):
    def fails() -> None:
        raise error

    client.workers["a"]["last_seen"] = 5.0  # also without a new heartbeat
    client.answer = fails
    with started(client) as executor:
        assert executor.capacity() == (1, 0)
        client.answer = versions
        loop.advance(1)
        assert executor.capacity() == (2, 1)
        loop.advance(1)
        loop.advance(1)
    assert client.asked == ["a", "a"]


async def never() -> None:
    await asyncio.Event().wait()


async def refused() -> None:
    raise OSError("closed")


@pytest.mark.parametrize(
    ("events", "reason", "blamed"),
    [
        ((), "lost", True),
        (None, "lost", True),
        (((1.0, "text"), (2.0, {"action": "retire", "expected": False})), "lost", True),
        (((1.0, {"action": "closing-worker"}), (2.0, {"action": "remove"})), "closed", False),
        (((1.0, {"action": "remove", "expected": True}),), "closed", False),
        (refused, "lost", True),
    ],
)
def test_a_worker_that_announced_its_end_blames_nobody(client, loop, events, reason, blamed):
    client.events_of = lambda address: events() if callable(events) else events if address == "a" else ()
    messages: list[str] = []
    with started(client, messages) as executor:
        future = executor.submit(max, 1, 2)
        client.workers.clear()
        loop.advance(1)
        error = future.exception(PATIENT)
    assert (str(error), error.blamed) == (f"a: {reason}", blamed)
    assert messages == [f"worker a: {reason}; 1 blocks run again"]


def test_how_a_worker_ended_is_asked_for_five_seconds_and_nothing_is_given_to_it_meanwhile(client, loop):
    client.events_of = lambda _: never()
    with started(client) as executor:
        future = executor.submit(max, 1, 2)
        client.workers.clear()
        loop.advance(1)
        assert executor.capacity() == (1, 0)
        executor.submit(max, 1, 2)
        loop.advance(4.75)
        assert (future.done(), len(client.submitted)) == (False, 1)
        loop.advance(0.25)
        assert isinstance(future.exception(PATIENT), LostWorkerError)


class KilledWorker(Exception):  # noqa: N818  as Dask calls it
    pass


class FutureCancelledError(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "kind", "blamed"),
    [
        (KilledWorker("k"), LostWorkerError, True),
        (FutureCancelledError("f"), LostWorkerError, False),
        (asyncio.CancelledError("c"), LostWorkerError, False),
        (CommClosedError("in <TCP (closed)>: Stream is closed"), LostWorkerError, False),
        (ZeroDivisionError("z"), ZeroDivisionError, None),
    ],
)
def test_what_dask_says_of_a_lost_worker(client, error, kind, blamed):
    client.error = error
    with started(client) as executor:
        future = executor.submit(max, 1, 2)
        client.let_finish()
        found = future.exception(PATIENT)
    assert type(found) is kind
    assert getattr(found, "blamed", None) is blamed


def test_an_item_stays_with_its_worker_and_leaves_nothing_behind(client, loop):
    with started(client) as executor:
        futures = [executor.submit(sorted, [1, 3, 2], reverse=True), executor.submit(sorted, [2, 1])]
        client.let_finish()
        assert [future.result(PATIENT) for future in futures] == [[3, 2, 1], [1, 2]]
        loop.advance(0)
        assert [(each.options["workers"], each.options["allow_other_workers"]) for each in client.submitted] == [
            (["a"], False),
            (["a"], False),
        ]
        assert len(asyncio.all_tasks(loop)) == len(executor._background) == 1  # the watch
    assert [each.released for each in client.submitted] == [1, 1]


def test_an_item_of_a_lost_worker_leaves_nothing_behind(client, loop):
    with started(client) as executor:
        executor.submit(max, 1, 2)
        client.workers.clear()
        loop.advance(1)
        loop.advance(0)
        assert len(asyncio.all_tasks(loop)) == 1
    assert [each.released for each in client.submitted] == [1]


def test_a_look_that_fails_is_no_lost_scheduler(client, loop):
    with started(client) as executor:
        client.trouble = OSError("once")
        loop.advance(1)
        client.trouble = None
        loop.advance(1)
        assert client.looks == 3
        client.let_finish()
        assert executor.submit(max, 1, 2).result(PATIENT) == 2


def started_with(client: Client, config: ClusterConfig) -> DaskExecutor:
    return DaskExecutor(client, config, lambda _: None)


def test_a_scheduler_that_does_not_answer_is_lost_when_patience_ends(client, loop):
    """As after SIGSTOP: its connection stays, and nothing comes."""
    with started_with(client, ClusterConfig(silence=60, patience=100)) as executor:
        future = executor.submit(max, 1, 2)
        client.identity = lambda **_: never()
        loop.advance(1)  # it is asked, and again after silence
        loop.advance(60)
        loop.advance(1)
        loop.advance(38)
        assert not future.done()
        loop.advance(1)
        assert isinstance(future.exception(PATIENT), SchedulerLostError)
        with pytest.raises(SchedulerLostError):
            executor.submit(max, 1, 2)


def test_workers_of_a_scheduler_that_answers_again_in_time_go_on(client, loop):
    client.workers["a"]["last_seen"] = 5.0
    with started_with(client, ClusterConfig(silence=60, patience=300)) as executor:
        future = executor.submit(max, 1, 2)
        answers = client.identity
        client.identity = lambda **_: never()
        loop.advance(1)
        loop.advance(60)
        loop.advance(1)
        client.identity = answers
        loop.advance(60)
        loop.advance(1)
        assert (executor.capacity(), future.done()) == ((2, 1), False)
        client.let_finish()
        assert future.result(PATIENT) == 2


def test_what_nobody_expected_of_a_scheduler_ends_the_sweep_with_a_sentence(client, loop):
    with started(client) as executor:
        future = executor.submit(max, 1, 2)
        client.trouble = KeyError("workers")
        loop.advance(1)
        text = "the Dask workers cannot be watched: KeyError: 'workers'; finished blocks are kept, and"
        assert str(future.exception(PATIENT)).startswith(text)
        assert isinstance(executor.submit(max, 1, 2).exception(PATIENT), NoWorkersError)


def test_a_worker_whose_sources_lack_something_is_refused_and_not_asked_again(client, loop):
    def lacks() -> None:
        raise AttributeError("module 'nsr.paper.sweep.dask' has no attribute 'prepare_worker'")

    messages: list[str] = []
    with started(client, messages) as executor:
        client.add("b")
        client.answer = lacks
        loop.advance(1)
        loop.advance(1)
        assert (executor.capacity(), client.asked) == ((2, 1), ["a", "b"])
    assert len(messages) == 1
    assert messages[0].startswith("the worker b cannot be used (AttributeError: module 'nsr")
    assert messages[0].endswith("'prepare_worker'): install the same versions there")


def test_when_the_first_worker_that_joins_cannot_be_used_the_sweep_ends(client, loop):
    """On Slurm all workers join after the start; a message, and 0 workers for ever, would help nobody."""
    client.workers.clear()
    messages: list[str] = []
    with started(client, messages) as executor:
        future = executor.submit(max, 1, 2)
        client.add("a")
        client.answer = lambda: {**versions(), "numpy": "1.0"}
        loop.advance(1)
        assert isinstance(future.exception(PATIENT), MismatchError)
    assert messages == []


def test_when_no_worker_is_left_but_refused_ones_the_sweep_ends(client, loop):
    """As when nsr was updated during a run: all workers that are replaced have the new sources."""
    messages: list[str] = []
    with started(client, messages) as executor:
        client.answer = lambda: {**versions(), "numpy": "1.0"}
        client.add("b")
        loop.advance(100)  # the worker that is right goes on
        client.workers.pop("a")
        loop.advance(1)
        future = executor.submit(max, 1, 2)
        loop.advance(60)
        assert not future.done()
        loop.advance(1)
        error = future.exception(PATIENT)
    assert isinstance(error, FailedError)
    text = rf"^no worker that is there can be used: {re.escape(messages[0])}; finished blocks are kept, and"
    assert re.match(text, str(error))


def test_a_sweep_goes_on_if_a_worker_comes_that_is_not_refused(client, loop):
    with started(client) as executor:
        client.answer = lambda: {**versions(), "numpy": "1.0"}
        client.add("b")
        client.workers.pop("a")
        loop.advance(1)
        future = executor.submit(max, 1, 2)
        loop.advance(59)
        client.answer = versions
        client.add("d")
        loop.advance(1)
        loop.advance(100)
        client.let_finish()
        assert future.result(PATIENT) == 2


def test_a_worker_at_the_address_of_a_refused_one_is_asked_again(client, loop):
    with started(client) as executor:
        client.answer = lambda: {**versions(), "numpy": "1.0"}
        client.add("b")
        loop.advance(1)
        about = client.workers.pop("b")
        loop.advance(1)
        client.answer = versions
        client.workers["b"] = about
        loop.advance(1)
        assert executor.capacity() == (4, 2)


def test_a_mismatch_at_the_start_is_said_once(client):
    client.answer = lambda: {**versions(), "numpy": "1.0"}
    messages: list[str] = []
    with pytest.raises(MismatchError, match=r"^the worker a has numpy 1\.0 instead of"):
        started(client, messages)
    assert messages == []


def test_missing_workers_are_replaced_by_one_attempt_at_a_time_and_its_failures_are_reported(client, loop):
    calls: list[float] = []
    messages: list[str] = []

    async def keep() -> None:
        calls.append(loop.now)
        await asyncio.sleep(30)
        raise RuntimeError("no\nluck")

    with started(client, messages, keep=keep):
        for _ in range(45):
            loop.advance(1)
    assert calls == [1011.0]
    assert messages == ["workers that are missing cannot be replaced now: RuntimeError: no luck"]


def test_without_any_prospect_of_workers_items_end_with_its_reason(client, loop):
    async def keep() -> None:
        raise NoWorkersError("no worker")

    with started(client, keep=keep) as executor:
        future = executor.submit(max, 1, 2)
        loop.advance(11)
        assert str(future.exception(PATIENT)) == "no worker"


def test_an_item_that_comes_after_the_loss_of_the_scheduler_is_lost(client, loop):
    with started(client) as executor:
        executor._broken = SchedulerLostError("lost")
        task = ours._Task(Future(), (max, (1, 2)))
        loop.call_soon_threadsafe(executor._enqueue, task)
        assert isinstance(task.future.exception(PATIENT), SchedulerLostError)
        loop.advance(0)
        assert client.submitted == []


def test_the_end_cancels_all_items_before_it_closes_anything_once(client, monkeypatch):
    calls: list[object] = []
    executor = started(client, close=lambda: calls.append("close"))
    futures = [executor.submit(max, 1, 2) for _ in range(4)]
    client.loop.asyncio_loop.advance(0)
    waits: list[float] = []
    wait = executor._await
    monkeypatch.setattr(
        executor, "_await", lambda coroutine, timeout: waits.append(timeout) or wait(coroutine, timeout)
    )

    def close(timeout: float) -> None:
        waits.append(timeout)
        calls.append([future.cancelled() for future in futures])

    client.on_close = close
    executor.shutdown()
    executor.shutdown()
    assert calls == [[True] * 4, "close"]
    assert sum(waits) <= 10  # seconds, if nothing answers
    with pytest.raises(SchedulerLostError):
        executor.submit(max, 1, 2)


def test_an_executor_that_cannot_start_is_closed(client):
    calls: list[str] = []
    client.on_close = lambda _: calls.append("client")
    client.answer = lambda: {**versions(), "numpy": "1.0"}
    with pytest.raises(MismatchError):
        started(client, close=lambda: calls.append("cluster"))
    assert calls == ["client", "cluster"]


# The connection to a scheduler.


class Clock:
    """Seconds that pass in ``sleep`` only."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.attempts: list[float] = []
        self.options: list[dict[str, Any]] = []
        self.there: Callable[[], bool] = lambda: False
        self.closed: list[bool] = []

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def client(self, address: str, **options: Any) -> Any:
        assert address == "tcp://a:1"
        assert len(self.attempts) < 1000, "it does not end"
        self.attempts.append(self.now)
        self.options.append(options)
        if not self.there():
            raise OSError("no route")
        return SimpleNamespace(dashboard_link="http://a", close=lambda: self.closed.append(True))


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(ours, "time", made)
    monkeypatch.setattr(ours, "Client", made.client)
    monkeypatch.setattr(ours, "ping", lambda *_: None)
    monkeypatch.setattr(ours, "dashboard", "dashboard: {}".format)
    monkeypatch.setattr(ours, "DaskExecutor", lambda *arguments: arguments)
    return made


def connection(messages: list[str]) -> Callable[[int], Any]:
    config = ClusterConfig(executor="dask", scheduler="tcp://a:1")
    return make_dask(config, messages.append)


def test_a_scheduler_is_asked_for_twice_a_second_for_twenty_seconds(clock):
    messages: list[str] = []
    text = r"^no Dask scheduler answers at tcp://a:1 after 20 s: no route; start it with dask scheduler; "
    with pytest.raises(InputError, match=text):
        connection(messages)(1)
    assert clock.attempts == [1000 + number / 2 for number in range(42)]
    assert clock.options[0] == {"timeout": 5.0, "set_as_default": False}
    assert messages == []


def test_a_scheduler_that_went_away_is_waited_for_five_minutes(clock):
    messages: list[str] = []
    connect = connection(messages)
    clock.there = lambda: clock.now >= 1002
    _, config, report = connect(1)
    assert (config.scheduler, report) == ("tcp://a:1", messages.append)
    assert clock.attempts == [1000, 1000.5, 1001, 1001.5, 1002]
    clock.there = lambda: False
    with pytest.raises(FailedError, match=r"^no Dask scheduler answers at tcp://a:1 after 300 s; start it with dask"):
        connect(1)
    assert clock.now == 1302.5
    assert messages == ["dashboard: http://a", "the scheduler at tcp://a:1 is lost; waiting up to 300 s for it"]
    assert clock.closed == []


def test_a_client_whose_executor_cannot_start_is_closed(clock, monkeypatch):
    def fails(*_):
        raise MismatchError("other versions")

    clock.there = lambda: True
    monkeypatch.setattr(ours, "DaskExecutor", fails)
    with pytest.raises(MismatchError):
        connection([])(1)
    assert clock.closed == [True]


def test_workers_that_are_started_here_have_one_thread_and_no_limit_of_memory(monkeypatch):
    monkeypatch.setattr(ours, "LocalCluster", lambda **options: options)
    monkeypatch.setattr(ours, "on_cluster", lambda *arguments: arguments)
    config = ClusterConfig(executor="dask", dashboard="127.0.0.1:7")
    options, *rest = make_dask(config, print)(3)
    assert rest[:2] == [config, print]
    assert (options["n_workers"], options["threads_per_worker"], options["memory_limit"]) == (3, 1, 0)
    assert (options["host"], options["dashboard_address"]) == ("127.0.0.1", "127.0.0.1:7")


def test_a_cluster_is_kept_at_its_size_and_closed_with_its_executor(monkeypatch):
    calls: list[object] = []
    cluster = SimpleNamespace(scale=calls.append, close=lambda: calls.append("close"))
    monkeypatch.setattr(ours, "dashboard", "dashboard: {}".format)
    monkeypatch.setattr(ours, "Client", lambda _: SimpleNamespace(dashboard_link="http://a"))
    monkeypatch.setattr(ours, "DaskExecutor", lambda *_, keep, close: (keep, close))
    messages: list[str] = []
    keep, close = ours.on_cluster(cluster, ClusterConfig(), messages.append, lambda: cluster.scale(3))
    keep()
    close()
    assert (calls, messages) == ([3, "close"], ["dashboard: http://a"])


@pytest.mark.parametrize(
    "name", ["distributed", "distributed.client", "distributed.core", "tornado", "tornado.application", "asyncio"]
)
def test_dask_is_silent(monkeypatch, capsys, name):
    """Some of its loggers have levels and handlers of their own."""
    logger = logging.getLogger(name)
    handler = logging.StreamHandler(sys.stderr)
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "disabled", False)
    monkeypatch.setattr(logging.root.manager, "disable", logging.NOTSET)  # other tests may have silenced all
    logger.setLevel(logging.INFO)
    logger.error("heard")
    make_dask(ClusterConfig(executor="dask"), lambda _: None)
    logger.error("Exception in callback")
    assert capsys.readouterr().err == "heard\n"


def test_ctrl_c_is_not_dropped_by_the_first_client(monkeypatch):
    """The first ``uuid.getnode`` drops every exception; here it happens in a thread, where there is no Ctrl-C."""
    looked_up = []
    monkeypatch.setattr(ours.uuid, "getnode", lambda: looked_up.append(threading.current_thread()))
    make_dask(ClusterConfig(executor="dask"), lambda _: None)
    assert len(looked_up) == 1
    assert looked_up[0] is not threading.main_thread()


def answering(status: int, body: bytes) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/status"
        thread.join(PATIENT)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, b"<html>", "dashboard: {}"),
        (
            200,
            b"<p>Dask needs bokeh >= 3.1",
            "no dashboard: it needs bokeh, where the scheduler runs (pip install bokeh)",
        ),
        (404, b"", "no dashboard: the scheduler has none"),
        (403, b"", "dashboard: {}"),
    ],
)
def test_a_dashboard_is_named_only_where_there_is_one(status, body, expected):
    for link in answering(status, body):
        assert ours.dashboard(link) == expected.format(link)


def test_a_dashboard_that_is_not_known_or_not_reached():
    assert ours.dashboard(None) == "no dashboard: the scheduler has none"
    assert ours.dashboard("http://127.0.0.1:9/status") == "dashboard: http://127.0.0.1:9/status"


def test_a_scheduler_that_cannot_be_started_here_is_a_sentence(monkeypatch):
    def fails(**_: Any) -> None:
        raise RuntimeError("Cluster failed to start") from OSError("no such\nhost")

    monkeypatch.setattr(ours, "LocalCluster", fails)
    with pytest.raises(InputError, match=r"^a scheduler of Dask cannot be started here: no such host$"):
        make_dask(ClusterConfig(executor="dask"), lambda _: None)(1)


# On a worker.


@pytest.mark.parametrize("nanny", [None, "tcp://nanny"])
def test_a_worker_has_one_thread_and_with_a_nanny_says_goodbye_on_sigterm(nanny):
    async def prepared() -> tuple[Any, bool]:
        answer = await ours.prepare_worker(SimpleNamespace(nanny=nanny))
        return answer, asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        assert asyncio.run(prepared()) == (versions(), nanny is not None)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


def test_data_is_written_once_more_where_it_is_already(tmp_path):
    worker = SimpleNamespace(local_directory=str(tmp_path / "a" / "b"))
    for content in (b"old", b"new"):
        folder = ours.receive_data({"x": content}, worker)
        assert folder == str(tmp_path / "a" / "b" / "nsr-data")
        assert {path.name: path.read_bytes() for path in (tmp_path / "a" / "b" / "nsr-data").iterdir()} == {
            "x": content
        }
