"""TOML written out: the few shapes a schema needs. Reading is the standard library's `tomllib`."""

from __future__ import annotations

import re
from collections.abc import Mapping

BARE = re.compile(r"[A-Za-z0-9_-]+")
UNSAFE = re.compile(r"[\x00-\x1f\x7f\"\\]")


def toml_key(name: str) -> str:
    """Write a key, quoted where it must be.

    >>> from discreet.data.files.toml_writer import toml_key
    >>> toml_key("age"), toml_key("Time spent (minutes)")
    ('age', '"Time spent (minutes)"')
    """
    return name if BARE.fullmatch(name) else _quoted(name)


def toml_value(value: object) -> str:
    """Write a text, a number, yes or no, a list, or a mapping as an inline table.

    >>> from discreet.data.files.toml_writer import toml_value
    >>> toml_value({"type": "integer", "low": 0, "step": 0.5, "keys": ["N", True]})
    '{ type = "integer", low = 0, step = 0.5, keys = ["N", true] }'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(v) for v in value) + "]"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    return '"' + UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + '"'
