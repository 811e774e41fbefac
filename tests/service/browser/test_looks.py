"""Every page in light and dark, on a desk and on a phone: nothing for axe to complain of, nothing too wide."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import screen, sign_in
from .test_analyst import QUESTION, ask

LOOKS = [(size, scheme) for size in ("desktop", "phone") for scheme in ("light", "dark")]


def look(page, axe, name):
    """Keep a picture, measure the width and let axe look."""
    screen(page, name)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, f"{name} is {wide} px too wide"
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_looks(town, window, axe, size, scheme):
    page, end = window(size, scheme, bypass_csp=True), f"{size}-{scheme}"
    page.goto(f"{town.url}/sign-in")
    look(page, axe, f"sign-in-{end}")
    page.goto(f"{town.url}/learn")
    look(page, axe, f"learn-{end}")
    sign_in(page, town, town.analyst)
    ask(page, QUESTION, "0.5")
    expect(page.locator("#explained th[scope=row]")).to_have_count(2)
    page.get_by_text("What more or less would buy").click()
    page.get_by_text("What the store would be asked").click()
    look(page, axe, f"workbench-{end}")
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("region", name="Answer as a table")).to_be_visible()
    expect(page.locator("#explained")).to_contain_text("free: answered before")
    look(page, axe, f"answer-{end}")
    ask(page, "SELECT district, AVG(incme) AS mean FROM people GROUP BY district")
    expect(page.locator("#explained .refusal")).to_be_visible()
    look(page, axe, f"refusal-{end}")
    page.goto(f"{town.url}/history")
    look(page, axe, f"history-{end}")
    page.get_by_role("button", name="Sign out").click()
    sign_in(page, town, town.steward)
    look(page, axe, f"sets-{end}")
    page.goto(f"{town.url}/people")
    look(page, axe, f"people-{end}")
    page.goto(f"{town.url}/steward/town")
    page.get_by_text("Set an allowance").click()
    page.get_by_role("button", name="Verify the whole chain").click()
    expect(page.locator("#verdict")).to_contain_text("The chain holds")
    look(page, axe, f"steward-{end}")


def test_what_pages_may_load(town, window):
    """Nothing comes from another host, no script or style stands in a page, and the policy says so."""
    page = window()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{town.url}/learn")
    sign_in(page, town, town.analyst)
    assert all(url.startswith(town.url) for url in asked)
    assert page.locator("script:not([src]), style, [style], [onclick]").count() == 0
    policy = page.request.get(f"{town.url}/learn").headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy and "default-src 'none'" in policy
