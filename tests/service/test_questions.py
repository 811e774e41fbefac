"""The verbs over HTTP give what the library gives."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import discreet as dp
from discreet.service.app import build_app
from discreet.service.config import read_config
from service.deployment import COUNT, GROUPED, ONE, build
from service.inside import inside


def small(age, **more):
    """A question that no other test asks, so that nothing is stored yet."""
    return {"sql": f"{COUNT} WHERE age < {age}", "spend": {"epsilon": "1/10"}} | more


class TestWhoAndWhat:
    def test_who_am_i(self, as_who):
        assert as_who("ana", "GET", "/me").json()["datasets"] == ["people"]

    def test_my_data_sets(self, as_who):
        assert as_who("ana", "GET", "/datasets").json() == {"datasets": ["people"]}
        assert as_who("stella", "GET", "/datasets").json() == {"datasets": ["people", "other"]}

    def test_the_public_facts(self, as_who):
        facts = as_who("ana", "GET", "/datasets/people").json()
        people, wards = [dp.Schema.from_dict(table) for table in facts["tables"]]
        assert list(people.columns) == ["age", "income", "region"]
        assert wards.public
        assert facts["budget"] == {"epsilon": "100"}
        assert dp.Filter.from_json(facts["filter"]).left() == dp.PureDP(100)

    def test_values_of_a_public_table_only(self, as_who):
        assert as_who("ana", "GET", "/datasets/people/values/wards/CITY").json() == {
            "values": ["Bergen", "Oslo"]
        }
        assert as_who("ana", "GET", "/datasets/people/values/people/region").status_code == 422
        assert as_who("ana", "GET", "/datasets/people/values/none/x").status_code == 422
        assert as_who("ana", "GET", "/datasets/people/values/wards/none").status_code == 422

    def test_health_and_metrics_need_no_token_and_say_nothing(self, client):
        assert client.request("GET", "/api/v1/health").json()["status"] == "ok"
        text = client.request("GET", "/metrics").text
        assert "discreet_responses_total" in text
        assert not any(word in text for word in ("ana", "people", "epsilon"))


class TestFree:
    def test_explain_says_the_price_and_the_error(self, as_who):
        found = as_who(
            "ana", "POST", "/datasets/people/explain", {"sql": GROUPED, "spend": ONE}
        ).json()
        assert found["price"] == {"epsilon": "1"}
        assert found["fits"] is True
        assert found["plan"]["rows"]
        assert "Nothing was touched" in found["text"]

    def test_explain_does_not_say_where_the_files_are(self, as_who, deployment):
        found = as_who("ana", "POST", "/datasets/people/explain", {"sql": COUNT, "spend": ONE})
        assert 'FROM \\"people\\"' in found.text
        assert str(deployment.folder) not in found.text

    def test_explain_by_error_finds_the_price(self, as_who):
        found = as_who("ana", "POST", "/datasets/people/explain", {"sql": COUNT, "error": 5}).json()
        assert Fraction(1, 10) < Fraction(found["price"]["epsilon"]) < 1

    def test_plan_one(self, as_who):
        found = as_who("ana", "POST", "/datasets/people/plan", {"sql": COUNT, "spend": ONE}).json()
        assert "DiscreteLaplace" in found["text"]

    def test_rehearse_is_marked_and_free(self, as_who):
        before = as_who("ana", "GET", "/datasets/people/left").json()
        found = as_who(
            "ana", "POST", "/datasets/people/rehearse", {"sql": COUNT, "spend": ONE, "rows": 50}
        ).json()
        assert "made-up" in found["caption"]
        assert found["receipt"] is None
        assert as_who("ana", "GET", "/datasets/people/left").json() == before

    @pytest.mark.parametrize("verb", ["explain", "plan", "rehearse"])
    @pytest.mark.parametrize(
        "sql",
        [
            "SELECT * FROM people",
            "SELECT age FROM people",
            "DROP TABLE people",
            "SELECT COUNT(*) FROM nowhere",
        ],
    )
    def test_what_cannot_be_answered_is_refused_in_words(self, as_who, verb, sql):
        response = as_who("ana", "POST", f"/datasets/people/{verb}", {"sql": sql, "spend": ONE})
        assert response.status_code == 422
        assert response.json()["error"]["kind"] in {
            "UnsupportedQuery",
            "SchemaMismatch",
            "InvalidArgument",
        }


class TestCharged:
    def test_an_answer_has_a_table_intervals_and_a_receipt(self, ask):
        done = ask(
            "ana",
            "/datasets/people/sql",
            {"sql": GROUPED, "spend": {"epsilon": "10"}, "why": "a test"},
        )
        assert done.status == 200, done.reply
        found = done.reply
        assert [column["name"] for column in found["columns"]] == ["region", "n", "income"]
        assert [column["noisy"] for column in found["columns"]] == [False, True, True]
        assert [row[0] for row in found["rows"]] == ["N", "S", "E", "W"]
        assert all(abs(row[1] - 100) < 30 for row in found["rows"])
        low, high = found["intervals"][0][1]
        assert low <= found["rows"][0][1] <= high
        receipt = dp.verify_receipt(found["receipt"])
        assert (receipt.who, receipt.why, receipt.price) == ("ana", "a test", dp.PureDP(10))

    def test_the_length_of_a_reply_is_a_multiple_of_a_kilobyte(self, as_who, ask):
        assert len(as_who("ana", "POST", "/datasets/people/sql", small(10)).content) % 1024 == 0
        assert (
            len(as_who("ana", "GET", ask("ana", "/datasets/people/sql", small(10)).place).content)
            % 1024
            == 0
        )

    def test_the_receipt_can_be_fetched_again_by_its_owner_and_stewards(self, as_who, ask):
        found = ask("ana", "/datasets/people/sql", small(11)).reply
        mine = json.loads(found["receipt"])["number"]
        for who, named in (("ana", mine), ("stella", f"ana:{mine}")):
            assert as_who(who, "GET", f"/datasets/people/receipt/{named}").text == found["receipt"]
        # To stewards a number alone is the ledger's, as in the history that they see.
        whole = as_who("stella", "GET", "/datasets/people/history?last=1000").json()["entries"]
        charge = json.loads(found["receipt"])["charge"]
        [number] = [entry["number"] for entry in whole if entry["hash"] == charge]
        path = f"/datasets/people/receipt/{number}"
        assert as_who("stella", "GET", path).text == found["receipt"]
        for number in (f"ana:{mine}", 10**9, "x", "-1", "1" * 30, "ana:", ":", ":1", "stella:1"):
            assert as_who("bob", "GET", f"/datasets/people/receipt/{number}").status_code == 403

    def test_the_same_question_again_is_free(self, as_who, ask):
        first = ask("ana", "/datasets/people/sql", small(12)).reply
        left = as_who("ana", "GET", "/datasets/people/left").json()
        again = ask("bob", "/datasets/people/sql", small(12)).reply
        assert again["rows"] == first["rows"]
        assert as_who("ana", "GET", "/datasets/people/left").json() == left

    def test_several_questions_have_one_charge(self, ask):
        questions = {
            "all": COUNT + " WHERE age < 13",
            "mean": "SELECT AVG(income) AS m FROM people",
        }
        done = ask(
            "ana", "/datasets/people/release", {"questions": questions, "spend": {"epsilon": "1/2"}}
        )
        assert done.status == 200, done.reply
        answers = done.reply["answers"]
        assert set(answers) == {"all", "mean"}
        assert answers["all"]["receipt"] == answers["mean"]["receipt"]

    def test_intervals_of_the_population(self, as_who, ask):
        body = {"sql": "SELECT AVG(age) AS m FROM people", "spend": {"epsilon": "1/20"}}
        data, wide = (
            ask("ana", "/datasets/people/sql", body | of).reply for of in ({}, {"of": "population"})
        )
        assert (data["of"], wide["of"], data["rows"]) == ("data", "population", wide["rows"])
        [[(low, high)]], [[(least, most)]] = data["intervals"], wide["intervals"]
        assert least < low < high < most
        before = as_who("ana", "GET", "/datasets/people/left").json()
        median = body | {"sql": "SELECT MEDIAN(age) AS m FROM people", "of": "population"}
        several = {
            "questions": {"m": median["sql"]},
            "of": "population",
            "spend": {"epsilon": "1/20"},
        }
        for verb, refused in (("sql", median), ("explain", median), ("release", several)):
            done = as_who("ana", "POST", f"/datasets/people/{verb}", refused)
            assert done.status_code == 422
            assert "ask for COUNT, SUM or AVG" in done.json()["error"]["message"]
        assert as_who("ana", "GET", "/datasets/people/left").json() == before

    def test_too_much_is_refused_and_nothing_is_spent(self, as_who, ask):
        before = as_who("bob", "GET", "/datasets/other/left").json()
        refused = ask("bob", "/datasets/other/sql", {"sql": COUNT, "spend": {"epsilon": "1.01"}})
        error = refused.reply["error"]
        assert refused.status == 409
        assert error["kind"] == "BudgetExceeded"
        assert (error["asked"], error["left"]) == ({"epsilon": "101/100"}, {"epsilon": "1"})
        assert as_who("bob", "GET", "/datasets/other/left").json() == before

    def test_left_spent_and_history(self, as_who, ask):
        ask("ana", "/datasets/people/sql", small(14, why="look"))
        assert as_who("ana", "GET", "/datasets/people/spent").json()["spent"]["epsilon"] != "0"
        mine = as_who("ana", "GET", "/datasets/people/history?last=1000").json()["entries"]
        assert {entry["who"] for entry in mine} == {"ana"}
        assert "look" in {entry["why"] for entry in mine}
        assert {entry["kind"] for entry in mine} <= {"charge", "allow"}
        for last in (1, 2):  # cut after what is not shown was left out
            ends = as_who("ana", "GET", f"/datasets/people/history?last={last}").json()["entries"]
            assert ends == mine[-last:] and len(ends) == min(last, len(mine))
        everybody = as_who("stella", "GET", "/datasets/people/history?last=1000").json()["entries"]
        assert {"open", "charge", "answer"} <= {entry["kind"] for entry in everybody}

    @pytest.mark.parametrize("odd", ["0", "x", "1001", "9" * 20, "-1", "1.5"])
    def test_odd_lengths_of_history_are_refused(self, as_who, odd):
        assert as_who("ana", "GET", f"/datasets/people/history?last={odd}").status_code == 422

    def test_an_answer_that_would_be_too_large_is_refused_by_its_plan(self, tmp_path):
        deployment = build(tmp_path, limits="cells = 5")
        with inside(build_app(read_config(deployment.config)), deployment.url) as client:
            headers = {"Authorization": f"Bearer {deployment.tokens['ana']}"}
            for verb, body in [
                ("sql", {"sql": GROUPED, "spend": ONE}),
                ("release", {"questions": {"a": GROUPED, "b": COUNT}, "spend": ONE}),
            ]:
                response = client.request(
                    "POST", f"/api/v1/datasets/people/{verb}", json=body, headers=headers
                )
                assert response.status_code == 422
                assert "at most 5" in response.json()["error"]["message"]
            left = client.request("GET", "/api/v1/datasets/people/left", headers=headers).json()
            assert left["left"] == {"epsilon": "100"}


class TestIdempotency:
    def charges(self, as_who):
        entries = as_who("stella", "GET", "/datasets/people/history?last=1000").json()["entries"]
        return sum(entry["kind"] == "charge" for entry in entries)

    def test_a_repeated_request_is_one_job_and_one_charge(self, as_who, ask):
        first = ask("ana", "/datasets/people/sql", small(21), Idempotency_Key="one")
        charges = self.charges(as_who)
        assert ask("ana", "/datasets/people/sql", small(21), Idempotency_Key="one") == first
        assert self.charges(as_who) == charges

    def test_a_key_is_for_one_request(self, as_who, ask):
        ask("ana", "/datasets/people/sql", small(22), Idempotency_Key="two")
        for body in (small(23), small(22, spend={"epsilon": "1/9"})):
            response = as_who("ana", "POST", "/datasets/people/sql", body, Idempotency_Key="two")
            assert response.status_code == 422
            assert "another request" in response.json()["error"]["message"]

    def test_everybody_has_keys_of_their_own(self, ask):
        ask("ana", "/datasets/people/sql", small(24), Idempotency_Key="three")
        assert (
            ask("stella", "/datasets/people/sql", small(25), Idempotency_Key="three").status == 200
        )

    def test_a_refusal_is_not_remembered(self, as_who, ask):
        kim = as_who("stella", "POST", "/people", {"name": "kim", "datasets": ["people"]}).json()[
            "token"
        ]
        as_who.tokens["kim"] = kim
        as_who(
            "stella",
            "POST",
            "/datasets/people/allow",
            {"who": "kim", "budget": {"epsilon": "1/1000"}},
        )
        refused = ask("kim", "/datasets/people/sql", small(26), Idempotency_Key="four")
        assert (refused.status, refused.reply["error"]["kind"]) == (409, "BudgetExceeded")
        as_who(
            "stella", "POST", "/datasets/people/allow", {"who": "kim", "budget": {"epsilon": "50"}}
        )
        assert ask("kim", "/datasets/people/sql", small(26), Idempotency_Key="four").status == 200

    def test_a_job_is_its_persons_own(self, as_who, ask):
        done = ask("ana", "/datasets/people/sql", small(27))
        seen = as_who("ana", "GET", done.place).json()
        assert (seen["state"], seen["status"], seen["reply"]) == ("done", 200, done.reply)
        for who in ("bob", "stella"):
            assert as_who(who, "GET", done.place).status_code == 403
            assert as_who(who, "DELETE", done.place).status_code == 403
        assert as_who("ana", "DELETE", done.place).json()["state"] == "done"


class TestStewards:
    def test_the_chain_is_proved(self, as_who):
        found = as_who("stella", "GET", "/datasets/people/ledger/verify").json()
        assert found["verified"] is True
        assert "the chain holds" in found["text"]

    def test_the_chain_is_exported_and_checked_without_the_service(self, as_who, tmp_path):
        exported = as_who("stella", "GET", "/datasets/people/ledger/export")
        (tmp_path / "ledger.jsonl").write_text(exported.text)
        from discreet.ledger import verify_export

        assert "holds" in str(verify_export(tmp_path / "ledger.jsonl"))

    def test_allowances(self, as_who):
        response = as_who(
            "stella", "POST", "/datasets/people/allow", {"who": "zed", "budget": {"epsilon": "2"}}
        )
        assert response.status_code == 201
        assert response.json()["entry"]["kind"] == "allow"
        for body in ({"who": 3, "budget": ONE}, {"who": "a b", "budget": ONE}):
            assert as_who("stella", "POST", "/datasets/people/allow", body).status_code in (
                403,
                422,
            )
        assert (
            as_who(
                "stella", "POST", "/datasets/people/allow", {"who": "x", "budget": {"rho": 1}}
            ).status_code
            == 422
        )

    def test_open_jobs_are_listed_without_their_sql(self, as_who):
        assert as_who("stella", "GET", "/jobs").json() == {"jobs": []}
