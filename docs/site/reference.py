"""Reference of the site, written from the program: every public name once, its docstring unchanged.

A hook of MkDocs (`mkdocs.yml`); the tests call `page` to see that no public name is missing.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import discreet

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

TITLES = {
    "curator": ("Curator and receipts", "explanation/curator.md", "curator answer client"),
    "schemas": ("Schemas and stores", "explanation/schema.md", "data engines samples"),
    "questions": ("Questions and plans", "explanation/planning.md", "query plan"),
    "ledger": ("Ledger and filters", "explanation/ledger.md", "ledger privacy.filters.filter"),
    "privacy": ("Promises and prices", "explanation/privacy.md", "privacy"),
    "mechanisms": ("Mechanisms", "explanation/additive.md", "mechanisms"),
    "local": ("The local model", "explanation/local.md", "+local"),
    "learn": ("Models", "explanation/learn.md", "+learn"),
    "streams": ("Streams", "explanation/streams.md", "+streams"),
    "synthetic": ("Synthetic tables", "explanation/synthetic.md", "+synthetic"),
    "record": ("Public records", "how-to/public-record.md", "record"),
    "audit": ("The auditor", "explanation/audit.md", "+audit"),
    "events": ("Events", "explanation/privacy.md", "+privacy.events"),
    "errors": ("Errors", "explanation/curator.md", "errors"),
}
"""Title, page that explains it, and the packages whose names in `discreet` it lists.

"+package" lists all names of a package.
"""


def names(package: str) -> list[tuple[str, str]]:
    """Return the public names of a package, as people say them, with where they are defined."""
    if package.startswith("+"):
        home = f"discreet.{package[1:]}"
        return [(name, f"{home}.{name}") for name in import_module(home).__all__]
    # The stub of `discreet` is the only list of its lazy names.
    stub = Path(discreet.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    line = rf"^from \.{re.escape(package)} import (\w+) as (\w+)$"
    # `from .query import parse as _parse` and `parse_sql = _parse` name one function.
    renamed = {hidden: name for name, hidden in re.findall(r"^(\w+) = (\w+)$", stub, re.MULTILINE)}
    found = []
    for own, given in re.findall(line, stub, re.MULTILINE):
        name = renamed.get(given, given)
        # Packages such as `events` have pages of their own.
        if not isinstance(getattr(discreet, name), ModuleType):
            found.append((f"dp.{name}", f"discreet.{package}.{own}"))
    return found


def page(key: str) -> str:
    """Return one page of the reference."""
    title, explained, packages = TITLES[key]
    parts = [
        f"# {title}",
        f"Explained in [{explained.split('/')[-1].removesuffix('.md')}](../{explained}).",
    ]
    for package in packages.split():
        parts += [
            f"::: {where}\n    options: {{heading: {name}, heading_level: 2}}"
            for name, where in names(package)
        ]
    return "\n\n".join(parts) + "\n"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of the reference to those that stand in the folder."""
    from mkdocs.structure.files import File  # not there where the tests run

    for key in TITLES:
        files.append(File.generated(config, f"reference/{key}.md", content=page(key)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Leave a link out of the folder as plain words: the site does not hold the program."""
    return (
        re.sub(r"\[([^\]]+)\]\(\.\./[^)]+\)", r"\1", markdown)
        if "/" not in page.file.src_uri
        else markdown
    )
