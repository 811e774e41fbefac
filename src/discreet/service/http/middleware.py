"""What every request passes before any route: the right host, a body that fits; and what every response carries."""

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
"""Seconds within which a request must have been sent; what comes slower is closed."""

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
    """Put the guard before an application."""
    headers = [
        (name.encode(), text.encode())
        for name, text in (_ALWAYS | (_HSTS if config.secure else {})).items()
    ]
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
        try:
            await app(scope, _count_bytes(receive, most, time.monotonic() + BODY_SECONDS), sending)
        except Exception:  # noqa: BLE001 it was answered and noted; the server must not print it, it may hold data
            if not started:  # pragma: no cover the application answers whatever breaks
                await _refuse(sending, 500, BROKEN)

    return guard


def _dress(found: Iterable[tuple[bytes, bytes]], always: Headers, path: str) -> Headers:
    """Add the headers of all responses; what is not a fixed file of the page is never kept by caches."""
    kept = [(name, text) for name, text in found if name.lower() != b"server"]
    names = {name.lower() for name, _ in kept}
    if b"cache-control" not in names:
        kept.append((b"cache-control", b"no-cache" if path.startswith("/static/") else b"no-store"))
    return [*kept, *((name, text) for name, text in always if name not in names)]


def _find_refusal(scope: Scope, config: Config) -> tuple[int, str] | None:
    """Refuse a request for another host, with an unclear or too large body, or a path with odd characters."""
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
    if any(letter < " " or letter == "\x7f" for letter in scope["path"]) or "\\" in scope["path"]:
        return 400, "the path holds characters that no path here has"
    return None


def _count_bytes(receive: Receive, most: int, end: float) -> Receive:
    """Read no more than so many bytes, and wait for them no longer than until a moment; then the line is closed."""
    seen, whole = 0, False

    async def counting() -> Message:
        nonlocal seen, whole
        if whole:  # what is waited for now is that somebody hangs up
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
