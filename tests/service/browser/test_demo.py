"""The demo as somebody sees it who has just started it: every page works at the first click."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from .conftest import enter, sign_in
from .test_looks import look


def test_an_answer_within_four_clicks(demo, window):
    page = window()
    sign_in(page, demo, demo.analyst)  # one click
    assert page.locator(".refusal").count() == 0
    page.get_by_role("button", name="Run", exact=True).click()  # two
    expect(page.locator("#answer table").first).to_be_visible()


@pytest.mark.parametrize(
    ("address", "button"),
    [
        ("model", "Train it"),
        pytest.param("synthesize", "Release the tables", marks=pytest.mark.slow),
    ],
)
def test_models_and_tables_at_the_first_click(demo, window, address, button):
    page = window()
    enter(page, demo, demo.analyst, f"/{address}/census")
    expect(page.locator(".refusal")).to_have_count(0)
    expect(page.get_by_label("δ to spend")).to_have_value("1e-07")
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("region", name="Result as a table").first).to_be_visible()


@pytest.mark.slow
def test_the_shared_dashboard_and_the_documents(demo, window, axe):
    page = window(bypass_csp=True)
    enter(page, demo, demo.analyst, "/dashboards")
    page.get_by_role("link", name="Who lives here").click()
    end = time.monotonic() + 60
    while page.locator("main svg").count() < 2 and time.monotonic() < end:
        time.sleep(1)
        page.reload()
    expect(page.locator("main svg")).to_have_count(2)
    expect(page.get_by_role("link", name="Telemetry")).to_be_visible()
    look(page, axe, "demo-dashboard")
    page.get_by_role("link", name="Learn").click()
    links = page.locator('a[href^="/documents/"]').evaluate_all("all => all.map(a => a.href)")
    assert len(links) >= 16
    for link in set(links):
        assert page.request.get(link).status == 200, link
    page.goto(links[0])
    expect(page.locator("article h1")).to_be_visible()
    look(page, axe, "document")
