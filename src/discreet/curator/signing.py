"""Digital signatures of receipts: Ed25519 (RFC 8032), by the `cryptography` package (extra `sign`)."""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import ClaimRefuted, InvalidArgument
from ..frozen import field, fill, frozen
from ..optional import load

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_DOMAIN = b"discreet receipt, version 1\n"
"""Prefix of every signed text (domain separation): the key's signatures of other texts do not verify."""
_KEY_BYTES = 32
_SIGNATURE_BYTES = 64
"""Sizes of an Ed25519 public key and of a signature, RFC 8032."""


@frozen(repr=False)
class Signer:
    """Secret key that signs receipts; others check the signatures with the public key `public`.

    >>> import discreet as dp
    >>> from discreet.curator.signing import check_signature
    >>> signer = dp.Signer.create()
    >>> check_signature(b"facts", signer.sign(b"facts"), signer.public)
    >>> check_signature(b"other facts", signer.sign(b"facts"), signer.public)
    Traceback (most recent call last):
    ...
    discreet.errors.ClaimRefuted: the signature does not belong to this receipt and this key

    Guarantee: `repr` and `str` show the public key only.
    Refuses: with InvalidArgument to be pickled, and to overwrite a key file.
    Law: tests/curator/test_receipt.py::TestASigner
    """

    _key: Ed25519PrivateKey
    public: str = field(init=False)

    def __post_init__(self) -> None:
        raw = self._key.public_key().public_bytes_raw()
        fill(self, public=b64encode(raw).decode())

    @classmethod
    def create(cls) -> Signer:
        """Make a new secret key."""
        return cls(_ed25519().Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str | Path) -> Signer:
        """Read a secret key written by `save`."""
        # The package is loaded outside of the try, so that its absence is not told as a bad key.
        key_class = _ed25519().Ed25519PrivateKey
        try:
            text = Path(path).read_text(encoding="ascii")
            raw = b64decode(text, validate=True)
            return cls(key_class.from_private_bytes(raw))
        except (OSError, ValueError):
            raise InvalidArgument(
                f"{Path(path).name} holds no key of discreet; Signer.create().save(…) makes one"
            ) from None

    def save(self, path: str | Path) -> None:
        """Write the secret key to a new file that only its owner may read."""
        # O_EXCL never overwrites a key; the mode is set at creation, so no other user can read it even
        # for a moment.
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            raise InvalidArgument(
                f"{Path(path).name} cannot be made, or is there already; name a new file"
            ) from None
        with os.fdopen(handle, "wb") as file:
            file.write(b64encode(self._key.private_bytes_raw()))

    def sign(self, text: bytes) -> str:
        """Sign the text of a receipt, in base 64; the same text always has the same signature."""
        return self.sign_for(_DOMAIN, text)

    def sign_for(self, purpose: bytes, text: bytes) -> str:
        """Sign a text for a purpose: a signature for one purpose is not valid for another."""
        signature = self._key.sign(purpose + text)
        return b64encode(signature).decode()

    def __repr__(self) -> str:
        return f"<Signer {self.public}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise InvalidArgument("a secret key is not pickled; save it to a file and load it there")


def check_signature(text: bytes, signature: str, public: str) -> None:
    """Refuse a signature that was not made for this text by the owner of this public key."""
    key = _decode_base64(public, _KEY_BYTES)
    raw = _decode_base64(signature, _SIGNATURE_BYTES)
    try:
        if key is not None and raw is not None:
            public_key = _ed25519().Ed25519PublicKey.from_public_bytes(key)
            public_key.verify(raw, _DOMAIN + text)
            return
    except load("cryptography.exceptions", "sign").InvalidSignature:
        pass
    raise ClaimRefuted("the signature does not belong to this receipt and this key")


def read_key(public: object) -> str:
    """Check that something can be a public key, 32 bytes in base 64."""
    if not isinstance(public, str) or _decode_base64(public, _KEY_BYTES) is None:
        raise InvalidArgument("a public key is text of 44 characters, as Signer.public gives it")
    return public


def _decode_base64(text: str, count: int) -> bytes | None:
    """Decode base 64 of exactly `count` bytes; None if it is not, or not in canonical form.

    The last letter of base 64 may hold bits that no byte needs. They must be 0: otherwise one key or
    signature would have several texts.
    """
    try:
        raw = b64decode(text, validate=True)
    except ValueError:
        return None
    if len(raw) != count or b64encode(raw).decode() != text:
        return None
    return raw


def _ed25519() -> Any:  # noqa: ANN401 a module
    return load("cryptography.hazmat.primitives.asymmetric.ed25519", "sign")
