"""The format of MNIST's files: an array of unsigned bytes behind a short header, gzipped or not."""

import gzip
import hashlib
import io
import math
import zlib
from pathlib import Path

import numpy as np

from nsr.errors import InputError

LARGEST = 64_000_000
"""More bytes than any file of MNIST unpacks to; longer files are not read to the end."""

UNSIGNED_BYTES = 8


def read_idx(path: Path, *, dimensions: int, sha256: str) -> np.ndarray:
    """The array in a file, which must be complete, have these dimensions and unpack to the checksum."""
    try:
        content = unpacked(path.read_bytes())
        array = parsed(content, dimensions=dimensions)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InputError(f"{path} {error}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(f"{path} is not the file that was published: its checksum differs")
    return array


def unpacked(content: bytes) -> bytes:
    """Unpack gzipped content and return other content unchanged; a ValueError says what is wrong with it."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as file:
            plain = file.read(LARGEST + 1)
    except EOFError as error:
        raise ValueError("is cut short: its gzip stream does not end") from error
    except (OSError, zlib.error) as error:
        raise ValueError("is damaged: it cannot be unpacked") from error
    if len(plain) > LARGEST:
        raise ValueError(f"unpacks to more than {LARGEST:,} bytes")
    return plain


def parsed(content: bytes, *, dimensions: int) -> np.ndarray:
    """The array in unpacked content: two zero bytes, a type, the number of dimensions, their sizes, the numbers."""
    if len(content) < 4 or content[:2] != b"\0\0":
        raise ValueError(f"is not an IDX file: it starts with {content[:4].hex(' ') or 'nothing'}, not with 00 00")
    if content[2] != UNSIGNED_BYTES:
        raise ValueError(f"must hold numbers of type {UNSIGNED_BYTES:#04x} (unsigned bytes), got {content[2]:#04x}")
    if content[3] != dimensions:
        raise ValueError(f"must have {dimensions} dimensions, got {content[3]}")
    start = 4 + 4 * dimensions
    shape = [int(size) for size in np.frombuffer(content[4:start].ljust(start - 4, b"\0"), ">u4")]
    expected = start + math.prod(shape)
    if len(content) < max(start, expected):
        raise ValueError(f"is cut short: {len(content):,} of {max(start, expected):,} bytes")
    if len(content) > expected:
        raise ValueError(f"has {len(content) - expected:,} bytes too many")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy()  # a copy is writable
