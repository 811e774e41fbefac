"""Questions and their relations as SQL text for people, and as fingerprints for machines.

The SQL reader reads the text back as the same question, but for outer joins built in Python, listed
values of a key that SQL cannot state (written as a comment), and listed hierarchies.

Guarantee: equal questions have equal fingerprints. Fingerprints of release 0.1.0 stay the same for
ever, since ledgers and stored answers keep them.

Law: tests/query/test_show.py::TestEveryQuestion
Law: tests/query/test_show.py::TestFingerprints
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from itertools import count

from ...arithmetic.canonical import hash_json
from ...data.files.schema_json import schema_to_dict
from ...data.schema import Schema
from ...data.unit import People
from ...frozen import frozen, replace
from ..algebra.expression import Constant, Expression, Field, fields_of
from ..algebra.statistic import (
    CountDistinct,
    CountPeople,
    CountPeopleIf,
    Overall,
    Quantile,
    Statistic,
    expressions_of,
    function_name,
    statistic_name,
)
from ..algebra.tree import (
    Finish,
    JoinPeople,
    JoinPublic,
    PerPerson,
    Question,
    Relation,
    Scan,
    Select,
    Total,
    Union,
    Where,
    expressions_of_finish,
    names_of,
    own_fields,
)
from ..bounds.fanout import person_rows
from ..bounds.relation_facts import columns_of, tables_of
from ..meaning.post_processing import types_of
from .expression import expression_text, quote, shorter_lists, typed_constant

_JOIN_KINDS = {"": "JOIN", "left": "LEFT JOIN", "full": "FULL JOIN"}
_TOTALS = {"sum": "SUM", "least": "MIN", "greatest": "MAX"}
FORMAT = 1
"""Version of the canonical text behind a fingerprint: ledgers keep them, so it never changes."""
_LATER = {"sets", "running", "outer", "offset", "nested", "qualify"}
"""Fields that came after 0.1.0: empty ones are not written, so that old fingerprints stay."""


def describe(question: Question) -> str:
    """Write a question as SQL, which is read back as the same question where SQL can say it.

    >>> import discreet as dp
    >>> from discreet.query import describe
    >>> from discreet.data import Category, Rows
    >>> from discreet.query.sql.parse import parse
    >>> people = dp.Schema("people", Rows(), {"region": Category(["N", "S"])})
    >>> sql = "select region, count(*) n from people group by 1 order by 2 desc"
    >>> print(describe(parse(sql, {"people": people})))
    SELECT region, COUNT(*) AS n
    FROM people
    GROUP BY region
    ORDER BY n DESC
    """
    if _leaves_out(question):
        return _over_released(question)
    shown = from_text(question.rows, _chosen_keys(question))
    names: dict[str, str] = {}
    for key in question.keys:
        names[key.name] = expression_text(key.expression, shown.names)
    keys = list(names.values())
    for name, statistic in question.statistics:
        text = statistic_text(statistic, shown)
        if question.running:
            # Running totals have one key, along which they go.
            text = f"SUM({text}) OVER (ORDER BY {', '.join(keys)})"
        names[name] = text
    items = []
    for name, expression in question.finish.columns:
        items.append(with_alias(expression_text(expression, names), name))
    lines = [f"SELECT {', '.join(items)}", shown.text]
    if keys:
        lines.append(f"GROUP BY {_group(question, keys)}")
    return "\n".join([*lines, *_finish(question.finish, names), *shorter_lists(question, names)])


def _leaves_out(question: Question) -> bool:
    """Return whether a question can be written only as a SELECT over a sub-query.

    That is so if a statistic is not read by post-processing, or if a key or statistic has a name
    that SELECT would not give it.
    """
    finish = question.finish
    if not finish.columns:
        return False
    read: set[str] = set()
    for expression in expressions_of_finish(finish):
        read |= fields_of(expression)
    shown = [expression for _, expression in finish.columns]
    for name, statistic in question.statistics:
        # A statistic that SELECT does not name has a name that follows from it, or from its sets.
        plain = name == statistic_name(statistic) or question.sets is not None
        own = plain or Field(name) in shown
        if name not in read or not own:
            return True
    for place, key in enumerate(question.keys, 1):
        plain_name = f"key_{place}"
        if isinstance(key.expression, Field):
            plain_name = key.expression.name
        if Field(key.name) not in shown and key.name != plain_name:
            return True
    return False


def _over_released(question: Question) -> str:
    """Write a question as a SELECT over the released table of all its keys and statistics."""
    names = [key.name for key in question.keys] + names_of(question.statistics)
    inner = describe(replace(question, finish=Finish(own_fields(names))))
    quoted = {name: quote(name) for name in names}
    items = []
    for name, expression in question.finish.columns:
        items.append(with_alias(expression_text(expression, quoted), name))
    # A comment goes to the end of its line, and would take the bracket with it: comments come last.
    inner_lines = inner.split("\n")
    comments = [line for line in inner_lines if line.startswith("--")]
    block = "\n  ".join(line for line in inner_lines if not line.startswith("--"))
    lines = [f"SELECT {', '.join(items)}", f"FROM ({block}) AS t"]
    for line in _finish(question.finish, quoted):
        # A condition on released rows, before any window reads them, is their WHERE.
        lines.append(line.replace("HAVING ", "WHERE ", 1) if line.startswith("HAVING") else line)
    return "\n".join([*lines, *comments])


def _chosen_keys(question: Question) -> ListedKeys | None:
    """Return the chosen combinations of keys, as constants of their types."""
    nest = question.nested
    # With grouping sets the hierarchy follows from the keys, and is not written.
    if nest is None or question.sets is not None:
        return None
    types = types_of(question)
    matched = []
    key_types = []
    for position in nest.places:
        key = question.keys[position]
        matched.append(key.expression)
        key_types.append(types[key.name])
    rows = [tuple(map(typed_constant, values, key_types)) for values in nest.rows]
    return ListedKeys(tuple(matched), tuple(rows))


def _group(question: Question, keys: list[str]) -> str:
    if question.sets is None:
        return ", ".join(keys)
    sets = []
    for positions in question.sets:
        listed = ", ".join(keys[position] for position in positions)
        sets.append(f"({listed})")
    return f"GROUPING SETS ({', '.join(sets)})"


def _finish(finish: Finish, names: Mapping[str, str]) -> list[str]:
    """Write HAVING, QUALIFY, ORDER BY, LIMIT and OFFSET, each on its line."""
    lines = []
    if finish.having is not None:
        lines.append(f"HAVING {expression_text(finish.having, names)}")
    if finish.qualify is not None:
        lines.append(f"QUALIFY {expression_text(finish.qualify, names)}")
    if finish.order:
        items = []
        for expression, descending in finish.order:
            text = _order_item(expression, finish, names)
            if descending:
                text += " DESC"
            items.append(text)
        lines.append(f"ORDER BY {', '.join(items)}")
    if finish.limit is not None:
        lines.append(f"LIMIT {finish.limit}")
    if finish.offset:
        lines.append(f"OFFSET {finish.offset}")
    return lines


def _order_item(expression: Expression, finish: Finish, names: Mapping[str, str]) -> str:
    """Write an item of ORDER BY by the name of its shown column, if there is one."""
    for name, shown in finish.columns:
        if shown == expression:
            return quote(name)
    return expression_text(expression, names)


def statistic_text(statistic: Statistic, shown: Naming) -> str:
    """Write a statistic as an aggregate of SQL."""
    if isinstance(statistic, CountPeople):
        return f"COUNT(DISTINCT {shown.person or 'person'})"
    if isinstance(statistic, CountPeopleIf):
        condition = expression_text(statistic.condition, shown.names)
        return f"COUNT(DISTINCT {shown.person or 'person'}) FILTER (WHERE {condition})"
    if isinstance(statistic, Overall):
        inner = from_text(statistic.rows)
        block = f"SELECT {statistic_text(statistic.statistic, inner)}\n{inner.text}"
        return f"({' '.join(block.split())})"
    name = function_name(statistic)
    arguments = [expression_text(e, shown.names) for e in expressions_of(statistic)]
    listed = ", ".join(arguments) or "*"
    # MIN, MEDIAN and MAX are quantiles with a function of their own.
    if isinstance(statistic, Quantile) and name == "QUANTILE":
        return f"QUANTILE({listed}, {expression_text(Constant(statistic.at), {})})"
    if isinstance(statistic, CountDistinct):
        return f"{name}(DISTINCT {listed})"
    return f"{name}({listed})"


def fingerprint(question: Question) -> str:
    """Return the SHA-256 of a question's tree in canonical JSON; equal questions have equal ones.

    Schemas with their versions and neighbours are part of it.

    >>> import discreet as dp
    >>> from discreet.query import fingerprint
    >>> from discreet.data import Boolean, Rows
    >>> from discreet.query.sql.parse import parse
    >>> votes = {"votes": dp.Schema("votes", Rows(), {"yes": Boolean()})}
    >>> one = parse("SELECT COUNT(*) FROM votes", votes)
    >>> two = parse("select count( * ) from VOTES -- all", votes)
    >>> fingerprint(one) == fingerprint(two), len(fingerprint(one))
    (True, 64)
    """
    return hash_json({"format": FORMAT, "question": plain_tree(question)})


def plain_tree(value: object) -> object:
    """Turn a tree into plain values for JSON, each node under the name of its class."""
    match value:
        case None | bool() | str() | int():
            return value
        case Fraction():
            # Equal numbers must look alike: a whole fraction is written as an integer.
            return int(value) if value.denominator == 1 else {"fraction": str(value)}
        case tuple():
            return [plain_tree(part) for part in value]
        case Schema():
            # Labels are words for people: a fingerprint is the same without them.
            return {"Schema": schema_to_dict(value, labels=False)}
        case _ if is_dataclass(value) and not isinstance(value, type):
            return {type(value).__name__: _plain_fields(value)}
    raise TypeError(f"a {type(value).__name__} is no part of a question")


def _plain_fields(node: object) -> dict[str, object]:
    plain = {}
    # The order of fields does not matter: canonical JSON sorts them by name.
    for field in fields(node):  # type: ignore[arg-type]
        part = getattr(node, field.name)
        if part or field.name not in _LATER:
            plain[field.name] = plain_tree(part)
    return plain


@frozen
class Naming:
    """Text of FROM (and WHERE), with the texts that name its columns and the person's id."""

    text: str
    names: Mapping[str, str]
    person: str | None


@frozen
class ListedKeys:
    """Chosen keys: expressions of rows, and the combinations of their values that are asked for."""

    matched: tuple[Expression, ...]
    rows: tuple[tuple[Constant, ...], ...]


def from_text(relation: Relation, keys: ListedKeys | None = None) -> Naming:
    """Write the FROM and WHERE of a question; chosen keys are joined as a list.

    >>> from discreet.query.algebra.tree import Scan, Where
    >>> from discreet.query.text.question import from_text
    >>> from discreet.data import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Call, Constant, Field, Function
    >>> adult = Call(Function.AT_MOST, (Constant(18), Field("age")))
    >>> people = Schema("people", Rows(), {"age": Integer(0, 120)})
    >>> print(from_text(Where(Scan(people), adult)).text)
    FROM people
    WHERE age >= 18
    """
    aliases = map("t{}".format, count(1))
    return _clauses(relation, aliases, keys)


def _clauses(relation: Relation, aliases: Iterator[str], keys: ListedKeys | None = None) -> Naming:
    """Write FROM for any relation; the outermost condition becomes WHERE."""
    condition = None
    if isinstance(relation, Where):
        condition = relation.condition
        relation = relation.rows
    shown = _item(relation, aliases, alone=True)
    text = f"FROM {shown.text}"
    if keys is not None:
        text += _key_join(keys, shown)
    if condition is not None:
        text += f"\nWHERE {expression_text(condition, shown.names)}"
    return Naming(text, shown.names, shown.person)


def _key_join(keys: ListedKeys, shown: Naming) -> str:
    """Write a list of chosen keys as a join of its rows."""
    columns = []
    tests = []
    for number, expression in enumerate(keys.matched, 1):
        column = f"key_{number}"
        columns.append(column)
        tests.append(f"{expression_text(expression, shown.names)} = k.{column}")
    rows = []
    for row in keys.rows:
        values = [expression_text(value, {}) for value in row]
        rows.append(f"({_comma(values)})")
    condition = " AND ".join(tests)
    return f"\nJOIN (VALUES {_comma(rows)}) AS k({_comma(columns)}) ON {condition}"


def _comma(texts: Iterable[str]) -> str:
    return ", ".join(texts)


def _item(relation: Relation, aliases: Iterator[str], *, alone: bool) -> Naming:
    """Write an item of FROM: a table, a join, or a sub-query.

    `alone`: there is no other item, so columns need no alias before them.
    """
    # Aliases are numbered in the order of the text, so each is taken before inner ones.
    match relation:
        case JoinPublic():
            return _join_public(relation, aliases)
        case JoinPeople():
            return _join_people(relation, aliases)
        case Scan(schema=schema):
            table = quote(schema.name)
            if alone:
                return _named(table, relation)
            alias = next(aliases)
            return _with_prefix(_named(f"{table} AS {alias}", relation), alias)
        case _:
            alias = next(aliases)
            shown = _subquery(relation, aliases, alias)
            if alone:
                return shown
            return _with_prefix(shown, alias)


def _named(text: str, relation: Relation) -> Naming:
    """Name the columns and the person of a relation plainly."""
    names = {name: quote(name) for name in columns_of(relation)}
    return Naming(text, names, _person(relation))


def _subquery(relation: Relation, aliases: Iterator[str], alias: str) -> Naming:
    block = _block(relation, aliases).replace("\n", "\n  ")
    return _named(f"({block}) AS {alias}", relation)


def _person(relation: Relation) -> str | None:
    """Write the person's id by the name that a table has for it, unless columns took all names."""
    # Names of columns are compared in any case, as SQL does.
    taken = set(map(str.casefold, columns_of(relation)))
    for schema in tables_of(relation):
        if isinstance(schema.unit, People) and schema.unit.id.casefold() not in taken:
            return quote(schema.unit.id)
    return None


def _with_prefix(shown: Naming, alias: str) -> Naming:
    """Write the alias before every column and before the person."""
    names = {}
    for name, text in shown.names.items():
        names[name] = f"{alias}.{text}"
    person = shown.person
    if person is not None:
        person = f"{alias}.{person}"
    return Naming(shown.text, names, person)


def _join_public(join: JoinPublic, aliases: Iterator[str]) -> Naming:
    """Write a join with a public table."""
    left = _item(join.rows, aliases, alone=False)
    alias = next(aliases)
    tests = []
    for expression, column in join.on:
        own = expression_text(expression, left.names)
        tests.append(f"{own} = {alias}.{quote(column)}")
    kind = "LEFT JOIN" if join.keep else "JOIN"
    table = quote(join.table.name)
    condition = " AND ".join(tests)
    text = f"{left.text}\n{kind} {table} AS {alias} ON {condition}"
    names = dict(left.names)
    for name, column in join.columns:
        names[name] = f"{alias}.{quote(column)}"
    return Naming(text, names, left.person)


def _join_people(join: JoinPeople, aliases: Iterator[str]) -> Naming:
    """Write a join of private tables on the person, and on further columns."""
    left = _item(join.left, aliases, alone=False)
    if isinstance(join.right, JoinPublic | JoinPeople):
        # A join on the right side needs brackets, which only a sub-query has here.
        alias = next(aliases)
        right = _with_prefix(_subquery(join.right, aliases, alias), alias)
    else:
        right = _item(join.right, aliases, alone=False)
    tests = [f"{left.person} = {right.person}"]
    for left_side, right_side in join.on:
        own = expression_text(left_side, left.names)
        theirs = expression_text(right_side, right.names)
        tests.append(f"{own} = {theirs}")
    kind = _JOIN_KINDS[join.outer]
    condition = " AND ".join(tests)
    text = f"{left.text}\n{kind} {right.text} ON {condition}"
    return Naming(text, {**left.names, **right.names}, left.person)


def _block(relation: Relation, aliases: Iterator[str]) -> str:
    """Write a relation as a SELECT of all its columns."""
    match relation:
        case Union(parts=parts):
            return "\nUNION ALL\n".join(_block(part, aliases) for part in parts)
        case Select(rows=rows, columns=columns):
            shown = _clauses(rows, aliases)
            texts = {}
            for name, item in columns:
                texts[name] = expression_text(item, shown.names)
            return _select(shown, relation, texts)
        case PerPerson(rows=rows):
            return _per_person(_clauses(rows, aliases), relation)
        case _:
            shown = _clauses(relation, aliases)
            return _select(shown, relation, shown.names)


def _select(shown: Naming, relation: Relation, columns: Mapping[str, str], groups: str = "") -> str:
    """Write a SELECT of named columns, and of the person unless a column takes that name."""
    items = []
    person = _person(relation)
    if shown.person is not None and person is not None:
        # Tables may have two names for the id; a bare name or one behind an alias stays.
        item = shown.person
        if item != person and not item.endswith(f".{person}"):
            item = f"{item} AS {person}"
        items.append(item)
    for name, text in columns.items():
        items.append(with_alias(text, name))
    return f"SELECT {_comma(items)}\n{shown.text}{groups}"


def with_alias(text: str, name: str) -> str:
    """Write an item of SELECT with its name, unless its text is the name."""
    quoted = quote(name)
    if text == quoted:
        return text
    return f"{text} AS {quoted}"


def _per_person(shown: Naming, people: PerPerson) -> str:
    columns = {}
    for name, key in people.keys:
        columns[name] = expression_text(key, shown.names)
    # The keys of GROUP BY are the person and the columns so far; totals come after them.
    groups = _comma([str(shown.person), *columns.values()])
    max_rows = person_rows(people.rows)
    for name, total in people.totals:
        columns[name] = _total(total, shown.names, max_rows)
    return _select(shown, people, columns, f"\nGROUP BY {groups}")


def _total(total: Total, names: Mapping[str, str], max_rows: int) -> str:
    """Write a total of one person's rows."""
    if total.expression is not None:
        argument = expression_text(total.expression, names)
        return f"{_TOTALS[total.what]}({argument})"
    # A bound beyond the declared rows has no clause in SQL, so it is written as a clip.
    if total.high > max_rows:
        return f"LEAST(COUNT(*), {total.high})"
    return "COUNT(*)"
