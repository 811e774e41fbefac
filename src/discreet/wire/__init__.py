"""JSON shapes: what stands on the line between the service and its clients, in the library's own words."""

from __future__ import annotations

from .json_text import read_json, write_json
from .request import Ask, PlanRequest, ReleaseRequest, read_ask, read_plan, read_release

__all__ = [
    "Ask",
    "PlanRequest",
    "ReleaseRequest",
    "read_ask",
    "read_json",
    "read_plan",
    "read_release",
    "write_json",
]
