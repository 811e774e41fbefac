"""Read timeout for request heads: closes connections of slow clients (slowloris).

Uvicorn closes connections that are silent between two requests. But it waits without end for the first
byte of the first request, and for the end of headers that have begun. A few thousand of those would use
up all connections.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 15.0
"""Seconds within which the head of a request must be complete."""


class RequestTimeoutProtocol(H11Protocol):
    """Uvicorn's HTTP/1.1 protocol with a read timeout for the head of a request."""

    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 as uvicorn has it
        """Start the timer of the first request."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Stop the timer once a head is complete; start it when another head has begun."""
        super().data_received(data)
        # h11 leaves IDLE as soon as it has parsed a whole head.
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._end is None:
            self._await_head()

    def on_response_complete(self) -> None:
        """Start the timer if bytes of the next request are already here; else uvicorn's own wait begins."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._stop_waiting()
        self._end = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None

    def _give_up(self) -> None:
        self._end = None
        if not self.transport.is_closing():
            self.transport.close()
