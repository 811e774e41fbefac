"""Signatures on receipts: Ed25519, by the `cryptography` package (extra `sign`)."""

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
"""Stands before every signed text, so that a signature says what it signs."""


@frozen(repr=False)
class Signer:
    """Sign receipts with a secret key; `public` is what others check them by.

    >>> import discreet as dp
    >>> from discreet.curator.signing import check_signature
    >>> signer = dp.Signer.create()
    >>> check_signature(b"facts", signer.sign(b"facts"), signer.public)
    >>> check_signature(b"other facts", signer.sign(b"facts"), signer.public)
    Traceback (most recent call last):
    ...
    discreet.errors.ClaimRefuted: the signature does not belong to this receipt and this key

    It shows its public key only, and cannot be pickled. Refuses to overwrite a key file.
    """

    _key: Ed25519PrivateKey
    public: str = field(init=False)

    def __post_init__(self) -> None:
        fill(self, public=b64encode(self._key.public_key().public_bytes_raw()).decode())

    @classmethod
    def create(cls) -> Signer:
        """Make a new secret key."""
        return cls(_ed25519().Ed25519PrivateKey.generate())

    @classmethod
    def load(cls, path: str | Path) -> Signer:
        """Read a secret key written by `save`."""
        made = _ed25519().Ed25519PrivateKey
        try:
            return cls(
                made.from_private_bytes(
                    b64decode(Path(path).read_text(encoding="ascii"), validate=True)
                )
            )
        except (OSError, ValueError):
            raise InvalidArgument(
                f"{Path(path).name} holds no key of discreet; Signer.create().save(…) makes one"
            ) from None

    def save(self, path: str | Path) -> None:
        """Write the secret key to a new file that only its owner may read."""
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError:
            raise InvalidArgument(
                f"{Path(path).name} cannot be made, or is there already; name a new file"
            ) from None
        with os.fdopen(handle, "wb") as file:
            file.write(b64encode(self._key.private_bytes_raw()))

    def sign(self, text: bytes) -> str:
        """Sign a text; the same text always has the same signature."""
        return b64encode(self._key.sign(_DOMAIN + text)).decode()

    def __repr__(self) -> str:
        return f"<Signer {self.public}>"

    def __reduce__(self) -> tuple[object, ...]:
        raise InvalidArgument("a secret key is not pickled; save it to a file and load it there")


def check_signature(text: bytes, signature: str, public: str) -> None:
    """Refuse a signature that was not made for this text by the owner of this public key."""
    key, made = _bytes(public, 32), _bytes(signature, 64)
    try:
        if key is not None and made is not None:
            _ed25519().Ed25519PublicKey.from_public_bytes(key).verify(made, _DOMAIN + text)
            return
    except load("cryptography.exceptions", "sign").InvalidSignature:
        pass
    raise ClaimRefuted("the signature does not belong to this receipt and this key")


def read_key(public: object) -> str:
    """Check that something can be a public key, 32 bytes in base 64."""
    if not isinstance(public, str) or _bytes(public, 32) is None:
        raise InvalidArgument("a public key is text of 44 characters, as Signer.public gives it")
    return public


def _bytes(text: str, count: int) -> bytes | None:
    """Read base 64 in its one form: its last letter may hold bits that no byte needs, and they must be 0."""
    try:
        raw = b64decode(text, validate=True)
    except ValueError:
        return None
    return raw if len(raw) == count and b64encode(raw).decode() == text else None


def _ed25519() -> Any:  # noqa: ANN401 a module
    return load("cryptography.hazmat.primitives.asymmetric.ed25519", "sign")
