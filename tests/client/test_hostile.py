"""A service that means harm: whatever it sends, the client refuses in words of the library (D6)."""

from __future__ import annotations

import gzip
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

import discreet as dp
from discreet.client import http as line

ME = {"/api/v1/me": {"name": "ana"}, "/api/v1/datasets": {"datasets": ["a"]}}
FACTS = {"tables": [], "filter": {}}


@contextmanager
def answering(replies, status=200, headers=()):
    """Answer each path by its reply: JSON, or bytes as they are."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            found = replies.get(self.path, replies.get("*", {}))
            body = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(200 if self.path in ME else status)
            for name, text in headers:
                self.send_header(name, text)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 the name of the standard library

        def log_message(self, *_):
            """Write nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def connect(url):
    return dp.connect(url, "dsc_x", patience=0.1, deadline=1)


@pytest.mark.parametrize(
    "reply",
    [b"[" * 100_000, b"[]", b"\xff", b"", {}, {"name": "ana"}, {"datasets": []}],
    ids=lambda reply: str(reply)[:20],
)
def test_replies_that_are_none(reply):
    with answering({"*": reply} | dict.fromkeys(ME, reply)) as url, pytest.raises(dp.DiscreetError):
        connect(url)


@pytest.mark.parametrize("field", ["tables", "filter"])
def test_a_field_that_is_missing_is_named(field):
    facts = {name: value for name, value in FACTS.items() if name != field}
    with (
        answering(ME | {"/api/v1/datasets/a": facts}) as url,
        pytest.raises(dp.SchemaMismatch, match=field),
    ):
        connect(url)


@pytest.mark.parametrize("url", ["http://[", "http://a:b", "http://\x00", "https://exa mple/"])
def test_addresses_that_are_none(url):
    with pytest.raises((dp.InvalidArgument, dp.Unreachable)):
        connect(url)


def test_compressed_replies_are_not_opened(monkeypatch):
    bomb = gzip.compress(b" " * 1_000_000)
    with (
        answering(
            {"*": bomb} | dict.fromkeys(ME, bomb), headers=[("Content-Encoding", "gzip")]
        ) as url,
        pytest.raises(dp.EngineFailure, match="compressed or too long"),
    ):
        connect(url)
    monkeypatch.setattr(line, "MAX_REPLY_BYTES", 1000)
    with (
        answering(dict.fromkeys(ME, b" " * 1001)) as url,
        pytest.raises(dp.EngineFailure, match="compressed or too long"),
    ):
        connect(url)


def test_terminals_obey_nothing():
    error = {"error": {"kind": "NotAllowed", "message": "no\x1b]0;x\x07 \x9b2J \u202eback\nline"}}
    with (
        answering({"*": error}, status=403) as url,
        httpx.Client(base_url=url) as http,
        pytest.raises(dp.NotAllowed) as refused,
    ):
        line.Connection(http, 0.1).get("/x")
    assert str(refused.value) == "no\ufffd]0;x\ufffd \ufffd2J \ufffdback\nline"


def test_a_value_of_a_row_is_not_obeyed_either():
    values = ["a\x1b[2J\nforged  1", "b"]
    schema = dp.Schema("v", dp.Rows(), {"t": dp.Category(values)})
    curator = dp.Curator(dp.Memory({"v": []}), [schema], dp.open_ledger(":memory:", dp.PureDP(1)))
    answer = curator.sql("SELECT t, COUNT(*) AS n FROM v GROUP BY t", spend=1)
    assert "\x1b" not in str(answer) and "\nforged" not in str(answer)
    # The value itself stays what it is.
    assert answer.column("t") == values


def test_the_id_of_a_job_is_no_path():
    job = {"id": "../../elsewhere", "again_in": 0.0}
    with (
        answering({"*": job}, status=202) as url,
        httpx.Client(base_url=url) as http,
        pytest.raises(dp.Unreachable, match="names no job") as lost,
    ):
        line.Connection(http, 0.1).charge("/x", {}, "", dp.PureDP(1))
    assert lost.value.spent == dp.PureDP(1)
