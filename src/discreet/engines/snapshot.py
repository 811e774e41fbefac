"""One question, one state of the data: an engine that can, sees the same rows in all tallies of one question."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, runtime_checkable


@runtime_checkable
class Snapshots(Protocol):
    """An engine that can hold the data still; what it can beyond that is another protocol's."""

    def snapshot(self) -> AbstractContextManager[object]:
        """Return a context in which all tallies of this thread see one state of the data."""
        ...


def one_snapshot(engine: object) -> AbstractContextManager[object]:
    """Return a context in which all tallies see one state of the data, if the engine can hold it still.

    >>> from discreet.engines.snapshot import one_snapshot
    >>> with one_snapshot("an engine that cannot"):
    ...     pass
    """
    return engine.snapshot() if isinstance(engine, Snapshots) else nullcontext()
