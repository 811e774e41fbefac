"""Whoever may not, cannot: tokens, roles, data sets, sessions, forged requests, odd headers, paths and bodies."""

from __future__ import annotations

import json
import re

import pytest

from discreet.service.api.routes import ENDPOINTS, ROOT
from discreet.service.config import read_config
from discreet.service.http.session import Sessions, cookie_name
from discreet.service.stores.people import Members
from discreet.service.stores.store import open_store
from service.deployment import COUNT, ONE

ASK = {"sql": COUNT, "spend": ONE}
INJECTIONS = [
    "' OR '1'='1",
    "'; DROP TABLE discreet_people; --",
    "x') UNION SELECT token FROM discreet_people --",
    "%27%20OR%201=1",
    "\\'; --",
]
TRAVERSALS = [
    "/api/v1/datasets/../../../etc/passwd",
    "/api/v1/datasets/..%2f..%2fetc%2fpasswd",
    "/api/v1/datasets/people/../other",
    "/static/../config.py",
    "/static/..%2fconfig.py",
    "/static/%2e%2e/%2e%2e/service.db",
    "//etc/passwd",
    "/api/v1/datasets/people%00",
    "/api/v1/datasets/peo\\ple",
]


def path_of(way, dataset="people"):
    filled = {
        "name": dataset,
        "table": "wards",
        "column": "ward",
        "job": "none",
        "number": "1",
        "person": "bob",
        "stream": "visits",
        "dashboard": "none",
    }
    return re.sub(r"{(\w+)}", lambda found: filled[found[1]], way.path)


def way_ids(ways):
    return [f"{way.method} {way.path}" for way in ways]


STEWARD = [way for way in ENDPOINTS if way.who == "steward"]
OF_SETS = [way for way in ENDPOINTS if way.path.startswith("/datasets/{name}")]


class TestTheDoor:
    @pytest.mark.parametrize("way", ENDPOINTS, ids=way_ids(ENDPOINTS))
    def test_without_a_token_nothing_opens(self, client, way):
        response = client.request(way.method, ROOT + path_of(way), json=ASK)
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert response.json()["error"]["kind"] == "NotAllowed"

    @pytest.mark.parametrize(
        "header",
        [
            "",
            "Bearer",
            "Bearer ",
            "Bearer dsc_",
            "Bearer dsc_" + "A" * 43,
            "Bearer dsc_" + "A" * 5000,
            "Basic {token}",
            "Bearer x{token}",
            "Bearer {token}x",
            "Bearer  {token}",
            "{token}",
            "Bearer ' OR 1=1 --",
        ],
    )
    def test_what_only_looks_like_a_token_does_not_open(self, client, deployment, header):
        text = header.replace("{token}", deployment.tokens["ana"])
        assert (
            client.request("GET", ROOT + "/me", headers={"Authorization": text}).status_code == 401
        )

    def test_a_token_in_the_address_does_not_open(self, client, deployment):
        assert (
            client.request("GET", f"{ROOT}/me?token={deployment.tokens['ana']}").status_code == 401
        )

    def test_bytes_that_are_no_text_do_not_open(self, client):
        assert (
            client.request(
                "GET", ROOT + "/me", headers={b"Authorization": b"Bearer dsc_\xff"}
            ).status_code
            == 401
        )

    def test_the_scheme_may_be_written_in_any_case(self, client, deployment):
        headers = {"Authorization": f"bEARER {deployment.tokens['ana']}"}
        assert client.request("GET", ROOT + "/me", headers=headers).json()["name"] == "ana"

    @pytest.mark.parametrize("way", STEWARD, ids=way_ids(STEWARD))
    def test_an_analyst_is_no_steward(self, as_who, way):
        response = as_who("bob", way.method, path_of(way, "other"), {})
        assert response.status_code == 403
        assert "stewards" in response.json()["error"]["message"]

    @pytest.mark.parametrize("way", OF_SETS, ids=way_ids(OF_SETS))
    def test_somebody_elses_data_set_is_as_unknown_as_one_that_is_not_there(self, as_who, way):
        who, other = ("sid", "people") if way.who == "steward" else ("ana", "other")
        real = as_who(who, way.method, path_of(way, other), ASK)
        none = as_who(who, way.method, path_of(way, "x" * len(other)), ASK)
        assert real.status_code == none.status_code == 403
        assert real.text.replace(other, "x" * len(other)) == none.text

    def test_revoked_is_shut_out_at_once(self, as_who, deployment):
        deployment.tokens["rob"] = as_who(
            "stella", "POST", "/people", {"name": "rob", "datasets": ["people"]}
        ).json()["token"]
        assert as_who("rob", "GET", "/me").status_code == 200
        assert as_who("stella", "DELETE", "/people/rob").json()["revoked"] is True
        assert as_who("rob", "GET", "/me").status_code == 401

    def test_expired_is_shut_out(self, as_who, deployment):
        body = {"name": "eve", "datasets": ["people"], "days": "1/86400"}
        made = as_who("stella", "POST", "/people", body)
        assert made.status_code == 201
        deployment.tokens["eve"] = made.json()["token"]
        kept = open_store(read_config(deployment.config).store)
        kept.ask("UPDATE discreet_people SET expires = 1 WHERE name = ?", "eve")
        kept.close()
        assert as_who("eve", "GET", "/me").status_code == 401

    def test_a_new_token_ends_the_old_one(self, as_who, deployment):
        first = as_who("stella", "POST", "/people", {"name": "tom", "datasets": ["people"]}).json()[
            "token"
        ]
        second = as_who("stella", "POST", "/people/tom/token", {"days": 7}).json()["token"]
        deployment.tokens |= {"tom-old": first, "tom": second}
        assert as_who("tom-old", "GET", "/me").status_code == 401
        assert as_who("tom", "GET", "/me").json()["expires"] is not None


class TestStewards:
    def test_a_steward_gives_only_what_is_theirs(self, as_who):
        for reach in (["people"], ["*"], ["other", "people"], ["nowhere"], []):
            assert (
                as_who("sid", "POST", "/people", {"name": "kim", "datasets": reach}).status_code
                == 403
            )
        assert (
            as_who(
                "stella", "POST", "/people", {"name": "kim", "datasets": ["nowhere"]}
            ).status_code
            == 403
        )

    @pytest.mark.parametrize("person", ["stella", "ana", "bob", "nobody"])
    def test_a_steward_decides_only_within_own_data_sets(self, as_who, person):
        assert as_who("sid", "DELETE", f"/people/{person}").status_code == 403
        assert as_who("sid", "POST", f"/people/{person}/token", {}).status_code == 403

    def test_a_steward_sees_only_people_within_own_data_sets(self, as_who):
        names = {person["name"] for person in as_who("sid", "GET", "/people").json()["people"]}
        assert "sid" in names and not names & {"stella", "ana", "bob"}
        assert {"ana", "bob", "sid"} <= {
            p["name"] for p in as_who("stella", "GET", "/people").json()["people"]
        }

    def test_no_list_holds_a_token(self, as_who, deployment):
        text = as_who("stella", "GET", "/people").text
        assert not any(token in text for token in deployment.tokens.values())

    @pytest.mark.parametrize(
        "body",
        [[], {"name": 1, "datasets": ["people"]}, {"name": "x", "datasets": "people"}, {"nam": 1}],
    )
    def test_odd_people_are_refused(self, as_who, body):
        assert as_who("stella", "POST", "/people", body).status_code == 422


@pytest.fixture(scope="module")
def session(deployment):
    kept = open_store(read_config(deployment.config).store)
    yield Sessions(kept, Members(kept), 1).open(deployment.tokens["stella"])
    kept.close()


@pytest.fixture(scope="module")
def cookie(deployment, session):
    return {"Cookie": f"{cookie_name(read_config(deployment.config))}={session.id}"}


class TestSessionsAndForgery:
    def test_a_session_may_read(self, client, cookie):
        assert client.request("GET", ROOT + "/me", headers=cookie).json()["name"] == "stella"

    @pytest.mark.parametrize("secret", ["", "forged", "x" * 5000, "' OR '1'='1"])
    def test_a_forged_session_does_not_open(self, client, secret):
        assert (
            client.request(
                "GET", ROOT + "/me", headers={"Cookie": f"discreet={secret}"}
            ).status_code
            == 401
        )

    def test_the_cookie_of_https_is_not_read_over_http(self, client, session):
        assert (
            client.request(
                "GET", ROOT + "/me", headers={"Cookie": f"__Host-discreet={session.id}"}
            ).status_code
            == 401
        )

    @pytest.mark.parametrize("token", [None, "", "wrong", "é"])
    def test_a_change_without_the_second_secret_is_refused(self, client, cookie, token):
        extra = {} if token is None else {"X-CSRF-Token": token.encode()}
        response = client.request("DELETE", ROOT + "/people/ana", headers=cookie | extra)
        assert response.status_code == 403
        assert "own page" in response.json()["error"]["message"]

    @pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8000"])
    def test_a_change_from_another_sites_page_is_refused(self, client, cookie, session, origin):
        headers = cookie | {"X-CSRF-Token": session.csrf, "Origin": origin}
        assert client.request("DELETE", ROOT + "/people/ana", headers=headers).status_code == 403

    def test_a_change_from_the_own_page_is_done(self, client, cookie, session, deployment):
        headers = cookie | {"X-CSRF-Token": session.csrf, "Origin": deployment.url}
        body = {"name": "may", "datasets": ["other"]}
        assert (
            client.request("POST", ROOT + "/people", json=body, headers=headers).status_code == 201
        )

    def test_a_wrong_token_is_not_saved_by_a_session(self, client, cookie):
        headers = cookie | {"Authorization": "Bearer dsc_wrong"}
        assert client.request("GET", ROOT + "/me", headers=headers).status_code == 401


class TestOddRequests:
    @pytest.mark.parametrize(
        "host", ["evil.example", "127.0.0.1", "127.0.0.1:8000.evil", "localhost:8000", ""]
    )
    def test_another_host_is_refused(self, client, deployment, host):
        headers = {"Host": host, "Authorization": f"Bearer {deployment.tokens['ana']}"}
        assert client.request("GET", ROOT + "/me", headers=headers).status_code == 400

    def test_a_header_that_claims_another_host_changes_nothing(self, as_who):
        response = as_who(
            "ana", "GET", "/me", X_Forwarded_Host="evil.example", X_Forwarded_Proto="https"
        )
        assert response.status_code == 200
        assert "evil" not in response.text

    @pytest.mark.parametrize("path", TRAVERSALS)
    def test_no_path_leads_out(self, client, deployment, path):
        response = client.request(
            "GET", path, headers={"Authorization": f"Bearer {deployment.tokens['ana']}"}
        )
        assert response.status_code in (400, 403, 404)
        assert "root:" not in response.text and "import" not in response.text

    @pytest.mark.parametrize("text", INJECTIONS)
    def test_sql_in_a_field_is_only_text(self, as_who, text):
        for method, path, body in [
            ("GET", f"/datasets/{text}/left", None),
            ("GET", f"/datasets/people/receipt/{text}", None),
            ("GET", f"/datasets/people/values/{text}/{text}", None),
            ("GET", f"/datasets/people/history?last={text}", None),
            ("GET", f"/jobs/{text}", None),
            ("DELETE", f"/jobs/{text}", None),
            ("DELETE", f"/people/{text}", None),
            ("POST", f"/people/{text}/token", {}),
            ("POST", "/people", {"name": text, "datasets": ["people"]}),
            ("POST", "/people", {"name": "zoe", "datasets": [text]}),
            ("POST", "/people", {"name": "zoe", "role": text, "datasets": ["people"]}),
            ("POST", "/datasets/people/allow", {"who": text, "budget": ONE}),
            ("POST", "/datasets/people/allow", {"who": "ana", "budget": {"epsilon": text}}),
            ("POST", "/datasets/people/sql", {"sql": text, "spend": ONE}),
            ("POST", "/datasets/people/explain", {"sql": COUNT, "spend": {"epsilon": text}}),
            ("POST", "/datasets/people/explain", {"sql": COUNT, "error": {text: 1}}),
        ]:
            response = as_who("stella", method, path, body)
            assert response.status_code in (400, 403, 404, 422), (path, response.text)
        assert as_who("ana", "GET", "/me").status_code == 200

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"null",
            b"[]",
            b'"sql"',
            b"[" * 60_000,
            b'{"a":' * 10_000,
            b'{"sql": NaN}',
            b'{"sql": "\xff\xfe"}',
            b'{"sql": "a", "sql": "b"}',
            b'{"sql": "SELECT 1", "spend": {"epsilon": 1e999999999}}',
            b'{"sql": "SELECT 1", "spend": {"epsilon": "1e999999999"}}',
            b'{"sql": "SELECT 1", "spend": {"epsilon": ' + b"9" * 5000 + b"}}",
            b'{"sql": 1, "spend": {"epsilon": 1}}',
            b'{"sql": "SELECT 1", "spend": 1}',
            b'{"sql": "SELECT 1", "spend": {"epsilon": 1}, "admin": true}',
            b'{"sql": "\\ud800", "spend": {"epsilon": 1}}',
            b'{"sql": "SELECT \\u0000", "spend": {"epsilon": 1}}',
            json.dumps({"sql": "SELECT " + "(" * 9000, "spend": {"epsilon": 1}}).encode(),
            json.dumps({"sql": COUNT, "spend": {"epsilon": 1}, "level": "1e-400"}).encode(),
            b"sql=SELECT+1",
        ],
    )
    @pytest.mark.parametrize("verb", ["explain", "sql", "plan", "rehearse", "release"])
    def test_a_malformed_body_is_refused_in_words(self, client, deployment, verb, body):
        headers = {"Authorization": f"Bearer {deployment.tokens['ana']}"}
        response = client.request(
            "POST", f"{ROOT}/datasets/people/{verb}", content=body, headers=headers
        )
        assert response.status_code == 422, response.text
        assert response.json()["error"]["message"]

    def test_a_body_that_is_announced_too_large_is_not_read(self, client, deployment):
        headers = {"Authorization": f"Bearer {deployment.tokens['ana']}"}
        response = client.request(
            "POST", f"{ROOT}/datasets/people/sql", content=b"x" * 70_000, headers=headers
        )
        assert response.status_code == 413

    def test_a_body_that_grows_too_large_is_not_read_to_the_end(self, client, deployment):
        async def endless():
            for _ in range(1000):
                yield b"x" * 1000

        headers = {"Authorization": f"Bearer {deployment.tokens['ana']}"}
        response = client.request(
            "POST", f"{ROOT}/datasets/people/sql", content=endless(), headers=headers
        )
        assert response.status_code == 413

    @pytest.mark.parametrize("length", [b"-1", b"1, 1", b"0x10", b"9" * 40])
    def test_an_odd_length_is_refused(self, client, deployment, length):
        headers = {
            b"Authorization": f"Bearer {deployment.tokens['ana']}".encode(),
            b"Content-Length": length,
        }
        response = client.request("POST", f"{ROOT}/datasets/people/sql", headers=headers)
        assert response.status_code in (400, 413)

    def test_what_is_not_there_is_said_so(self, as_who):
        assert as_who("ana", "GET", "/nothing").status_code == 404
        assert as_who("ana", "PUT", "/me").status_code == 405
        assert as_who("ana", "GET", "/me/").status_code == 404

    def test_every_response_carries_the_headers_of_a_careful_service(self, client, as_who):
        for response in (
            as_who("ana", "GET", "/me"),
            as_who(None, "GET", "/me"),
            client.request("GET", "/nowhere"),
        ):
            assert response.headers["Cache-Control"] == "no-store"
            assert response.headers["X-Content-Type-Options"] == "nosniff"
            assert response.headers["X-Frame-Options"] == "DENY"
            assert "default-src 'none'" in response.headers["Content-Security-Policy"]
            assert "Server" not in response.headers

    def test_odd_idempotency_keys_are_refused(self, client, deployment):
        for key in (b"\xff", b"x" * 201, b"a\tb"):
            headers = {
                b"Authorization": f"Bearer {deployment.tokens['ana']}".encode(),
                b"Idempotency-Key": key,
            }
            response = client.request(
                "POST", f"{ROOT}/datasets/people/sql", json=ASK, headers=headers
            )
            assert response.status_code == 422

    def test_the_audit_log_holds_no_question_and_no_token(self, as_who, deployment):
        as_who(
            "ana",
            "POST",
            "/datasets/people/explain",
            {"sql": "SELECT 'Ada Lovelace'", "spend": ONE},
        )
        text = (deployment.folder / "audit.log").read_text()
        assert '"who":"ana"' in text
        assert "Lovelace" not in text and "dsc_" not in text and "SELECT" not in text
