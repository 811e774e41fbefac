"""Snapshot of the data: all tallies of one question see the same rows, if the engine can do that."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, runtime_checkable


@runtime_checkable
class Snapshots(Protocol):
    """An engine that can hold one state of the data for several tallies."""

    def snapshot(self) -> AbstractContextManager[object]:
        """Return a context in which all tallies of this thread see one state of the data."""
        ...


def one_snapshot(engine: object) -> AbstractContextManager[object]:
    """Return a context in which all tallies see one state of the data, if the engine has one.

    >>> from discreet.engines.snapshot import one_snapshot
    >>> with one_snapshot("an engine that cannot"):
    ...     pass
    """
    if isinstance(engine, Snapshots):
        return engine.snapshot()
    return nullcontext()
