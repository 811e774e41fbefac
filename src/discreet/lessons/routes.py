"""Learning pages, which the service mounts: lessons with sliders, and the telemetry demo.

They are open to all and touch no data set. A request asks for the whole page, or for one lesson after a slider moved.
"""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ..privacy.advise import NOT_PROMISED
from ..service.pages.page_request import PageRequest, for_all
from ..service.state import State
from .attacks import (
    differencing_lesson,
    floats_lesson,
    linkage_lesson,
    membership_lesson,
    reconstruction_lesson,
)
from .documents import document_routes, documents_at
from .many_answers import curve_lesson, filters_lesson, sparse_lesson, sum_lesson
from .one_answer import (
    choice_lesson,
    clipping_lesson,
    neighbours_lesson,
    noise_lesson,
    processing_lesson,
)
from .telemetry import telemetry_routes
from .trust_models import response_lesson, trust_lesson

LESSONS = {
    "noise": noise_lesson,
    "neighbours": neighbours_lesson,
    "processing": processing_lesson,
    "curve": curve_lesson,
    "sum": sum_lesson,
    "filters": filters_lesson,
    "response": response_lesson,
    "trust": trust_lesson,
    "clipping": clipping_lesson,
    "choice": choice_lesson,
    "sparse": sparse_lesson,
    "differencing": differencing_lesson,
    "reconstruction": reconstruction_lesson,
    "membership": membership_lesson,
    "linkage": linkage_lesson,
    "floats": floats_lesson,
}

CONTENTS = (
    ("noise", "noise"),
    ("neighbours", "units"),
    ("processing", "afterwards"),
    ("curve", "ε and δ"),
    ("sum", "adding up"),
    ("filters", "filters"),
    ("response", "coins"),
    ("trust", "trust"),
    ("clipping", "clipping"),
    ("choice", "choosing"),
    ("sparse", "sparse vector"),
    ("differencing", "attack: difference"),
    ("reconstruction", "attack: reconstruction"),
    ("membership", "attack: membership"),
    ("linkage", "attack: linkage"),
    ("floats", "attack: floats"),
)
"""Table of contents: the lessons in the order of the page, each with a short title."""

MISPRINTS = (
    (
        "Gaussian noise of σ = Δ√(2 ln(1.25/δ))/ε for every ε",
        "proved for ε < 1 only; use the exact curve",
    ),
    ("advanced composition without kε(eᵋ − 1)", "both terms"),
    ("a group of K people: δ grows by K e^(Kε)", "by (e^(Kε) − 1)/(eᵋ − 1), far less"),
    ("disjoint parts cost the maximum", "only for public parts and adding or removing a person"),
    (
        "a SUM of values from a to b moves by b",
        "by max(|a|, |b|), or b − a if a person is replaced",
    ),
    ("fair-coin randomized response costs ε = 3", "ε = ln 3 ≈ 1.0987"),
    ("Gaussian noise is always wider than Laplace noise", "not for small ε"),
)
"""Wrong statements found in lectures and papers, and the right ones."""


def lesson_routes(state: State) -> list[BaseRoute]:
    """Return the routes of the learning pages."""
    return [
        Route("/learn", for_all(state, _whole), methods=["GET"]),
        Route("/learn/{lesson}", for_all(state, _one), methods=["GET"]),
        *telemetry_routes(state),
        *document_routes(state),
    ]


def _whole(visit: PageRequest) -> Response:
    """Show all lessons; without a script, the form of one lesson sends its sliders here."""
    asked = dict(visit.request.query_params)
    chosen = asked.get("lesson")
    lessons = {name: make(asked if name == chosen else {}) for name, make in LESSONS.items()}
    return visit.show(
        "learn.html",
        here="Learn",
        lessons=lessons,
        contents=CONTENTS,
        documents=documents_at(visit.state),
        not_promised=NOT_PROMISED,
        misprints=MISPRINTS,
    )


def _one(visit: PageRequest) -> Response:
    """Show one lesson with its sliders as asked."""
    make = LESSONS.get(visit.request.path_params["lesson"])
    if make is None:
        return visit.show("missing.html", status=404)
    return visit.part("piece_lesson.html", lesson=make(dict(visit.request.query_params)))
