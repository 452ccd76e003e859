"""Names of columns in other languages: any text can be a name, and none becomes code."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import count
from keyword import iskeyword

from nsr.errors import InputError

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_python_name(name: str) -> bool:
    """Whether Python accepts the name and keeps it as it is (it normalises characters such as ligatures)."""
    unchanged = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    return unchanged and not iskeyword(name) and name != "__debug__"


def identifiers(
    names: Iterable[str], *, valid: Callable[[str], bool] = is_python_name, taken: Collection[str] = ()
) -> dict[str, str]:
    """Map each name to a different identifier: to itself if it is valid and not taken."""
    names = list(names)
    chosen = {name: name for name in names if valid(name) and name not in taken}
    used = {*taken, *chosen}
    for name in names:
        if name not in chosen:
            chosen[name] = next(free for free in _similar(name, valid) if free not in used and valid(free))
            used.add(chosen[name])
    return {name: chosen[name] for name in names}


def _similar(name: str, valid: Callable[[str], bool]) -> Iterator[str]:
    """Yield endlessly many identifiers that resemble a name."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", unicodedata.normalize("NFKD", name)).strip("_")[:40]
    if not stem[:1].isalpha() or not valid(f"{stem}_1"):
        stem = f"x_{stem}".rstrip("_")
    yield stem
    for number in count(1):
        yield f"{stem}_{number}"


def function_name(name: str, valid: Callable[[str], bool] = is_python_name) -> str:
    """Check the name of an emitted function."""
    if not isinstance(name, str) or not valid(name):
        raise InputError(f"name must be a valid name for a function, got {name!r}")
    return name


def printable(text: str, *, ascii_only: bool = False) -> str:
    """Write text on one line, with unprintable characters as escapes."""
    return "".join(
        letter if letter.isprintable() and (letter.isascii() or not ascii_only) else _code(letter) for letter in text
    )


def _code(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def unwritable(names: Iterable[str]) -> str | None:
    """The first name that contains half of a surrogate pair, which UTF-8 cannot encode."""
    return next((name for name in names if any("\ud800" <= letter <= "\udfff" for letter in name)), None)
