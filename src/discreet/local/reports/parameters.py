"""Parameters sent to devices: plain JSON with the mechanism's name, read strictly, signed if asked.

    {"parameters": "<canonical JSON>", "params": "<hash>", "metric": "…", "signature": "<base 64>"}

Three parts are signed: a line that names the purpose, a line with the metric, and the text that is
hashed. So a device parses no parameters before it has checked the signature. The signature is
Ed25519, which WebCrypto verifies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

from ...errors import InvalidArgument
from .report import params_hash, read_text

DOMAIN = "discreet device parameters, version 1\n"
"""First line of every signed text: a signature for one purpose is not valid for another."""


@runtime_checkable
class SignsFor(Protocol):
    """Secret key that signs a text for one purpose."""

    def sign_for(self, purpose: bytes, text: bytes) -> str:
        """Return the signature in base 64."""


class _HasParameters(Protocol):
    def to_json(self) -> dict[str, object]:
        """Return the parameters."""


def canonical(parameters: Mapping[str, object]) -> str:
    """Write parameters in the form that is hashed and signed: keys sorted, no spaces, UTF-8.

    >>> from discreet.local.reports.parameters import canonical
    >>> canonical({"b": 1, "a": "é"})
    '{"a":"é","b":1}'
    """
    return json.dumps(
        parameters, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def signed_text(metric: str, text: str) -> bytes:
    """Return the bytes that a signature of a metric's parameters covers."""
    return DOMAIN.encode() + _after_domain(metric, text)


def _after_domain(metric: str, text: str) -> bytes:
    return f"{json.dumps(metric, ensure_ascii=False)}\n{text}".encode()


def device_parameters(
    mechanism: _HasParameters, *, metric: str, sign: Callable[[bytes], str] | None = None
) -> dict[str, str]:
    """Return the JSON that a device loads; `sign` returns the base-64 Ed25519 signature of bytes.

    >>> from discreet.local import device_parameters
    >>> from discreet.local import Choice
    >>> from discreet.privacy import PureDP
    >>> sorted(device_parameters(Choice(3, PureDP(1)), metric="browser"))
    ['metric', 'parameters', 'params']

    Refuses: `InvalidArgument` for a metric that is no text in UTF-8.
    Law: `tests/local/test_device.py::test_parameters_are_checked_by_their_signature`
    """
    given = mechanism.to_json()
    text = canonical(given)
    made = {
        "metric": read_text(metric, "metric"),
        "parameters": text,
        "params": params_hash(given),
    }
    if sign is not None:
        made["signature"] = sign(signed_text(metric, text))
    return made


def to_device(mechanism: _HasParameters, *, metric: str, key: SignsFor) -> dict[str, str]:
    """Return the signed JSON that a device loads; `key` is a `dp.Signer`.

    The page of the device brings `key.public`, by which the device checks the signature.

    >>> import discreet as dp
    >>> signer = dp.Signer.create()
    >>> browser = dp.local.Choice(["chrome", "firefox"], dp.PureDP(2))
    >>> sorted(dp.local.to_device(browser, metric="browser", key=signer))
    ['metric', 'parameters', 'params', 'signature']

    Refuses: `InvalidArgument` for a key that cannot sign, and a metric that is no text in UTF-8.
    Law: `tests/local/test_device_ledger.py::test_a_signer_makes_what_a_device_takes`
    """
    if not isinstance(key, SignsFor):
        raise InvalidArgument("key must be a dp.Signer; dp.Signer.create() makes one")
    made = device_parameters(mechanism, metric=metric)
    text = _after_domain(made["metric"], made["parameters"])
    return {**made, "signature": key.sign_for(DOMAIN.encode(), text)}


def fields_of(given: Mapping[str, Any], mechanism: str, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the named fields of parameters in version 1.

    >>> from discreet.local.reports.parameters import fields_of
    >>> fields_of({"mechanism": "coin", "version": 1, "epsilon": "1"}, "coin", ("epsilon",))
    {'epsilon': '1'}

    Refuses: `InvalidArgument` for unknown or missing fields, another mechanism, other versions.
    Law: `tests/local/test_collect.py::test_parameters_of_other_versions_are_refused`
    """
    is_mapping = isinstance(given, Mapping)
    if not is_mapping or given.get("mechanism") != mechanism or given.get("version") != 1:
        raise InvalidArgument(f"these are not the parameters of {mechanism} in version 1")
    # `True == 1 == 1.0` in Python, but only the whole number has this canonical form.
    if type(given["version"]) is not int or set(given) != {"mechanism", "version", *names}:
        raise InvalidArgument(f"the parameters of {mechanism} have other fields")
    return {name: given[name] for name in names}


def parameters_of(made: object, mechanism: str, names: tuple[str, ...]) -> dict[str, object]:
    """Write the named fields of a mechanism as parameters in version 1; rationals as text.

    >>> from discreet.local import OneBitMean
    >>> from discreet.local.reports.parameters import parameters_of
    >>> from discreet.privacy import PureDP
    >>> parameters_of(OneBitMean(0, 1, PureDP(0.5)), "one-bit-mean", ("epsilon",))
    {'mechanism': 'one-bit-mean', 'version': 1, 'epsilon': '1/2'}
    """
    parameters: dict[str, object] = {"mechanism": mechanism, "version": 1}
    for name in names:
        value = getattr(made, name)
        # JSON has no rationals, and a float would be another number.
        parameters[name] = str(value) if isinstance(value, Fraction) else value
    return parameters


def write_wholes(numbers: Iterable[int]) -> list[int | str]:
    """Write whole numbers that every JSON reader reads exactly: beyond 53 bits as text.

    >>> from discreet.local.reports.parameters import read_wholes, write_wholes
    >>> write_wholes([3, 1 << 60]), read_wholes(write_wholes([3, 1 << 60]), "numbers") == (3, 1 << 60)
    ([3, '1152921504606846976'], True)
    """
    return [number if number < 1 << 53 else str(number) for number in numbers]


def read_wholes(given: object, name: str) -> tuple[int, ...]:
    """Read a list written by `write_wholes`.

    Refuses: `InvalidArgument` for anything else, and for more than 20 digits.
    """
    if not isinstance(given, list) or not all(map(_is_whole, given)):
        raise InvalidArgument(f"{name} must be a list of whole numbers")
    # Checked before `int`, whose work grows with the square of the digits.
    if any(isinstance(number, str) and len(number) > 20 for number in given):
        raise InvalidArgument(f"{name} must be numbers of at most 20 digits")
    return tuple(map(int, given))


def _is_whole(number: object) -> bool:
    """Return whether a number is whole: an int but no bool, or decimal digits as text."""
    if isinstance(number, str):
        return number.isdecimal()
    return type(number) is int
