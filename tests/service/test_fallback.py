"""A source that cannot be read when a service starts: the last good store answers, and the steward alone is told."""

from __future__ import annotations

import json
import time

import pytest

import discreet as dp
from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.stores.datasets import DataSets
from service.deployment import COUNT, build, rows
from service.inside import inside

BROKEN = rows() + '41,"9\n'
WHY = "record 401 opens a quote that is never closed"


@pytest.fixture
def deployment(tmp_path):
    """One data set, whose source was read once and then changed into what cannot be."""
    made = build(tmp_path / "deployment", dataset='keep = "people.kept"')
    made.config.write_text(made.config.read_text().partition("[datasets.other]")[0])
    DataSets(read_config(made.config)).close()
    (made.folder / "people.csv").write_text(BROKEN)
    return made


def test_the_last_good_store_answers_and_the_steward_alone_is_told(deployment):
    def page(client, who, place):
        signed = client.request(
            "POST",
            "/sign-in",
            data={"token": deployment.tokens[who]},
            headers={"Origin": deployment.url},
        )
        cookie = signed.headers["Set-Cookie"].partition(";")[0]
        return client.request("GET", place, headers={"Cookie": cookie}).text

    with inside(build_app(read_config(deployment.config)), deployment.url) as client:
        assert WHY in page(client, "stella", "/steward/people")
        headers = {"Authorization": f"Bearer {deployment.tokens['ana']}"}
        heard = [page(client, "ana", "/ask/people"), client.request("GET", "/api/v1/health").text]
        asked = {"sql": COUNT, "spend": {"epsilon": "50"}}
        job = client.request("POST", "/api/v1/datasets/people/sql", json=asked, headers=headers)
        seen = job
        while "reply" not in seen.json():
            time.sleep(0.05)
            seen = client.request("GET", job.headers["Location"], headers=headers)
        assert (
            abs(seen.json()["reply"]["rows"][0][0] - 400) < 5
        )  # wrong by chance with probability e^-200
        assert not any(
            "quote" in text or "could not be read" in text for text in [*heard, seen.text]
        )
        assert json.loads(heard[1])["status"] == "ok"
    log = (deployment.folder / "audit.log").read_text()
    assert "source unreadable, the last good store answers" in log and "quote" not in log


def test_what_is_mended_is_read_again(deployment):
    (deployment.folder / "people.csv").write_text(rows(30))
    datasets = DataSets(read_config(deployment.config))
    assert datasets.told("people") == ""
    assert datasets.engine("people").report.tables[0].rows == 30
    datasets.close()


def test_without_a_store_that_fits_the_refusal_stands(deployment):
    text = (deployment.folder / "people.toml").read_text()
    (deployment.folder / "people.toml").write_text(text.replace("high = 120", "high = 150", 1))
    with pytest.raises(dp.InvalidArgument, match=WHY):  # the kept one was read with narrower bounds
        DataSets(read_config(deployment.config))
    (deployment.folder / "people.kept").unlink()
    with pytest.raises(dp.InvalidArgument, match=WHY):
        DataSets(read_config(deployment.config))


def test_only_files_are_kept(tmp_path):
    made = build(tmp_path / "deployment")
    text = made.config.read_text()
    made.config.write_text(
        text.replace('duckdb = { people = "people.csv"', 'keep = "x"\nduckdb = "p.store" #', 1)
    )
    with pytest.raises(dp.InvalidArgument, match=r"datasets\.people\.keep belongs to files"):
        read_config(made.config)
