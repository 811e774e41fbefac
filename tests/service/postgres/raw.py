"""A client that sends and reads bytes, to say what no driver would."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import socket
import struct


def startup(**parameters) -> bytes:
    body = struct.pack("!i", 3 << 16)
    for name, value in parameters.items():
        body += name.encode() + b"\0" + value.encode() + b"\0"
    body += b"\0"
    return struct.pack("!i", len(body) + 4) + body


def say(kind: bytes, payload: bytes = b"") -> bytes:
    return kind + struct.pack("!i", len(payload) + 4) + payload


def query(sql: str) -> bytes:
    return say(b"Q", sql.encode() + b"\0")


class Raw:
    """One connection."""

    def __init__(self, port: int, timeout: float = 30.0) -> None:
        self.line = socket.create_connection(("127.0.0.1", port), timeout)
        self.rest = b""

    def send(self, data: bytes) -> None:
        self.line.sendall(data)

    def take(self, count: int) -> bytes:
        while len(self.rest) < count:
            more = self.line.recv(65_536)
            if not more:
                raise EOFError
            self.rest += more
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def read(self) -> tuple[bytes, bytes]:
        kind = self.take(1)
        [length] = struct.unpack("!i", self.take(4))
        return kind, self.take(length - 4)

    def until(self, last: bytes) -> list[tuple[bytes, bytes]]:
        """All messages up to one of a type; an error before the session begins ends it too."""
        found = []
        with contextlib.suppress(EOFError, ConnectionError):
            while not found or found[-1][0] != last:
                found.append(self.read())
        return found

    def sign_in(self, user: str, token: str, database: str = "people", **more):
        self.send(startup(user=user, database=database, **more))
        self.read()
        first = "n=,r=abc"
        payload = f"n,,{first}".encode()
        self.send(say(b"p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(payload)) + payload))
        _, challenge = self.read()
        reply = challenge[4:].decode()
        facts = dict(part.split("=", 1) for part in reply.split(","))
        salted = hashlib.pbkdf2_hmac(
            "sha256", token.encode(), base64.b64decode(facts["s"]), int(facts["i"])
        )
        key = hmac.digest(salted, b"Client Key", "sha256")
        unproved = f"c=biws,r={facts['r']}"
        signature = hmac.digest(
            hashlib.sha256(key).digest(), f"{first},{reply},{unproved}".encode(), "sha256"
        )
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True)))
        self.send(say(b"p", unproved.encode() + b",p=" + proof))
        return self.until(b"Z")

    def close(self) -> None:
        self.line.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def error_of(found) -> str:
    """The SQLSTATE of the last error among messages, or ""."""
    code = ""
    for kind, payload in found:
        if kind == b"E":
            fields = {part[:1]: part[1:] for part in payload.split(b"\0") if part}
            code = fields[b"C"].decode()
    return code
