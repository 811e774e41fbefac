"""Remote standing report: a stream of a service, with the views of the library.

Terms and stored running totals are fetched, and every view is computed here: any level, joint or
single, as a table, text or data frame, without asking the service again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..curator.verbs.stream import read_terms
from ..plan.planner import Planner
from ..streams.published import PublishedDays
from ..streams.views import StreamTable
from .http import Connection


class RemoteStream(PublishedDays):
    """A standing report of a service, as `Remote.stream` and `Remote.streams` return it.

    Law: tests/client/test_streams.py
    """

    def __init__(self, line: Connection, path: str, name: str, planner: Planner) -> None:
        terms = line.get(f"{path}/terms")["terms"]
        plan, closing = read_terms(planner, name, terms)
        super().__init__(name, plan, **closing)
        self._line = line
        self._path = path
        # Published totals are final, so each is fetched once.
        self._totals: list[list[int]] = []

    @property
    def number(self) -> int:
        """The number of the charge in the ledger."""
        return int(self._state()["entry"])

    @property
    def stopped(self) -> bool:
        """True if the stream was stopped."""
        return bool(self._state()["stopped"])

    @property
    def closed(self) -> int:
        """The number of days that are closed."""
        return int(self._state()["closed"])

    def close(self) -> StreamTable:
        """Close the days that are due and return them; for stewards. The service does so too."""
        found = self._line.post(f"{self._path}/close", {})
        days = len(found["table"]["rows"]) // len(self.plan.question.cells)
        end = int(found["state"]["closed"])
        return self._table("day", [(day, day + 1) for day in range(end - days, end)])

    def stop(self, *, why: str) -> None:
        """Stop the stream for good; for stewards. What was published stays, nothing is paid back."""
        self._line.post(f"{self._path}/stop", {"why": why})

    def totals(self, days: Sequence[int]) -> Mapping[int, Sequence[int]]:
        """Return the stored running totals after each number of days in `days`.

        `days` is in ascending order, and all of them are closed.
        """
        while days and len(self._totals) < days[-1]:
            first = len(self._totals) + 1
            self._totals += self._fetch(f"totals?first={first}")["totals"]
        return {day: self._totals[day - 1] for day in days}

    def _state(self) -> dict[str, Any]:
        # Totals from the longest possible stream's last day on: hardly any come with the state.
        state: dict[str, Any] = self._fetch("totals?first=36525")["state"]
        return state

    def _fetch(self, what: str) -> dict[str, Any]:
        return self._line.get(f"{self._path}/{what}")
