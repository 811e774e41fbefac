"""Validation of registry entries: by our own table of fields, and by the registry's schema where it is there."""

from __future__ import annotations

from pathlib import Path

import yaml

from discreet.record.fields import FIELDS

SHARED = next(
    (
        parent / "shared" / "data" / "registry"
        for parent in Path(__file__).resolve().parents
        if (parent / "shared" / "data" / "registry").is_dir()
    ),
    None,
)
"""The registry's schema and entries, beside the project; None where they are not there."""
_TYPES = {"string": str, "object": dict, "array": list, "integer": int, "number": (int, float)}


def read(text):
    """Read an entry as the registry does, and check how it is written."""
    entry = yaml.safe_load(text)
    for line in text.splitlines():
        key, _, value = line.strip().partition(": ")
        assert not value.startswith(">"), "folded text"
        if value.startswith("|"):
            assert value == "|", line
        if key == "publication_date":
            assert value.startswith("'"), "a date is text"
    return entry


def check(text):
    """Check an entry by our own table, and by the registry's schema where it is there."""
    entry = read(text)
    assert entry.keys() == {"url_slug", "status", "tier", "deployment"}
    assert entry["status"] == "Draft" and entry["tier"] in (1, 2, 3)
    assert entry["url_slug"] == entry["url_slug"].lower().strip("-") != ""
    known = {(one.section, one.name): one for one in FIELDS}
    found = {
        (section, name): value
        for section, values in entry["deployment"].items()
        for name, value in values.items()
    }
    assert found.keys() <= known.keys()
    for place, one in known.items():
        if one.required:
            assert place in found, place
        if place in found:
            _check_value(one, found[place])
    if SHARED is not None:
        schema = yaml.safe_load((SHARED / "deployments-schema.yaml").read_text(encoding="utf-8"))
        validate(entry, schema, "entry")
    return entry


def _check_value(one, value):
    if one.type == "list":
        assert value and all(isinstance(text, str) and text for text in value), one
    elif one.type == "numbers":
        assert value.keys() <= {"epsilon", "delta", "rho"}
        assert all(isinstance(amount, float) and amount > 0 for amount in value.values()), value
    else:
        assert isinstance(value, str) and value.strip(), one
    if one.allowed:
        assert value in one.allowed, value


def validate(value, schema, path):
    """Check a value by the words of JSON Schema that the registry uses."""
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    assert not kinds or any(isinstance(value, _TYPES[kind]) for kind in kinds), path
    assert "enum" not in schema or value in schema["enum"], f"{path}: {value}"
    assert len(value) >= schema["minItems"] if "minItems" in schema else True, path
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        assert set(schema.get("required", ())) <= value.keys(), path
        if schema.get("additionalProperties") is False:
            assert value.keys() <= properties.keys(), f"{path}: {value.keys() - properties.keys()}"
        for name, inner in value.items():
            validate(inner, properties.get(name, {}), f"{path}.{name}")
    if isinstance(value, list):
        for inner in value:
            validate(inner, schema.get("items", {}), path)
