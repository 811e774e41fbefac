"""What goes wrong, and how kindly it is said."""

from __future__ import annotations

from playwright.sync_api import expect

from .conftest import editor, enter, screen, sign_in
from .test_analyst import ask


class TestDoor:
    """Nobody comes in, or stays in, without a session that holds."""

    def test_wrong_token(self, town, window):
        page = window(excused=(401,))
        page.goto(f"{town.url}/workbench/town")
        page.get_by_label("Your token").fill("dsc_wrong")
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("alert")).to_contain_text("does not work")
        page.get_by_label("Your token").fill(town.analyst)
        page.get_by_role("button", name="Sign in").click()
        expect(page).to_have_url(f"{town.url}/workbench/town")  # where the way began

    def test_expired_session_while_typing(self, town, window):
        page = window()
        sign_in(page, town, town.analyst)
        town.state.store.ask("UPDATE discreet_sessions SET expires = 0")
        ask(page, "SELECT COUNT(*) AS n FROM people")
        expect(page.get_by_role("status")).to_contain_text("session has ended")
        page.get_by_label("Your token").fill(town.analyst)
        page.get_by_role("button", name="Sign in").click()
        expect(editor(page)).to_have_value("SELECT COUNT(*) AS n FROM people")

    def test_revoked_people_are_out_at_once(self, town, window):
        _, token = town.state.people.add("gone", "analyst", ["town"])
        page = window()
        sign_in(page, town, token)
        town.state.people.revoke("gone")
        page.reload()
        expect(page.get_by_label("Your token")).to_be_visible()

    def test_forged_form(self, town, window):
        page = window(excused=(403,))
        before = town.state.datasets.ledger("town").spent()
        enter(page, town, town.analyst)
        page.evaluate("document.querySelector('#ask [name=csrf]').value = 'forged'")
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#answer").get_by_role("alert")).to_contain_text(
            "did not come from this service's own page"
        )
        assert town.state.datasets.ledger("town").spent() == before

    def test_steward_rooms_are_shut_for_analysts(self, town, window):
        page = window(excused=(403,))
        enter(page, town, town.analyst)
        for path in ("/steward", "/steward/town", "/people"):
            page.goto(town.url + path)
            expect(page.get_by_role("alert")).to_contain_text("for stewards")

    def test_data_sets_of_others(self, town, window):
        _, token = town.state.people.add("visitor", "analyst", ["archive"])
        page = window(excused=(403,))
        enter(page, town, token)
        expect(page).to_have_url(f"{town.url}/workbench/archive")
        page.goto(f"{town.url}/workbench/town")
        expect(page.get_by_role("alert")).to_contain_text("not among your data sets")

    def test_no_such_page(self, town, window):
        page = window(excused=(404,))
        page.goto(f"{town.url}/nowhere")
        expect(page.get_by_role("heading")).to_have_text("There is no such page")

    def test_somebody_with_no_data_set_left(self, town, window):
        _, token = town.state.people.add("early", "analyst", ["later"])
        page = window()
        enter(page, town, token)
        expect(page.get_by_role("heading")).to_have_text("Nothing here yet")


class TestQuestions:
    """A refusal stands beside the clause it is about, before anything is spent."""

    CLAUSES = {
        "incme": (
            "SELECT district, AVG(incme) AS i\nFROM people\nGROUP BY district",
            "did you mean income?",
        ),
        "SELECT *": ("SELECT * FROM people", "aggregates"),
        "WINDOW": (
            "SELECT COUNT(*) AS n\nFROM people\nWINDOW w AS (ORDER BY n)",
            "not supported",
        ),
        "FROM": ("SELECT COUNT(* FROM people", "brackets"),
        "street": ("SELECT street, COUNT(*) AS n\nFROM people\nGROUP BY street", "not public"),
    }

    def test_beside_the_clause(self, town, window):
        page = window()
        enter(page, town, town.analyst)
        for marked, (sql, word) in self.CLAUSES.items():
            ask(page, sql)
            refusal = page.locator("#explained .refusal")
            expect(refusal).to_contain_text(word)
            expect(refusal.locator("mark")).to_have_text(marked)
            expect(page.locator("#mirror mark")).to_have_text(marked)
        screen(page, "refusal-of-a-key")

    def test_more_than_is_left(self, town, window):
        page, before = window(), town.state.datasets.ledger("town").spent()
        enter(page, town, town.analyst)
        ask(page, "SELECT COUNT(*) AS n FROM people", "4")
        expect(page.locator("#explained .refusal")).to_contain_text("costs more than is left")
        expect(page.get_by_role("button", name="Run")).to_be_disabled()
        expect(page.locator("#explained .refusal")).to_contain_text("it would be off: n by ± ")
        editor(page).press("Control+Enter")
        ask(page, "SELECT COUNT(*) AS n FROM people", "0.1")
        expect(page.get_by_role("button", name="Run")).to_be_enabled()
        expect(page.locator("#answer > *")).to_have_count(0)
        assert town.state.datasets.ledger("town").spent() == before

    def test_amounts_that_are_none(self, town, window):
        page = window()
        enter(page, town, town.analyst)
        for spend in ("", "much", "0", "1/0", "-1", "1e999"):
            ask(page, "SELECT COUNT(*) AS n FROM people", spend)
            expect(page.locator("#explained .refusal")).to_contain_text("ε to spend")
            ask(page, "SELECT COUNT(*) AS n FROM people", "1")
            expect(page.locator("#explained .refusal")).to_have_count(0)

    def test_withdrawn_allowance(self, town, window):
        _, token = town.state.people.add("poor", "analyst", ["archive"])
        town.state.datasets.ledger("archive").allow("poor", None)
        page = window()
        enter(page, town, token)
        expect(page.locator("#explained .refusal")).to_contain_text("no allowance")

    def test_refused_runs_say_why_in_place_of_the_answer(self, town, window):
        page = window(excused=(422,))
        enter(page, town, town.analyst)
        editor(page).fill("SELECT age FROM people")
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#answer .refusal")).to_contain_text("shows rows of people")
        page.get_by_role("button", name="Rehearse on made-up data").click()
        expect(page.locator("#answer .refusal")).to_contain_text("shows rows of people")

    def test_names_and_values_are_never_markup(self, town, window):
        page = window()
        enter(page, town, town.analyst)
        ask(
            page,
            "SELECT COUNT(*) AS n FROM people WHERE district = '<img src=x onerror=alert(1)>' AND <b>oops</b>",
        )
        expect(page.locator("#explained .refusal")).to_be_visible()
        assert page.locator("#explained img, #explained b").count() == 0


class TestJobs:
    """A long question can be stopped."""

    def test_cancel(self, town, window):
        page = window()
        enter(page, town, town.analyst, "/workbench/country")
        editor(page).fill("SELECT AVG(age) AS age FROM people")
        page.get_by_label("ρ to spend").fill("0.01")
        page.get_by_role("button", name="Run").click()
        expect(page.locator("#answer h2")).to_have_text("Running")
        expect(page.locator("#answer progress")).to_be_visible()
        screen(page, "running")
        other = window()
        enter(other, town, town.steward, "/steward/country")
        expect(other.get_by_role("region", name="Table of what runs")).to_contain_text("ana")
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#answer h2")).to_have_text("Cancelled")
        assert not town.state.jobs.job_store.pending()

    def test_jobs_of_others_are_unknown(self, town, window):
        page = window(excused=(403,))
        enter(page, town, town.analyst)
        ask(page, "SELECT COUNT(*) AS mine FROM people", "0.01")
        page.get_by_role("button", name="Run").click()
        expect(page.get_by_role("region", name="Answer as a table")).to_contain_text("mine")
        job = town.state.store.ask(
            "SELECT id FROM discreet_jobs WHERE person = 'ana' ORDER BY created DESC"
        )[0][0]
        # A steward of the data set may open it (decision 139); a colleague may not.
        _, colleague = town.state.people.add("nosy", "analyst", ["town"])
        page.context.clear_cookies()
        enter(page, town, colleague)
        for end in ("", "/table.csv", "/receipt.json"):
            page.goto(f"{town.url}/answers/{job}{end}")
            expect(page.get_by_role("alert")).to_contain_text("no such job")
