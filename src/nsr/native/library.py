"""The C functions of this package, built once for each machine and kept in the user's cache folder."""

import atexit
import ctypes
import functools
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCES = Path(__file__).parent
OPTIONS = ("-std=gnu11", "-O3", "-shared", "-fPIC", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off")
"""Without contraction and without -ffast-math, so that every CPU computes the same numbers."""
MACHINE = ("-march=native",)
"""What may be left out where the compiler does not know it."""
CHECKSUM = 32
"""Bytes of the checksum at the end of a built file."""
SECONDS = 120
"""Longest time that a compiler may take."""


@functools.cache
def library() -> ctypes.CDLL | None:
    """The built library; None where there is no C compiler or NSR_NATIVE is 0."""
    compiler = _compiler()
    if compiler is None or os.environ.get("NSR_NATIVE") == "0":
        return None
    name = f"nsr-{_fingerprint(compiler)}.so"
    for folder in (_cache, _private):
        try:
            path = folder() / name
            if not _is_intact(path):
                _build(compiler, path)
            return ctypes.CDLL(str(path))
        except OSError:  # a folder that cannot be written, or that does not allow programs
            continue
        except subprocess.SubprocessError:
            return None
    return None


def _compiler() -> str | None:
    names = (os.environ.get("CC", "cc"), "gcc", "clang")
    return next((path for path in map(shutil.which, names) if path), None)


def _cache() -> Path:
    """The user's cache folder."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "nsr"


def _private() -> Path:
    """A folder of this process, which is removed at its end."""
    folder = tempfile.mkdtemp(prefix="nsr-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _build(compiler: str, path: Path) -> None:
    """Compile all sources into one file, which appears under its name only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    sources = [str(source) for source in sorted(SOURCES.glob("*.c"))]
    with tempfile.TemporaryDirectory(prefix=".build-", dir=path.parent) as folder:
        built = Path(folder) / path.name
        for machine in (MACHINE, ()):
            command = [compiler, *OPTIONS, *machine, *sources, "-o", str(built), "-lm"]
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
            if done.returncode == 0:
                content = built.read_bytes()
                with built.open("ab") as file:
                    file.write(_checksum(content))  # loaders ignore what stands behind the sections
                built.replace(path)
                return
    raise subprocess.SubprocessError(f"{compiler} could not build {', '.join(sources)}")


def _is_intact(path: Path) -> bool:
    """Whether a file is there and is what was built: damaged code might crash, or compute other numbers."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return False
    return content[-CHECKSUM:] == _checksum(content[:-CHECKSUM])


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _fingerprint(compiler: str) -> str:
    """A name for what determines the built file: the sources, the compiler, and the CPU, for which it is built."""
    version = subprocess.run([compiler, "--version"], capture_output=True, timeout=SECONDS, check=False).stdout
    parts = [repr((OPTIONS, MACHINE)).encode(), version, _cpu().encode()]
    parts += [source.read_bytes() for source in sorted(SOURCES.glob("*.[ch]"))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _cpu() -> str:
    """The CPU as far as it determines which instructions there are."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    wanted = ("model name", "flags", "Features", "CPU implementer", "CPU part")
    return "\n".join(sorted({line for line in lines if line.startswith(wanted)}))
