"""Catalog queries of drivers and tools: rewritten as a tree and run in a sandbox without private rows.

The statement is parsed as PostgreSQL's, its tables become those of the image, its functions macros.
Whatever function is not on the list is refused.

Guarantee: the sandbox holds the schema and built-in facts; there is nothing private to be read.
Law: tests/service/postgres/test_catalog.py::test_only_listed_functions_run
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import cache
from typing import TypeAlias, cast

import duckdb
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ...data.schema import Schema
from ...frozen import field, frozen
from . import types
from .catalog_image import MACROS, CatalogImage, facts, table_name
from .refusals import FEATURE, READ_ONLY, UNKNOWN_TABLE, WireError
from .settings import Settings

Described: TypeAlias = list[tuple[str, int]]
VERSION = "PostgreSQL 15.0 (discreet, a private view)"
MAX_ROWS = 20_000
MAX_TEXT = 2 << 20
"""Most characters of a result: what a session keeps of its cursors has a limit."""
_BATCH = 1_000
_WHOLE_BITS = 63
_SCHEMAS = ("pg_catalog", "information_schema")
_MACRO_NAMES = frozenset(macro.partition("(")[0].lower() for macro in MACROS)
# Functions of DuckDB that mean what PostgreSQL's mean, by the names that the parser gives them.
_FUNCTIONS = _MACRO_NAMES | frozenset(
    """
    abs array array_agg array_append array_concat array_contains array_length array_position array_remove
    array_size array_slice array_to_string avg case cast ceil coalesce concat concat_ws count exists date_trunc
    timestamp_trunc exploding_generate_series extract floor generate_series generate_subscripts greatest if
    initcap least left length list_contains lower ltrim max min mod nullif now current_timestamp current_date
    position str_position regexp_like regexp_replace replace reverse right round row_number rtrim split
    split_part starts_with string_agg strpos struct substring sum to_char trim unnest upper and or not xor any
    all try_cast logical_and logical_or bool_and bool_or every rank dense_rank lag lead first_value last_value
    like ilike is between in operator paren neg
    """.split()  # noqa: SIM905 a list of words reads better than one of quotes
)
_NUMBER = exp.DataType.build("UINTEGER", dialect="duckdb")
_NUMBERS = exp.DataType.build("UINTEGER[]", dialect="duckdb")
_TEXTS = exp.DataType.build("VARCHAR[]", dialect="duckdb")
_IMAGES: dict[tuple[str, tuple[Schema, ...]], CatalogImage] = {}
_LOCK = threading.Lock()


@frozen
class CatalogSession:
    """Facts of a session that the catalog shows."""

    user: str = ""
    database: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


def is_catalog(name: str, database: str) -> bool:
    """Whether a table belongs to the catalog: by its schema, or by its name where it has none.

    >>> from discreet.service.postgres.catalog import is_catalog
    >>> is_catalog("pg_class", ""), is_catalog("tables", "information_schema"), is_catalog("people", "")
    (True, True, False)
    """
    return database in _SCHEMAS or (not database and f"pg_catalog.{name}" in facts()["tables"])


def run_catalog(
    tree: exp.Expr, schemas: Mapping[str, Schema], session: CatalogSession
) -> tuple[Described, tuple[tuple[object, ...], ...]]:
    """Run a query of the catalog; return its columns with their types, and at most MAX_ROWS rows.

    Refuses: functions and forms that are not known here, and whatever is no query; no message quotes
    an error of DuckDB.
    """
    # The image is shared by all people of a planning worker: nothing may change it, or leave a
    # transaction open in it.
    if not isinstance(tree, exp.Query | exp.Values) or tree.find(exp.DML, exp.DDL, exp.Into):
        raise WireError(READ_ONLY, "only queries are answered", "use SELECT")
    # One query at a time: an image is one connection of DuckDB.
    with _LOCK:
        image = _image(session.database, schemas)
        sql = _Rewriter(image, session).rewrite(tree)
        try:
            cursor = image.connection.execute(sql)
            rows = _fetch(cursor)
        except duckdb.Error:
            raise _not_answered() from None
        described = [(str(column[0]), _oid(str(column[1]))) for column in cursor.description or ()]
    return described, rows


def _fetch(cursor: duckdb.DuckDBPyConnection) -> tuple[tuple[object, ...], ...]:
    """Return at most MAX_ROWS rows; refuse what has more than MAX_TEXT characters in all."""
    found: list[tuple[object, ...]] = []
    size = 0
    while len(found) < MAX_ROWS:
        batch = cursor.fetchmany(_BATCH)
        if not batch:
            break
        for row in batch:
            plain = tuple(map(_plain, row))
            size += sum(len(value) for value in plain if isinstance(value, str | list))
            found.append(plain)
        if size > MAX_TEXT:
            raise _not_answered()
    return tuple(found[:MAX_ROWS])


def _not_answered() -> WireError:
    return WireError(
        FEATURE, "this query of the catalog is not answered here", "ask for less of it"
    )


def _image(database: str, schemas: Mapping[str, Schema]) -> CatalogImage:
    """Return the image of a data set's catalog, made once for each set of schemas."""
    # By all that is declared: two services of one process may give one name to different tables.
    key = (database, tuple(schemas.values()))
    if key not in _IMAGES:
        _IMAGES[key] = CatalogImage(database, schemas)
    return _IMAGES[key]


def _oid(kind: str) -> int:
    """Return the type of a column of DuckDB."""
    if kind.endswith("[]"):
        element = types.BY_NAME.get(kind[:-2], types.TEXT)
        return element.array
    return types.BY_NAME.get(kind, types.TEXT).oid


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return "\\x" + value.hex()
    if isinstance(value, int) and value.bit_length() > _WHOLE_BITS:
        # Beyond the widest whole number that is described.
        raise _not_answered()
    if value is None or isinstance(value, bool | int | float | str | list | date | datetime):
        return value
    return str(value)


class _Rewriter:
    """Rewriter of one statement from PostgreSQL's tree to one for the image."""

    def __init__(self, image: CatalogImage, session: CatalogSession) -> None:
        self._image = image
        self._session = session

    def rewrite(self, tree: exp.Expr) -> str:
        """Return the text for DuckDB."""
        # Names first: they follow from the text as the client wrote it.
        names = list(map(_column_name, _first_select(tree).expressions))
        try:
            # Children first: a cast around a cast sees what became of the inner one.
            for node in reversed(list(tree.walk())):
                changed = self._changed(node)
                if changed is not node:
                    if node is tree:
                        tree = changed
                    else:
                        node.replace(changed)
            self._name_columns(tree, names)
            return tree.sql(dialect="duckdb")
        except (SqlglotError, RecursionError):
            raise WireError(FEATURE, "this query of the catalog cannot be read") from None

    def _changed(self, node: exp.Expr) -> exp.Expr:
        """Return the node that replaces a node of the statement; the same node if it stays."""
        match node:
            case exp.Table():
                self._rename_table(node)
            case exp.Column():
                node.set("db", None)
                node.set("catalog", None)
                words = _BARE_WORDS.get(node.name.lower())
                if words and not node.table and not node.this.args.get("quoted"):
                    return self._word(words)
                if node.name.lower() == "tableoid":
                    # Only joined with descriptions of objects, of which there are none.
                    return exp.cast(exp.Null(), _NUMBER)
            case exp.EQ() | exp.NEQ():
                return _function_compared(node)
            case exp.Dot() if node.this.name.lower() in _SCHEMAS:
                # pg_catalog.format_type(…): the function alone, or what it became.
                return cast("exp.Expr", node.expression)
            case exp.Collate():
                return cast("exp.Expr", node.this)
            case exp.Operator():
                return _operator(node)
            case exp.Cast():
                return _cast(node)
            case exp.Any():
                return _any(node)
            case exp.Func():
                return self._function(node)
        return node

    def _rename_table(self, node: exp.Table) -> None:
        """Give a catalog table its name in the image, and make it there; refuse unknown tables."""
        if isinstance(node.this, exp.Func) or not node.name:
            node.set("db", None)
            return
        name, database = node.name.lower(), node.db.lower()
        if not is_catalog(name, database):
            # A common table expression.
            return
        table = f"{database or 'pg_catalog'}.{name}"
        if table not in facts()["tables"]:
            raise WireError(UNKNOWN_TABLE, f"there is no table {table[:63]!r} in the catalog")
        # Tables are made when first asked for: there are two hundred.
        self._image.need(table)
        if not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(name)))
        schema, _, image_name = table_name(table).partition(".")
        node.set("this", exp.to_identifier(image_name))
        node.set("db", exp.to_identifier(schema))
        node.set("catalog", None)

    def _word(self, words: str) -> exp.Expr:
        known = {"user": self._session.user, "database": self._session.database}
        return exp.Literal.string(known[words])

    def _function(self, node: exp.Func) -> exp.Expr:
        """Replace functions that tell of the session; refuse those that are not listed."""
        name = _function_name(node)
        told = self._told(name, node)
        if told is not None:
            return told
        if name.startswith("pg_") and name.endswith("_is_visible"):
            return exp.true()
        if name not in _FUNCTIONS:
            raise WireError("42883", f"there is no function {name[:63]!r} here")
        return node

    def _told(self, name: str, node: exp.Func) -> exp.Expr | None:
        """Return the value of a function that tells of the session; None for other functions."""
        if name in _BARE_WORDS:
            return self._word(_BARE_WORDS[name])
        match name:
            case "current_schema":
                return exp.Literal.string("public")
            case "version" | "current_version":
                return exp.Literal.string(VERSION)
            case "current_setting":
                return self._setting(node)
            case "json_build_object":
                # Only of identity columns, which no declared table has.
                return exp.Null()
            case "set_config":
                return node.expressions[1] if len(node.expressions) > 1 else exp.Null()
        return None

    def _setting(self, node: exp.Func) -> exp.Expr:
        asked = node.expressions[0] if node.expressions else exp.Null()
        if not isinstance(asked, exp.Literal):
            return exp.Null()
        return exp.Literal.string(Settings(values=self._session.settings).show(asked.name))

    def _name_columns(self, tree: exp.Expr, names: Sequence[str]) -> None:
        """Name the columns of results as PostgreSQL does, and show objects by their names."""
        for item, name in zip(list(_first_select(tree).expressions), names, strict=True):
            bare = item.unalias()
            if isinstance(bare, exp.Column | exp.Star):
                continue
            kind = bare.meta.get("object")
            shown = _shown_object(bare, kind) if kind else bare.copy()
            item.replace(exp.alias_(shown, name, quoted=True))


def _first_select(tree: exp.Expr) -> exp.Expr:
    """Return the SELECT that names the columns: the first one of a UNION."""
    while isinstance(tree, exp.SetOperation | exp.Subquery):
        tree = tree.this
    return tree


_BARE_WORDS = {
    "current_user": "user",
    "session_user": "user",
    "user": "user",
    "current_role": "user",
    "current_catalog": "database",
    "current_database": "database",
}


def _function_name(node: exp.Func) -> str:
    """Return the name of a function as PostgreSQL has it, for the list and for columns of results."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    name = node.sql_name().lower()
    return _RENAMED.get(name, name)


# Names that the parser gives to functions of PostgreSQL.
_RENAMED = {"current_version": "version", "group_concat": "string_agg", "explode": "unnest"}


def _column_name(item: exp.Expr) -> str:
    """Return the name of a column of results, as PostgreSQL gives it to one without an alias."""
    return _own_name(item) or _weak_name(item)


def _own_name(item: exp.Expr) -> str:
    """Return the name of a column, function or sub-query; "" of what has none of its own."""
    match item:
        case exp.Column() | exp.Alias():
            return item.alias_or_name
        case exp.Cast() | exp.Paren() | exp.Bracket():
            return _own_name(item.this)
        case exp.Dot():
            return _own_name(item.expression)
        case exp.Case():
            default = item.args.get("default")
            return "" if default is None else _own_name(default)
        case exp.Subquery():
            return _column_name(_first_select(item).expressions[0])
        case exp.Exists():
            return "exists"
        case exp.Connector() | exp.Predicate():
            return ""
        case exp.Func():
            return _function_name(item)
    return ""


def _weak_name(item: exp.Expr) -> str:
    """Return the name of a cast or CASE around what has none."""
    match item.unnest():
        case exp.Cast() as cast_:
            to = _type_name(cast_)
            return _SHORT_TYPES.get(to, to)
        case exp.Case():
            return "case"
    return "?column?"


_SHORT_TYPES = {
    "int": "int4", "integer": "int4", "bigint": "int8", "smallint": "int2", "boolean": "bool",
    "double precision": "float8", "real": "float4", "decimal": "numeric",
}  # fmt: skip


def _function_compared(node: exp.EQ | exp.NEQ) -> exp.Expr:
    """Read 0 beside a column of functions as none, which is shown as -."""
    sides = {type(node.this): node.this, type(node.expression): node.expression}
    column, number = sides.get(exp.Column), sides.get(exp.Literal)
    if column is not None and number is not None and column.name in _function_columns():
        if number.name == "0":
            number.replace(exp.Literal.string("-"))
    return node


@cache
def _function_columns() -> frozenset[str]:
    found: set[str] = set()
    for columns in facts()["tables"].values():
        found.update(name for name, kind in columns.items() if kind == "regproc")
    return frozenset(found)


def _operator(node: exp.Operator) -> exp.Expr:
    """Replace OPERATOR(pg_catalog.~) by the operator itself."""
    made = {
        "~": exp.RegexpLike,
        "=": exp.EQ,
        "<>": exp.NEQ,
        "~~": exp.Like,
        "~~*": exp.ILike,
    }.get(str(node.args["operator"]).rpartition(".")[2])
    if made is None:
        raise WireError(FEATURE, "an operator that is not known here")
    return made(this=node.this, expression=node.expression)


def _cast(node: exp.Cast) -> exp.Expr:
    """Replace casts to names of objects by lookups, and casts to PostgreSQL's own types by plain ones."""
    to = _type_name(node)
    inner = node.this
    shown = inner.meta.get("object") if isinstance(inner, exp.Expr) else None
    if to in ("regclass", "regtype"):
        return _object(inner, to)
    if shown and to in ("text", "varchar", "name"):
        return _shown_object(inner, shown)
    if to == "regproc" and isinstance(inner, exp.Literal) and inner.name in _FUNCTIONS_OF_TYPES:
        return inner
    if to in ("regproc", "regnamespace", "regrole", "regoper", "regprocedure"):
        if isinstance(inner, exp.Literal) and inner.is_string:
            raise WireError("42883", f"there is no such {to} here")
        return cast("exp.Expr", inner)
    if to in ("oid", "xid"):
        return exp.cast(inner.copy(), _NUMBER)
    if to in ("name", "char", "text", "cstring", "information_schema.sql_identifier"):
        return exp.cast(inner.copy(), "TEXT")
    if to.endswith("[]") and isinstance(inner, exp.Literal) and inner.is_string:
        return _list(inner.name)
    if to.endswith("[]") and to[:-2] in ("oid", "name", "char", "text", "regclass"):
        return exp.cast(inner.copy(), _NUMBERS if to == "oid[]" else _TEXTS)
    return node


_FUNCTIONS_OF_TYPES = ("array_in", "array_out", "array_recv", "record_recv")
"""Functions that drivers compare types with."""


def _type_name(node: exp.Cast) -> str:
    return node.to.sql(dialect="postgres").lower().removeprefix("pg_catalog.").strip('"')


def _object(inner: exp.Expr, kind: str) -> exp.Expr:
    """Return the number of an object for its name; a number stays one, but is shown as the name."""
    if isinstance(inner, exp.Literal) and inner.is_string and not inner.name.isdecimal():
        found: exp.Expr = exp.func(f"discreet_{kind}", inner.copy())
        found.meta["object"] = kind
        return found
    # In brackets, so that the mark stays on a node of its own.
    kept = exp.Paren(this=inner.copy())
    kept.meta["object"] = kind
    return kept


def _shown_object(inner: exp.Expr, kind: str) -> exp.Expr:
    """Return the name of an object, for a cast to text and in results."""
    if kind == "regclass":
        return exp.func("discreet_relname", inner.copy())
    return exp.func("format_type", inner.copy(), exp.Null())


def _any(node: exp.Any) -> exp.Expr:
    """Read ANY('{r,p}') as a list."""
    inner = node.this.unnest() if isinstance(node.this, exp.Expr) else node.this
    if isinstance(inner, exp.Literal) and inner.is_string:
        return exp.Any(this=_list(inner.name))
    return node


def _list(words: str) -> exp.Expr:
    """Read a list as PostgreSQL writes it, {r,p}, of names or of numbers."""
    items: list[exp.Expr] = []
    for part in re.sub(r"[{}\"]", "", words).split(","):
        if part.isdecimal():
            items.append(exp.Literal.number(part))
        elif part:
            items.append(exp.Literal.string(part))
    return exp.Array(expressions=items)
