"""Mirrors are a server on this machine, one path for each way to behave."""

import errno
import gzip
import hashlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from nsr.data import mirrors
from nsr.data.mirrors import Source, fetch
from nsr.errors import InputError

CONTENT = {"one": b"1" * 100_000, "two": b"22"}
SHA256 = {name: hashlib.sha256(content).hexdigest() for name, content in CONTENT.items()}


class Mirrors(BaseHTTPRequestHandler):
    """Answers /BEHAVIOUR/NAME.gz."""

    server: "Server"

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        _, behaviour, file = self.path.split("/")
        body = gzip.compress(CONTENT[file.removesuffix(".gz")])
        status, length = 200, len(body)
        if behaviour == "missing":
            status = 404
        elif behaviour == "another":
            body = gzip.compress(b"another")
            length = len(body)
        elif behaviour == "unpacked":
            body = gzip.decompress(body)
            length = len(body)
        elif behaviour == "page":
            body = b"\x1f\x8b no gzip"
            length = len(body)
        elif behaviour in ("short", "silent", "interrupted"):
            body = body[:-5]
        elif behaviour == "together":
            self.server.together.wait()
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        if behaviour == "dripping":
            self.drip(body)
        else:
            self.wfile.write(body)
        if behaviour == "interrupted":
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        if behaviour in ("silent", "interrupted"):
            self.server.over.wait()

    def drip(self, body: bytes) -> None:
        for at in range(len(body)):
            if self.server.over.wait(0.02):
                break
            try:
                self.wfile.write(body[at : at + 1])
            except OSError:
                break

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Mirrors)
        self.asked: list[str] = []
        self.over = threading.Event()
        self.together = threading.Barrier(2, timeout=60)

    def source(self, *behaviours: str, silence: float = 20.0, limit: float = 20.0) -> Source:
        address = f"http://127.0.0.1:{self.server_port}/"
        return Source("TINY", SHA256, tuple(f"{address}{behaviour}/" for behaviour in behaviours), silence, limit)


@pytest.fixture
def server(monkeypatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.over.set()
        server.shutdown()
        thread.join()


def found(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_mirrors_are_tried_in_order_until_one_serves_the_file(server, tmp_path, capfd):
    messages = []
    source = server.source("missing", "another", "page", "short", "good", "missing")
    fetch(source, tmp_path, on_message=messages.append)
    assert found(tmp_path) == CONTENT
    assert [path.split("/")[1] for path in server.asked] == ["missing", "another", "page", "short", "good", "good"]
    here = f"127.0.0.1:{server.server_port}"
    assert messages[::2] == [f"downloading one.gz from {here}"] * 5
    assert messages[1::2] == [
        f"one.gz could not be downloaded from {here}: status 404",
        f"one.gz could not be downloaded from {here}: its checksum differs",
        f"one.gz could not be downloaded from {here}: the file is damaged: it cannot be unpacked",
        f"one.gz could not be downloaded from {here}: connection lost",
        f"downloading two.gz from {here}",
    ]
    assert capfd.readouterr() == ("", "")


def test_a_mirror_that_falls_silent_or_drips_is_left(server, tmp_path):
    began = time.monotonic()
    fetch(server.source("silent", "good", silence=0.2), tmp_path / "a")
    fetch(server.source("dripping", "good", limit=0.2), tmp_path / "b")
    assert time.monotonic() - began < 10
    assert found(tmp_path / "a") == found(tmp_path / "b") == CONTENT


def test_a_mirror_may_serve_the_file_unpacked(server, tmp_path):
    fetch(server.source("unpacked"), tmp_path)
    assert found(tmp_path) == CONTENT


def test_complete_files_are_not_downloaded_again_and_incomplete_ones_are(server, tmp_path):
    source = server.source("good")
    (tmp_path / "one").write_bytes(CONTENT["one"][:-1])
    (tmp_path / "two").write_bytes(CONTENT["two"])
    (tmp_path / "tmphalf").write_bytes(b"what a killed process leaves")
    fetch(source, tmp_path)
    assert server.asked == ["/good/one.gz"]
    fetch(source, tmp_path)
    assert server.asked == ["/good/one.gz"]
    assert {name: content for name, content in found(tmp_path).items() if name in CONTENT} == CONTENT


def test_an_endless_file_is_not_read_to_its_end(server, tmp_path, monkeypatch):
    monkeypatch.setattr(mirrors, "LARGEST", 50)
    with pytest.raises(InputError, match="more than 50 bytes"):
        fetch(server.source("good"), tmp_path)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs POSIX signals to a thread")
def test_an_interrupted_download_leaves_nothing(server, tmp_path):
    assert threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it would be ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            fetch(server.source("interrupted"), tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found(tmp_path) == {}


def test_two_processes_at_once_do_not_clash(server, tmp_path):
    source = server.source("together", silence=60.0)
    other = multiprocessing.get_context("spawn").Process(target=fetch, args=(source, tmp_path))
    other.start()
    fetch(source, tmp_path)
    other.join()
    assert other.exitcode == 0
    assert len(server.asked) == 4  # each asked for each file, and the server answered both at the same moment
    assert found(tmp_path) == CONTENT


def test_without_a_network_the_error_says_what_to_do(server, tmp_path):
    gone = "http://127.0.0.1:9/"  # nobody listens: the port of the discard service
    source = Source("TINY", SHA256, (gone, *server.source("missing", "silent", silence=0.2).mirrors), silence=0.2)
    with pytest.raises(InputError) as error:
        fetch(source, tmp_path)
    here = f"127.0.0.1:{server.server_port}"
    assert str(error.value) == (
        f"TINY could not be downloaded (127.0.0.1:9: no connection; {here}: status 404; {here}: no data for 0.2 s): "
        "put one.gz and two.gz into a folder and name it with --data or NSR_DATA"
    )
    assert found(tmp_path) == {}


def test_a_folder_that_cannot_be_made(server, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError) as error:
        fetch(server.source("good"), tmp_path / "file" / "folder")
    assert str(error.value) == f"TINY cannot be stored in {tmp_path / 'file' / 'folder'}: {os.strerror(errno.ENOTDIR)}"
