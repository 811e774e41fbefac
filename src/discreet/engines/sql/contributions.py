"""Contribution of each row, as SQL: its owner, its keys, and a column for each number that is summed.

Numbers are written so that a store adds up as little as possible (`Polynomial`): Σ(x − m) is
Σx − m·n, and Σ(x − m)² is Σx² − 2m·Σx + m²·n. So all statistics of one column need its sum, its
count, and the sum of its squares.

Rows are grouped by codes of their keys where that is faster (`key_codes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...data.columns.declared import MAX_KEYS
from ...frozen import frozen, replace
from ...query.algebra.expression import Call, Constant, Expression, Function, fields_of
from ...query.algebra.tally import Free, GroupRowShare, GroupShare, KeptKeys, RowShare, Tally
from ...query.algebra.tree import BlockScan, Scan
from ...query.bounds.relation_facts import tables_of
from ...query.domains.domain import MAX_STEPS, Texts, Values, Whole
from ...query.domains.domain_of import domain_of
from ..tally_analysis import TallyFacts, TermFacts
from .dialect import case_sql
from .expression import SqlScope, expression_sql
from .key_codes import KeyCodes, coded_keys, needs_no_test, plain_keys
from .keys import only_sql
from .polynomial import Polynomial
from .reading.number import clip_sql
from .rows.relation import COUNT, Writer, frame_of, scope_of
from .select import group_by, named_cells, nested, none_null, select_sql

BESIDE = 4
"""Values of a last key that are in one group, each with totals of its own; a power of two."""
_MANY_CELLS = 1 << 12
"""Totals by more cells than this come in arrays (`cell_arrays`)."""
_MAX_OF_ONE = 1 << 24
"""With a larger contribution of one row or person, totals might exceed 64 bits."""


@frozen
class EntryNumber:
    """Contribution of a row to one total: `factor`·x + `squares`·x² − `offset`, x of a `column`.

    A row whose column is NULL contributes nothing. `square` is the column of x². A term that counts
    adds the value of one count wherever the column is not NULL. With the factor −1 it adds that
    value wherever the column is NULL. The column "*" is never NULL. `size` bounds |x|.
    """

    facts: TermFacts
    column: str
    factor: int = 1
    offset: int = 0
    square: str = ""
    squares: int = 0
    size: int = 0


@frozen
class OpenKey:
    """A last key that is a whole number of `low` … `high`, whose values no list names."""

    low: int
    high: int

    @classmethod
    def of(cls, facts: TallyFacts) -> OpenKey | None:
        """Return the last key of a tally if its totals are to come in arrays, else None.

        The tally has to count rows and nothing else, and to state the range of its last key (`cells`),
        of more than 4,096 values. A row must count so little that totals fit into 64 bits. Then 0
        means that no row has the value.
        """
        tally = facts.tally
        if tally.cells is None or len(facts.terms) != 1:
            return None
        rows = tally.share.rows if isinstance(tally.share, GroupShare | KeptKeys) else 1
        term = facts.terms[0].term
        low, high = tally.cells
        if term.expression != Constant(True) or not 0 < rows * term.high <= _MAX_OF_ONE:
            return None
        return cls(low, high) if high - low >= _MANY_CELLS else None

    @property
    def group_type(self) -> str:
        """The narrowest type of the number of a group of `BESIDE` values."""
        groups = (self.high - self.low) // BESIDE + 1
        if groups > 1 << 32:
            return "BIGINT"
        return "USMALLINT" if groups <= 1 << 16 else "UINTEGER"


@frozen
class Entries:
    """A SELECT of the contributions of each row, or of each person in a key.

    Rows with a NULL in a `tested` key count nowhere. They stay in the SELECT, since their totals
    are never read: that saves a test for each row. `labels` lists the values of those keys that are
    text of a few public values. Rows are grouped by `keys`, and `read_keys` is the SQL of each key of
    the tally over them.

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
    read_keys: tuple[str, ...]
    count: str = ""
    """Column with the number of all rows of their person, if the store keeps it."""
    is_share: bool = False
    """Tells that `count` holds the person's share instead of the number of rows."""
    nobody: str = ""
    """A number that no owner has, if the store has one."""
    test: str = ""
    """Test of the keys that is still to be made, if there is one."""
    once: bool = False
    """Each person has one row in a key at most."""
    group_test: str = ""
    """Test that a row is in a listed group of a `GroupRowShare`; "" if every row is."""
    open: OpenKey | None = None
    """The last key, if its totals come in lists."""

    @property
    def listed_sql(self) -> str:
        """The SELECT without the rows whose keys are not wanted."""
        return _tested_sql(self.sql, self.test)


@frozen
class _Contribution:
    """SQL x of one row's contribution before it is named: `factor`·x + `squares`·x² − `offset`."""

    sql: str
    factor: int = 1
    offset: int = 0
    squares: int = 0
    size: int = 0

    @property
    def square(self) -> str:
        """The SQL of x², "" if it is not wanted."""
        return f"({self.sql} * {self.sql})" if self.squares else ""


@frozen
class _StoredCount:
    """Stored column with a person's number of rows, or with the person's share; "" for none."""

    column: str = ""
    is_share: bool = False


def entries_of(facts: TallyFacts, writer: Writer, last: OpenKey | None = None) -> Entries:
    """Write the contributions of the rows of a tally; totals by the key `last` come in lists."""
    tally = facts.tally
    # Names of keys are taken first, since tests and deferred keys refer to them.
    names = tuple(writer.fresh("k") for _ in tally.keys)
    test = ""
    tested: tuple[str, ...] = ()
    if tally.only is not None:
        test, tested = _only_sql(facts, names, writer)
    # Rows with other keys are left out when totals are read, if they are few.
    if test and needs_no_test(facts):
        test = ""
    join_test = _keys_test(facts, tally.matched, tally.joined, names, writer)
    # A test reads the keys themselves.
    codes = plain_keys(names, facts)
    if not test and not join_test:
        codes = coded_keys(names, facts, writer, plain=last is not None)
    stored = _StoredCount()
    # A stored number of rows is that of the whole table.
    if not join_test:
        stored = _stored_count(tally, writer)
    needed = codes.needed | _term_columns(tally)
    reader = replace(writer, raw=codes.raw, count=stored.column)
    frame = frame_of(tally.rows, needed, reader)
    scope = scope_of(frame, writer)
    keys = codes.cells(scope)
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
        keys=codes.names,
        values=_numbers(facts, contributions, columns),
        tested=tested,
        labels=_labels(codes),
        read_keys=codes.keys,
        count=COUNT if stored.column else "",
        is_share=stored.is_share,
        nobody=_nobody(tally, writer) if len(frame.owner) == 1 else "",
        test=test,
        group_test=_group_test(facts, names, writer),
        open=last,
    )


def _tested_sql(sql: str, test: str) -> str:
    """Write the rows that pass a test; "" is no test."""
    if not test:
        return sql
    return select_sql(["*"], nested(sql), f"WHERE {test}")


def _term_columns(tally: Tally) -> frozenset[str]:
    """List the columns that terms read."""
    needed: frozenset[str] = frozenset()
    for term in tally.terms:
        needed |= fields_of(term.expression)
    return needed


def _column_names(contributions: Sequence[_Contribution], writer: Writer) -> dict[str, str]:
    """Name each SQL text once: terms that add up the same column share it."""
    columns: dict[str, str] = {}
    for contribution in contributions:
        for sql in (contribution.sql, contribution.square):
            if sql not in ("", "*") and sql not in columns:
                columns[sql] = writer.fresh("v")
    return columns


def _numbers(
    facts: TallyFacts, contributions: Sequence[_Contribution], columns: Mapping[str, str]
) -> tuple[EntryNumber, ...]:
    """Return the numbers that are added up: each contribution by the name of its column."""
    numbers = []
    for term, each in zip(facts.terms, contributions, strict=True):
        column = columns.get(each.sql, each.sql)
        square = columns.get(each.square, "")
        number = EntryNumber(
            term, column, each.factor, each.offset, square, each.squares, each.size
        )
        numbers.append(number)
    return tuple(numbers)


def _nobody(tally: Tally, writer: Writer) -> str:
    """Return the number that no person of any table has; "" if there is none."""
    numbers = {writer.table(schema.name).nobody for schema in tables_of(tally.rows)}
    return numbers.pop() if len(numbers) == 1 else ""


def _stored_count(tally: Tally, writer: Writer) -> _StoredCount:
    """Find the stored number of each person's rows, or the person's share.

    It counts all rows of a table, so it is used only if the tally has all of these rows.
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
    """Write the test that the keys number `places` of a row are listed; "" if every row passes."""
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


def _labels(codes: KeyCodes) -> dict[str, list[str]]:
    """Return the values of those keys that are text of a short public list, by the key's name."""
    labels = {}
    for column in codes.columns:
        domain = column.domain
        # A stored column is compact already.
        if column.stored or not isinstance(domain, Texts) or domain.keys is None:
            continue
        # Few enough to be listed in the text as an enumeration.
        if len(domain.keys) <= MAX_KEYS:
            labels[column.name] = [str(key) for key in domain.keys if key is not None]
    return labels


def _contribution(facts: TermFacts, scope: SqlScope, tally: Tally) -> _Contribution:
    """Write the contribution of a row to one term.

    A condition is written as SQL that is not NULL where it holds, "*" if it always holds. With the
    factor −1 the SQL is NULL where the condition holds.
    """
    term = facts.term
    # A negative sign cannot be undone where the greatest contribution of a person is taken.
    allow_negative = isinstance(tally.share, Free) and not tally.people
    if not isinstance(facts.domain, Whole):
        return _condition(term.expression, scope, allow_negative)
    lowest = facts.domain.low * term.weight
    highest = facts.domain.high * term.weight
    needs_no_clip = term.low <= lowest and highest <= term.high
    # Under a share of rows each row is rounded by itself, and of a person's rows in a key the
    # greatest is taken: there x − m cannot be taken apart.
    if needs_no_clip and not isinstance(tally.share, RowShare | GroupRowShare) and not tally.people:
        apart = _taken_apart(term.expression, facts.domain, term.weight, scope)
        if apart is not None:
            return apart
    sql = expression_sql(term.expression, scope)
    if term.weight != 1:
        sql = f"({sql} * {term.weight})"
    if not needs_no_clip:
        sql = clip_sql(sql, term.low, term.high, sql)
    return _Contribution(sql, size=max(abs(facts.low), abs(facts.high)))


def _taken_apart(
    expression: Expression, domain: Whole, weight: int, scope: SqlScope
) -> _Contribution | None:
    """Take a polynomial of one expression apart; None if that would need more than 64 bits."""
    polynomial = Polynomial.of(expression)
    if polynomial.of_what is None:
        return None
    x = domain_of(polynomial.of_what, scope.domains)
    if not isinstance(x, Whole):
        return None
    # The coefficients of whole steps: x is n steps of its own domain, the term has steps of its.
    constant = weight * polynomial.constant / domain.step
    linear = weight * polynomial.linear * x.step / domain.step
    square = weight * polynomial.square * x.step**2 / domain.step
    size = max(abs(x.low), abs(x.high))
    parts = [abs(constant), abs(linear) * size]
    if square:
        parts += [abs(square) * size**2, Fraction(size**2)]
    is_whole = constant.denominator == linear.denominator == square.denominator == 1
    # Each part alone may be larger than the term, whose range was checked.
    if not is_whole or max(parts) > MAX_STEPS:
        return None
    sql = expression_sql(polynomial.of_what, scope)
    return _Contribution(sql, int(linear), -int(constant), int(square), size)


def _condition(expression: Expression, scope: SqlScope, allow_negative: bool) -> _Contribution:
    """Write the expression to count: not NULL where the condition holds (factor −1: NULL there)."""
    match expression:
        case Constant(value=True):
            return _Contribution("*")
        case Call(function=Function.IS_NULL, arguments=(x,)) if allow_negative and not isinstance(
            x, Constant
        ):
            return _Contribution(expression_sql(x, scope), factor=-1)
    tested = _tested_for_null(expression)
    if tested is not None:
        return _Contribution(expression_sql(tested, scope))
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
    return replace(rows, sql=sql, once=True)
