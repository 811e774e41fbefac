"""Types of declared columns and of domains, as numbers of PostgreSQL's types."""

from __future__ import annotations

from ...data.columns.column import Column, Real
from ...data.schema import Schema
from ...data.unit import People
from ...query.domains.domain import Day, Domain, Second, Texts, Truth, Whole, domain_of_column
from .types import BOOL, DATE, FLOAT8, INT8, TEXT, TIMESTAMP

OIDS = {
    "truth": BOOL.oid,
    "text": TEXT.oid,
    "day": DATE.oid,
    "second": TIMESTAMP.oid,
    "number": FLOAT8.oid,
}
"""Types by the library's own names of types."""
_DOMAINS = {Truth: "truth", Texts: "text", Day: "day", Second: "second"}


def oid_of(domain: Domain) -> int:
    """Return the type of a domain: numbers on a grid of whole steps are int8."""
    if isinstance(domain, Whole):
        return INT8.oid if domain.step.denominator == 1 else FLOAT8.oid
    return OIDS[_DOMAINS[type(domain)]]


def column_oid(column: Column) -> int:
    """Return the type of a declared column; a real number is float8 on any grid."""
    if isinstance(column, Real):
        return FLOAT8.oid
    return oid_of(domain_of_column(column))


def table_columns(schema: Schema) -> list[tuple[str, int]]:
    """Return the columns of a table with their types: the declared ones, and the id of people."""
    columns = [(name, column_oid(column)) for name, column in schema.declared]
    if isinstance(schema.unit, People) and schema.unit.id not in dict(schema.declared):
        # Ids are never shown, only counted; how they are stored is not declared.
        columns.insert(0, (schema.unit.id, TEXT.oid))
    return columns
