"""Imports point down the design, and `import nsr` stays light."""

import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
DATA = ("pandas", "sklearn", "scipy", "pooch", "requests")
HEAVY = (*DATA, "altair", "dask", "distributed", "onnx", "sympy", "cyclopts", "rich")


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_imports_point_down(capsys):
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0, capsys.readouterr().out


def test_every_experiment_is_in_the_independence_contract():
    files = {path.stem for path in (ROOT / "src/nsr/experiments").glob("*.py")} - {"__init__", "spec", "measure"}
    contract = (ROOT / "pyproject.toml").read_text().split('type = "independence"')[1].split("]")[0]
    assert files == {name for name in files if f"nsr.paper.experiments.{name}" in contract}


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


@pytest.mark.parametrize("path", sorted((ROOT / "src").rglob("*.py")), ids=lambda path: path.name)
def test_files_stay_short(path):
    assert len(path.read_text().splitlines()) <= 300
