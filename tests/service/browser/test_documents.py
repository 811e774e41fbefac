"""The site as `make docs` built it, in a real browser: nothing is asked of another host, and every page has its heading."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SITE = Path(__file__).parents[3] / "site"


class _Quiet(SimpleHTTPRequestHandler):
    """Files of a folder, without a word."""

    def log_message(self, *_):
        """Say nothing."""


@contextmanager
def served(folder):
    """Serve a folder on a free port of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_no_page_asks_another_host(window, size, scheme):
    """`make deep` builds the site before it runs the tests."""
    if not (SITE / "index.html").exists():
        pytest.skip("the site is not built; run make docs")
    page, asked = window(size, scheme), []
    page.on("request", lambda request: asked.append(request.url))
    with served(SITE) as url:
        for file in sorted(SITE.glob("**/*.html")):
            page.goto(f"{url}/{file.relative_to(SITE)}")
            assert page.locator("h1").count() >= 1, file
            wide = page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
            assert wide <= 0, f"{file} is {wide} px too wide on a {size}"
        assert {one for one in asked if not one.startswith((url, "data:", "blob:"))} == set()
