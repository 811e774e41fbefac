"""Sign-in by SCRAM: the user is a person of the service, the password is their token.

Whatever is wrong (no such person, a wrong, expired or revoked token, one without a verifier), the
refusal has the same words. An unknown name and a wrong token have the same steps. Only whoever
knows an expired or revoked token is sent the server's proof before the refusal. Failures count
towards the limit of failed sign-ins of their address.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool

from ...errors import DiscreetError, NotAllowed
from ...frozen import frozen
from ..http.rate_limit import TooMany
from ..state import State
from ..stores.people import Member
from .client import Client
from .messages import Password, ProtocolViolation, authentication, text
from .refusals import WRONG_TOKEN, WireError, wire_error
from .scram import PLAIN, PLUS, Exchange, SignInFailed
from .settings import Settings

_OPTION = re.compile(r"(?:^|\s)(?:-c\s*|--)([\w.-]+)=((?:\\.|\S)*)")
_SASL, _CONTINUE, _FINAL, _OK = 10, 11, 12, 0


@frozen
class Admitted:
    """A person who has signed in, the data set they chose, and the settings of the connection.

    `token` is the hash of their token, by which the person is looked up anew.
    """

    person: Member
    token: str
    dataset: str
    settings: Settings


async def sign_in(
    state: State, client: Client, parameters: Mapping[str, str], binding: bytes | None
) -> Admitted:
    """Authenticate a client and open its data set.

    Refuses: wrong tokens, too many failures, foreign data sets, unknown settings.
    """
    user = parameters.get("user", "")
    try:
        token = await _exchange(state, client, user, binding)
    except SignInFailed:
        raise await _failure(state, client) from None
    # The proof fits; an expired or revoked token ends in the same words as a wrong one.
    person = await run_in_threadpool(state.people.find_signed, user, token)
    if person is None:
        raise await _failure(state, client)
    # As libpq does: without a name the database is called as the user.
    dataset = parameters.get("database") or user
    try:
        state.datasets.check(person, dataset)
        settings = _settings(state, parameters)
    except NotAllowed as refusal:
        raise WireError("3D000", str(refusal)) from None
    except DiscreetError as refusal:
        raise wire_error(refusal) from None
    client.write(authentication(_OK))
    return Admitted(person, token, dataset, settings)


async def _exchange(state: State, client: Client, user: str, binding: bytes | None) -> str:
    """Run SCRAM and return the hash of the token; "" of an unknown user, whose proof fails."""
    mechanisms = [PLAIN] if binding is None else [PLUS, PLAIN]
    offered = b"".join(text(name) for name in mechanisms)
    client.write(authentication(_SASL, offered + b"\0"))
    await client.flush()
    mechanism, first = _read_first(await _password(client))
    exchange = Exchange(mechanism, binding)
    # One query for known and unknown names alike (timing side channel).
    verifier, token = await run_in_threadpool(state.people.verifier, user)
    client.write(authentication(_CONTINUE, exchange.challenge(first, verifier)))
    await client.flush()
    proof = exchange.finish(await _password(client))
    client.write(authentication(_FINAL, proof))
    return token


async def _password(client: Client) -> bytes:
    received = await client.receive()
    if not isinstance(received, Password):
        raise ProtocolViolation("a step of the sign-in is expected")
    return received.payload


def _read_first(payload: bytes) -> tuple[str, bytes]:
    """Read the client's choice of a mechanism and its first message."""
    name, _, rest = payload.partition(b"\0")
    if len(rest) < 4:
        raise SignInFailed
    [length] = struct.unpack("!i", rest[:4])
    if length != len(rest) - 4:
        raise SignInFailed
    return name.decode("ascii", "replace"), rest[4:]


async def _failure(state: State, client: Client) -> WireError:
    """Count a failed sign-in of the address; return the refusal, or that of the rate limit."""
    try:
        await run_in_threadpool(state.limits.failure, client.address)
    except TooMany as refusal:
        return wire_error(refusal)
    state.log.write("postgres sign-in", status=401)
    return WireError(
        WRONG_TOKEN,
        "no entry: user and token do not open",
        "the password is the token; one of an older release must be renewed",
    )


def _settings(state: State, parameters: Mapping[str, str]) -> Settings:
    """Read the settings of the startup message, also those in `options=-c name=value`."""
    settings = Settings(state.config.wire.spend)
    for name, value in parameters.items():
        if name not in ("user", "database", "options", "replication") and not name.startswith(
            "_pq_."
        ):
            settings = settings.set(name, value)
    for name, value in _OPTION.findall(parameters.get("options", "")):
        # A backslash keeps a space inside of a value.
        settings = settings.set(name.replace("-", "_"), re.sub(r"\\(.)", r"\1", value))
    return settings
