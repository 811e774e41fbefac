"""JSON shapes: what stands on the line between the service and its clients, in the library's own words."""

from __future__ import annotations

from .request import Ask, Planned, Release, read_ask, read_planned, read_release
from .text import read_json, write_json

__all__ = [
    "Ask",
    "Planned",
    "Release",
    "read_ask",
    "read_json",
    "read_planned",
    "read_release",
    "write_json",
]
