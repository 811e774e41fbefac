"""How a frozen event fills its own fields, once, in its constructor."""

from __future__ import annotations

__all__ = ["fill"]


def fill(event: object, /, **fields: object) -> None:
    """Set the fields of a frozen value under construction."""
    for name, value in fields.items():
        object.__setattr__(event, name, value)
