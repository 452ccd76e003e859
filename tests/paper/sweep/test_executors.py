import os
import signal
import subprocess
import sys
import time

import torch

from nsr.paper.sweep import executors

ORPHANS = """
import os, sys, time
from nsr.paper.sweep import executors
if __name__ == "__main__":
    pool = executors.local(1)
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 600)
    time.sleep(600)
"""


def test_workers_have_one_thread_and_leave_ctrl_c_to_the_parent():
    with executors.local(1) as pool:
        assert pool.submit(torch.get_num_threads).result() == 1
        assert pool.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN


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
