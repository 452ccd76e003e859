"""Damage to a file: bits, bytes, pieces of other files, hostile words; and for JSON, hostile values in its tree."""

import copy
import gzip
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

WORDS = (
    *(b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\x1b[31m", b"\r", b"\n\n", b'"', b"'", b"`", b"\\"),
    *(b"NaN", b"Infinity", b"-0", b"1e999", b"1e-999", b"1e999999999", b"9" * 400, b"-9223372036854775809"),
    *(b"__class__", b"constructor", b"{{7*7}}", b"<script>", b"%s%n", b"../../x", b"a" * 200_000, b"[" * 20_000),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2**31, 2**63, 2**70, 10**500, 0.5, 1e308, -1e308, float("nan"), float("inf")),
    *(
        "",
        "x",
        "x" * 100_000,
        "1e999999999",
        "1e400",
        "1/0",
        "0/0",
        "-1",
        "nan",
        "\ud800",
        "\0",
        "9" * 5000,
        "2024-02-30",
    ),
    *([], {}, [[]], [{}], {"": 0}, {"name": 1}, [1, 2], ["x"], [0] * 3000),
)


def mutate(given: Sequence[bytes], words: Sequence[bytes], rng: random.Random) -> bytes:
    """One of the files with one to five changes."""
    content = rng.choice(given)
    packed = content.startswith(b"\x1f\x8b") and rng.random() < 0.7
    if packed:  # damage what is inside
        content = gzip.decompress(content)
    tree = _tree(content) if rng.random() < 0.7 else None
    if tree is not None:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            tree = _changed_tree(tree, rng)
        content = _text(tree)
    else:
        for _ in range(rng.choice((1, 1, 2, 5))):
            content = rng.choice(CHANGES)(content, given, (*WORDS, *words), rng)
    return gzip.compress(content, mtime=0) if packed else content


def _tree(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _text(tree: Any) -> bytes:
    try:
        return json.dumps(tree).encode()
    except (ValueError, RecursionError):  # integers with too many digits
        return b"[" * 100_000


def _changed_tree(tree: Any, rng: random.Random) -> Any:
    """The tree with a value replaced, dropped, doubled or wrapped, somewhere. It is changed in place."""
    places = [(parent, key) for parent in _containers(tree) for key in _keys(parent)]
    if not places:
        return copy.deepcopy(rng.choice(VALUES))
    parent, key = rng.choice(places)
    action = rng.randrange(6)
    if action == 0:
        del parent[key]
    elif action == 1:
        other, at = rng.choice(places)
        parent[key] = _copied(other[at])
    elif action == 2 and isinstance(parent, dict):
        parent[rng.choice(("x", "", "format", "\ud800", "constructor"))] = parent.pop(key)
    elif action == 3:
        for _ in range(rng.choice((1, 50, 400))):
            parent[key] = [parent[key]] if rng.random() < 0.5 else {"not": parent[key]}
    else:
        parent[key] = copy.deepcopy(rng.choice(VALUES))
    return tree


def _copied(tree: Any) -> Any:
    try:
        return copy.deepcopy(tree)
    except RecursionError:
        return None


def _containers(tree: Any) -> list[Any]:
    found, waiting = [], [tree]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            found.append(value)
            waiting += value.values() if isinstance(value, dict) else value
    return found


def _keys(parent: Any) -> list[Any]:
    return list(parent) if isinstance(parent, dict) else list(range(len(parent)))


Change = Callable[[bytes, Sequence[bytes], Sequence[bytes], random.Random], bytes]


def _flip(content: bytes, _given: Sequence[bytes], _words: Sequence[bytes], rng: random.Random) -> bytes:
    changed = bytearray(content or b"\0")
    for _ in range(rng.choice((1, 1, 1, 10))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _set_bytes(content: bytes, _given: Sequence[bytes], _words: Sequence[bytes], rng: random.Random) -> bytes:
    start, size = _piece(content, rng)
    byte = rng.choice((0, 0xFF, 0x7F, 0x80, 0x20, rng.randrange(256)))
    return content[:start] + bytes([byte]) * size + content[start + size :]


def _drop(content: bytes, _given: Sequence[bytes], _words: Sequence[bytes], rng: random.Random) -> bytes:
    start, size = _piece(content, rng)
    return content[:start] + content[start + size :]


def _double(content: bytes, _given: Sequence[bytes], _words: Sequence[bytes], rng: random.Random) -> bytes:
    start, size = _piece(content, rng)
    times = rng.choice((2, 2, 3, 100)) if len(content) < 100_000 else 2
    return content[:start] + content[start : start + size] * times + content[start + size :]


def _cut(content: bytes, _given: Sequence[bytes], _words: Sequence[bytes], rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _insert(content: bytes, _given: Sequence[bytes], words: Sequence[bytes], rng: random.Random) -> bytes:
    place = rng.randrange(len(content) + 1)
    return content[:place] + rng.choice(words) + content[place:]


def _splice(content: bytes, given: Sequence[bytes], _words: Sequence[bytes], rng: random.Random) -> bytes:
    other = rng.choice(given)
    return content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other) + 1) :]


def _piece(content: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(content) + 1)
    return start, min(len(content) - start, rng.choice((1, 1, 2, 4, 8, 30, 300)))


CHANGES: tuple[Change, ...] = (_flip, _flip, _set_bytes, _drop, _double, _cut, _insert, _insert, _splice)
