"""The line to a service: requests that are safe to repeat, repeated while the other end is busy or restarting."""

from __future__ import annotations

import math
import re
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ..errors import EngineFailure, InvalidArgument, NotAllowed, ServiceUnavailable, Unreachable
from ..frozen import frozen
from ..optional import load
from ..wire.json_text import write_json
from ..wire.reply import refusal_from_json

if TYPE_CHECKING:
    import httpx

Json = dict[str, Any]
BUSY = (429, 503)
GATEWAY = (502, 504)
SECONDS = re.compile(r"[0-9]{1,9}")
_NOBODY = "the service cannot be reached"
LONGEST_WAIT = 90.0
"""Seconds for which one attempt waits for a reply."""


@frozen
class Stake:
    """What a request may have cost when nothing is heard of it: a price, or nothing for what is free.

    `sent` says that an earlier request under the same key may have reached the service.
    """

    charged: bool = False
    price: object = None
    key: str = ""
    sent: bool = False

    def lost(self, broken: str, *, sent: bool = True) -> Unreachable:
        """Return what to raise: what broke, what may have been spent, and what to do.

        `sent` is False if no attempt reached the service at all: then nothing can have been spent.
        """
        if not self.charged:
            return ServiceUnavailable(
                f"{broken}; nothing was asked that costs, so nothing was spent"
            )
        if not sent:
            return ServiceUnavailable(f"{broken}; nothing was sent, so nothing was spent")
        price = "its price" if self.price is None else str(self.price)
        again = f"ask the same again, it is charged once (the key of this request is {self.key})"
        return Unreachable(
            f"{broken}; {price} may have been spent: {again}", spent=self.price, key=self.key
        )


FREE = Stake()


@frozen
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

    def charge(
        self, path: str, body: Mapping[str, object], key: str = "", price: object = None
    ) -> Json:
        """Ask something that costs: under one idempotency key, so that however often it is sent it is charged once.

        A job is followed until it ends, or until the deadline, asking at the ticks that the service names. `price` is
        what it costs, to be said if nothing is heard of it.
        """
        end = time.monotonic() + self.deadline
        stake = Stake(
            charged=True, price=price, key=key or secrets.token_urlsafe(24), sent=bool(key)
        )
        response = self._send("POST", path, body, stake, end)
        if response.status_code != 202:
            return self._check(response)
        job = _json(response)
        while "reply" not in job:
            left = end - time.monotonic()
            if left <= 0:
                raise stake.lost(f"no answer came within {self.deadline:g} s")
            time.sleep(min(60.0, left, max(0.01, _number(job.get("again_in"), 1.0))))
            job = self._check(self._send("GET", f"/api/v1/jobs/{job.get('id')}", None, stake, end))
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
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        stake: Stake = FREE,
        end: float | None = None,
    ) -> httpx.Response:
        """Send a request, again while nobody listens or the other end says that it is busy; never beyond the end."""
        last = time.monotonic() + self.deadline if end is None else end
        content = None if body is None else write_json(body).encode()
        headers = {"Idempotency-Key": stake.key} if stake.charged and body is not None else {}
        until = min(last, time.monotonic() + self.patience)
        sent = stake.sent or (
            stake.charged and body is None
        )  # who follows a job has sent its question before
        while True:
            found, wait, broken = self._try(method, path, content, headers, last)
            sent = sent or broken != _NOBODY
            if wait is None and found is not None:
                return found
            if time.monotonic() > until and found is not None and _is_ours(found):
                return found
            if time.monotonic() > until:
                raise stake.lost(broken, sent=sent)
            time.sleep(min(wait or 0.25, max(0.0, until - time.monotonic()) + 0.01))

    def _try(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str], last: float
    ) -> tuple[httpx.Response | None, float | None, str]:
        """Send a request once: what came, how long to wait before the next time if that is no answer, and why."""
        httpx = load("httpx", "client")
        most = min(LONGEST_WAIT, max(0.1, last - time.monotonic()))
        try:
            found = self.http.request(
                method, path, content=content, headers=dict(headers), timeout=most
            )
        except (
            httpx.ConnectError,
            httpx.ConnectTimeout,
            httpx.PoolTimeout,
        ):  # no byte of the request has left
            return None, 0.25, _NOBODY
        except httpx.TimeoutException:
            return None, 0.25, "the service does not answer"
        except httpx.TransportError:
            return None, 0.25, "the line to the service broke"
        except httpx.InvalidURL:
            raise InvalidArgument(f"{path!r} is no path of a service") from None
        return found, _wait(found), f"the service is away (HTTP {found.status_code})"


def _wait(response: httpx.Response) -> float | None:
    """Return how long to wait before a request is sent again; None if it was answered.

    Busy is 429 or 503; a gateway in between says 502 or 504 of its own, while our 502 is an answer: the store failed.
    """
    busy = response.status_code in BUSY or (
        response.status_code in GATEWAY and not _is_ours(response)
    )
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
