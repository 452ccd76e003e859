"""Items on the workers of a Dask scheduler.

Dask carries items and results; which worker runs an item is decided here, one item at a time on each worker and one
more that waits there. So it is known what a lost worker was running, Dask runs nothing a second time by itself, and a
result is released as soon as it has arrived.
"""

import asyncio
import contextlib
import inspect
import logging
import math
import pickle
import signal
import time
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

import dask
import torch
from distributed import Client, LocalCluster, Status
from distributed.comm import registry
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.comm.core import CommClosedError
from distributed.core import rpc
from distributed.security import Security

from nsr.data.digits import MNIST
from nsr.errors import FailedError, InputError, shortened
from nsr.paper.records import Item
from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.executors import MakeExecutor
from nsr.paper.sweep.run import NoWorkersError, SchedulerLostError
from nsr.paper.sweep.worker import LostWorkerError, MismatchError, check_versions, versions

P = ParamSpec("P")
T = TypeVar("T")
Report = Callable[[str], None]
Keep = Callable[[], Awaitable[None] | None]
"""Replaces workers that are missing; on the event loop of the client."""

LOOK_EVERY, REPLACE_EVERY = 1.0, 10.0
"""Seconds between looks at the workers, and between attempts to replace those that are missing."""
FIRST_ANSWER = 20.0
"""Seconds that a scheduler may take for its first answer."""
LOST = {"CancelledError", "FutureCancelledError", "KilledWorker", "CommClosedError"}
"""Errors for an item whose worker is gone, or whose result was under way when the scheduler was."""
CONTINUES = "finished blocks are kept, and the same command continues from there"
LEAN = {
    "distributed.worker.profile.enabled": False,  # nobody looks at where its workers spend their time
    "distributed.admin.tick.interval": "1s",  # it would wake up fifty times a second to see whether it is late
    "distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1, "MKL_NUM_THREADS": 1, "OPENBLAS_NUM_THREADS": 1},
}
"""Settings of Dask for the workers that are started here: what it does beside the items costs as little as can be. It
would also have malloc give every temporary tensor back to the system at once."""


def make_dask(config: ClusterConfig, on_message: Report) -> MakeExecutor:
    """Executors on the scheduler of the configuration, or on one that is started here with its workers."""
    _silence()
    _look_up_this_machine()
    if config.scheduler:
        check_address(config.scheduler)
    return _Connection(config, on_message).connect if config.scheduler else partial(_local_cluster, config, on_message)


def check_address(address: str) -> None:
    """Raise an InputError if it cannot be an address. A client that is given one leaves a traceback when it ends."""
    try:
        protocol, place = parse_address(address)
        registry.get_backend(protocol)
        parse_host_port(place)
    except ValueError as error:
        raise InputError(
            f"{address!r} is not the address of a Dask scheduler: {error}; write it as in tcp://192.168.0.10:8786"
        ) from error


def _local_cluster(config: ClusterConfig, on_message: Report, workers: int) -> Executor:
    try:
        with dask.config.set(LEAN):
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address=config.dashboard,
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(f"a scheduler of Dask cannot be started here: {first_cause(error)}") from error
    return on_cluster(cluster, config, on_message, lambda: cluster.scale(workers))


def on_cluster(cluster: Any, config: ClusterConfig, on_message: Report, keep: Keep) -> "DaskExecutor":
    """An executor on a cluster that ends with it, and whose lost workers are replaced by ``keep``."""
    try:
        client = Client(cluster)
        on_message(dashboard(client.dashboard_link))
        return DaskExecutor(client, config, on_message, keep=keep, close=partial(close_cluster, cluster))
    except BaseException:
        close_cluster(cluster)
        raise


def dashboard(link: str | None) -> str:
    """Where the dashboard is, or why there is none. A scheduler names its address also where nothing is to be seen."""
    if not link:
        return "no dashboard: the scheduler has none"
    try:
        with build_opener(ProxyHandler({})).open(link, timeout=2) as page:
            if b"Dask needs bokeh" in page.read(500):
                return "no dashboard: it needs bokeh, where the scheduler runs (pip install bokeh)"
    except HTTPError as error:
        if error.code == HTTPStatus.NOT_FOUND:
            return "no dashboard: the scheduler has none"
    except (OSError, ValueError):
        pass  # it is slow, or is reached in another way
    return f"dashboard: {link}"


def first_cause(error: BaseException) -> str:
    """What was wrong at first, in one line: Dask wraps an error in others."""
    while error.__cause__ is not None:
        error = error.__cause__
    return shortened(" ".join((str(error) or type(error).__name__).split()), 500)


def close_cluster(cluster: Any) -> None:
    """Close a cluster, although it may complain of jobs that never ran and of what Ctrl-C has cancelled."""
    try:
        cluster.close()
    except Exception:
        cluster.status = Status.closed  # or it would try again, and complain, at the end of the process


def ping(address: str, timeout: float) -> None:
    """Raise an OSError unless a scheduler answers in time. A client would wait for ever for one that is stopped."""

    async def ask() -> None:
        async with rpc(address, connection_args=Security().get_connection_args("client")) as scheduler:
            await asyncio.wait_for(scheduler.identity(n_workers=0), timeout)

    with ThreadPoolExecutor(1) as thread:  # here there may be an event loop already, as in a notebook
        try:
            thread.submit(asyncio.run, ask()).result()
        except TimeoutError as error:
            raise OSError(f"it is silent for {timeout:.0f} s") from error


@dataclass
class _Connection:
    """To a scheduler that others have started. One that went away is waited for; one that was never there is not."""

    config: ClusterConfig
    on_message: Report
    answered: bool = False

    def connect(self, _: int) -> "DaskExecutor":
        patience = self.config.patience if self.answered else FIRST_ANSWER
        address, end = self.config.scheduler, time.monotonic() + patience
        if self.answered:
            self.on_message(f"the scheduler at {address} is lost; waiting up to {patience:.0f} s for it")
        while True:
            try:
                return self._attempt(min(5.0, patience))
            except (OSError, TimeoutError) as error:
                if time.monotonic() > end:
                    kind, text = (FailedError, "") if self.answered else (InputError, f": {error}")
                    raise kind(
                        f"no Dask scheduler answers at {address} after {patience:.0f} s{text}; start it with dask "
                        f"scheduler; {CONTINUES}"
                    ) from error
                time.sleep(0.5)

    def _attempt(self, timeout: float) -> "DaskExecutor":
        ping(str(self.config.scheduler), timeout)
        client = Client(self.config.scheduler, timeout=timeout, set_as_default=False)
        try:
            executor = DaskExecutor(client, self.config, self.on_message)
            self.answered = True
            self.on_message(dashboard(client.dashboard_link))
            return executor
        except BaseException:
            client.close()
            raise


@dataclass(eq=False)
class _Task:
    future: Future[Any]
    call: tuple[Callable[..., Any], tuple[Any, ...]]


@dataclass(eq=False)
class _Worker:
    address: str
    slots: int
    has_nanny: bool
    tasks: deque[_Task] = field(default_factory=deque)
    """The first one is running."""
    began: float = 0.0
    """When it became the first."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    reason: str = ""
    blamed: bool = True
    folders: dict[Path, Path] = field(default_factory=dict)
    """Where it has the files of a data folder."""


@dataclass(eq=False)
class _Seen:
    """The last heartbeat of a worker, and when it was new, by the clock of this machine."""

    heartbeat: float
    at: float


class DaskExecutor(Executor):
    """An executor on the workers of a scheduler, however they come and go.

    Args:
        client: Of the scheduler; closed with the executor.
        config: Its ``silence`` and ``hang``: after how many seconds without a heartbeat, and with one item, a worker
            counts as lost.
        on_message: Called with a line about workers that are lost or refused.
        keep: Called now and then to replace workers that are missing.
        close: Called at the end.
    """

    def __init__(
        self,
        client: Any,
        config: ClusterConfig,
        on_message: Report,
        *,
        keep: Keep = lambda: None,
        close: Callable[[], None] = lambda: None,
    ) -> None:
        self._client, self._config, self._on_message = client, config, on_message
        self._keep, self._close = keep, close
        self._waiting: deque[_Task] = deque()
        self._workers: dict[str, _Worker] = {}
        self._seen: dict[str, _Seen] = {}
        self._refused: dict[str, str] = {}
        self._preparing: set[str] = set()
        self._hung: set[str] = set()
        self._background: set[asyncio.Task[Any]] = set()
        self._broken: Exception | None = None
        """Why nothing can run any more."""
        self._started, self._accepted, self._closed = False, False, False
        self._asked: float | None = None
        """When the scheduler was asked for what it has not answered yet."""
        self._kept = self._useful = time.monotonic()
        self._loop = client.loop.asyncio_loop
        try:
            self._await(self._start())
        except BaseException:
            self.shutdown()
            raise

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function of an item on a worker, as soon as one is free."""
        if self._closed or isinstance(self._broken, BrokenExecutor):
            raise SchedulerLostError("the Dask scheduler is lost")
        future: Future[T] = Future()
        task = _Task(future, (partial(fn, **kwargs) if kwargs else fn, args))
        self._loop.call_soon_threadsafe(self._enqueue, task)
        return future

    def capacity(self) -> tuple[int, int]:
        """How many items may be submitted, and how many workers there are."""
        workers = list(self._workers.values())
        return max(1, sum(worker.slots for worker in workers)), len(workers)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002
        """End the connection, and the workers if they were started here."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(Exception):
            self._await(self._stop(), timeout=5)
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)
        with contextlib.suppress(Exception):
            self._close()

    def _await(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout)

    # What follows runs on the event loop of the client.

    async def _start(self) -> None:
        await self._look()
        if self._preparing:  # the first workers are checked before anything runs
            await asyncio.wait(list(self._background), timeout=self._config.silence)
        if self._refused:
            raise MismatchError(next(iter(self._refused.values())))
        self._started = True
        self._spawn(self._watch())

    async def _stop(self) -> None:
        tasks = list(self._background)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for worker in self._workers.values():
            self._waiting.extend(worker.tasks)
        for left in self._waiting:
            left.future.cancel()

    def _spawn(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        task = asyncio.ensure_future(coroutine)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _enqueue(self, task: _Task) -> None:
        if self._broken is not None:
            task.future.set_exception(self._broken)
            return
        self._waiting.append(task)
        self._assign()

    def _assign(self) -> None:
        """Give waiting items to workers: first to those that are idle."""
        for length in (0, 1):
            for worker in self._workers.values():
                if not self._waiting:
                    return
                if len(worker.tasks) == length < worker.slots:
                    task = self._waiting.popleft()
                    if not worker.tasks:
                        worker.began = time.monotonic()
                    worker.tasks.append(task)
                    self._spawn(self._run(worker, task))

    async def _run(self, worker: _Worker, task: _Task) -> None:
        """One item on one worker, until its result is here or the worker is gone."""
        gone = asyncio.ensure_future(worker.gone.wait())
        result = asyncio.ensure_future(self._result(worker, task))
        try:
            await asyncio.wait({gone, result}, return_when=asyncio.FIRST_COMPLETED)
            if task.future.done():
                return  # it was given up with the scheduler
            if result.done():
                self._finish(worker, task, result)
            else:
                blamed = worker.blamed and worker.tasks[0] is task
                task.future.set_exception(LostWorkerError(f"{worker.address}: {worker.reason}", blamed=blamed))
        finally:
            gone.cancel()
            result.cancel()

    async def _result(self, worker: _Worker, task: _Task) -> Any:
        function, arguments = task.call
        arguments = tuple([await self._with_data(worker, each) for each in arguments])
        future = self._client.submit(
            _call,
            function,
            arguments,
            key=f"nsr-{uuid.uuid4().hex}",
            workers=[worker.address],
            allow_other_workers=False,
            pure=False,
        )
        try:
            return pickle.loads(await future._result())
        finally:
            future.release()

    def _finish(self, worker: _Worker, task: _Task, result: "asyncio.Future[Any]") -> None:
        error: BaseException | None
        try:
            error = result.exception()
        except asyncio.CancelledError as cancelled:
            error = cancelled
        if self._client.status != "running":
            error = SchedulerLostError("the Dask scheduler is lost")
        elif error is not None and type(error).__name__ in LOST:
            error = LostWorkerError(f"{worker.address}: {error}", blamed=type(error).__name__ == "KilledWorker")
        worker.tasks.remove(task)
        worker.began = time.monotonic()
        if error is None:
            task.future.set_result(result.result())
        else:
            task.future.set_exception(error)
        self._assign()

    async def _watch(self) -> None:
        while not self._closed and self._broken is None:
            await asyncio.sleep(LOOK_EVERY)
            try:
                await self._look()
            except (OSError, TimeoutError):
                if self._client.status != "running" or self._unanswered() >= self._config.patience:
                    self._break(SchedulerLostError("the Dask scheduler is lost"))
            except Exception as error:
                self._break(NoWorkersError(f"the Dask workers cannot be watched: {_described(error)}; {CONTINUES}"))

    def _break(self, error: Exception) -> None:
        """Nothing can run any more, and what was running is lost."""
        self._broken = error
        tasks = [*self._waiting, *(task for worker in self._workers.values() for task in worker.tasks)]
        for task in tasks:
            if not task.future.done():
                task.future.set_exception(error)

    async def _look(self) -> None:
        """Find out which workers are there, which are new and which are lost."""
        present = await self._present()
        self._note_heartbeats(present)
        self._drop_lost(present)
        self._end_without_prospect(present)
        if time.monotonic() - self._kept > REPLACE_EVERY:
            self._kept = math.inf  # until it has ended
            self._spawn(self._replace())

    def _end_without_prospect(self, present: Mapping[str, Any]) -> None:
        """End the sweep if only refused workers have been there for a while: others would be like them."""
        if self._workers or not self._refused:
            self._useful = time.monotonic()
        elif time.monotonic() - self._useful > self._config.silence and self._refused.keys() >= present.keys():
            reason = self._refused[min(present)]
            self._break(NoWorkersError(f"no worker that is there can be used: {reason}; {CONTINUES}"))

    def _unanswered(self) -> float:
        """For how many seconds the scheduler has not answered."""
        return 0.0 if self._asked is None else time.monotonic() - self._asked

    async def _present(self) -> Mapping[str, Any]:
        """What the scheduler says of each worker. While it says nothing, no worker counts as silent."""
        if self._client.status != "running":
            raise OSError("the scheduler is lost")
        if self._asked is None:
            self._asked = time.monotonic()
        limit = max(0.0, min(self._config.silence, self._config.patience - self._unanswered()))
        identity = await asyncio.wait_for(self._client.scheduler.identity(n_workers=-1), limit)
        for seen in self._seen.values():
            seen.at += self._unanswered()
        self._asked = None
        present: Mapping[str, Any] = identity["workers"]
        return present

    def _note_heartbeats(self, present: Mapping[str, Any]) -> None:
        """When each worker was heard of last; new ones are checked."""
        for address, about in present.items():
            seen = self._seen.get(address)
            if seen is None or seen.heartbeat != about["last_seen"]:
                self._seen[address] = _Seen(about["last_seen"], time.monotonic())
                known = (self._workers, self._preparing, self._refused, self._hung)
                if about["status"] == "running" and not any(address in each for each in known):
                    self._preparing.add(address)
                    self._spawn(self._prepare(address, about))
        self._seen = {address: seen for address, seen in self._seen.items() if address in present}
        self._refused = {address: reason for address, reason in self._refused.items() if address in present}
        self._hung.intersection_update(present)

    def _drop_lost(self, present: Mapping[str, Any]) -> None:
        """Workers that have left, that are silent and that hang."""
        now = time.monotonic()
        for worker in list(self._workers.values()):
            if worker.address not in present:
                self._spawn(self._bury(worker))
            elif present[worker.address]["status"] != "running":
                worker.slots = 0  # it is about to leave
            elif now - self._seen[worker.address].at > self._config.silence:
                self._lose(worker, f"no heartbeat for {self._config.silence:.0f} s")
            elif worker.tasks and now - worker.began > self._config.hang:
                self._lose(worker, f"no result after {self._config.hang:.0f} s")
                self._hung.add(worker.address)  # what it is at would come before any other item
                if worker.has_nanny:
                    self._spawn(self._restart(worker))

    async def _replace(self) -> None:
        """Have workers that are missing replaced, one attempt at a time."""
        try:
            asked = self._keep()
            if inspect.isawaitable(asked):
                await asked
        except NoWorkersError as error:
            self._break(error)
        except Exception as error:
            self._on_message(f"workers that are missing cannot be replaced now: {_described(error)}")
        finally:
            self._kept = time.monotonic()

    async def _prepare(self, address: str, about: Mapping[str, Any]) -> None:
        """Check a new worker, and use it if its versions are right."""
        try:
            answer = await asyncio.wait_for(self._ask(address, prepare_worker), self._config.silence)
            check_versions(versions(), f"the worker {address}", answer)
        except MismatchError as error:
            self._refuse(address, str(error))
        except ImportError as error:
            self._refuse(address, f"the worker {address} cannot import nsr ({error}): install it there")
        except (OSError, TimeoutError):
            self._seen.pop(address, None)  # it is gone, or asked again
        except Exception as error:  # of sources that lack what is called
            text = f"the worker {address} cannot be used ({_described(error)}): install the same versions there"
            self._refuse(address, text)
        else:
            slots = 2 if about["nthreads"] == 1 else 1
            self._workers[address] = _Worker(address, slots, about["nanny"] is not None)
            self._accepted = True
            self._assign()
        finally:
            self._preparing.discard(address)

    def _refuse(self, address: str, reason: str) -> None:
        """Do not use a worker. If it is among the first ones, all is likely to be wrong, and the sweep ends with it."""
        self._refused[address] = reason
        if self._accepted and self._started:
            self._on_message(reason)
        elif self._started:
            self._break(MismatchError(reason))

    async def _ask(self, address: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Call a function on one worker, beside the items that it runs."""
        answers = await self._client._run(function, *arguments, workers=[address], wait=True)
        if address not in answers:
            raise OSError(f"{address} is gone")
        return answers[address]

    async def _bury(self, worker: _Worker) -> None:
        """A worker has left the scheduler. If it announced its end, no item is to blame."""
        self._workers.pop(worker.address, None)
        with contextlib.suppress(OSError, TimeoutError, asyncio.TimeoutError):
            events = await asyncio.wait_for(self._client.scheduler.events(topic=worker.address), 5)
            reported = [event for _, event in events or () if isinstance(event, dict)]
            worker.blamed = not any(e.get("action") == "closing-worker" or e.get("expected") for e in reported)
        self._lose(worker, "lost" if worker.blamed else "closed")

    def _lose(self, worker: _Worker, reason: str) -> None:
        self._workers.pop(worker.address, None)
        if worker.gone.is_set():
            return
        if worker.tasks:
            self._on_message(f"worker {worker.address}: {reason}; {len(worker.tasks)} blocks run again")
        worker.reason = reason
        worker.gone.set()

    async def _restart(self, worker: _Worker) -> None:
        with contextlib.suppress(Exception):
            await self._client._restart_workers([worker.address], timeout=30, raise_for_error=False)

    async def _with_data(self, worker: _Worker, value: Any) -> Any:
        """An item as this worker needs it: its data folder is where the worker has the files."""
        if not isinstance(value, Item) or value.data is None:
            return value
        if value.data not in worker.folders:
            files = data_files(value.data)
            sizes = {name: path.stat().st_size for name, path in files.items()}
            try:
                found = await self._ask(worker.address, find_data, str(value.data), sizes)
                if found is None:
                    content = {name: path.read_bytes() for name, path in files.items()}
                    found = await self._ask(worker.address, receive_data, content)
            except CommClosedError as error:
                raise LostWorkerError(f"{worker.address}: {error}", blamed=False) from error
            worker.folders[value.data] = Path(found)
        return replace(value, data=worker.folders[value.data])


def _described(error: Exception) -> str:
    return shortened(f"{type(error).__name__}: {error}".replace("\n", " "), 500)


def data_files(folder: Path) -> dict[str, Path]:
    """The files of a data folder that items read: those of MNIST, gzipped or not."""
    names = [name + suffix for name in MNIST.files for suffix in ("", ".gz")]
    return {name: folder / name for name in names if (folder / name).is_file()}


# On a worker.


def _call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """The pickled result. Dask would pickle each record of a list by itself, with what all of them share."""
    return pickle.dumps(function(*arguments), protocol=pickle.HIGHEST_PROTOCOL)


async def prepare_worker(dask_worker: Any) -> Mapping[str, str]:
    """One thread; a goodbye before Slurm ends this process; returns the versions."""
    torch.set_num_threads(1)
    if dask_worker.nanny:
        with contextlib.suppress(ValueError, RuntimeError, NotImplementedError):
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGTERM, _say_goodbye, dask_worker, loop)
    return versions()


def _say_goodbye(dask_worker: Any, loop: asyncio.AbstractEventLoop) -> None:
    dask_worker._nsr_goodbye = loop.create_task(dask_worker.close(nanny=True, reason="SIGTERM"))


def find_data(folder: str, sizes: Mapping[str, int]) -> str | None:
    """The folder, if this machine has the same files in it."""
    files = {name: Path(folder) / name for name in sizes}
    same = all(path.is_file() and path.stat().st_size == sizes[name] for name, path in files.items())
    return folder if same and sizes else None


def receive_data(content: Mapping[str, bytes], dask_worker: Any) -> str:
    """Write the files into the folder of a worker; returns it."""
    folder = Path(dask_worker.local_directory) / "nsr-data"
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in content.items():
        temporary = folder / f".{name}.part"
        temporary.write_bytes(data)
        temporary.replace(folder / name)
    return str(folder)


def _look_up_this_machine() -> None:
    """The number by which ``uuid`` names clients, in a thread: its look-up drops every exception, a Ctrl-C too."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(uuid.getnode).result()


def _silence() -> None:
    """What Dask logs is reported here in a sentence. Some of its loggers have levels of their own."""
    names = ("distributed", "tornado", "asyncio")
    for name in (*names, *(each for each in list(logging.root.manager.loggerDict) if each.split(".")[0] in names)):
        logging.getLogger(name).setLevel(logging.CRITICAL)
