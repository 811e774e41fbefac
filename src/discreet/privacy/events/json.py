"""JSON serialization of events and measures, exact and permanent.

Ledgers store this form and are kept for decades, so it is never changed. Every object names its
kind and version: `{"event": "laplace-noise", "version": 1, …}`, and with `"measure"` for a measure.
Amounts are exact text, "1/20"; whole numbers are JSON numbers. The tables `_EVENTS` and `_MEASURES`
define the format. They are not derived from the classes, so a new field of a class does not get
into version 1. Rows are only ever added.

Law: tests/privacy/test_event_json.py::TestRoundTrip
Law: tests/privacy/test_event_json.py::TestGolden
Law: tests/privacy/test_event_json.py::TestRefusals
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from ...arithmetic.canonical import canonical_json
from ...arithmetic.rational import Number
from ...errors import InvalidArgument
from .. import events as e
from .. import measures as m
from ..measures import Measure, Order
from . import Event

Json: TypeAlias = dict[str, object]
# The name of a field and its kind, one of those in `_read`.
_Fields: TypeAlias = dict[str, str]

VERSION = 1
# Nesting of events: far above any use, far below the interpreter's own limit.
MAX_DEPTH = 64
# Digits of one number: the interpreter refuses to read more than 4300.
LONGEST = 4000
_AMOUNT = re.compile(r"-?[0-9]+(/[0-9]*[1-9][0-9]*)?")

_NEAR: _Fields = {"neighbours": "relation"}
_LATTICE: _Fields = {"scale": "amount", "sensitivity": "count"}

_EVENTS: dict[str, tuple[type[Event], _Fields]] = {
    "laplace-noise": (
        e.LaplaceNoise,
        {"scale": "amount", "sensitivity": "amount", "step": "amount"} | _NEAR,
    ),
    "discrete-laplace-noise": (e.DiscreteLaplaceNoise, _LATTICE | _NEAR),
    "truncated-geometric-noise": (
        e.TruncatedGeometricNoise,
        _LATTICE | {"low": "count", "high": "count"} | _NEAR,
    ),
    "gaussian-noise": (
        e.GaussianNoise,
        {
            "variance": "amount",
            "squared_sensitivity": "amount",
            "step": "amount",
            "dimension": "count",
        }
        | _NEAR,
    ),
    "discrete-gaussian-noise": (
        e.DiscreteGaussianNoise,
        {
            "variance": "amount",
            "squared_sensitivity": "count",
            "dimension": "count",
            "linf": "count or null",
        }
        | _NEAR,
    ),
    "binomial-noise": (e.BinomialNoise, {"trials": "count", "sensitivity": "count"} | _NEAR),
    "exponential-selection": (e.ExponentialSelection, {"epsilon": "amount"} | _NEAR),
    "permute-and-flip-selection": (e.PermuteAndFlipSelection, {"epsilon": "amount"} | _NEAR),
    "response": (e.Response, {"epsilon": "amount", "options": "count"} | _NEAR),
    "sparse-vector": (e.SparseVector, {"epsilon": "amount", "answers": "count"} | _NEAR),
    "promise": (e.Promise, {"measure": "measure"} | _NEAR),
    "own-curve": (e.OwnCurve, {"points": "pairs"} | _NEAR),
    "shuffled": (
        e.Shuffled,
        {"epsilon": "amount", "n": "count"}
        | dict.fromkeys(("outputs", "inside", "shared"), "count or null")
        | _NEAR,
    ),
    "sampled": (e.Sampled, {"event": "event", "rate": "amount"}),
    "repeated": (e.Repeated, {"event": "event", "times": "count"}),
    "key-selection": (e.KeySelection, {"noise": "event", "delta": "amount"}),
    "sequence": (e.Sequence, {"events": "events"}),
    "batch": (e.Batch, {"events": "events"}),
    "parallel": (e.Parallel, {"parts": "events"} | _NEAR),
}

_MEASURES: dict[str, tuple[type[Measure], Callable[..., Measure], _Fields]] = {
    "pure-dp": (m.PureDP, m.PureDP, {"epsilon": "amount"}),
    "approx-dp": (m.ApproxDP, m.ApproxDP, {"epsilon": "amount", "delta": "amount"}),
    "zcdp": (m.ZCDP, m.ZCDP, {"rho": "amount"}),
    "gaussian-dp": (m.GaussianDP, m.GaussianDP.of_square, {"squared": "amount"}),
    # The constructor takes a mapping, in which an order listed twice would disappear silently.
    "renyi-dp": (m.RenyiDP, lambda orders: m.RenyiDP(_distinct(orders)), {"orders": "pairs"}),
}

_EVENT_NAMES = {cls: name for name, (cls, _) in _EVENTS.items()}
_MEASURE_NAMES = {cls: name for name, (cls, _, _) in _MEASURES.items()}


def to_json(event: Event) -> Json:
    """Write an event as plain JSON types, exactly: `from_json` gives back an equal event.

    The event that `sampled` and `repeated` are built on is under "of", since "event" is the name of
    the kind.

    >>> from discreet.privacy import events as e
    >>> from discreet.privacy.events.json import to_json
    >>> to_json(e.Repeated(e.ExponentialSelection(0.05), 20))["of"]
    {'event': 'exponential-selection', 'version': 1, 'epsilon': '1/20', 'neighbours': 'add-remove'}

    Refuses: InvalidArgument for other objects than events, for nesting deeper than 64, and for an
        amount too long to be read back.
    """
    return _write_event(event, MAX_DEPTH)


def from_json(data: object) -> Event:
    """Read an event written by `to_json`, exactly.

    >>> from discreet.privacy.events.json import from_json
    >>> stored = {"event": "exponential-selection", "version": 1, "epsilon": "1/20"}
    >>> from_json(stored | {"neighbours": "replace"})
    ExponentialSelection(epsilon=Fraction(1, 20), neighbours='replace')
    >>> from_json(stored | {"version": 2})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: event 'exponential-selection' is not known in version 2; ...

    Refuses: InvalidArgument for unknown events and versions, for missing, unknown or malformed
        fields, and for nesting deeper than 64.
    """
    return _read_event(data, MAX_DEPTH)


def measure_to_json(measure: Measure) -> Json:
    """Write a measure as plain JSON types, exactly.

    >>> from discreet.privacy import measures as m
    >>> from discreet.privacy.events.json import measure_to_json
    >>> measure_to_json(m.ApproxDP(1, 1e-6))
    {'measure': 'approx-dp', 'version': 1, 'epsilon': '1', 'delta': '1/1000000'}
    """
    name = _MEASURE_NAMES.get(type(measure))
    if name is None:
        raise InvalidArgument(
            f"a measure is expected, such as PureDP(1); got {type(measure).__name__}"
        )
    written: Json = {"measure": name, "version": VERSION}
    for field, kind in _MEASURES[name][2].items():
        written[field] = _write(kind, getattr(measure, field), 0)
    return written


def measure_from_json(data: object) -> Measure:
    """Read a measure written by `measure_to_json`, exactly.

    >>> from discreet.privacy.events.json import measure_from_json
    >>> measure_from_json({"measure": "zcdp", "version": 1, "rho": "1/8"})
    ZCDP(0.125)
    """
    name, given = _read_head(data, "measure", _MEASURES)
    _, make, fields = _MEASURES[name]
    values = _read_fields(given, fields, name, 0)
    return make(*values.values())


def canonical(value: Event | Measure) -> bytes:
    """Return the canonical bytes of an event or a measure: equal values have equal bytes.

    Sorted keys, no spaces, ASCII.

    >>> from discreet.privacy import measures as m
    >>> from discreet.privacy.events.json import canonical
    >>> canonical(m.PureDP(0.05))
    b'{"epsilon":"1/20","measure":"pure-dp","version":1}'
    """
    data = measure_to_json(value) if isinstance(value, Measure) else to_json(value)
    return canonical_json(data).encode("ascii")


def _write_event(event: Event, depth: int) -> Json:
    """Write an event as JSON types; `depth` is how deep events may still be nested."""
    name = _EVENT_NAMES.get(type(event))
    if name is None:
        raise InvalidArgument(
            f"an event is expected, such as mechanism.event; got {type(event).__name__}"
        )
    written: Json = {"event": name, "version": VERSION}
    for field, kind in _EVENTS[name][1].items():
        written[_key(field)] = _write(kind, getattr(event, field), depth - 1)
    return written


def _read_event(data: object, depth: int) -> Event:
    """Read an event in which further events may be nested `depth` deep."""
    name, given = _read_head(data, "event", _EVENTS)
    cls, fields = _EVENTS[name]
    make: Callable[..., Event] = cls
    values = _read_fields(given, fields, name, depth - 1)
    return make(**values)


def _key(field: str) -> str:
    # "event" is taken: it is the tag that names the kind.
    return "of" if field == "event" else field


def _read_head(data: object, tag: str, known: Mapping[str, object]) -> tuple[str, Json]:
    """Check the kind and version of an object; return its name and its other fields."""
    if not isinstance(data, dict):
        raise InvalidArgument(
            f"a JSON object with {tag!r} and 'version' is expected; got {type(data).__name__}"
        )
    name = data.get(tag)
    version = data.get("version")
    if not isinstance(name, str) or name not in known:
        raise InvalidArgument(
            f"{tag} {_short(name)} is not known; this release reads {', '.join(known)}"
        )
    # `type(...) is int`, because True and 1.0 equal 1.
    if version != VERSION or type(version) is not int:
        raise InvalidArgument(
            f"{tag} {name!r} is not known in version {_short(version)}; "
            f"this release reads {VERSION}"
        )
    given = {key: value for key, value in data.items() if key not in (tag, "version")}
    return name, given


def _read_fields(given: Json, fields: _Fields, name: str, depth: int) -> dict[str, Any]:
    """Read all fields of an object; refuse missing and unknown ones."""
    expected = {_key(field) for field in fields}
    if given.keys() != expected:
        raise _wrong_fields(given, expected, name)
    values: dict[str, Any] = {}
    for field, kind in fields.items():
        key = _key(field)
        values[field] = _read(kind, given[key], f"{name}.{key}", depth)
    return values


def _wrong_fields(given: Json, expected: set[str], name: str) -> InvalidArgument:
    """Return the refusal of an object with missing or unknown fields."""
    problems = list[str]()
    missing = sorted(expected - given.keys())
    if missing:
        problems.append(f"lacks {', '.join(missing)}")
    unknown = sorted(map(str, given.keys() - expected))
    if unknown:
        # The names come from outside: cut, so that a refusal stays short.
        problems.append(f"has unknown {', '.join(unknown)[:80]}")
    fields = ", ".join(sorted(expected))
    return InvalidArgument(f"{name!r} {' and '.join(problems)}; it has exactly the fields {fields}")


def _write(kind: str, value: Any, depth: int) -> object:  # noqa: ANN401 the kind says which type
    """Write a field of this kind (see `_EVENTS`) as JSON types."""
    match kind:
        case "amount":
            return _text(value)
        case "pairs":
            return [[_text(a), _text(b)] for a, b in value]
        case "measure":
            return measure_to_json(value)
        case "event":
            return _write_event(value, _deeper(depth))
        case "events":
            return [_write_event(inner, _deeper(depth)) for inner in value]
    # Whole numbers, null and relations are JSON already.
    return value


def _read(kind: str, value: object, where: str, depth: int) -> object:
    match kind:
        case "event":
            return _read_event(value, _deeper(depth))
        case "events":
            return [_read_event(inner, _deeper(depth)) for inner in read_list(value, where)]
    return _READERS[kind](value, where)


def _deeper(depth: int) -> int:
    if depth <= 0:
        raise InvalidArgument(
            f"events are nested more than {MAX_DEPTH} deep; flatten them into one Sequence"
        )
    return depth


def _text(amount: Fraction) -> str:
    """Write an amount as exact text; refuse one of more than 3·`LONGEST` bits."""
    longest_bits = max(amount.numerator.bit_length(), amount.denominator.bit_length())
    # A digit has more than 3 bits, so an amount that passes can be read back.
    if longest_bits > 3 * LONGEST:
        raise InvalidArgument(
            f"an amount of more than {LONGEST} digits cannot be written; "
            "round it up to a shorter one"
        )
    return str(amount)


def read_amount(value: object, where: str) -> Fraction:
    """Read an exact amount such as "1/20"."""
    # The length is checked first: matching and converting long text takes time.
    if isinstance(value, str) and len(value) <= 2 * LONGEST and _AMOUNT.fullmatch(value):
        top, _, bottom = value.partition("/")
        if max(len(top), len(bottom)) <= LONGEST:
            return Fraction(int(top), int(bottom or "1"))
    raise InvalidArgument(f"{where} must be exact text such as '1/20' or '3', got {_short(value)}")


def _read_count(value: object, where: str) -> int:
    if type(value) is not int:
        raise InvalidArgument(f"{where} must be a whole number, got {_short(value)}")
    return value


def read_list(value: object, where: str) -> list[object]:
    """Read a JSON list."""
    if not isinstance(value, list):
        raise InvalidArgument(f"{where} must be a list, got {_short(value)}")
    return value


def _read_pair(value: object, where: str) -> tuple[Fraction, Fraction]:
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidArgument(
            f"{where} must be a list of pairs such as ['1/2', '1/1000'], got {_short(value)}"
        )
    return read_amount(value[0], where), read_amount(value[1], where)


def _read_optional_count(value: object, where: str) -> int | None:
    if value is None:
        return None
    return _read_count(value, where)


def _read_pairs(value: object, where: str) -> list[tuple[Fraction, Fraction]]:
    return [_read_pair(pair, where) for pair in read_list(value, where)]


def _read_measure(value: object, _where: str) -> Measure:
    return measure_from_json(value)


def _read_relation(value: object, _where: str) -> object:
    # The constructor of the event checks it.
    return value


_READERS: dict[str, Callable[[object, str], object]] = {
    "amount": read_amount,
    "count": _read_count,
    "count or null": _read_optional_count,
    "relation": _read_relation,
    "pairs": _read_pairs,
    "measure": _read_measure,
}


def _distinct(
    orders: list[tuple[Fraction, Fraction]],
) -> dict[Order, Number]:
    pairs: dict[Order, Number] = dict(orders)
    if len(pairs) < len(orders):
        raise InvalidArgument("renyi-dp.orders lists an order twice; list each order alpha once")
    return pairs


def _short(value: object) -> str:
    return repr(value)[:60]
