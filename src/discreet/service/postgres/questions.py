"""Questions and catalog queries in a planning worker: columns, types and prices, before any charge.

SELECT ─► parsed ─► only catalog tables, or none     ─► rows from the sandbox of the catalog
                ├─► declared tables                   ─► planned: columns and their types, price
                ├─► a stream                          ─► rows of what it has published
                ├─► columns of a table, but no rows   ─► columns by the schema (LIMIT 0, WHERE 1 = 0)
                └─► declared tables and the catalog   ─► refused

Guarantee: all of it follows from the statement, the schema and the ledger; no private row is read.
Law: tests/service/postgres/test_neighbours.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from ...curator import Curator
from ...curator.verbs.rehearse import make_up
from ...data.columns.column import Column
from ...data.schema import Schema
from ...errors import InvalidArgument
from ...frozen import field, frozen, replace
from ...plan.asked.terms import Terms
from ...privacy.measures import Measure
from ...query.algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ...query.algebra.statistic import Result
from ...query.algebra.tree import Question
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Texts, domain_of_column
from ...query.domains.domain_of import domain_of
from ...query.domains.type_of import type_of
from ...query.meaning.post_processing import types_of
from ...query.sql.lexical.statement import Grammar
from ...query.sql.parse import mentions_stream
from ...query.sql.published import STREAMS
from ...show.nearest import did_you_mean
from ...wire.reply import answer_reply
from ...wire.verbs.question import Ask, checked_plan
from . import types
from .allowances import check_day
from .catalog import CatalogSession, is_catalog, run_catalog
from .column_types import OIDS, column_oid, oid_of, table_columns
from .published import published_answer, stream_views
from .refusals import FEATURE, SYNTAX, UNKNOWN_TABLE, WireError
from .results import ResultColumn, answer_rows
from .statements import PARAMETER, name_parameters
from .types import Parameter, decode

PREVIEW_ROWS = 1_000
MAX_COLUMNS = 1_664
"""Most columns of a result, as in PostgreSQL, and most parameters; messages count them in 16 bits."""
_WHOLE_RESULTS = (Function.ROUND, Function.FLOOR, Function.CEILING)


@frozen
class Asked:
    """A SELECT with its parameters as they came, and the settings of the session.

    `types`, `values` and `formats` are those of the parameters. `priced` asks for the price,
    `explain` for the explanation instead of an answer; `preview` allows made-up rows.
    """

    sql: str
    types: tuple[int, ...] = ()
    values: tuple[bytes | None, ...] | None = None
    """None before they are known: then examples of the right types stand for them."""
    formats: tuple[int, ...] = ()
    terms: Terms | None = None
    intervals: bool = False
    priced: bool = False
    per_day: Measure | None = None
    explain: bool = False
    preview: bool = False
    max_cells: int = 20_000
    session: CatalogSession = field(default_factory=CatalogSession)


@frozen
class Studied:
    """Columns and parameter types of a SELECT, and its rows if they are free.

    Otherwise `rows` is None and `sql` the question to ask; `price` is set only if it was asked for,
    and `stored` then says that an answer is stored.
    """

    columns: tuple[ResultColumn, ...]
    parameters: tuple[int, ...] = ()
    rows: tuple[tuple[object, ...], ...] | None = None
    sql: str = ""
    stored: bool = False
    price: Measure | None = None
    warning: str = ""


def study(curator: Curator, asked: Asked) -> Studied | WireError:
    """Find the columns and parameter types of a SELECT, and its rows if it needs no charge.

    Otherwise the question is planned and, where `asked.priced`, priced. Runs in a planning worker.
    A refusal with an SQLSTATE of its own is returned, since planning workers raise only errors of
    the library.
    """
    try:
        studied = _study(curator, asked)
    except WireError as refusal:
        return refusal
    if len(studied.columns) > MAX_COLUMNS:
        return WireError("54011", f"a result has at most {MAX_COLUMNS} columns", "ask for fewer")
    return studied


def _study(curator: Curator, asked: Asked) -> Studied:
    """Bind the parameters of a SELECT; run it in the catalog, answer it at once, or plan it."""
    # Parsers disagree about $1, so a plain name stands for it until its value is known.
    text, count = name_parameters(asked.sql)
    if count > MAX_COLUMNS:
        raise WireError("54023", f"a statement has at most {MAX_COLUMNS} parameters", "send fewer")
    schemas = {**curator.context.schemas, **stream_views(curator)}
    tree = _parse(text)
    declared = _declared_tables(tree, schemas)
    sites = dict(_parameter_sites(tree))
    oids = tuple(
        _parameter_type(sites.get(number), number, asked, declared)
        for number in range(1, count + 1)
    )
    # No declared table: all of it is public, so it runs at once and is free.
    if not declared:
        values = _values(asked, oids, {})
        bound = _bind(tree, values)
        names, rows = run_catalog(bound, schemas, asked.session)
        columns = tuple(ResultColumn(name, oid) for name, oid in names)
        return Studied(columns, oids, rows)
    examples = {number: _column_beside(site, declared) for number, site in sites.items()}
    values = _values(asked, oids, examples)
    sql = asked.sql
    if count or tree.find(exp.StrToDate, exp.StrToTime):
        # The grammar of questions is parsed by itself, and only where something is replaced: the
        # client's own text is clearer in refusals and in the history.
        sql = _fold_dates(_bind(_parse(text, questions=True), values)).sql(dialect=Grammar)
    empty = _without_rows(tree, declared, asked)
    if empty is not None:
        return replace(empty, parameters=oids)
    if mentions_stream(sql):
        return _published(curator, asked, sql, oids)
    return _plan(curator, asked, sql, oids)


def _parse(text: str, *, questions: bool = False) -> exp.Expr:
    """Parse a text as PostgreSQL, or by the grammar of questions; refuse what neither reads."""
    grammars = (Grammar,) if questions else ("postgres", Grammar)
    for grammar in grammars:
        try:
            return sqlglot.parse_one(text, dialect=grammar)
        except (SqlglotError, RecursionError):
            continue
    raise WireError(SYNTAX, "this text cannot be read as SQL", "check quotes, commas and brackets")


def _declared_tables(tree: exp.Expr, schemas: Mapping[str, Schema]) -> tuple[Schema, ...]:
    """Return the declared tables of a statement; none if it asks the catalog.

    Refuses: unknown tables, and declared tables beside the catalog.
    """
    common = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    by_name = {name.lower(): schema for name, schema in schemas.items()}
    declared: dict[str, Schema] = {}
    catalog = False
    for table in tree.find_all(exp.Table):
        name, database = table.name.lower(), table.db.lower()
        qualified = f"{STREAMS}.{name}" if database == STREAMS else name
        if is_catalog(name, database):
            catalog = True
        elif qualified in by_name and database in ("", "public", STREAMS):
            declared[qualified] = by_name[qualified]
        elif database or (name and name not in common):
            hint = did_you_mean(qualified, schemas) or f"there is {', '.join(schemas)}"
            raise WireError(UNKNOWN_TABLE, f"there is no table {qualified[:63]!r}", hint)
    if catalog and declared:
        raise WireError(FEATURE, "private tables beside the catalog", "ask them in two statements")
    return tuple(declared.values())


def _parameter_sites(tree: exp.Expr) -> Iterator[tuple[int, exp.Expr]]:
    """Yield the places of parameters by number, with the cast around each, which is folded."""
    for column in list(tree.find_all(exp.Column)):
        if column.name.startswith(PARAMETER):
            site: exp.Expr = column
            cast = column.parent
            if isinstance(cast, exp.Cast) and _cast_name(cast) in types.BY_NAME:
                site = cast
            yield int(column.name.removeprefix(PARAMETER)), site


def _cast_name(cast: exp.Cast) -> str:
    """Return the name of a cast's type; types that the parser does not know are texts."""
    named = cast.to.this
    return named.value if isinstance(named, exp.DataType.Type) else ""


def _parameter_type(
    site: exp.Expr | None, number: int, asked: Asked, declared: Sequence[Schema]
) -> int:
    """Return the type of a parameter: as the driver says, its cast, or that of the column beside it."""
    given = asked.types[number - 1] if number <= len(asked.types) else 0
    if given not in (0, types.UNKNOWN.oid):
        return given
    if isinstance(site, exp.Cast):
        return types.BY_NAME.get(_cast_name(site), types.TEXT).oid
    if site is not None and site.find_ancestor(exp.Limit, exp.Offset):
        return types.INT8.oid
    beside = _column_beside(site, declared)
    return types.TEXT.oid if beside is None else column_oid(beside)


def _column_beside(site: exp.Expr | None, declared: Sequence[Schema]) -> Column | None:
    """Return the declared column that a parameter is compared with; None if there is none."""
    # The nearest comparison around it, such as age > $1 or region IN ($1, $2).
    compared = site.find_ancestor(exp.Predicate) if site is not None else None
    if compared is None:
        return None
    for node in compared.find_all(exp.Column):
        for schema in declared:
            by_name = {name.lower(): column for name, column in schema.declared}
            if node.name.lower() in by_name:
                return by_name[node.name.lower()]
    return None


def _values(
    asked: Asked, oids: Sequence[int], beside: Mapping[int, Column | None]
) -> tuple[Parameter, ...]:
    """Return the values of the parameters, or examples where they are not known yet."""
    if asked.values is None:
        return tuple(_example(oid, beside.get(place + 1)) for place, oid in enumerate(oids))
    if len(asked.values) != len(oids):
        raise WireError(
            "42P02", f"the statement has {len(oids)} parameters, {len(asked.values)} came"
        )
    formats = asked.formats
    if len(formats) != len(asked.values):
        # One format for all values, or none, which stands for text.
        formats = (formats or (0,)) * len(asked.values)
    return tuple(map(decode, asked.values, oids, formats))


def _example(oid: int, column: Column | None) -> Parameter:
    """Return a value that stands for one not known yet; the types of results never depend on it."""
    domain = domain_of_column(column) if column is not None else None
    if isinstance(domain, Texts) and domain.keys:
        return str(domain.keys[0])
    if oid in types.NUMBERS:
        return 1
    if oid == types.BOOL.oid:
        return True
    if oid in (types.DATE.oid, types.TIMESTAMP.oid, types.TIMESTAMPTZ.oid):
        return date(2000, 1, 1)
    # A text that is the name of a setting too: current_setting($1) is described with it.
    return "search_path"


def _bind(tree: exp.Expr, values: Sequence[Parameter]) -> exp.Expr:
    """Replace parameters by literals in the tree, where a value can be nothing but a value."""
    for number, site in _parameter_sites(tree):
        value = values[number - 1] if number <= len(values) else None
        site.replace(_literal(value))
    return tree


def _literal(value: Parameter) -> exp.Expr:
    """Return a value of a parameter as a literal of SQL."""
    if value is None:
        return exp.Null()
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, int | Decimal):
        # A decimal is written without an exponent, which would make it a float.
        digits = str(abs(value)) if isinstance(value, int) else format(abs(value), "f")
        number = exp.Literal.number(digits)
        return exp.Neg(this=number) if value < 0 else number
    if isinstance(value, datetime):
        return exp.cast(exp.Literal.string(value.isoformat(" ")), "TIMESTAMP")
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE")
    return exp.Literal.string(value)


def _fold_dates(tree: exp.Expr) -> exp.Expr:
    """Replace TO_DATE and TO_TIMESTAMP of a text in ISO form, which dashboards write, by a literal."""
    for call in list(tree.find_all(exp.Anonymous, exp.UnixToTime)):
        values = call.expressions or [call.this, call.args.get("scale")]
        written = [value.name for value in values if isinstance(value, exp.Literal)]
        if written[1:] == ["YYYY-MM-DD"]:
            call.replace(exp.cast(values[0].copy(), "DATE"))
        elif written[1:] == ["YYYY-MM-DD HH24:MI:SS.US"]:
            # Questions have whole seconds; other times are refused as they always are.
            whole = values[0].name.removesuffix(".000000")
            call.replace(exp.cast(exp.Literal.string(whole), "TIMESTAMP"))
    return tree


def _without_rows(tree: exp.Expr, declared: Sequence[Schema], asked: Asked) -> Studied | None:
    """Answer a list of columns of one table that asks for no row, or a preview with made-up rows."""
    plain_list = isinstance(tree, exp.Select) and not tree.args.get("group")
    if not plain_list or len(declared) != 1 or tree.find(exp.Join, exp.Subquery, exp.Distinct):
        return None
    schema = declared[0]
    shown = _listed(tree, schema)
    if shown is None:
        return None
    columns = tuple(ResultColumn(name, oid, place) for place, (name, oid) in enumerate(shown))
    limit = tree.args.get("limit")
    count = limit.expression.name if isinstance(limit, exp.Limit) else ""
    if count == "0" or _is_false(tree.args.get("where")):
        return Studied(columns, rows=())
    if not asked.preview or schema.public or tree.args.get("where"):
        return None
    number = int(count) if count.isdecimal() and len(count) < 9 else PREVIEW_ROWS
    # The rows of a rehearsal: made from the schema, the same ones each time.
    made = make_up([schema], min(number, PREVIEW_ROWS)).tables[schema.name]
    rows = tuple(tuple(row.get(name) for name, _ in shown) for row in made)
    warning = f"these rows of {schema.name} are made up: they say nothing about anybody"
    return Studied(columns, rows=rows, warning=warning)


def _listed(tree: exp.Expr, schema: Schema) -> list[tuple[str, int]] | None:
    """Return the columns that a list of plain columns or * names; None for anything else."""
    known = {name.lower(): (name, oid) for name, oid in table_columns(schema)}
    shown: list[tuple[str, int]] = []
    for item in tree.expressions:
        bare = item.unalias()
        if isinstance(bare, exp.Star) or isinstance(bare.args.get("this"), exp.Star):
            shown += known.values()
        elif isinstance(bare, exp.Column) and bare.name.lower() in known:
            shown.append((item.alias_or_name, known[bare.name.lower()][1]))
        else:
            return None
    return shown


def _is_false(where: exp.Expr | None) -> bool:
    """Whether a condition is false whatever the rows are: FALSE, or 1 = 0."""
    if where is None:
        return False
    condition = where.this.unnest()
    if isinstance(condition, exp.EQ):
        both = (condition.this, condition.expression)
        return all(isinstance(side, exp.Literal) for side in both) and both[0] != both[1]
    return isinstance(condition, exp.Boolean) and not condition.this


def _published(curator: Curator, asked: Asked, sql: str, oids: tuple[int, ...]) -> Studied:
    """Answer a SELECT over a stream, or explain that it is free."""
    answer = published_answer(curator, sql, asked.terms, asked.max_cells)
    if asked.explain:
        lines = tuple((line,) for line in (answer.caption, *answer.notes))
        return Studied((ResultColumn("QUERY PLAN", types.TEXT.oid),), oids, lines)
    columns = tuple(_result_columns(answer.question, intervals=asked.intervals))
    return Studied(columns, oids, answer_rows(columns, answer_reply(answer, float(answer.level))))


def _plan(curator: Curator, asked: Asked, sql: str, oids: tuple[int, ...]) -> Studied:
    """Plan a question about declared tables, or explain it; price it only where `asked` says so."""
    if asked.terms is None:
        raise InvalidArgument(
            "a question needs what it may spend, or how wrong it may be; "
            "SET discreet.epsilon = '1/10' or SET discreet.error = 50"
        )
    words = asked.terms.words()
    if asked.explain:
        text = str(curator.explain(sql, **words))
        lines = tuple((line,) for line in text.splitlines())
        return Studied((ResultColumn("QUERY PLAN", types.TEXT.oid),), oids, lines)
    plan = checked_plan(curator, Ask(sql, asked.terms), asked.max_cells)
    columns = tuple(_result_columns(plan.question, intervals=asked.intervals))
    if not asked.priced:
        return Studied(columns, oids, None, sql)
    # Only where an allowance or confirm mode needs it: explaining costs time.
    explanation = curator.explain(sql, **words)
    price = explanation.shown_price().charged
    if asked.per_day is not None and not explanation.stored:
        check_day(curator, asked.per_day, price)
    return Studied(columns, oids, None, sql, explanation.stored, price)


def _result_columns(question: Question, *, intervals: bool) -> Iterator[ResultColumn]:
    """Yield the columns of an answer, each noisy one with the ends of its interval if they are asked for."""
    noisy = {name for name, _ in question.statistics}
    for place, (name, expression) in enumerate(question.finish.columns):
        oid = _result_type(question, expression)
        yield ResultColumn(name, oid, place)
        if intervals and fields_of(expression) & noisy:
            # The ends are no whole numbers, also where the value is one.
            end_oid = types.FLOAT8.oid if oid == types.INT8.oid else oid
            yield ResultColumn(f"{name}_low", end_oid, place, 0)
            yield ResultColumn(f"{name}_high", end_oid, place, 1)


def _result_type(question: Question, expression: Expression) -> int:
    """Return the number of the type of a result column."""
    statistics = dict(question.statistics)
    if isinstance(expression, Field):
        statistic = statistics.get(expression.name)
        if statistic is not None and statistic.declared.result is Result.COUNT:
            return types.INT8.oid
        for key in question.keys:
            if key.name == expression.name:
                return oid_of(domain_of(key.expression, columns_of(question.rows)))
    if isinstance(expression, Call):
        # COUNT(*) of released rows is the total of a constant for each.
        counts = expression.function is Function.TOTAL and isinstance(
            expression.arguments[0], Constant
        )
        if counts or expression.function in _WHOLE_RESULTS:
            return types.INT8.oid
    sort = type_of(expression, types_of(question))
    return OIDS[sort or "text"]
