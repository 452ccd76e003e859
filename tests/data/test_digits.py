import gzip
import hashlib
import os
import struct
import sys
from pathlib import Path

import pytest
import torch

from nsr.data import Digits, mnist, small_digits
from nsr.data.digits import MNIST, Pictures
from nsr.data.mirrors import Source
from nsr.errors import InputError

SHAPES = [(3, 4, 4), (3,), (2, 4, 4), (2,)]


def content(*shape: int) -> bytes:
    numbers = bytes(at % 10 for at in range(torch.Size(shape).numel()))
    return bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + numbers


CONTENT = {name: content(*shape) for name, shape in zip(MNIST.files, SHAPES, strict=True)}
SHA256 = {name: hashlib.sha256(each).hexdigest() for name, each in CONTENT.items()}
TINY = Source("TINY", SHA256, mirrors=("http://127.0.0.1:9/",))  # nobody listens there


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path) -> Path:
    """Where pooch keeps files, on whatever system; and no folder of the user's own."""
    monkeypatch.delenv("NSR_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / "caches" / project)
    return tmp_path / "caches" / "nsr" / "tiny"


def fill(folder: Path, packed: bool = False) -> Path:
    folder.mkdir(parents=True)
    for name, each in CONTENT.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(each))
        else:
            (folder / name).write_bytes(each)
    return folder


def checksum(digits: Digits) -> str:
    tensors = [digits.train.images, digits.train.labels, digits.test.images, digits.test.labels]
    return hashlib.sha256(b"".join(tensor.numpy().tobytes() for tensor in tensors)).hexdigest()


@pytest.mark.parametrize("packed", [False, True])
def test_four_files_in_a_folder(packed, tmp_path):
    digits = mnist(fill(tmp_path / "here", packed), source=TINY)
    assert (digits.name, digits.brightest, digits.side) == ("TINY", 255, 4)
    assert (len(digits.train), len(digits.test)) == (3, 2)
    assert (digits.train.images.dtype, digits.train.labels.dtype) == (torch.uint8, torch.int64)
    assert digits.test.images[1, 0].tolist() == [6, 7, 8, 9]
    assert digits.train.labels.tolist() == [0, 1, 2]


def test_a_folder_goes_before_the_cache_and_the_environment_does_not_matter(tmp_path, cache, monkeypatch):
    fill(cache)
    monkeypatch.setenv("NSR_DATA", str(tmp_path / "environment"))  # nsr reproduce reads it, and passes the folder on
    assert len(mnist(source=TINY).test) == 2
    with pytest.raises(InputError, match=r"^there is no folder .*missing: "):
        mnist(tmp_path / "missing", source=TINY)
    assert len(mnist(fill(tmp_path / "given"), source=TINY).test) == 2


def test_without_a_network_and_a_folder_a_sentence_says_what_to_do():
    with pytest.raises(InputError) as error:
        mnist(source=TINY)
    assert str(error.value) == (
        "TINY could not be downloaded (127.0.0.1:9: no connection): put train-images-idx3-ubyte.gz, "
        "train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz into a folder and name it "
        "with --data or NSR_DATA"
    )


def test_a_file_that_is_missing_or_changed_is_named(tmp_path):
    folder = fill(tmp_path / "here")
    path = folder / "t10k-labels-idx1-ubyte"
    path.write_bytes(path.read_bytes()[:-1] + b"\x09")
    with pytest.raises(InputError) as error:
        mnist(folder, source=TINY)
    assert str(error.value) == f"{path} is not the file that was published: its checksum differs"
    path.unlink()
    with pytest.raises(InputError) as error:
        mnist(folder, source=TINY)
    assert str(error.value) == (
        f"there is no t10k-labels-idx1-ubyte.gz in {folder}: TINY is read from train-images-idx3-ubyte.gz, "
        "train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz, gzipped or not"
    )


def test_images_and_labels_must_fit():
    with pytest.raises(ValueError) as error:
        Pictures(torch.zeros(3, 4, 5), torch.zeros(2))
    assert str(error.value) == ("images must be (pictures, side, side) and labels (pictures,), got (3, 4, 5) and (2,)")


def test_the_small_digits_are_split_once_and_for_all():
    digits = small_digits()
    assert (digits.name, digits.brightest, digits.side) == ("8x8 digits of scikit-learn", 16, 8)
    assert (len(digits.train), len(digits.test)) == (1347, 450)
    assert int(digits.train.images.max()) == 16
    for share in (digits.train.labels.bincount() / 1347, digits.test.labels.bincount() / 450):
        assert share.shape == (10,)
        assert (share - 0.1).abs().max() < 0.004
    assert checksum(digits) == "da33898e00f9cf3a898e888f6bd5f9fa2f0527e56cc31c5bda1c0244913a8037"


def test_standard_pixels_have_mean_0_and_deviation_1():
    digits = small_digits()
    pixels = digits.train.images.double()
    assert digits.contrast == (pytest.approx(pixels.mean().item()), pytest.approx(pixels.std(correction=0).item()))
    standard = digits.standard(digits.train.images)
    assert standard.dtype == torch.float32
    torch.testing.assert_close(
        torch.stack([standard.mean(), standard.std()]), torch.tensor([0.0, 1.0]), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize(("package", "call"), [("pooch", mnist), ("sklearn.datasets", small_digits)])
def test_a_missing_package_is_a_sentence_that_names_the_extra(package, call, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError) as error:
        call()
    assert str(error.value) == f"this needs {package}: install it with pip install 'neural-status-registers[digits]'"


REAL = os.environ.get("NSR_DATA")


@pytest.mark.skipif(not REAL, reason="NSR_DATA names no folder with MNIST")
def test_mnist_itself():
    digits = mnist(Path(REAL))
    assert digits.train.images.shape == (60_000, 28, 28)
    assert digits.test.images.shape == (10_000, 28, 28)
    assert digits.train.labels.bincount().tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert digits.test.labels.bincount().tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
