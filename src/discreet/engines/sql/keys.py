"""Keys of a tally in a store: their codec, and the test that a row's key is one of a public list.

The codec holds numbers as whole steps; text, truths, days and seconds as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import prod
from typing import TypeAlias

from ...query.domains.domain import Day, Domain, Scalar, Second, Texts, Truth, Whole
from .dialect import Dialect
from .reading.constant import constant_sql, constants_sql
from .select import numbered, select_sql

Held: TypeAlias = int | str | bool | None
"""A key as a store holds it."""


def holdable(value: Scalar, domain: Domain) -> bool:
    """Return whether `value` is a possible value of expressions of this domain; NULL always is.

    >>> from discreet.engines.sql.keys import holdable
    >>> from discreet.query.domains.domain import Whole
    >>> from fractions import Fraction
    >>> holdable(Fraction(1, 3), Whole(Fraction(1, 4), 0, 8)), holdable(2, Whole(Fraction(1, 4), 0, 8))
    (False, True)
    """
    if value is None:
        return True
    match domain:
        case Truth():
            # A truth may be asked for as 0 or 1 as well.
            return value in (0, 1)
        case Texts():
            return isinstance(value, str)
        case Whole(step=step, low=low, high=high):
            if isinstance(value, str) or not _is_integer(value / step):
                return False
            return low * step <= value <= high * step
        case _:
            if isinstance(value, str) or not _is_integer(value):
                return False
            return domain.low <= value <= domain.high


def _is_integer(number: Fraction | int) -> bool:
    return Fraction(number).denominator == 1


def hold(value: Scalar, domain: Domain) -> Held:
    """Return a key as a store holds it; only for a value that is `holdable`.

    >>> from discreet.engines.sql.keys import hold
    >>> from discreet.query.domains.domain import Texts, Truth, Whole
    >>> from fractions import Fraction
    >>> hold(Fraction(1, 2), Whole(Fraction(1, 4), 0, 8)), hold("N", Texts(1)), hold(True, Truth())
    (2, 'N', True)
    """
    if value is None or isinstance(value, str):
        return value
    match domain:
        case Truth():
            return bool(value)
        case Whole(step=step):
            return int(value / step)
        case _:
            return int(value)


def value_of(held: object, domain: Domain) -> Scalar:
    """Read a key as a store returns it: the exact value, an integer where it is one.

    >>> from discreet.engines.sql.keys import value_of
    >>> from discreet.query.domains.domain import Texts, Whole
    >>> from fractions import Fraction
    >>> value_of(2, Whole(Fraction(1, 4), 0, 8)), value_of(8, Whole(Fraction(1, 4), 0, 8)), value_of("N", Texts(1))
    (Fraction(1, 2), 2, 'N')
    """
    if held is None:
        return None
    match domain:
        case Texts():
            return str(held)
        case Truth():
            return bool(held)
        case Whole(step=step):
            numerator = int(held) * step.numerator  # type: ignore[call-overload]
            if numerator % step.denominator:
                return Fraction(numerator, step.denominator)
            return numerator // step.denominator  # type: ignore[no-any-return]
        case _:
            return int(held)  # type: ignore[call-overload, no-any-return]


def only_sql(
    only: Iterable[tuple[Scalar, ...]],
    names: Sequence[str],
    domains: Sequence[Domain],
    dialect: Dialect,
) -> tuple[str, tuple[str, ...]]:
    """Write the test that a row's keys are wanted, and list the keys that must not be NULL.

    If at most NULLs have to be excluded, the test is TRUE. Otherwise the test excludes them, and
    the list is empty. An `only` of all combinations is tested key by key, any other one by whole
    keys. A key all of whose possible values are wanted needs no test but for NULL.
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


def _possible(domain: Domain, most: int) -> set[Held] | None:
    """List all values of a domain but NULL, as a store holds them; None if there are more."""
    if domain.keys is not None:
        return {hold(key, domain) for key in domain.keys} - {None}
    if isinstance(domain, Whole | Day | Second) and domain.high - domain.low < most:
        return set(range(domain.low, domain.high + 1))
    return None


def _test_one(name: str, domain: Domain, values: set[Held], dialect: Dialect) -> str:
    """Write the test of one key; "" if every row passes it."""
    possible = _possible(domain, len(values))
    if possible is not None and possible <= values:
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
