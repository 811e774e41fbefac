"""Rank pages in the search of the site, and check that usual words find their page. A hook of MkDocs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

BOOSTS = {"reference/glossary.md": 2.0, "tutorials/": 2.0, "how-to/": 2.0, "decisions/": 0.3}
FOUND = {
    "docker": "how-to/deploy.html",
    "sampling error": "how-to/compare-groups.html",
    "join two tables": "reference/sql.html",
    "weekly": "tutorials/weekly-bulletin.html",
    "choose your tool": "how-to/choose-your-tool.html",
    "epsilon": "how-to/choose-epsilon.html",
    "shared dashboard": "how-to/share-a-dashboard.html",
}
"""What people type, and the page that they look for."""


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:  # noqa: ANN401 - whatever MkDocs hands over
    """Set the weight of a page in the search index; its text stays as it is."""
    for start, boost in BOOSTS.items():
        if page.file.src_uri.startswith(start):
            page.meta["search"] = {"boost": boost}
    return markdown


def missed(entries: list[dict[str, Any]]) -> list[str]:
    """Return the searches that do not find their page: none of its heads has all of the words.

    The search weighs words of a head a thousand times as much as words of a text.
    """
    heads: dict[str, list[str]] = {}
    for entry in entries:
        heads.setdefault(entry["location"].partition("#")[0], []).append(entry["title"].lower())
    return [
        words
        for words, page in FOUND.items()
        if not any(all(word in head for word in words.split()) for head in heads.get(page, ()))
    ]


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site whose search does not find what people look for."""
    from mkdocs.exceptions import PluginError  # not there where the tests run

    index = Path(config["site_dir"], "search", "search_index.json").read_text(encoding="utf-8")
    lost = missed(json.loads(index)["docs"])
    if lost:
        raise PluginError(f"the search does not find the page of: {', '.join(lost)}")
