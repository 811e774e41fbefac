"""Laws that any engine must satisfy: exact totals, each cell read alone, and no cell shown.

An engine is an object with the four methods of `discreet.engines.base.Engine`, passed to `Curator`.
The contract is `docs/reference/engine-contract.md`; the reference implementation is `discreet.Memory`.
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
    STORED_TEXT,
    TABLES,
    TEXTS,
    hostile_tally,
    people_tallies,
    word_tallies,
)
from .findings import Findings, Law, find, refute
from .typed_rows import TypedRows

Load: TypeAlias = Callable[[Mapping[str, TypedRows]], Engine]
"""Put tables into a store and open an engine over them."""
_MISSING_COLUMN = Schema("words", Rows(), {"nothing": Integer(0, 9)})
_MISSING_TABLE = Schema("nowhere", Rows(), {"n": Integer(0, 9)})


def engine_suite(load: Load) -> Findings:
    """Check the laws of an engine; raise ClaimRefuted at the first that fails.

    1. cells: each row is read by its own cells and the schema alone, as the reference reads it,
       whatever other rows contain; nothing fails.
    2. constants: they survive any change a store makes to a text before it runs it. keys: two
       stored keys never become one. joins: different values never match. LIKE: right, and in time
       that a row cannot blow up.
    3. people: totals with bounds on rows (`RowShare`) and on groups (`GroupShare`), over filters,
       joins and unions.
    4. names: a schema finds its columns in any case; missing ones are refused. public values:
       listed, in order, of public tables only.
    5. silence: neither an explanation nor a refusal shows a cell. failure: a refusal is one of this
       library without the driver's own behind it, and the next tally is answered.

    >>> from discreet import Memory
    >>> from discreet.testing import engine_suite
    >>> def load(tables):
    ...     return Memory({name: table.mappings() for name, table in tables.items()})
    >>> print(engine_suite(load))
    engine: cells, constants, keys, joins, LIKE, people, names, public values, silence, failure held

    Refuses: `ClaimRefuted` for a law that fails.
    Law: `tests/engines/test_suite.py::test_every_engine_keeps_the_contract`
    Law: `tests/engines/test_suite.py::test_a_broken_engine_is_refuted`
    """
    engine = load(TABLES)
    oracle = Memory({name: table.mappings() for name, table in TABLES.items()})
    laws: dict[str, Law] = {"cells": lambda: _cells(engine, oracle)}
    for name, tally in word_tallies().items():
        laws[name] = _agree(engine, oracle, tally)
    laws["people"] = lambda: _people(engine, oracle)
    laws["names"] = lambda: _names(engine)
    laws["public values"] = lambda: _public_values(engine, oracle)
    laws["silence"] = lambda: _silence(engine)
    # Last: it leaves the engine after a failed query.
    laws["failure"] = lambda: _failure(engine)
    return find("engine", laws)


def _check_same(engine: Engine, oracle: Engine, tally: Tally) -> None:
    """Compare the totals of an engine with those of the reference."""
    found = engine.tally(tally)
    wanted = oracle.tally(tally)
    wrong = found.items() ^ wanted.items()
    some = sorted(map(repr, wrong))[:2]
    refute(
        not wrong,
        f"the engine and the reference differ in {len(wrong)} totals, such as {some}",
    )
    # Types are compared too: 1.0 equals 1, but the noise is added to integers.
    for totals in found.values():
        all_integers = all(type(total) is int for total in totals)
        refute(all_integers, "a total is no whole number of Python")


def _agree(engine: Engine, oracle: Engine, tally: Tally) -> Law:
    # A function of its own, so that each law keeps its own tally.
    return lambda: _check_same(engine, oracle, tally)


def _cells(engine: Engine, oracle: Engine) -> None:
    schema, tally = hostile_tally()
    engine.check(schema)
    _check_same(engine, oracle, tally)


def _people(engine: Engine, oracle: Engine) -> None:
    for tally in people_tallies():
        _check_same(engine, oracle, tally)


def _names(engine: Engine) -> None:
    """Check that present columns are found, and missing columns and tables refused."""
    for schema in (TEXTS, PEOPLE, PLACES):
        engine.check(schema)
    for schema in (_MISSING_COLUMN, _MISSING_TABLE):
        refusal = _refused(engine.check, schema)
        refute(isinstance(refusal, SchemaMismatch), "check passes what is not there")


def _public_values(engine: Engine, oracle: Engine) -> None:
    """Check that values of public columns are listed in order, and private ones refused."""
    for column in ("word", "code"):
        found = engine.public_values(PLACES, column)
        same = found == oracle.public_values(PLACES, column)
        text = f"the values of the public column {column} are not those that are stored, in order"
        refute(same, text)
    refusal = _refused(engine.public_values, TEXTS, "w")
    refute(refusal is not None, "the values of a private table are listed")


def _silence(engine: Engine) -> None:
    """Check that no explanation and no refusal shows a stored value."""
    texts = [engine.explain(tally) for tally in people_tallies()]
    texts.append(engine.explain(Tally(Scan(TEXTS), (Field("w"),), (COUNT,), Free())))
    texts.append(str(_refused(engine.check, _MISSING_COLUMN)))
    shows = any(STORED_TEXT in text for text in texts)
    refute(not shows, "a text that explains or refuses shows a stored value")


def _failure(engine: Engine) -> None:
    """Check that a failed query is refused without the driver's text, and the next one answered."""
    count = Tally(Scan(TEXTS), (), (COUNT,), Free())
    refusal = _refused(engine.tally, replace(count, rows=Scan(_MISSING_TABLE)))
    refute(refusal is not None, "a tally of a table that is not there is answered")
    # A traceback would print the driver's exception, which may contain cells.
    refute(not _shows_cause(refusal), "a refusal carries what the driver said")
    expected = {(): (len(TABLES["words"].rows),)}
    refute(engine.tally(count) == expected, "after a refusal the next tally is wrong")


def _shows_cause(refusal: DiscreetError | None) -> bool:
    """Return whether a traceback of the refusal prints another exception."""
    if refusal is None:
        return False
    if refusal.__cause__ is not None:
        return True
    return refusal.__context__ is not None and not refusal.__suppress_context__


def _refused(work: Callable[..., object], *given: object) -> DiscreetError | None:
    """Return the refusal of this library; other exceptions are raised."""
    try:
        work(*given)
    except DiscreetError as refusal:
        return refusal
    return None
