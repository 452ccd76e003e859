import json
import os
import platform
import subprocess
import sys
import types

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


@pytest.mark.parametrize(("system", "memory"), [("darwin", 3), ("linux", 3072)])
def test_the_unit_of_peak_memory_is_that_of_the_platform(monkeypatch, system, memory):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("resource.getrusage", lambda _: types.SimpleNamespace(ru_maxrss=3))
    assert environment.peak_memory() == memory


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


CPUINFO = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: CPU: fast @ 3 GHz \nflags\t\t: fpu\n"


@pytest.mark.parametrize(
    ("content", "processor", "expected"),
    [
        (CPUINFO, "x86_64", "CPU: fast @ 3 GHz"),
        ("processor\t: 0\n", "x86_64", "x86_64"),
        (None, "x86_64", "x86_64"),
        (None, "", "unknown"),
    ],
)
def test_the_name_of_the_cpu(monkeypatch, content, processor, expected):
    def read_text(_):
        if content is None:
            raise OSError
        return content

    monkeypatch.setattr("pathlib.Path.read_text", read_text)
    monkeypatch.setattr(platform, "processor", lambda: processor)
    assert environment._cpu() == expected
