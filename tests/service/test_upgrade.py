"""A service of 0.1.0 is served by today's release: its ledger, people, store, schemas and answers go on."""

from __future__ import annotations

import gzip
import json
import shutil
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from discreet.cli.app import app

from .deployment import House, free_port, serving

OLD = Path(__file__).parents[1] / "fixtures" / "service_0_1_0"
EXPECTED = json.loads((OLD / "expected.json").read_text(encoding="utf-8"))


def _command(*words):
    ended = CliRunner().invoke(app, list(words))
    assert ended.exit_code == 0, ended.output
    return ended.output


def _spent(client):
    """The whole price of a person: 0.1.0 told it as μ, in which two prices may look alike."""
    return client.get("/datasets/town/spent").json()["spent"]


@pytest.fixture(scope="module")
def upgraded(tmp_path_factory):
    """The steps of the page: back up, verify, serve; the folder is as 0.1.0 left it."""
    folder = tmp_path_factory.mktemp("upgrade") / "curator"
    shutil.copytree(OLD, folder)
    for name in ("service.db", "town.ledger"):
        packed = folder / f"{name}.gz"
        (folder / name).write_bytes(gzip.decompress(packed.read_bytes()))
        packed.unlink()
    ledger, before = folder / "town.ledger", (folder / "town.ledger").read_bytes()
    _command("ledger", "backup", str(ledger), str(folder / "before.ledger"))
    assert "chain" in _command("ledger", "verify", str(ledger))
    assert ledger.read_bytes() == before
    config = folder / "curator.toml"
    port, wire = free_port(), free_port()
    text = config.read_text().replace("127.0.0.1:8000", f"127.0.0.1:{port}")
    config.write_text(text + "[wire]\nepsilon = '1'\n")
    _command("schema", "show", str(folder / "town.toml"))
    deployment = House(folder, f"http://127.0.0.1:{port}", dict(EXPECTED["tokens"]))
    with serving(deployment, postgres=f"127.0.0.1:{wire}"):
        yield deployment, wire


class TestUpgrade:
    """Steps of the page, in any order; what was paid for stays free."""

    def test_tokens_roles_and_ends_are_kept(self, upgraded):
        deployment, _ = upgraded
        status = {}
        for who in deployment.tokens:
            with deployment.client(who) as client:
                status[who] = client.get("/me").status_code
        assert status == {"stella": 200, "ana": 200, "bob": 200, "cy": 401, "dee": 401}
        with deployment.client("stella") as client:
            people = {one["name"]: one for one in client.get("/people").json()["people"]}
        assert people["cy"]["revoked"] and people["stella"]["role"] == "steward"

    @pytest.mark.parametrize("asked", EXPECTED["replies"], ids=lambda asked: asked["key"])
    def test_what_was_asked_is_answered_again(self, upgraded, asked):
        """For nothing; but 0.1.0 read other rows of a table with `max_groups`: that is asked anew."""
        deployment, _ = upgraded
        path = f"/datasets/town/{asked['verb']}"
        with deployment.client(asked["who"]) as client:
            before = _spent(client)
            headers = {"Idempotency-Key": asked["key"]}
            found = _followed(client, client.post(path, json=asked["body"], headers=headers))
            assert _values(found) == _values(asked["reply"]) and _spent(client) == before
            found = _followed(client, client.post(path, json=asked["body"]))
            if "visits" in json.dumps(asked["body"]):
                assert _values(found) != _values(asked["reply"]) and _spent(client) != before
            else:
                assert _values(found) == _values(asked["reply"]) and _spent(client) == before
            # Nothing was forgotten: each question was asked at ε = 1.
            asked_by = [one for one in EXPECTED["replies"] if one["who"] == asked["who"]]
            assert len(asked_by) - 1 < Fraction(before["epsilon"])

    def test_a_schema_with_max_groups_counts_as_it_says(self, upgraded):
        """Three rows of each of 75 people, where 0.1.0 counted two: the caption of neither is wrong."""
        deployment, _ = upgraded
        with deployment.client("ana") as client:
            tables = client.get("/datasets/town").json()["tables"]
            [visits] = [table for table in tables if table["name"] == "visits"]
            assert visits["unit"]["max_groups"] == 2 and visits["unit"]["max_rows"] == 3
            body = {"sql": "SELECT COUNT(*) AS n FROM visits", "error": 10, "level": 0.999999}
            found = _followed(client, client.post("/datasets/town/sql", json=body))
        assert abs(found["rows"][0][0] - 225) <= 11

    def test_programs_of_postgres_need_a_new_token(self, upgraded):
        deployment, port = upgraded

        def connect(token):
            words = f"host=127.0.0.1 port={port} dbname=town user=bob password={token}"
            return psycopg.connect(words, autocommit=True)

        with pytest.raises(psycopg.OperationalError, match="do not open"):
            connect(deployment.tokens["bob"])
        token = _command("people", "renew", "bob", "--config", str(deployment.config)).strip()
        # Tests run in any order: the old token has ended for those that come after this one.
        deployment.tokens["bob"] = token
        with connect(token) as line:
            [[mean]] = line.execute(EXPECTED["replies"][2]["body"]["sql"]).fetchall()
        # The answer of 0.1.0, for nothing.
        assert mean == pytest.approx(_values(EXPECTED["replies"][2]["reply"])[0][0])

    def test_the_ledger_verifies_and_the_back_up_is_as_it_was(self, upgraded):
        deployment, _ = upgraded
        with deployment.client("stella") as client:
            assert client.get("/datasets/town/ledger/verify").json()["verified"]
        checked = _command("ledger", "verify", str(deployment.folder / "before.ledger"))
        assert "chain" in checked


def _followed(client, response):
    """The reply of a charged request, at once or by its job."""
    found = response.json()
    while response.status_code == 202 and "reply" not in found:
        found = client.get(f"/jobs/{found['id']}").json()
    assert response.status_code in (200, 202), found
    return found.get("reply", found)


def _values(reply):
    answers = reply.get("answers", {"": reply})
    return [row for answer in answers.values() for row in answer["rows"]]
