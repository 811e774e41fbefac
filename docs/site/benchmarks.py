"""Show what `make bench` printed when it last ran, as it was kept in `benchmarks/results/`. A hook of MkDocs."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
HEAD = """# Benchmarks as printed

What `make bench` printed when it last ran, script by script; [benchmarks](benchmarks.md) sums it up beside peers.
Times hang on the machine and on what else it did: trust the ratios, which come from one interleaved run.
"""


def page(folder: Path = BENCHMARKS) -> str:
    """Return the kept results as a page: what each script is for, when it ran, and its lines."""
    parts = [HEAD]
    for kept in sorted((folder / "results").glob("*.txt")):
        script = folder / f"{kept.stem}.py"
        about = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or ""
        ran, _, lines = kept.read_text(encoding="utf-8").partition("\n")
        said = f"## {kept.stem}.py\n\n{about.splitlines()[0] if about else ''}\n\n*{ran}*\n"
        parts.append(f"{said}\n```text\n{lines.strip()}\n```\n")
    return "\n".join(parts)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page."""
    from mkdocs.structure.files import File  # not there where the tests run

    files.append(File.generated(config, "reference/benchmarks-printed.md", content=page()))
    return files
