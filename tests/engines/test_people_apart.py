"""Totals of each person apart: they add up to the totals of all, on every engine."""

from __future__ import annotations

from collections import Counter

import polars as pl

import discreet as dp
from discreet.engines.base import PeopleApart
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.tally import RowShare, Tally, Term
from discreet.query.algebra.tree import Scan
from engines.tables import Table

VISITS = dp.Schema(
    "visits",
    dp.People("who", max_rows=2),
    {"region": dp.Category(["N", "S"]), "n": dp.Integer(-5, 5)},
)
ROWS = [
    {"who": f"p{place % 5}", "region": "NSX"[place % 3], "n": place % 13 - 6} for place in range(40)
]
WEIGHT = 2**20


def tally(share):
    terms = (Term(Constant(True), WEIGHT, WEIGHT, WEIGHT), Term(Field("n"), 1, -5, 5))
    return Tally(Scan(VISITS), (Field("region"),), terms, share, only=(("N",), ("S",)))


def check(engine):
    assert isinstance(engine, PeopleApart)
    for rows in (2, 100):
        wanted = tally(RowShare(rows))
        apart = engine.tally_people(wanted)
        sums = {key: [0, 0] for _, key in apart}
        for (_, key), values in apart.items():
            sums[key] = [old + new for old, new in zip(sums[key], values, strict=True)]
        assert {key: tuple(total) for key, total in sums.items()} == engine.tally(wanted)
        assert {person for person, _ in apart} == {f"str p{number}" for number in range(5)}
        # No person moves the count by more than so many rows, over all keys.
        by_person = Counter()
        for (person, _), values in apart.items():
            by_person[person] += values[0]
        assert max(by_person.values()) <= rows * WEIGHT
    return engine.tally_people(tally(RowShare(2)))


def test_the_totals_of_people_add_up(tmp_path):
    source = tmp_path / "visits.csv"
    lines = [f"{row['who']},{row['region']},{row['n']}" for row in ROWS]
    source.write_text("\n".join(["who,region,n", *lines]) + "\n")
    memory = check(dp.Memory({"visits": ROWS}))
    with dp.DuckDB({"visits": str(source)}) as files:
        assert check(files) == memory


def test_no_id_stops_the_totals_of_all():
    """Infinite ids and those of more digits than Python writes are people like others, or nobody."""
    strange = [float("inf"), float("-inf"), float("nan"), 10**5000, -(10**5000), True, 2.5, 1e300]
    rows = [{"who": who, "region": "N", "n": 1} for who in (*strange, 7, 7.0)]
    apart = check_rows(dp.Memory({"visits": rows}))
    assert apart["number 7"] == 2 * WEIGHT and len(apart) == 8
    with dp.DuckDB(
        {"visits": pl.DataFrame({"who": [float("inf"), 7.0], "region": "N", "n": 1})}
    ) as stored:
        assert set(check_rows(stored)) == {"float inf", "number 7"}


def check_rows(engine):
    apart = engine.tally_people(tally(RowShare(2)))
    return {person: values[0] for (person, _), values in apart.items()}


def test_every_store_tells_people_apart(load):
    table = Table(
        {"who": "text", "region": "text", "n": "bigint"}, [tuple(row.values()) for row in ROWS]
    )
    assert check(load({"visits": table})) == check(dp.Memory({"visits": ROWS}))
