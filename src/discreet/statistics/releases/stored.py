"""Stored form of an estimate: the permanent name and fields under which ledgers keep it."""

from __future__ import annotations

from collections.abc import Mapping

from ...frozen import frozen


@frozen
class StoredForm:
    """Name of a form, and the kind of every stored field: one of those that `answer/stored.py` writes.

    Guarantee: forms and fields are only added, so that every stored answer stays readable.
    Law: tests/statistics/test_recipes.py::test_stored_forms_keep_every_field_under_names_of_their_own
    """

    name: str
    fields: Mapping[str, str]

    @classmethod
    def of(cls, name: str, /, **fields: str) -> StoredForm:
        """Return a stored form with its fields in this order."""
        return cls(name, fields)
