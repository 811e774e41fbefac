"""Routes of all pages. The application adds them after those of the API.

The last one answers every other GET path with a "not found" page, but for paths of programs.
"""

from __future__ import annotations

from importlib import import_module

from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from ..state import State
from .answers import answer_routes
from .dashboards import dashboard_routes
from .downloads.files import file_routes
from .forms.saved import saved_routes
from .page_request import PageRequest, for_all
from .people import crowd_routes, sign_routes
from .products.product_forms import make_routes
from .products.product_page import made_routes
from .provider import provider_routes
from .public_record import record_routes
from .reference import reference_routes
from .render import LESSONS, lessons_installed, page_packages
from .steward import steward_routes
from .streams import stream_routes
from .workbench import workbench_routes

MACHINES = ("/api/", "/metrics")
"""Beginnings of paths for programs; an unknown path among them gets a JSON reply, no page."""


def routes(state: State) -> list[BaseRoute]:
    """Return the routes of all pages, and of their scripts and styles."""
    static = StaticFiles(packages=[(package, "static") for package in page_packages()])
    return [
        *sign_routes(state),
        *provider_routes(state),
        *_lesson_routes(state),
        *reference_routes(state),
        *workbench_routes(state),
        *answer_routes(state),
        *file_routes(state),
        *dashboard_routes(state),
        *saved_routes(state),
        *make_routes(state),
        *made_routes(state),
        *steward_routes(state),
        *record_routes(state),
        *stream_routes(state),
        *crowd_routes(state),
        Mount("/static", static, name="static"),
        _Elsewhere("/{rest:path}", for_all(state, _missing), methods=["GET"]),
    ]


def _lesson_routes(state: State) -> list[BaseRoute]:
    """Return the routes of the learning pages, where their package is installed.

    The only place of the service that imports their routes. It does so by name: they are built upon the service, so an
    import statement here would close a cycle of packages.
    """
    if not lessons_installed():
        return []
    lessons = import_module(f"{LESSONS}.routes")
    routes: list[BaseRoute] = lessons.lesson_routes(state)
    return routes


class _Elsewhere(Route):
    """Every other path that a browser may ask for; the API says itself what is not there."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and scope["path"].startswith(MACHINES):
            return Match.NONE, {}
        return super().matches(scope)


def _missing(visit: PageRequest) -> Response:
    return visit.show("missing.html", status=404)
