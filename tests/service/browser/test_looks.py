"""Every page in light and dark, on a desk and on a phone: nothing for axe to complain of, nothing too wide."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from support.profile import DEEP

from .conftest import SIZES, editor, enter, screen
from .test_analyst import QUESTION, ask

LOOKS = [(size, scheme) for size in ("desktop", "phone") for scheme in ("light", "dark")]
MAX_BYTES = 150_000
"""What a page may load in all: itself, its style and its scripts."""
LOADED = """[...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .map((one) => [one.name, one.decodedBodySize])"""
PICTURED = [("desktop", "light"), ("phone", "dark")]
MORE = "main article:nth-of-type(n+3)"
"""What a page only repeats: entries of the reference after the first two of a section."""


def look(page, axe, name, within=None):
    """Keep a picture, measure the width and let axe look: on a desk and on a phone, in light and in dark.

    What is `within` a part of a page is looked at there alone, without a picture. Outside deep axe, which takes seconds,
    looks where a picture is taken, each size and each scheme once, and passes over what a page only repeats.
    """
    page.evaluate(axe)
    for size, scheme in LOOKS:
        page.set_viewport_size(SIZES[size])
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        if (size, scheme) in PICTURED and within is None:
            screen(page, f"{name}-{size}-{scheme}")
        wide = page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, f"{name} is {wide} px too wide on a {size}"
        if not DEEP and (size, scheme) not in PICTURED:
            continue
        where = within or {"include": ["html"], "exclude": [] if DEEP else [MORE]}
        found = page.evaluate("(where) => axe.run(where, {resultTypes: ['violations']})", where)[
            "violations"
        ]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


@pytest.fixture
def page(window):
    return window(
        bypass_csp=True
    )  # axe is put in from outside, which the pages' policy rightly forbids


@pytest.mark.parametrize("path", ["sign-in", "learn", "telemetry", "docs"])
def test_open_rooms(town, page, axe, path):
    page.goto(f"{town.url}/{path}")
    look(page, axe, path)


def test_workbench(town, page, axe):
    enter(page, town, town.analyst)
    ask(page, QUESTION, "0.5")
    expect(page.locator("#explained th[scope=row]")).to_have_count(2)
    page.get_by_text("Error by price").click()
    page.get_by_text("The queries that would run").click()
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
    expect(page.locator("#verdict")).to_contain_text("The ledger is intact")
    look(page, axe, "steward-town")


def test_the_page_of_an_answer_and_what_is_saved(town, page, axe):
    enter(page, town, town.analyst)
    ask(page, QUESTION, "0.25")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("link", name="Open its page").click()
    page.get_by_label("Name", exact=True).fill("Adults by district")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("In Python").click()
    expect(page.locator("h1")).to_have_text("Adults by district")
    look(page, axe, "answer")
    page.goto(f"{town.url}/history")
    look(page, axe, "saved")
    page.goto(f"{town.url}/workbench/town")
    editor(page).press("Control+ ")
    expect(page.get_by_role("listbox")).to_be_visible()
    look(page, axe, "names")


PATHS = {
    "": ("/sign-in", "/learn", "/telemetry", "/docs", "/nowhere"),
    "analyst": (
        "/workbench/town",
        "/history",
        "/dashboards",
        "/answers/nothing",
        "/synthesize/town",
        "/model/town",
        "/made/nothing",
    ),
    "steward": ("/steward", "/steward/town", "/people"),
}


@pytest.mark.parametrize("who", PATHS)
def test_what_pages_may_load(town, window, who):
    """Nothing comes from another host, pages are light, no script or style stands in one, and the policy says so."""
    page = window(excused=(403, 404))
    if who:
        enter(page, town, getattr(town, who))
    for path in PATHS[who]:
        page.goto(f"{town.url}{path}", wait_until="networkidle")
        loaded = page.evaluate(LOADED)
        assert len(loaded) >= 3 and all(url.startswith(town.url) for url, _ in loaded)
        size = sum(size for _, size in loaded)
        assert size <= MAX_BYTES, f"{path} loads {size} bytes"
        assert page.locator("script:not([src]), style, [style], [onclick]").count() == 0


def test_the_policy_of_pages(town, window):
    page = window()
    policy = page.request.get(f"{town.url}/learn").headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy and "default-src 'none'" in policy
