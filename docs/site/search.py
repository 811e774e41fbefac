"""Rank pages in the search of the site: the glossary first, decisions last. A hook of MkDocs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.structure.pages import Page

BOOSTS = {"reference/glossary.md": 2.0, "decisions/": 0.3}


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:  # noqa: ANN401 - whatever MkDocs hands over
    """Set the weight of a page in the search index; its text stays as it is."""
    for start, boost in BOOSTS.items():
        if page.file.src_uri.startswith(start):
            page.meta["search"] = {"boost": boost}
    return markdown
