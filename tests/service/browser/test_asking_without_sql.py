"""A question is chosen from lists, in a real browser, with and without a script."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .conftest import enter, screen


@pytest.mark.parametrize("script", [True, False])
def test_what_is_chosen_stands_in_the_editor(town, window, script):
    page = window(java_script_enabled=script)
    enter(page, town, town.analyst)
    page.get_by_text("Ask without SQL").click()
    page.get_by_label("Tell me").select_option("mean")
    page.get_by_label("of the column").select_option("income")
    page.get_by_label("for each").select_option("district")
    page.get_by_label("where", exact=True).select_option("age")
    page.get_by_label("compares").select_option(">=")
    page.get_by_label("with", exact=True).fill("18")
    if script:
        screen(page, "ask-without-sql")
    page.get_by_role("button", name="Write the question").click()
    expect(page.get_by_label("Your question, in SQL")).to_have_value(
        "SELECT district, COUNT(*) AS n, AVG(income) AS mean_income\nFROM people\nWHERE age >= 18\nGROUP BY district"
    )
    expect(page.locator("#explained")).to_contain_text("for this answer")
    assert "sql=SELECT" in page.url  # a link that can be kept and sent
    assert town.state.datasets.ledger("town").spent().epsilon == 0


def test_what_cannot_be_written_is_refused_in_words(town, window):
    page = window(excused=(400, 422))
    enter(page, town, town.analyst, "/workbench/town/build?table=people&if=age&value=old")
    expect(page.locator("main")).to_contain_text("Age must be a finite number")
