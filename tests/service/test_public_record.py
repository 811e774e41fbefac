"""The steward's page of the public record: the same files as the library's, for stewards of the data set alone."""

from __future__ import annotations

import io
import re
import zipfile

import pytest

import discreet as dp
from discreet.service.app import build_app
from discreet.service.config import read_config
from service.deployment import ONE, build
from service.inside import inside


@pytest.fixture
def service(tmp_path):
    """A service with one answered question, and a way to ask its pages as somebody."""
    deployment = build(tmp_path)
    with inside(build_app(read_config(deployment.config)), deployment.url) as client:
        asked = {
            "sql": "SELECT COUNT(*) AS secret_count FROM people",
            "spend": ONE,
            "why": "curious",
        }
        headers = {"Authorization": f"Bearer {deployment.tokens['ana']}"}
        job = ""
        done = client.request("POST", "/api/v1/datasets/people/sql", json=asked, headers=headers)
        # A slow machine answers with a job first.
        while done.status_code == 202 or done.json().get("state") in ("waiting", "running"):
            job = done.headers.get("Location", job)
            done = client.request("GET", job, headers=headers)

        def call(who, method, path, **form):
            sent = {"Origin": deployment.url}
            signed = client.request(
                "POST", "/sign-in", data={"token": deployment.tokens[who]}, headers=sent
            )
            sent["Cookie"] = signed.headers["Set-Cookie"].partition(";")[0]
            if method == "GET":
                return client.request("GET", path, headers=sent)
            page = client.request("GET", "/account" if who == "ana" else path, headers=sent).text
            found = re.search(r'name="csrf" value="([^"]+)"', page)
            form["csrf"] = found[1] if found else ""
            return client.request(method, path, data=form, headers=sent)

        def post(who, asked):
            headers = {"Authorization": f"Bearer {deployment.tokens[who]}"}
            path = "/api/v1/datasets/people/record"
            return client.request("POST", path, json=asked, headers=headers)

        call.post = post
        yield call


def test_a_steward_makes_the_record_of_the_library(service, tmp_path):
    page = service("stella", "GET", "/steward/people").text
    assert 'href="/steward/people/record"' in page
    words = 'data_curators = ["City of Example"]\r\nnotes = "a"\r\n'
    done = service("stella", "POST", "/steward/people/record", words=words, questions="")
    assert done.status_code == 200, done.text
    assert done.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(done.content)) as folder:
        files = {name: folder.read(name).decode() for name in folder.namelist()}
        folder.extractall(tmp_path)
    assert dp.check_record(tmp_path / "record").charges == 1
    everything = "\n".join(files.values())
    for hidden in ("ana", "stella", "curious", "secret_count"):
        assert not re.search(rf"\b{hidden}\b", everything), hidden
    assert "on a time grid of" in files["record/registry.yaml"]
    assert "Interactive API" in files["record/registry.yaml"] or "One name asked" in everything


def test_only_stewards_and_only_good_words(service):
    assert service("ana", "GET", "/steward/people/record").status_code in (303, 403)
    for form, says in (
        ({"words": "notes =", "questions": ""}, "no TOML"),
        ({"words": "nots = 'a'", "questions": ""}, "nots"),
        ({"words": "", "questions": "two"}, "are numbers"),
        ({"words": "", "questions": "99"}, "no charge with a stored answer"),
    ):
        done = service("stella", "POST", "/steward/people/record", **form)
        assert done.status_code in (400, 422) and says in done.text, done.text


def test_the_api_gives_stewards_the_record_of_the_page(service):
    words = {"data_curators": ["City of Example"], "checklist": {"14": "Kept for a year."}}
    done = service.post("stella", {"words": words, "questions": [2]})
    assert done.status_code == 200, done.text
    given = done.json()
    text = 'data_curators = ["City of Example"]\nchecklist = { 14 = "Kept for a year." }'
    page = service("stella", "POST", "/steward/people/record", words=text, questions="2")
    with zipfile.ZipFile(io.BytesIO(page.content)) as folder:
        files = {name: folder.read(f"record/{name}").decode() for name in given["files"]}
        assert len(folder.namelist()) == len(files)
    assert given["files"] == files
    assert given["tier"] == 1 and "intended_use" in given["open"]


def test_the_api_refuses_analysts_and_bad_words(service, tmp_path):
    assert service.post("ana", {"words": {"notes": "a"}}).status_code == 403
    stray = tmp_path / "words.toml"
    stray.write_text('notes = "a file of the server"', encoding="utf-8")
    for asked, says in (
        # Text would be the name of a file: no request may have the server read one.
        ({"words": str(stray)}, "words must map"),
        ({"words": {"nots": "a"}}, "nots"),
        ({"questions": ["two"]}, "questions"),
        ({"words": {"notes": "a"}, "questions": [99]}, "no charge with a stored answer"),
        ({"word": {"notes": "a"}}, "word"),
    ):
        done = service.post("stella", asked)
        assert done.status_code == 422 and says in done.text, done.text
    assert service.post("stella", {}).json()["tier"] == 1
