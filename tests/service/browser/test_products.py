"""Synthetic tables and models are made by their forms in a real browser: on a desk, on a phone, with the keyboard."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from .conftest import editor, enter
from .test_looks import look


@pytest.fixture
def page(window):
    return window(
        bypass_csp=True, reduced_motion="reduce"
    )  # axe is put in from outside, which the policy forbids


def test_synthetic_tables(town, page, axe):
    enter(page, town, town.analyst, "/workbench/archive")
    page.get_by_role("link", name="Synthetic tables").click()
    expect(page.locator("#weighed")).to_contain_text("expect a total variation")
    page.get_by_label("Bins").fill("age = 11, district = 2")
    expect(page.locator("#weighed .refusal")).to_contain_text("which has no bins")
    look(page, axe, "synthesize-refused")
    page.get_by_label("Bins").fill("age = 11, income = 10")
    page.get_by_label("ε to spend").fill("0.3")
    expect(page.locator("#weighed")).to_contain_text("for this")
    expect(page.locator("#weighed .refusal")).to_have_count(0)
    look(page, axe, "synthesize")
    page.get_by_label("What it is for").press("Enter")
    expect(page.get_by_role("region", name="Result as a table: By age")).to_be_visible()
    look(page, axe, "made-tables")
    with page.expect_download() as taken:
        page.get_by_role("link", name="Records as CSV").click()
    assert taken.value.suggested_filename.endswith("-records.csv")


def test_a_model_and_the_program_that_fetches_it_for_nothing(town, page, axe, monkeypatch):
    enter(page, town, town.analyst, "/model/archive")
    expect(page.locator("#weighed .refusal")).to_have_count(0)
    predict = page.get_by_label("Predict", exact=True)
    # Only models that fit what is predicted are offered.
    for target, kind in (("district", "Model of a class"), ("", "Model without a target")):
        predict.select_option(target)
        expect(page.get_by_label(kind)).to_be_visible()
        expect(page.get_by_label("Model of a number")).to_be_hidden()
        expect(page.locator("#weighed")).to_contain_text("rows against noise")
    predict.select_option("income")
    expect(page.get_by_label("Model of a class")).to_be_hidden()
    page.get_by_label("ε to spend").fill("30")
    expect(page.locator("#weighed .refusal")).to_contain_text("is left")
    expect(page.get_by_role("button", name="Train it")).to_be_disabled()
    page.get_by_label("ε to spend").fill("0.3")
    expect(page.locator("#weighed")).to_contain_text("rows against noise")
    look(page, axe, "model")
    page.get_by_role("button", name="Train it").click()
    expect(page.get_by_role("region", name="Result as a table: Coefficients")).to_be_visible()
    look(page, axe, "made-model")
    with page.expect_download() as taken:
        page.get_by_role("link", name="Model as JSON").click()
    assert taken.value.suggested_filename.endswith("-model.json")
    spent, held = town.state.datasets.ledger("archive").spent(), {}
    monkeypatch.setenv("DISCREET_TOKEN", town.analyst)
    exec(compile(page.locator("#python").inner_text(), "use.py", "exec"), held)  # noqa: S102 - our own program
    assert (
        json.loads(taken.value.path().read_text())["fitted"]["count"]
        == held["model"].fitted_["count"].tolist()
    )
    assert town.state.datasets.ledger("archive").spent() == spent


def test_several_tables_at_once(town, page, axe):
    enter(page, town, town.analyst, "/workbench/town")
    page.get_by_label("for each", exact=True).select_option("district")
    page.get_by_label("and for each", exact=True).select_option("household")
    page.get_by_text("More: what it is for").click()
    page.get_by_label("Tables over the columns").select_option("cube")
    expect(editor(page)).to_have_value(
        "SELECT district, household, COUNT(*) AS n\nFROM people\n"
        "GROUP BY GROUPING SETS ((district, household), (district), (household), ())"
    )
    page.get_by_role("button", name="Run").click()
    expect(
        page.get_by_role("region", name="Answer as a table: By district, household")
    ).to_be_visible()
    expect(page.locator("#explained")).to_contain_text(
        "free: answered before"
    )  # until then it is faded
    look(page, axe, "several-tables")
