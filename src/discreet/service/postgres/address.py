"""Address and certificate of the PostgreSQL listener, checked before any worker starts."""

from __future__ import annotations

import ssl
from pathlib import Path

from ...errors import InvalidArgument
from ...frozen import frozen
from ..addresses import is_loopback
from ..config import WireOptions
from .scram import certificate_hash


@frozen
class ListenerTls:
    """Certificate of the listener: its context, and its hash for channel binding."""

    context: ssl.SSLContext
    binding: bytes


def check_address(address: str, options: WireOptions) -> None:
    """Refuse to listen beyond this machine without TLS, before any worker starts."""
    if options.certificate:
        open_tls(options)
    elif not is_loopback(address):
        raise InvalidArgument(
            f"PostgreSQL's protocol on {address} needs TLS: anybody between could read the answers; "
            "give certificate and key in [wire], or listen on 127.0.0.1"
        )


def open_tls(options: WireOptions) -> ListenerTls:
    """Read certificate and key; refuses files that are none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(options.certificate, options.key)
        pem = Path(options.certificate).read_text(encoding="ascii")
        # The first certificate of the file is the server's own.
        end = pem.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")
        own = ssl.PEM_cert_to_DER_cert(pem[pem.index("-----BEGIN CERTIFICATE-----") : end])
    except (OSError, ValueError):
        raise InvalidArgument(
            "wire.certificate and wire.key must be a certificate and its key in PEM"
        ) from None
    return ListenerTls(context, certificate_hash(own))
