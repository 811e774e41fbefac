"""Back-up and restore as docs/how-to/backup.md has them: real commands, while people ask."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import httpx
import pytest

from service.deployment import COUNT, House, build, free_port, start
from service.own_postgres import own_postgres
from support.stores import SETUP

PAGE = (Path(__file__).parents[2] / "docs/how-to/backup.md").read_text()
BACK_UP, DUMP, RESTORE = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
FIRST = datetime.now(UTC).date() - timedelta(days=4)
SCHEMA = """
[tables.visits]
unit = { kind = "rows" }
[tables.visits.columns]
day = { type = "date", low = "2020-01-01", high = "2060-12-31" }
"""
STREAM = {
    "sql": "SELECT day, COUNT(*) AS n FROM visits GROUP BY day",
    "spend": {"epsilon": "1"},
    "name": "visits",
    "start": FIRST.isoformat(),
    "periods": 60,
}
PATIENT = "free_seconds = 300"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("sqlite3") is None, reason="there is no sqlite3 here"),
]


def _type(script, folders):
    """Run what the page says, with other folders in place of its own."""
    for before, after in folders.items():
        script = script.replace(before, str(after))
    # The commands of this environment come first.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["sh", "-eu", "-c", script],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def _build(folder):
    deployment = build(folder, port=free_port(), dataset='seal = "visits.key"', limits=PATIENT)
    # One data set: the commands of the page name one ledger.
    config = deployment.config.read_text().split("[datasets.other]")[0]
    assert config.count("{ people =") == 1
    deployment.config.write_text(config.replace("{ people =", '{ visits = "visits.csv", people ='))
    (folder / "people.toml").write_text((folder / "people.toml").read_text() + SCHEMA)
    lines = [f"{FIRST + timedelta(days=day)}" for day in range(60) for _ in range(5)]
    (folder / "visits.csv").write_text("\n".join(["day", *lines]) + "\n")
    return deployment


def _post(client, path, body):
    """Send a charged request to its end; return its status and reply."""
    reply = client.post("/datasets/people" + path, json=body)
    if reply.status_code != 202:
        return reply.status_code, reply.json()
    found = {}
    while "reply" not in found:
        found = client.get(f"/jobs/{reply.json()['id']}").json()
    return found["status"], found["reply"]


def _ask(client, age):
    """Return the reply to one question."""
    body = {"sql": f"{COUNT} WHERE age < {age}", "spend": {"epsilon": "1/100"}}
    status, reply = _post(client, "/sql", body)
    assert status == 200, reply
    return reply


def _open(client):
    status, reply = _post(client, "/streams", STREAM)
    assert status == 200, reply


def _close(client):
    """Close what is due; return the status and the words."""
    status, reply = _post(client, "/streams/visits/close", {})
    return status, str(reply)


def _days(client):
    shown = client.get("/datasets/people/streams/visits?by=day").json()
    return shown["table"]["rows"]


def _spent(client):
    return Fraction(client.get("/datasets/people/left").json()["left_for_all"]["epsilon"])


def _copy(source, target, *, without=()):
    target.mkdir(exist_ok=True)
    for path in source.iterdir():
        if path.is_file() and path.name not in without:
            shutil.copy2(path, target)


def _restored(folder, deployment):
    """Start a service from a restored folder, on a port of its own."""
    port = free_port()
    text = (folder / "curator.toml").read_text()
    (folder / "curator.toml").write_text(re.sub(r":\d+\"", f':{port}"', text, count=1))
    house = House(folder, f"http://127.0.0.1:{port}", deployment.tokens)
    return house, start(house, port=port)


def test_a_copy_taken_while_people_ask(tmp_path):
    deployment = _build(tmp_path / "curator")
    server = start(deployment)
    answered = {}
    over = threading.Event()

    def keep_asking():
        with deployment.client("ana") as client, suppress(httpx.TransportError):
            for age in range(40, 120):
                if over.is_set():
                    break
                answered[age] = _ask(client, age)["rows"]

    try:
        with deployment.client("stella") as steward, deployment.client("ana") as ana:
            _open(steward)
            assert _close(steward)[0] == 200
            before = {age: _ask(ana, age)["rows"] for age in range(10, 14)}
            days = _days(ana)
            asker = threading.Thread(target=keep_asking)
            asker.start()
            _type(BACK_UP, {"/curator": deployment.folder})
            left_after = _spent(ana)
            over.set()
            asker.join()
    finally:
        server.stop()
    [copy] = (deployment.folder / "backup").iterdir()
    assert copy.stat().st_mode & 0o077 == 0, "others can read the copy"
    _copy(copy, tmp_path / "restored")
    # The original is gone: nothing of the copy may need it, but for the checkpoints kept elsewhere.
    kept = (deployment.folder / "checkpoints.txt").read_text()
    shutil.rmtree(deployment.folder)
    deployment.folder.mkdir()
    (deployment.folder / "checkpoints.txt").write_text(kept)
    folders = {"/restored": tmp_path / "restored", "/curator": deployment.folder}
    commands, _, served = RESTORE.partition("discreet serve")
    assert served.split() == ["--config", "curator.toml", "--port", "8001"]
    _type(commands, folders)
    house, server = _restored(tmp_path / "restored", deployment)
    try:
        with house.client("ana") as ana, house.client("stella") as steward:
            assert _spent(ana) >= left_after
            left = _spent(ana)
            for age, rows in before.items():
                again = _ask(ana, age)
                assert again["rows"] == rows and again["caption"].startswith("answered before")
            assert _spent(ana) == left
            # What was answered after the copy was taken may be charged again, or is in it.
            copied = [age for age, rows in answered.items() if _ask(ana, age)["rows"] == rows]
            assert len(copied) <= len(answered)
            assert _days(ana) == days
            assert _close(steward)[0] == 200 and _days(ana) == days
    finally:
        server.stop()
    assert "Traceback" not in (tmp_path / "restored" / "server.txt").read_text()


def test_copies_in_the_wrong_order(tmp_path):
    """A ledger that is older than the key file: the stream stops; older than the checkpoint: it shows."""
    deployment = _build(tmp_path / "curator")
    server = start(deployment)
    try:
        with deployment.client("stella") as steward:
            _open(steward)
            _type(BACK_UP, {"/curator": deployment.folder})
            assert _close(steward)[0] == 200
            closed = len(_days(steward))
            _ask(steward, 30)
            first = next((deployment.folder / "backup").iterdir())
            older = tmp_path / "older"
            shutil.move(first, older)
            _type(BACK_UP, {"/curator": deployment.folder})
    finally:
        server.stop()
    # One more where midnight passed since the tests were collected.
    assert closed >= 4
    newer = tmp_path / "newer"
    shutil.move(next((deployment.folder / "backup").iterdir()), newer)
    folders = {"/restored": older, "/curator": deployment.folder}
    checks = RESTORE.partition("sed ")[0]
    with pytest.raises(AssertionError, match="checkpoint"):
        _type(checks, folders)
    _type(checks, folders | {"/restored": newer})
    # The older ledger beside the newer key file: no second value of a day is drawn.
    shutil.copy2(newer / "visits.key", older)
    house, server = _restored(older, deployment)
    try:
        with house.client("stella") as steward:
            status, words = _close(steward)
            assert status >= 400 and "restored from an older copy" in words
            assert _days(steward) == []
    finally:
        server.stop()
    # Copies that belong together go on.
    house, server = _restored(newer, deployment)
    try:
        with house.client("stella") as steward:
            assert _close(steward)[0] == 200 and len(_days(steward)) == closed
    finally:
        server.stop()


def test_a_dump_of_postgresql(tmp_path):
    if subprocess.run([SETUP, "install"], capture_output=True, check=False).returncode:
        pytest.skip("there is no PostgreSQL server here, and it could not be installed")
    if shutil.which("pg_dump") is None:
        pytest.skip("there is no pg_dump here")
    with own_postgres() as base:
        base.say("CREATE DATABASE restored")
        folder = tmp_path / "curator"
        deployment = build(
            folder, port=free_port(), ledger=base.dsn, store=base.dsn, limits=PATIENT
        )
        server = start(deployment)
        try:
            with deployment.client("ana") as ana:
                before = {age: _ask(ana, age)["rows"] for age in (20, 30)}
            restored = base.dsn.replace("dbname=postgres", "dbname=restored")
            places = {
                "postgresql://curator@database/curator": base.dsn,
                "postgresql://curator@database/restored": restored,
                "$to": tmp_path,
            }
            assert "chain" in _type(DUMP, places)
        finally:
            server.stop()
        config = deployment.config.read_text().replace(base.dsn, restored)
        deployment.config.write_text(config)
        house, server = _restored(folder, deployment)
        try:
            with house.client("ana") as ana:
                left = _spent(ana)
                assert {age: _ask(ana, age)["rows"] for age in before} == before
                assert _spent(ana) == left == Fraction(100) - Fraction(2, 100)
        finally:
            server.stop()
