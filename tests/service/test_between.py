"""Between people, over HTTP: what an analyst is sent does not tell that a colleague asked before; a steward sees all."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

import discreet as dp
from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.jobs.job import new_job
from discreet.service.pages.history import asked_of
from discreet.service.stores.datasets import DataSets
from discreet.wire.verbs.table import VERBS
from service.deployment import COUNT, GROUPED, ONE, build
from service.inside import inside

ASK = {"sql": GROUPED, "spend": ONE, "why": "a secret plan"}


DIFFER = ("number", "charge", "time", "asked", "hash", "stored_as")


def blurred(reply):
    """Leave out of a reply what differs between any two answers: released numbers, entry, times and hashes."""
    receipt = json.loads(reply["receipt"])
    facts = {name: "…" if name in DIFFER else fact for name, fact in receipt.items()}
    details = re.sub(r"entry \d+", "entry …", reply["details"])
    return {**reply, "rows": 0, "intervals": 0, "exact": 0, "details": details, "receipt": facts}


def test_a_question_asked_before_is_answered_like_a_new_one(as_who, ask):
    def spent():
        found = as_who("bob", "GET", "/datasets/people/spent").json()
        # What all have spent tells of others, so an analyst is not told it.
        assert found["spent_by_all"] == found["spent"]
        whole = as_who("stella", "GET", "/datasets/people/spent").json()
        return [Fraction(one["epsilon"]) for one in (found["spent"], whole["spent_by_all"])]

    def explained():
        found = as_who(
            "bob", "POST", "/datasets/people/explain", {"sql": GROUPED, "spend": ONE}
        ).json()
        return {**found, "left": 0, "after": 0, "text": 0}  # what is left for all has moved

    before = explained()
    first = ask("ana", "/datasets/people/sql", ASK).reply
    assert explained() == before
    mine, ours = spent()
    again = ask("bob", "/datasets/people/sql", {**ASK, "why": "b"}).reply
    assert spent() == [mine + 1, ours]
    fresh = GROUPED.replace("GROUP BY", "WHERE age > 7 GROUP BY")
    new = ask("bob", "/datasets/people/sql", {**ASK, "sql": fresh, "why": "b"}).reply
    assert spent() == [mine + 2, ours + 1]
    assert again["rows"] == first["rows"] and blurred(again) == blurred(new)
    assert "ana" not in again["receipt"] and "secret" not in again["receipt"]
    number = json.loads(again["receipt"])["number"]
    path = f"/datasets/people/receipt/{number}"
    assert as_who("bob", "GET", path).text == again["receipt"]
    # Numbers are of one's own: the same number is another receipt, or none, for ana.
    assert as_who("ana", "GET", path).text != again["receipt"]
    assert as_who("ana", "GET", f"/datasets/people/receipt/bob:{number}").status_code == 403


def test_an_analyst_s_history_is_of_their_own_and_a_steward_s_has_the_texts(as_who, ask):
    for who in ("ana", "bob"):
        ask(who, "/datasets/people/sql", {**ASK, "sql": COUNT, "why": f"of {who}"})
    mine = as_who("bob", "GET", "/datasets/people/history").json()
    assert {(entry["kind"], entry["who"]) for entry in mine["entries"]} == {("charge", "bob")}
    assert all(entry["refers"] is None and entry["previous"] == "" for entry in mine["entries"])
    assert "ana" not in json.dumps(mine) and set(mine["asked"].values()) >= {
        "SELECT COUNT(*) AS n\nFROM people"
    }
    whole = as_who("stella", "GET", "/datasets/people/history?last=1000").json()
    kinds = {entry["kind"] for entry in whole["entries"] if str(entry["number"]) in whole["asked"]}
    assert kinds == {"charge", "again"} and {entry["who"] for entry in whole["entries"]} >= {
        "ana",
        "bob",
    }


def test_a_steward_may_share_questions_of_a_data_set(tmp_path):
    datasets = DataSets(read_config(build(tmp_path / "a", dataset="share_questions = true").config))
    told = [
        datasets.curator("people", who).sql(GROUPED, spend=dp.PureDP(1)).receipt.who
        for who in ("ana", "bob")
    ]
    assert told == ["ana", "ana"] and not datasets.curator("other", "bob").context.share_questions
    datasets.close()
    with pytest.raises(
        dp.InvalidArgument, match=r"datasets\.people\.share_questions must be true or false"
    ):
        build(tmp_path / "b", dataset='share_questions = "yes"')


def test_how_tables_were_read_is_shown_to_stewards_where_the_configuration_says_so(tmp_path):
    deployment = build(
        tmp_path, dataset="show_intake = true", csv="age,income,region\n1,?,N\n,5,Z\n"
    )
    with inside(build_app(read_config(deployment.config)), deployment.url) as opened:

        def get(who, path):
            signed = opened.request(
                "POST",
                "/sign-in",
                data={"token": deployment.tokens[who]},
                headers={"Origin": deployment.url},
            )
            cookie = signed.headers["Set-Cookie"].partition(";")[0]
            return opened.request("GET", path, headers={"Cookie": cookie})

        page = get("stella", "/steward/people/intake")
        cells = re.findall(
            r'mono">income</th><td>real</td>' + r'<td class="number">(\d+)</td>' * 4, page.text
        )
        assert "no listed key takes 1 of the rows" in page.text
        assert "with null=[&#39;?&#39;]: 1 cell mended, 0 lost" in page.text
        assert page.status_code == 200 and cells == [("0", "1", "0", "0")] and "2 rows" in page.text
        assert (
            "/intake" in get("stella", "/steward/people").text
            and "disk: ok" in get("stella", "/steward").text
        )
        assert "/intake" not in get("stella", "/steward/other").text
        for who, path in (("ana", "people"), ("sid", "people"), ("stella", "other")):
            refused = get(who, f"/steward/{path}/intake")
            assert refused.status_code == 403 and "unreadable" not in refused.text
    assert '"verb":"intake"' in (tmp_path / "audit.log").read_text().replace(" ", "")


def test_the_steward_s_room_shows_what_was_asked(deployment, client, ask):
    ask(
        "ana",
        "/datasets/people/sql",
        {**ASK, "sql": "SELECT COUNT(*) AS n FROM people WHERE age > 61 AND region = 'N'"},
    )
    token = deployment.tokens["stella"]
    signed = client.request(
        "POST", "/sign-in", data={"token": token}, headers={"Origin": deployment.url}
    )
    cookie = signed.headers["Set-Cookie"].partition(";")[0]
    page = client.request("GET", "/steward/people", headers={"Cookie": cookie})
    assert (
        page.status_code == 200
        and "age &gt; 61" in page.text
        and "region = &#39;N&#39;" in page.text
    )


ASKED = {
    "sql": ({"sql": "SELECT 1"}, "SELECT 1"),
    "release": ({"questions": {"a": "SELECT 1", "b": "SELECT 2"}}, "a: SELECT 1\nb: SELECT 2"),
    "learn": ({"sql": "SELECT age", "model": {"kind": "PCA"}}, "PCA: SELECT age"),
    "synthesize": (
        {"table": "people", "columns": ["age", "region"]},
        "Synthetic age, region of people",
    ),
    "stream": ({"sql": "SELECT day", "name": "visits"}, "SELECT day"),
    "suggest_bounds": ({"table": "people", "column": "income"}, "people.income"),
    "suggest_caps": ({"table": "visits"}, "visits"),
    "estimate_truncation": ({"table": "visits", "up_to": 50}, "visits"),
    "estimate_cut": ({"table": "visits", "up_to": 50}, "visits"),
}


@pytest.mark.parametrize("verb", [name for name, verb in VERBS.items() if verb.charged])
def test_a_steward_is_told_in_words_what_every_job_asks(verb):
    body, words = ASKED[verb]
    assert asked_of(new_job("ana", "people", verb, json.dumps(body), mark="", owner="")) == words
