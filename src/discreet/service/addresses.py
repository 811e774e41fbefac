"""Addresses to which secrets may be sent: encrypted ones, and those of this machine."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit


def is_loopback(address: str) -> bool:
    """Return whether only programs of this machine can connect to an address.

    >>> from discreet.service.addresses import is_loopback
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        # A name may stand for any address.
        return False


def is_private_address(address: str) -> bool:
    """Return whether an address is https, or http of this machine: nobody between can read it.

    False also for one with a user, a fragment or port 0.

    >>> from discreet.service.addresses import is_private_address
    >>> is_private_address("https://login.example/token"), is_private_address("http://127.0.0.1/")
    (True, True)
    >>> is_private_address("http://login.example/token"), is_private_address("file:///etc/passwd")
    (False, False)
    """
    try:
        url = urlsplit(address)
        host = url.hostname or ""
        # Reading the port checks it.
        odd = url.port == 0 or "@" in url.netloc or url.fragment
    except ValueError:
        return False
    if odd or not host or not address.isascii() or not address.isprintable():
        return False
    return url.scheme == "https" or (url.scheme == "http" and is_loopback(host))
