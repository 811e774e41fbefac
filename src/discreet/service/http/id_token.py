"""ID token of OpenID Connect: its signature (JWS with RS256 or ES256) and its claims, checked without network.

Guarantee:
    A subject is returned only if a key of the provider signed the token, for this client and this sign-in.

Law: tests/service/test_openid.py::TestIdToken
"""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ...optional import load
from ..stores.people import SUBJECT

LEEWAY_SECONDS = 60
"""Difference between the clocks of provider and service that is tolerated."""
LONGEST_TOKEN = 16_384
MIN_RSA_BITS = 2048

_EXTRA = "sign"
_ASYMMETRIC = "cryptography.hazmat.primitives.asymmetric"


class IdentityRefused(Exception):
    """Sign-in that is not accepted; the text is a constant of this program, never the provider's."""


def read_id_token(
    token: str,
    keys: Sequence[object],
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    now: float | None = None,
) -> str:
    """Return the subject of an ID token; `keys` are the provider's JSON Web Keys.

    Refuses: another algorithm than RS256 and ES256, a signature of no key, another issuer, audience or nonce,
    and a token that is expired or from the future (IdentityRefused).
    """
    parts = token.split(".")
    if len(parts) != 3 or len(token) > LONGEST_TOKEN:
        raise IdentityRefused("token form")
    header = _read_object(parts[0])
    _check_signature(header, f"{parts[0]}.{parts[1]}".encode(), _decode(parts[2]), keys)
    # Nothing of the claims is looked at before the signature holds.
    claims = _read_object(parts[1])
    _check_claims(claims, issuer, client_id, nonce, time.time() if now is None else now)
    subject = claims.get("sub")
    if not isinstance(subject, str) or not SUBJECT.fullmatch(subject):
        raise IdentityRefused("token subject")
    return subject


def _decode(text: object) -> bytes:
    """Decode base64url without padding, strictly."""
    if not isinstance(text, str) or "=" in text:
        raise IdentityRefused("token form")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise IdentityRefused("token form") from None


def _read_object(part: str) -> Mapping[str, object]:
    try:
        # Deeply nested lists raise RecursionError.
        found = json.loads(_decode(part))
    except (ValueError, RecursionError):
        raise IdentityRefused("token form") from None
    if not isinstance(found, dict):
        raise IdentityRefused("token form")
    return found


def _check_signature(
    header: Mapping[str, object], signed: bytes, signature: bytes, keys: Sequence[object]
) -> None:
    """Refuse a token that none of the keys signed by RS256 or ES256."""
    algorithm = header.get("alg")
    # "none" and HS256 with a public key as secret fail here: the token does not choose freely.
    if algorithm not in ("RS256", "ES256") or "crit" in header:
        raise IdentityRefused("token algorithm")
    verify = _verify_rsa if algorithm == "RS256" else _verify_ec
    invalid = load("cryptography.exceptions", _EXTRA).InvalidSignature
    for key in keys:
        if not isinstance(key, dict) or not _fits(key, header):
            continue
        try:
            verify(key, signed, signature)
        except (invalid, ValueError, IdentityRefused):
            # Providers publish old and new keys side by side, and kinds that are not used here.
            continue
        return
    raise IdentityRefused("token signature")


def _fits(key: Mapping[str, object], header: Mapping[str, object]) -> bool:
    """Return whether a key is meant for the algorithm and the key id of a header."""
    algorithm = header["alg"]
    if key.get("kty") != ("RSA" if algorithm == "RS256" else "EC"):
        return False
    if key.get("use", "sig") != "sig" or key.get("alg", algorithm) != algorithm:
        return False
    return "kid" not in header or key.get("kid") == header["kid"]


def _verify_rsa(key: Mapping[str, object], signed: bytes, signature: bytes) -> None:
    numbers = load(f"{_ASYMMETRIC}.rsa", _EXTRA).RSAPublicNumbers(
        _integer(key.get("e")), _integer(key.get("n"))
    )
    public = numbers.public_key()
    if public.key_size < MIN_RSA_BITS:
        raise IdentityRefused("token signature")
    padding = load(f"{_ASYMMETRIC}.padding", _EXTRA).PKCS1v15()
    public.verify(signature, signed, padding, _sha256())


def _verify_ec(key: Mapping[str, object], signed: bytes, signature: bytes) -> None:
    # A signature of JWS is the two numbers side by side, 32 bytes each; the library wants them in DER.
    if key.get("crv") != "P-256" or len(signature) != 64:
        raise IdentityRefused("token signature")
    curves = load(f"{_ASYMMETRIC}.ec", _EXTRA)
    numbers = curves.EllipticCurvePublicNumbers(
        _integer(key.get("x")), _integer(key.get("y")), curves.SECP256R1()
    )
    r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
    encoded = load(f"{_ASYMMETRIC}.utils", _EXTRA).encode_dss_signature(r, s)
    numbers.public_key().verify(encoded, signed, curves.ECDSA(_sha256()))


def _integer(text: object) -> int:
    return int.from_bytes(_decode(text), "big")


def _sha256() -> Any:  # noqa: ANN401 an object of the optional package
    return load("cryptography.hazmat.primitives.hashes", _EXTRA).SHA256()


def _check_claims(
    claims: Mapping[str, object], issuer: str, client_id: str, nonce: str, now: float
) -> None:
    """Refuse claims of another issuer, client, sign-in or time."""
    if claims.get("iss") != issuer:
        raise IdentityRefused("token issuer")
    audience = claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    # With several audiences the authorized party says whose token it is.
    party = claims.get("azp", client_id if len(audiences) == 1 else None)
    if client_id not in audiences or party != client_id:
        raise IdentityRefused("token audience")
    sent = claims.get("nonce")
    if not isinstance(sent, str) or not secrets.compare_digest(sent.encode(), nonce.encode()):
        raise IdentityRefused("token nonce")
    expires, issued = (_seconds(claims.get(name)) for name in ("exp", "iat"))
    if not issued - LEEWAY_SECONDS <= now < expires + LEEWAY_SECONDS:
        raise IdentityRefused("token time")


def _seconds(value: object) -> float:
    # bool is an int to Python; NaN fails every comparison, so it is refused above.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise IdentityRefused("token time")
    return value
