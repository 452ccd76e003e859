"""Write files atomically: a file is complete, or it is as it was before."""

import os
import secrets
import stat
import sys
from pathlib import Path

from nsr.errors import InputError, shortened

NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
"""How a temporary file is opened: it must not exist, not even as a link."""
DEVICES = ("/dev/", "/proc/")


def check_writable(*paths: Path, keep: Path | None = None) -> None:
    """Raise an InputError if files could not be written, before the work that produces them.

    Args:
        paths: The files, no two of them the same.
        keep: A file that must not be overwritten.
    """
    taken = {} if keep is None else {keep.resolve(): "it is the input"}
    for path in paths:
        reject_nul(path)
        try:
            _check_place(path)
        except OSError as problem:
            raise _cannot_write(path, problem) from None
        if path.resolve() in taken:
            raise InputError(f"{path} cannot be written: {taken[path.resolve()]}; name another file")
        taken[path.resolve()] = "another result is written to it"


def _check_place(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if _is_device(path):
        if not os.access(path, os.W_OK):
            raise InputError(f"{path} cannot be written: Permission denied")
    elif not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written: the folder {path.parent} is not writable")


def check_name(path: object) -> None:
    """Raise an InputError for the name of a table that is not UTF-8, which DuckDB cannot open."""
    name = str(path)
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        raise InputError(f"the name {name!r} is not valid UTF-8: rename the file")


def reject_nul(path: Path) -> None:
    """Raise an InputError for a path that no file can have."""
    if "\0" in str(path):
        raise InputError(f"the path {shortened(repr(str(path)))} contains a NUL, which no file name can")


def write(path: Path, content: str | bytes) -> None:
    """Write a file, creating its folder if needed.

    If that fails, for example because the disk is full, the old file stays, and an InputError gives the reason. A file
    keeps its permissions; a link to a file is replaced by a file; a device or a pipe stays one and is written to.
    """
    reject_nul(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if _is_device(path):
            _write_to_device(path, data)
        else:
            _replace(path, data)
    except OSError as problem:
        raise _cannot_write(path, problem) from None


def _write_to_device(path: Path, data: bytes) -> None:
    """Write to what is there. /dev/stdout may be a file, which must not be opened again: that would empty it."""
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "wb") if _is_standard_output(path) else path.open("wb") as device:
        device.write(data)


def _is_standard_output(path: Path) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(1))
    except OSError:
        return False


def _replace(path: Path, data: bytes) -> None:
    """Write a temporary file and rename it, so that readers see the old file or the new one."""
    mode = _mode(path)
    part = path.with_name(f".nsr-{secrets.token_hex(8)}.part")
    descriptor = os.open(part, NEW, 0o666 if mode is None else mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if mode is not None:
            part.chmod(mode)  # the process may create files with fewer permissions
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int | None:
    """The permissions of a file; None if there is none yet."""
    try:
        found = path.lstat().st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(found) & 0o777 if stat.S_ISREG(found) else None


def _is_device(path: Path) -> bool:
    """Whether a path is a device, a pipe or a socket, or a link to one such as /dev/stdout, but not a folder."""
    try:
        if path.is_symlink() and str(path.readlink()).startswith(DEVICES):
            return True
        return not stat.S_ISREG(found := path.stat().st_mode) and not stat.S_ISDIR(found)
    except FileNotFoundError:
        return False


def _cannot_write(path: Path, problem: OSError) -> InputError:
    name = str(path) if len(str(path)) <= 200 else f"{str(path)[:200]}..."
    return InputError(f"{name} cannot be written: {problem.strerror}")
