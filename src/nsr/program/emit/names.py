"""Names of columns in other languages: any text can be a name, and it stays data everywhere."""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import count
from keyword import iskeyword

from nsr.errors import InputError

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_python_name(name: str) -> bool:
    """Whether Python takes the text as a name, and as this very name: it normalises letters such as a ligature."""
    own = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    return own and not iskeyword(name) and name != "__debug__"


def identifiers(
    names: Iterable[str], *, valid: Callable[[str], bool] = is_python_name, taken: Collection[str] = ()
) -> dict[str, str]:
    """A different identifier for each name: the name itself where it is valid and free."""
    names = list(names)
    own = {name: name for name in names if valid(name) and name not in taken}
    used = {*taken, *own}
    for name in names:
        if name not in own:
            own[name] = next(free for free in _like(name, valid) if free not in used and valid(free))
            used.add(own[name])
    return {name: own[name] for name in names}


def _like(name: str, valid: Callable[[str], bool]) -> Iterator[str]:
    """Identifiers that remind of a name, without end."""
    stem = re.sub(r"[^A-Za-z0-9]+", "_", unicodedata.normalize("NFKD", name)).strip("_")[:40]
    if not stem[:1].isalpha() or not valid(f"{stem}_1"):
        stem = f"x_{stem}".rstrip("_")
    yield stem
    for number in count(1):
        yield f"{stem}_{number}"


def function_name(name: str, valid: Callable[[str], bool] = is_python_name) -> str:
    """The name of an emitted function, or a refusal."""
    if not isinstance(name, str) or not valid(name):
        raise InputError(f"name must be one that a function can have, got {name!r}")
    return name


def printable(text: str, *, ascii_only: bool = False) -> str:
    """The text on one line: what cannot be printed as a backslash and a code."""
    return "".join(
        letter if letter.isprintable() and (letter.isascii() or not ascii_only) else _code(letter) for letter in text
    )


def _code(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def unwritable(names: Iterable[str]) -> str | None:
    """The first name with half of a surrogate pair, which no file in UTF-8 can hold."""
    return next((name for name in names if any("\ud800" <= letter <= "\udfff" for letter in name)), None)
