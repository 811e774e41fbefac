"""JSON formats of requests and replies between the service and its clients.

Field names are the argument names of the library.
"""

from .json_text import read_json, write_json
from .verbs.question import Ask, PlanRequest, ReleaseRequest, read_ask

__all__ = [
    "Ask",
    "PlanRequest",
    "ReleaseRequest",
    "read_ask",
    "read_json",
    "write_json",
]
