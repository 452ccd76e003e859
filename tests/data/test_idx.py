import gzip
import hashlib
import struct

import numpy as np
import pytest

from nsr.data import idx
from nsr.data.idx import read_idx
from nsr.errors import InputError

NUMBERS = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
WHOLE = bytes([0, 0, 8, 3]) + struct.pack(">3I", 2, 3, 4) + NUMBERS.tobytes()
PACKED = gzip.compress(WHOLE, mtime=0)
SHA256 = hashlib.sha256(WHOLE).hexdigest()


@pytest.mark.parametrize("content", [WHOLE, PACKED], ids=["plain", "gzipped"])
def test_numbers_come_back_whatever_the_file_is_called(content, tmp_path):
    path = tmp_path / "images.gz"
    path.write_bytes(content)
    assert np.array_equal(read_idx(path, dimensions=3, sha256=SHA256), NUMBERS)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "is not an IDX file: it starts with nothing, not with 00 00"),
        (b"\0\0\x08", "is not an IDX file: it starts with 00 00 08, not with 00 00"),
        (b"<html>", "is not an IDX file: it starts with 3c 68 74 6d, not with 00 00"),
        (b"\0\0\x0d" + WHOLE[3:], "must hold numbers of type 0x08 (unsigned bytes), got 0x0d"),
        (b"\0\0\x08\x01" + WHOLE[4:], "must have 3 dimensions, got 1"),
        (WHOLE[:9], "is cut short: 9 of 16 bytes"),
        (WHOLE[:-1], "is cut short: 39 of 40 bytes"),
        (WHOLE + b"\0\0", "has 2 bytes too many"),
        (b"\0\0\x08\x03" + b"\xff" * 12, f"is cut short: 16 of {16 + (2**32 - 1) ** 3:,} bytes"),
        (WHOLE[:-1] + b"\0", "is not the file that was published: its checksum differs"),
        (PACKED[:-9], "is cut short: its gzip stream does not end"),
        (PACKED[:-8] + b"\0" * 8, "is damaged: it cannot be unpacked"),
        (PACKED[:10] + b"\x07" * 20, "is damaged: it cannot be unpacked"),
        (PACKED + b"more", "is damaged: it cannot be unpacked"),
        (gzip.compress(WHOLE[:-1], mtime=0), "is cut short: 39 of 40 bytes"),
    ],
)
def test_what_is_not_the_file_is_refused_in_a_sentence_that_names_it(content, text, tmp_path):
    path = tmp_path / "images"
    path.write_bytes(content)
    with pytest.raises(InputError) as error:
        read_idx(path, dimensions=3, sha256=SHA256)
    assert str(error.value) == f"{path} {text}"


def test_a_small_file_that_unpacks_to_a_large_one_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(idx, "LARGEST", 1_000)
    path = tmp_path / "images.gz"
    path.write_bytes(gzip.compress(bytes(1_000_000)))
    with pytest.raises(InputError, match=r"images.gz unpacks to more than 1,000 bytes$"):
        read_idx(path, dimensions=3, sha256=SHA256)


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r" cannot be read: Is a directory$"):
        read_idx(tmp_path, dimensions=3, sha256=SHA256)
