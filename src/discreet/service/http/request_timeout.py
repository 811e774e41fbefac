"""The server's ear: a line on which no whole request comes within some seconds is closed.

Uvicorn closes lines that are silent between two requests, but waits without end for the first byte of the first one and
for the end of headers that have begun: a few thousand of those would be all the lines there are.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 15.0


class RequestTimeoutProtocol(H11Protocol):
    """Uvicorn's own protocol, with an end to waiting for the head of a request."""

    _end: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:  # noqa: ANN401 as uvicorn has it
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Stop waiting once the head of a request is whole, and begin to when another one has begun."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._end is None:
            self._await_head()

    def on_response_complete(self) -> None:
        """After an answer uvicorn's own wait begins; what has come of the next request already counts from here."""
        super().on_response_complete()
        if self.conn.their_state is h11.IDLE and self.conn.trailing_data[0]:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
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
