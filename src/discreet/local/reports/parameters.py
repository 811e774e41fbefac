"""Parameters as they travel: plain JSON with the mechanism's name, read strictly, signed if somebody signs.

    {"parameters": "<canonical JSON>", "params": "<hash>", "metric": "…", "signature": "<base 64>"}

The signed text is the one that is hashed, behind a line that says what it is: a device parses nothing before it has
checked who wrote it. The signature is Ed25519, which WebCrypto verifies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from ...errors import InvalidArgument
from .report import params_hash, read_text

DOMAIN = "discreet device parameters, version 1\n"
"""Stands before every signed text, so that a signature says what it signs."""


class _HasParameters(Protocol):
    def to_json(self) -> dict[str, object]:
        """Return the parameters."""


def canonical(parameters: Mapping[str, object]) -> str:
    """Write parameters in the one form that is hashed and signed: keys sorted, no spaces, UTF-8.

    >>> from discreet.local.reports.parameters import canonical
    >>> canonical({"b": 1, "a": "é"})
    '{"a":"é","b":1}'
    """
    return json.dumps(
        parameters, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def signed_text(metric: str, text: str) -> bytes:
    """Return the bytes that a signature of a metric's parameters covers."""
    return f"{DOMAIN}{json.dumps(metric, ensure_ascii=False)}\n{text}".encode()


def device_parameters(
    mechanism: _HasParameters, *, metric: str, sign: Callable[[bytes], str] | None = None
) -> dict[str, str]:
    """Return the one JSON that a device loads; `sign` turns bytes into a base-64 Ed25519 signature.

    >>> from discreet.local import device_parameters
    >>> from discreet.local import Choice
    >>> from discreet.privacy import PureDP
    >>> sorted(device_parameters(Choice(3, PureDP(1)), metric="browser"))
    ['metric', 'parameters', 'params']

    Refuses a metric that is no text in UTF-8.
    """
    given = mechanism.to_json()
    made = {
        "metric": read_text(metric, "metric"),
        "parameters": canonical(given),
        "params": params_hash(given),
    }
    return (
        made
        if sign is None
        else made | {"signature": sign(signed_text(metric, made["parameters"]))}
    )


def fields_of(given: Mapping[str, Any], mechanism: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the named fields of parameters in version 1.

    >>> from discreet.local.reports.parameters import fields_of
    >>> fields_of({"mechanism": "coin", "version": 1, "epsilon": "1"}, "coin", ("epsilon",))
    {'epsilon': '1'}

    Refuses unknown or missing fields, another mechanism, and other versions.
    """
    if not isinstance(given, Mapping) or (given.get("mechanism"), given.get("version")) != (
        mechanism,
        1,
    ):
        raise InvalidArgument(f"these are not the parameters of {mechanism} in version 1")
    if type(given["version"]) is not int or set(given) != {"mechanism", "version", *names}:
        raise InvalidArgument(f"the parameters of {mechanism} have other fields")
    return {name: given[name] for name in names}


def write_wholes(numbers: Iterable[int]) -> list[int | str]:
    """Write whole numbers so that every reader of JSON reads them exactly: beyond 53 bits as text.

    >>> from discreet.local.reports.parameters import read_wholes, write_wholes
    >>> write_wholes([3, 1 << 60]), read_wholes(write_wholes([3, 1 << 60]), "numbers") == (3, 1 << 60)
    ([3, '1152921504606846976'], True)
    """
    return [number if number < 1 << 53 else str(number) for number in numbers]


def read_wholes(given: object, name: str) -> tuple[int, ...]:
    """Read what `write_wholes` wrote; refuses all else."""
    if not isinstance(given, list) or not all(
        type(x) is int or (isinstance(x, str) and x.isdecimal()) for x in given
    ):
        raise InvalidArgument(f"{name} must be a list of whole numbers")
    if any(isinstance(x, str) and len(x) > 20 for x in given):
        raise InvalidArgument(f"{name} must be numbers of at most 20 digits")
    return tuple(map(int, given))
