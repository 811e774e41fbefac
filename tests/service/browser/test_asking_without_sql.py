"""Questions are chosen from lists, in a real browser, with and without a script, on a desk and on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .conftest import editor, enter, screen, sign_in
from .test_looks import look

ADULTS = (
    "SELECT district, COUNT(*) AS n, AVG(income) AS mean_income\n"
    "FROM people\nWHERE age >= 18 AND district IN ('Hills', 'Harbour')\nGROUP BY district"
)


def choose(page, label, value):
    page.get_by_label(label, exact=True).select_option(value)


def choose_adults(page, script):
    choose(page, "I want to know", "mean")
    choose(page, "of", "income")
    choose(page, "for each", "district")
    page.get_by_text("Only some of them").click()
    choose(page, "only where", "age")
    choose(page, "test 1", ">=")
    page.get_by_label("value 1").fill("18")
    page.get_by_role("button", name="One more condition").click()
    # Without a script the page comes again, with what was chosen and one more row.
    expect(page.get_by_label("value 1")).to_have_value("18")
    choose(page, "and where", "district")
    choose(page, "test 2", "in")
    page.get_by_label("value 2").fill("hills, Harbour")


@pytest.mark.parametrize("script", [True, False])
def test_a_choice_runs_by_itself_and_is_one_question_with_its_sql(town, window, script):
    page = window(java_script_enabled=script)
    enter(page, town, town.analyst)
    choose_adults(page, script)
    if not script:
        page.get_by_role("button", name="Show the price").click()
    expect(page.locator("#explained .price")).to_contain_text("Costs ε = 0.3 of ε =")
    expect(page.locator("#explained .price")).to_contain_text("mean_income ±")
    expect(editor(page)).to_have_value(ADULTS)
    if script:
        screen(page, "ask-without-sql")
    page.get_by_label("ε to spend").fill("0.01")
    page.get_by_role("button", name="Run").click()
    while page.get_by_role("link", name="Look again").count():
        page.get_by_role("link", name="Look again").click()
    rows = page.get_by_role("region", name="Answer as a table").get_by_role("row")
    expect(rows).to_have_count(3)
    page.goto(f"{town.url}/workbench/town?" + page.url.partition("?")[2] if script else page.url)
    if script:  # the address has the choices
        expect(page.get_by_label("value 2")).to_have_value("hills, Harbour")


def test_own_sql_counts_until_a_choice_is_made(town, window):
    page = window()
    enter(page, town, town.analyst)
    editor(page).fill("SELECT COUNT(*) AS mine FROM people")
    expect(page.locator("#own")).to_be_visible()
    expect(page.locator("#explained th[scope=row]")).to_have_text("mine")
    choose(page, "for each", "district")
    expect(editor(page)).to_have_value(
        "SELECT district, COUNT(*) AS n\nFROM people\nGROUP BY district"
    )
    expect(page.locator("#own")).to_be_hidden()
    editor(page).fill("SELECT COUNT(*) AS mine FROM people")
    page.get_by_role("button", name="Use the choices").click()
    expect(page.locator("#own")).to_be_hidden()
    expect(page.get_by_label("for each", exact=True)).to_have_value("district")


def test_what_does_not_apply_is_off_and_says_why(town, window):
    page = window()
    enter(page, town, town.analyst)
    choose(page, "I want to know", "mean")
    off = page.locator("#of option[value=district]")
    expect(off).to_be_disabled()
    expect(off).to_have_text("district – an average needs a number")
    expect(page.get_by_label("of", exact=True)).to_have_value("age")  # the first that fits
    expect(page.locator("#by option[value=street]")).to_have_text(
        "street – free text needs a promise with δ"
    )
    expect(page.get_by_label("along")).to_be_hidden()
    choose(page, "I want to know", "change")
    expect(page.get_by_label("along")).to_be_visible()
    choose(page, "I want to know", "largest")
    expect(page.locator("#explained .refusal")).to_contain_text("The largest of what")
    page.get_by_role("link", name="archive").click()
    expect(page.get_by_label("δ to spend")).to_have_value("1e-07")
    expect(page.locator("#by option[value=street]")).to_be_enabled()


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_the_first_answer_takes_two_clicks(town, window, size):
    page = window(size)
    sign_in(page, town, town.analyst)  # the first click
    run = page.get_by_role("button", name="Run")
    expect(page.locator("#explained .price")).to_be_visible()
    box = run.bounding_box()
    assert box["y"] + box["height"] < page.viewport_size["height"]  # above the fold
    run.click()
    expect(page.locator("#answer .said")).to_have_text(
        re.compile(r"About [\d\u202f]+ of them, give or take \d+\.")
    )


def test_keyboard_alone(town, window):
    page = window()
    enter(page, town, town.analyst)
    page.get_by_label("I want to know").focus()
    page.keyboard.type("The")
    page.keyboard.press("Tab")
    page.keyboard.type("inc")
    expect(page.locator("#explained th[scope=row]")).to_have_text("median_income")
    page.get_by_label("ε to spend").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#answer .said")).to_contain_text("Income: about")


def test_long_tables_fold_and_lines_break_where_noise_hides(town, window, axe):
    page = window(bypass_csp=True)
    enter(page, town, town.analyst, "/workbench/town?by=age&spend=0.2")
    page.get_by_role("button", name="Run").click()
    table = page.get_by_role("region", name="Answer as a table", exact=True)
    expect(table.get_by_role("row")).to_have_count(21)
    page.get_by_text("91 more rows").click()
    more = page.get_by_role("region", name="Answer as a table, more rows")
    expect(more.get_by_role("row")).to_have_count(92)
    expect(page.locator("#answer")).to_contain_text("Gaps: noise hides")
    faint = page.locator("#answer tr.faint").count()
    line = page.locator("#answer .chart path.line").get_attribute("d")
    assert faint and line.count("L") + line.count("M") == 111 - faint and line.count("M") > 1
    look(page, axe, "long-answer")


def test_what_cannot_be_read_is_refused_in_words(town, window):
    page = window()
    enter(page, town, town.analyst, "/workbench/town?if1=age&value1=old")
    expect(page.locator("#explained .refusal")).to_contain_text("Age must be a finite number")
    page.goto(f"{town.url}/workbench/town?want=<script>&of=%3Cimg%3E&by=<b>&if1=<i>&value1=<u>")
    expect(page.locator("#explained .refusal")).to_be_visible()
    assert page.locator("main b, main img, main i, main u").count() == 0
