"""From the editor to a page that stays: names are completed, a reload keeps all, and the code on the page runs."""

from __future__ import annotations

import contextlib
import io

import pytest
from playwright.sync_api import expect

from .conftest import editor, enter, screen
from .test_analyst import ask

WEEKS = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"


def text(page):
    return editor(page)


def test_the_editor_colours_and_completes(town, window):
    page = window()
    enter(page, town, town.analyst)
    text(page).fill("")
    text(page).type("sel")
    expect(page.locator("#names [role=option]")).to_have_text(["SELECT"])
    text(page).press("Enter")
    text(page).type(" hou")
    text(page).press("Tab")
    text(page).type(", COUNT(*) AS n FROM people WHERE district = 'Hills' -- a remark")
    expect(text(page)).to_have_value(
        "SELECT household, COUNT(*) AS n FROM people WHERE district = 'Hills' -- a remark"
    )
    expect(page.locator("#mirror .word").first).to_have_text("SELECT")
    expect(page.locator("#mirror .known")).to_have_text(["household", "people", "district"])
    expect(page.locator("#mirror .text")).to_have_text("'Hills'")
    expect(page.locator("#mirror .remark")).to_have_text("-- a remark")
    text(page).fill("SELECT AVG(")
    text(page).press("Control+ ")
    text(page).press("ArrowDown")
    text(page).press("ArrowUp")
    expect(page.locator("#names [aria-selected=true]")).to_have_text("people")
    screen(page, "completing")
    text(page).press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    text(page).type("incme) AS m FROM people")
    expect(page.locator("#mirror mark")).to_have_text("incme")


def test_a_reload_keeps_question_and_answer(town, window):
    page = window()
    enter(page, town, town.analyst)
    ask(page, WEEKS, "0.3")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#answer svg.chart .band")).to_have_count(
        1
    )  # 111 ages are a line in a band
    page.reload()
    expect(text(page)).to_have_value(WEEKS)
    expect(page.get_by_label("ε to spend")).to_have_value("0.3")
    expect(page.locator("#answer svg.chart .band")).to_have_count(1)
    expect(page.locator("#explained")).to_contain_text("free: answered before")


@pytest.mark.parametrize("script", [True, False])
def test_the_page_of_an_answer(town, window, monkeypatch, script):
    page = window(java_script_enabled=script)
    enter(page, town, town.analyst)
    ask(page, "SELECT district, AVG(income) AS income FROM people GROUP BY district", "0.2")
    page.get_by_role("button", name="Run").click()
    if script:
        page.get_by_role("link", name="Open its page").click()
    while page.get_by_role("link", name="Look again").count():
        page.get_by_role("link", name="Look again").click()
    expect(page.locator("h1")).to_have_text("people: income by district")
    spent = town.state.datasets.ledger("town").spent()
    if script:
        with page.expect_download() as download:
            page.get_by_role("button", name="as PNG").click()
        assert download.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert download.value.suggested_filename.endswith(".png")
        monkeypatch.setenv("DISCREET_TOKEN", town.analyst)
        page.get_by_text("In Python").click()
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(page.locator("#python").inner_text(), {})  # noqa: S102 - the page says that this repeats the answer
        first = (
            page.get_by_role("region", name="Answer as a table")
            .locator("tbody tr td")
            .nth(1)
            .inner_text()
        )
        assert first.split()[0].replace("\u202f", "") in said.getvalue().replace(",", "")
    page.get_by_label("Name", exact=True).fill("Incomes of the town")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Incomes of the town")
    page.get_by_role("link", name="All you asked").click()
    page.get_by_role("link", name="Incomes of the town").click()
    expect(text(page)).to_have_value(
        "SELECT district, AVG(income) AS income FROM people GROUP BY district"
    )
    expect(page.get_by_role("link", name="Incomes of the town")).to_be_visible()
    assert town.state.datasets.ledger("town").spent() == spent


def test_all_groups_are_drawn_when_asked_for(town, window):
    page = window()
    enter(page, town, town.analyst)
    ask(
        page,
        "SELECT district, age, COUNT(*) AS n FROM people WHERE age < 20 GROUP BY district, age",
        "0.1",
    )
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#answer svg.chart .line")).to_have_count(6)
    shown = "SELECT CASE WHEN age < 50 THEN 'y' ELSE 'o' END AS g, household, district, COUNT(*) AS n FROM people GROUP BY 1, 2, 3"
    ask(page, shown, "0.1")
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#answer")).to_contain_text("40 of 108 groups are drawn")
    page.get_by_role("link", name="Draw all of them").click()
    expect(page.locator("#answer svg.chart .dot")).to_have_count(108)
