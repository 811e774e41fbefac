"""A dashboard in a real browser: made, ordered by the keyboard, shared, read by a colleague, saved as one file."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import SIZES, enter
from .test_analyst import QUESTION, ask
from .test_looks import look


@pytest.fixture
def page(window):
    return window(bypass_csp=True, reduced_motion="reduce")  # axe is put in from outside


def test_from_an_answer_to_a_shared_page(town, page, window, axe):
    enter(page, town, town.analyst)
    ask(page, QUESTION, "0.25")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("link", name="Open its page").click()
    page.get_by_label("Title").fill("The town in numbers")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("h1")).to_have_text("The town in numbers")
    page.get_by_role("link", name="Change or share").click()
    page.get_by_label("Text", exact=True).fill(
        "# Who lives here\nCounted with **noise**.\n- <b>one</b>"
    )
    page.get_by_role("button", name="Add the text").press("Enter")
    page.get_by_role("button", name="Move part 2 up").press("Enter")
    look(page, axe, "dashboard-edit")
    # Enter in a field saves, and never presses a button that moves or removes.
    page.get_by_label("Title").press("Enter")
    expect(page.locator(".prose strong")).to_have_text("noise")
    assert page.locator(".prose b").count() == 0
    board = page.url
    look(page, axe, "dashboard")
    page.get_by_role("link", name="Ask again").click()
    expect(page.locator("main")).to_contain_text("free: answered before")
    look(page, axe, "dashboard-refresh")
    page.get_by_role("button", name="Ask those ticked").click()
    while page.get_by_text("being asked again").count():
        page.reload()
    page.goto(f"{board}/edit")
    page.get_by_role("button", name="Share with colleagues").click()
    steward = window(bypass_csp=True)
    enter(steward, town, town.steward, "/dashboards")
    look(steward, axe, "dashboards")
    steward.get_by_role("link", name="The town in numbers").click()
    expect(steward.locator("main")).to_contain_text("By ana")
    with steward.expect_download() as taken:
        steward.get_by_role("link", name="One file to publish").click()
    saved = taken.value.path().with_suffix(".html")
    saved.write_bytes(taken.value.path().read_bytes())
    _opens_alone(window(java_script_enabled=False), saved, axe, window(bypass_csp=True))
    steward.get_by_role("button", name="Take back").click()
    expect(steward.locator("main")).to_contain_text("Shared dashboards")
    page.goto(board)
    expect(page.locator("main")).to_contain_text("A steward has taken it back")


def _opens_alone(page, saved, axe, checked):
    """Open the file from a disk: without a script it shows all, it loads nothing, and axe has nothing to say."""
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(saved.as_uri())
    expect(page.locator("svg")).to_have_count(2)
    expect(page.locator("table")).to_be_visible()
    assert asked == [saved.as_uri()] and saved.stat().st_size <= 150_000
    checked.goto(saved.as_uri())
    checked.evaluate(axe)
    for size in SIZES.values():
        checked.set_viewport_size(size)
        found = checked.evaluate("() => axe.run({resultTypes: ['violations']})")["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


@pytest.mark.slow
def test_without_a_script(town, window):
    page = window(java_script_enabled=False)
    enter(page, town, town.analyst, "/dashboards")
    page.get_by_label("Title").fill("By hand")
    page.get_by_label("Data set").select_option("town")
    page.get_by_role("button", name="Make it").click()
    for words in ("first", "second"):
        page.get_by_label("Text", exact=True).last.fill(words)
        page.get_by_role("button", name="Add the text").click()
    page.get_by_role("button", name="Move part 2 up").click()
    page.get_by_role("button", name="Save and show").click()
    expect(page.locator(".prose")).to_have_text(["second", "first"])
