"""Interface of the service's store, and the one refusal for a store that is away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

from ...errors import ServiceUnavailable

StoredValue: TypeAlias = str | int | float | None
StoredRow: TypeAlias = tuple[object, ...]

RETRY_SECONDS = 15.0
"""Seconds to wait for a database that is restarting, before a request is refused."""


class ServiceStore(Protocol):
    """Database that runs one statement at a time."""

    def ask(self, sql: str, *values: StoredValue) -> Sequence[StoredRow]:
        """Run one statement, with a `?` for each value, and return its rows."""
        ...

    def close(self) -> None:
        """Close all connections."""
        ...


def unreachable() -> ServiceUnavailable:
    """Return the one refusal for a store that is busy or away."""
    return ServiceUnavailable(
        "the service's own store is busy or cannot be reached; nothing was spent, ask again"
    )
