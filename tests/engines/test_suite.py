"""The published suite of laws, on every engine, and on engines that break one of them."""

from __future__ import annotations

import pytest

from discreet.engines import Memory
from discreet.errors import ClaimRefuted, SchemaMismatch
from discreet.testing import engine_suite
from engines.tables import in_memory, in_postgres


def test_every_engine_keeps_the_contract(load):
    assert engine_suite(load).unchecked == ()


def test_settings_and_collations_of_a_server_do_not_matter(postgres_dsn):
    """Text compared by a collation that no byte decides, in a session of other zones, styles and digits."""
    import psycopg

    settings = "-c timezone=Pacific/Auckland -c DateStyle=German,MDY -c extra_float_digits=-15 -c bytea_output=escape"

    opened = []

    def loaded(tables):
        engine = in_postgres(tables, f"{postgres_dsn} options='{settings}'")
        with psycopg.connect(postgres_dsn, autocommit=True) as server:
            server.execute(
                "CREATE COLLATION IF NOT EXISTS alike (provider=icu, locale='und-u-ks-level1', deterministic=false)"
            )
            for name, table in tables.items():
                for column in (
                    column for column, stored in table.types.items() if stored == "text"
                ):
                    server.execute(f'ALTER TABLE "{name}" ALTER "{column}" TYPE text COLLATE alike')
            assert server.execute("SELECT count(*) FROM words WHERE \"W\" = 'á'").fetchall() == [
                (4,)
            ]
        opened.append(engine)
        return engine

    assert engine_suite(loaded).unchecked == ()
    opened[0].close()


class Broken:
    """The reference, but for one fault."""

    def __init__(self, tables, **faults):
        self.inner = in_memory(tables)
        self.faults = faults

    def __getattr__(self, name):
        return self.faults.get(name) or getattr(self.inner, name)


def folded(tables):
    inner = in_memory(tables)

    def tally(asked):
        found = {}
        for key, totals in inner.tally(asked).items():
            found[tuple(part.lower() if isinstance(part, str) else part for part in key)] = totals
        return found

    return Broken(tables, tally=tally)


def telling(tables):
    return Broken(tables, explain=lambda _: "SELECT 'zz4711zz'")


def lax(tables):
    return Broken(tables, check=lambda _: None)


def chatty(tables):
    inner = Memory({name: table.mappings() for name, table in tables.items()})

    def tally(asked):
        try:
            return inner.tally(asked)
        except SchemaMismatch as refusal:
            raise type(refusal)(str(refusal)) from ValueError("what the driver said")

    return Broken(tables, tally=tally)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (folded, "differ in"),
        (telling, "shows a stored value"),
        (lax, "not there"),
        (chatty, "what the driver said"),
    ],
)
def test_a_broken_engine_is_refuted(broken, told):
    with pytest.raises(ClaimRefuted, match=told):
        engine_suite(broken)
