import json
import os
import platform
import subprocess
import sys

import pytest
import torch

from nsr.native import library
from nsr.paper.sweep import environment


def test_versions_and_hardware():
    described = json.loads(environment.environment())
    assert described["python"] == platform.python_version()
    assert described["torch"].startswith(torch.__version__.split("+")[0])
    assert described["cores"] >= 1
    assert described["cpu"]
    assert described["instructions"] == torch.backends.cpu.get_cpu_capability()


def test_the_instruction_set_is_the_one_that_torch_uses():
    code = "import json; from nsr.paper.sweep.environment import environment; print(json.loads(environment()))"
    plain = {**os.environ, "ATEN_CPU_CAPABILITY": "default"}
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=plain)
    assert "'instructions': 'DEFAULT'" in ran.stdout


def test_what_trains_the_models():
    code = "import json; from nsr.paper.sweep.environment import environment; print(json.loads(environment()))"
    without = {**os.environ, "NSR_NATIVE": "0"}
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=without)
    assert "'training': 'torch'" in ran.stdout
    assert json.loads(environment.environment())["training"] == ("native" if library() else "torch")


def test_peak_memory_is_in_bytes():
    assert 2**26 < environment.peak_memory() < 2**40


def test_a_platform_without_the_module_resource(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    assert environment.peak_memory() == 0


WITHOUT_UNIX = """
import sys
sys.modules["resource"] = None
import nsr.cli.learn, nsr.cli.progress, nsr.learn.commands
import nsr.cli.paper, nsr.cli.sweep_progress, nsr.paper.commands
"""


@pytest.mark.outer
def test_no_command_needs_a_module_of_unix():
    subprocess.run([sys.executable, "-c", WITHOUT_UNIX], check=True)


@pytest.mark.outer
def test_learning_imports_nothing_of_the_paper():
    code = "import sys, nsr.cli.progress, nsr.learn.commands; print([m for m in sys.modules if m[:9] == 'nsr.paper'])"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_a_machine_without_cpuinfo(monkeypatch):
    def missing(_):
        raise OSError

    monkeypatch.setattr("pathlib.Path.read_text", missing)
    assert environment._cpu()
