"""The environment of a result: versions and hardware."""

import functools
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from nsr.paper.spec import canonical_json


@functools.cache
def environment() -> str:
    """Versions of nsr, torch, numpy and Python, and the machine, as canonical JSON.

    ``instructions`` is the instruction set that torch uses: sums are rounded in another order with another one.
    ``training`` is "native" where models are trained in C, whose numbers are the same on every CPU, else "torch".
    """
    import torch  # slow to import, and the parent of a run needs only the versions of its workers

    from nsr.native import library

    return canonical_json(
        {
            "nsr": version("neural-status-registers"),
            "torch": version("torch"),
            "numpy": version("numpy"),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
            "cpu": _cpu(),
            "instructions": torch.backends.cpu.get_cpu_capability(),
            "cores": os.cpu_count(),
            "training": "native" if library() is not None else "torch",
        }
    )


def peak_memory() -> int:
    """The most memory this process has held, in bytes; 0 where the platform does not record it."""
    try:
        import resource  # on Unix only
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown"
