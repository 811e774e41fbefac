"""Chosen keys: private rows RIGHT JOIN a public list, whose rows are the groups of the answer.

A group of the list without any private row is shown as well. The list is written out (VALUES,
UNNEST, SELECT of constants) or is in a public table. An inner join with a list chooses
keys too, unless the list is a public table by its own name.

Guarantee: the join multiplies no rows. It only says which combinations of keys are asked for. So
each row is in at most one cell, as under every GROUP BY, and the list tells nothing about the
data.

Refuses: with `UnsupportedQuery` a list that may repeat a key, holds NULL, or is joined otherwise.

Law: tests/query/test_key_forms.py::test_what_is_refused_says_what_would_work
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from ...data.schema import Schema
from ..algebra.chain import leaves
from ..algebra.expression import Constant, Expression, Field, Function, fields_of
from ..algebra.joins import public_columns
from ..algebra.refusal import refusal
from ..algebra.tree import (
    JoinPublic,
    Nest,
    Question,
    Relation,
    Select,
    Where,
    names_of,
    own_fields,
    unused_name,
)
from ..bounds.keys import PublicValues
from ..bounds.nested import MAX_LEAVES, in_order
from ..bounds.relation_facts import columns_of
from ..domains.domain import Values, simplest
from ..domains.type_of import type_of
from ..meaning.evaluate import Meaning, meaning_of
from .constant import as_type
from .expression import Names, read
from .people.join import SharedTable, equalities, join_kind, natural
from .scope import (
    ChosenKeys,
    FromItem,
    KeyItem,
    Person,
    PublicItem,
    Scope,
    lookup,
    person_refusal,
    row_names,
)
from .syntax import clause_of, identifier, only

_EXAMPLE = (
    "write FROM visits v RIGHT JOIN pairs k ON v.shop = k.shop AND v.region = k.region "
    "GROUP BY k.shop, k.region"
)
_PAIRS = "write ('a', 'N'), ('b', 'S')"


def listed_keys(
    node: exp.Expr,
    alias: str | None,
    columns: Sequence[str],
    schemas: Mapping[str, Schema],
    views: Container[str],
) -> KeyItem | None:
    """Read a list of constants, or the distinct rows of a public table, as keys.

    Return None if the node is neither.
    """
    written = _written_list(node, alias, columns)
    if written is not None:
        return written
    query = _without_brackets(node)
    if not isinstance(query, exp.Select) or columns or query.args.get("joins"):
        return None
    clause = query.args.get("from_")
    if clause is None or not isinstance(clause.this, exp.Table):
        return None
    # A view of WITH hides a public table of the same name.
    wanted = clause.this.name.casefold()
    if wanted in views:
        return None
    for name, schema in schemas.items():
        if schema.public and name.casefold() == wanted:
            return _listed_table(query, alias, schema)
    return None


def _without_brackets(node: exp.Expr) -> exp.Expr:
    return node.unnest() if isinstance(node, exp.Subquery) else node


def _written_list(node: exp.Expr, alias: str | None, columns: Sequence[str]) -> KeyItem | None:
    """Read a list of constants as keys; None if the node is no such list.

    It is VALUES, UNNEST of a list, or SELECTs without FROM.
    """
    rows = _rows(_without_brackets(node))
    if rows is None:
        return None
    width = len(rows[0])
    names = list(columns) or _select_names(node)
    # UNNEST([1, 2]) AS k names its one column by its alias.
    if not names and alias and width == 1:
        names = [alias]
    if len(names) != width or any(len(row) != width for row in rows):
        raise refusal(
            "VALUES",
            "its rows and its columns differ in number",
            "name them, as AS k(shop, region)",
        )
    constants = [tuple(map(_constant, row)) for row in rows]
    return KeyItem(alias or "", tuple(names), tuple(constants))


def _listed_table(node: exp.Expr, alias: str | None, table: Schema) -> KeyItem:
    """Read SELECT DISTINCT a, b FROM a public table as keys.

    Refuses: SELECT without DISTINCT, whose rows may repeat, and any clause beside it.
    """
    only(node, "expressions", "distinct", "from_")
    columns = [item.this for item in node.expressions if isinstance(item, exp.Column)]
    plain = all(isinstance(column, exp.Identifier) for column in columns)
    # Without DISTINCT a key may be listed twice, and its rows would count twice.
    if node.args.get("distinct") is None or not plain or len(columns) < len(node.expressions):
        raise refusal(
            f"FROM {table.name}",
            "it is public, so its answers need no noise",
            "as a list of keys join SELECT DISTINCT of its columns, and nothing else, "
            "by RIGHT JOIN",
        )
    only(node.args["distinct"])
    names = tuple(table.column(identifier(column))[0] for column in columns)
    return KeyItem(alias or "", names, None, table)


def _rows(node: exp.Expr) -> list[list[exp.Expr]] | None:
    """Return the rows that a list writes out; None if the node is no such list."""
    match node:
        case exp.Values():
            only(node, "expressions", "alias")
            return [_cells(row) for row in node.expressions]
        case exp.Unnest():
            only(node, "expressions", "alias")
            array = node.expressions[0] if len(node.expressions) == 1 else None
            cells = array.expressions if isinstance(array, exp.Array) else []
            return [[cell] for cell in cells] or None
        # The parser turns a VALUES of WITH into SELECT * FROM VALUES.
        case exp.Select(args={"from_": exp.From(this=exp.Values() as inner)}) if node.is_star:
            only(node, "expressions", "from_")
            return _rows(inner)
        case exp.Select() if node.args.get("from_") is None:
            only(node, "expressions")
            return [[item.unalias() for item in node.expressions]]
        case exp.Union():
            left = _rows(node.this.unnest())
            right = _rows(node.expression.unnest())
            if left is not None and right is not None:
                return left + right
    return None


def _cells(row: exp.Expr) -> list[exp.Expr]:
    # VALUES (1), (2) is parsed as numbers in brackets, not as tuples.
    return list(row.expressions) if isinstance(row, exp.Tuple) else [row.unnest()]


def _select_names(node: exp.Expr) -> list[str]:
    """Return the names that the first SELECT of a list gives, if it gives all."""
    node = node.unnest()
    while isinstance(node, exp.Union):
        node = node.this.unnest()
    names = [item.alias for item in node.expressions if isinstance(item, exp.Alias)]
    if not isinstance(node, exp.Select) or len(names) != len(node.expressions):
        return []
    return names


def _no_column(node: exp.Column) -> Expression:
    raise refusal(clause_of(node), "a list of keys is of constants", _PAIRS)


_NO_NAMES = Names(_no_column, {}, {})


def _constant(node: exp.Expr) -> Constant:
    value = read(node, _NO_NAMES)
    if not isinstance(value, Constant) or value.value is None:
        raise refusal(clause_of(node), "a list of keys is of constants, none NULL", _PAIRS)
    return value


def read_key_join(left: SharedTable, right: SharedTable, join: exp.Join) -> Scope | None:
    """Read a join of a list of keys; None if it is another join."""
    for side in (left, right):
        if isinstance(side, Scope) and side.chosen is not None:
            raise refusal(
                "JOIN", "a list of keys is joined last, in the outermost SELECT", _EXAMPLE
            )
    kind = join_kind(join)
    # NATURAL is read as another join, which stands in no SELECT.
    select = join.parent_select
    if join.args.get("method"):
        join = natural(left, right, join)
    match left, right, kind:
        case Scope(), PublicItem() | KeyItem(), "RIGHT":
            return _join_keys(left, right, join, select, outer=True)
        case PublicItem() | KeyItem(), Scope(), "LEFT":
            return _join_keys(right, left, join, select, outer=True)
        case Scope(), KeyItem(), "":
            return _join_keys(left, right, join, select, outer=False)
        case KeyItem(), Scope(), "":
            return _join_keys(right, left, join, select, outer=False)
    if isinstance(left, KeyItem) or isinstance(right, KeyItem):
        clause = f"{kind} JOIN".strip()
        raise refusal(clause, "a list of keys stands on the side that is kept whole", _EXAMPLE)
    return None


def _join_keys(
    scope: Scope,
    item: PublicItem | KeyItem,
    join: exp.Join,
    select: exp.Select | None,
    *,
    outer: bool,
) -> Scope:
    """Let a public list choose the keys; `select` tells which of its columns are named.

    `outer`: the join also shows keys that nobody has, as a RIGHT JOIN does.

    Refuses: conditions other than equalities with the list's columns, and tables whose rows may
        be equal in them.
    """
    names = item.names if isinstance(item, KeyItem) else tuple(item.table.columns)
    list_scope = Scope(scope.rows, (FromItem(item.alias, own_fields(names)),))
    matched, conditions, merged = equalities(scope, list_scope, join)
    if conditions or not matched:
        raise refusal(
            "RIGHT JOIN", "a list of keys is matched by equalities with its columns", _EXAMPLE
        )
    pairs = {theirs.name: own for own, theirs in matched if isinstance(theirs, Field)}
    if len(pairs) < len(matched):
        raise refusal("RIGHT JOIN", "a column of the list of keys is matched twice", _EXAMPLE)
    # A list of people's ids as keys would show each person.
    for name, own in pairs.items():
        if isinstance(own, Person):
            raise person_refusal(name)
    _check_distinct(item, names, list(pairs))
    columns = [name for name in names if name in pairs]
    rows, fields = _with_fields(scope, [pairs[name] for name in columns])  # type: ignore[misc]
    further = _further_columns(scope, item, select, columns)
    if further and isinstance(item, PublicItem):
        rows = _join_table(rows, item.table, fields, columns)
        added = [pair for pair in rows.columns if pair[1] in further]
        fields = (*fields, *names_of(added))
        columns += [column for _, column in added]
    chosen = ChosenKeys(item.alias, tuple(columns), fields, item, outer, len(further))
    keys = tuple(zip(columns, map(Field, fields), strict=True))
    sources = (*scope.sources, FromItem(item.alias, keys))
    return Scope(rows, sources, scope.merged | merged, chosen)


def _join_table(
    rows: Relation, table: Schema, fields: Sequence[str], matched: Sequence[str]
) -> JoinPublic:
    """Join a public table whose key is matched: each row meets at most one of its rows."""
    on = tuple(zip(map(Field, fields), matched, strict=True))
    return JoinPublic(rows, table, on, public_columns(rows, table))


def _further_columns(
    scope: Scope, item: PublicItem | KeyItem, select: exp.Select | None, matched: Sequence[str]
) -> list[str]:
    """List the columns of a public list beside its key that the SELECT of a join names.

    The key decides their values, so that they are further keys of the same groups.
    """
    if not isinstance(item, PublicItem) or select is None:
        return []
    named = set()
    for column in select.find_all(exp.Column):
        of_list = column.table.casefold() == item.alias.casefold()
        # A bare name is the list's where no private column has it.
        if of_list or (not column.table and not lookup(scope, column.name, None)):
            named.add(column.name.casefold())
    return [name for name in item.table.columns if name.casefold() in named and name not in matched]


def _check_distinct(
    item: PublicItem | KeyItem, names: Sequence[str], matched: Sequence[str]
) -> None:
    """Refuse a list that could hold the same keys twice: SQL would count their rows twice."""
    if isinstance(item, PublicItem):
        if item.table.max_matches(matched) != 1:
            columns = ", ".join(matched)
            raise refusal(
                f"RIGHT JOIN {item.table.name}",
                "two of its rows may be the same keys, as far as is declared",
                f"declare key=({columns}), or join SELECT DISTINCT {columns} of it",
            )
    elif len(matched) < len(names):
        missing = next(name for name in names if name not in matched)
        raise refusal("RIGHT JOIN", f"{missing} of the list of keys is not matched", _EXAMPLE)


def _with_fields(scope: Scope, matched: Sequence[Expression]) -> tuple[Relation, tuple[str, ...]]:
    """Return the rows with a column for every matched expression, and these columns' names."""
    columns: dict[str, Expression] = dict(own_fields(columns_of(scope.rows)))
    own = len(columns)
    names: list[str] = []
    for expression in matched:
        if isinstance(expression, Field):
            names.append(expression.name)
        else:
            name = unused_name("key", "key", tuple(columns))
            columns[name] = expression
            names.append(name)
    if len(set(names)) < len(names):
        raise refusal("RIGHT JOIN", "one column is matched with two of the list of keys", _EXAMPLE)
    if len(columns) == own:
        return scope.rows, tuple(names)
    return Select(scope.rows, tuple(columns.items())), tuple(names)


def with_chosen(
    question: Question, chosen: ChosenKeys, public_values: PublicValues | None
) -> Question:
    """Return the question with the chosen keys as its only groups.

    If the list is a public table, the keys may be some of its columns: each combination of values
    in these columns is one group, which stands for all rows of the table that have it.

    Refuses: GROUP BY other keys than those of the list, sets of keys, and running totals.
    """
    expressions = [key.expression for key in question.keys]
    shown = []
    for name, field in zip(chosen.names, chosen.fields, strict=True):
        if Field(field) in expressions:
            shown.append((name, field))
    whole = len(shown) == len(chosen.names)
    # The rows of a list that is written out are matched by all its columns, or not at all.
    grouped = whole or (shown and isinstance(chosen.item, PublicItem))
    # Sets and running totals sum over keys, and a list need not have all combinations.
    if not grouped or question.sets is not None or question.running:
        prefix = f"{chosen.alias}." if chosen.alias else ""
        named = ", ".join(prefix + name for name in chosen.names)
        raise refusal(
            "RIGHT JOIN",
            "a list of keys is what an answer is grouped by",
            f"write GROUP BY {named}",
        )
    if isinstance(chosen.item, PublicItem) and not whole and not chosen.further:
        # Who matches a key that is not shown must still match it.
        joined = _join_table(question.rows, chosen.item.table, chosen.fields, chosen.names)
        question = replace(question, rows=joined)
    rows = _list_cells(question, chosen, names_of(shown), public_values)
    positions = [expressions.index(Field(field)) for _, field in shown]
    keys = list(question.keys)
    # Each key keeps the values that occur in its column of the list, in their first order.
    for position, column in zip(positions, zip(*rows, strict=True), strict=True):
        values = tuple(dict.fromkeys(column))
        keys[position] = replace(keys[position], values=values)
    nested = Nest(tuple(positions), in_order(rows))
    return replace(question, keys=tuple(keys), nested=nested)


def _list_cells(
    question: Question,
    chosen: ChosenKeys,
    shown: Sequence[str],
    public_values: PublicValues | None,
) -> list[Values]:
    """List the chosen combinations of the shown columns.

    Refuses: an empty list, one beyond `MAX_LEAVES`, and one that repeats a combination.
    """
    # WHERE leaves out keys of the list, as in SQL, if it reads the list's columns alone.
    tests, read = _conditions(question, chosen, public_values)
    names = (*shown, *(name for name in read if name not in shown))
    if isinstance(chosen.item, KeyItem) and chosen.item.rows is not None:
        rows = _typed_rows(question, chosen, chosen.item)
    else:
        rows = _stored_rows(chosen, names, public_values)
    fields = dict(zip(chosen.names, chosen.fields, strict=True))
    own_fields_of_row = [fields[name] for name in names]
    kept = []
    for row in rows:
        values = dict(zip(own_fields_of_row, map(simplest, row), strict=True))
        if all(test(values) is True for test in tests):
            kept.append(row[: len(shown)])
    # Rows of the table that differ in hidden columns alone are one key.
    rows = list(dict.fromkeys(kept)) if len(names) > len(shown) else kept
    # Equal numbers must be equal keys: a whole Fraction is stored as an int.
    cells = [tuple(map(simplest, row)) for row in rows]
    if not cells or len(cells) > MAX_LEAVES or len(set(cells)) < len(cells):
        raise refusal(
            "RIGHT JOIN",
            f"a list has 1 to {MAX_LEAVES:,} keys, each once",
            "list fewer, each once",
        )
    return cells


def _conditions(
    question: Question, chosen: ChosenKeys, public_values: PublicValues | None
) -> tuple[list[Meaning], list[str]]:
    """Return the conditions of WHERE on columns of the list alone, and the columns that they read."""
    names = dict(zip(chosen.fields, chosen.names, strict=True))
    columns = columns_of(question.rows)
    tests = []
    read: dict[str, None] = {}
    rows = question.rows
    while isinstance(rows, Where):
        for condition in leaves(Function.AND, rows.condition):
            fields = fields_of(condition)
            own = [names[field] for field in names if field in fields]
            # Stores leave out rows with NULL, for which the condition may hold.
            if fields and len(own) == len(fields) and not _nulls(chosen, own, public_values):
                tests.append(meaning_of(condition, columns))
                read |= dict.fromkeys(own)
        rows = rows.rows
    return tests, list(read)


def _nulls(chosen: ChosenKeys, names: Sequence[str], public_values: PublicValues | None) -> bool:
    """Return whether a column is NULL in a row of a public table whose matched columns are not."""
    table = chosen.item.table
    matched = chosen.names[: len(chosen.names) - chosen.further]
    further = [name for name in names if name not in matched]
    if not further or table is None or public_values is None:
        return False
    complete = list(public_values(table.name, *matched, *further))
    return len(complete) < len(list(public_values(table.name, *matched)))


def _stored_rows(
    chosen: ChosenKeys, shown: Sequence[str], public_values: PublicValues | None
) -> list[Values]:
    """Read the shown columns of a list that is in a public table, each combination once."""
    table = chosen.item.table
    if public_values is None or table is None:
        raise refusal(
            "RIGHT JOIN", "which keys the public table holds is not known here", "ask a curator"
        )
    matched = chosen.names[: len(chosen.names) - chosen.further]
    # Stores leave out rows with NULL, and their keys would be missing from the answer.
    if _nulls(chosen, shown, public_values):
        further = [name for name in shown if name not in matched]
        raise refusal(
            f"RIGHT JOIN {table.name}",
            f"{', '.join(further)} is NULL for some of its keys",
            f"group by {', '.join(matched)} alone, or write JOIN instead of RIGHT JOIN",
        )
    rows = []
    for row in public_values(table.name, *shown):
        # Of one column a store returns bare values.
        rows.append(row if isinstance(row, tuple) else (row,))
    return rows


def _typed_rows(question: Question, chosen: ChosenKeys, item: KeyItem) -> list[Values]:
    """Read the constants of a list as values of the matched fields' types: text becomes a date."""
    types = row_names(Scope(question.rows, ())).types
    order = list(map(item.names.index, chosen.names))
    rows = []
    for constants in item.rows or ():
        row = []
        for index, field, name in zip(order, chosen.fields, chosen.names, strict=True):
            constant = as_type(constants[index], types[field])
            if not isinstance(constant, Constant) or type_of(constant, {}) != types[field]:
                raise refusal(
                    "RIGHT JOIN",
                    f"{name} of the list of keys is no {types[field]}",
                    "list values of its type",
                )
            row.append(constant.value)
        rows.append(tuple(row))
    return rows
