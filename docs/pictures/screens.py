"""Take the pictures of docs/pictures/screens: pages of the demo in Chromium, as they are at the first start."""

from __future__ import annotations

import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from PIL import Image
from playwright.sync_api import Page, sync_playwright

from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.demo import Sample, make_demo
from discreet.service.state import open_state

SCREENS = Path(__file__).parent / "screens"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--in-process-gpu", "--no-first-run"]
AGES = """SELECT FLOOR(age / 10) * 10 AS age, COUNT(*) AS people, AVG(income) AS income
FROM people WHERE age >= 20 GROUP BY FLOOR(age / 10) * 10"""


@contextmanager
def demo() -> Iterator[tuple[str, Sample]]:
    """Run the demo in a folder of its own; gives its address and its tokens."""
    with tempfile.TemporaryDirectory() as folder, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        url = f"http://127.0.0.1:{port}"
        made = make_demo(Path(folder), url)
        config = read_config(made.config)
        app = build_app(config, open_state(config))
        server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.02)
        try:
            yield url, made
        finally:
            server.should_exit = True
            thread.join()


def sign_in(page: Page, url: str, token: str) -> None:
    """Sign in with a token."""
    page.goto(url)
    page.get_by_label("Your token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda address: "/sign-in" not in address)


def keep(page: Page, name: str) -> None:
    """Keep a picture of the whole page."""
    page.screenshot(path=SCREENS / f"{name}.png", full_page=True)


def ask_by_form(page: Page, url: str) -> None:
    """Choose a question without SQL; keep the form with its price, then the first answer."""
    page.goto(f"{url}/workbench/census")
    page.locator("#want").select_option(value="mean")
    page.locator("#of").select_option(label="Income in dollars")
    page.locator("#by").select_option(label="Sex")
    page.wait_for_timeout(2500)
    keep(page, "workbench")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator("#answer table").first.wait_for()
    page.wait_for_timeout(500)
    page.locator("#answer").screenshot(path=SCREENS / "first-answer.png")


def ask_by_sql(page: Page, url: str) -> None:
    """Ask for a line by age, and keep the page of its answer."""
    page.goto(f"{url}/workbench/census")
    page.get_by_text("See it as SQL").click()
    page.get_by_label("Your question, in SQL").fill(AGES)
    page.locator("#spend").fill("1")
    page.wait_for_timeout(2500)
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("link", name="Open its page").click()
    page.get_by_text("Give it a name").wait_for()
    keep(page, "answer")


def dashboard(page: Page, url: str) -> None:
    """Keep the dashboard that the demo's steward shares, once its answers are there."""
    page.goto(f"{url}/dashboards")
    page.get_by_role("link", name="Who lives here").click()
    end = time.monotonic() + 60
    while page.locator("main svg").count() < 2 and time.monotonic() < end:
        page.wait_for_timeout(1000)
        page.reload()
    keep(page, "dashboard")


def main() -> None:
    """Take all of them."""
    path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if path is None:
        sys.exit("there is no Chromium here: the pictures of pages stay as they are")
    with demo() as (url, made), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=FLAGS)
        size = {"width": 1100, "height": 800}
        analyst = browser.new_context(viewport=size).new_page()
        sign_in(analyst, url, made.analyst)
        ask_by_form(analyst, url)
        ask_by_sql(analyst, url)
        dashboard(analyst, url)
        analyst.goto(f"{url}/learn")
        analyst.screenshot(path=SCREENS / "learn.png")
        steward = browser.new_context(viewport=size).new_page()
        sign_in(steward, url, made.steward)
        steward.goto(f"{url}/steward/census")
        steward.wait_for_timeout(500)
        keep(steward, "steward")
        browser.close()
    for picture in SCREENS.glob("*.png"):
        # Pages have few colours; this makes the files a third as large.
        Image.open(picture).convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(
            picture, optimize=True
        )


if __name__ == "__main__":
    main()
