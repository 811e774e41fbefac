"""The page of the API: everything that is described stands on it, every link ends there, no other host is asked."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from discreet.service.api.openapi import document
from discreet.service.api.routes import ENDPOINTS, ROOT
from discreet.service.config import read_config


class Links(HTMLParser):
    """What a page points to, loads and is made of."""

    def __init__(self):
        super().__init__()
        self.ids, self.hrefs, self.loads, self.inline = set(), set(), set(), []

    def handle_starttag(self, tag, attrs):
        said = dict(attrs)
        self.ids |= {said["id"]} if "id" in said else set()
        self.hrefs |= {said["href"]} if tag == "a" and "href" in said else set()
        self.loads |= {said[name] for name in ("src", "href") if name in said and tag != "a"}
        self.inline += [name for name in said if name == "style" or name.startswith("on")]


@pytest.fixture(scope="module")
def shown(client):
    page = client.request("GET", "/docs")
    assert (
        page.status_code == 200 and "script-src 'self'" in page.headers["Content-Security-Policy"]
    )
    return page.text


def test_everything_that_is_described_stands_there(shown, deployment):
    described = document(ENDPOINTS, ROOT, read_config(deployment.config))
    ways = [
        (method.upper(), path, way)
        for path, ways in described["paths"].items()
        for method, way in ways.items()
    ]
    assert len(ways) > 20
    for method, path, way in ways:
        assert f'id="{way["operationId"]}"' in shown and f">{method} {path}</code>" in shown
        assert way["summary"].replace("'", "&#39;") in shown
    for name, schema in described["components"]["schemas"].items():
        part = re.search(rf'<article id="part-{name}".*?</article>', shown, re.DOTALL).group()
        for field in schema.get("properties", {}):
            assert f">{field}</th>" in part, (name, field)


def test_every_link_ends_here_and_nothing_comes_from_elsewhere(shown, client):
    links = Links()
    links.feed(shown)
    anchors = {href for href in links.hrefs if href.startswith("#")}
    assert len(anchors) > 50 and {href[1:] for href in anchors} <= links.ids
    assert all(
        href.startswith(("#", "/")) and not href.startswith("//")
        for href in links.hrefs | links.loads
    )
    assert (
        not links.inline and "<style" not in shown and not re.search(r"<script(?![^>]*src=)", shown)
    )
    for href in sorted((links.hrefs | links.loads) - anchors):
        assert client.request("GET", href).status_code in (200, 303), href
