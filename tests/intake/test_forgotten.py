"""Forgotten people: found for ever, left out of every prepared store, and nothing else is kept of them."""

from __future__ import annotations

import json
import os
import stat
from decimal import Decimal

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli.app import app
from discreet.intake.forgotten import read_forgotten

VISITS = dp.Schema("visits", dp.People("uid", max_rows=9), {"ward": dp.Integer(0, 9)})
RECORDS = "uid,ward\n" + "".join(f"{n % 10},{n % 7}\n" for n in range(60))


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A folder with a source, its schema and a prepared store."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_text(RECORDS)
    dp.data.write_schemas(tmp_path / "visits.toml", [VISITS])
    dp.prepare({"visits": "visits.csv"}, [VISITS], "visits.store").close()
    return tmp_path


def run(*words, code=0):
    ended = CliRunner().invoke(app, [*map(str, words)])
    assert ended.exit_code == code, ended.output
    return ended.output


def counted(store="visits.store"):
    with dp.DuckDB(store) as engine:
        ledger = dp.open_ledger(":memory:", dp.PureDP(10**9))
        answer = dp.Curator(engine, [VISITS], ledger).sql(
            "SELECT COUNT(*) AS n, COUNT(DISTINCT uid) AS people FROM visits",
            spend=dp.PureDP(10**8),
        )
        frame = answer.to_polars()
        return round(frame["n"][0]), round(frame["people"][0])


class TestForgotten:
    """Forgotten ids are found whatever their type; the file keeps keyed hashes alone."""

    def test_found_for_ever(self, tmp_path):
        file = tmp_path / "visits.forgotten"
        read_forgotten(file, new=True).adding([3, "anna"]).save(file)
        read_forgotten(file).adding(["5"]).save(file)
        found = read_forgotten(file)
        for one in (3, "3", 3.0, Decimal("3.00"), "anna", 5):
            assert found.holds(one)
        for one in ("Anna", 4, 3.5, float("nan"), Decimal("Infinity"), "3.0"):
            assert not found.holds(one)
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
        kept = json.loads(file.read_text())
        assert kept.keys() == {"discreet", "format", "key", "people"} and "anna" not in str(kept)
        other = read_forgotten(tmp_path / "other", new=True).adding([3])
        assert not other.hashes & found.hashes

    @pytest.mark.parametrize(
        "ids",
        [
            pa.array([4711, 5, 4711]),
            pa.array([4711, 5, 4711], pa.uint64()),
            pa.array([4711.0, 5.5, 4711.0]),
            pa.array([4711.0, 5.5, 4711.0], pa.float32()),
            pa.array(
                [Decimal("4711.00"), Decimal("5.50"), Decimal("4711.00")], pa.decimal128(9, 2)
            ),
            pa.array([Decimal(4711), Decimal(10**37), Decimal(4711)], pa.decimal128(38, 0)),
            pa.array([4711.0, float("inf"), 4711.0]),
            pa.array([4711.0, 1e300, 4711.0]),
            pa.array(["4711", "4711.0", "4711"]),
        ],
        ids=lambda ids: str(ids.type),
    )
    def test_rows_are_left_out_whatever_type_their_ids_have(self, tmp_path, ids):
        """Pandas makes numbers with a point of whole ones where an id is missing."""
        file = tmp_path / "visits.forgotten"
        read_forgotten(file, new=True).adding(["4711"]).save(file)
        table = pa.table({"uid": ids, "ward": [1, 2, 3]})
        dp.prepare({"visits": table}, [VISITS], tmp_path / "s", forgotten=file).close()
        assert counted(tmp_path / "s") == (1, 1)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{}",
            "[]",
            "7",
            '{"discreet": "forgotten", "format": 2, "key": "", "people": []}',
            json.dumps({"discreet": "forgotten", "format": 1, "key": "') OR (1=1", "people": []}),
            json.dumps({"discreet": "forgotten", "format": 1, "key": "0" * 64, "people": "x"}),
            json.dumps({"discreet": "forgotten", "format": 1, "key": "0" * 64, "people": [7]}),
        ],
    )
    def test_other_files_are_refused(self, tmp_path, text):
        file = tmp_path / "visits.forgotten"
        file.write_text(text)
        with pytest.raises(dp.InvalidArgument, match="is no list of forgotten people"):
            read_forgotten(file)
        with pytest.raises(dp.InvalidArgument, match="is no list of forgotten people"):
            read_forgotten(tmp_path / "missing")

    def test_the_whole_way(self, world):
        """Forget, prepare again: the rows are gone, the answers of then stay, who returns is left out."""
        assert counted() == (60, 10)
        told = run("forget", "3", "5", "--forgotten", "visits.forgotten", "--store", "visits.store")
        for words in ("2 new in visits.forgotten", "For the person", "For the regulator", "to do"):
            assert words in told
        assert not (world / "visits.store").exists()
        prepare = ["prepare", "visits.csv", "--schema", "visits.toml", "--out", "visits.store"]
        shown = run(*prepare, "--forgotten", "visits.forgotten")
        assert "48 rows" in shown
        assert counted() == (48, 8)
        (world / "visits.csv").write_text(RECORDS + "3,1\n3,2\n11,1\n")
        run(*prepare, "--forgotten", "visits.forgotten")
        assert counted() == (49, 9)

    def test_a_death_between_the_list_and_the_copy(self, world, monkeypatch):
        """The list comes first; the same command ends what was begun."""
        from pathlib import Path

        def die(_path):
            raise KeyboardInterrupt

        words = ["forget", "3", "--forgotten", "visits.forgotten", "--store", "visits.store"]
        with monkeypatch.context() as patched:
            patched.setattr(Path, "unlink", die)
            CliRunner().invoke(app, words)
        assert read_forgotten("visits.forgotten").holds(3) and (world / "visits.store").exists()
        assert "0 new" in run(*words)
        assert not (world / "visits.store").exists()

    def test_refused_before_any_effect(self, world):
        for words, told in [
            (["3", "--store", "visits.csv"], "is no prepared store"),
            (["3", "--store", "missing.store"], "is no prepared store"),
            ([" "], "must not be empty"),
        ]:
            assert told in run("forget", *words, "--forgotten", "visits.forgotten", code=2)
            assert not (world / "visits.forgotten").exists()
        told = run("forget", "3", "--forgotten", "nowhere/visits.forgotten", code=2)
        assert "cannot be written" in told
        server = "postgresql://db/x#"
        told = run(
            "prepare", f"{server}visits", "--schema", "visits.toml", "--out", f"{server}ready",
            "--forgotten", "visits.forgotten", code=2,
        )  # fmt: skip
        assert "--forgotten is for stores in files" in told

    def test_as_json(self, world):
        told = json.loads(run("forget", "3", "--forgotten", "visits.forgotten", "--json"))
        assert told["new"] == 1 and told["removed"] == [] and "promise" in told["regulator"]
