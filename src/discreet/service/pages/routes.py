"""Routes of all pages, which the application adds after those of the API."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from ..state import State
from .answers import answer_routes
from .downloads.files import file_routes
from .forms.builder import builder_routes
from .forms.saved import saved_routes
from .lessons.corner import learn_routes
from .page_request import PageRequest, for_all
from .people import crowd_routes
from .products.product_forms import make_routes
from .products.product_page import made_routes
from .reference.page import reference_routes
from .sign_in import sign_routes
from .steward import steward_routes
from .telemetry import telemetry_routes
from .workbench import workbench_routes

STATIC = Path(__file__).parent.parent / "static"
MACHINES = ("/api/", "/metrics")


def routes(state: State) -> list[BaseRoute]:
    """Return the routes of all pages, and of what they are made with."""
    return [
        *sign_routes(state),
        *learn_routes(state),
        *telemetry_routes(state),
        *reference_routes(state),
        *workbench_routes(state),
        *builder_routes(state),
        *answer_routes(state),
        *file_routes(state),
        *saved_routes(state),
        *make_routes(state),
        *made_routes(state),
        *steward_routes(state),
        *crowd_routes(state),
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
        _Elsewhere("/{rest:path}", for_all(state, _missing), methods=["GET"]),
    ]


class _Elsewhere(Route):
    """Every other path that a browser may ask for; programs get their own words for what is not there."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] == "http" and scope["path"].startswith(MACHINES):
            return Match.NONE, {}
        return super().matches(scope)


def _missing(visit: PageRequest) -> Response:
    return visit.show("missing.html", status=404)
