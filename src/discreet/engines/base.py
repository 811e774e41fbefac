"""Contract of an engine: answer a tally exactly, explain it, check a schema, list public values.

A tally asks for exact integer totals by key, with each person's contribution bounded. An engine
only adds up; it knows nothing of noise or budgets. Nothing but the totals may depend on a
private row: an error of the store becomes `EngineFailure` with one constant message, and the
message of the driver is dropped.

An engine may also hold a snapshot of the data (`Snapshots`): all tallies of one question then see
the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol, TypeAlias, runtime_checkable

from ..data.schema import Schema
from ..data.unit import People
from ..errors import (
    Cancelled,
    EngineFailure,
    InvalidArgument,
    SchemaMismatch,
    UnsupportedQuery,
)
from ..query.algebra.tally import Tally, Totals
from ..query.domains.domain import Scalar, Values

PublicKeys: TypeAlias = tuple[Scalar | tuple[Scalar, ...], ...]
"""Values of one public column, or tuples of several."""


class Engine(Protocol):
    """A store that answers tallies.

    `rows_public` is optional: `keeps_all_rows` reads it, and an engine without it counts as False.
    An engine has no member for randomness or for waiting: noise comes from `discreet.noise`, and
    the caller of a curator passes a `RunControl` that stops it. Other attributes of an engine are
    never read for either.

    Guarantee: totals are exact, and nothing else that an engine returns or raises depends on a row.

    Law: tests/engines/test_suite.py::test_every_engine_keeps_the_contract
    """

    @property
    def rows_public(self) -> bool:
        """Return whether the store holds every record that it was given.

        The number of rows is then public under replace neighbours.
        """
        return False

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs, of those that the tally asks for."""
        ...

    def explain(self, tally: Tally) -> str:
        """Return the text that would be run, without running it.

        Refuses: every tally that `tally` would refuse.
        """
        ...

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose table is missing, cannot be read as declared, or may fail."""
        ...

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several columns.

        They are in order; NULL is left out.
        """
        ...


PeopleTotals: TypeAlias = dict[tuple[str, Values], tuple[int, ...]]
"""Totals by person and key; a person is the text of the stored id."""


@runtime_checkable
class PeopleApart(Protocol):
    """An engine that can tell people apart for a curator which keeps what each has used up.

    Guarantee: the totals of all people of a key add up to those of `tally`.

    Law: tests/engines/test_people_apart.py::test_the_totals_of_people_add_up
    """

    def tally_people(self, tally: Tally) -> PeopleTotals:
        """Return the exact bounded totals of every person and key that occurs.

        Refuses: a store that does not hold the ids themselves, with SchemaMismatch.
        """
        ...


def people_apart(engine: object, tally: Tally) -> PeopleTotals:
    """Return the exact totals of every person and key, from an engine that can tell people apart.

    Refuses: other engines, with UnsupportedQuery; no row is read then.
    """
    if not isinstance(engine, PeopleApart):
        raise UnsupportedQuery(
            "this store cannot tell people apart, whose days have to be counted; declare the unit "
            "as a person within a day: dp.People(id, window=(day, 'day'))"
        )
    return engine.tally_people(tally)


def id_text(value: object) -> str:
    """Return a stored id as text: integers and whole floats alike, and apart from text.

    >>> from discreet.engines.base import id_text
    >>> id_text(7), id_text(7.0), id_text("7")
    ('number 7', 'number 7', 'str 7')
    """
    number = value
    # Infinity and NaN are no whole numbers, and are written as they are.
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, int):
        try:
            return f"number {int(number)}"
        except ValueError:
            # Python writes no more than some thousands of digits, but any number in base 16.
            return f"number {number:#x}"
    return f"{type(value).__name__} {value}"


@runtime_checkable
class Snapshots(Protocol):
    """An engine that can hold one state of the data for several tallies."""

    def snapshot(self) -> AbstractContextManager[object]:
        """Return a context in which all tallies of this thread see one state of the data."""
        ...


def one_snapshot(engine: object) -> AbstractContextManager[object]:
    """Return a context in which all tallies see one state of the data, if the engine has one.

    >>> from discreet.engines.base import one_snapshot
    >>> with one_snapshot("an engine that cannot"):
    ...     pass
    """
    if isinstance(engine, Snapshots):
        return engine.snapshot()
    return nullcontext()


def keeps_all_rows(engine: object) -> bool:
    """Return whether a store declares that it holds every record it was given.

    An engine without the optional `rows_public` may have dropped some.

    >>> import discreet as dp
    >>> from discreet.engines.base import keeps_all_rows
    >>> keeps_all_rows(dp.Memory({"votes": [{"yes": True}]})), keeps_all_rows(object())
    (True, False)
    """
    return getattr(engine, "rows_public", False) is True


def failure() -> EngineFailure:
    """Return the one error for every problem inside a store; its message is constant.

    >>> from discreet.engines.base import failure
    >>> failure()
    EngineFailure('the store could not answer; what it said is not shown, since it may tell about the data')
    """
    return EngineFailure(
        "the store could not answer; what it said is not shown, since it may tell about the data"
    )


def cancelled() -> Cancelled:
    """Return the one error for a query that was stopped."""
    return Cancelled()


def find_column(name: str, stored: Mapping[str, object]) -> str | None:
    """Find a declared name among the stored ones: the same, else the only one that differs in case.

    >>> from discreet.engines.base import find_column
    >>> find_column("Age", {"age": "int"}), find_column("age", {"AGE": "int", "Age": "int"})
    ('age', None)
    """
    # The exact name wins, so that a store with both "id" and "ID" can still be declared.
    if name in stored:
        return name
    matches = [other for other in stored if other.casefold() == name.casefold()]
    return matches[0] if len(matches) == 1 else None


def differ_only_in_case(names: Iterable[str]) -> bool:
    """Return whether two names are the same but for upper and lower case.

    >>> from discreet.engines.base import differ_only_in_case
    >>> differ_only_in_case(["age", "Age"]), differ_only_in_case(["age", "wage"])
    (True, False)
    """
    folded = [name.casefold() for name in names]
    return len(set(folded)) < len(folded)


def schemas_in(schemas: Schema | Iterable[Schema]) -> list[Schema]:
    """List the schemas that were given: one, or several."""
    return [schemas] if isinstance(schemas, Schema) else list(schemas)


def stored_columns(schema: Schema) -> list[str]:
    """List the columns that a schema reads: those declared, and the person's id, each once."""
    wanted = [name for name, _ in schema.declared]
    if isinstance(schema.unit, People):
        wanted.append(schema.unit.id)
    return list(dict.fromkeys(wanted))


def require_columns(schema: Schema, stored: Mapping[str, object]) -> None:
    """Refuse a schema that declares columns, or a person's id, that the store does not have.

    A name that differs in case from several stored names, and equals none, counts as missing.
    """
    missing = [name for name in stored_columns(schema) if find_column(name, stored) is None]
    if missing:
        raise SchemaMismatch(
            f"the store's table {schema.name} has no column {', '.join(missing)}; it has {', '.join(stored)}"
        )


def require_public(table: Schema, *columns: str) -> None:
    """Refuse to list values of a private table, or of columns that are not declared."""
    if not table.public:
        raise InvalidArgument(
            f"the values of {table.name} are private; only a public table's can be listed"
        )
    if not columns:
        raise InvalidArgument(f"say which columns of {table.name} to list")
    for column in columns:
        table.column(column)


def in_order(rows: Iterable[tuple[Scalar, ...]]) -> PublicKeys:
    """Sort rows without NULL; rows of one value are that value.

    >>> from discreet.engines.base import in_order
    >>> in_order([("b",), ("a",)]), in_order([("b", 1), ("a", 2)])
    (('a', 'b'), (('a', 2), ('b', 1)))
    """
    return tuple(row[0] if len(row) == 1 else row for row in sorted(rows))


def require_matches(table: Schema, count: Callable[[tuple[str, ...]], object]) -> None:
    """Refuse a public table whose values repeat more than its schema states.

    A join would make more rows of a person than the sensitivity allows for. `count` returns the
    greatest number of rows with the same values in the given columns, as the schema reads them.
    """
    if table.key and int(str(count(table.key))) > 1:
        raise SchemaMismatch(
            f"two rows of the public table {table.name} share its declared key {', '.join(table.key)}, as the schema "
            "reads it; make the key unique, or declare none"
        )
    for column, declared in table.max_rows:
        counted = int(str(count((column,))))
        if counted > declared:
            raise SchemaMismatch(
                f"{counted} rows of the public table {table.name} share one {column}, as the schema reads it; it "
                f"states {declared}: declare max_rows={{{column!r}: {counted}}}"
            )
