"""Show the notebooks on the site as they were run: their words, code, tables and pictures. A hook of MkDocs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def shown(output: dict[str, Any]) -> str:
    """Return what a cell printed or displayed: a picture, a table, or text."""
    data = output.get("data", {})
    if "image/png" in data:
        return f'<img alt="the picture that this cell draws" src="data:image/png;base64,{data["image/png"].strip()}">'
    if "text/html" in data:
        return (
            '<div style="overflow-x: auto">'
            + "".join(data["text/html"]).replace("\n", " ")
            + "</div>"
        )
    text = "".join(output.get("text", data.get("text/plain", ""))).rstrip()
    return f"```text\n{text}\n```" if text else ""


def page(notebook: Path) -> str:
    """Return a notebook as a page."""
    parts = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            outputs = [output for output in cell["outputs"] if output.get("name") != "stderr"]
            parts += [f"```python\n{source}\n```", *map(shown, outputs)]
    return "\n\n".join(part for part in parts if part) + "\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for every notebook."""
    from mkdocs.structure.files import File  # not there where the tests run

    for notebook in sorted(NOTEBOOKS.glob("*.ipynb")):
        files.append(File.generated(config, f"gallery/{notebook.stem}.md", content=page(notebook)))
    return files
