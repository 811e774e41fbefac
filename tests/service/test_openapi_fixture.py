"""The published OpenAPI document only grows: paths and shapes are as before 0.2.0, but for new optional fields."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

OLD = json.loads(
    (Path(__file__).parents[1] / "fixtures" / "before_0_2_0" / "openapi.json").read_text(
        encoding="utf-8"
    )
)


@pytest.fixture(scope="module")
def published(client):
    return client.request("GET", "/api/v1/openapi.json").json()


def shape(data):
    """Leave out the prose. A field that is called `description` has a schema below it, no text, and stays."""
    if isinstance(data, dict):
        prose = [name for name in ("summary", "description") if isinstance(data.get(name), str)]
        return {name: shape(inner) for name, inner in data.items() if name not in prose}
    return [shape(inner) for inner in data] if isinstance(data, list) else data


def remains(old, new):
    """Tell whether a shape is as it was, but for properties that were added and need not be given."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return old == new
    if old.get("type") == "object" and "properties" in old:
        added = new["properties"].keys() - old["properties"].keys()
        kept = {name: new["properties"][name] for name in new["properties"] if name not in added}
        for name, inner in kept.items():
            before = old["properties"].get(name)
            # What a job can give: a new verb adds a reply, which its own callers alone are sent.
            if isinstance(before, dict) and remains_among(before, inner):
                kept[name] = before
        return not added & set(new.get("required", ())) and old == new | {"properties": kept}
    return old == new


def remains_among(old, new):
    """Tell whether a choice among shapes is as it was, but for shapes that were added."""
    if "anyOf" not in old or "anyOf" not in new:
        return False
    grown = old | {"anyOf": [one for one in new["anyOf"] if one in old["anyOf"]]}
    return old == grown and new == old | {"anyOf": new["anyOf"]}


def test_every_path_is_there_and_takes_and_gives_the_same(published):
    for path, ways in OLD["paths"].items():
        for method, way in ways.items():
            assert shape(published["paths"].get(path, {}).get(method)) == shape(way), (method, path)


def test_every_shape_is_the_same(published):
    assert len(OLD["components"]["schemas"]) > 40
    for kind, named in OLD["components"].items():
        for name, one in named.items():
            assert remains(shape(one), shape(published["components"][kind].get(name))), name


def test_all_else_is_the_same(published):
    apart = ("info", "paths", "components")
    assert {name: published[name] for name in OLD if name not in apart} == {
        name: one for name, one in OLD.items() if name not in apart
    }
    assert (
        published["info"].keys() == OLD["info"].keys()
        and published["info"]["title"] == OLD["info"]["title"]
    )
