"""The public keys of a tally as SQL: the test that a row's key is one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

from ...query.domains.domain import Domain, Scalar
from .dialect import Dialect
from .key_codec import Held, hold, holdable
from .reading.constant import constant_sql
from .select import select_sql


def only_sql(
    only: Iterable[tuple[Scalar, ...]],
    names: Sequence[str],
    domains: Sequence[Domain],
    dialect: Dialect,
) -> tuple[str, tuple[str, ...]]:
    """Write the test that a row's keys are wanted; or TRUE, and which keys must not be NULL, if that is all of it.

    A list of all combinations is tested key by key, any other as a whole. A key whose domain lists its values needs no
    test but for NULL, if all of them are wanted.
    """
    listed = list(only)
    # each value of a column once: a hundred thousand keys have a few hundred values
    held = [
        {value: hold(value, domain) for value in set(column) if holdable(value, domain)}
        for column, domain in zip(zip(*listed, strict=True), domains, strict=bool(listed))
    ]
    keys = {
        tuple(known[value] for value, known in zip(key, held, strict=True))
        for key in listed
        if all(value in known for value, known in zip(key, held, strict=True))
    }
    if not keys:
        return "FALSE", ()
    columns = [set(column) for column in zip(*keys, strict=True)]
    if len(keys) == prod(map(len, columns)):
        tests = [_one(n, k, c, dialect) for n, k, c in zip(names, domains, columns, strict=True)]
        if all(test in ("", _there(name)) for name, test in zip(names, tests, strict=True)):
            return "TRUE", tuple(name for name, test in zip(names, tests, strict=True) if test)
        return " AND ".join(test for test in tests if test), ()
    return _together(keys, names, dialect), ()


def _there(name: str) -> str:
    return f"{name} IS NOT NULL"


def _one(name: str, domain: Domain, values: set[Held], dialect: Dialect) -> str:
    listed = None if domain.keys is None else {hold(key, domain) for key in domain.keys} - {None}
    if listed is not None and listed <= values:
        return "" if None in values else _there(name)
    some = ", ".join(constant_sql(value, dialect) for value in sorted(values - {None}, key=repr))
    among = f"{name} IN ({some})" if some else "FALSE"
    return f"({among} OR {name} IS NULL)" if None in values else among


def _together(keys: set[tuple[Held, ...]], names: Sequence[str], dialect: Dialect) -> str:
    """Write a test of whole keys; a key with NULL is tested by itself, since NULL equals nothing."""
    full = sorted((key for key in keys if None not in key), key=repr)
    tests = []
    if full:
        listed = ", ".join(
            "(" + ", ".join(constant_sql(v, dialect) for v in key) + ")" for key in full
        )
        columns = ", ".join(f"k{place}" for place in range(len(names)))
        tests.append(
            f"({', '.join(names)}) IN ({select_sql(['*'], f'(VALUES {listed}) AS v({columns})')})"
        )
    for key in sorted((key for key in keys if None in key), key=repr):
        each = (
            f"{name} IS NULL" if value is None else f"{name} = {constant_sql(value, dialect)}"
            for name, value in zip(names, key, strict=True)
        )
        tests.append("(" + " AND ".join(each) + ")")
    return "(" + " OR ".join(tests) + ")"
