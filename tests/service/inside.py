"""The application without a network: requests go straight into it, in an event loop of its own."""

from __future__ import annotations

from contextlib import contextmanager

import anyio
import httpx
from anyio.from_thread import start_blocking_portal


class Inside:
    """A synchronous client over `httpx.ASGITransport`."""

    def __init__(self, portal, app, url):
        self._portal = portal
        self._app = app
        self._url = url

    def request(self, method, path, **options):
        """Send one request; no cookie is kept between two."""
        return self._portal.call(self._request, method, path, options)

    async def _request(self, method, path, options):
        transport = httpx.ASGITransport(
            self._app, raise_app_exceptions=True, client=("10.9.8.7", 1234)
        )
        async with httpx.AsyncClient(transport=transport, base_url=self._url, timeout=60) as client:
            return await client.request(method, path, **options)


@contextmanager
def inside(app, url):
    """Run an application's life and give a client to it."""
    with start_blocking_portal() as portal:
        done, started, stopping = (portal.call(make) for make in (_event, _event, _event))
        portal.start_task_soon(_live, app, started, stopping, done)
        portal.call(started.wait)
        try:
            yield Inside(portal, app, url)
        finally:
            portal.call(stopping.set)
            portal.call(done.wait)


async def _event():
    return anyio.Event()


async def _live(app, started, stopping, done):
    steps = iter([None, stopping])

    async def receive():
        step = next(steps)
        if step is not None:
            await step.wait()
        return {"type": "lifespan.startup" if step is None else "lifespan.shutdown"}

    async def send(message):
        assert "failed" not in message["type"], message
        if message["type"] == "lifespan.startup.complete":
            started.set()

    try:
        await app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)
    finally:
        started.set()
        done.set()
