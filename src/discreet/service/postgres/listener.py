"""Listener for PostgreSQL's clients in a worker of the service: TLS, sign-in, cancellation, limits.

connect ─► TLS ─► SCRAM ─► session
   │                └── 15 s from the connection to the end of the sign-in
   └── cancel: stops the job of another connection, whichever worker runs it; never answered

Every worker listens on the same port; the kernel hands each connection to one of them.
"""

from __future__ import annotations

import asyncio
import ssl
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from starlette.concurrency import run_in_threadpool

from ...errors import DiscreetError
from ..addresses import is_loopback
from ..http.audit_log import place_of
from ..http.rate_limit import TooMany
from ..state import State
from .address import ListenerTls, check_address, open_tls
from .client import Client, mark_of
from .messages import (
    MAX_BYTES,
    VERSION_3,
    CancelRequest,
    EncryptionRequest,
    ProtocolViolation,
    Startup,
    message,
    read_opening,
    text,
)
from .refusals import PROTOCOL, WireError, wire_error
from .session import WireSession
from .sign_in import Admitted, sign_in

SIGN_IN_SECONDS = 15.0
_MAX_OPENING = 10_000
_MAX_ENCRYPTION_REQUESTS = 2
"""A client may ask for GSSAPI and then for TLS, each once."""


@asynccontextmanager
async def listening(state: State, address: str) -> AsyncIterator[None]:
    """Listen at `address:port` for as long as the context lasts; "" does nothing."""
    if not address:
        yield
        return
    host, _, port = address.rpartition(":")
    check_address(host, state.config.wire)
    listener = _Listener(state, tls_required=not is_loopback(host))
    loop = asyncio.get_running_loop()
    # Workers are processes of their own that share the port.
    server = await loop.create_server(listener.protocol, host, int(port), reuse_port=True)
    try:
        yield
    finally:
        server.close()
        await listener.close()


class _Listener:
    """Connections of one worker."""

    def __init__(self, state: State, *, tls_required: bool) -> None:
        self._state = state
        self._options = state.config.wire
        self._tls = open_tls(self._options) if self._options.certificate else None
        self._tls_required = tls_required
        self._tasks: set[asyncio.Task[None]] = set()
        self._people: Counter[str] = Counter()

    def protocol(self) -> asyncio.Protocol:
        """Make the protocol of one connection."""
        reader = _CountingReader(limit=MAX_BYTES)
        return asyncio.StreamReaderProtocol(reader, self._connected)

    async def close(self) -> None:
        """End all sessions; running jobs go on, and their answers are kept."""
        tasks = list(self._tasks)
        # Each session tells its client why before it ends.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection as a task, and close it whatever happens."""
        task = asyncio.current_task()
        if task is None:  # pragma: no cover a callback of the loop runs in a task
            return
        self._tasks.add(task)
        client = Client(reader, writer)
        try:
            await self._serve(client)
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError, ssl.SSLError):
            # The client is gone, or says nothing: there is nobody to tell.
            pass
        except Exception as broken:  # noqa: BLE001 its message may tell about data
            self._state.log.write(f"error {place_of(broken)}", status=500)
            with suppress(ConnectionError, TimeoutError):
                await client.fatal(wire_error(broken))
        finally:
            await client.close()
            self._tasks.discard(task)

    async def _serve(self, client: Client) -> None:
        """Sign a client in within SIGN_IN_SECONDS, and run its session."""
        admitted = None
        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                admitted = await self._admit(client)
        except ProtocolViolation as violation:
            await client.fatal(WireError(PROTOCOL, str(violation)))
        except WireError as refusal:
            await client.fatal(refusal)
        if admitted is None:
            return
        name = admitted.person.name
        if self._people[name] >= self._options.connections_per_person:
            await client.fatal(_too_many())
            return
        # Counted after the sign-in: a stranger cannot use up somebody's connections.
        self._people[name] += 1
        try:
            await WireSession(self._state, client, admitted).run()
        finally:
            self._people[name] -= 1
            if not self._people[name]:
                del self._people[name]

    async def _admit(self, client: Client) -> Admitted | None:
        """Read the first messages up to the end of the sign-in; None for a cancellation."""
        binding = None
        for _ in range(_MAX_ENCRYPTION_REQUESTS + 1):
            opening = await _read_opening(client)
            if isinstance(opening, CancelRequest):
                await self._cancel(opening.key, client)
                return None
            if isinstance(opening, Startup):
                return await self._start(client, opening, binding)
            if opening.tls and self._tls is not None and binding is None:
                await self._start_tls(client, self._tls)
                binding = self._tls.binding
            else:
                client.write(b"N")
                await client.flush()
        raise ProtocolViolation("too many requests for encryption")

    async def _start_tls(self, client: Client, tls: ListenerTls) -> None:
        """Answer S and begin TLS.

        Refuses: bytes that came in the clear after the request. An attacker between could have put
        them there, to be taken for the first encrypted ones (CVE-2021-23214).
        """
        # Paused first: from here on nothing but the handshake reads from the socket.
        transport = cast("asyncio.Transport", client.writer.transport)
        transport.pause_reading()
        reader = cast("_CountingReader", client.reader)
        if reader.received != client.consumed:
            raise ProtocolViolation("there are bytes between the request for TLS and its answer")
        client.write(b"S")
        await client.writer.start_tls(tls.context, ssl_handshake_timeout=SIGN_IN_SECONDS)

    async def _start(self, client: Client, startup: Startup, binding: bytes | None) -> Admitted:
        """Check version, TLS and the number of connections, then sign the client in."""
        if startup.version >> 16 != VERSION_3 >> 16:
            raise WireError("0A000", "this server speaks version 3.0 of the protocol")
        # Before the sign-in, so that no proof is sent over an open line.
        if self._tls_required and binding is None:
            raise WireError(
                "28000", "this server is reached by TLS only", "use sslmode=verify-full"
            )
        if len(self._tasks) > self._options.connections:
            raise _too_many()
        unknown = [name for name in startup.parameters if name.startswith("_pq_.")]
        if startup.version != VERSION_3 or unknown:
            names = b"".join(text(name) for name in unknown)
            client.write(message(b"v", struct.pack("!ii", VERSION_3, len(unknown)), names))
        return await sign_in(self._state, client, startup.parameters, binding)

    async def _cancel(self, key: bytes, client: Client) -> None:
        """Stop the job of the connection with this key; says nothing, whether there is one or not."""
        with suppress(DiscreetError, TooMany):
            await run_in_threadpool(self._cancel_jobs, key, client.address)

    def _cancel_jobs(self, key: bytes, address: str) -> None:
        """Cancel the open jobs of the connection with a key; a wrong key counts as a failure."""
        jobs = self._state.jobs.job_store.open_marked(mark_of(key))
        if not jobs:
            # Guessing keys is limited as guessing tokens is.
            self._state.limits.failure(address)
        for job in jobs:
            self._state.jobs.cancel(job.person, job.id)


class _CountingReader(asyncio.StreamReader):
    """Reader that counts the bytes that came in."""

    received = 0

    def feed_data(self, data: Any) -> None:  # noqa: ANN401 as its base class
        self.received += len(data)
        super().feed_data(data)


async def _read_opening(client: Client) -> Startup | CancelRequest | EncryptionRequest:
    [length] = struct.unpack("!i", await client.read(4))
    if not 8 <= length <= _MAX_OPENING:
        raise ProtocolViolation("the first message is too short or too long")
    return read_opening(await client.read(length - 4))


def _too_many() -> WireError:
    return WireError("53300", "too many connections", "close some, or ask the steward for more")
