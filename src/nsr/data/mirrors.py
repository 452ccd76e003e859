"""Download published files from the first mirror that serves them intact, and keep them unpacked in a folder."""

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
    """Files that are published gzipped, and their mirrors.

    Args:
        name: Name of the data set, for messages.
        files: SHA-256 of each unpacked file, by its name without ``.gz``.
        mirrors: Addresses that end in a slash, in the order in which they are tried.
        silence: Seconds to wait for a mirror that sends nothing.
        limit: Seconds that a download may take.
    """

    name: str
    files: Mapping[str, str]
    mirrors: tuple[str, ...]
    silence: float = 10.0
    limit: float = 300.0

    @property
    def wanted(self) -> str:
        """The names of the published files, as a phrase."""
        *others, last = (f"{name}.gz" for name in self.files)
        return f"{', '.join(others)} and {last}"


class UnusableError(Exception):
    """A mirror does not serve the published file; the text gives the reason."""


def fetch(source: Source, folder: Path, *, on_message: Callable[[str], None] = lambda _: None) -> None:
    """Download the files of a source that are not yet in a folder, or that are damaged there.

    A file is written under another name, checked and then renamed. Whatever interrupts it, and however many processes
    do it at once, the file is complete or missing. ``on_message`` is called for each download and each failed mirror.
    """
    mirrors = deque(source.mirrors)
    for name in source.files:
        reasons = []
        for mirror in tuple(mirrors):
            try:
                _retrieve(source, name, mirror, folder, on_message)
                break
            except UnusableError as error:
                reasons.append(f"{urlsplit(mirror).netloc}: {error}")
                on_message(f"{name}.gz could not be downloaded from {reasons[-1]}")
                mirrors.rotate(-1)  # the next file is tried elsewhere first
        else:
            raise InputError(
                f"{source.name} could not be downloaded ({'; '.join(reasons)}): "
                f"put {source.wanted} into a folder and name it with --data or NSR_DATA"
            )


def _retrieve(source: Source, name: str, mirror: str, folder: Path, on_message: Callable[[str], None]) -> None:
    with needs_extra("digits"):
        import pooch

    def download(url: str, temporary: str, _: object) -> None:
        on_message(f"downloading {name}.gz from {urlsplit(url).netloc}")
        Path(temporary).write_bytes(_content(url, source))

    try:
        with _silent(pooch.get_logger()):
            pooch.retrieve(
                f"{mirror}{name}.gz", f"sha256:{source.files[name]}", fname=name, path=folder, downloader=download
            )
    except OSError as error:  # on this machine: those of the mirror are UnusableError by now
        raise InputError(f"{source.name} cannot be stored in {folder}: {error.strerror or error}") from error
    except ValueError as error:
        raise UnusableError("its checksum differs") from error


def _content(url: str, source: Source) -> bytes:
    """The file that a mirror serves, unpacked."""
    import requests
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    end = time.monotonic() + source.limit
    content = bytearray()
    try:
        with requests.get(url, stream=True, timeout=source.silence) as response:
            if not response.ok:
                raise UnusableError(f"status {response.status_code}")
            # Read what has arrived rather than a fixed amount, so that the time limit also stops a slow mirror.
            while chunk := response.raw.read1(1 << 16):
                content += chunk
                if time.monotonic() > end:
                    raise UnusableError(f"not complete after {source.limit:g} s")
                if len(content) > LARGEST:
                    raise UnusableError(f"more than {LARGEST:,} bytes")
        return unpacked(bytes(content))
    except (requests.Timeout, ReadTimeoutError) as error:
        raise UnusableError(f"no data for {source.silence:g} s") from error
    except requests.exceptions.SSLError as error:
        raise UnusableError("certificate not trusted") from error
    except (requests.RequestException, HTTPError) as error:
        raise UnusableError("connection lost" if content else "no connection") from error
    except ValueError as error:
        raise UnusableError(f"the file {error}") from error


@contextmanager
def _silent(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
