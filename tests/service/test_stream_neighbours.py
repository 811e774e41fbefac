"""Streams of people over HTTP: neighbours look alike, and each refusal is in the user's words."""

from __future__ import annotations

from datetime import timedelta

import pytest

from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.state import open_state
from service.inside import inside
from service.test_streams import SCHEMA, START, Service, deploy, set_day

DAYS = 6
CAPS = {"days": 2, "apart": 2}
PEOPLE = SCHEMA.replace('kind = "rows"', 'kind = "people", id = "who", max_rows = 3') + (
    'note = { type = "text", max_length = 9 }\n'
)
BASE = [(f"p{number % 5}", number % DAYS, "AB"[number % 2]) for number in range(30)]


def rows_of(world, day):
    """Return the rows that the source has when a day closes: (who, day, ward)."""
    known = [row for row in BASE if row[1] <= day]
    match world:
        case "every day, beyond her days":
            return known + [("zoe", one, "A") for one in range(day + 1)]
        case "late":
            return known + [("zoe", one, "B") for one in range(day)]
        case "deleted, and back again":
            return known + [("zoe", one, "A") for one in range(day + 1) if day not in (1, 2)]
        case "many rows":
            return known + [("zoe", day, "A")] * 9
        case "no day":
            return [*known, ("zoe", None, "Z")]
    return known


def write(house, rows):
    lines = []
    for who, day, ward in rows:
        moment = "soon" if day is None else (START + timedelta(days=day)).isoformat()
        lines.append(f"{who},{moment},{ward},x")
    (house.folder / "visits.csv").write_text("\n".join(["who,day,ward,note", *lines]) + "\n")


def of_people(folder, **config):
    house = deploy(folder, **config)
    (house.folder / "people.toml").write_text(PEOPLE)
    write(house, [])
    return house


def seen(folder, monkeypatch, world):
    """Return all that anybody can tell of the days of a stream but for its numbers."""
    waits = []
    set_day(monkeypatch, 0)
    house = of_people(folder)
    state = open_state(read_config(house.config))
    with inside(build_app(read_config(house.config), state), house.url) as client:
        service = Service(house, client, state)
        told = [service.open(spend={"rho": "1"}, per_person=CAPS)[0]]
        monkeypatch.setattr("discreet.service.jobs.paced_engine.time.sleep", waits.append)
        for day in range(DAYS):
            write(house, [] if world == "empty" else rows_of(world, day))
            set_day(monkeypatch, day + 1)
            state.streams.close_due()
            reply = service.send("ana", "GET", "/visits?by=day")
            told.append((reply.status_code, [row[:3] for row in reply.json()["table"]["rows"]]))
            told.append(reply.json()["state"])
            # Reading each day was held back to one tick.
            told.append(len(waits))
        ledger = state.datasets.ledger("people")
        stream = ledger.stream("visits")
        for entry, body in ledger.notes(stream, range(DAYS)):
            size = len(body) if entry.kind == "seal" else 0
            told.append((entry.kind, entry.key, entry.who, entry.terms, size))
        told.append((house.folder / "audit.log").read_text().count("stays due"))
    return told


@pytest.mark.slow
def test_neighbours_look_alike(tmp_path, monkeypatch):
    """Statuses, entries, sizes and ticks, whatever one person does; and with no row at all."""
    worlds = [
        "", "every day, beyond her days", "late", "deleted, and back again", "many rows",
        "no day", "empty",
    ]  # fmt: skip
    base, *others = [
        seen(tmp_path / str(place), monkeypatch, world) for place, world in enumerate(worlds)
    ]
    assert base[0] == 200 and base[-1] == 0 and len(base) == 2 + 3 * DAYS + 2 * DAYS
    for world, other in zip(worlds[1:], others, strict=True):
        assert other == base, world


@pytest.mark.slow
def test_refusals_in_the_user_s_words(tmp_path, monkeypatch):
    set_day(monkeypatch, 0)
    house = of_people(tmp_path)
    state = open_state(read_config(house.config))
    people = "SELECT day, COUNT(DISTINCT who) AS n FROM visits GROUP BY day"
    with inside(build_app(read_config(house.config), state), house.url) as client:
        service = Service(house, client, state)
        for change, words in [
            ({"per_person": None}, "say how many days of one count"),
            ({"sql": people}, "no sum of days"),
            (
                {"sql": "SELECT day, note, COUNT(*) AS n FROM visits GROUP BY day, note"},
                "not public",
            ),
            (
                {"sql": "SELECT day, COUNT(*) AS n, SUM(1) AS s FROM visits GROUP BY day"},
                "one stream for each",
            ),
            ({"per_person": {"days": 0}}, "days"),
            ({"sql": "SELECT day, AVG(1) AS a FROM visits GROUP BY day"}, "no sum of days"),
            ({"sql": "SELECT day, MEDIAN(1) AS a FROM visits GROUP BY day"}, "day"),
            ({"sql": "SELECT COUNT(*) AS n FROM visits"}, "the day of each row"),
            ({"sql": "SELECT n FROM stream.visits"}, "ask it by itself"),
            ({"zone": "Mars/Olympus"}, "Europe/Berlin"),
            ({"late": 400}, "late"),
            ({"matters": {"hour": 1}}, "hour"),
            ({"start": "soon"}, "2027-01-31"),
            ({"name": "a b"}, "identifier"),
            ({"periods": 36_526}, "36525"),
        ]:
            status, reply = service.open(**{"per_person": CAPS, **change})
            assert status == 422 and words in reply["error"]["message"], (change, reply)
        status, reply = service.open(per_person=CAPS, spend={"rho": "100000000"})
        assert status == 409 and "is left" in reply["error"]["message"]
        assert len(state.datasets.ledger("people").history()) == 1
        assert service.open(per_person=CAPS)[0] == 200
        status, reply = service.open(per_person={"days": 3})
        assert status == 422 and "other terms" in reply["error"]["message"]
        # Closing early closes nothing, and says so.
        assert (
            service.send("stella", "POST", "/visits/close", {}).json()["text"] == "nothing is due"
        )
    # Another version of the table: the stream stays as it is, and closes no more.
    (house.folder / "people.toml").write_text(
        PEOPLE.replace("[tables.visits]\n", '[tables.visits]\nversion = "2"\n')
    )
    state = open_state(read_config(house.config))
    with inside(build_app(read_config(house.config), state), house.url) as client:
        service = Service(house, client, state)
        reply = service.send("ana", "GET", "/visits")
        assert reply.status_code == 422
        assert "another schema, version or list of keys" in reply.json()["error"]["message"]
        # What the refusal advises works: it is listed, and a steward stops it.
        [listed] = service.send("ana", "GET", "").json()["streams"]
        assert listed["stream"] == "visits" and not listed["stopped"]
        stopped = service.send("stella", "POST", "/visits/stop", {"why": "a new version"})
        assert stopped.json() == listed | {"stopped": True}
    windows = of_people(tmp_path / "w", seal='seal = "visits.key"\nwindow = "month"')
    state = open_state(read_config(windows.config))
    with inside(build_app(read_config(windows.config), state), windows.url) as client:
        status, reply = Service(windows, client, state).open(per_person=CAPS)
        assert status == 422 and "ledger without windows" in reply["error"]["message"]
