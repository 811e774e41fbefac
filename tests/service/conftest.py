"""A service for tests, in this process and without a network."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from discreet.service.app import build_app
from discreet.service.config import read_config
from service.deployment import build
from service.described import check_reply
from service.inside import inside


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    return build(tmp_path_factory.mktemp("deployment"), service='grid = "0.1"')


@pytest.fixture(scope="module")
def client(deployment):
    """The application without a network."""
    with inside(build_app(read_config(deployment.config)), deployment.url) as opened:
        yield opened


@pytest.fixture(scope="module")
def as_who(deployment, client):
    """Send a request as somebody: as_who("ana", "GET", "/me")."""

    def send(who, method, path, body=None, **headers):
        auth = {"Authorization": f"Bearer {deployment.tokens[who]}"} if who else {}
        marks = {name.replace("_", "-"): text for name, text in headers.items()}
        response = client.request(method, "/api/v1" + path, json=body, headers=auth | marks)
        check_reply(method, path, response)
        return response

    send.tokens = deployment.tokens
    return send


@dataclass(frozen=True)
class Outcome:
    """What came of a charged request, whether at once or as a job that was followed."""

    status: int
    reply: dict
    place: str


@pytest.fixture(scope="module")
def ask(as_who):
    """Send a charged request as somebody and follow its job to the end."""

    def send(who, path, body, **headers):
        response = as_who(who, "POST", path, body, **headers)
        place = response.headers.get("Location", "").removeprefix("/api/v1")
        if response.status_code != 202:
            return Outcome(response.status_code, response.json(), place)
        seen = response.json()
        while "reply" not in seen:
            time.sleep(max(0.01, seen["again_in"]))
            seen = as_who(who, "GET", place).json()
        return Outcome(seen["status"], seen["reply"], place)

    return send
