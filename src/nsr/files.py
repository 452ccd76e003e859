"""Write files atomically: a file is complete, or it is as it was before."""

import os
from pathlib import Path

from nsr.errors import InputError


def check_writable(*paths: Path, keep: Path | None = None) -> None:
    """Raise an InputError if files could not be written, before the work that produces them.

    Args:
        paths: The files, no two of them the same.
        keep: A file that must not be overwritten.
    """
    taken = {} if keep is None else {keep.resolve(): "it is the input"}
    for path in paths:
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent} to write {path.name} to")
        if path.is_dir():
            raise InputError(f"{path} is a folder: name a file in it")
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise InputError(f"{path} cannot be written: the folder {path.parent} is not writable")
        if path.resolve() in taken:
            raise InputError(f"{path} cannot be written: {taken[path.resolve()]}; name another file")
        taken[path.resolve()] = "another result is written to it"


def write(path: Path, content: str | bytes) -> None:
    """Write a file, creating its folder if needed.

    If that fails, for example because the disk is full, the old file stays, and an InputError gives the reason.
    """
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content.encode() if isinstance(content, str) else content)
        part.replace(path)
    except OSError as problem:
        raise InputError(f"{path} cannot be written: {problem.strerror}") from None
    finally:
        _discard(part)


def _discard(part: Path) -> None:
    """Remove what may be left of a failed write."""
    try:
        part.unlink(missing_ok=True)
    except OSError:
        return  # the folder does not exist or is not writable, so nothing was left in it
