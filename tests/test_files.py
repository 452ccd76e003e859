from pathlib import Path

import pytest

from nsr.errors import InputError
from nsr.files import check_writable, write


def test_a_file_and_its_folder_are_written(tmp_path):
    path = tmp_path / "new" / "file"
    for content, there in (("größer", "größer".encode()), (b"\x00\xff", b"\x00\xff")):
        write(path, content)
        assert path.read_bytes() == there
    assert [entry.name for entry in path.parent.iterdir()] == ["file"]


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write(path, "old")

    def full(self, content):
        with self.open("wb") as file:
            file.write(content[:1])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
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
