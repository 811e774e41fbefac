"""Pages of the documentation, shown by a service that runs from a checkout: the lessons link to them.

An installed service has no documentation beside it; `documents` of its configuration says where it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from ..service.pages.page_request import PageRequest, for_all
from ..service.state import State
from ..show.markup import Html

ADDRESS = "/documents"
PICTURES = (".svg", ".png")
_FOLDER = Path(__file__).parents[3] / "docs"


def documents_at(state: State) -> str:
    """Return the address of the documentation: as configured, else that of the pages here, or ""."""
    if state.config.documents:
        return state.config.documents
    return ADDRESS if _installed() else ""


def _installed() -> bool:
    return (_FOLDER / "index.md").is_file()


def document_routes(state: State) -> list[Route]:
    """Return the route of the pages, where the documentation is beside the package."""
    if not _installed():
        return []
    return [Route(f"{ADDRESS}/{{page:path}}", for_all(state, _show), methods=["GET"])]


def _show(visit: PageRequest) -> Response:
    # Resolved before it is compared: `..` in an address must not lead out of the folder.
    path = (_FOLDER / visit.request.path_params["page"]).resolve()
    if not path.is_relative_to(_FOLDER.resolve()):
        return visit.show("missing.html", status=404)
    if path.suffix in PICTURES and path.is_file():
        return FileResponse(path)
    source = path.with_suffix(".md")
    if path.suffix != ".html" or not source.is_file():
        return visit.show("missing.html", status=404)
    title, body = _rendered(source)
    return visit.show("document.html", here="Learn", document_title=title, body=body)


@lru_cache(maxsize=64)
def _rendered(source: Path) -> tuple[str, Html]:
    """Return title and HTML of a page; tags in its text are shown, never obeyed."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(source.read_text(encoding="utf-8"))
    title = source.stem
    # Links within and between pages name headings as the published site does.
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            words = tokens[place + 1].content
            token.attrSet("id", _anchor(words))
            if token.tag == "h1":
                title = words.replace("`", "")
        for inner in token.children or []:
            _link(inner, source.parent)
    return title, Html(markdown.renderer.render(tokens, markdown.options, {}))


def _link(token: Token, folder: Path) -> None:
    """Let links between pages lead to the pages as they are served; sources are not served."""
    target = str(token.attrGet("href") or "")
    if target and "://" not in target:
        if not (folder / target).resolve().is_relative_to(_FOLDER.resolve()):
            token.attrs.clear()
            return
        token.attrSet("href", re.sub(r"\.md(?=$|#)", ".html", target))


def _anchor(words: str) -> str:
    """Return the name of a heading in links, as the documentation's site makes it."""
    plain = re.sub(r"[^\w\s-]", "", words.lower()).strip()
    return re.sub(r"[\s-]+", "-", plain)
