"""Images of handwritten digits (Section 4.7): MNIST, and a small set that needs no download."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from nsr.data.idx import read_idx
from nsr.data.mirrors import Source, fetch
from nsr.errors import InputError, needs_extra

MNIST = Source(
    "MNIST",
    MappingProxyType(
        {
            "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
            "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
            "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
            "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        }
    ),
    mirrors=(
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        "https://raw.githubusercontent.com/fgnt/mnist/master/",
    ),
)


@dataclass(frozen=True, eq=False)
class Pictures:
    """``images`` (pictures, side, side) as unsigned bytes, and their digits as int64."""

    images: Tensor
    labels: Tensor

    def __post_init__(self) -> None:
        shape = tuple(self.images.shape)
        if len(shape) != 3 or shape[1] != shape[2] or self.labels.shape != shape[:1]:
            raise ValueError(
                f"images must be (pictures, side, side) and labels (pictures,), got {shape} and "
                f"{tuple(self.labels.shape)}"
            )

    def __len__(self) -> int:
        return len(self.images)


@dataclass(frozen=True, eq=False)
class Digits:
    """Handwritten digits for training and testing. ``brightest`` is the value of a white pixel."""

    name: str
    brightest: int
    train: Pictures
    test: Pictures

    @property
    def side(self) -> int:
        """Pixels along the side of an image."""
        return self.train.images.shape[-1]

    @cached_property
    def contrast(self) -> tuple[float, float]:
        """Mean and standard deviation of the training pixels."""
        parts = torch.split(self.train.images, 1000)  # bincount needs eight bytes per pixel
        counts = torch.stack([part.flatten().bincount(minlength=self.brightest + 1) for part in parts]).sum(0).double()
        levels = torch.arange(len(counts), dtype=torch.float64)
        mean = (counts @ levels) / counts.sum()
        return mean.item(), ((counts @ (levels - mean).square()) / counts.sum()).sqrt().item()

    def standard(self, images: Tensor) -> Tensor:
        """Images standardised so that the training pixels have mean 0 and standard deviation 1."""
        mean, deviation = self.contrast
        return (images - mean) / deviation


def mnist(
    folder: Path | None = None, *, source: Source = MNIST, on_message: Callable[[str], None] = lambda _: None
) -> Digits:
    """MNIST: 60,000 training images and 10,000 test images of 28 x 28 pixels.

    Args:
        folder: Where its four files are, gzipped or not. By default a cache that is filled from public
            mirrors on first use.
        source: The files, their checksums and the mirrors.
        on_message: Called with a line about each download.
    """
    if folder is None:
        with needs_extra("digits"):
            import pooch
        folder = pooch.os_cache("nsr") / source.name.lower()
        fetch(source, folder, on_message=on_message)
    arrays = [
        read_idx(_existing_file(folder, name, source), dimensions=dimensions, sha256=sha256)
        for (name, sha256), dimensions in zip(source.files.items(), (3, 1, 3, 1), strict=True)
    ]
    train, test = (_pictures(*arrays[at : at + 2]) for at in (0, 2))
    return Digits(source.name, 255, train, test)


def small_digits() -> Digits:
    """The 1,797 digits of 8 x 8 pixels that come with scikit-learn: 1,347 for training, 450 for testing.

    Every fourth image is for testing, counting through the images digit by digit, so that the split is fixed and
    balanced.
    """
    with needs_extra("digits"):
        from sklearn.datasets import load_digits
    data = load_digits()
    tested = np.zeros(len(data.target), bool)
    tested[np.argsort(data.target, kind="stable")[::4]] = True
    train, test = (_pictures(data.images[chosen].astype(np.uint8), data.target[chosen]) for chosen in (~tested, tested))
    return Digits("8x8 digits of scikit-learn", 16, train, test)


def _existing_file(folder: Path, name: str, source: Source) -> Path:
    for path in (folder / name, folder / f"{name}.gz"):
        if Path(path).exists():
            return path
    what = f"{name}.gz in {folder}" if Path(folder).is_dir() else f"folder {folder}"
    raise InputError(f"there is no {what}: {source.name} is read from {source.wanted}, gzipped or not")


def _pictures(images: np.ndarray, labels: np.ndarray) -> Pictures:
    return Pictures(torch.from_numpy(images), torch.from_numpy(labels.astype(np.int64)))
