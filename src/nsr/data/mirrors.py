"""Published files from the first of several mirrors that has them unharmed, kept unpacked in a folder."""

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from nsr.data.idx import LARGEST, unpacked
from nsr.errors import InputError, needs_extra


@dataclass(frozen=True)
class Source:
    """Files that are published gzipped, and where.

    Args:
        name: What the files are together, for sentences about them.
        files: The SHA-256 of each, unpacked, by its name without ``.gz``.
        mirrors: Addresses that end in a slash, in the order in which they are tried.
        silence: Seconds that a mirror may say nothing.
        limit: Seconds that it may take for a file.
    """

    name: str
    files: Mapping[str, str]
    mirrors: tuple[str, ...]
    silence: float = 10.0
    limit: float = 300.0

    @property
    def wanted(self) -> str:
        """Its files as they are published, in words."""
        *others, last = (f"{name}.gz" for name in self.files)
        return f"{', '.join(others)} and {last}"


class UnusableError(Exception):
    """A mirror does not serve a file as it was published; its text says why."""


def fetch(source: Source, folder: Path, *, tell: Callable[[str], None] = lambda _: None) -> None:
    """Have every file of a source in a folder. What is there and right is not asked for again.

    A file is written under another name, checked and then renamed: whatever stops it, and however many do it at once,
    there is a whole file or none. ``tell`` is called with a line for each download and each mirror that fails.
    """
    mirrors = deque(source.mirrors)
    for name in source.files:
        reasons = []
        for mirror in tuple(mirrors):
            try:
                _retrieve(source, name, mirror, folder, tell)
                break
            except UnusableError as error:
                reasons.append(f"{urlsplit(mirror).netloc}: {error}")
                tell(f"{name}.gz is not to be had from {reasons[-1]}")
                mirrors.rotate(-1)  # the next file asks the others first
        else:
            raise InputError(
                f"{source.name} could not be downloaded ({'; '.join(reasons)}): "
                f"put {source.wanted} into a folder and name it with --data or NSR_DATA"
            )


def _retrieve(source: Source, name: str, mirror: str, folder: Path, tell: Callable[[str], None]) -> None:
    with needs_extra("digits"):
        import pooch

    def download(url: str, temporary: str, _: object) -> None:
        tell(f"downloading {name}.gz from {urlsplit(url).netloc}")
        Path(temporary).write_bytes(_content(url, source))

    try:
        with _silent(pooch.get_logger()):
            pooch.retrieve(
                f"{mirror}{name}.gz", f"sha256:{source.files[name]}", fname=name, path=folder, downloader=download
            )
    except OSError as error:  # of this machine: those of the mirror are UnusableError by now
        raise InputError(f"{source.name} cannot be kept in {folder}: {error.strerror or error}") from error
    except ValueError as error:
        raise UnusableError("its checksum differs") from error


def _content(url: str, source: Source) -> bytes:
    """What a mirror serves, unpacked."""
    import requests
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    end = time.monotonic() + source.limit
    content = bytearray()
    try:
        with requests.get(url, stream=True, timeout=source.silence) as response:
            if not response.ok:
                raise UnusableError(f"status {response.status_code}")
            # As much as there is, not as much as was asked for: a mirror that drips is stopped in time.
            while chunk := response.raw.read1(1 << 16):
                content += chunk
                if time.monotonic() > end:
                    raise UnusableError(f"not done after {source.limit:g} s")
                if len(content) > LARGEST:
                    raise UnusableError(f"more than {LARGEST:,} bytes")
        return unpacked(bytes(content))
    except (requests.Timeout, ReadTimeoutError) as error:
        raise UnusableError(f"silent for {source.silence:g} s") from error
    except requests.exceptions.SSLError as error:
        raise UnusableError("no certificate that is trusted here") from error
    except (requests.RequestException, HTTPError) as error:
        raise UnusableError("broke off" if content else "no connection") from error
    except ValueError as error:
        raise UnusableError(f"what it serves {error}") from error


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
