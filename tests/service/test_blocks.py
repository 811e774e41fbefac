"""A data set whose ledger has blocks: over HTTP, in the planning worker and on the steward's page."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.service.app import build_app
from discreet.service.config import read_config
from service.deployment import ONE, build
from service.inside import inside

SCHEMA = """format = 1
[tables.people]
unit = { kind = "people", id = "uid", max_rows = 4 }
[tables.people.columns]
day = { type = "date", low = "2020-01-01", high = "2079-12-31" }
[tables.wards]
public = true
key = ["ward"]
[tables.wards.columns]
ward = { type = "integer", low = 0, high = 120 }
city = { type = "text", max_length = 20 }
"""
WEEK = "SELECT COUNT(*) AS n FROM people WHERE day >= DATE '2027-01-04' AND day < DATE '2027-01-11'"
BLOCKS = 'blocks = { table = "people", column = "day", per = "week", stays = 2 }'
CSV = "uid,day\n" + "".join(f"{n},2027-01-{4 + n % 14:02d}\n" for n in range(50))


@pytest.fixture
def opened(tmp_path):
    deployment = build(tmp_path, dataset=BLOCKS, budget='{ epsilon = "2" }')
    (tmp_path / "people.toml").write_text(SCHEMA)
    (tmp_path / "people.csv").write_text(CSV)
    text = deployment.config.read_text()
    deployment.config.write_text(text.partition("[datasets.other]")[0])
    with inside(build_app(read_config(deployment.config)), deployment.url) as client:

        def call(who, method, path, body=None):
            headers = {"Authorization": f"Bearer {deployment.tokens[who]}"}
            address = f"/api/v1/datasets/people{path}"
            return client.request(method, address, json=body, headers=headers)

        call.client, call.deployment = client, deployment
        yield call


def test_blocks_over_http_and_on_the_steward_s_page(opened):
    assert opened("ana", "GET", "").json()["blocks"] == {
        "table": "people", "column": "day", "per": "week", "stays": 2,
    }  # fmt: skip
    asked = {"sql": WEEK, "spend": ONE}
    explained = opened("ana", "POST", "/explain", asked).json()
    assert explained["part"] == "2027-01-04/2027-01-10" and "b < a + 2" in str(explained)
    sent = opened("ana", "POST", "/sql?wait=30", asked)
    assert sent.status_code in (200, 202), sent.text
    left = []
    for _ in range(100):
        left = opened("ana", "GET", "/left").json()["blocks"]
        if len(left) > 1:
            break
    assert left == [
        {"part": "2027-01-04/2027-01-17", "left": {"epsilon": "1"}},
        {"part": "2027-01-18/..", "left": {"epsilon": "2"}},
    ]
    deployment = opened.deployment
    signed = opened.client.request(
        "POST",
        "/sign-in",
        data={"token": deployment.tokens["stella"]},
        headers={"Origin": deployment.url},
    )
    cookie = signed.headers["Set-Cookie"].partition(";")[0]
    page = opened.client.request("GET", "/steward/people", headers={"Cookie": cookie}).text
    assert "to a person for life" in page and "What each week has left" in page
    assert "2027-01-04/2027-01-17" in page


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ("blocks = 3", r"datasets\.people\.blocks must be a table"),
        ("blocks = { tabel = 'x' }", r"datasets\.people\.blocks\.tabel is not known"),
        (BLOCKS.replace("week", "moon"), r"datasets\.people\.blocks: the period of blocks must be"),
        (BLOCKS.replace("stays", "most").replace("2 }", "0 }"), "most must be a whole number"),
    ],
)
def test_bad_blocks_are_refused_by_their_key(tmp_path, blocks, words):
    with pytest.raises(dp.InvalidArgument, match=words):
        build(tmp_path, dataset=blocks)
