"""Laws that any engine must satisfy, yours too: exact totals, read cell by cell, and not a word about any of them.

An engine is an object with the four methods of `discreet.engines.base.Engine`, handed to `Curator`. The contract is
`docs/engine-contract.md`; the reference that it is compared with is `discreet.Memory`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from ..data import Integer, Rows, Schema
from ..engines.base import Engine
from ..engines.memory.engine import Memory
from ..errors import DiscreetError, SchemaMismatch
from ..query.algebra.expression import Field
from ..query.algebra.tally import Free, Tally
from ..query.algebra.tree import Scan
from .engine_tables import (
    COUNT,
    PEOPLE,
    PLACES,
    TABLES,
    TOLD,
    WORDS,
    hostile_tally,
    people_tallies,
    word_tallies,
)
from .findings import Findings, Law, find, refute
from .typed_rows import TypedRows

Load: TypeAlias = Callable[[Mapping[str, TypedRows]], Engine]
"""Put tables into a store and open an engine over them."""
_MISSING = Schema("words", Rows(), {"nothing": Integer(0, 9)})
_ABSENT = Schema("nowhere", Rows(), {"n": Integer(0, 9)})


def engine_suite(load: Load) -> Findings:
    """Check the laws of an engine; raise ClaimRefuted at the first that fails.

    1. cells: each row is read by its own cells and the schema alone, as the reference reads it, whatever stands in
       other rows; nothing fails.
    2. constants survive whatever a store does to a text before it runs it. keys: two stored keys never become one.
       joins: what differs never matches. LIKE: right, and in time that a row cannot blow up.
    3. people: all shares and relations, total by total.
    4. names: a schema finds its columns in any case; what is not there is refused. public values: listed, in order, of
       public tables only.
    5. silence: neither a text that explains nor a refusal shows a cell. failure: a refusal is one of ours without the
       driver's own behind it, and the next tally is answered.

    >>> from discreet import Memory
    >>> from discreet.testing import engine_suite
    >>> print(engine_suite(lambda tables: Memory({name: table.mappings() for name, table in tables.items()})))
    engine: cells, constants, keys, joins, LIKE, people, names, public values, silence, failure held
    """
    engine, oracle = (
        load(TABLES),
        Memory({name: table.mappings() for name, table in TABLES.items()}),
    )
    words = {name: _agree(engine, oracle, tally) for name, tally in word_tallies().items()}
    laws: dict[str, Law] = {
        "cells": lambda: _cells(engine, oracle),
        **words,
        "people": lambda: _people(engine, oracle),
        "names": lambda: _names(engine),
        "public values": lambda: _public_values(engine, oracle),
        "silence": lambda: _silence(engine),
        "failure": lambda: _failure(engine),
    }
    return find("engine", laws)


def _same(engine: Engine, oracle: Engine, tally: Tally) -> None:
    found, wanted = engine.tally(tally), oracle.tally(tally)
    wrong = found.items() ^ wanted.items()
    refute(
        not wrong,
        f"the engine and the reference differ in {len(wrong)} totals, such as {sorted(map(repr, wrong))[:2]}",
    )
    refute(
        all(type(total) is int for totals in found.values() for total in totals),
        "a total is no whole number of Python",
    )


def _agree(engine: Engine, oracle: Engine, tally: Tally) -> Law:
    return lambda: _same(engine, oracle, tally)


def _cells(engine: Engine, oracle: Engine) -> None:
    schema, tally = hostile_tally()
    engine.check(schema)
    _same(engine, oracle, tally)


def _people(engine: Engine, oracle: Engine) -> None:
    for tally in people_tallies():
        _same(engine, oracle, tally)


def _names(engine: Engine) -> None:
    for schema in (WORDS, PEOPLE, PLACES):
        engine.check(schema)
    for absent in (_MISSING, _ABSENT):
        refute(
            isinstance(_refused(engine.check, absent), SchemaMismatch),
            "check passes what is not there",
        )


def _public_values(engine: Engine, oracle: Engine) -> None:
    for column in ("word", "code"):
        same = engine.public_values(PLACES, column) == oracle.public_values(PLACES, column)
        refute(
            same,
            f"the values of the public column {column} are not those that are stored, in order",
        )
    refute(
        _refused(engine.public_values, WORDS, "w") is not None,
        "the values of a private table are listed",
    )


def _silence(engine: Engine) -> None:
    told = [engine.explain(tally) for tally in people_tallies()]
    told += [engine.explain(Tally(Scan(WORDS), (Field("w"),), (COUNT,), Free()))]
    told += [str(_refused(engine.check, _MISSING))]
    refute(
        not any(TOLD in text for text in told),
        "a text that explains or refuses shows a stored value",
    )


def _failure(engine: Engine) -> None:
    row = Tally(Scan(WORDS), (), (COUNT,), Free())
    refusal = _refused(engine.tally, replace(row, rows=Scan(_ABSENT)))
    refute(refusal is not None, "a tally of a table that is not there is answered")
    behind = refusal is not None and (
        refusal.__cause__ or (refusal.__context__ and not refusal.__suppress_context__)
    )
    refute(not behind, "a refusal carries what the driver said")
    refute(
        engine.tally(row) == {(): (len(TABLES["words"].rows),)},
        "after a refusal the next tally is wrong",
    )


def _refused(work: Callable[..., object], *given: object) -> DiscreetError | None:
    """Return the refusal of what must be refused; what is none of ours goes on."""
    try:
        work(*given)
    except DiscreetError as refusal:
        return refusal
    return None
