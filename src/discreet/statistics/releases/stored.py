"""The stored form of an estimate: the name and the fields under which ledgers keep it, for good."""

from __future__ import annotations

from collections.abc import Mapping

from ...frozen import frozen


@frozen
class StoredForm:
    """A name, and the kind of every field that is kept: one of those that `answer/stored.py` writes."""

    name: str
    fields: Mapping[str, str]

    @classmethod
    def of(cls, name: str, /, **fields: str) -> StoredForm:
        """Return a stored form, its fields in this order; forms and fields are only ever added."""
        return cls(name, fields)
