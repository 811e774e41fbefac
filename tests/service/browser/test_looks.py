"""Every page in light and dark, on a desk and on a phone: nothing for axe to complain of, nothing too wide."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import SIZES, enter, screen
from .test_analyst import QUESTION, ask

LOOKS = [(size, scheme) for size in ("desktop", "phone") for scheme in ("light", "dark")]
PICTURED = [("desktop", "light"), ("phone", "dark")]


def look(page, axe, name):
    """Keep a picture, measure the width and let axe look: on a desk and on a phone, in light and in dark."""
    page.evaluate(axe)
    for size, scheme in LOOKS:
        page.set_viewport_size(SIZES[size])
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if (size, scheme) in PICTURED:
            screen(page, f"{name}-{size}-{scheme}")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, f"{name} is {wide} px too wide on a {size}"
        found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


@pytest.fixture
def page(window):
    return window(bypass_csp=True)  # axe is put in from outside, which the pages' policy rightly forbids


@pytest.mark.parametrize("path", ["sign-in", "learn", "telemetry", "docs"])
def test_open_rooms(town, page, axe, path):
    page.goto(f"{town.url}/{path}")
    look(page, axe, path)


def test_workbench(town, page, axe):
    enter(page, town, town.analyst)
    ask(page, QUESTION, "0.5")
    expect(page.locator("#explained th[scope=row]")).to_have_count(2)
    page.get_by_text("What more or less would buy").click()
    page.get_by_text("What the store would be asked").click()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("region", name="Answer as a table")).to_be_visible()
    expect(page.locator("#explained")).to_contain_text("free: answered before")
    look(page, axe, "workbench")


def test_refusal(town, page, axe):
    enter(page, town, town.analyst)
    ask(page, "SELECT district, AVG(incme) AS mean FROM people GROUP BY district")
    expect(page.locator("#explained .refusal")).to_be_visible()
    look(page, axe, "refusal")
    page.goto(f"{town.url}/history")
    look(page, axe, "history")


@pytest.mark.parametrize("path", ["steward", "people"])
def test_stewards_rooms(town, page, axe, path):
    enter(page, town, town.steward, f"/{path}")
    look(page, axe, path)


def test_steward_of_a_data_set(town, page, axe):
    town.state.people.add("cleo", "analyst", ["town"])
    enter(page, town, town.steward, "/steward/town")
    page.get_by_text("Set an allowance").click()
    page.get_by_role("button", name="Verify the whole chain").click()
    expect(page.locator("#verdict")).to_contain_text("The chain holds")
    look(page, axe, "steward-town")


def test_what_pages_may_load(town, window):
    """Nothing comes from another host, no script or style stands in a page, and the policy says so."""
    page = window()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{town.url}/learn")
    enter(page, town, town.analyst)
    assert all(url.startswith(town.url) for url in asked)
    assert page.locator("script:not([src]), style, [style], [onclick]").count() == 0
    policy = page.request.get(f"{town.url}/learn").headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy and "default-src 'none'" in policy
