"""The description of the API as a judge: does a reply have the shape that is declared for it?"""

from __future__ import annotations

import re
from functools import cache

from jsonschema import Draft202012Validator

from discreet.service.api.openapi import _ERRORS, _outcome
from discreet.service.api.routes import ENDPOINTS
from discreet.service.api.schemas import SCHEMAS

COMPONENTS = {"components": {"schemas": SCHEMAS}}


@cache
def validator(name):
    """Return the validator of a component by its name."""
    return Draft202012Validator({"$ref": f"#/components/schemas/{name}", **COMPONENTS})


def way_of(method, path):
    """Find the way that a request took; None if there is none."""
    for way in ENDPOINTS:
        if way.method == method and re.fullmatch(
            re.sub(r"{\w+}", "[^/]+", way.path), path.partition("?")[0]
        ):
            return way
    return None


def check_reply(method, path, response):
    """Fail if a JSON reply is not what the description declares for its way and status."""
    way = way_of(method, path)
    if way is None or not response.headers.get("Content-Type", "").startswith("application/json"):
        return
    if response.status_code in way.status:
        shape = _outcome(way, response.status_code)[1]
    else:
        assert response.status_code in _ERRORS or response.status_code == 500, response.status_code
        shape = "Refusal"
    validator(shape).validate(response.json())
