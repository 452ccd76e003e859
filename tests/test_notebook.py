"""The notebook runs from top to bottom; its cells assert what its text claims, and no outputs are stored."""

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[1] / "examples" / "journey.ipynb"


def read():
    nbformat = pytest.importorskip("nbformat", reason="no nbformat: install the extra dev")
    return nbformat.read(NOTEBOOK, as_version=4)


def test_no_outputs_are_stored():
    cells = [cell for cell in read().cells if cell.cell_type == "code"]
    assert len(cells) > 8
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


@pytest.mark.outer
def test_it_runs():
    nbclient = pytest.importorskip("nbclient", reason="no nbclient: install the extra dev")
    pytest.importorskip("ipykernel", reason="no ipykernel: install the extra dev")
    notebook = read()
    resources = {"metadata": {"path": str(NOTEBOOK.parent)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    printed = "".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []) if "text" in output
    )
    assert "a >= b\n" in printed
    assert "10^13: network 1.000" in printed
    assert '"due" < "shipped"' in printed
