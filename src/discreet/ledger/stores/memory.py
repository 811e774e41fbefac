"""A ledger in memory: for trying things out. It ends with its process, so what it promises does too."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence

from ...errors import LedgerConflict
from .. import clock, steps
from ..entry import write_line
from .store import Decide, Page, Snapshot, step_of

__all__ = ["MemoryStore"]


class MemoryStore:
    """Keep lines in lists, behind a lock.

    After a fork there would be two of it, each with the whole budget; so it works only where it was made.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._home = os.getpid()
        self._lines: list[tuple[str, str | None]] = []
        self._texts: dict[str, str] = {}
        self._places: dict[str, list[int]] = {}

    def read(self, names: Sequence[str] | None, key: str | None = None) -> Snapshot:
        """Give what stands here."""
        self._at_home()
        with self._lock:
            texts = {name: text for name, text in self._texts.items() if names is None or name in names}
            found = [self._lines[place] for place in self._places.get(key or "", ())]
            last = self._lines[-1][0] if self._lines else ""
            return Snapshot(len(self._lines), clock.now(), last, texts, found)

    def append(self, names: Sequence[str], key: str | None, decide: Decide) -> Page | None:
        """Decide and write while nobody else can."""
        self._at_home()
        with self._lock:
            page = decide(self.read(names, key))
            if page is not None:
                steps.passed(f"{step_of(page.entry)}:written")
                entry = page.entry
                if entry.key:
                    self._places.setdefault(entry.key, []).append(len(self._lines))
                self._lines.append((write_line(entry), page.body))
                self._texts.update(page.texts)
            return page

    def lines(self, first: int, last: int) -> Iterator[tuple[int, str, str | None]]:
        """Give the lines of a range."""
        self._at_home()
        for number, (line, body) in enumerate(self._lines[max(first, 1) - 1 : last], start=max(first, 1)):
            yield number, line, body

    def close(self) -> None:
        """Do nothing: what is in memory goes with the ledger."""

    def _at_home(self) -> None:
        if os.getpid() != self._home:
            why = "a copy in another process would have the whole budget again"
            raise LedgerConflict(f"a ledger in memory works only in the process that opened it: {why}; use a file")
