"""A real Chromium before a real service; no tool downloads a browser of its own."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from discreet.service.http.session import cookie_name
from support.profile import DEEP

from . import demo as demos
from . import town as towns

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--in-process-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
SCREENS = Path(__file__).parents[3] / "out" / "screens"
SIZES = {"desktop": {"width": 1280, "height": 860}, "phone": {"width": 375, "height": 812}}


@pytest.fixture(scope="session")
def chromium():
    """One browser for all tests: outside deep Chromium without a desktop around it, where that is here.

    Debian builds both from one source; the whole browser takes three times as long for the same pages.
    """
    path = (None if DEEP else shutil.which("chromium-headless-shell")) or shutil.which("chromium")
    if path is None:
        pytest.skip("there is no Chromium here")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=15_000)  # two cores may be shared with much else
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def town(tmp_path_factory):
    """A service of its own for each file of tests, so that budgets do not depend on the order of files."""
    with towns.running(tmp_path_factory.mktemp("town")) as made:
        yield made


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo, a new one for each file of tests."""
    with demos.running(tmp_path_factory.mktemp("demo")) as made:
        yield made


@pytest.fixture
def window(chromium):
    """Open pages of a size and a colour scheme; whatever the console complains of fails the test.

    `excused` lists the statuses that a test provokes: the browser reports them as errors of its own.
    """
    complaints: list[str] = []
    contexts = []

    def opened(
        size: str = "desktop", scheme: str = "light", *, excused: tuple[int, ...] = (), **more
    ):
        context = chromium.new_context(viewport=SIZES[size], color_scheme=scheme, **more)
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()

        def heard(message):
            known = any(f"status of {status}" in message.text for status in excused)
            if message.type in ("error", "warning") and not known:
                complaints.append(f"{message.type}: {message.text}")

        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(f"script: {error}"))
        page.on("dialog", lambda dialog: dialog.accept())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def axe():
    """The rules of axe-core, as a script."""
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def sign_in(page, town, token, path="/"):
    """Come in by the page's own door."""
    page.goto(f"{town.url}{path}")
    page.get_by_label("Your token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda url: "/sign-in" not in url)


def enter(page, town, token, path="/"):
    """Come in with a session that was opened on the server: for all that is not about the door."""
    session = town.state.sessions.open(token)
    page.context.add_cookies(
        [{"name": cookie_name(town.state.config), "value": session.id, "url": town.url}]
    )
    page.goto(f"{town.url}{path}")


def editor(page):
    """Open the SQL of the question, and return its field."""
    field = page.get_by_label("Your question, in SQL")
    if not field.is_visible():
        page.get_by_text("See it as SQL").click()
    return field


def screen(page, name):
    """Keep a picture of the whole page for whoever looks at them after `make deep`."""
    if not DEEP:
        return
    SCREENS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENS / f"{name}.png", full_page=True)
