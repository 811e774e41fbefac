"""Contribution of each row, as SQL: its owner, its keys, and a column for each number that is summed.

Numbers are written so that a store adds up as little as possible: Σ(x − m) is Σx − m·n, so a sum,
a mean and a count of one column need one sum and one count.

Deferred keys: a listed text is looked up once for each text that occurs, not once per row. The
store groups by the stored text, and reads the key after rows are added up. A key qualifies if it
is a column of listed text without another key or default. Then two stored texts never become the
same key, but for NULL. Nothing else may read that column, so that it can stay as it is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...data.columns.column import Category
from ...data.columns.declared import MAX_KEYS
from ...data.schema import Schema
from ...frozen import frozen, replace
from ...query.algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ...query.algebra.tally import Free, GroupRowShare, RowShare, Tally
from ...query.algebra.tree import BlockScan, Relation, Scan, Where
from ...query.bounds.relation_facts import tables_of
from ...query.domains.domain import MAX_STEPS, Domain, Texts, Values, Whole
from ...query.domains.domain_of import domain_of
from ..base import find_column
from ..column_pruning import ColumnNames
from ..tally_analysis import TallyFacts, TermFacts
from .dialect import case_sql
from .expression import SqlScope, expression_sql
from .keys import only_sql
from .reading.number import clip_sql
from .reading.value import prepare, read
from .rows.relation import COUNT, Writer, frame_of, scope_of, stored_column
from .select import group_by, named_cells, nested, none_null, select_sql


@frozen
class EntryNumber:
    """Contribution of a row to one total: `sign`·`column` − `offset`, nothing if the column is NULL.

    A term that counts adds the value of one count wherever the column is not NULL. With the sign −1
    it adds that value wherever the column is NULL. The column "*" is never NULL.
    """

    facts: TermFacts
    column: str
    sign: int = 1
    offset: int = 0


@frozen
class Entries:
    """A SELECT of the contributions of each row, or of each person in a key.

    Rows with a NULL in a `tested` key count nowhere. They stay in the SELECT, since their totals
    are never read: that saves a test for each row. `labels` lists the values of those keys that are
    text of a few public values. `deferred` has the SQL that reads the keys which are still as they
    are stored.

    Under `RowShare` and `GroupRowShare` the SELECT has every row of the relation, and `listed_sql`
    those whose keys are wanted: the others are among the rows of their person. Under other shares
    both are the same.
    """

    sql: str
    owner: tuple[str, ...]
    keys: tuple[str, ...]
    values: tuple[EntryNumber, ...]
    tested: tuple[str, ...]
    labels: Mapping[str, Sequence[str]]
    deferred: Mapping[str, str]
    count: str = ""
    """Column with the number of all rows of their person, if the store keeps it."""
    is_share: bool = False
    """Tells that `count` holds the person's share instead of the number of rows."""
    nobody: str = ""
    """A number that no owner has, if the store has one."""
    test: str = ""
    """Test of the keys that is still to be made, if there is one."""
    group_test: str = ""
    """Test that a row is in a listed group of a `GroupRowShare`; "" if every row is."""

    @property
    def listed_sql(self) -> str:
        """The SELECT without the rows whose keys are not wanted."""
        return _tested_sql(self.sql, self.test)


@frozen
class _Contribution:
    """SQL of one row's contribution before it is named: `sign`·`sql` − `offset`."""

    sql: str
    sign: int = 1
    offset: int = 0


@frozen
class _StoredCount:
    """Stored column with a person's number of rows, or with the person's share; "" for none."""

    column: str = ""
    is_share: bool = False


def entries_of(facts: TallyFacts, writer: Writer) -> Entries:
    """Write one row for each row that counts."""
    tally = facts.tally
    # Names of keys are taken first, since tests and deferred keys refer to them.
    names = tuple(writer.fresh("k") for _ in tally.keys)
    test = ""
    tested: tuple[str, ...] = ()
    if tally.only is not None:
        test, tested = _only_sql(facts, names, writer)
    # A test of keys reads them, and so does grouping within a person: then they are not deferred.
    join_test = _keys_test(facts, tally.matched, tally.joined, names, writer)
    reads_keys = test or join_test or tally.people or isinstance(tally.share, GroupRowShare)
    deferred = {}
    if not reads_keys:
        deferred = deferred_keys(tally, names, writer)
    stored = _StoredCount()
    # A stored number of rows is that of the whole table.
    if not join_test:
        stored = _stored_count(tally, writer)
    unread = frozenset(key.column for key in deferred.values())
    reader = replace(writer, deferred=unread, count=stored.column)
    frame = frame_of(tally.rows, _needed_columns(tally), reader)
    scope = scope_of(frame, writer)
    keys = []
    for name, key in zip(names, tally.keys, strict=True):
        keys.append((name, expression_sql(key, scope)))
    contributions = [_contribution(term, scope, tally) for term in facts.terms]
    columns = _column_names(contributions, writer)
    cells = list(frame.owner)
    if stored.column:
        cells.append(COUNT)
    cells += named_cells(keys)
    cells += named_cells((name, sql) for sql, name in columns.items())
    sql = _tested_sql(select_sql(cells, nested(frame.sql)), join_test)
    # A person's number of rows is that of all rows, so there the test has to wait.
    if not isinstance(tally.share, RowShare | GroupRowShare):
        sql = _tested_sql(sql, test)
        test = ""
    return Entries(
        sql=sql,
        owner=frame.owner,
        keys=names,
        values=_numbers(facts, contributions, columns),
        tested=tested,
        labels=_labels(names, facts.keys),
        deferred={name: key.sql for name, key in deferred.items()},
        count=COUNT if stored.column else "",
        is_share=stored.is_share,
        nobody=_nobody(tally, writer) if len(frame.owner) == 1 else "",
        test=test,
        group_test=_group_test(facts, names, writer),
    )


def _tested_sql(sql: str, test: str) -> str:
    """Write the rows that pass a test; "" is no test."""
    if not test:
        return sql
    return select_sql(["*"], nested(sql), f"WHERE {test}")


def _needed_columns(tally: Tally) -> frozenset[str]:
    """List the columns that keys and terms read."""
    needed: frozenset[str] = frozenset()
    for key in tally.keys:
        needed |= fields_of(key)
    for term in tally.terms:
        needed |= fields_of(term.expression)
    return needed


def _column_names(contributions: Sequence[_Contribution], writer: Writer) -> dict[str, str]:
    """Name each SQL text once: terms that add up the same column share it."""
    columns: dict[str, str] = {}
    for contribution in contributions:
        if contribution.sql != "*" and contribution.sql not in columns:
            columns[contribution.sql] = writer.fresh("v")
    return columns


def _numbers(
    facts: TallyFacts, contributions: Sequence[_Contribution], columns: Mapping[str, str]
) -> tuple[EntryNumber, ...]:
    numbers = []
    for term, each in zip(facts.terms, contributions, strict=True):
        column = columns.get(each.sql, each.sql)
        numbers.append(EntryNumber(term, column, each.sign, each.offset))
    return tuple(numbers)


def _nobody(tally: Tally, writer: Writer) -> str:
    """Return the number that no person of any table has; "" if there is none."""
    numbers = {writer.table(schema.name).nobody for schema in tables_of(tally.rows)}
    return numbers.pop() if len(numbers) == 1 else ""


def _stored_count(tally: Tally, writer: Writer) -> _StoredCount:
    """Find the stored number of each person's rows, or the person's share.

    It exists for a whole table, and is right for every key.
    """
    if not isinstance(tally.rows, Scan) or not isinstance(tally.share, RowShare) or tally.people:
        return _StoredCount()
    if isinstance(tally.rows, BlockScan):
        # Not all rows of a person count, so their stored number says nothing.
        return _StoredCount()
    table = writer.table(tally.rows.schema.name)
    # The stored share is right only for the bound by which it was computed.
    if table.share and table.share_rows == tally.share.rows:
        return _StoredCount(table.share, is_share=True)
    return _StoredCount(table.count)


def _only_sql(
    facts: TallyFacts, names: Sequence[str], writer: Writer
) -> tuple[str, tuple[str, ...]]:
    """Write the test of the keys that are listed; "" if all pass. Other keys may have any value."""
    listed = facts.tally.listed
    domains = facts.keys[:listed]
    test, tested = only_sql(facts.tally.only or (), names[:listed], domains, writer.dialect)
    return "" if test == "TRUE" else test, tested


def _group_test(facts: TallyFacts, names: Sequence[str], writer: Writer) -> str:
    """Write the test that a row is in a listed group; "" if every row is, or there are no groups."""
    share = facts.tally.share
    if not isinstance(share, GroupRowShare):
        return ""
    return _keys_test(facts, facts.tally.groups, range(share.keys), names, writer)


def _keys_test(
    facts: TallyFacts,
    listed: tuple[Values, ...] | None,
    places: Sequence[int],
    names: Sequence[str],
    writer: Writer,
) -> str:
    """Write the test that some keys of a row, by their places, are listed; "" if every row passes."""
    if listed is None:
        return ""
    own_names = []
    domains = []
    for place in places:
        own_names.append(names[place])
        domains.append(facts.keys[place])
    test, not_null = only_sql(listed, own_names, domains, writer.dialect)
    if test == "TRUE":
        return none_null(not_null)
    return test


def _labels(names: Sequence[str], domains: Sequence[Domain]) -> dict[str, list[str]]:
    labels = {}
    for name, domain in zip(names, domains, strict=True):
        if not isinstance(domain, Texts) or domain.keys is None:
            continue
        # Few enough to be listed in the text as an enumeration.
        if len(domain.keys) <= MAX_KEYS:
            labels[name] = [str(key) for key in domain.keys if key is not None]
    return labels


def _contribution(facts: TermFacts, scope: SqlScope, tally: Tally) -> _Contribution:
    """Write the contribution of a row to one term.

    For a condition that is SQL which is not NULL where it holds, "*" if it always holds.
    """
    term = facts.term
    # A negative sign cannot be undone where the greatest contribution of a person is taken.
    allow_negative = isinstance(tally.share, Free) and not tally.people
    if not isinstance(facts.domain, Whole):
        return _condition(term.expression, scope, allow_negative)
    lowest = facts.domain.low * term.weight
    highest = facts.domain.high * term.weight
    needs_no_clip = term.low <= lowest and highest <= term.high
    expression, sign, offset = term.expression, 1, 0
    # Under a share of rows each row is rounded by itself, so x − m cannot be taken apart there.
    if needs_no_clip and not isinstance(tally.share, RowShare | GroupRowShare):
        shifted, its_sign, its_offset = _shift(term.expression, facts.domain, term.weight, scope)
        if its_sign > 0 or allow_negative:
            expression, sign, offset = shifted, its_sign, its_offset
    sql = expression_sql(expression, scope)
    if term.weight != 1:
        sql = f"({sql} * {term.weight})"
    if not needs_no_clip:
        sql = clip_sql(sql, term.low, term.high, sql)
    return _Contribution(sql, sign, offset * term.weight)


def _shift(
    expression: Expression, domain: Whole, weight: int, scope: SqlScope
) -> tuple[Expression, int, int]:
    """Take x − m or m − x apart into x, its sign and an offset in the same steps.

    Σ(x − m) = Σx − m·n, and a store may have Σx and n already.
    """
    unchanged = (expression, 1, 0)
    match expression:
        case Call(function=Function.SUBTRACT, arguments=(x, Constant(value=m) as constant)) if (
            m is not None
        ):
            sign = 1
        case Call(function=Function.SUBTRACT, arguments=(Constant(value=m) as constant, x)) if (
            m is not None
        ):
            sign = -1
        case _:
            return unchanged
    minuend = domain_of(x, scope.domains)
    subtrahend = domain_of(constant, scope.domains)
    if not isinstance(minuend, Whole) or not isinstance(subtrahend, Whole):
        return unchanged
    if minuend.step != domain.step:
        return unchanged
    # x alone may be larger than x − m, whose range was checked: it has to fit into 64 bits too.
    if max(abs(minuend.low), abs(minuend.high)) * weight > MAX_STEPS:
        return unchanged
    offset = int(subtrahend.low * subtrahend.step / domain.step)
    return x, sign, sign * offset


def _condition(expression: Expression, scope: SqlScope, allow_negative: bool) -> _Contribution:
    """Write the SQL that a count counts, with columns hidden from the optimizer's statistics.

    An optimizer that knows of no NULL need not look at the column.
    """
    match expression:
        case Constant(value=True):
            return _Contribution("*")
        case Call(function=Function.IS_NULL, arguments=(x,)) if allow_negative and not isinstance(
            x, Constant
        ):
            return _Contribution(expression_sql(x, scope.hide_columns()), sign=-1)
    tested = _tested_for_null(expression)
    if tested is not None:
        return _Contribution(expression_sql(tested, scope.hide_columns()))
    return _Contribution(case_sql(expression_sql(expression, scope), "1"))


def _tested_for_null(expression: Expression) -> Expression | None:
    """Return x if the condition is `x IS NOT NULL`: then COUNT(x) counts it."""
    match expression:
        case Call(
            function=Function.NOT, arguments=(Call(function=Function.IS_NULL, arguments=(x,)),)
        ) if not isinstance(x, Constant):
            return x
    return None


def once_per_person(rows: Entries) -> Entries:
    """Let each person count once in a key, with the greatest of each contribution."""
    groups = [*rows.owner, *rows.keys]
    cells = {}
    for value in rows.values:
        if value.column != "*":
            cells[value.column] = case_sql(f"count({value.column}) > 0", "1")
    # A column may be counted and summed as well. Its greatest value replaces the count: it is NULL
    # only where there is nothing to count.
    for value in rows.values:
        if not value.facts.counts:
            cells[value.column] = f"max({value.column})"
    sql = select_sql([*groups, *named_cells(cells.items())], nested(rows.sql), group_by(groups))
    return replace(rows, sql=sql)


@frozen
class DeferredKey:
    """A key that stays as it is stored: its column, and the SQL that reads it from its SQL name.

    The SQL is NULL for text that is not listed.
    """

    column: str
    sql: str


def deferred_keys(tally: Tally, names: Sequence[str], writer: Writer) -> dict[str, DeferredKey]:
    """Find the keys that can be read after grouping, by their SQL names.

    Law: tests/engines/test_contributions.py::TestKeysReadLate
    """
    schema, used = _scanned_table(tally.rows)
    if schema is None:
        return {}
    for term in tally.terms:
        used |= fields_of(term.expression)
    for key in tally.keys:
        # A key that is computed from a column reads its value, not the stored text.
        if not isinstance(key, Field):
            used |= fields_of(key)
    deferred = {}
    for name, key in zip(names, tally.keys, strict=True):
        if not isinstance(key, Field) or key.name in used:
            continue
        if _is_listed_text(schema, key.name, writer):
            deferred[name] = _deferred_key(name, key.name, schema, writer)
    return deferred


def _deferred_key(name: str, column: str, schema: Schema, writer: Writer) -> DeferredKey:
    declared = schema.columns[column]
    table = writer.table(schema.name)
    stored = prepare(declared, stored_column(column, table), writer.dialect)
    sql = read(declared, replace(stored, sql=name), writer.dialect)
    return DeferredKey(column, sql)


def _scanned_table(rows: Relation) -> tuple[Schema | None, ColumnNames]:
    """Find the one table of some rows, and the columns that WHERE reads."""
    match rows:
        case Scan(schema=schema):
            return schema, frozenset()
        case Where(rows=inner, condition=condition):
            table, used = _scanned_table(inner)
            return table, used | fields_of(condition)
        case _:
            return None, frozenset()


def _is_listed_text(schema: Schema, name: str, writer: Writer) -> bool:
    column = schema.columns[name]
    stored = writer.table(schema.name).columns
    if not isinstance(column, Category) or column.of != "text":
        return False
    if name in stored and stored[name].kept == column:
        return True
    # Another key, a default or declared spellings would make one key of several stored texts.
    if column.other is not None or column.default is not None or not column.spelling.plain:
        return False
    stored_name = find_column(name, stored)
    return stored_name is not None and stored[stored_name].stored == "text"
