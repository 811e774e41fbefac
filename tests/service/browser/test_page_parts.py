"""The parts of the pages, one by one, and what they answer to requests that no browser of ours would send."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import httpx
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, NotAllowed
from discreet.ledger.parts import Parts
from discreet.lessons import many_answers as lesson_curve
from discreet.lessons import routes as learn
from discreet.plan.asked.terms import Terms
from discreet.service.pages import (
    answer_view,
    ask_form,
    explanation_view,
    page_request,
    refusal_view,
)
from discreet.service.pages.charts import spending, tradeoff
from discreet.service.pages.charts.amount import BudgetBar, amount, left_bar
from discreet.service.pages.charts.answer import Bar, answer_chart
from discreet.service.pages.charts.chart import plain
from discreet.service.pages.charts.series import charts_of
from discreet.show.scale import ChartScale, decades, linear
from discreet.wire.json_text import write_json
from discreet.wire.verbs.question import Ask

PEOPLE = dp.Schema(
    "people", dp.Rows(), {"age": dp.Integer(0, 110), "street": dp.Text(max_length=9)}
)


class TestClause:
    """A refusal points at the clause it names, wherever it stands, and at nothing if it names none."""

    @pytest.mark.parametrize(
        ("sql", "message", "marked", "line"),
        [
            (
                "SELECT 1\nWHERE a > now()",
                "NOW(): it is not among what can be asked privately",
                "now()",
                2,
            ),
            ("SELECT LOG(\n x)", "LOG(): it is not among", "LOG", 1),
            ("a = ( SELECT 1)", "a sub-query in an expression: it is not among", "( SELECT", 1),
            (
                "SELECT a\nGROUP  BY zip",
                "the keys of zip, sex are not public, and selecting them needs a δ",
                None,
                None,
            ),
            (
                "SELECT a\nGROUP BY zip",
                "the keys of zip, sex are not public, and selecting them needs a δ",
                "zip",
                2,
            ),
            ("SELECT a\nHAVING b", "there is no bound; use it in HAVING", "HAVING", 2),
            ("SELECT a", "this SQL cannot be read near line 9, column 1", None, None),
            ("   ", "this SQL cannot be read near line 1, column 2", None, None),
            ("SELECT a FRM b\n", "this SQL cannot be read near line 1, column 14; check", "b", 1),
        ],
    )
    def test_place(self, sql, message, marked, line):
        found = refusal_view.place_of(sql, message)
        assert (found and (found.marked, found.line)) == (marked and (marked, line))
        if found:
            assert sql[found.start : found.end] == marked
            assert found.before + found.marked + found.after == sql.splitlines()[line - 1]

    def test_every_kind_has_a_title(self):
        assert {
            refusal_view.word_refusal(kind, "x").title
            for kind in ("NotAllowed", "UnsupportedQuery", "")
        } == {
            "You may not ask this",
            "This cannot be asked privately as written",
            "An error happened",
        }


class TestForm:
    """The form speaks in the measure of the ledger's budget."""

    @pytest.mark.parametrize(
        ("budget", "symbol", "last", "delta"),
        [
            (dp.PureDP(3), "ε", "3", False),
            (dp.ApproxDP(1, 1e-6), "ε", "1", True),
            (dp.ApproxDP(1, 0), "ε", "1", False),
            (dp.ZCDP("1/2"), "ρ", "0.5", False),
            (dp.GaussianDP(2), "μ", "2", False),
            (dp.RenyiDP({2: 1, 8: 4}), "ε", "3", False),
            (dp.PureDP("1e-7"), "ε", "1e-07", False),
        ],
    )
    def test_unit(self, budget, symbol, last, delta):
        unit = ask_form.unit_of(budget)
        assert (unit.symbol, unit.steps[-1], bool(unit.delta)) == (symbol, last, delta)
        spend = ask_form.ask_of(ask_form.read_fields({"sql": "SELECT 1"}, unit), unit).terms.spend
        assert amount(spend) > 0

    def test_measures(self):
        made = {
            symbol: ask_form.BudgetUnit(symbol, ("1",), 0, delta=True).measure(
                Fraction(2), Fraction(1, 9)
            )
            for symbol in "ρμε"
        }
        assert made == {"ρ": dp.ZCDP(2), "μ": dp.GaussianDP(2), "ε": dp.ApproxDP(2, "1/9")}

    @pytest.mark.parametrize("error", ["", "n = ", "0", "n = 5, m", "10000000000000000"])
    def test_errors_that_are_none(self, error):
        unit = ask_form.unit_of(dp.PureDP(1))
        with pytest.raises(InvalidArgument):
            ask_form.ask_of(
                ask_form.read_fields({"sql": "SELECT 1", "mode": "error", "error": error}, unit),
                unit,
            )

    def test_examples_fit_the_schema(self):
        bare = dp.Schema("notes", dp.Rows(), {"note": dp.Text(max_length=5)})
        codes = dp.Schema.public_table("codes", {"code": dp.Integer(1, 9)})
        full = dp.Schema("t", dp.Rows(), {"k": dp.Category(["a", "b"]), "x": dp.Real(0, 1)})
        for schemas in ((bare,), (codes, full), (PEOPLE,), (codes,)):
            for _, sql in ask_form.examples_of(schemas):
                assert "FROM" in sql
        for _, sql in ask_form.examples_of((full,)):
            dp.parse_sql(sql, {"t": full})


class TestAmounts:
    """What is spent, asked and left add up to the whole bar."""

    def test_bar(self):
        over = left_bar(BudgetBar(dp.PureDP(2), dp.PureDP(1), dp.PureDP(5)))
        assert 'class="left over"' in over and 'x="66.67" width="33.33"' in over
        little = left_bar(BudgetBar(dp.PureDP(0), dp.PureDP(1), dp.PureDP("1/100000")))
        assert 'width="0.6"' in little  # what costs anything can be seen
        assert 'x="0" width="0"' in left_bar(BudgetBar(dp.PureDP(0), dp.PureDP(1), dp.PureDP(0)))
        assert BudgetBar(dp.PureDP(0), dp.PureDP(0)).share(dp.PureDP(0)) == 0.0

    def test_renyi_counts_at_its_first_order(self):
        assert amount(dp.RenyiDP({2: "1/2", 8: 4})) == Fraction(1, 2)


class TestCharts:
    """Axes end at round numbers and hold what they show."""

    def test_scales(self):
        assert ChartScale(0, 1, 10, 20).place(7) == 20 and ChartScale(0, 1, 10, 20).place(-7) == 10
        assert ChartScale(0, 0, 10, 20).place(0) == 10
        assert linear(-3.2, 7.1, 0, 1) == ChartScale(-5.0, 10.0, 0, 1)
        assert (decades(1, 1, 0, 1).low, decades(1, 1, 0, 1).high) == (1.0, 10.0)
        assert [plain(v) for v in (-2.5e-7, 1e6, 123456.0)] == [
            "−2.5 × 10⁻⁷",
            "10⁶",
            "123\u202f456",
        ]

    def test_long_answers_are_cut(self):
        bars = [Bar(f"a very long name of a key {k}", k, k - 1, k + 1) for k in range(60)]
        drawn = answer_chart("n", bars, 0.95)
        assert drawn.count('class="dot"') == 40 and "a very long nam…" in drawn

    def test_ordered_keys_are_a_line_with_all_of_them(self):
        days = [(date(2024, 1, 1) + timedelta(days=k)).isoformat() for k in range(730)]
        columns = [{"name": "day", "noisy": False, "ordered": True}, {"name": "n", "noisy": True}]
        reply = {
            "columns": columns,
            "rows": [[day, 5.0] for day in days],
            "intervals": [[None, [4.0, 6.0]]] * 730,
        }
        [chart] = charts_of(reply, 0.95)
        assert (chart.name, chart.note) == ("n by day", "")
        assert (
            "730 values of n along day" in chart.picture
            and chart.picture.count('class="band"') == 1
        )
        assert "dot" not in chart.picture and days[0] in chart.picture and days[-1] in chart.picture

    def test_two_keys_are_small_multiples_to_one_scale(self):
        columns = [{"name": "sex", "noisy": False}, {"name": "age", "noisy": False, "ordered": True},
                   {"name": "n", "noisy": True}]  # fmt: skip
        rows = [[sex, age, float(age)] for sex in "fm" for age in range(120)]
        reply = {
            "columns": columns,
            "rows": rows,
            "intervals": [[None, None, [r[2] - 1, r[2] + 1]] for r in rows],
        }
        charts = list(charts_of(reply, 0.95))
        assert [chart.name for chart in charts] == ["n by age, sex = f", "n by age, sex = m"]
        assert all("120 values of n along age" in chart.picture for chart in charts)

    def test_names_are_escaped(self):
        drawn = answer_chart("<b>", [Bar("<script>", 1, 0, 2)], 0.95)
        assert "<script>" not in drawn and "<b>" not in drawn


class TestAnswers:
    """The view of an answer is made from the reply that programs get."""

    REPLY = {
        "level": "0.95",
        "columns": [
            {"name": "k", "noisy": False},
            *({"name": f"c{i}", "noisy": True} for i in range(6)),
        ],
        "rows": [["=1+1", 5.0, None, "mode", 1.0, 2.0, 3.0]] * 250,
        "intervals": [[None, [4.0, 7.0], [0.0, 9.0], ["a", "b"], [0.0, 2.0], [1.0, 3.0], None]]
        * 250,
        "caption": "ε = 1 of ε = 3, entry 2 of the ledger",
        "receipt": None,
    }

    def test_view(self):
        view = answer_view.answer_view(self.REPLY, "SELECT 1")
        assert [(cell.value, cell.error) for cell in view.tables[0].rows[0].cells] == [
            ("=1+1", ""),
            ("5", "(4 to 7)"),
            ("NULL", "(0 to 9)"),
            ("mode", "(a to b)"),
            ("1", "± 1"),
            ("2", "± 1"),
            ("3", ""),
        ]
        assert (len(view.tables[0].rows), view.more) == (200, 50)
        # A reply that an older release stored.
        assert (view.caption, view.details) == (self.REPLY["caption"], ())
        assert [chart.name for chart in view.charts] == ["c0 by k", "c3 by k", "c4 by k"]
        assert {chart.note for chart in view.charts} == {
            "40 of 250 groups are drawn; the table has all of them"
        }

    def test_csv_holds_no_formula(self):
        lines = answer_view.answer_csv(self.REPLY).splitlines()
        assert lines[0] == "k,c0,c0_low,c0_high,c1,c1_low,c1_high,c2,c2_low,c2_high" + "".join(
            f",c{i},c{i}_low,c{i}_high" for i in (3, 4, 5)
        )
        assert lines[1].startswith("'=1+1,5.0,4.0,7.0,,0.0,9.0,mode,a,b,") and lines[1].endswith(
            "3.0,,"
        )


class TestExplained:
    """A plan is told by statistic; unknown keys come first."""

    def test_unknown_keys_and_rows(self):
        sql = "SELECT street, COUNT(*) AS n, MEDIAN(age) AS m FROM people GROUP BY street"
        plan = dp.plan.plan_question(dp.parse_sql(sql, {"people": PEOPLE}), dp.ApproxDP(1, 1e-6))
        rows = explanation_view.plan_rows(plan)
        assert [row.name for row in rows] == ["groups", "n", "m"]
        # The error of a quantile is in rows, with the range of what data may bring.
        assert rows[0].error == "only common ones" and rows[2].error.startswith("± 0 to ")

    def test_no_curve_where_none_can_be_drawn(self):
        store = dp.Memory({"people": [{"age": 1, "street": "a"}]})
        curator = dp.Curator(store, [PEOPLE], dp.open_ledger(":memory:", dp.PureDP(1)))
        unit = ask_form.unit_of(dp.PureDP(1))
        assert (
            tradeoff.tradeoff(
                curator, Ask("SELECT street, COUNT(*) AS n FROM people GROUP BY street"), unit
            )
            == ""
        )
        small = ask_form.BudgetUnit("ε", ("60", "70"), 0, delta=False)  # no error is left to draw
        assert (
            tradeoff.tradeoff(
                curator, Ask("SELECT COUNT(*) AS n FROM people", Terms(dp.PureDP(1))), small
            )
            == ""
        )
        shown = tradeoff.tradeoff(
            curator, Ask("SELECT COUNT(*) AS n FROM people", Terms(dp.PureDP(60))), unit
        )
        assert shown.count("<circle") == 1


class TestSpending:
    """What was spent over time ends at what the books say."""

    def test_adds_up(self):
        ledger = dp.open_ledger(":memory:", dp.PureDP(3))
        for scale in (2, 4, 4):
            ledger.charge(dp.Laplace(scale, 1).event, who="ana")
        points = spending.spent_over_time(ledger)
        assert [point.spent for point in points] == [0.5, 0.75, 1.0]
        assert spending.spent_over_time(dp.open_ledger(":memory:", dp.PureDP(3))) == ()

    def test_parts_and_windows(self):
        parts = Parts("people", "age", [1, 2])
        ledger = dp.open_ledger(
            ":memory:", dp.PureDP(3), neighbours="add-remove", parts=parts, window="year"
        )
        for part in (1, 2, None, 2):
            ledger.charge(dp.Laplace(2, 1).event, who="ana", part=part)
        assert [point.spent for point in spending.spent_over_time(ledger)] == [0.5, 0.5, 1.0, 1.5]

    def test_an_epsilon_delta_budget_is_shown_in_its_own_measure(self):
        """Gaussian noise adds up in μ², which is no part of ε: each point is the ε that fits no more at once."""
        ledger = dp.open_ledger(":memory:", dp.ApproxDP(3, "1e-6"))
        spent = []
        for event in (dp.Laplace(2, 1).event, dp.Gaussian(10, 1).event, dp.Gaussian(5, 1).event):
            ledger.charge(event, who="ana")
            spent.append(float(ledger.spent().epsilon))
        points = spending.spent_over_time(ledger)
        assert [point.spent for point in points] == spent == sorted(set(spent)) and spent[-1] <= 3

    def test_only_charges_have_a_price(self):
        ledger = dp.open_ledger(":memory:", dp.PureDP(3))
        assert spending.price_of(ledger.history()[0], ledger.promise()) == ""
        other = dp.open_ledger(":memory:", dp.ZCDP(3))
        charge = other.charge(dp.Gaussian(2, 1).event, who="ana")
        assert spending.price_of(charge, other.promise()) == "ρ = 0.125"
        # Gaussian noise has no pure price.
        assert spending.price_of(charge, ledger.promise()) == ""

    @pytest.mark.parametrize(
        ("days", "form"),
        [(0, r"\d\d:\d\d:\d\d"), (1, r"\d\d:\d\d<"), (30, r"\d\d \w+<"), (900, r"\w+ \d{4}<")],
    )
    def test_dates(self, days, form):
        now = datetime(2026, 6, 1, 12, tzinfo=UTC)
        drawn = spending.spending_chart(
            [spending.Point(now - timedelta(days=days), 1.0)], 3.0, "ε", now
        )
        assert re.search(form, drawn)
        assert "1 of 3 is spent" in drawn


class TestLessons:
    """Numbers of the learning corner, by independent means."""

    def test_looser_than_the_curve(self):
        assert round(lesson_curve.tail_bound(1, 1), 4) == 0.3085
        curve = dp.compose([dp.Gaussian(1, 1).event])
        assert round(curve.delta(epsilon=1), 4) == 0.1269
        for epsilon in (0.1, 0.5, 1.0, 2.0, 4.0):
            assert curve.delta(epsilon=epsilon) < lesson_curve.tail_bound(1, epsilon)

    @pytest.mark.parametrize("name", sorted(learn.LESSONS))
    @pytest.mark.parametrize("place", ["0", "999"])
    def test_ends_of_every_slider(self, name, place):
        made = learn.LESSONS[name]({})
        moved = learn.LESSONS[name]({slide.name: place for slide in made.slides})
        assert all(slide.place in (0, len(slide.values) - 1) for slide in moved.slides)
        assert "nan" not in moved.picture and "inf" not in moved.picture


class TestRequests:
    """What a browser of ours would not send."""

    @pytest.fixture
    def signed(self, town):
        """Somebody signed in, and the second secret of the session."""
        with httpx.Client(base_url=town.url, timeout=60) as client:
            reply = client.post(
                "/sign-in", data={"token": town.analyst, "next": "//elsewhere.example"}
            )
            assert (reply.status_code, reply.headers["Location"]) == (303, "/")
            assert reply.headers["Set-Cookie"].endswith(
                "HttpOnly; Max-Age=43199; Path=/; SameSite=strict"
            )
            client.csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/history").text)[1]
            yield client

    def test_forms_that_cannot_be_read(self, signed):
        for content in (b"a=%ff", b"\xff", b"&".join(b"a%d=1" % k for k in range(200))):
            reply = signed.post("/workbench/town/run", content=content)
            assert reply.status_code == 422 and "cannot be read" in reply.text

    def test_without_the_second_secret(self, signed):
        for path in (
            "/workbench/town/run",
            "/workbench/town/explain",
            "/sign-out",
            "/answers/x/cancel",
            "/sign-in",
        ):
            assert signed.post(path, data={"token": "x", "sql": "SELECT 1"}).status_code == 403

    def test_from_another_site(self, town, signed):
        for form in ({"token": town.analyst}, {"csrf": signed.csrf, "token": town.analyst}):
            reply = signed.post(
                "/sign-in", data=form, headers={"Origin": "https://elsewhere.example"}
            )
            assert reply.status_code == 403

    def test_signing_in_again_ends_the_first_session(self, town, signed):
        first = dict(signed.cookies)
        assert (
            signed.post("/sign-in", data={"token": town.steward, "csrf": signed.csrf}).status_code
            == 303
        )
        assert signed.get("/people").status_code == 200
        assert httpx.get(f"{town.url}/history", cookies=first).status_code == 303

    def test_answers_as_pages(self, signed):
        form = {"csrf": signed.csrf, "sql": "SELECT * FROM people", "spend": "1"}
        refused = signed.post("/workbench/town/run", data=form)
        assert refused.status_code == 422 and "<!doctype html>" in refused.text
        rehearsed = signed.post(
            "/workbench/town/rehearse", data=form | {"sql": "SELECT COUNT(*) AS n FROM people"}
        )
        assert rehearsed.status_code == 200 and "made-up data" in rehearsed.text

    def test_cancelling_without_a_script(self, town, signed):
        form = {
            "csrf": signed.csrf,
            "sql": "SELECT MEDIAN(age) AS a FROM people",
            "spend": "0.02",
            "mark": "one",
        }
        places = {
            signed.post("/workbench/country/run", data=form).headers["Location"] for _ in range(2)
        }
        [place] = places  # sent twice, one job
        assert signed.get(f"{place}/table.csv").status_code == 403
        assert (
            signed.post(f"{place}/cancel", data={"csrf": signed.csrf}).headers["Location"] == place
        )
        page = signed.get(place).text
        while "Cancelled" not in page:
            page = signed.get(place).text
        assert "cancelled" in signed.get("/history").text

    def test_jobs_that_were_refused(self, town, signed):
        body = write_json(Ask("SELECT COUNT(*) AS n FROM people", Terms(dp.PureDP(50))).to_json())
        job = town.state.jobs.put("ana", "town", "sql", body)
        while "Running" in (page := signed.get(f"/answers/{job.id}").text) or "Waiting" in page:
            pass
        assert "This costs more than is left" in page

    def test_too_fast(self, town, signed, monkeypatch):
        limits = town.state.limits
        monkeypatch.setattr(limits, "_asked", type(limits._asked)(1))
        form = {"csrf": signed.csrf, "sql": "SELECT COUNT(*) AS n FROM people", "spend": "0.1"}
        seen = [
            signed.post("/workbench/town/explain", data=form, headers={"X-Piece": "1"})
            for _ in range(2)
        ]
        assert [reply.status_code for reply in seen] == [200, 429]
        assert "Too many requests" in seen[1].text

    def test_what_breaks_is_told_in_constant_words(self, town, signed, monkeypatch):
        def broken(*_, **__):
            raise ValueError("a secret of one person")

        monkeypatch.setattr(type(town.state.datasets), "allowed", broken)
        reply = signed.get("/workbench")
        assert (
            reply.status_code == 500
            and "An error happened" in reply.text
            and "secret" not in reply.text
        )

    def test_programs_keep_their_own_words(self, town):
        for path in ("/api/v1/nowhere", "/metrics/x"):
            assert httpx.get(town.url + path).headers["Content-Type"].startswith("application/json")
        assert httpx.get(f"{town.url}/learn/nowhere").status_code == 404
        assert httpx.get(f"{town.url}/static/../app.py").status_code == 404

    def test_verification_as_a_page(self, town):
        with httpx.Client(base_url=town.url, timeout=60) as client:
            client.post("/sign-in", data={"token": town.steward})
            csrf = re.search(r'name="csrf" value="([^"]+)"', client.get("/people").text)[1]
            reply = client.post("/steward/archive/verify", data={"csrf": csrf})
            assert "The ledger is intact" in reply.text and "<!doctype html>" in reply.text
            assert client.post("/people/nobody/revoke", data={"csrf": csrf}).status_code == 403
            assert client.post("/steward/nowhere/allow", data={"csrf": csrf}).status_code == 403


def test_nobody_is_nobody(town):
    with pytest.raises(NotAllowed, match="nobody is signed in"):
        _ = page_request.PageRequest(town.state, None, {}, None).person


def test_only_pages_of_this_service():
    assert [
        page_request.local_path(path)
        for path in (None, "/\\x", "/a\nb", "/" + "a" * 3000, "/ok?x=1")
    ] == [
        "/",
        "/",
        "/",
        "/",
        "/ok?x=1",
    ]
