"""The example notebooks run from top to bottom, and show tables."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the kernel's own loops and sockets
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_tables(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert any(cell.outputs for cell in notebook.cells if cell.cell_type == "code"), "keep it executed: make notebooks"
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}})
    client.execute()  # raises what a cell raises
    shown = [kind for cell in notebook.cells if cell.cell_type == "code" for kind in _kinds(cell)]
    assert shown.count("text/html") >= (5 if path.stem == "first_day" else 1)
    assert "image/png" in shown


def _kinds(cell):
    return [kind for output in cell.outputs for kind in output.get("data", {})]


def test_there_is_a_notebook():
    assert NOTEBOOKS
