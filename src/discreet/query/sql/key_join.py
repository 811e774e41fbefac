"""Chosen keys: RIGHT JOIN of a public list makes just its rows the groups of an answer, also those that nobody has.

The list is written out (VALUES, UNNEST, SELECT of constants) or stands in a public table. Nothing is joined: a row's
own columns are its keys, and the list says which combinations of them are asked. So each row is in one cell at most, as
under every GROUP BY, and the list, being public, tells nothing.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from ...data.schema import Schema
from ..algebra.expression import Constant, Expression, Field, fields_of
from ..algebra.names import fresh
from ..algebra.refusal import refusal
from ..algebra.statistic import expressions_of
from ..algebra.tree import Count, Named, Nest, Question, Select, Statistic, Sum
from ..bounds.keys import PublicValues
from ..bounds.nested import MOST_LEAVES, in_order
from ..bounds.relation_facts import columns_of
from ..domains.domain import Scalar
from ..domains.type_of import type_of
from ..meaning.evaluate import evaluate
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
    ShownColumns,
    is_person,
    person_refusal,
    row_names,
)  # fmt: skip
from .syntax import clause_of, identifier, only

_WAY = "write FROM visits v RIGHT JOIN pairs k ON v.shop = k.shop AND v.region = k.region GROUP BY k.shop, k.region"


def listed_keys(
    node: exp.Expr,
    alias: str | None,
    columns: Sequence[str],
    schemas: Mapping[str, Schema],
    views: Container[str],
) -> KeyItem | None:
    """Read a list of constants, or the distinct rows of a public table, as keys; None if it is neither."""
    found = _key_item(node, alias, columns)
    inner = node.unnest() if isinstance(node, exp.Subquery) else node
    if found is not None or not isinstance(inner, exp.Select) or columns:
        return found
    source = inner.args["from_"].this if inner.args.get("from_") is not None else None
    if (
        not isinstance(source, exp.Table)
        or inner.args.get("joins")
        or source.name.casefold() in views
    ):
        return None
    public = [
        one
        for name, one in schemas.items()
        if one.public and name.casefold() == source.name.casefold()
    ]
    return _listed_table(inner, alias, public[0]) if public else None


def _key_item(node: exp.Expr, alias: str | None, columns: Sequence[str]) -> KeyItem | None:
    """Read a list of constants as keys: VALUES, UNNEST of a list, or SELECTs without FROM; None if it is none."""
    rows = _rows(node.unnest() if isinstance(node, exp.Subquery) else node)
    if rows is None:
        return None
    given = list(columns) or _names(node) or ([alias] if alias and len(rows[0]) == 1 else [])
    if len(given) != len(rows[0]) or any(len(row) != len(given) for row in rows):
        raise refusal(
            "VALUES",
            "its rows and its columns differ in number",
            "name them, as AS k(shop, region)",
        )
    names = Names(_no_column, {}, {})
    listed = tuple(tuple(_constant(part, names) for part in row) for row in rows)
    return KeyItem(alias or "", tuple(given), listed)


def _listed_table(node: exp.Expr, alias: str | None, table: Schema) -> KeyItem:
    """Read SELECT DISTINCT a, b FROM a public table as keys.

    Refuses SELECT without DISTINCT, whose rows may repeat, and any clause beside it.
    """
    only(node, "expressions", "distinct", "from_")
    plain = [
        item
        for item in node.expressions
        if isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier)
    ]
    if node.args.get("distinct") is None or len(plain) < len(node.expressions):
        raise refusal(
            f"FROM {table.name}", "it is public, so its answers need no noise",
            "as a list of keys join SELECT DISTINCT of its columns, and nothing else, by RIGHT JOIN",
        )  # fmt: skip
    only(node.args["distinct"])
    return KeyItem(
        alias or "", tuple(table.column(identifier(item.this))[0] for item in plain), None, table
    )


def _rows(node: exp.Expr) -> list[list[exp.Expr]] | None:
    match node:
        case exp.Values():
            only(node, "expressions", "alias")
            return [
                list(p.expressions) if isinstance(p, exp.Tuple) else [p.unnest()]
                for p in node.expressions
            ]
        case exp.Unnest():
            only(node, "expressions", "alias")
            lists = [part.expressions for part in node.expressions if isinstance(part, exp.Array)]
            return (
                [[part] for part in lists[0]]
                if len(lists) == len(node.expressions) == 1 and lists[0]
                else None
            )
        case exp.Select(args={"from_": exp.From(this=exp.Values() as inner)}) if node.is_star:
            only(node, "expressions", "from_")  # how a VALUES of WITH is parsed
            return _rows(inner)
        case exp.Select() if node.args.get("from_") is None:
            only(node, "expressions")
            return [[item.unalias() for item in node.expressions]]
        case exp.Union():
            left, right = (_rows(part.unnest()) for part in (node.this, node.expression))
            return None if left is None or right is None else left + right
    return None


def _names(node: exp.Expr) -> list[str]:
    """Return the names that the first SELECT of a list gives, if it gives all."""
    node = node.unnest()
    while isinstance(node, exp.Union):
        node = node.this.unnest()
    named = [item.alias for item in node.expressions if isinstance(item, exp.Alias)]
    return named if isinstance(node, exp.Select) and len(named) == len(node.expressions) else []


def _no_column(node: exp.Column) -> Expression:
    raise refusal(clause_of(node), "a list of keys is of constants", "write ('a', 'N'), ('b', 'S')")


def _constant(node: exp.Expr, names: Names) -> Constant:
    found = read(node, names)
    if not isinstance(found, Constant) or found.value is None:
        raise refusal(
            clause_of(node),
            "a list of keys is of constants, none NULL",
            "write ('a', 'N'), ('b', 'S')",
        )
    return found


def read_key_join(left: SharedTable, right: SharedTable, join: exp.Join) -> Scope | None:
    """Read a join of a list of keys; None if it is another join."""
    if any(isinstance(side, Scope) and side.chosen is not None for side in (left, right)):
        raise refusal("JOIN", "a list of keys is joined last, in the outermost SELECT", _WAY)
    kind = join_kind(join)
    named = natural(left, right, join) if join.args.get("method") else join
    match left, right, kind:
        case Scope(), PublicItem() | KeyItem(), "RIGHT":
            return join_keys(left, right, named, outer=True)
        case PublicItem() | KeyItem(), Scope(), "LEFT":
            return join_keys(right, left, named, outer=True)
        case Scope(), KeyItem(), "":
            return join_keys(left, right, named, outer=False)
        case KeyItem(), Scope(), "":
            return join_keys(right, left, named, outer=False)
    if isinstance(left, KeyItem) or isinstance(right, KeyItem):
        raise refusal(
            f"{kind} JOIN".strip(), "a list of keys stands on the side that is kept whole", _WAY
        )
    return None


def join_keys(scope: Scope, item: PublicItem | KeyItem, join: exp.Join, *, outer: bool) -> Scope:
    """Let a public list choose the keys; `outer` says that the join shows those that nobody has, as a RIGHT JOIN does.

    Refuses conditions but equalities with the list's columns, and rows of a table that are not told apart by them.
    """
    names = item.names if isinstance(item, KeyItem) else tuple(item.table.columns)
    shown: ShownColumns = tuple((name, Field(name)) for name in names)
    matched, rest, merged = equalities(
        scope, Scope(scope.rows, (FromItem(item.alias, shown),)), join
    )
    if rest or not matched:
        raise refusal(
            "RIGHT JOIN", "a list of keys is matched by equalities with its columns", _WAY
        )
    pairs = {yours.name: mine for mine, yours in matched if isinstance(yours, Field)}
    if len(pairs) < len(matched):
        raise refusal("RIGHT JOIN", "a column of the list of keys is matched twice", _WAY)
    for name, mine in pairs.items():
        if isinstance(mine, Person):
            raise person_refusal(name)
    _told_apart(item, names, list(pairs))
    columns = [name for name in names if name in pairs]
    rows, fields = _with_fields(scope, [pairs[name] for name in columns])  # type: ignore[misc]
    chosen = ChosenKeys(item.alias, tuple(columns), fields, item, outer)
    own: ShownColumns = tuple(
        (name, Field(field)) for name, field in zip(columns, fields, strict=True)
    )
    return Scope(rows, (*scope.sources, FromItem(item.alias, own)), scope.merged | merged, chosen)


def _told_apart(item: PublicItem | KeyItem, names: Sequence[str], matched: Sequence[str]) -> None:
    """Refuse a list that could hold the same keys twice: SQL would count their rows twice."""
    if isinstance(item, PublicItem):
        if item.table.most_matches(matched) != 1:
            raise refusal(
                f"RIGHT JOIN {item.table.name}", "two of its rows may be the same keys, as far as is declared",
                f"declare key=({', '.join(matched)}), or join SELECT DISTINCT {', '.join(matched)} of it",
            )  # fmt: skip
    elif len(matched) < len(names):
        missing = next(name for name in names if name not in matched)
        raise refusal("RIGHT JOIN", f"{missing} of the list of keys is not matched", _WAY)


def _with_fields(scope: Scope, matched: Sequence[Expression]) -> tuple[Select, tuple[str, ...]]:
    """Return the rows with a column for every expression that is matched, and the names of these columns."""
    rows = scope.rows
    taken = list(columns_of(rows))
    added: dict[str, Expression] = {}
    names: list[str] = []
    for expression in matched:
        name = (
            expression.name
            if isinstance(expression, Field)
            else fresh("key", "key", (*taken, *added))
        )
        if not isinstance(expression, Field):
            added[name] = expression
        names.append(name)
    if len(set(names)) < len(names):
        raise refusal("RIGHT JOIN", "one column is matched with two of the list of keys", _WAY)
    columns: Named = (*((name, Field(name)) for name in taken), *added.items())
    return Select(rows, columns) if added else rows, tuple(names)  # type: ignore[return-value]


def with_chosen(
    question: Question, chosen: ChosenKeys, public_values: PublicValues | None
) -> Question:
    """Return the question for the chosen keys alone."""
    named = ", ".join(f"{chosen.alias}.{name}" if chosen.alias else name for name in chosen.names)
    places = [
        next((i for i, k in enumerate(question.keys) if k.expression == Field(f)), None)
        for f in chosen.fields
    ]
    if None in places or question.sets is not None or question.running:
        raise refusal(
            "RIGHT JOIN",
            "a list of keys is what an answer is grouped by",
            f"write GROUP BY {named}",
        )
    rows = _list_cells(question, chosen, public_values)
    columns: dict[int, dict[Scalar, None]] = {
        place: dict.fromkeys(row[at] for row in rows)
        for at, place in enumerate(p for p in places if p is not None)
    }
    keys = tuple(
        replace(key, values=tuple(columns[i])) if i in columns else key
        for i, key in enumerate(question.keys)
    )
    return replace(question, keys=keys, nested=Nest(tuple(columns), in_order(rows)))


def _list_cells(
    question: Question, chosen: ChosenKeys, public_values: PublicValues | None
) -> list[tuple[Scalar, ...]]:
    if isinstance(chosen.item, KeyItem) and chosen.item.rows is not None:
        rows = _of_type(question, chosen, chosen.item)
    else:
        table = chosen.item.table
        if public_values is None or table is None:
            raise refusal(
                "RIGHT JOIN", "which keys the public table holds is not known here", "ask a curator"
            )
        found = public_values(table.name, *chosen.names)
        rows = [row if isinstance(row, tuple) else (row,) for row in found]
    plain = [
        tuple(int(v) if isinstance(v, Fraction) and v.denominator == 1 else v for v in row)
        for row in rows
    ]
    if not plain or len(plain) > MOST_LEAVES or len(set(plain)) < len(plain):
        raise refusal(
            "RIGHT JOIN",
            f"a list has 1 to {MOST_LEAVES:,} keys, each once",
            "list fewer, each once",
        )
    return plain


def _of_type(question: Question, chosen: ChosenKeys, item: KeyItem) -> list[tuple[Scalar, ...]]:
    """Read the constants of a list as what they are matched with: text as a date, where one is meant."""
    types = row_names(Scope(question.rows, ())).types
    order = [item.names.index(name) for name in chosen.names]
    rows = []
    for row in item.rows or ():
        made = [
            as_type(row[at], types[field]) for at, field in zip(order, chosen.fields, strict=True)
        ]
        for one, field, name in zip(made, chosen.fields, chosen.names, strict=True):
            if type_of(one, {}) != types[field]:
                raise refusal(
                    "RIGHT JOIN",
                    f"{name} of the list of keys is no {types[field]}",
                    "list values of its type",
                )
        rows.append(tuple(one.value for one in made if isinstance(one, Constant)))
    return rows


def check_beside_keys(node: exp.Expr, statistic: Statistic, scope: Scope) -> None:
    """Refuse an aggregate that SQL would take of the empty row which stands for a key that nobody has.

    There COUNT(*) is 1. COUNT(v.x) and all that is NULL where the private side is missing are as anywhere.
    """
    chosen = scope.chosen
    if chosen is None or not chosen.outer:
        return
    why = "of a key that nobody has, RIGHT JOIN leaves an empty row, which it would take part of"
    instead = "count what is private, as COUNT(v.user_id), or write JOIN instead of RIGHT JOIN"
    names = {name.casefold() for name in chosen.names}
    for column in node.find_all(exp.Column):
        table = column.args.get("table")
        own = table is None or identifier(table).casefold() == chosen.alias.casefold()
        if column.name.casefold() in names and own:
            raise refusal(clause_of(node), why, instead)
    if isinstance(statistic, Count) and not is_person(
        node.this.unnest() if node.this else node, scope
    ):
        raise refusal(clause_of(node), why, instead)
    domains = columns_of(scope.rows)
    for expression in expressions_of(statistic):
        alone = evaluate(expression, dict.fromkeys(fields_of(expression)), domains)
        if alone is not None and not (isinstance(statistic, Sum) and alone == 0):
            raise refusal(clause_of(node), why, instead)
