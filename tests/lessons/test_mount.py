"""The service mounts the learning pages where their package is installed, and works without it."""

from __future__ import annotations

from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.pages import render
from service.inside import inside

MENU_ENTRY = '<a href="/learn"'


def test_the_lessons_are_mounted(client):
    assert client.request("GET", "/learn").status_code == 200
    assert client.request("GET", "/learn/noise").status_code == 200
    assert MENU_ENTRY in client.request("GET", "/sign-in").text


def test_a_service_without_lessons_has_neither_pages_nor_a_menu_entry(deployment, monkeypatch):
    monkeypatch.setattr(render, "LESSONS", "discreet.not_installed")
    with inside(build_app(read_config(deployment.config)), deployment.url) as bare:
        for path in ("/learn", "/learn/noise", "/telemetry", "/static/telemetry.js"):
            assert bare.request("GET", path).status_code == 404
        shown = bare.request("GET", "/sign-in")
        assert shown.status_code == 200
        assert f"{MENU_ENTRY}>Learn" not in shown.text
