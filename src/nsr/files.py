"""Files are written whole or not at all."""

import os
from pathlib import Path

from nsr.errors import InputError


def check_place(path: Path) -> None:
    """Refuse a file that cannot be written because of where it is to be, before there is anything to write."""
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} to")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file in it")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"{path} cannot be written: nothing may be written to the folder {path.parent}")


def write(path: Path, content: str | bytes) -> None:
    """Write a file, and its folder where there is none.

    Where that fails, say because the disk is full, what was there before stays, and an InputError says why.
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
    """Remove what may be left of a file that could not be written."""
    try:
        part.unlink(missing_ok=True)
    except OSError:
        return  # its folder is no folder, or cannot be written to: there is nothing of ours
