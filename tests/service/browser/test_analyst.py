"""An analyst's whole day, in a real browser."""

from __future__ import annotations

import csv
import json

from playwright.sync_api import expect

from . import town as towns
from .conftest import editor, enter, screen, sign_in

QUESTION = "SELECT district, COUNT(*) AS n, AVG(income) AS income\nFROM people\nWHERE age >= 18\nGROUP BY district"


def ask(page, sql, spend="0.5"):
    editor(page).fill(sql)
    page.get_by_label("ε to spend").fill(spend)


def taken(page, selector):
    with page.expect_download() as download:
        page.get_by_role("link", name=selector).click()
    return download.value.path().read_text(encoding="utf-8")


class TestDay:
    """From the token to the receipt."""

    def test_from_question_to_receipt(self, tmp_path, window):
        with towns.running(tmp_path) as town:
            self.day(town, window())

    def day(self, town, page):
        sign_in(page, town, town.analyst)
        expect(page).to_have_url(f"{town.url}/workbench/town")
        ask(page, QUESTION)
        plan = page.get_by_role("region", name="Plan of the answer")
        expect(plan.get_by_role("rowheader", name="income")).to_be_visible()
        expect(page.locator("#explained")).to_contain_text("ε = 0.5 for this answer")
        expect(page.locator("#explained")).to_contain_text("ε = 2.5 after it")
        assert town.state.datasets.ledger("town").spent().epsilon == 0

        page.get_by_role("button", name="Run").click()
        answer = page.get_by_role("region", name="Answer as a table")
        expect(answer.get_by_role("row")).to_have_count(7)
        expect(page.locator("#answer svg.chart")).to_have_count(2)
        expect(page.locator("#answer svg.chart .dot")).to_have_count(12)
        expect(page.locator("#answer caption")).to_have_text(
            "cost ε = 0.5; ± is noise only, at 95 %"
        )
        page.locator("#answer").get_by_text("Details").click()
        expect(page.get_by_text("entry 2 of the ledger")).to_be_visible()
        expect(page.locator("#explained")).to_contain_text("free: answered before")
        screen(page, "analyst-answer")

        rows = list(csv.DictReader(taken(page, "CSV").splitlines()))
        assert [row["district"] for row in rows][:2] == ["Centre", "Harbour"]
        assert all(float(row["n_low"]) < float(row["n"]) < float(row["n_high"]) for row in rows)
        receipt = json.loads(taken(page, "Receipt"))
        assert receipt["who"] == "ana" and receipt["tables"] == {"people": "1"}
        assert float(town.state.datasets.ledger("town").spent("ana").epsilon) == 0.5

        with page.expect_response(
            "**/run"
        ):  # the same question again has the same answer and is free
            page.get_by_role("button", name="Run").click()
        expect(page.locator("#answer caption")).to_contain_text("answered before for ε = 0.5")
        page.get_by_role("link", name="History").click()
        expect(page.get_by_role("row")).to_have_count(3)
        assert float(town.state.datasets.ledger("town").spent().epsilon) == 0.5
        page.get_by_role("link", name="SELECT district").first.click()
        expect(
            page.get_by_role("region", name="Answer as a table").get_by_role("row")
        ).to_have_count(7)
        page.get_by_role("button", name="Sign out").click()
        expect(page).to_have_url(f"{town.url}/sign-in")
        page.goto(f"{town.url}/history")
        expect(page.get_by_label("Your token")).to_be_visible()

    def test_slider_and_field_say_the_same_and_more_budget_means_less_error(self, town, window):
        page = window()
        enter(page, town, town.analyst)
        ask(page, "SELECT COUNT(*) AS n FROM people", "0.1")
        error = page.locator("#explained td.number")
        expect(error).to_have_text("± 30")
        slider = page.get_by_label("Less noise for more ε")
        slider.focus()
        page.keyboard.press("End")
        expect(page.get_by_label("ε to spend")).to_have_value("3")
        assert slider.get_attribute("aria-valuetext") == "ε = 3"
        expect(error).to_have_text("± 1")

    def test_error_first_and_the_price_is_found(self, town, window):
        page = window()
        enter(page, town, town.analyst)
        ask(page, "SELECT COUNT(*) AS n FROM people")
        page.get_by_label("Reach an error").check()
        expect(page.get_by_label("ε to spend")).to_be_hidden()
        page.get_by_label("Off by at most").fill("n = 30")
        expect(page.locator("#explained td.number")).to_have_text("± 30")
        expect(page.locator("#explained li.next")).to_contain_text("for this answer")

    def test_schema_help_writes_for_you(self, town, window):
        page = window()
        enter(page, town, town.analyst)
        field = editor(page)
        field.fill("SELECT AVG(")
        field.press("End")
        page.get_by_role("button", name="household", exact=True).click()
        expect(field).to_have_value("SELECT AVG(household")
        page.get_by_role("button", name="Median age").click()
        expect(field).to_have_value("SELECT MEDIAN(age) AS median\nFROM people")
        expect(page.locator("#explained th[scope=row]")).to_have_text("median")

    def test_rehearsal_is_marked_and_free(self, town, window):
        page = window()
        before = town.state.datasets.ledger("town").spent()
        enter(page, town, town.analyst)
        ask(page, "SELECT district, COUNT(*) AS n FROM people GROUP BY district")
        page.get_by_role("button", name="Rehearse on made-up data").click()
        expect(page.locator("#answer h2")).to_have_text("Rehearsal")
        expect(page.locator("#answer")).to_contain_text("nothing was spent")
        expect(page.get_by_role("link", name="Receipt")).to_have_count(0)
        assert town.state.datasets.ledger("town").spent() == before

    def test_keyboard_alone(self, town, window):
        page = window()
        page.goto(f"{town.url}/sign-in")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
        page.get_by_label("Your token").focus()
        page.keyboard.type(town.analyst)
        page.keyboard.press("Enter")
        expect(
            page.locator(".editor.lit")
        ).to_be_attached()  # keys are heard once the scripts are there
        editor(page).focus()
        page.keyboard.press("Control+a")
        page.keyboard.type("SELECT COUNT(*) AS everybody FROM people")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("region", name="Answer as a table")).to_contain_text("everybody")

    def test_other_measures_are_spoken(self, town, window):
        page = window()
        enter(page, town, town.analyst)
        page.get_by_role("link", name="archive").click()
        page.get_by_label("δ to spend").fill("1e-7")
        expect(page.locator("#explained li.next")).to_contain_text("(ε, δ) =")
        page.get_by_role("link", name="country").click()
        expect(page.get_by_label("ρ to spend")).to_be_visible()
        expect(page.locator("#explained li.next")).to_contain_text("ρ =")


class TestWithoutScript:
    """Every page also works where no script runs."""

    def test_explain_run_and_look_again(self, town, window):
        page = window(java_script_enabled=False)
        enter(page, town, town.analyst)
        editor(page).fill("SELECT district, COUNT(*) AS homes FROM people GROUP BY district")
        page.get_by_label("ε to spend").fill("1/20")
        page.get_by_role("button", name="Show the price").click()
        expect(page.locator("#explained")).to_contain_text("ε = 0.05 for this answer")
        page.get_by_role("button", name="Run").click()
        for _ in range(50):
            if page.get_by_role("link", name="Look again").count() == 0:
                break
            page.get_by_role("link", name="Look again").click()
        expect(
            page.get_by_role("region", name="Answer as a table").get_by_role("row")
        ).to_have_count(7)

    def test_lessons_move(self, town, window):
        page = window(java_script_enabled=False)
        page.goto(f"{town.url}/learn?lesson=noise&epsilon=10")
        expect(page.locator("#noise output").first).to_have_text("ε = 5")
