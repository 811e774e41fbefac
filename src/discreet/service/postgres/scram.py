"""SCRAM-SHA-256 (RFC 5802, RFC 7677): the server's side, with channel binding to the certificate.

The verifier is made when a token is issued. It cannot be made from the SHA-256 of a token, so tokens
of older releases must be renewed before they sign in here. A token has 256 random bits: guessing is
hopeless at any number of rounds, so the least number that RFC 7677 asks for is enough.

Guarantee: an unknown name runs the same exchange as a known one, with the same salt each time.
Law: tests/service/postgres/test_scram.py::TestExchange
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import secrets

from ...frozen import frozen

ROUNDS = 4096
PLAIN = "SCRAM-SHA-256"
PLUS = "SCRAM-SHA-256-PLUS"
_SALT_BYTES = 16
# Signature algorithms of certificates in DER, and the hash for channel binding (RFC 5929).
_SIGNED_WITH = {
    bytes.fromhex("06092a864886f70d01010c"): "sha384",
    bytes.fromhex("06092a864886f70d01010d"): "sha512",
    bytes.fromhex("06082a8648ce3d040303"): "sha384",
    bytes.fromhex("06082a8648ce3d040304"): "sha512",
}


class SignInFailed(Exception):
    """The exchange failed; whatever the reason, the client is told the same words."""


@frozen
class Verifier:
    """Salted keys by which a server checks that a client knows a token; they do not tell it."""

    salt: bytes
    stored_key: bytes
    server_key: bytes

    def to_json(self) -> str:
        """Return the verifier as it is stored."""
        return json.dumps([self.salt.hex(), self.stored_key.hex(), self.server_key.hex()])


def make_verifier(token: str, salt: bytes | None = None) -> Verifier:
    """Make the verifier of a token.

    >>> from discreet.service.postgres.scram import make_verifier, read_verifier
    >>> made = make_verifier("dsc_example", b"0" * 16)
    >>> read_verifier(made.to_json()) == made
    True
    """
    salt = salt or secrets.token_bytes(_SALT_BYTES)
    salted = hashlib.pbkdf2_hmac("sha256", token.encode(), salt, ROUNDS)
    client_key = _hmac(salted, b"Client Key")
    stored_key = hashlib.sha256(client_key).digest()
    return Verifier(salt, stored_key, _hmac(salted, b"Server Key"))


def read_verifier(stored: str) -> Verifier:
    """Read a stored verifier."""
    return Verifier(*map(bytes.fromhex, json.loads(stored)))


def unknown_verifier(secret: bytes, name: str) -> Verifier:
    """Return a verifier that no token satisfies, the same for a name each time."""
    salt = _hmac(secret, b"salt" + name.encode("utf-8", "replace"))[:_SALT_BYTES]
    return Verifier(salt, secrets.token_bytes(32), secrets.token_bytes(32))


def certificate_hash(certificate: bytes) -> bytes:
    """Return `tls-server-end-point`: the certificate's hash by its own signature's hash function."""
    for algorithm, name in _SIGNED_WITH.items():
        if algorithm in certificate:
            return hashlib.new(name, certificate).digest()
    # SHA-256 itself, and SHA-1 and MD5, which RFC 5929 replaces by it.
    return hashlib.sha256(certificate).digest()


class Exchange:
    """One sign-in: the client's first message, its proof, and what the server sends back."""

    def __init__(self, mechanism: str, binding: bytes | None) -> None:
        self._plus = mechanism == PLUS
        if mechanism not in (PLAIN, PLUS) or (self._plus and binding is None):
            raise SignInFailed
        self._binding = binding
        self._header = ""
        self._messages = ""
        self._nonce = ""
        self._verifier: Verifier | None = None

    def challenge(self, first: bytes, verifier: Verifier) -> bytes:
        """Read the client's first message; return the server's, with nonce, salt and rounds.

        Refuses: `SignInFailed` for a message that is malformed or disagrees about channel binding.
        """
        flag, identity, bare = [*_utf8(first).split(",", 2), "", ""][:3]
        self._check_flag(flag)
        # An identity to act as (a=…) is not offered. The user's name is that of the startup message.
        parts = bare.split(",")
        if identity or len(parts) < 2 or not parts[0].startswith("n="):
            raise SignInFailed
        self._header = f"{flag},{identity},"
        self._nonce = _value(parts[1], "r") + base64.b64encode(secrets.token_bytes(18)).decode()
        self._verifier = verifier
        salt = base64.b64encode(verifier.salt).decode()
        reply = f"r={self._nonce},s={salt},i={ROUNDS}"
        self._messages = f"{bare},{reply}"
        return reply.encode()

    def _check_flag(self, flag: str) -> None:
        """Check that both sides agree about channel binding, so that nobody between them removed it."""
        wanted = "p=tls-server-end-point" if self._plus else "n"
        # "y": the client could, but believes that the server does not offer it. True without TLS only.
        believed_absent = flag == "y" and self._binding is None
        if flag != wanted and not believed_absent:
            raise SignInFailed

    def finish(self, final: bytes) -> bytes:
        """Check the client's proof; return the server's own, by which the client knows the server.

        Refuses: `SignInFailed` for a wrong proof, nonce or channel binding.
        """
        if self._verifier is None:
            raise SignInFailed
        words = _utf8(final)
        unproved, _, proof_text = words.rpartition(",p=")
        parts = unproved.split(",")
        if len(parts) < 2 or _value(parts[1], "r") != self._nonce:
            raise SignInFailed
        binding = self._header.encode()
        if self._plus and self._binding is not None:
            binding += self._binding
        # The client repeats which certificate it saw: another one is somebody in between.
        if _unbase64(_value(parts[0], "c")) != binding:
            raise SignInFailed
        # Both proofs sign the whole exchange, so that nothing of it can be changed on the way.
        signed = f"{self._messages},{unproved}".encode()
        proof = _unbase64(proof_text)
        signature = _hmac(self._verifier.stored_key, signed)
        if len(proof) != len(signature):
            raise SignInFailed
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        shown = hashlib.sha256(client_key).digest()
        # Constant time: how much of the key agrees must not show.
        if not hmac.compare_digest(shown, self._verifier.stored_key):
            raise SignInFailed
        server_proof = _hmac(self._verifier.server_key, signed)
        return b"v=" + base64.b64encode(server_proof)


def _hmac(key: bytes, words: bytes) -> bytes:
    return hmac.digest(key, words, "sha256")


def _utf8(words: bytes) -> str:
    try:
        return words.decode()
    except UnicodeDecodeError:
        raise SignInFailed from None


def _value(part: str, name: str) -> str:
    prefix, _, value = part.partition("=")
    if prefix != name or not value:
        raise SignInFailed
    return value


def _unbase64(words: str) -> bytes:
    try:
        return base64.b64decode(words, validate=True)
    except (binascii.Error, ValueError):
        raise SignInFailed from None
