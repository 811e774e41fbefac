"""`discreet people` and `discreet serve` on the command line."""

from __future__ import annotations

import json

import pytest
import uvicorn
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.cli.commands import serve as serve_room
from discreet.service.config import read_config
from discreet.service.stores.people import Members
from discreet.service.stores.store import open_store
from service.deployment import build


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    return build(tmp_path_factory.mktemp("command"))


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def holder(deployment, token):
    kept = open_store(read_config(deployment.config).store)
    try:
        return Members(kept).holder(token)
    finally:
        kept.close()


class TestPeople:
    def test_add_prints_a_token_that_opens_and_nothing_else(self, deployment):
        made = run(
            "people",
            "add",
            "kim",
            "--config",
            deployment.config,
            "--dataset",
            "people",
            "--days",
            "30",
        )
        assert made.exit_code == 0
        assert holder(deployment, made.stdout.strip()).name == "kim"

    def test_renew_and_revoke(self, deployment):
        first = run(
            "people",
            "add",
            "lee",
            "--config",
            deployment.config,
            "--role",
            "steward",
            "--dataset",
            "*",
        ).stdout.strip()
        second = run("people", "renew", "lee", "--config", deployment.config).stdout.strip()
        assert holder(deployment, first) is None
        assert holder(deployment, second).role == "steward"
        assert (
            "may no longer sign in"
            in run("people", "revoke", "lee", "--config", deployment.config).stdout
        )
        assert holder(deployment, second) is None

    def test_list(self, deployment):
        run(
            "people",
            "add",
            "zoe",
            "--config",
            deployment.config,
            "--dataset",
            "people",
            "--days",
            "3",
        )
        run("people", "revoke", "bob", "--config", deployment.config)
        text = run("people", "list", "--config", deployment.config).stdout
        assert "ana  analyst  people  no end" in text
        assert "bob  analyst  people, other  revoked" in text
        assert "zoe  analyst  people  until " in text
        people = json.loads(run("people", "list", "--config", deployment.config, "--json").stdout)
        assert {"ana", "stella"} <= {person["name"] for person in people}
        assert "dsc_" not in text

    @pytest.mark.parametrize(
        "words",
        [
            ["add", "ana", "--dataset", "people"],
            ["add", "x"],
            ["add", "y", "--dataset", "nope"],
            ["renew", "none"],
            ["revoke", "none"],
        ],
    )
    def test_refusals_are_one_line(self, deployment, words):
        refused = run("people", *words, "--config", deployment.config)
        assert refused.exit_code in (2, 3)
        assert refused.stderr.startswith("discreet: ")
        assert refused.stderr.count("\n") == 1

    def test_a_configuration_that_is_not_there(self, tmp_path):
        assert run("people", "list", "--config", tmp_path / "none.toml").exit_code == 2


class TestServe:
    @pytest.fixture
    def served(self, monkeypatch):
        """What uvicorn is told; that it serves is tested with real servers."""
        told = {}
        monkeypatch.setattr(
            uvicorn, "run", lambda target, **options: told.update(options, target=target)
        )
        monkeypatch.setenv("DISCREET_CONFIG", "")
        return told

    def test_it_believes_no_header_and_says_nothing_about_itself(self, deployment, served):
        done = run("serve", "--config", deployment.config, "--workers", "3")
        assert done.exit_code == 0, done.output
        assert served["workers"] == 3
        assert (served["host"], served["port"]) == ("127.0.0.1", 8000)
        assert served["proxy_headers"] is False
        assert served["server_header"] is False
        assert served["access_log"] is False

    def test_a_named_proxy_is_believed(self, tmp_path, served):
        deployment = build(tmp_path, service='proxies = ["10.0.0.1"]')
        assert (
            run(
                "serve", "--config", deployment.config, "--host", "127.0.0.2", "--port", "9000"
            ).exit_code
            == 0
        )
        assert served["forwarded_allow_ips"] == ["10.0.0.1"]
        assert (served["host"], served["port"], served["proxy_headers"]) == (
            "127.0.0.2",
            9000,
            True,
        )

    def test_the_demonstration_shows_two_tokens_and_leaves_nothing(self, served):
        done = run("serve", "--demo", "--port", "8765")
        assert done.exit_code == 0, done.output
        assert done.stdout.count("dsc_") == 2
        assert "http://127.0.0.1:8765" in done.stdout

    def test_one_of_config_and_demo(self, deployment, served):
        for words in ([], ["--demo", "--config", deployment.config]):
            refused = run("serve", *words)
            assert refused.exit_code == 2
            assert "one of the two" in refused.stderr
        assert not served

    def test_what_is_missing_is_said_before_anything_is_served(self, tmp_path, served):
        deployment = build(tmp_path)
        (tmp_path / "people.csv").unlink()
        refused = run("serve", "--config", deployment.config)
        assert refused.exit_code == 2
        assert "people.csv" in refused.stderr
        assert not served

    def test_packages_that_are_missing_are_named(self, deployment, served, monkeypatch):
        monkeypatch.setattr(serve_room, "find_spec", lambda name: None)
        refused = run("serve", "--config", deployment.config)
        assert "pip install 'discreet[service]'" in refused.stderr
