"""Imports point down the design, and `import nsr` stays light."""

import subprocess
import sys
import tomllib
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
DATA = ("pandas", "sklearn", "scipy", "pooch", "requests")
HEAVY = (*DATA, "altair", "dask", "distributed", "onnx", "sympy", "z3", "cyclopts", "rich")


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_imports_point_down(capsys):
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0, capsys.readouterr().out


def test_the_contracts_cover_every_module_and_both_products():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    products, parts, experiments = settings
    assert products["exhaustive"] is parts["exhaustive"] is True
    assert "paper | learn" in products["layers"]  # neither may import the other
    assert experiments["modules"] == ["nsr.paper.experiments.*"]


def test_no_import_is_hidden_in_a_string():
    hidden = [path for path in (ROOT / "src").rglob("*.py") if "import_module" in path.read_text()]
    assert hidden == []


def test_the_picture_of_the_imports_is_current(tmp_path):
    subprocess.run([sys.executable, ROOT / "tools/import_graph.py", tmp_path / "imports.svg"], check=True)
    drawn, committed = (path.read_text() for path in (tmp_path / "imports.svg", ROOT / "docs/imports.svg"))
    assert drawn == committed, "make graph draws it anew"


def test_import_nsr_loads_none_of_the_extras():
    code = f"import nsr, sys; nsr.NSR; nsr.fit; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert python(code).strip() == "[]"


def test_help_does_not_wait_for_torch():
    assert python("import nsr.cli, sys; print('torch' in sys.modules)").strip() == "False"


def test_import_touches_neither_the_seed_nor_the_threads():
    code = (
        "import torch; s, t = torch.get_rng_state(), torch.get_num_threads(); import nsr; nsr.NSR; nsr.fit; "
        "print(torch.equal(s, torch.get_rng_state()), t == torch.get_num_threads())"
    )
    assert python(code).strip() == "True True"
