"""A PostgreSQL server for the tests of SQL: started here, on a free loopback port, in a temporary folder."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

SECONDS = 60
OPTIONS = (
    "fsync=off",
    "full_page_writes=off",
    "shared_buffers=16MB",
    "max_connections=8",
    "listen_addresses=127.0.0.1",
)


def program_folder():
    """The folder with ``initdb`` and ``postgres``: Debian keeps it off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [shutil.which("initdb")]
    return found[-1] and Path(found[-1]).resolve().parent


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """A connection to a server of its own; both end with the tests."""
    psycopg = pytest.importorskip("psycopg")
    programs = program_folder()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    folder = tmp_path_factory.mktemp("postgres")
    user = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        user = {"user": "postgres", "group": "postgres", "extra_groups": ()}
        shutil.chown(folder, "postgres", "postgres")
        for parent in folder.parents:
            if Path(tempfile.gettempdir()) in parent.parents:
                parent.chmod(parent.stat().st_mode | 0o011)
    data, log = folder / "data", folder / "log"
    subprocess.run(
        [programs / "initdb", "-D", data, "-U", "nsr", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
        check=True,
        capture_output=True,
        timeout=SECONDS,
        cwd=folder,
        **user,
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = [part for option in (*OPTIONS, "unix_socket_directories=", f"port={port}") for part in ("-c", option)]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [programs / "postgres", "-D", data, *settings], stdout=output, stderr=output, cwd=folder, **user
        )
    try:
        connection = connected(psycopg, port, server, log)
        yield connection
        connection.close()
    finally:
        server.terminate()  # by its own id
        try:
            server.wait(SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def connected(psycopg, port, server, log):
    """A connection to a server that is starting."""
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            return psycopg.connect(
                f"host=127.0.0.1 port={port} user=nsr dbname=postgres", autocommit=True, connect_timeout=5
            )
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {log.read_text()[-500:]}") from None
            time.sleep(0.1)
