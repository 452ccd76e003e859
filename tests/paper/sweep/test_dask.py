"""Items on Dask, with a scheduler and workers inside this process, which can be lost, stopped and replaced quickly.

``test_dask_processes.py`` does the same with processes that are killed.
"""

import asyncio
import gc
import gzip
import socket
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs the extra cluster")

from distributed import Client, LocalCluster

from nsr.data.digits import MNIST
from nsr.errors import InputError
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Item
from nsr.paper.sweep import dask as ours
from nsr.paper.sweep.cluster_config import ClusterConfig
from nsr.paper.sweep.dask import DaskExecutor, make_dask
from nsr.paper.sweep.plan import plan
from nsr.paper.sweep.run import Observer, SchedulerLostError, Sweep
from nsr.paper.sweep.store import Store
from nsr.paper.sweep.worker import LostWorkerError, MismatchError, run_item, versions

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)  # sockets that Dask leaves open when a worker is lost
EXPERIMENT = EXPERIMENTS["comparisons"]
FAST = ClusterConfig(silence=5.0, hang=60.0)


@pytest.fixture
def cluster(monkeypatch) -> Iterator[LocalCluster]:
    monkeypatch.setattr(ours, "LOOK_EVERY", 0.05)
    ours._silence()
    with LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        dashboard_address="127.0.0.1:0",
        memory_limit=0,
        protocol="tcp",
    ) as made:
        yield made
    with warnings.catch_warnings(action="ignore"):
        gc.collect()  # sockets that Dask leaves open


def on(cluster: LocalCluster, config: ClusterConfig = FAST, messages: list[str] | None = None) -> DaskExecutor:
    report = (lambda _: None) if messages is None else messages.append
    return DaskExecutor(Client(cluster, set_as_default=False), config, report)


def lose(cluster: LocalCluster, address: str, *, goodbye: bool) -> None:
    """End a worker, with or without a goodbye."""
    (worker,) = (worker for worker in cluster.workers.values() if worker.address == address)

    async def end() -> None:
        if goodbye:
            await worker.close(reason="preempted", executor_wait=False)
        else:
            worker.batched_stream.comm.abort()

    cluster.sync(end)


def until(condition: Callable[[], object], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def busy(executor: DaskExecutor) -> list[str]:
    return [worker.address for worker in executor._workers.values() if worker.tasks]


def test_the_records_are_those_of_a_run_without_dask(cluster, tmp_path):
    smoke = EXPERIMENT.profiles["smoke"]
    items = plan(EXPERIMENT, smoke, ("exact",), range(4), block=2, keep=lambda cell: cell.model == "nsr")
    for folder, make in {"dask": lambda: on(cluster), "threads": lambda: ThreadPoolExecutor(1)}.items():
        assert Sweep(Store(tmp_path / folder), make, 1, Observer()).run(items) == []
    dask, threads = (
        Store(folder)._connection.execute("SELECT identity, metrics, environment FROM results ORDER BY 1").fetchall()
        for folder in (tmp_path / "dask", tmp_path / "threads")
    )
    assert len(dask) == 24
    assert dask == threads


def test_what_the_records_of_a_block_share_they_share_when_they_arrive(cluster):
    """Dask pickles the members of a list one by one, which costs the parent twice the time."""
    (item, *_) = plan(EXPERIMENT, EXPERIMENT.profiles["smoke"], ("exact",), range(3))
    with on(cluster) as executor:
        records = executor.submit(run_item, item).result(60)
    assert [record.seed for record in records] == [0, 1, 2]
    assert len({(id(record.cell), id(record.recipe), id(record.environment)) for record in records}) == 1


def test_an_error_of_the_function_arrives_as_it_is(cluster):
    with on(cluster) as executor, pytest.raises(ZeroDivisionError):
        executor.submit(divmod, 1, 0).result(10)


def test_each_worker_has_one_item_that_runs_and_one_that_waits(cluster):
    with on(cluster) as executor:
        assert executor.capacity() == (4, 2)
        release = threading.Event()
        RELEASES["two"] = release
        futures = [executor.submit(wait_for, "two") for _ in range(5)]
        until(lambda: sorted(len(worker.tasks) for worker in executor._workers.values()) == [2, 2])
        release.set()
        assert [future.result(10) for future in futures] == [True] * 5


RELEASES: dict[str, threading.Event] = {}
"""For functions that run in a thread of this process."""
CALLS: list[str] = []


def wait_for(name: str) -> bool:
    CALLS.append(name)
    return RELEASES[name].wait(30)


def test_at_the_end_what_runs_is_not_waited_for_and_what_waits_is_cancelled(cluster):
    RELEASES["end"] = threading.Event()
    executor = on(cluster)
    futures = [executor.submit(wait_for, "end") for _ in range(5)]
    until(lambda: len(busy(executor)) == 2)
    executor.shutdown()
    assert futures[-1].cancelled()
    RELEASES["end"].set()


def test_only_the_item_that_was_running_is_blamed_for_a_lost_worker(cluster):
    """Dask 5234 suspects those that were queued as well."""
    RELEASES["blame"] = threading.Event()
    with on(cluster) as executor:
        futures = [executor.submit(wait_for, "blame") for _ in range(4)]
        until(lambda: len(busy(executor)) == 2 and CALLS.count("blame") == 2)
        address = busy(executor)[0]
        first, second = (task.future for task in executor._workers[address].tasks)
        lose(cluster, address, goodbye=False)
        errors = [future.exception(10) for future in (first, second)]
        assert [type(error) for error in errors] == [LostWorkerError, LostWorkerError]
        assert [error.blamed for error in errors] == [True, False]
        RELEASES["blame"].set()
        assert [f.result(10) for f in futures if f not in (first, second)] == [True, True]


def test_a_worker_that_says_goodbye_blames_nobody(cluster):
    """The end of a walltime, scancel and preemption: dask-jobqueue 122 and 611, distributed 2694, submitit 1770."""
    RELEASES["goodbye"] = threading.Event()
    messages: list[str] = []
    with on(cluster, messages=messages) as executor:
        executor.submit(wait_for, "goodbye")
        until(lambda: busy(executor) and "goodbye" in CALLS)
        (address,) = busy(executor)
        future = executor._workers[address].tasks[0].future
        lose(cluster, address, goodbye=True)
        error = future.exception(10)
        RELEASES["goodbye"].set()
    assert isinstance(error, LostWorkerError)
    assert not error.blamed
    assert messages == [f"worker {address}: closed; 1 blocks run again"]


def test_dask_runs_nothing_again_by_itself(cluster):
    """Dask 7870: what a lost worker had finished would run once more. Here it has arrived and is released."""
    RELEASES["again"] = threading.Event()
    RELEASES["again"].set()
    with on(cluster) as executor:
        assert [executor.submit(wait_for, "again").result(10) for _ in range(6)] == [True] * 6
        until(lambda: not cluster.scheduler.tasks)
        for address in list(executor._workers):
            lose(cluster, address, goodbye=False)
        until(lambda: not executor._workers)
        time.sleep(0.2)
    assert CALLS.count("again") == 6


def test_a_new_worker_gets_what_is_waiting(cluster):
    with on(cluster) as executor:
        for address in list(executor._workers):
            lose(cluster, address, goodbye=True)
        until(lambda: not executor._workers)
        assert executor.capacity() == (1, 0)
        future = executor.submit(max, 1, 2)
        cluster.scale(3)
        assert future.result(20) == 2


def test_lost_workers_are_replaced(cluster, monkeypatch):
    """dask-jobqueue 611: workers that were lost were not started again."""
    monkeypatch.setattr(ours, "REPLACE_EVERY", 0.1)
    calls: list[int] = []
    client = Client(cluster, set_as_default=False)
    with DaskExecutor(client, FAST, lambda _: None, keep=lambda: calls.append(1)):
        until(lambda: len(calls) >= 2)


def test_a_worker_without_a_heartbeat_is_lost_and_used_again_when_it_is_back(cluster, monkeypatch):
    """As after SIGSTOP, or when the network is gone: the scheduler still lists it."""
    RELEASES["silent"] = threading.Event()
    config = ClusterConfig(silence=0.8, hang=60.0)
    with on(cluster, config) as executor:
        future = executor.submit(wait_for, "silent")
        until(lambda: busy(executor) and "silent" in CALLS)
        (address,) = busy(executor)
        (worker,) = (worker for worker in cluster.workers.values() if worker.address == address)
        worker.periodic_callbacks["heartbeat"].stop()
        error = future.exception(10)
        assert isinstance(error, LostWorkerError)
        assert str(error) == f"{address}: no heartbeat for 1 s"
        assert address not in executor._workers
        RELEASES["silent"].set()
        cluster.loop.add_callback(worker.periodic_callbacks["heartbeat"].start)
        until(lambda: address in executor._workers)


def test_a_worker_that_hangs_is_lost(cluster):
    RELEASES["hang"] = threading.Event()
    with on(cluster, ClusterConfig(silence=60.0, hang=0.3)) as executor:
        error = executor.submit(wait_for, "hang").exception(10)
        time.sleep(1)  # heartbeats of the worker go on, and yet it gets nothing more to do
        assert executor.capacity() == (2, 1)
        RELEASES["hang"].set()
    assert isinstance(error, LostWorkerError)
    assert error.blamed
    assert str(error).endswith(": no result after 0 s")


def test_when_the_scheduler_is_lost_all_items_are_and_nothing_can_be_submitted(cluster):
    RELEASES["scheduler"] = threading.Event()
    with on(cluster) as executor:
        futures = [executor.submit(wait_for, "scheduler") for _ in range(5)]
        until(lambda: len(busy(executor)) == 2)
        executor._client.status = "connecting"
        errors = [future.exception(20) for future in futures]
        RELEASES["scheduler"].set()
        assert {type(error) for error in errors} == {SchedulerLostError}
        until(lambda: executor._broken)
        with pytest.raises(SchedulerLostError):
            executor.submit(max, 1, 2)
        executor._client.status = "running"


def test_other_versions_are_refused_before_anything_runs(cluster, monkeypatch):
    async def old(dask_worker):
        return {**versions(), "torch": "1.0"}

    monkeypatch.setattr(ours, "prepare_worker", old)
    with pytest.raises(MismatchError, match=r"^the worker tcp://\S+ has torch 1\.0 instead of "):
        on(cluster)


def test_a_worker_that_cannot_import_nsr_is_refused(cluster, monkeypatch):
    async def missing(dask_worker):
        raise ModuleNotFoundError("No module named 'nsr'")

    monkeypatch.setattr(ours, "prepare_worker", missing)
    with pytest.raises(MismatchError, match=r"cannot import nsr \(No module named 'nsr'\): install it there$"):
        on(cluster)


def test_a_later_worker_with_other_versions_is_not_used_and_the_others_go_on(cluster, monkeypatch):
    messages: list[str] = []
    with on(cluster, messages=messages) as executor:

        async def old(dask_worker):
            return {**versions(), "numpy": "1.0"}

        monkeypatch.setattr(ours, "prepare_worker", old)
        cluster.scale(3)
        until(lambda: messages)
        assert "has numpy 1.0 instead of" in messages[0]
        assert executor.capacity() == (4, 2)
        assert executor.submit(max, 1, 2).result(10) == 2
        until(lambda: len(executor._background) == 1)  # what has ended is not kept: the watch is left


def contents(item: Item) -> tuple[str, dict[str, bytes]]:
    assert item.data is not None
    return str(item.data), {path.name: path.read_bytes() for path in sorted(item.data.iterdir())}


def test_data_that_a_worker_sees_stays_where_it_is_and_other_data_is_sent(cluster, tmp_path, monkeypatch):
    digits = EXPERIMENTS["digits"]
    files = {f"{name}.gz": gzip.compress(name.encode()) for name in MNIST.files}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    (item, *_) = plan(digits, digits.profiles["paper"], ("exact",), range(1), data=tmp_path)
    with on(cluster) as executor:
        assert executor.submit(contents, item).result(10) == (str(tmp_path), files)
    monkeypatch.setattr(ours, "find_data", lambda *_: None)  # as on a machine that does not have the folder
    (tmp_path / "private.txt").write_text("is not sent")
    with on(cluster) as executor:
        folder, received = executor.submit(contents, item).result(10)
    assert Path(folder) != tmp_path
    assert received == files


def test_data_is_found_by_names_and_sizes(tmp_path):
    (tmp_path / "a").write_bytes(b"12")
    assert ours.find_data(str(tmp_path), {"a": 2}) == str(tmp_path)
    assert ours.find_data(str(tmp_path), {"a": 3}) is None
    assert ours.find_data(str(tmp_path), {"a": 2, "b": 1}) is None
    assert ours.find_data(str(tmp_path / "nowhere"), {"a": 2}) is None


def test_the_dashboard_is_printed_and_a_scheduler_can_be_named(cluster):
    messages: list[str] = []
    config = ClusterConfig(executor="dask", scheduler=cluster.scheduler_address)
    with make_dask(config, messages.append)(1) as executor:
        assert executor.submit(max, 1, 2).result(10) == 2
    assert "dashboard" in messages[0]


def test_a_cluster_that_cannot_be_reached_is_closed(monkeypatch):
    def client(_):
        raise OSError("no route")

    monkeypatch.setattr(ours, "Client", client)
    closed: list[bool] = []
    cluster = types.SimpleNamespace(close=lambda: closed.append(True))
    with pytest.raises(OSError, match="no route"):
        ours.on_cluster(cluster, ClusterConfig(executor="dask"), lambda _: None, 1)
    assert closed == [True]


def test_a_scheduler_that_is_not_there_is_a_sentence(monkeypatch):
    monkeypatch.setattr(ours, "FIRST_ANSWER", 0.3)
    config = ClusterConfig(executor="dask", scheduler="tcp://127.0.0.1:9")
    with pytest.raises(InputError, match=r"^no Dask scheduler answers at tcp://127\.0\.0\.1:9 after 0 s: "):
        make_dask(config, lambda _: None)(1)


def test_a_scheduler_that_is_stopped_is_a_sentence(monkeypatch):
    """Its port takes connections, and nothing answers."""
    monkeypatch.setattr(ours, "FIRST_ANSWER", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as stopped:
        address = f"tcp://127.0.0.1:{stopped.getsockname()[1]}"
        config = ClusterConfig(executor="dask", scheduler=address)
        with pytest.raises(InputError, match=rf"^no Dask scheduler answers at {address} after 0 s: it is silent for "):
            make_dask(config, lambda _: None)(1)


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("nowhere", "missing port number in address 'nowhere'"),
        ("tcp://host:port", "invalid literal"),
        ("tpc://host:8786", "unknown address scheme 'tpc'"),
    ],
)
def test_an_address_that_cannot_be_one_is_a_sentence_and_nothing_more(address, reason):
    """A client with such an address waited ten seconds at the end of the process and left a traceback."""
    config = ClusterConfig(executor="dask", scheduler=address)
    with pytest.raises(InputError, match=rf"^{address!r} is not the address of a Dask scheduler: {reason}"):
        make_dask(config, lambda _: None)


def test_sigterm_is_answered_with_a_goodbye():
    class Worker:
        async def close(self, *, nanny: bool, reason: str) -> str:
            return f"{nanny} {reason}"

    async def terminated() -> str:
        worker = Worker()
        ours._say_goodbye(worker, asyncio.get_running_loop())
        return await worker._nsr_goodbye

    assert asyncio.run(terminated()) == "True SIGTERM"
