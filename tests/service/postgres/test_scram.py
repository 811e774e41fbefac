"""SCRAM-SHA-256: the example of RFC 7677, and everything that must fail."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from discreet.service.postgres import scram
from discreet.service.postgres.scram import (
    PLAIN,
    PLUS,
    Exchange,
    SignInFailed,
    certificate_hash,
    make_verifier,
    unknown_verifier,
)


def proof_of(password, first_bare, reply, unproved):
    """The client's side, written from RFC 5802."""
    facts = dict(part.split("=", 1) for part in reply.decode().split(","))
    salt = base64.b64decode(facts["s"])
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, int(facts["i"]))
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    signed = f"{first_bare},{reply.decode()},{unproved}".encode()
    signature = hmac.digest(hashlib.sha256(client_key).digest(), signed, "sha256")
    return bytes(a ^ b for a, b in zip(client_key, signature, strict=True))


def sign_in(password, verifier, *, mechanism=PLAIN, binding=None, flag="n", bound=b"", change=None):
    exchange = Exchange(mechanism, binding)
    bare = "n=,r=clientnonce"
    reply = exchange.challenge(f"{flag},,{bare}".encode(), verifier)
    nonce = reply.decode().split(",")[0]
    header = base64.b64encode(f"{flag},,".encode() + bound).decode()
    unproved = f"c={header},{nonce}"
    proof = base64.b64encode(proof_of(password, bare, reply, unproved)).decode()
    final = f"{unproved},p={proof}"
    if change is not None:
        final = change(final)
    return exchange.finish(final.encode())


class TestExchange:
    """The right token opens; nothing else does, and nothing but `SignInFailed` is raised."""

    def test_the_example_of_the_rfc(self, monkeypatch):
        """RFC 7677, section 3: user, password pencil."""
        salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
        server_part = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
        monkeypatch.setattr(scram.base64, "b64encode", _encode_nonce(server_part))
        exchange = Exchange(PLAIN, None)
        reply = exchange.challenge(
            b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO", make_verifier("pencil", salt)
        )
        monkeypatch.undo()
        assert reply == (
            b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
        )
        final = (
            b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
            b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
        )
        assert exchange.finish(final) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

    def test_the_right_token_opens(self):
        assert sign_in("dsc_a", make_verifier("dsc_a")).startswith(b"v=")
        bound = sign_in(
            "dsc_a",
            make_verifier("dsc_a"),
            mechanism=PLUS,
            binding=b"hash",
            flag="p=tls-server-end-point",
            bound=b"hash",
        )
        assert bound.startswith(b"v=")

    @pytest.mark.parametrize(
        "how",
        [
            {"password": "dsc_b"},
            {"verifier": unknown_verifier(b"secret", "nobody")},
            {"mechanism": "MD5"},
            # The client believes that no binding is offered, though it is: somebody removed it.
            {"flag": "y", "binding": b"hash"},
            {"mechanism": PLUS},
            {
                "mechanism": PLUS,
                "binding": b"hash",
                "flag": "p=tls-server-end-point",
                "bound": b"other",
            },
            {"change": lambda final: final[:-3]},
            {"change": lambda final: final.replace("r=", "r=x")},
            {"change": lambda final: final.replace("c=", "c=x")},
            {"change": lambda final: ""},
            {"change": lambda final: final.rpartition(",p=")[0] + ",p="},
            {"change": lambda final: final.rpartition(",p=")[0] + ",p=" + "A" * 44},
        ],
    )
    def test_everything_else_fails(self, how):
        with pytest.raises(SignInFailed):
            sign_in(**({"password": "dsc_a", "verifier": make_verifier("dsc_a")} | how))

    @pytest.mark.parametrize(
        "first", [b"", b"n,,", b"n,a=x,n=,r=y", b"\xff", b"n,,n=", b"n,,r=x,n="]
    )
    def test_first_messages_that_are_none(self, first):
        with pytest.raises(SignInFailed):
            Exchange(PLAIN, None).challenge(first, make_verifier("dsc_a"))

    def test_an_unknown_name_has_one_salt(self):
        one, other = (unknown_verifier(b"secret", "nobody") for _ in range(2))
        assert one.salt == other.salt and one.stored_key != other.stored_key
        assert unknown_verifier(b"secret", "somebody").salt != one.salt


def _encode_nonce(words):
    """Give the server the nonce of the example; salts are encoded as ever."""
    real = base64.b64encode

    def encode(data):
        return words.encode() if len(data) == 18 else real(data)

    return encode


def test_the_hash_of_a_certificate_follows_its_signature():
    for marker, name in ((b"", "sha256"), (bytes.fromhex("06082a8648ce3d040303"), "sha384")):
        certificate = b"certificate" + marker
        assert certificate_hash(certificate) == hashlib.new(name, certificate).digest()
