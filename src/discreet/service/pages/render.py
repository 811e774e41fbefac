"""Renderer of templates: escapes by default, refuses undefined names, and forbids caching."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from .number_text import sentence

HEADERS = {"Cache-Control": "no-store"}
"""What pages add to the headers of every response, which the guard sets."""


@lru_cache(maxsize=1)
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("discreet.service", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["sentence"] = sentence
    return made


def html(template: str, **words: Any) -> Markup:  # noqa: ANN401 - whatever the template names
    """Fill a template."""
    return Markup(_environment().get_template(template).render(**words))  # noqa: S704 - escaped by the environment


def piece(template: str, *, status: int = 200, **words: Any) -> HTMLResponse:  # noqa: ANN401
    """Answer with a part of a page."""
    return HTMLResponse(html(template, **words), status, headers=HEADERS)


def page(template: str, *, status: int = 200, **words: Any) -> HTMLResponse:  # noqa: ANN401
    """Answer with a whole page; whoever is not signed in sees only the rooms that are open to all."""
    known = {
        "person": None,
        "csrf": "",
        "here": "",
        "rooms": (("Learn", "/learn"), ("API", "/docs")),
    } | words
    return HTMLResponse(html(template, **known), status, headers=HEADERS)


def is_piece(headers: Any) -> bool:  # noqa: ANN401 - any mapping of headers
    """Return whether the script of a page asked, which wants a part of it only."""
    return bool(headers.get("x-piece") == "1")
