"""ASGI middleware: checks of host, length and path before any route; security headers on every response."""

from __future__ import annotations

import time
from collections.abc import Iterable

import anyio
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...wire.json_text import write_json
from ...wire.reply import BROKEN
from ..config import Config
from .metrics import Metrics

BODY_SECONDS = 15.0
"""Seconds within which a body must have been sent; slower connections are closed."""

Headers = list[tuple[bytes, bytes]]
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_ALWAYS: dict[str, str] = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_HSTS = {"strict-transport-security": "max-age=31536000"}


def guard_app(app: ASGIApp, config: Config, metrics: Metrics) -> ASGIApp:
    """Return an application behind the checks of this module; every response is counted.

    Scopes other than http and lifespan, such as websockets, are not passed on.
    """
    always = dict(_ALWAYS)
    if config.secure:
        always |= _HSTS
    headers = [(name.encode(), text.encode()) for name, text in always.items()]
    most = config.bounds.body_bytes

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await app(scope, receive, send)
            return

        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                metrics.count(message["status"])
                message["headers"] = _dress(message["headers"], headers, scope["path"])
            await send(message)

        refusal = _find_refusal(scope, config)
        if refusal is not None:
            await _refuse(sending, *refusal)
            return
        end = time.monotonic() + BODY_SECONDS
        try:
            await app(scope, _count_bytes(receive, most, end), sending)
        except Exception:  # noqa: BLE001
            # The exception was answered and logged. The server must not print it: it may hold data.
            if not started:  # pragma: no cover the application answers whatever breaks
                await _refuse(sending, 500, BROKEN)

    return guard


def _dress(found: Iterable[tuple[bytes, bytes]], always: Headers, path: str) -> Headers:
    """Add the security headers; only static files may be kept by caches."""
    kept = [(name, text) for name, text in found if name.lower() != b"server"]
    names = {name.lower() for name, _ in kept}
    if b"cache-control" not in names:
        policy = b"no-store"
        if path.startswith("/static/"):
            policy = b"no-cache"
        kept.append((b"cache-control", policy))
    for name, text in always:
        if name not in names:
            kept.append((name, text))
    return kept


def _find_refusal(scope: Scope, config: Config) -> tuple[int, str] | None:
    """Return why a request is refused: another host, an unclear or too large body, an odd path."""
    headers: Headers = scope["headers"]
    hosts = [text for name, text in headers if name == b"host"]
    if hosts != [config.host.encode()]:
        return (
            400,
            "the Host header does not name this service; see service.url in its configuration",
        )
    lengths = [text for name, text in headers if name == b"content-length"]
    if len(lengths) > 1 or any(not text.isdigit() for text in lengths):
        return 400, "the Content-Length header is no number, or stands twice"
    if lengths and (len(lengths[0]) > 12 or int(lengths[0]) > config.bounds.body_bytes):
        return (
            413,
            f"the body is larger than {config.bounds.body_bytes} bytes, which is the most that is read",
        )
    if lengths and any(name == b"transfer-encoding" for name, _ in headers):
        # Two proxies may read the end of the body differently (request smuggling).
        return 400, "Content-Length stands beside Transfer-Encoding"
    if any(letter < " " or letter == "\x7f" for letter in scope["path"]) or "\\" in scope["path"]:
        return 400, "the path holds characters that no path here has"
    return None


def _count_bytes(receive: Receive, most: int, end: float) -> Receive:
    """Return `receive` with limits: at most `most` bytes (413), before the moment `end` (408)."""
    seen = 0
    whole = False

    async def counting() -> Message:
        nonlocal seen, whole
        if whole:
            # The body is complete: the application now waits for a disconnect.
            return await receive()
        with anyio.move_on_after(max(0.0, end - time.monotonic())) as scope:
            message = await receive()
        if scope.cancelled_caught:
            raise HTTPException(408, headers={"Connection": "close"})
        seen += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if seen > most:
            raise HTTPException(413, headers={"Connection": "close"})
        return message

    return counting


async def _refuse(send: Send, status: int, message: str) -> None:
    body = write_json({"error": {"kind": "InvalidArgument", "message": message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
