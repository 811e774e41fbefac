"""HTTP client of a discreet service: `connect` returns a `Remote` with the verbs of `Curator`.

Answers and errors are the same objects as those of a curator in this process.
"""

from .address import connect
from .remote import Remote

__all__ = ["Remote", "connect"]
