"""Give the site colours, type and mark of the service's pages; nothing is loaded from outside. A hook of MkDocs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

HERE = Path(__file__).parent
STATIC = HERE.parents[1] / "src" / "discreet" / "service" / "static"


def stylesheet() -> str:
    """Return the style of the site: the colours of the service's pages by scheme, then the rules of look.css."""
    lists = re.findall(
        r":root \{\n(.*?)\n *\}", (STATIC / "page.css").read_text(encoding="utf-8"), re.DOTALL
    )
    light, dark = (re.sub(r" *color-scheme:[^;]*;\n", "", one) for one in lists)
    # The dark list has colours alone; fonts are those of the light one.
    parts = [f"[data-md-color-scheme] {{\n{light}\n}}"]
    parts.append(f"[data-md-color-scheme=slate] {{\n{dark}\n}}")
    return "\n".join([*parts, (HERE / "look.css").read_text(encoding="utf-8")])


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the style sheet and the mark."""
    from mkdocs.structure.files import File  # not there where the tests run

    mark = (STATIC / "icon.svg").read_text(encoding="utf-8")
    for name, content in (("assets/look.css", stylesheet()), ("assets/mark.svg", mark)):
        files.append(File.generated(config, name, content=content))
    return files
