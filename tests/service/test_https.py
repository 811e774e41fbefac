"""Under https cookies are bound to the host and never sent in the clear, and browsers are told to stay."""

from __future__ import annotations

import pytest
from starlette.responses import Response

from discreet.service.config import Config
from discreet.service.http.metrics import Metrics
from discreet.service.http.middleware import guard_app
from discreet.service.http.session import Session, cookie_name, drop_cookie, set_cookie
from discreet.service.stores.people import Member
from service.loops import run

ANA = Member("ana", "analyst", ("a",), None, revoked=False, created=0.0)


def config(url):
    return Config(url=url, store="x", datasets={})


@pytest.mark.parametrize(
    ("url", "name", "secure"),
    [("https://c.example", "__Host-discreet", True), ("http://c", "discreet", False)],
)
def test_cookies(url, name, secure):
    response = Response()
    set_cookie(config(url), response, Session("secret", "csrf", ANA, 4e9))
    cookie = response.headers["set-cookie"]
    assert cookie.startswith(f"{name}=secret;")
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie
    assert ("Secure" in cookie) is secure
    gone = Response()
    drop_cookie(config(url), gone)
    assert gone.headers["set-cookie"].startswith(f'{cookie_name(config(url))}=""')
    assert "Max-Age=0" in gone.headers["set-cookie"]


def sent(url, scope):
    """Send one request to a guarded application that answers nothing."""
    messages = []

    async def app(_scope, _receive, send):
        await Response("x", headers={"Cache-Control": "max-age=60", "Server": "me"})(
            _scope, _receive, send
        )

    async def send(message):
        messages.append(message)

    async def receive():
        return {"type": "http.request", "body": b""}

    run(guard_app(app, config(url), Metrics()), scope, receive, send)
    return messages


def scope_of(path="/", *headers):
    return {
        "type": "http",
        "method": "GET",
        "path": path,
        "headers": [(b"host", b"c.example"), *headers],
    }


def test_https_stays_https():
    headers = dict(sent("https://c.example", scope_of())[0]["headers"])
    assert headers[b"strict-transport-security"].startswith(b"max-age=")
    assert headers[b"cache-control"] == b"max-age=60"
    assert b"server" not in headers
    assert b"strict-transport-security" not in dict(
        sent("http://c.example", scope_of())[0]["headers"]
    )


def test_two_hosts_are_none():
    assert sent("https://c.example", scope_of("/", (b"host", b"c.example")))[0]["status"] == 400


def test_two_lengths_are_none():
    two = ((b"content-length", b"1"), (b"content-length", b"1"))
    assert sent("https://c.example", scope_of("/", *two))[0]["status"] == 400


def test_what_is_no_http_is_not_answered():
    assert sent("https://c.example", {"type": "websocket"}) == []
