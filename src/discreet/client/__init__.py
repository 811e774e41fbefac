"""HTTP client of a service: the same verbs, answers and errors as `Curator`."""

from .address import connect
from .remote import Remote

__all__ = ["Remote", "connect"]
