"""The API does what its description says, and nothing sent to it breaks it: schemathesis against a real server."""

from __future__ import annotations

import re

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from discreet.service.api.routes import ENDPOINTS
from discreet.service.api.schemas import ALLOWANCE, NEWCOMER, RECORD, RENEWAL
from discreet.wire.verbs.table import VERBS
from service.deployment import build, free_port, serving
from service.described import COMPONENTS
from support.profile import DEEP

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A server of its own, since what is sent here takes in people and gives allowances."""
    with serving(
        build(tmp_path_factory.mktemp("fuzz"), port=free_port(), service='grid = "0.01"')
    ) as deployment:
        yield deployment


@pytest.fixture(scope="module")
def described(running):
    return schemathesis.openapi.from_url(running.url + "/api/v1/openapi.json")


@pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["fitting", "not fitting"]
)
@pytest.mark.parametrize("way", ENDPOINTS, ids=[f"{way.method} {way.path}" for way in ENDPOINTS])
def test_nothing_breaks_it(described, running, way, mode):
    cases = described["/api/v1" + way.path][way.method].as_strategy(generation_mode=mode)

    @settings(
        max_examples=6 if DEEP else 2,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def send(case):
        for who in ("stella", "ana"):
            headers = {"Authorization": f"Bearer {running.tokens[who]}"}
            if (
                who == "ana" and "name" in case.path_parameters
            ):  # else almost all would end at a wrong name
                case.path_parameters["name"] = "people"
            case.call_and_validate(headers=headers, checks=CHECKS)

    try:
        send()
    except Unsatisfiable:
        pytest.skip("nothing that does not fit can be sent here")


def test_every_way_is_described(described):
    found = {
        (method.upper(), path)
        for path, ways in described.raw_schema["paths"].items()
        for method in ways
    }
    assert {(way.method, "/api/v1" + way.path) for way in ENDPOINTS} <= found


def _schemas(node):
    """List every schema inside a document, however deep."""
    if isinstance(node, dict):
        yield node
        for one in node.values():
            yield from _schemas(one)
    elif isinstance(node, list):
        for one in node:
            yield from _schemas(one)


def test_every_schema_is_one_and_every_name_is_known(described):
    document = described.raw_schema
    names = document["components"]["schemas"]
    for schema in names.values():
        Draft202012Validator.check_schema(schema)
    refers = {one["$ref"] for one in _schemas(document) if isinstance(one.get("$ref"), str)}
    assert refers and refers <= {f"#/components/schemas/{name}" for name in names}


def test_every_example_fits_its_own_schema():
    examples = [
        (one, said)
        for one in _schemas(COMPONENTS["components"]["schemas"])
        for said in one.get("examples", ())
    ]
    assert len(examples) >= 10
    for schema, example in examples:
        Draft202012Validator({**schema, **COMPONENTS}).validate(example)


@pytest.mark.parametrize(
    ("record", "read"),
    [(one, one.read) for one in (NEWCOMER, RENEWAL, ALLOWANCE, RECORD)]
    + [(verb.request.record, verb.request.read) for verb in VERBS.values()],
)
def test_every_example_of_a_body_is_read(record, read):
    assert record.example and read(dict(record.example))


def test_operations_have_names_that_read(described):
    names = [
        way["operationId"]
        for ways in described.raw_schema["paths"].values()
        for way in ways.values()
    ]
    assert len(set(names)) == len(names) and all(
        re.fullmatch("[a-z]+_[a-z_]+", name) for name in names
    )
    assert {"ask_sql", "explain_question", "ask_release", "get_job"} <= set(names)


def test_no_reply_is_left_undescribed(described):
    for ways in described.raw_schema["paths"].values():
        for way in ways.values():
            for reply in way["responses"].values():
                content = reply["content"]
                assert (
                    "application/x-ndjson" in content
                    or "$ref" in content["application/json"]["schema"]
                )


def test_the_server_still_answers_after_all_that(running):
    with running.client("stella") as client:
        assert client.get("/datasets/people/ledger/verify").json()["verified"] is True
    assert '"status":500' not in (running.folder / "audit.log").read_text()
