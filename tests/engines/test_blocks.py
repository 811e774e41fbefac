"""Rows within blocks and kept times: the same on every engine, by a plain statement of the rule."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta

import pytest

import discreet as dp
from discreet.engines.counted import CountedEngine, count_rows_of
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import Free, RowShare, Tally, Term
from discreet.query.algebra.tree import JoinPeople, Scan, Select, Union
from engines.tables import Table, in_memory, same_totals

PERSON = dp.People("who", max_rows=4)
COLUMNS = {
    "day": dp.Date("2026-01-01", "2029-12-31"),
    "at": dp.Timestamp("2026-01-01T00:00:00", "2029-12-31T23:59:59"),
    "ward": dp.Integer(0, 9),
}
VISITS = dp.Schema("visits", PERSON, COLUMNS)
COUNT = Term(Constant(True), 1, 0, 1)
START = {
    "day": lambda d: d,
    "week": lambda d: d - timedelta(days=d.weekday()),
    "month": lambda d: d.replace(day=1),
    "quarter": lambda d: d.replace(month=d.month - (d.month - 1) % 3, day=1),
    "year": lambda d: d.replace(month=1, day=1),
}
"""First day of the block of a day."""


def rows(seed=1, people=25):
    """Draw rows of people; some have no id, some no time, some a time beyond the declared ends."""
    chance = random.Random(seed)
    drawn = []
    for who in [*(f"p{n}" for n in range(people)), None]:
        first = date(2026, 11, 1) + timedelta(days=chance.randrange(500))
        for _ in range(chance.randrange(1, 9)):
            day = first + timedelta(days=chance.choice([0, 1, 3, 8, 20, 45, 100, 400, 900]))
            if chance.random() < 0.1:
                day = chance.choice([None, date(1999, 1, 1), date(2050, 5, 5)])
            at = None if day is None else datetime.combine(day, datetime.min.time())
            late = chance.choice([0, 3600, 86399])
            drawn.append((who, day, at and at + timedelta(seconds=late), chance.randrange(10)))
    return drawn


TYPES = {"who": "text", "day": "date", "at": "timestamp", "ward": "bigint"}


def counted_rows(drawn, blocks):
    """Say again which rows count, day by day: no number of a block is used."""
    start, index = START[blocks.per], 1 if blocks.column == "day" else 2
    clipped = defaultdict(list)
    for row in drawn:
        if row[0] is None or row[index] is None:
            continue
        day = row[index] if index == 1 else row[index].date()
        day = min(max(day, date(2026, 1, 1)), date(2029, 12, 31))
        clipped[row[0]].append((start(day), row[3]))
    kept = []
    for own in clipped.values():
        begins = sorted({begin for begin, _ in own})
        if blocks.stays is not None:
            allowed, begin = set(), begins[0]
            for _ in range(blocks.stays):
                allowed.add(begin)
                begin = start(begin + timedelta(days=32 if blocks.per == "month" else 7))
                if blocks.per in ("day", "quarter", "year"):
                    step = {"day": 1, "quarter": 95, "year": 370}[blocks.per]
                    begin = start(max(allowed) + timedelta(days=step))
        else:
            allowed = set(begins[: blocks.most])
        kept += [ward for begin, ward in own if begin in allowed]
    return Counter(kept)


CASES = [
    dp.Blocks("visits", column, per, **{limit: count})
    for column, per, limit, count in [
        ("day", "day", "stays", 5),
        ("day", "week", "stays", 3),
        ("at", "week", "most", 2),
        ("day", "month", "most", 3),
        ("at", "month", "stays", 2),
        ("day", "quarter", "stays", 1),
        ("at", "year", "most", 1),
        ("day", "year", "stays", 2),
    ]
]


class TestEveryEngineCountsTheSameBlocks:
    """Every engine counts exactly the rows that the rule names, and other tables as they are."""

    @pytest.mark.parametrize("blocks", CASES, ids=str)
    def test_in_memory(self, blocks):
        drawn = rows()
        tally = Tally(Scan(VISITS), (Field("ward"),), (COUNT,), Free())
        engine = CountedEngine(in_memory({"visits": Table(TYPES, drawn)}), blocks)
        found = {ward: totals[0] for (ward,), totals in engine.tally(tally).items()}
        assert found == counted_rows(drawn, blocks)

    def test_in_stores(self, load):
        tables = {"visits": Table(TYPES, rows(2))}
        store, memory = load(tables), in_memory(tables)
        for blocks in load.few(CASES, 3):
            for share in (Free(), RowShare(2)):
                tally = Tally(Scan(VISITS), (Field("ward"),), (COUNT,), share)
                wanted = CountedEngine(memory, blocks).tally(tally)
                same_totals(CountedEngine(store, blocks).tally(tally), wanted)

    def test_in_joins_and_unions(self, load):
        tables = {"visits": Table(TYPES, rows(3))}
        scan = Scan(VISITS)
        joined = JoinPeople(scan, Select(scan, (("other", Field("ward")),)))
        store, memory, blocks = load(tables), in_memory(tables), CASES[1]
        for relation in (joined, Union((scan, scan))):
            tally = Tally(relation, (Field("ward"),), (COUNT,), Free())
            wanted = CountedEngine(memory, blocks).tally(tally)
            assert wanted != memory.tally(tally)
            same_totals(CountedEngine(store, blocks).tally(tally), wanted)

    def test_an_empty_table(self, load):
        store = CountedEngine(load({"visits": Table(TYPES, [])}), CASES[1])
        assert store.tally(Tally(Scan(VISITS), (), (COUNT,), Free())) == {(): (0,)}

    @pytest.mark.parametrize("blocks", CASES[:4], ids=str)
    def test_in_a_prepared_store(self, tmp_path, blocks):
        """A prepared store has each person's number of rows beside them: of blocks it is another."""
        drawn = [row for row in rows(6) if row[1] is not None]
        lines = ["who,day,at,ward", *(",".join(map(str, row)) for row in drawn if row[0])]
        (tmp_path / "visits.csv").write_text("\n".join(lines) + "\n")
        memory = in_memory({"visits": Table(TYPES, drawn)})
        tally = Tally(Scan(VISITS), (Field("ward"),), (COUNT,), RowShare(4))
        store = dp.prepare({"visits": tmp_path / "visits.csv"}, [VISITS], tmp_path / "visits.store")
        with store:
            wanted = CountedEngine(memory, blocks).tally(tally)
            same_totals(CountedEngine(store, blocks).tally(tally), wanted)

    def test_rows_and_other_tables_are_left_alone(self):
        engine = in_memory({"visits": Table(TYPES, rows())})
        by_row = dp.Schema("visits", dp.Rows(), COLUMNS)
        everything = Tally(Scan(by_row), (), (COUNT,), Free())
        assert CountedEngine(engine, CASES[1]).tally(everything) == engine.tally(everything)
        elsewhere = dp.Blocks("other", "day", "week", stays=1)
        tally = Tally(Scan(VISITS), (), (COUNT,), Free())
        assert CountedEngine(engine, elsewhere).tally(tally) == engine.tally(tally)
        assert count_rows_of(engine, [VISITS], None) is engine
        assert not CountedEngine(engine, elsewhere).rows_public


class TestKeptTimes:
    """Rows before the first kept day count nowhere; a person's first block stays the first one."""

    @pytest.mark.parametrize("column", ["day", "at"])
    def test_rows_before_the_floor(self, load, column):
        drawn = rows(4)
        kept = dp.Schema("visits", PERSON, COLUMNS, keeps=(column, "3 months"))
        store = load({"visits": Table(TYPES, drawn)})
        engine = CountedEngine(store, None, today=lambda: date(2027, 8, 19))
        found = engine.tally(Tally(Scan(kept), (), (COUNT,), Free()))
        floor = date(2027, 5, 1)
        want = sum(1 for who, day, _, _ in drawn if who and day and day >= floor)
        assert found == {(): (want,)}

    def test_a_file_that_shrinks_with_the_first_row_of_each_person_kept(self):
        """What docs tell stewards to do: one row of id and time stays, and no total changes."""
        drawn = rows(5)
        kept = dp.Schema("visits", PERSON, COLUMNS, keeps=("day", "3 months"))
        floor, blocks = date(2027, 5, 1), dp.Blocks("visits", "day", "week", stays=30)
        stubs = {}
        for who, day, at, _ in drawn:
            if who and day and day < floor and (who not in stubs or day < stubs[who][1]):
                stubs[who] = (who, day, at, None)
        shrunk = [row for row in drawn if row[1] is None or row[1] >= floor]
        totals = []
        for stored in (drawn, [*shrunk, *stubs.values()], shrunk):
            engine = CountedEngine(
                in_memory({"visits": Table(TYPES, stored)}), blocks, today=lambda: date(2027, 8, 1)
            )
            totals.append(engine.tally(Tally(Scan(kept), (), (COUNT,), Free())))
        whole, with_stubs, without = totals
        assert whole == with_stubs != without
