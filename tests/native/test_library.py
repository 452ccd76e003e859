"""Building the C library: where it is kept, and what happens where it cannot be built."""

import importlib
import shutil
import subprocess
import sys

import pytest

from nsr.native import library

module = importlib.import_module("nsr.native.library")
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    library.cache_clear()
    yield
    library.cache_clear()


@pytest.mark.outer
@needs_compiler
def test_it_is_built_once_and_kept_for_other_processes(monkeypatch, tmp_path):
    assert library() is not None
    (built,) = (tmp_path / "cache" / "nsr").iterdir()
    library.cache_clear()
    monkeypatch.setattr(module, "_build", lambda *_: pytest.fail("built again"))
    assert library()._name == str(built)


@needs_compiler
def test_another_cpu_or_another_source_is_built_anew(monkeypatch, tmp_path):
    names = [module._fingerprint("cc")]
    monkeypatch.setattr(module, "_cpu", lambda: "another")
    names.append(module._fingerprint("cc"))
    shutil.copytree(module.SOURCES, tmp_path / "sources")
    with (tmp_path / "sources" / "vector.h").open("a") as file:
        file.write("\n")
    monkeypatch.setattr(module, "SOURCES", tmp_path / "sources")
    names.append(module._fingerprint("cc"))
    assert len(set(names)) == 3


@pytest.mark.outer
@needs_compiler
def test_a_cache_that_cannot_be_written_is_replaced_by_a_private_folder(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    built = library()
    assert built is not None
    assert not built._name.startswith(str(tmp_path))


def test_a_compiler_that_fails_leaves_the_training_to_torch(monkeypatch, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho broken 1.0; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    assert library() is None
    assert not [*(tmp_path / "cache" / "nsr").iterdir()]


def test_without_a_compiler_there_is_no_library(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    assert library() is None


@pytest.mark.outer
@needs_compiler
def test_a_damaged_file_in_the_cache_is_not_used(tmp_path):
    library()
    (built,) = (tmp_path / "cache" / "nsr").iterdir()
    code = (
        "from nsr import NSR, Recipe, fit; from nsr.data import all_pairs;"
        "print(fit(NSR(2), all_pairs('>'), Recipe(loss='mae', epochs=2)).engine)"
    )
    built.write_bytes(b"\x7fELF damaged")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "native\n"
    assert module._is_intact(built)  # it was built again


@pytest.mark.outer
@needs_compiler
def test_one_flipped_bit_in_the_cache_is_built_again(tmp_path):
    library()
    (built,) = (tmp_path / "cache" / "nsr").iterdir()
    content = bytearray(built.read_bytes())
    for place in (0x40, len(content) // 2, len(content) - 1):
        content[place] ^= 4
        built.write_bytes(content)
        assert not module._is_intact(built)
        content[place] ^= 4
    content[len(content) // 2] ^= 4
    built.write_bytes(content)
    library.cache_clear()
    assert library() is not None
    assert module._is_intact(built)
