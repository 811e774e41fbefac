"""SELECT over a released table: only the aggregate inside is measured, the rest post-processed.

    sub-query or view of WITH                       read as
    plain rows, or one row for each person          a relation of private rows (`sql.relation`)
    aggregates over rows of many people or units    a released table: the SELECT around it reads its
                                                    noisy rows only (`sql.released_rows`)

Guarantee: a SELECT outside the aggregate reaches no private row. It is read over the columns that
the aggregate shows, and makes no relation.

Refuses: with `UnsupportedQuery` unions of released tables, and joins that `released_join` refuses.

Law: tests/query/test_released_tables.py::TestReleasedTables
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ...frozen import field, frozen, replace
from ..algebra.expression import Constant, fields_of
from ..algebra.refusal import refusal
from ..algebra.tree import Question, expressions_of_finish, names_of
from ..bounds.check import require_sound
from ..bounds.keys import PublicValues
from ..meaning.post_processing import leaves_no_key
from .group import group_of
from .public_list import with_lists
from .question import read_question
from .relation import Catalogue, read_from, read_where, with_view
from .released_join import join_released
from .released_rows import ReleasedRows, alias_of, has_summary, read_select
from .syntax import only


@frozen
class _Reader:
    """Tables, reader of public values, and views of WITH that a SELECT may name.

    `views` are the views that are released tables, by case-folded names; `tables` has the others.
    """

    tables: Catalogue
    public_values: PublicValues | None
    views: Mapping[str, exp.Expr] = field(default_factory=dict)


def read_nested(
    statement: exp.Expr, tables: Catalogue, public_values: PublicValues | None
) -> Question:
    """Read a statement with a SELECT inside another, perhaps one over a released table."""
    statement = with_lists(statement, tables.schemas, public_values)
    return _read(statement, _Reader(tables, public_values))


def _read(node: exp.Expr, reader: _Reader) -> Question:
    """Read a statement as an aggregate of private rows, or as a SELECT over such an aggregate."""
    select = node
    inside = reader
    while isinstance(select, exp.Subquery):
        inside = _with_views(select, inside)
        select = select.this
    inside = _with_views(select, inside)
    source = _source(select, inside)
    if source is not None and isinstance(select, exp.Select):
        # Its joins were read with FROM.
        select = select.copy()
        select.set("joins", None)
        question = read_select(select, source).finished()
        # Checked again: what is outside was read over columns alone, but may not fit their types.
        return require_sound(_without_unread(question), reader.public_values)
    if len(inside.views) == len(reader.views):
        # All is of rows: the statement is read as it stands, and refusals quote it.
        return read_question(node, reader.tables, reader.public_values)
    # The views are known by now, and those that are released have no rows to be read.
    select = select.copy()
    select.set("with_", None)
    return read_question(select, inside.tables, reader.public_values)


def _without_unread(question: Question) -> Question:
    """Drop all statistics if post-processing reads none of them and all keys are public.

    What is shown then follows from the public keys, so nothing has to be measured.
    """
    read_names: set[str] = set()
    for expression in expressions_of_finish(question.finish):
        read_names |= fields_of(expression)
    # Of keys that no condition leaves there is no table at all, which the plan refuses.
    listed = all(key.values for key in question.keys)
    if not question.keys or not listed or read_names & set(names_of(question.statistics)):
        return question
    return replace(question, statistics=())


def _with_views(node: exp.Expr, reader: _Reader) -> _Reader:
    """Read WITH; views that are released tables are read where they are used."""
    clause = node.args.get("with_")
    if clause is None or clause.args.get("recursive"):
        return reader
    known = reader
    views = dict(reader.views)
    for item in clause.expressions:
        # One by one: later views, of either kind, see those before them.
        if _is_released(item.this, replace(known, views=views)):
            only(item, "this", "alias")
            only(item.args["alias"], "this")
            views[item.alias.casefold()] = item.this
        else:
            known = replace(known, tables=with_view(item, known.tables))
    return replace(known, views=views)


def _is_released(node: exp.Expr, reader: _Reader) -> bool:
    """Return whether a sub-query sums up rows of many units, so that only its release can be read."""
    node = node.unnest() if isinstance(node, exp.Subquery) else node
    if not isinstance(node, exp.Select):
        return False
    reader = _with_views(node, reader)
    if _source_node(node, reader) is not None:
        return True
    if node.args.get("from_") is None or _reads_public(node, reader):
        return False
    if node.args.get("group") is None:
        return any(map(has_summary, node.expressions))
    scope = read_where(node, read_from(node, reader.tables), reader.tables)
    # A sub-query that groups by the person has a row for each: it is a relation, and is not released.
    return not group_of(node, scope).person


def _reads_public(node: exp.Select, reader: _Reader) -> bool:
    """Return whether FROM is a single public table: a sub-query over it releases nothing."""
    table = node.args["from_"].this
    if not isinstance(table, exp.Table) or node.args.get("joins"):
        return False
    for name, schema in reader.tables.schemas.items():
        if name.casefold() == table.name.casefold():
            return schema.public
    return False


def _source_node(node: exp.Select, reader: _Reader) -> exp.Expr | None:
    """Return the released table in FROM; None if FROM is of rows."""
    clause = node.args.get("from_")
    if clause is None:
        return None
    item = clause.this
    if isinstance(item, exp.Table) and item.args.get("db") is None:
        return reader.views.get(item.name.casefold())
    if isinstance(item, exp.Subquery) and _is_released(item, reader):
        return item
    return None


def _source(node: exp.Expr, reader: _Reader) -> ReleasedRows | None:
    """Read the released tables in FROM; None if the SELECT is one of private rows."""
    if not isinstance(node, exp.Select):
        return None
    source = _source_node(node, reader)
    rows = None if source is None else _rows_of(source, node.args["from_"].this, reader)
    for join in node.args.get("joins") or ():
        # Either side may be the released one, so each is looked at as if it stood alone in FROM.
        joined = _source_node(exp.Select(from_=exp.From(this=join.this.copy())), reader)
        if (rows is None) != (joined is None):
            raise refusal(
                "JOIN of a released table",
                "its rows are noisy results, which are joined with no rows of people",
                "ask for each table by itself, and join the answers",
            )
        if rows is not None and joined is not None:
            right = _rows_of(joined, join.this, reader)
            rows = join_released(rows, right, join)
    return rows


def _rows_of(source: exp.Expr, item: exp.Expr, reader: _Reader) -> ReleasedRows:
    """Read one released table, which is an item of FROM."""
    inner = source.unnest() if isinstance(source, exp.Subquery) else source
    question = _read(inner, reader)
    # The finish of the aggregate is where the SELECT outside begins: its rows are those it shows.
    finish = question.finish
    kept = () if finish.qualify is None else (finish.qualify,)
    having = finish.having
    # WHERE 1 = 0 leaves no key: what is outside sums up no row, and not the public keys.
    if not kept and leaves_no_key(question):
        having = Constant(False)
    return ReleasedRows(
        question,
        finish.columns,
        having,
        kept,
        finish.order,
        finish.limit,
        finish.offset,
        ((alias_of(item), finish.columns),),
    )
