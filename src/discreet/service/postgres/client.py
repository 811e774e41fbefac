"""Connection of one PostgreSQL client: reads whole messages of bounded length, and writes bytes.

It counts the bytes that it has read, so that bytes sent before TLS began can be found.
"""

from __future__ import annotations

import asyncio
import hashlib
import ssl
import struct
from contextlib import suppress

from .messages import MAX_BYTES, Message, ProtocolViolation, read_message
from .refusals import WireError, error_message

FIRST_SECONDS = 15.0
FAREWELL_SECONDS = 2.0


class Client:
    """Reader and writer of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.consumed = 0
        self.patience = FIRST_SECONDS
        peer = writer.get_extra_info("peername") or ("",)
        self.address = str(peer[0])

    async def read(self, count: int) -> bytes:
        """Read so many bytes."""
        data = await self.reader.readexactly(count)
        self.consumed += count
        return data

    async def receive(self) -> Message:
        """Read one message of a session."""
        header = await self.read(5)
        [length] = struct.unpack("!i", header[1:])
        if not 4 <= length <= MAX_BYTES + 4:
            raise ProtocolViolation(f"a message has at most {MAX_BYTES} bytes")
        return read_message(header[:1], await self.read(length - 4))

    def write(self, data: bytes) -> None:
        """Queue bytes for the client."""
        self.writer.write(data)

    async def flush(self) -> None:
        """Wait until the client has taken most of what was queued.

        Refuses: a client that takes nothing for `patience` seconds (TimeoutError).
        """
        async with asyncio.timeout(self.patience):
            await self.writer.drain()

    async def fatal(self, error: WireError) -> None:
        """Tell why the connection ends, if the client listens."""
        self.patience = FAREWELL_SECONDS
        self.write(error_message(error, "FATAL"))
        await self.flush()

    async def close(self) -> None:
        """Close the connection; what a client does not take by then is dropped."""
        self.writer.close()
        # Cancelled too: a client that does not read must not keep the service from stopping.
        with suppress(ConnectionError, TimeoutError, ssl.SSLError, asyncio.CancelledError):
            async with asyncio.timeout(FAREWELL_SECONDS):
                await self.writer.wait_closed()
        self.writer.transport.abort()


def mark_of(key: bytes) -> str:
    """Return the prefix of the idempotency keys of a connection's jobs: a hash of its cancel key.

    So the key itself is in no store, and a cancellation finds the job in whichever worker it runs.
    """
    return "postgres:" + hashlib.sha256(b"discreet cancel" + key).hexdigest()[:32] + ":"
