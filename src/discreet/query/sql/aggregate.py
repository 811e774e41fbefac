"""Aggregates of SQL as statistics of the question.

Functions that the statistics declare (`algebra.statistic.FUNCTIONS`) share one reader. COUNT,
quantiles and WITHIN GROUP have a syntax of their own, and a reader each. If a public list of keys
is joined by RIGHT JOIN, aggregates are refused that SQL would take over the empty row of a key
without private rows (`check_beside_keys`).

Refuses: with `UnsupportedQuery` every aggregate that has no private answer.

Law: tests/query/test_sql.py::TestAQuestion
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from sqlglot import exp

from ..algebra.chain import chain
from ..algebra.expression import Call, Constant, Expression, Field, Function, call_of, fields_of
from ..algebra.refusal import refusal
from ..algebra.statistic import (
    FUNCTIONS,
    AggregateFunction,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    CountPeopleIf,
    Mode,
    Quantile,
    Statistic,
    Sum,
    expressions_of,
)
from ..bounds.relation_facts import columns_of
from ..meaning.evaluate import evaluate
from .expression import missing_side_flag, read
from .scope import (
    Absent,
    ChosenKeys,
    Person,
    Scope,
    is_person,
    refuse_windowed_unit,
    resolve,
    row_names,
)
from .syntax import (
    aggregate_name,
    clause_of,
    identifier,
    only,
    refuse_node,
    require_arity,
    standard_aggregate,
    suggested_aggregate,
)

Condition = Expression | None
"""The condition of FILTER (WHERE …), if there is one."""


def statistic_of(node: exp.Expr, scope: Scope) -> Statistic:
    """Read one aggregate with its FILTER.

    FILTER (WHERE …) turns the values of other rows into NULL, which no aggregate counts.
    """
    condition = None
    if isinstance(node, exp.Filter):
        only(node, "this", "expression")
        only(node.expression, "this")
        condition = read(node.expression.this, row_names(scope))
        node = node.this
    statistic = _unfiltered(node, scope, condition)
    check_beside_keys(node, statistic, scope)
    return statistic


def _unfiltered(node: exp.Expr, scope: Scope, condition: Condition) -> Statistic:
    """Read an aggregate without its FILTER, whose condition is given."""
    if isinstance(node, exp.WithinGroup):
        return _within_group(node, scope, condition)
    node = standard_aggregate(node)
    reader = _READERS.get(type(node))
    if reader is not None:
        return reader(node, scope, condition)
    function = FUNCTIONS.get(aggregate_name(node))
    if function is not None:
        return _declared(function, node, scope, condition)
    if isinstance(node, exp.Window):
        refuse_node(node)
    alternative = suggested_aggregate(node)
    raise refusal(clause_of(node), "this aggregate has no private answer", alternative)


def _argument(node: exp.Expr | None, scope: Scope, condition: Condition) -> Expression:
    """Read the expression that an aggregate summarises."""
    if node is None:
        raise refusal("an aggregate", "it needs a column", "write one such as AVG(age)")
    return _where(condition, read(node, row_names(scope)))


def _where(condition: Condition, value: Expression) -> Expression:
    """Return a value where the condition holds, else NULL."""
    if condition is None:
        return value
    return Call(Function.CASE, (condition, value, Constant(None)))


def _count(node: exp.Count, scope: Scope, condition: Condition) -> Statistic:
    """Read COUNT: of *, of nothing and of a constant it counts rows; of x it counts values."""
    only(node, "this", "big_int")
    counted = node.this
    if isinstance(counted, exp.Distinct):
        return _count_distinct(counted, scope, condition)
    if isinstance(counted, exp.Star):
        only(counted)
        counted = None
    # A row without its person counts nowhere, so counting people's ids is counting rows.
    if counted is None or is_person(counted.unnest(), scope):
        value: Expression = Constant(1)
    else:
        named = _named_people(counted.unnest(), scope)
        flag = missing_side_flag(counted, row_names(scope))
        if named is not None and flag is None:
            value = _where(named, Constant(1))
        else:
            value = flag or _argument(counted, scope, None)
    if value == Constant(None):
        raise refusal("COUNT(NULL)", "it is always 0", "write COUNT(*)")
    # A constant is never NULL, so it counts rows.
    if isinstance(value, Constant):
        if condition is None:
            return Count()
        value = Constant(1)
    return CountOf(_where(condition, value))


def _count_distinct(node: exp.Distinct, scope: Scope, condition: Condition) -> Statistic:
    """Read COUNT(DISTINCT x): people if x is their id, else the values of x that occur."""
    only(node, "expressions")
    if len(node.expressions) != 1:
        raise refusal(
            "COUNT(DISTINCT x, y)", "it takes one column", "count pairs with GROUP BY x, y"
        )
    counted = node.expressions[0].unnest()
    named = _named_people(counted, scope)
    if named is None:
        return CountDistinct(_argument(counted, scope, condition))
    refuse_windowed_unit(scope.rows, "COUNT(DISTINCT person)")
    both = _both(condition, named)
    if both == Constant(True):
        return CountPeople()
    return CountPeopleIf(both)


def _both(first: Condition, second: Expression) -> Expression:
    """Join two conditions by AND; one that always holds, or is not there, is left out."""
    if first is None or first == Constant(True):
        return second
    if second == Constant(True):
        return first
    return chain(Function.AND, (first, second))


def _named_people(node: exp.Expr, scope: Scope) -> Condition:
    """Return the condition under which a node is the person's id, else NULL.

    None if the node is no id. It may be the id itself, that of a side of an outer join that may be
    missing, or a CASE or IF whose values are ids and NULL. So the id is never read: just where it
    stands is.
    """
    match node:
        case exp.Column(this=exp.Identifier()):
            meaning = resolve(scope, node)
            if isinstance(meaning, Absent):
                return call_of(Function.NOT, call_of(Function.IS_NULL, Field(meaning.flag)))
            if isinstance(meaning, Person):
                return Constant(True)
        case exp.Case() if any(is_person_id(column, scope) for column in _values_of(node)):
            return _named_by_case(node, scope)
        case exp.If() if is_person_id(node.args["true"], scope):
            only(node, "this", "true", "false")
            case = exp.Case(ifs=[exp.If(this=node.this, true=node.args["true"])])
            case.set("default", node.args.get("false"))
            return _named_by_case(case, scope)
    return None


def is_person_id(node: exp.Expr, scope: Scope) -> bool:
    """Return whether a node names a person's id, also one that may be missing."""
    inner = node.unnest()
    if not isinstance(inner, exp.Column) or not isinstance(inner.this, exp.Identifier):
        return False
    return isinstance(resolve(scope, inner), Person)


def _values_of(node: exp.Case) -> list[exp.Expr]:
    """List the values that CASE chooses from."""
    values = []
    for branch in node.args["ifs"]:
        values.append(branch.args["true"])
    if node.args.get("default") is not None:
        values.append(node.args["default"])
    return values


def _named_by_case(node: exp.Case, scope: Scope) -> Expression:
    """Return the condition under which a CASE of ids and NULL is an id."""
    only(node, "this", "ifs", "default")
    branches: list[tuple[Expression, Expression]] = []
    for branch in node.args["ifs"]:
        test = branch.this
        if node.this:
            # CASE x WHEN y compares; the copies keep the parsed tree as it was.
            test = exp.EQ(this=node.this.copy(), expression=test.copy())
        branches.append((read(test, row_names(scope)), _id_or_null(branch.args["true"], scope)))
    otherwise: Expression = Constant(False)
    if node.args.get("default") is not None:
        otherwise = _id_or_null(node.args["default"], scope)
    # One branch is a condition like that of FILTER: equal questions have equal trees.
    if len(branches) == 1 and otherwise == Constant(False):
        return _both(*branches[0])
    arguments: list[Expression] = []
    for test, value in branches:
        arguments += [test, value]
    return Call(Function.CASE, (*arguments, otherwise))


def _id_or_null(node: exp.Expr, scope: Scope) -> Expression:
    inner = node.unnest()
    if isinstance(inner, exp.Null):
        return Constant(False)
    named = _named_people(inner, scope)
    if named is None:
        raise refusal(
            clause_of(node),
            "it stands beside a person's id, which is never read",
            "let CASE choose between the id and NULL: COUNT(DISTINCT CASE WHEN … THEN id END)",
        )
    return named


def _approximate_count(node: exp.ApproxDistinct, scope: Scope, condition: Condition) -> Statistic:
    """Read APPROX_COUNT_DISTINCT(x) as COUNT(DISTINCT x): the noise is its approximation."""
    only(node, "this")
    return _count_distinct(exp.Distinct(expressions=[node.this]), scope, condition)


def _count_if(node: exp.CountIf, scope: Scope, condition: Condition) -> Statistic:
    only(node, "this")
    holds = read(node.this, row_names(scope))
    both = holds if condition is None else Call(Function.AND, (condition, holds))
    return CountOf(_where(both, Constant(1)))


def _declared(
    function: AggregateFunction, node: exp.Expr, scope: Scope, condition: Condition
) -> Statistic:
    """Read a function of one or two expressions, with the fields that it sets."""
    arguments = []
    for argument in _argument_nodes(node, function.arity):
        if function.arity == 1 and isinstance(argument, exp.Distinct):
            raise refusal(
                clause_of(node),
                "DISTINCT compares people with each other",
                "leave DISTINCT out, or GROUP BY the values and count them",
            )
        arguments.append(_argument(argument, scope, condition))
    return function.make(*arguments, **function.values)


def _argument_nodes(node: exp.Expr, arity: int) -> list[exp.Expr | None]:
    # A function that the grammar does not know has its arguments in a list.
    if isinstance(node, exp.Anonymous):
        only(node, "this", "expressions")
        require_arity(node, arity)
        return list(node.expressions)
    parts = ("this", "expression")[:arity]
    only(node, *parts)
    return [node.args.get(part) for part in parts]


def _quantile(part: str, node: exp.Expr, scope: Scope, condition: Condition) -> Statistic:
    only(node, "this", part)
    argument = _argument(node.this, scope, condition)
    return Quantile(argument, _quantile_order(node.args.get(part), scope))


def _quantile_order(node: exp.Expr | None, scope: Scope) -> Fraction:
    """Read the order of a quantile: a number from 0 (minimum) to 1 (maximum)."""
    order = None if node is None else read(node, row_names(scope))
    if (
        not isinstance(order, Constant)
        or isinstance(order.value, bool | str | None)
        or not 0 <= order.value <= 1
    ):
        raise refusal(
            "a quantile",
            "it takes a share from 0 to 1 that is written out",
            "write QUANTILE(x, 0.5)",
        )
    return Fraction(order.value)


def _within_group(node: exp.WithinGroup, scope: Scope, condition: Condition) -> Statistic:
    """Read PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x), and MODE()."""
    only(node, "this", "expression")
    aggregate = node.this
    ordering = node.expression
    only(ordering, "expressions")
    if len(ordering.expressions) != 1:
        raise refusal("WITHIN GROUP", "it takes one expression", "write WITHIN GROUP (ORDER BY x)")
    item = ordering.expressions[0]
    only(item, "this", "desc", "nulls_first")
    argument = _argument(item.this, scope, condition)
    if isinstance(aggregate, exp.Mode):
        only(aggregate)
        return Mode(argument)
    if not isinstance(aggregate, exp.PercentileCont | exp.PercentileDisc):
        refuse_node(aggregate)
    only(aggregate, "this")
    order = _quantile_order(aggregate.this, scope)
    # Counted from the top, a quantile is the opposite one counted from the bottom.
    if item.args.get("desc"):
        order = 1 - order
    return Quantile(argument, order)


def check_beside_keys(node: exp.Expr, statistic: Statistic, scope: Scope) -> None:
    """Refuse an aggregate that SQL would take over the empty row of a key without private rows.

    RIGHT JOIN with a list of keys keeps such a key with one row, in which all private columns are
    NULL. There SQL's COUNT(*) is 1. Aggregates of private columns, as COUNT(v.x), have their usual
    value.
    """
    chosen = scope.chosen
    if chosen is None or not chosen.outer:
        return
    if (
        _reads_list(node, chosen)
        or _counts_rows(node, statistic, scope)
        or _has_value_of_nothing(statistic, scope)
    ):
        raise refusal(
            clause_of(node),
            "of a key that nobody has, RIGHT JOIN leaves an empty row, which it would take part of",
            "count what is private, as COUNT(v.user_id), or write JOIN instead of RIGHT JOIN",
        )


def _reads_list(node: exp.Expr, chosen: ChosenKeys) -> bool:
    """Return whether an aggregate reads a column of the list, which the empty row has."""
    names = set(map(str.casefold, chosen.names))
    for column in node.find_all(exp.Column):
        table = column.args.get("table")
        of_list = table is None or identifier(table).casefold() == chosen.alias.casefold()
        if of_list and column.name.casefold() in names:
            return True
    return False


def _counts_rows(node: exp.Expr, statistic: Statistic, scope: Scope) -> bool:
    """Return whether an aggregate is COUNT(*), which is 1 of the empty row."""
    if not isinstance(statistic, Count):
        return False
    # COUNT of the person's id counts rows as well, but not the empty one.
    counted = node.this.unnest() if node.this else node
    return not is_person(counted, scope)


def _has_value_of_nothing(statistic: Statistic, scope: Scope) -> bool:
    """Return whether an aggregate's argument has a value where all columns are NULL."""
    # The empty row has no person, so whatever its condition is, nobody is counted.
    if isinstance(statistic, CountPeopleIf):
        return False
    domains = columns_of(scope.rows)
    for expression in expressions_of(statistic):
        value = evaluate(expression, dict.fromkeys(fields_of(expression)), domains)
        # A sum may take a zero of the empty row: it stays what it is.
        if value is not None and not (isinstance(statistic, Sum) and value == 0):
            return True
    return False


_READERS: dict[type[exp.Expr], Callable[..., Statistic]] = {
    exp.Count: _count,
    exp.CountIf: _count_if,
    exp.ApproxDistinct: _approximate_count,
    exp.Quantile: partial(_quantile, "quantile"),
    exp.ApproxQuantile: partial(_quantile, "quantile"),
    exp.PercentileCont: partial(_quantile, "expression"),
    exp.PercentileDisc: partial(_quantile, "expression"),
}
