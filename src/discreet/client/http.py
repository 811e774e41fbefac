"""HTTP connection with retries: repeats requests while the service is busy or restarting.

Every charged request has an idempotency key, so that repeating it never costs twice.
"""

from __future__ import annotations

import json
import math
import re
import secrets
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from ..errors import (
    EngineFailure,
    InvalidArgument,
    NotAllowed,
    SchemaMismatch,
    ServiceUnavailable,
    Unreachable,
)
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
JOB_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
MAX_REPLY_BYTES = 256_000_000
_NOT_CONNECTED = "the service cannot be reached"
# Seconds before a retry where the service names no time.
_RETRY_SECONDS = 0.25
# Longest pause between two questions about a job, whatever the service names.
_MAX_PAUSE = 60.0
LONGEST_WAIT = 90.0
"""Longest timeout of one attempt in seconds; it is shorter near the deadline."""


@frozen
class Stake:
    """Possible cost of a request without a reply: a price, or nothing for a free request.

    `key` is the idempotency key. `sent` says that an earlier request under the same key may have
    reached the service.
    """

    charged: bool = False
    price: object = None
    key: str = ""
    sent: bool = False

    def lost(self, broken: str, *, sent: bool = True) -> Unreachable:
        """Return the error to raise: the failure, the amount at stake and the next step.

        `sent` is False if no attempt reached the service at all: then nothing can have been spent.

        Law: tests/client/test_client.py::TestTheLine
        """
        if not self.charged:
            return ServiceUnavailable(
                f"{broken}; nothing was asked that costs, so nothing was spent"
            )
        if not sent:
            return ServiceUnavailable(f"{broken}; nothing was sent, so nothing was spent")
        price = "its price" if self.price is None else str(self.price)
        again = f"ask the same again, it is charged once (the key of this request is {self.key})"
        message = f"{broken}; {price} may have been spent: {again}"
        return Unreachable(message, spent=self.price, key=self.key)


FREE = Stake()


@frozen
class Connection:
    """Open connection; `patience` (for retries) and `deadline` (for an answer) are seconds."""

    http: httpx.Client
    patience: float
    deadline: float = 3600.0

    def get(self, path: str) -> Json:
        """Send a GET request and return its JSON."""
        return self._check(self._send("GET", path))

    def text(self, path: str) -> str:
        """Send a GET request and return its text, byte by byte as it was sent."""
        response = self._send("GET", path)
        if response.status_code >= 400:
            raise refusal_from_json(_json(response))
        return response.text

    def post(self, path: str, body: Mapping[str, object]) -> Json:
        """Send a free POST request and return its JSON."""
        return self._check(self._send("POST", path, body))

    def delete(self, path: str) -> Json:
        """Send a DELETE request and return its JSON."""
        return self._check(self._send("DELETE", path))

    def charge(
        self, path: str, body: Mapping[str, object], key: str = "", price: object = None
    ) -> Json:
        """Send a charged request under one idempotency key and return its reply.

        If the service replies with a job, the job is asked for again after the seconds that the
        service names, until it ends or the deadline is over. `key` is a random one if it is empty;
        `price` is only for the error if no reply comes.

        Guarantee: a request is charged once, however often it is sent: the service knows its key.
        Refuses: what the service refuses, by its own error; `Unreachable` after the deadline.

        Law: tests/client/test_away.py::test_a_restart_under_a_question_is_not_noticed
        """
        end = time.monotonic() + self.deadline
        idempotency_key = key or secrets.token_urlsafe(24)
        # A key of the caller may have been sent before, a random one cannot.
        stake = Stake(charged=True, price=price, key=idempotency_key, sent=bool(key))
        response = self._send("POST", path, body, stake, end)
        if response.status_code != 202:
            return self._check(response)
        job = _json(response)
        while "reply" not in job:
            left = end - time.monotonic()
            if left <= 0:
                raise stake.lost(f"no answer came within {self.deadline:g} s")
            pause = max(0.01, _finite_or(job.get("again_in"), 1.0))
            time.sleep(min(_MAX_PAUSE, left, pause))
            # The id becomes a part of the path.
            if not JOB_ID.fullmatch(str(job.get("id"))):
                raise stake.lost("what answered names no job")
            job_path = f"/api/v1/jobs/{job['id']}"
            job = self._check(self._send("GET", job_path, None, stake, end))
        reply: Json = job["reply"]
        if job["status"] >= 400:
            raise refusal_from_json(reply)
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
        """Send a request, again while the service is away or busy, for `patience` seconds.

        The last attempt starts at most just after `end`. A refusal of the last attempt is returned
        as it is; without one, also after a page of a gateway, `stake.lost` says what to raise.
        """
        if end is None:
            end = time.monotonic() + self.deadline
        content = None
        # Nothing compressed is taken: a kilobyte could become a gigabyte here.
        headers = {"Accept-Encoding": "identity"}
        if body is not None:
            content = write_json(body).encode()
            if stake.charged:
                headers["Idempotency-Key"] = stake.key
        give_up = min(end, time.monotonic() + self.patience)
        # A charged request without a body follows a job, whose question was sent before.
        sent = stake.sent or (stake.charged and body is None)
        while True:
            response, wait, broken = self._try(method, path, content, headers, end)
            # Only a failed connection proves that nothing was sent.
            sent = sent or broken != _NOT_CONNECTED
            if response is not None and wait is None:
                return response
            if time.monotonic() > give_up:
                if response is not None and _is_ours(response):
                    return response
                raise stake.lost(broken, sent=sent)
            # A little beyond the end, so that the last attempt comes after it.
            left = max(0.0, give_up - time.monotonic()) + 0.01
            time.sleep(min(wait or _RETRY_SECONDS, left))

    def _try(
        self, method: str, path: str, content: bytes | None, headers: Mapping[str, str], last: float
    ) -> tuple[httpx.Response | None, float | None, str]:
        """Send a request once; return the response, the wait before a retry, and the failure.

        A wait of None means that the response is the answer.
        """
        httpx = load("httpx", "client")
        timeout = min(LONGEST_WAIT, max(0.1, last - time.monotonic()))
        # In these three cases no byte of the request has left.
        not_connected = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
        try:
            with self.http.stream(
                method, path, content=content, headers=dict(headers), timeout=timeout
            ) as arriving:
                response = httpx.Response(
                    arriving.status_code, headers=arriving.headers, content=_read(arriving, last)
                )
        except not_connected:
            return None, _RETRY_SECONDS, _NOT_CONNECTED
        except httpx.TimeoutException:
            return None, _RETRY_SECONDS, "the service does not answer"
        except httpx.TransportError:
            return None, _RETRY_SECONDS, "the line to the service broke"
        except httpx.InvalidURL:
            raise InvalidArgument(f"{path!r} is no path of a service") from None
        wait = _seconds_to_retry(response)
        return response, wait, f"the service is away (HTTP {response.status_code})"


def _read(arriving: httpx.Response, last: float) -> bytes:
    """Read the body of a reply; refuse one that is compressed, endless or slower than the deadline."""
    content = bytearray()
    compressed = arriving.headers.get("Content-Encoding", "identity") != "identity"
    if not compressed:
        for piece in arriving.iter_bytes():
            content += piece
            if len(content) > MAX_REPLY_BYTES:
                break
            if time.monotonic() > last + LONGEST_WAIT:
                raise load("httpx", "client").ReadTimeout("the deadline is over")
    if compressed or len(content) > MAX_REPLY_BYTES:
        raise EngineFailure(
            "what answered is no service of discreet: its reply is compressed or too long"
        )
    return bytes(content)


def _seconds_to_retry(response: httpx.Response) -> float | None:
    """Return the seconds before a request is sent again; None if it was answered.

    429 and 503 mean busy. 502 and 504 may come from a gateway in between and are repeated. A 502
    of the service itself is an answer: its store failed.
    """
    status = response.status_code
    if status in BUSY:
        return _retry_after(response)
    if status in GATEWAY and not _is_ours(response):
        return _retry_after(response)
    return None


def _is_ours(response: httpx.Response) -> bool:
    """Return whether a response is a refusal of the service, not a page of a gateway in between."""
    data = _object(response)
    return data is not None and isinstance(data.get("error"), dict)


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds to wait that Retry-After asks for; 1 if it is missing or cannot be read.

    An HTTP date is counted from the date of the response itself.
    """
    header = response.headers.get("Retry-After", "")
    if not header:
        return 1.0
    if SECONDS.fullmatch(header):
        return float(header)
    try:
        then = parsedate_to_datetime(header)
        # By the service's own clock, as ours may be wrong.
        date = response.headers.get("Date")
        now = datetime.now(UTC) if date is None else parsedate_to_datetime(date)
        return max(0.0, (then - now).total_seconds())
    except (TypeError, ValueError):
        # No date at all, or a date without a time zone.
        return 1.0


def _finite_or(value: object, default: float) -> float:
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return default


def _json(response: httpx.Response) -> Json:
    """Return the JSON object of a response; refuse a response that has none."""
    data = _object(response)
    if data is None:
        if response.status_code in (401, 403):
            raise NotAllowed("the service does not let us in")
        raise EngineFailure("what answered is no service of discreet")
    return data


class _Fields(Json):
    """JSON object of a reply; refuses to be asked for a field that it does not have."""

    def __missing__(self, name: str) -> object:
        raise SchemaMismatch(
            f"the service leaves out {name!r}, which this client reads; use the same version"
        )


def _object(response: httpx.Response) -> Json | None:
    """Return the JSON object of a response; None if it has none."""
    try:
        # Deeply nested lists raise RecursionError.
        data = json.loads(response.content, object_hook=_Fields)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None
