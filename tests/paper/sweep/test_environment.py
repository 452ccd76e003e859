import json
import platform

import torch

from nsr.paper.sweep import environment


def test_versions_and_hardware():
    told = json.loads(environment.environment())
    assert told["python"] == platform.python_version()
    assert told["torch"].startswith(torch.__version__.split("+")[0])
    assert told["cores"] >= 1
    assert told["cpu"]


def test_peak_memory_is_in_bytes():
    assert 2**26 < environment.peak_memory() < 2**40


def test_a_machine_without_cpuinfo(monkeypatch):
    def missing(_):
        raise OSError

    monkeypatch.setattr("pathlib.Path.read_text", missing)
    assert environment._cpu()
