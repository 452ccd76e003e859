import multiprocessing
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nsr.errors import InputError
from nsr.files import check_writable, write
from nsr.learn.saved import load_saved
from nsr.paper import archive, commands
from nsr.paper.experiments import EXPERIMENTS
from nsr.paper.records import Record


def test_a_file_and_its_folder_are_written(tmp_path):
    path = tmp_path / "new" / "file"
    for content, there in (("größer", "größer".encode()), (b"\x00\xff", b"\x00\xff")):
        write(path, content)
        assert path.read_bytes() == there
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write(path, "old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match=r"file cannot be written: No space left on device$"):
        write(path, "new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
    assert path.read_text() == "old"


def test_a_file_in_place_of_the_folder_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"cannot be written: (Not a directory|File exists)$"):
        write(tmp_path / "file" / "inner", "text")


def test_inputs_and_other_results_are_not_overwritten(tmp_path):
    table, page = tmp_path / "t.csv", tmp_path / "page.html"
    check_writable(tmp_path / "rule.json", page, keep=table)
    with pytest.raises(InputError, match=r"^.*t.csv cannot be written: it is the input; name another file$"):
        check_writable(tmp_path / "." / "t.csv", keep=table)
    with pytest.raises(InputError, match="another result is written to it; name another file$"):
        check_writable(page, page)


def test_a_pipe_stays_a_pipe_and_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write(pipe, "text")
    reader.join()
    assert received == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make devices")
def test_a_device_stays_a_device(tmp_path):
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    link = tmp_path / "link"
    link.symlink_to(device)
    for path in (device, link):
        check_writable(path)
        write(path, "text")
        assert stat.S_ISCHR(path.stat().st_mode)
    assert link.is_symlink()


def test_standard_output_that_is_a_file_is_not_emptied(tmp_path):
    code = (
        "from pathlib import Path; from nsr.files import write;"
        "print('first'); write(Path('/dev/stdout'), 'second\\n'); print('third')"
    )
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "first\nsecond\nthird\n"


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="folder is a folder: name a file in it$"):
        check_writable(tmp_path / "folder")
    with pytest.raises(InputError, match="folder cannot be written: Is a directory$"):
        write(tmp_path / "folder", "text")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(mode)
    write(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", mode)


def test_links_are_not_followed(tmp_path):
    """A link that another user has put in place of the file, or of what was once the temporary file."""
    other = tmp_path / "other"
    other.write_text("other")
    (tmp_path / "file").symlink_to(other)
    (tmp_path / ".file.part").symlink_to(other)
    write(tmp_path / "file", "new")
    assert (other.read_text(), (tmp_path / "file").read_text()) == ("other", "new")
    assert not (tmp_path / "file").is_symlink()


def test_names_that_are_too_long_are_reported(tmp_path):
    for function in (check_writable, lambda path: write(path, "text")):
        with pytest.raises(InputError, match=r"cannot be written: File name too long$") as caught:
            function(tmp_path / ("n" * 300))
        assert len(str(caught.value)) < 300
    write(tmp_path / ("n" * 255), "the longest name")


def _write_often(path, letter):
    for _ in range(50):
        write(path, letter * 200_000)


RECORD = Record(
    *("comparisons", 1, EXPERIMENTS["comparisons"].cells[0], EXPERIMENTS["comparisons"].recipes["exact"]),
    *("smoke", 0, {"train": 1.0}, 0.1, 1, "{}"),
)


@pytest.mark.parametrize(
    "use",
    [
        check_writable,
        lambda path: write(path, "x"),
        load_saved,
        archive.read,
        lambda path: commands.reproduce(["comparisons"], profile="smoke", out=path),
        lambda path: archive.write(path, {"comparisons": [RECORD]}),
        lambda path: commands.report(html=path),
    ],
)
def test_a_path_with_a_nul_is_one_sentence(use):
    with pytest.raises(InputError, match=r"^the path 'a\\x00b.*' contains a NUL, which no file name can$"):
        use(Path("a\0b"))


def test_two_writers_of_one_file_leave_no_torn_text(tmp_path):
    path = tmp_path / "file"
    write(path, "a" * 200_000)
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_often, args=(path, letter)) for letter in "ab"]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert path.read_text() in ("a" * 200_000, "b" * 200_000)
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0]
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
