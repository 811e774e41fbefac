"""Page /docs: the reference of the API, from the same table as its routes; open to all."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from ...api.openapi import document
from ...api.routes import ENDPOINTS, ROOT
from ...state import State
from ..page_request import PageRequest, for_all
from .described import lay_out


def reference_routes(state: State) -> list[Route]:
    """Return the route of the page; it is laid out once, when the service starts."""
    described = lay_out(document(ENDPOINTS, ROOT, state.config))

    def show(visit: PageRequest) -> Response:
        return visit.show("reference.html", here="API", described=described, url=state.config.url)

    return [Route("/docs", for_all(state, show), methods=["GET"])]
