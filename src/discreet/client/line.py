"""The line to a service: requests that are safe to repeat, repeated while the other end is busy or restarting."""

from __future__ import annotations

import math
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ..errors import EngineFailure, InvalidArgument, NotAllowed, Unreachable
from ..optional import load
from ..wire.reply import refusal_from_json
from ..wire.text import write_json

if TYPE_CHECKING:
    import httpx

__all__ = ["Line"]

Json = dict[str, Any]
BUSY = (429, 503)
GATEWAY = (502, 504)
SECONDS = re.compile(r"[0-9]{1,9}")
_AGAIN = "something may have been spent: ask the same again, it is charged once"


@dataclass(frozen=True, slots=True)
class Line:
    """An open connection, how many seconds to keep trying, and how many to wait for the answer to one question."""

    http: httpx.Client
    patience: float
    deadline: float = 3600.0

    def get(self, path: str) -> Json:
        """Ask for something that is there."""
        return self._check(self._send("GET", path))

    def text(self, path: str) -> str:
        """Ask for a text as it stands."""
        response = self._send("GET", path)
        if response.status_code >= 400:
            raise refusal_from_json(_json(response))
        return response.text

    def post(self, path: str, body: Mapping[str, object]) -> Json:
        """Ask something that is free."""
        return self._check(self._send("POST", path, body))

    def delete(self, path: str) -> Json:
        """Take something away."""
        return self._check(self._send("DELETE", path))

    def charge(self, path: str, body: Mapping[str, object], key: str = "") -> Json:
        """Ask something that costs: under one idempotency key, so that however often it is sent it is charged once.

        A job is followed until it ends, or until the deadline, asking at the ticks that the service names.
        """
        end = time.monotonic() + self.deadline
        response = self._send("POST", path, body, {"Idempotency-Key": key or secrets.token_urlsafe(24)})
        if response.status_code != 202:
            return self._check(response)
        job = _json(response)
        while "reply" not in job:
            left = end - time.monotonic()
            if left <= 0:
                raise Unreachable(f"no answer came within {self.deadline:g} s; {_AGAIN}")
            time.sleep(min(60.0, left, max(0.01, _number(job.get("again_in"), 1.0))))
            job = self.get(f"/api/v1/jobs/{job.get('id')}")
        if job["status"] >= 400:
            raise refusal_from_json(job["reply"])
        reply: Json = job["reply"]
        return reply

    def _check(self, response: httpx.Response) -> Json:
        data = _json(response)
        if response.status_code >= 400:
            raise refusal_from_json(data)
        return data

    def _send(
        self, method: str, path: str, body: Mapping[str, object] | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Send a request, again while nobody listens or the other end says that it is busy."""
        httpx = load("httpx", "client")
        content = None if body is None else write_json(body).encode()
        end = time.monotonic() + self.patience
        while True:
            try:
                response = self.http.request(method, path, content=content, headers=dict(headers or {}))
                wait, broken = _wait(response), f"the service is away (HTTP {response.status_code})"
                if wait is None:
                    return response
                if time.monotonic() > end and _is_ours(response):
                    return response
            except httpx.TransportError:
                wait, broken = 0.25, "the service cannot be reached"
            except httpx.InvalidURL:
                raise InvalidArgument(f"{path!r} is no path of a service") from None
            if time.monotonic() > end:
                raise Unreachable(f"{broken}; {_AGAIN}")
            time.sleep(min(wait, max(0.0, end - time.monotonic()) + 0.01))


def _wait(response: httpx.Response) -> float | None:
    """Return how long to wait before a request is sent again; None if it was answered.

    Busy is 429 or 503; a gateway in between says 502 or 504 of its own, while our 502 is an answer: the store failed.
    """
    busy = response.status_code in BUSY or (response.status_code in GATEWAY and not _is_ours(response))
    return _retry_after(response) if busy else None


def _is_ours(response: httpx.Response) -> bool:
    """Return whether a response is a refusal of the service, not a page of something in between."""
    try:
        data = response.json()
    except ValueError:
        return False
    return isinstance(data, dict) and isinstance(data.get("error"), dict)


def _retry_after(response: httpx.Response) -> float:
    """Read Retry-After: seconds, or a date as HTTP writes it, taken from the date of the response itself."""
    said = response.headers.get("Retry-After", "")
    if not said or SECONDS.fullmatch(said):
        return float(said or "1")
    try:
        then = parsedate_to_datetime(said)
        date = response.headers.get("Date")
        now = datetime.now(UTC) if date is None else parsedate_to_datetime(date)
        return max(0.0, (then - now).total_seconds())
    except (TypeError, ValueError):  # no date at all, or one without a zone
        return 1.0


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else default


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
