"""The curator at the other end of a line: the same verbs as `Curator`, the same answers, the same errors."""

from __future__ import annotations

from .address import connect
from .remote import Remote

__all__ = ["Remote", "connect"]
