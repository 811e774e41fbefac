"""A steward's whole day, in a real browser."""

from __future__ import annotations

import sqlite3

import pytest
from playwright.sync_api import expect

from discreet.privacy.measures import PureDP

from . import town as towns
from .conftest import enter, screen, sign_in
from .test_analyst import ask


def test_day(town, window):
    page = window(excused=(422,))
    sign_in(page, town, town.steward)
    expect(page.get_by_role("heading", name="Data sets")).to_be_visible()
    page.get_by_role("link", name="People").click()
    page.get_by_label("Name").fill("bo")
    page.get_by_label("town", exact=True).check()
    page.get_by_label("Days until it ends").fill("30")
    page.get_by_role("button", name="Add and show the token").click()
    token = page.locator("#token").inner_text()
    assert token.startswith("dsc_")
    page.reload()  # a form sent again would take in bo twice; the token is gone with the page
    page.goto(f"{town.url}/people")
    assert token not in page.content()

    page.goto(f"{town.url}/steward/town")
    page.get_by_text("Set an allowance").click()
    page.get_by_label("Who", exact=True).select_option("bo")
    page.get_by_label("At most ε").fill("0.25")
    page.get_by_role("button", name="Set", exact=True).click()
    row = page.get_by_role("row", name="bo")
    expect(row.first).to_contain_text("ε = 0.25")
    assert town.state.datasets.ledger("town").left("bo") == PureDP("1/4")

    guest = window()
    sign_in(guest, town, token)
    ask(guest, "SELECT district, COUNT(*) AS n FROM people GROUP BY district", "0.2")
    guest.get_by_role("button", name="Run").click()
    expect(guest.get_by_role("region", name="Answer as a table")).to_be_visible()
    expect(guest.locator("#explained")).to_contain_text("ε = 0.05 left")

    page.reload()
    expect(page.get_by_role("region", name="Table of who spent what")).to_contain_text("ε = 0.2")
    expect(page.get_by_role("region", name="Last entries of the ledger")).to_contain_text(
        "discrete laplace noise"
    )
    expect(page.locator("svg.chart .line")).to_have_count(1)
    page.get_by_role("button", name="Verify the whole chain").click()
    expect(page.locator("#verdict")).to_contain_text("The ledger is intact")
    screen(page, "steward-town")

    page.get_by_role("link", name="People").click()
    page.get_by_role("button", name="New token for bo").click()
    fresh = page.locator("#token").inner_text()
    assert fresh not in ("", token)
    guest.reload()
    expect(
        guest.get_by_label("Your token")
    ).to_be_visible()  # the old token's session ended with it
    page.get_by_role("button", name="Revoke bo").click()
    expect(page.get_by_role("row", name="bo")).to_contain_text("revoked")
    expect(page.get_by_role("button", name="Revoke bo")).to_have_count(0)


def test_withdrawing_shuts_out(town, window):
    town.state.people.add("cy", "analyst", ["archive"])
    page = window()
    enter(page, town, town.steward, "/steward/archive")
    page.get_by_text("Set an allowance").click()
    page.get_by_label("Who", exact=True).select_option("cy")
    page.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("row", name="cy no allowance")).to_be_visible()


@pytest.mark.parametrize(("name", "word"), [("stella", "is taken"), ("no way!", "letters")])
def test_names_that_cannot_be(town, window, name, word):
    page = window(excused=(422,))
    enter(page, town, town.steward, "/people")
    page.get_by_label("Name").fill(name)
    page.get_by_label("town", exact=True).check()
    page.get_by_role("button", name="Add and show the token").click()
    expect(page.get_by_role("alert")).to_contain_text(word)
    expect(page.get_by_label("Name")).to_have_value(name)


def test_amounts_that_cannot_be(town, window):
    page = window(excused=(422,))
    enter(page, town, town.steward, "/steward/town")
    page.get_by_text("Set an allowance").click()
    page.get_by_label("At most ε").fill("lots")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("ε to spend must be")


def test_a_changed_ledger_is_caught(tmp_path, window):
    with towns.running(tmp_path) as town:
        page = window(excused=(500,))
        enter(page, town, town.analyst)
        ask(page, "SELECT COUNT(*) AS n FROM people", "0.5")
        page.get_by_role("button", name="Run").click()
        expect(page.get_by_role("region", name="Answer as a table")).to_be_visible()
        with sqlite3.connect(tmp_path / "town.ledger") as file:
            table, column = _lines(file)
            file.execute(
                f"UPDATE {table} SET {column} = replace({column}, 'ana', 'eve') WHERE {column} LIKE '%charge%'"
            )
        page.context.clear_cookies()
        enter(page, town, town.steward, "/steward/town")
        expect(page.get_by_role("alert")).to_contain_text("was changed")
        page.get_by_role("button", name="Verify the whole chain").click()
        expect(page.locator("#verdict .refusal")).to_contain_text("entry 2")


def _lines(file):
    """Find where a ledger keeps its lines: the text column that speaks of a charge."""
    tables = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        for column in [row[1] for row in file.execute(f"PRAGMA table_info({table})")]:
            if file.execute(
                f'SELECT 1 FROM {table} WHERE {column} LIKE \'%"kind":"charge"%\''
            ).fetchone():
                return table, column
    raise AssertionError("no line of a charge was found")
