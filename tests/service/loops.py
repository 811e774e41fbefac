"""A loop of its own, in a thread of its own: the browser's tests keep one going in the main thread."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import anyio


def run(work, *arguments):
    """Run a coroutine function to its end."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, work, *arguments).result()
