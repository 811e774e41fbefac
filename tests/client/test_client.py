"""`dp.connect` against a real server: the same verbs, the same answers, the same errors as a curator at hand."""

from __future__ import annotations

import json

import pytest

import discreet as dp
from discreet.client.decode import make_answer
from discreet.client.http import Connection, _retry_after
from discreet.plan import Plan
from service.deployment import COUNT, GROUPED, build, free_port, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with serving(
        build(tmp_path_factory.mktemp("client"), port=free_port(), service='grid = "0.1"')
    ) as deployment:
        yield deployment


@pytest.fixture(scope="module")
def ana(server):
    with dp.connect(server.url, token=server.tokens["ana"]) as remote:
        yield remote


@pytest.fixture(scope="module")
def at_hand(server):
    """A curator of the same data with a ledger of its own, to compare with."""
    folder = server.folder
    engine = dp.DuckDB({"people": str(folder / "people.csv"), "wards": str(folder / "wards.csv")})
    ledger = dp.open_ledger(":memory:", dp.PureDP(100))
    return dp.Curator(engine, dp.read_schemas(folder / "people.toml"), ledger, who="ana")


class TestConnecting:
    def test_it_knows_who_and_what(self, ana):
        assert (ana.who, ana.dataset) == ("ana", "people")
        assert list(ana.schemas) == ["people", "wards"]
        assert "dsc_" not in repr(ana)

    def test_one_of_several_data_sets_must_be_named(self, server):
        deployment = server
        with pytest.raises(dp.InvalidArgument, match="people, other"):
            dp.connect(deployment.url, token=deployment.tokens["bob"])
        with dp.connect(deployment.url, token=deployment.tokens["bob"], dataset="other") as remote:
            assert remote.left() == dp.PureDP(1)
        with pytest.raises(dp.InvalidArgument, match="not among your data sets"):
            dp.connect(deployment.url, token=deployment.tokens["ana"], dataset="other")

    def test_a_wrong_token_is_not_allowed(self, server):
        with pytest.raises(dp.NotAllowed, match="no entry"):
            dp.connect(server.url, token="dsc_wrong")

    @pytest.mark.parametrize("url", ["curator.example", "ftp://x", 3, ""])
    def test_what_is_no_address_is_refused(self, url):
        with pytest.raises(dp.InvalidArgument, match="address"):
            dp.connect(url, token="dsc_x")

    @pytest.mark.parametrize("token", [None, "dsc_é", "dsc_\n"])
    def test_what_is_no_token_is_refused(self, server, token):
        with pytest.raises(dp.InvalidArgument, match="a token is text"):
            dp.connect(server.url, token=token)

    def test_nobody_there_is_said_after_some_patience(self):
        with pytest.raises(
            dp.ServiceUnavailable, match="cannot be reached.*nothing was spent"
        ) as lost:
            dp.connect(f"http://127.0.0.1:{free_port()}", token="dsc_x", patience="0.1")
        assert lost.value.spent is None

    def test_something_else_there_is_said_so(self):
        import http.server
        import threading

        class Hello(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(403 if self.path.endswith("me") and self.server.shut else 200)
                self.end_headers()
                self.wfile.write(b"hello")

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Hello) as other:
            threading.Thread(target=other.serve_forever, daemon=True).start()
            url = f"http://127.0.0.1:{other.server_port}"
            for shut, kind in ((False, dp.EngineFailure), (True, dp.NotAllowed)):
                other.shut = shut
                with pytest.raises(kind):
                    dp.connect(url, token="dsc_x")
            other.shutdown()


class TestAsking:
    def test_an_answer_is_an_answer(self, ana):
        answer = ana.sql(GROUPED, spend=dp.PureDP(10), why="first look")
        assert isinstance(answer, dp.Answer)
        assert answer.column("region") == ["N", "S", "E", "W"]
        assert all(abs(n - 100) < 30 for n in answer.column("n"))
        assert answer.interval(0.99)[0]["n"][0] <= answer.column("n")[0]
        assert isinstance(answer.receipt, dp.Receipt)
        assert (answer.receipt.who, answer.receipt.why, answer.receipt.price) == (
            "ana",
            "first look",
            dp.PureDP(10),
        )
        assert dp.verify_receipt(answer.receipt, answer=answer) == answer.receipt
        assert "cost ε = 10; ±" in str(answer) and "entry" in answer.details()
        # The service's sentences, each once: the client knows some of them itself.
        assert answer.details().splitlines() == list(answer.notes)
        assert answer.to_polars().shape == (4, 3)

    def test_the_same_question_is_the_same_answer_and_free(self, ana):
        first = ana.sql(COUNT, spend=dp.PureDP("1/2"))
        left = ana.left()
        assert ana.ask(COUNT, dp.PureDP("1/2")) == first
        assert ana.left() == left

    def test_by_error(self, ana):
        answer = ana.sql(COUNT + " WHERE age < 40", error=5)
        low, high = answer.interval(0.95)[0]["n"]
        assert high - low <= 10
        by_name = ana.sql(GROUPED, error={"n": 20, "income": 20_000}, weights=None)
        assert len(by_name) == 4

    def test_questions_built_in_python_are_asked_as_sql(self, ana, at_hand):
        old = ana.table("people").where(dp.col("age") > 40).count(by="region")
        spend = dp.PureDP("1/3")
        assert ana.plan(old, spend) == at_hand.plan(old, spend)
        assert ana.explain(old, spend).question == at_hand.explain(old, spend).question
        answer = ana.ask(old, spend)
        sql = "SELECT region, COUNT(*) AS count FROM people WHERE age > 40 GROUP BY region"
        assert answer.columns == ("region", "count") and ana.sql(sql, spend) == answer
        assert list(ana.release({"a": old, "b": COUNT}, spend)) == ["a", "b"]
        assert ana.rehearse(old, spend).columns == answer.columns
        with pytest.raises(dp.InvalidArgument, match="there is no table 'pets'"):
            ana.table("pets")

    def test_room_is_for_budgets_with_a_delta(self, ana):
        with pytest.raises(dp.InvalidArgument, match="counts in one measure"):
            ana.room()

    def test_weights_level_and_nonnegative(self, ana):
        answer = ana.sql(
            "SELECT COUNT(*) AS n, SUM(income) AS s FROM people WHERE age > 200",
            spend=dp.PureDP("1/10"),
            weights={"n": 3, "s": "1/2"},
            level=0.9,
            nonnegative=True,
        )
        assert answer.column("n")[0] >= 0

    def test_several_at_once(self, ana):
        answers = ana.release(
            {"a": COUNT + " WHERE age < 33", "b": GROUPED}, spend=dp.PureDP(1), why="both"
        )
        assert list(answers) == ["a", "b"]
        receipt = answers["a"].receipt
        assert receipt == answers["b"].receipt
        assert ana.history().prices[receipt.number] == str(receipt.shown_price()) == "ε = 1"
        assert len(answers["b"]) == 4

    def test_a_join_with_a_public_table_whose_values_are_asked_for(self, ana):
        sql = "SELECT city, COUNT(*) AS n FROM people JOIN wards ON people.age = wards.ward GROUP BY city"
        answer = ana.sql(sql, spend=dp.PureDP(5))
        assert ana.plan(sql, dp.PureDP(5)) == answer.plan
        assert sorted(answer.column("city")) == ["Bergen", "Oslo"]

    def test_explain_plan_and_rehearse_agree_with_a_curator_at_hand(self, ana, at_hand):
        spend = dp.PureDP("3/4")
        sql = COUNT + " WHERE age < 77"
        here, there = at_hand.explain(sql, spend), ana.explain(sql, spend)
        assert (there.question, there.plan, there.price) == (here.question, here.plan, here.price)
        assert str(there.plan) == str(here.plan) and there.shown_price() == here.shown_price()
        assert ana.plan(sql, spend) == at_hand.plan(sql, spend)
        assert isinstance(ana.plan(sql, error=5), Plan)
        assert str(ana.plan({"a": sql, "b": COUNT}, spend)) == str(
            at_hand.plan({"a": sql, "b": COUNT}, spend)
        )
        assert str(ana.plan(sql, spend, error=50)) == str(at_hand.plan(sql, spend, error=50))
        rehearsed = ana.rehearse(sql, spend, rows=20)
        assert "made-up" in rehearsed.caption
        assert rehearsed.receipt is None

    @pytest.mark.parametrize(
        "words",
        [
            {"spend": dp.PureDP(1), "queries": 10, "level": 0.999},
            {"spend": dp.PureDP(1), "queries": 10, "size": 40, "weights": {"n": 3}},
            {
                "spend": dp.PureDP(1),
                "error": {"n": 30, "income": 60_000},
                "level": 0.8,
                "size": 4_000,
            },
            {"error": {"n": 30, "income": 60_000}, "queries": 7, "size": 50},
            {
                "spend": dp.PureDP(1),
                "weights": {"income": 4},
                "size": 40,
                "level": 0.9,
                "nonnegative": True,
            },
        ],
    )
    def test_every_term_reaches_the_plan(self, ana, at_hand, words):
        assert ana.plan(GROUPED, **words) == at_hand.plan(GROUPED, **words)

    def test_terms_of_several_questions_reach_the_plan(self, ana, at_hand):
        asked = {"a": COUNT, "b": GROUPED}
        for words in (
            {"spend": dp.PureDP(1), "weights": {"b": 3}, "level": 0.8},
            {"error": {"a": {"n": 9}, "b": 70}},
        ):
            assert ana.plan(asked, **words) == at_hand.plan(asked, **words)

    def test_a_release_by_the_errors_of_each_question(self, ana):
        asked = {"a": COUNT + " WHERE age < 34", "b": GROUPED}
        answers = ana.release(asked, error={"a": {"n": 30}, "b": {"n": 60, "income": 90_000}})
        assert answers["a"].plan.statistic_errors()["n"] <= 30
        assert answers["b"].plan.statistic_errors()["income"] <= 90_000

    def test_left_spent_history_receipt(self, ana):
        answer = ana.sql(COUNT + " WHERE age < 55", spend=dp.PureDP("1/7"))
        assert isinstance(ana.left(), dp.PureDP)
        assert ana.spent().epsilon >= dp.PureDP("1/7").epsilon
        history = ana.history()
        assert {entry.who for entry in history} == {"ana"}
        assert "charge" in str(history)
        assert ana.receipt(answer.receipt.number) == answer.receipt

    def test_one_key_is_one_request(self, ana):
        first = ana.sql(COUNT + " WHERE age < 66", spend=dp.PureDP("1/7"), key="mine")
        assert ana.sql(COUNT + " WHERE age < 66", spend=dp.PureDP("1/7"), key="mine") == first
        with pytest.raises(dp.InvalidArgument, match="another request"):
            ana.sql(COUNT + " WHERE age < 67", spend=dp.PureDP("1/7"), key="mine")


class TestOtherVersions:
    """A service that plans or writes in another way than this client is not believed."""

    @pytest.fixture(scope="class")
    @classmethod
    def reply(cls, ana):
        plan = ana.plan(COUNT + " WHERE age < 88", dp.PureDP("1/9"))
        terms = {"sql": COUNT + " WHERE age < 88", "spend": {"epsilon": "1/9"}}
        return plan, ana.line.charge("/api/v1/datasets/people/sql", terms)

    def test_the_reply_as_it_is(self, reply):
        plan, found = reply
        assert make_answer(found, plan, {"": plan}).receipt.price == dp.PureDP("1/9")

    def test_another_plan(self, ana, reply):
        """An answer that was planned otherwise is believed, and says how it was charged."""
        other = ana.plan(COUNT + " WHERE age < 88", dp.PureDP("1/8"))
        answer = make_answer(reply[1], other, {"": other})
        assert str(answer.plan).startswith("planned by the service, charged as")
        assert answer.interval(0.9) == make_answer(reply[1], reply[0], {"": reply[0]}).interval(0.9)

    def test_another_question(self, ana, reply):
        other = ana.plan(COUNT + " WHERE age < 89", dp.PureDP("1/9"))
        with pytest.raises(dp.SchemaMismatch, match="another way"):
            make_answer(reply[1], other, {"": other})

    def test_another_level_is_free(self, ana):
        first, second = (
            ana.sql(GROUPED, spend=dp.PureDP("1/9"), level=level) for level in (0.95, 0.5)
        )
        assert first.receipt == second.receipt and first.rows == second.rows

    def test_another_form(self, reply):
        plan, found = reply
        with pytest.raises(dp.SchemaMismatch, match="form"):
            make_answer(found | {"exact": {"answer": 99}}, plan, {"": plan})


class TestRefusals:
    def test_the_budget(self, server):
        with dp.connect(server.url, token=server.tokens["bob"], dataset="other") as bob:
            with pytest.raises(dp.BudgetExceeded) as refused:
                bob.sql(COUNT, spend=dp.PureDP(2))
            assert (refused.value.asked, refused.value.left) == (dp.PureDP(2), dp.PureDP(1))

    @pytest.mark.parametrize(
        ("sql", "kind"),
        [
            ("SELECT * FROM people", dp.UnsupportedQuery),
            ("SELECT COUNT(*) AS n FROM people WHERE agee > 3", dp.SchemaMismatch),
            ("", dp.UnsupportedQuery),
            (3, dp.InvalidArgument),
        ],
    )
    def test_the_question(self, ana, sql, kind):
        for verb in (ana.sql, ana.plan, ana.rehearse):
            with pytest.raises(kind):
                verb(sql, dp.PureDP(1))

    def test_the_terms(self, ana):
        with pytest.raises(dp.InvalidArgument):
            ana.sql(COUNT)
        with pytest.raises(dp.InvalidArgument):
            ana.sql(COUNT, spend=dp.PureDP(1), error=5)
        with pytest.raises(dp.InvalidArgument):
            ana.sql(COUNT, error="much")

    def test_a_receipt_of_somebody_else(self, ana):
        with pytest.raises(dp.NotAllowed):
            ana.receipt(1)


class TestTheLine:
    """What an odd server could send back."""

    @pytest.fixture
    def line(self):
        import httpx

        def line_to(*responses):
            left = list(responses)

            def answer(_request):
                found = left.pop(0) if len(left) > 1 else left[0]
                if isinstance(found, Exception):
                    raise found
                return httpx.Response(
                    found[0], json=found[1], headers=found[2] if len(found) > 2 else {}
                )

            return Connection(
                httpx.Client(transport=httpx.MockTransport(answer), base_url="http://x"), 5.0
            )

        return line_to

    def test_busy_is_tried_again(self, line):
        busy = {"error": {"kind": "LedgerConflict", "message": "busy"}}
        made = line(
            (503, busy, {"Retry-After": "0"}), (429, busy, {"Retry-After": "0"}), (200, {"n": 1})
        )
        assert made.get("/x") == {"n": 1}

    def test_busy_for_too_long_is_raised(self, line):
        made = line(
            (503, {"error": {"kind": "LedgerConflict", "message": "busy"}}, {"Retry-After": "0"})
        )
        with pytest.raises(dp.LedgerConflict, match="busy"):
            Connection(made.http, 0.0).get("/x")

    def test_a_lost_connection_is_tried_again(self, line):
        import httpx

        assert line(httpx.ConnectError("gone"), (200, {"n": 1})).post("/x", {}) == {"n": 1}

    @pytest.mark.parametrize(
        "kind", [dp.LedgerConflict, dp.LedgerUnavailable, dp.ServiceUnavailable]
    )
    def test_what_the_service_says_of_itself_is_raised_as_its_kind(self, line, kind):
        said = {"error": {"kind": kind.__name__, "message": "not now"}}
        with pytest.raises(kind, match="not now") as raised:
            Connection(line((503, said, {"Retry-After": "0"})).http, 0.0).charge("/x", {})
        assert type(raised.value) is kind

    def test_nothing_was_spent_where_nothing_was_sent(self, line):
        """Only where no attempt got through: a line that broke once may have carried the question."""
        import httpx

        for refused in (
            httpx.ConnectError("gone"),
            httpx.ConnectTimeout("gone"),
            httpx.PoolTimeout("gone"),
        ):
            with pytest.raises(dp.ServiceUnavailable, match="nothing was sent") as unsent:
                Connection(line(refused).http, 0.0).charge("/x", {}, "", dp.PureDP(1))
            assert unsent.value.spent is None
        for broken in (
            httpx.ReadError("cut"),
            httpx.ReadTimeout("silent"),
            httpx.WriteError("cut"),
        ):
            with pytest.raises(dp.Unreachable, match="ε = 1 may have been spent") as lost:
                Connection(line(broken, httpx.ConnectError("gone")).http, 0.3).charge(
                    "/x", {}, "", dp.PureDP(1)
                )
            assert type(lost.value) is dp.Unreachable and lost.value.spent == dp.PureDP(1)

    def test_what_was_sent_before_may_have_been_spent(self, line):
        """Under a key of an earlier request, or while its job is followed."""
        import httpx

        gone, waiting = httpx.ConnectError("gone"), {"id": "j", "state": "running", "again_in": 0.0}
        for made, key in ((line(gone), "mine"), (line((202, waiting), gone), "")):
            with pytest.raises(dp.Unreachable, match="may have been spent") as lost:
                Connection(made.http, 0.0).charge("/x", {}, key, dp.PureDP(1))
            assert lost.value.spent == dp.PureDP(1)

    def test_a_job_is_followed(self, line):
        waiting = {"id": "j", "state": "running", "again_in": 0.0}
        done = waiting | {"state": "done", "status": 200, "reply": {"n": 2}}
        assert line((202, waiting), (200, waiting), (200, done)).charge("/x", {}) == {"n": 2}

    def test_a_job_that_was_refused_raises(self, line):
        waiting = {"id": "j", "state": "running", "again_in": 0.0}
        refused = {
            "error": {
                "kind": "Cancelled",
                "message": "the query was cancelled before it was answered",
            }
        }
        with pytest.raises(dp.Cancelled, match="cancelled"):
            line((202, waiting), (200, waiting | {"status": 409, "reply": refused})).charge(
                "/x", {}
            )

    def test_a_job_that_never_ends_is_not_followed_for_ever(self, line):
        waiting = {"id": "j", "state": "running", "again_in": 0.0}
        made = line((202, waiting), (200, waiting))
        with pytest.raises(
            dp.Unreachable, match="within 0.1 s; ε = 1 may have been spent: .* charged once"
        ) as lost:
            Connection(made.http, 5.0, 0.1).charge("/x", {}, "mine", dp.PureDP(1))
        assert (lost.value.spent, lost.value.key) == (dp.PureDP(1), "mine")

    @pytest.mark.parametrize("again", ["soon", None, float("1e400"), -3])
    def test_a_job_that_says_nonsense_is_asked_again_all_the_same(self, line, again):
        import httpx

        bodies = iter(
            [{"id": "j", "again_in": again}, {"id": "j", "status": 200, "reply": {"n": 2}}]
        )
        codes = iter([202, 200])

        def answer(_request):
            return httpx.Response(next(codes), content=json.dumps(next(bodies)))

        made = Connection(
            httpx.Client(transport=httpx.MockTransport(answer), base_url="http://x"), 5.0, 5.0
        )
        assert made.charge("/x", {}) == {"n": 2}

    @pytest.mark.parametrize("status", [502, 503, 504])
    def test_a_gateway_that_finds_nobody_is_tried_again(self, line, status):
        page = "<html>Bad Gateway</html>"
        assert line((status, page, {"Retry-After": "0"}), (200, {"n": 1})).get("/x") == {"n": 1}
        away = Connection(line((status, page, {"Retry-After": "0"})).http, 0.0)
        with pytest.raises(dp.Unreachable, match=f"HTTP {status}.*nothing was spent"):
            away.get("/x")
        with pytest.raises(
            dp.Unreachable, match=f"HTTP {status}.*its price may have been spent"
        ) as lost:
            away.charge("/x", {})
        assert lost.value.key

    def test_a_store_that_failed_is_an_answer(self, line):
        failed = {"error": {"kind": "EngineFailure", "message": "the store could not answer"}}
        with pytest.raises(dp.EngineFailure, match="the store"):
            line((502, failed), (200, {"n": 1})).get("/x")

    @pytest.mark.parametrize(
        "again",
        [
            {
                "Retry-After": "Mon, 16 Nov 2026 12:00:00 GMT",
                "Date": "Mon, 16 Nov 2026 12:00:00 GMT",
            },
            {"Retry-After": "Mon, 16 Nov 1998 12:00:00 GMT"},
            {"Retry-After": "0"},
        ],
    )
    def test_when_to_come_again_is_seconds_or_a_date(self, line, again):
        busy = {"error": {"kind": "LedgerConflict", "message": "busy"}}
        assert line((503, busy, again), (200, {"n": 1})).get("/x") == {"n": 1}

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({}, 1.0),
            ({"Retry-After": "7"}, 7.0),
            (
                {
                    "Retry-After": "Mon, 16 Nov 2026 12:01:30 GMT",
                    "Date": "Mon, 16 Nov 2026 12:00:00 GMT",
                },
                90.0,
            ),
            ({"Retry-After": "in a while"}, 1.0),
            ({"Retry-After": "-5"}, 1.0),
            ({"Retry-After": "nan"}, 1.0),
        ],
    )
    def test_how_long_that_is(self, headers, seconds):
        import httpx

        assert _retry_after(httpx.Response(503, headers=headers)) == seconds

    def test_a_deletion_is_confirmed(self, line):
        assert line((200, {"gone": True})).delete("/x") == {"gone": True}

    def test_a_path_that_is_none_is_refused(self, line):
        with pytest.raises(dp.InvalidArgument, match="no path"):
            line((200, {})).get("/x\x00")
