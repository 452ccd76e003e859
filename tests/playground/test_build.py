"""The committed page is built from the sources beside it, small, and makes no request."""

import hashlib
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "playground"
PAGE = Path(str(files("nsr") / "play" / "playground.html"))


def sources_hash(folder: Path) -> str:
    """As ``playground/build.mjs`` computes it."""
    inside = [path for path in (folder / "src").rglob("*") if path.is_file()]
    names = sorted(path.relative_to(folder).as_posix() for path in inside)
    digest = hashlib.sha256()
    for name in sorted(["build.mjs", "package.json", "tsconfig.json", *names]):
        content = (folder / name).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def test_the_page_is_built_from_these_sources():
    (built,) = re.findall(r'<meta name="nsr-sources" content="([0-9a-f]{64})">', PAGE.read_text())
    assert built == sources_hash(SOURCES), "run make playground"


def test_the_page_is_one_small_file_without_addresses():
    text = PAGE.read_text()
    assert len(text.encode()) <= 150_000
    assert not re.search(r"https?:|//cdn|<link[^>]+href=\"(?!data:)|src=|@import|url\(", text)
    assert "default-src 'none'" in text


@pytest.mark.outer
def test_a_build_gives_the_same_bytes(tmp_path):
    if shutil.which("node") is None or not (SOURCES / "node_modules" / "esbuild").is_dir():
        pytest.skip("needs node and esbuild: make playground installs it")
    subprocess.run(["node", "build.mjs", str(tmp_path / "page.html")], cwd=SOURCES, check=True, capture_output=True)
    assert (tmp_path / "page.html").read_bytes() == PAGE.read_bytes()
