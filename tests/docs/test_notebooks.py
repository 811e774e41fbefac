"""The example notebooks run from top to bottom, and show tables: all in one kernel, each in a clean state of it."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

NOTEBOOKS = {
    path.stem: path
    for path in sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
}
CLEAN = """get_ipython().run_line_magic("reset", "-f")
import os
os.makedirs({name!r}); os.chdir({name!r})"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The code cells of every notebook after they ran; a cell that raises ends nothing but says so."""
    home = tmp_path_factory.mktemp("notebooks")
    all_cells, own = [], {}
    for name, path in NOTEBOOKS.items():
        cells = [
            cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"
        ]
        for cell in cells:
            cell.outputs, cell.execution_count = [], None
        all_cells += [new_code_cell(CLEAN.format(name=str(home / name))), *cells]
        own[name] = cells
    whole = new_notebook(cells=all_cells)
    how = {"timeout": 120, "kernel_name": "python3", "allow_errors": True}
    NotebookClient(whole, resources={"metadata": {"path": home}}, **how).execute()
    return own


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the kernel's own loops and sockets
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_shows_tables(name, run):
    kept = nbformat.read(NOTEBOOKS[name], as_version=4)
    nbformat.validate(kept)
    assert any(cell.outputs for cell in kept.cells if cell.cell_type == "code"), (
        "keep it executed: make notebooks"
    )
    outputs = [output for cell in run[name] for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert all(cell.execution_count for cell in run[name])
    shown = [kind for output in outputs for kind in output.get("data", {})]
    assert shown.count("text/html") >= (5 if name == "first_day" else 1)
    assert "image/png" in shown


def test_there_is_a_notebook():
    assert NOTEBOOKS
