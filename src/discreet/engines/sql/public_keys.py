"""Public keys of a tally as SQL: the test that a row's key is one of a public list."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from ...query.domains.domain import Domain, Scalar
from .dialect import Dialect
from .key_codec import Held, hold, holdable
from .reading.constant import constant_sql, constants_sql
from .select import numbered, select_sql


def only_sql(
    only: Iterable[tuple[Scalar, ...]],
    names: Sequence[str],
    domains: Sequence[Domain],
    dialect: Dialect,
) -> tuple[str, tuple[str, ...]]:
    """Write the test that a row's keys are wanted, and list the keys that must not be NULL.

    If no key may be NULL and nothing else has to be tested, the test is TRUE. A list of all
    combinations is tested key by key, any other list as a whole. A key whose domain lists its
    values needs no test but for NULL, if all of them are wanted.
    """
    keys = _held_keys(list(only), domains)
    if not keys:
        return "FALSE", ()
    columns = list(map(set, zip(*keys, strict=True)))
    # As many keys as the product of the columns: then the list has all combinations.
    if len(keys) != prod(map(len, columns)):
        return _test_together(keys, names, dialect), ()
    tests = []
    for name, domain, values in zip(names, domains, columns, strict=True):
        tests.append(_test_one(name, domain, values, dialect))
    not_null = []
    for name, test in zip(names, tests, strict=True):
        if test == _not_null(name):
            not_null.append(name)
    written = [test for test in tests if test]
    if len(not_null) == len(written):
        return "TRUE", tuple(not_null)
    return " AND ".join(written), ()


def _held_keys(
    listed: Sequence[tuple[Scalar, ...]], domains: Sequence[Domain]
) -> set[tuple[Held, ...]]:
    """List the keys as a store holds them; keys that no row can have are left out."""
    # Each value of a column is converted once: a hundred thousand keys have a few hundred values.
    known = []
    for column, domain in zip(zip(*listed, strict=True), domains, strict=bool(listed)):
        held = {}
        for value in set(column):
            if holdable(value, domain):
                held[value] = hold(value, domain)
        known.append(held)
    keys = set()
    for key in listed:
        pairs = list(zip(key, known, strict=True))
        if all(value in held for value, held in pairs):
            keys.add(tuple(held[value] for value, held in pairs))
    return keys


def _not_null(name: str) -> str:
    return f"{name} IS NOT NULL"


def _test_one(name: str, domain: Domain, values: set[Held], dialect: Dialect) -> str:
    """Write the test of one key; "" if every row passes it."""
    if domain.keys is not None:
        possible = {hold(key, domain) for key in domain.keys} - {None}
        if possible <= values:
            return "" if None in values else _not_null(name)
    ordered = sorted(values - {None}, key=repr)
    listed = constants_sql(ordered, dialect)
    # NULL is never IN a list, so it has a test of its own.
    among = f"{name} IN ({listed})" if listed else "FALSE"
    return f"({among} OR {name} IS NULL)" if None in values else among


def _test_together(keys: set[tuple[Held, ...]], names: Sequence[str], dialect: Dialect) -> str:
    """Write a test of whole keys; a key with NULL is tested by itself, since NULL equals nothing."""
    # Sorted, so that one list of keys always gives one text.
    ordered = sorted(keys, key=repr)
    tests = []
    complete = [_tuple_sql(key, dialect) for key in ordered if None not in key]
    if complete:
        columns = ", ".join(numbered("k", len(names)))
        source = f"(VALUES {', '.join(complete)}) AS v({columns})"
        listed = select_sql(["*"], source)
        tests.append(f"({', '.join(names)}) IN ({listed})")
    tests += [_test_key_with_null(key, names, dialect) for key in ordered if None in key]
    return "(" + " OR ".join(tests) + ")"


def _tuple_sql(key: tuple[Held, ...], dialect: Dialect) -> str:
    return f"({constants_sql(key, dialect)})"


def _test_key_with_null(key: tuple[Held, ...], names: Sequence[str], dialect: Dialect) -> str:
    tests = []
    for name, value in zip(names, key, strict=True):
        if value is None:
            tests.append(f"{name} IS NULL")
        else:
            tests.append(f"{name} = {constant_sql(value, dialect)}")
    return "(" + " AND ".join(tests) + ")"
