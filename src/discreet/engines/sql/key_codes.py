"""Codes of keys: rows are grouped by small numbers, and keys are read from them afterwards.

A store groups by integers of 8 or 16 bits in an array, which is several times as fast as grouping
by text or by 64-bit integers. And what is computed from a code after rows are added up is computed
once for each code, not once per row. Rows are grouped by

| key | grouped by | one key, one code |
|---|---|---|
| a column that the store keeps as it was read | the stored value | yes, by the same declaration |
| a column of listed text, stored as text | the stored text | no: unlisted texts are all NULL |
| CASE with constant values | the number of the value | yes |
| a number, time or truth of a small range, on DuckDB | its distance from the lower bound | yes |
| another expression of columns with few values | these columns | no |
| all else | the key itself | yes |

Grouping within a person (`GroupShare`, people counted once) needs one code for each key. Under
`GroupRowShare` and `KeptKeys` all keys are grouped by as they are. All ranges are declared, so
which codes are used depends on no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from ...data.columns.column import Category, Column
from ...data.schema import Schema
from ...frozen import field, frozen, replace
from ...query.algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ...query.algebra.tally import Free, GroupShare, RowShare
from ...query.algebra.tree import BlockScan, Relation, Scan, Where
from ...query.domains.domain import Day, Domain, Second, Texts, Truth, Whole, domain_of_column
from ...query.domains.domain_of import domain_of
from ..tally_analysis import TallyFacts
from .dialect import StoredColumn, bigint, cast_sql
from .expression import SqlScope, expression_sql
from .reading.value import prepare, read
from .rows.relation import Writer, stored_column

MAX_CODES = 1 << 16
"""Most codes of all keys together: an array of so many totals is small."""
_FEW_KEYS = 1 << 12
"""Up to so many keys are added up without a test of every row, also those not asked for."""
_UNASKED = 8
"""Or this many keys for each key that was asked for."""


@frozen
class CodeColumn:
    """Column that rows are grouped by: a stored column, or an expression.

    `low` is the value of code 0, None for a code that is the expression's own value.
    """

    name: str
    domain: Domain
    stored: str = ""
    expression: Expression | None = None
    low: int | None = None


@frozen
class KeyCodes:
    """Columns to group by, and the SQL of each key over their names, once rows are added up.

    `raw` names the stored columns that are selected beside those that are read.
    """

    columns: tuple[CodeColumn, ...]
    keys: tuple[str, ...]
    raw: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns to group by."""
        return tuple(column.name for column in self.columns)

    @property
    def needed(self) -> frozenset[str]:
        """The columns that have to be read in every row."""
        needed: frozenset[str] = frozenset()
        for column in self.columns:
            if column.expression is not None:
                needed |= fields_of(column.expression)
        return needed

    def cells(self, scope: SqlScope) -> list[tuple[str, str]]:
        """Write the codes of a row, by name."""
        return [(column.name, self._cell(column, scope)) for column in self.columns]

    def _cell(self, column: CodeColumn, scope: SqlScope) -> str:
        """Write a row's code for a column: the stored value, or an expression less `low`."""
        if column.expression is None:
            raw = self.raw[column.stored]
            is_truth = isinstance(column.domain, Truth)
            return cast_sql(raw, "TINYINT") if is_truth and scope.dialect.codes else raw
        sql = expression_sql(column.expression, scope)
        if column.low is None:
            return sql
        if column.low:
            sql = f"({sql} - {bigint(column.low)})"
        # A cast that fails would tell of a row; no value is beyond its domain, but none may fail.
        is_byte = _span(column.domain) <= 1 << 8
        return f"TRY_CAST({sql} AS {'UTINYINT' if is_byte else 'USMALLINT'})"


def _span(domain: Domain) -> int:
    """Return the number of codes of a domain, without NULL; more than `MAX_CODES` for text."""
    match domain:
        case Truth():
            return 2
        case Texts():
            return MAX_CODES + 1
        case _:
            return domain.high - domain.low + 1


def _size(domain: Domain) -> int:
    """Return the number of values that a domain can have, NULL included."""
    if domain.keys is not None:
        return len(domain.keys) + 1
    return _span(domain) + 1


def _combinations(domains: Iterable[Domain]) -> int:
    """Return the number of combinations of values, NULL included."""
    return prod(map(_size, domains))


def _possible_keys(key: Expression, domain: Domain, columns: Mapping[str, Domain]) -> int:
    """Return the number of values that a key can have, NULL included."""
    texts = _case_texts(key)
    if texts:
        return len(texts) + 1
    by_columns = _combinations(columns[column] for column in fields_of(key))
    return min(_size(domain), by_columns)


def needs_no_test(facts: TallyFacts) -> bool:
    """Return whether rows with keys that were not asked for may be added up too.

    Their totals are left out when the answer is read. There must be few such keys, and a row with
    one must not change the totals of other keys.
    """
    tally = facts.tally
    if not isinstance(tally.share, Free | RowShare) or tally.people:
        return False
    # An empty list leaves out everything, and is a test that is never true.
    if not tally.only:
        return False
    asked = len(tally.only)
    possible = 1
    for key, domain in list(zip(tally.keys, facts.keys, strict=True))[: tally.listed]:
        possible *= _possible_keys(key, domain, facts.columns)
    most = _UNASKED * asked
    # Further keys would multiply what nobody asked for.
    if tally.listed == len(tally.keys):
        most = max(_FEW_KEYS, most)
    return possible <= min(most, MAX_CODES)


def plain_keys(names: Sequence[str], facts: TallyFacts) -> KeyCodes:
    """Group by the keys themselves."""
    columns = []
    for name, key, domain in zip(names, facts.tally.keys, facts.keys, strict=True):
        columns.append(CodeColumn(name, domain, expression=key))
    return KeyCodes(tuple(columns), tuple(names))


def coded_keys(
    names: Sequence[str], facts: TallyFacts, writer: Writer, *, plain: bool = False
) -> KeyCodes:
    """Choose the columns that rows are grouped by instead of each key.

    `names` are the SQL names of the keys. With `plain` the last key is grouped by as it is.

    Guarantee: the keys that are read from codes are those of the rows, and depend on no other row.

    Law: tests/engines/test_contributions.py::TestKeysReadLate
    """
    tally = facts.tally
    within_person = tally.people or isinstance(tally.share, GroupShare)
    if not isinstance(tally.share, Free | RowShare | GroupShare):
        return plain_keys(names, facts)
    coder = _Coder(facts, writer, one_to_one=within_person)
    for name, key, domain in zip(names, tally.keys, facts.keys, strict=True):
        if plain and name == names[-1]:
            coder.keep(name, key, domain)
        else:
            coder.add(name, key, domain)
    return KeyCodes(tuple(coder.columns), tuple(coder.keys), coder.raw)


class _Coder:
    """Builder of the codes of one tally."""

    def __init__(self, facts: TallyFacts, writer: Writer, *, one_to_one: bool) -> None:
        self.columns: list[CodeColumn] = []
        self.keys: list[str] = []
        self.raw: dict[str, str] = {}
        self._domains = facts.columns
        self._schema = _scanned_table(facts.tally.rows)
        self._writer = writer
        self._one_to_one = one_to_one
        self._groups = 1

    def add(self, name: str, key: Expression, domain: Domain) -> None:
        """Add the codes of one key."""
        if isinstance(key, Field):
            self._count([domain])
            self.keys.append(self._column(name, key.name))
            return
        fields = sorted(fields_of(key))
        columns = [self._domains[column] for column in fields]
        few = self._groups * _combinations(columns) <= MAX_CODES
        if fields and few and not self._one_to_one:
            self._count(columns)
            self.keys.append(self._by_columns(key, fields))
            return
        self._count([domain])
        texts = _case_texts(key)
        if isinstance(key, Call) and texts:
            self.keys.append(self._by_text(name, key, texts))
        else:
            self.keys.append(self._computed(name, key, domain))

    def keep(self, name: str, key: Expression, domain: Domain) -> None:
        """Add a key that rows are grouped by as it is."""
        self.columns.append(CodeColumn(name, domain, expression=key))
        self.keys.append(name)

    def _count(self, domains: Iterable[Domain]) -> None:
        self._groups *= _combinations(domains)

    def _column(self, name: str, column: str) -> str:
        """Group by a column, as it is stored if that will do; return the SQL that reads it."""
        domain = self._domains[column]
        writer = self._writer
        found = self._stored(column)
        if found is None:
            return self._computed(name, Field(column), domain)
        declared, stored = found
        self.raw.setdefault(column, writer.fresh("w"))
        self.columns.append(CodeColumn(name, domain, stored=column))
        if isinstance(domain, Truth) and writer.dialect.codes:
            name = f"({name} = 1)"
        prepared = prepare(declared, stored, writer.dialect)
        return read(declared, replace(prepared, sql=name), writer.dialect)

    def _by_columns(self, key: Expression, fields: Sequence[str]) -> str:
        """Group by the columns that a key reads; return the SQL of the key."""
        names = {}
        for column in fields:
            names[column] = self._column(self._writer.fresh("k"), column)
        return expression_sql(key, SqlScope(names, self._domains, self._writer.dialect))

    def _computed(self, name: str, key: Expression, domain: Domain) -> str:
        """Group by an expression, as a small number if it is one; return the SQL of the key."""
        low = None
        as_read = name
        if self._writer.dialect.codes and _span(domain) <= MAX_CODES:
            match domain:
                case Truth():
                    low = 0
                    as_read = f"({name} = 1)"
                case Whole() | Day() | Second():
                    low = domain.low
                    as_read = f"({cast_sql(name, 'BIGINT')} + {bigint(low)})"
        self.columns.append(CodeColumn(name, domain, expression=key, low=low))
        return as_read

    def _by_text(self, name: str, key: Call, texts: Sequence[str]) -> str:
        """Group by the number of a CASE's text; return the SQL of the text."""
        arguments = list(key.arguments)
        for place in _value_places(key):
            value = arguments[place]
            if isinstance(value, Constant) and isinstance(value.value, str):
                arguments[place] = Constant(texts.index(value.value))
        numbered = replace(key, arguments=tuple(arguments))
        number = self._computed(name, numbered, domain_of(numbered, self._domains))
        tests = []
        for place, text in enumerate(texts):
            tests.append(f"WHEN {place} THEN {self._writer.dialect.literal(text)}")
        return f"CASE {number} {' '.join(tests)} END"

    def _stored(self, column: str) -> tuple[Column, StoredColumn] | None:
        """Find a stored column from which a key can be read after grouping; None if it cannot."""
        schema = self._schema
        if schema is None:
            return None
        table = self._writer.table(schema.name)
        declared = schema.columns[column]
        stored = stored_column(column, table)
        if stored.kept == declared:
            return declared, stored
        # Several stored values may be read alike, so that a person would be in two groups of one key.
        if self._one_to_one:
            return None
        if stored.kept is None:
            return (declared, stored) if _is_listed_text(declared, stored) else None
        # Read by a narrower declaration, a wide column would make many groups of few keys.
        is_small = _size(domain_of_column(stored.kept)) <= MAX_CODES
        return (declared, stored) if is_small else None


def _value_places(case: Call) -> list[int]:
    """List the indices of a CASE's values among its arguments: after each test, and the last."""
    last = len(case.arguments) - 1
    return [*range(1, last, 2), last]


def _case_texts(key: Expression) -> list[str]:
    """List the texts of a CASE whose values are all constant text or NULL; else none."""
    if not isinstance(key, Call) or key.function is not Function.CASE:
        return []
    texts: dict[str, None] = {}
    for place in _value_places(key):
        value = key.arguments[place]
        if not isinstance(value, Constant):
            return []
        if isinstance(value.value, str):
            texts[value.value] = None
        elif value.value is not None:
            return []
    return list(texts)


def _scanned_table(rows: Relation) -> Schema | None:
    """Return the schema of the table whose rows are filtered at most; None for other rows."""
    match rows:
        case BlockScan():
            # Blocks are ranked over the columns that are read.
            return None
        case Scan(schema=schema):
            return schema
        case Where(rows=inner):
            return _scanned_table(inner)
        case _:
            return None


def _is_listed_text(column: Column, stored: StoredColumn) -> bool:
    """Return whether stored text is either a listed key or NULL, as the column reads it."""
    if not isinstance(column, Category) or column.of != "text" or stored.stored != "text":
        return False
    # Another key, a default or declared spellings would make one key of several stored texts.
    return column.other is None and column.default is None and column.spelling.plain
