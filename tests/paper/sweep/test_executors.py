import importlib
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
import torch

from nsr.paper.commands import reproduce
from nsr.paper.sweep import executors
from nsr.paper.sweep.store import started

ORPHANS = """
import os, sys, time
from nsr.paper.sweep import executors
if __name__ == "__main__":
    pool = executors.local(1)
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 600)
    time.sleep(600)
"""


def test_workers_have_one_thread_and_leave_ctrl_c_to_the_parent(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")  # otherwise one thread is what they start with
    with executors.local(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == 1
        assert pool.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN


def test_how_a_worker_starts(monkeypatch):
    started_threads = []

    class Thread:
        def __init__(self, *, target, daemon):
            self.made_with = target, daemon

        def start(self):
            started_threads.append(self.made_with)

    before = signal.getsignal(signal.SIGINT), torch.get_num_threads()
    monkeypatch.setattr(executors.threading, "Thread", Thread)
    torch.set_num_threads(2)
    try:
        executors._start_worker()
        assert (signal.getsignal(signal.SIGINT), torch.get_num_threads()) == (signal.SIG_IGN, 1)
    finally:
        signal.signal(signal.SIGINT, before[0])
        torch.set_num_threads(before[1])
    assert started_threads == [(executors._exit_with_parent, True)]


def test_a_worker_exits_when_its_parent_has_ended(monkeypatch):
    calls = []
    parent = SimpleNamespace(join=lambda: calls.append("the parent has ended"))
    monkeypatch.setattr(executors.multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(executors.os, "_exit", lambda code: calls.append(code != 0))
    executors._exit_with_parent()
    assert calls == ["the parent has ended", True]


def test_no_worker_outlives_its_parent(tmp_path):
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("the worker is still there")


def test_no_worker_that_is_still_importing_torch_outlives_its_parent(tmp_path):
    (tmp_path / "torch.py").write_text("import os, time; print(os.getpid(), flush=True); time.sleep(60)")
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS.replace("print(pool.submit(os.getpid).result(), flush=True)", ""))
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    worker = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while started(worker) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not started(worker)


SUBPROCESSES = """
import pickle, subprocess, sys
from concurrent.futures import Executor, Future

WORKER = "import pickle, sys; f, x = pickle.load(sys.stdin.buffer); pickle.dump(f(*x), sys.stdout.buffer)"

class OneByOne(Executor):
    submitted = 0

    def submit(self, function, /, *arguments):
        OneByOne.submitted += 1
        task = pickle.dumps((function, arguments))
        done = subprocess.run([sys.executable, "-c", WORKER], input=task, stdout=subprocess.PIPE, check=True)
        future = Future()
        future.set_result(pickle.loads(done.stdout))
        return future

def one_by_one(workers):
    return OneByOne()
"""


@pytest.mark.outer
def test_a_new_executor_is_one_file(tmp_path, monkeypatch):
    """Each item in a process of its own, which finds it on standard input, as a batch system would start it."""
    (tmp_path / "one_by_one.py").write_text(SUBPROCESSES)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("one_by_one")
    request = {"profile": "smoke", "recipe": "exact", "only": {"model": ["nsr"], "comparison": [">", "="]}}
    ours = reproduce(["comparisons"], **request, out=tmp_path / "new", make_executor=module.one_by_one)
    local = reproduce(["comparisons"], **request, out=tmp_path / "local", workers=1)
    assert (ours.ran, ours.failed, module.OneByOne.submitted) == (2, [], 2)
    assert [s.values for s in ours.summaries["comparisons"]] == [s.values for s in local.summaries["comparisons"]]
