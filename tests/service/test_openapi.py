"""The API does what its description says, and nothing sent to it breaks it: schemathesis against a real server."""

from __future__ import annotations

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, status_code_conformance

from discreet.service.api.routes import WAYS
from service.house import build, free_port, start
from support.profile import examples

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A server of its own, since what is sent here takes in people and gives allowances."""
    made = start(build(tmp_path_factory.mktemp("fuzz"), port=free_port(), service='grid = "0.01"'))
    yield made
    made.stop()


@pytest.fixture(scope="module")
def described(running):
    return schemathesis.openapi.from_url(running.house.url + "/api/v1/openapi.json")


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fitting", "not fitting"])
@pytest.mark.parametrize("way", WAYS, ids=[f"{way.method} {way.path}" for way in WAYS])
def test_nothing_breaks_it(described, running, way, mode):
    cases = described["/api/v1" + way.path][way.method].as_strategy(generation_mode=mode)

    @settings(
        max_examples=examples(6),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def send(case):
        for who in ("stella", "ana"):
            headers = {"Authorization": f"Bearer {running.house.tokens[who]}"}
            if who == "ana" and "name" in case.path_parameters:  # else almost all would end at a wrong name
                case.path_parameters["name"] = "people"
            case.call_and_validate(headers=headers, checks=CHECKS)

    try:
        send()
    except Unsatisfiable:
        pytest.skip("nothing that does not fit can be sent here")


def test_every_way_is_described(described):
    found = {(method.upper(), path) for path, ways in described.raw_schema["paths"].items() for method in ways}
    assert {(way.method, "/api/v1" + way.path) for way in WAYS} <= found


def test_the_server_still_answers_after_all_that(running):
    with running.house.client("stella") as client:
        assert client.get("/datasets/people/ledger/verify").json()["verified"] is True
    assert '"status":500' not in (running.house.folder / "audit.log").read_text()
