"""Renderer of templates: escapes by default, refuses undefined names, and forbids caching."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse

from .number_text import sentence

HEADERS = {"Cache-Control": "no-store"}
"""Headers that pages add to those of the middleware."""

LESSONS = "discreet.lessons"
"""Package of the learning pages, which are served where it is installed."""


def page_packages() -> tuple[str, ...]:
    """Return the packages that have templates and static files of pages."""
    if lessons_installed():
        return ("discreet.service", LESSONS)
    return ("discreet.service",)


def lessons_installed() -> bool:
    """Return whether the package of the learning pages is installed."""
    return find_spec(LESSONS) is not None


@lru_cache(maxsize=2)
def _environment(packages: tuple[str, ...]) -> Environment:
    """Make the renderer of these packages; services with and without lessons may share a process."""
    loaders = [PackageLoader(package, "templates") for package in packages]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sentence"] = sentence
    return environment


def html(template: str, **words: Any) -> Markup:  # noqa: ANN401 - whatever the template names
    """Fill a template."""
    return Markup(_environment(page_packages()).get_template(template).render(**words))  # noqa: S704 - escaped by the environment


def piece(template: str, *, status: int = 200, **words: Any) -> HTMLResponse:  # noqa: ANN401
    """Respond with a part of a page."""
    return HTMLResponse(html(template, **words), status, headers=HEADERS)


def page(template: str, *, status: int = 200, **words: Any) -> HTMLResponse:  # noqa: ANN401
    """Respond with a whole page; without a session it names no user and carries no CSRF token."""
    known = {"person": None, "csrf": "", "here": ""} | words
    return HTMLResponse(html(template, **known), status, headers=HEADERS)


def is_piece(headers: Any) -> bool:  # noqa: ANN401 - any mapping of headers
    """Return whether the script of a page sent the request and wants only a part of a page."""
    return bool(headers.get("x-piece") == "1")
