"""The line to a service: requests that are safe to repeat, repeated while the other end is busy or restarting."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import EngineFailure, InvalidArgument, LedgerConflict, NotAllowed
from ..wire.reply import refusal_from_json
from ..wire.text import write_json

if TYPE_CHECKING:
    import httpx

__all__ = ["Line"]

Json = dict[str, Any]
BUSY = (429, 503)


@dataclass(frozen=True, slots=True)
class Line:
    """An open connection and how many seconds to keep trying."""

    http: httpx.Client
    patience: float

    def get(self, path: str) -> Json:
        """Ask for something that is there."""
        return self._checked(self._send("GET", path))

    def text(self, path: str) -> str:
        """Ask for a text as it stands."""
        response = self._send("GET", path)
        if response.status_code >= 400:
            raise refusal_from_json(_json(response))
        return response.text

    def post(self, path: str, body: Mapping[str, object]) -> Json:
        """Ask something that is free."""
        return self._checked(self._send("POST", path, body))

    def delete(self, path: str) -> Json:
        """Take something away."""
        return self._checked(self._send("DELETE", path))

    def charged(self, path: str, body: Mapping[str, object], key: str = "") -> Json:
        """Ask something that costs: under one idempotency key, so that however often it is sent it is charged once.

        A job is followed until it ends, asking at the ticks that the service names.
        """
        response = self._send("POST", path, body, {"Idempotency-Key": key or secrets.token_urlsafe(24)})
        if response.status_code != 202:
            return self._checked(response)
        job = _json(response)
        while "reply" not in job:
            time.sleep(min(60.0, max(0.01, float(job.get("again_in", 1.0)))))
            job = self.get(f"/api/v1/jobs/{job['id']}")
        if job["status"] >= 400:
            raise refusal_from_json(job["reply"])
        reply: Json = job["reply"]
        return reply

    def _checked(self, response: httpx.Response) -> Json:
        data = _json(response)
        if response.status_code >= 400:
            raise refusal_from_json(data)
        return data

    def _send(
        self, method: str, path: str, body: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Send a request, again while nobody listens or the other end says that it is busy."""
        import httpx

        content = None if body is None else write_json(body).encode()
        end = time.monotonic() + self.patience
        while True:
            wait = 0.25
            try:
                response = self.http.request(method, path, content=content, headers=dict(headers or {}))
                if response.status_code not in BUSY or time.monotonic() > end:
                    return response
                wait = float(response.headers.get("Retry-After", "1"))
            except httpx.TransportError:
                if time.monotonic() > end:
                    raise LedgerConflict("the service cannot be reached; if something was charged, ask again") from None
            except httpx.InvalidURL:
                raise InvalidArgument(f"{path!r} is no path of a service") from None
            time.sleep(min(wait, max(0.0, end - time.monotonic()) + 0.01))


def _json(response: httpx.Response) -> Json:
    try:
        data = response.json()
    except ValueError:
        data = None
    if not isinstance(data, dict):
        if response.status_code in (401, 403):
            raise NotAllowed("the service does not let us in")
        raise EngineFailure("what answered is no service of discreet")
    return data
