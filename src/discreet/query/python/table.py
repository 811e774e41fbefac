"""Questions built in Python: `Table(people).where(col("age") >= 18).count(by="region")`.

Law: tests/query/test_build.py::TestAQuestion
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

from ...arithmetic.rational import Number
from ...data.schema import Schema
from ...errors import InvalidArgument, UnsupportedQuery
from ...frozen import fill, frozen, replace
from ..algebra.chain import chain
from ..algebra.expression import Expression, Field, Function
from ..algebra.joins import public_columns, with_unique_columns
from ..algebra.statistic import Statistic, statistic_name
from ..algebra.tree import (
    Finish,
    JoinPeople,
    JoinPublic,
    Question,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    names_of,
    own_fields,
    require_unique_names,
    unused_name,
)
from ..bounds.check import check_rows, require_sound
from ..bounds.keys import PublicValues
from ..bounds.person_totals import PersonTotals
from ..bounds.relation_facts import columns_of
from ..domains.domain_of import domain_of
from ..domains.type_of import type_of_domain
from ..meaning.constant_times import with_explicit_time_casts
from . import aggregate as statistics
from .aggregate import Of, named_column
from .bins import Edge, binned_by
from .column import Col
from .keys import (
    By,
    Keys,
    Places,
    chosen_keys,
    level_sets,
    listed_keys,
    named_keys,
    named_levels,
    nest_of,
    read_keys,
    read_places,
    running_key,
    sets_up_to,
)
from .people import people_in

On: TypeAlias = str | Sequence[str | tuple[Of, str]]
"""Columns that a join matches: "ward", ["ward", "year"], or [(col("zip") // 100, "area")]."""


@frozen(init=False)
class Table:
    """Private rows to ask about; every method returns a new table, or a question.

    >>> import discreet as dp
    >>> from discreet.data import Category, Integer, Rows
    >>> from discreet.query.python.column import col
    >>> from discreet.query.text.question import describe
    >>> columns = {"age": Integer(0, 120), "region": Category(["N", "S"])}
    >>> people = dp.Schema("people", Rows(), columns)
    >>> print(describe(dp.Table(people).where(col("age") >= 18).count(by="region")))
    SELECT region, COUNT(*) AS count
    FROM people
    WHERE age >= 18
    GROUP BY region

    Refuses: with `UnsupportedQuery` questions that cannot be answered privately, before any store
    is read.

    Law: tests/query/test_build.py::TestRefusals
    """

    rows: Relation
    public_values: PublicValues | None

    def __init__(self, rows: Schema | Relation, public_values: PublicValues | None = None) -> None:
        if isinstance(rows, Schema) and rows.public:
            raise UnsupportedQuery(
                f"{rows.name} is public, so its answers need no noise; ask the store itself"
            )
        relation = Scan(rows) if isinstance(rows, Schema) else rows
        check_rows(relation)
        fill(self, rows=relation, public_values=public_values)

    def _over(self, rows: Relation) -> Table:
        return Table(rows, self.public_values)

    def where(self, *conditions: Col) -> Table:
        """Keep the rows for which all conditions are true."""
        if not conditions or not all(isinstance(condition, Col) for condition in conditions):
            raise InvalidArgument("where takes conditions such as col('age') >= 18")
        condition = chain(Function.AND, [self._read(condition) for condition in conditions])
        return self._over(Where(self.rows, condition))

    def _read(self, of: Of) -> Expression:
        """Read a column's name or expression; dates and times are compared as in SQL."""
        types = {}
        for name, domain in columns_of(self.rows).items():
            types[name] = type_of_domain(domain)
        return with_explicit_time_casts(named_column(of), types)

    def select(self, *names: str, **expressions: Col) -> Table:
        """Keep columns by name, and add expressions under names of their own."""
        columns: list[tuple[str, Expression]] = [(name, named_column(name)) for name in names]
        columns += [(name, self._read(expression)) for name, expression in expressions.items()]
        if not columns:
            raise InvalidArgument("select takes at least one column")
        require_unique_names(names_of(columns))
        return self._over(Select(self.rows, tuple(columns)))

    def join(self, public: Schema, on: On, *, keep: bool = False) -> Table:
        """Add the columns of a public table; `keep` keeps rows without a match, with NULLs."""
        pairs = tuple((named_column(mine), yours) for mine, yours in _join_pairs(on))
        columns = public_columns(self.rows, public)
        return self._over(JoinPublic(self.rows, public, pairs, columns, keep))

    def join_person(
        self, other: Table, on: On = (), *, outer: Literal["", "left", "full"] = ""
    ) -> Table:
        """Pair the rows of each person in both tables, further matched on the columns `on`.

        `outer` keeps rows without a match, with NULLs: those here ("left", LEFT JOIN), or of both
        tables ("full").
        """
        # Columns of the other table get new names where both tables have them.
        right, new_names = with_unique_columns(self.rows, other.rows)
        pairs = []
        for mine, yours in _join_pairs(on):
            right_name = new_names.get(yours, yours)
            pairs.append((named_column(mine), Field(right_name)))
        return self._over(JoinPeople(self.rows, right, tuple(pairs), outer))

    def where_person_in(self, other: Table) -> Table:
        """Keep the rows of people who have a row in another table.

        In SQL: IN (SELECT person …), EXISTS, SEMI JOIN.
        """
        return self._over(people_in(self.rows, other.rows, there=True))

    def where_person_not_in(self, other: Table) -> Table:
        """Keep the rows of people who have no row in another table.

        In SQL: NOT IN, NOT EXISTS, ANTI JOIN.
        """
        return self._over(people_in(self.rows, other.rows, there=False))

    def union(self, *others: Table) -> Table:
        """Unite the rows of several tables of the same people (UNION ALL)."""
        other_rows = [other.rows for other in others]
        return self._over(Union((self.rows, *other_rows)))

    def per_person(self, by: By = (), **totals: Statistic) -> Table:
        """Sum up each person's rows, by further keys: one row per person and key.

        There are counts, sums, means, least and greatest values, clipped to public bounds.
        """
        keys = named_keys(by)
        person_totals = PersonTotals(self.rows, keys)
        columns: list[tuple[str, Expression]] = [*own_fields(names_of(keys))]
        for name, statistic in totals.items():
            columns.append((name, person_totals.expression(statistic, name)))
        rows = person_totals.per_person()
        require_unique_names(names_of(columns))
        made = own_fields(names_of((*keys, *rows.totals)))
        # A mean is an expression of two totals, so it needs a SELECT; plain totals do not.
        if tuple(columns) == made or not totals:
            return self._over(rows)
        return self._over(Select(rows, tuple(columns)))

    def aggregate(
        self,
        by: By = (),
        keys: Keys = None,
        *,
        having: Col | None = None,
        order: Sequence[str] = (),
        limit: int | None = None,
        offset: int = 0,
        show: Mapping[str, Col] | None = None,
        **named: Statistic,
    ) -> Question:
        """Ask for several statistics at once, for each key.

        | argument | meaning |
        |---|---|
        | by | the keys: columns by name, or expressions under names |
        | keys | public values of the keys, if the schema does not tell them, or combinations |
        | | of all, listed or in a public table: exactly these have a row, even if empty |
        | having | condition on the noisy result |
        | order | names of columns ("-n": descending) |
        | limit, offset | keep the first `limit` rows after `offset` |
        | show | columns computed from the results (post-processing), which costs nothing |
        | named | the statistics, each under the name of its column |

        >>> import discreet as dp
        >>> from discreet.query import count
        >>> people = dp.Table(dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])}))
        >>> share = dp.col("n") / dp.col("n").total()
        >>> question = people.aggregate(by="sex", n=count(), show={"share": share})
        """
        if not named:
            raise InvalidArgument("aggregate takes at least one statistic, such as n=count()")
        condition = None if having is None else named_column(having)
        computed: dict[str, Expression] = {}
        for name, column in (show or {}).items():
            computed[name] = named_column(column)
        sort_keys = tuple(_sort_key(name, computed) for name in order)
        finish = Finish(tuple(computed.items()), condition, sort_keys, limit, offset)
        return self._question(named, by, keys, finish)

    def distinct(self, by: By) -> Question:
        """Ask only which keys occur (partition selection), which needs δ."""
        return self._question({}, by, None, Finish(()))

    def _question(
        self, named: Mapping[str, Statistic], by: By, keys: Keys, finish: Finish
    ) -> Question:
        """Ask for statistics by keys, which are shown before the columns of `finish`."""
        if not isinstance(by, str):
            by = {name: Col(self._read(Col(key))) for name, key in named_keys(by)}
        values, nest = chosen_keys(by, keys, self.public_values)
        groups = read_keys(by, values, self.rows, self.public_values)
        shown_names = [key.name for key in groups] + list(named)
        finish = replace(finish, columns=(*own_fields(shown_names), *finish.columns))
        asked = tuple((name, self._with_times(statistic)) for name, statistic in named.items())
        question = Question(self.rows, groups, asked, finish, nested=nest)
        return require_sound(question, self.public_values)

    def _with_times(self, statistic: Statistic) -> Statistic:
        """Return a statistic whose expressions compare dates and times as in SQL."""
        read: dict[str, Expression] = {}
        for name in statistic.declared.fields:
            read[name] = self._read(Col(getattr(statistic, name)))
        return replace(statistic, **read) if read else statistic  # type: ignore[arg-type]

    def _one(self, statistic: Statistic, by: By, keys: Keys) -> Question:
        taken = names_of(named_keys(by))
        name = unused_name(statistic_name(statistic), "statistic", taken)
        return self._question({name: statistic}, by, keys, Finish(()))

    def count(self, by: By = (), keys: Keys = None) -> Question:
        """Count rows."""
        return self._one(statistics.count(), by, keys)

    def count_people(self, by: By = (), keys: Keys = None, *, where: Of | None = None) -> Question:
        """Count people with at least one row, or with one for which a condition is true."""
        return self._one(statistics.count_people(where), by, keys)

    def count_distinct(self, of: Of, by: By = (), keys: Keys = None) -> Question:
        """Count how many values occur, public or not."""
        return self._one(statistics.count_distinct(of), by, keys)

    def sum(self, of: Of, by: By = (), keys: Keys = None) -> Question:
        """Sum a number."""
        return self._one(statistics.sum_of(of), by, keys)

    def mean(self, of: Of, by: By = (), keys: Keys = None) -> Question:
        """Take the mean of a number."""
        return self._one(statistics.mean(of), by, keys)

    def variance(self, of: Of, by: By = (), keys: Keys = None) -> Question:
        """Take the sample variance of a number."""
        return self._one(statistics.variance(of), by, keys)

    def median(self, of: Of, by: By = (), keys: Keys = None) -> Question:
        """Take the middle value."""
        return self._one(statistics.median(of), by, keys)

    def quantile(self, of: Of, at: Number, by: By = (), keys: Keys = None) -> Question:
        """Take the value below which the fraction `at` of the rows lies."""
        return self._one(statistics.quantile(of, at), by, keys)

    def mode(self, of: Of, by: By = (), keys: Keys = None) -> Question:
        """Take the most frequent public value."""
        return self._one(statistics.mode(of), by, keys)

    def histogram(
        self,
        of: Of,
        *,
        width: Number | str | None = None,
        start: Edge | None = None,
        edges: Iterable[Edge] | None = None,
    ) -> Question:
        """Count rows in public bins, named by their lower edges.

        Bins have one width, counted from `start`; or one begins at each of `edges`, the last
        without an upper end. Of dates a width is a number of days, of times of seconds, or a unit:
        width="week", "month", "quarter" …

        >>> import discreet as dp
        >>> people = dp.Schema("people", dp.Rows(), {"joined": dp.Date("2024-01-01", "2024-12-31")})
        >>> len(dp.Table(people).histogram("joined", width="week").keys[0].values)
        53
        """
        x = self._read(of)
        if (width is None) == (edges is None):
            raise InvalidArgument(
                "a histogram needs a width, as in width=10, or edges, as in edges=[0, 18, 65]"
            )
        type_ = type_of_domain(domain_of(x, columns_of(self.rows)))
        edge = binned_by(x, type_, width, start, edges)
        name = x.name if isinstance(x, Field) else "bin"
        return self.count(by={name: Col(edge)})

    def marginals(self, by: Sequence[str], up_to: int | None = None, keys: Keys = None) -> Question:
        """Count rows in all tables of at most `up_to` of these keys at once, with the total.

        The tables add up where no row can be without a key: for columns with a default, or for
        COALESCE. One charge pays for all of them, and the planner finds the strategy of least
        error for all.

        >>> import discreet as dp
        >>> columns = {"sex": dp.Category(["f", "m"]), "old": dp.Boolean()}
        >>> people = dp.Schema("people", dp.Rows(), columns)
        >>> dp.Table(people).marginals(["sex", "old"], up_to=1).sets
        ((0,), (1,), ())

        Refuses: with `UnsupportedQuery` keys that are not public, more than 256 tables, 100,000
        cells in one, or 200,000 in all where all keys together have more than 100,000.
        """
        max_keys = len(by) if up_to is None else up_to
        sets = sets_up_to(by, max_keys)
        return self._together(self.count(list(by), keys), sets=sets)

    def hierarchy(
        self,
        *levels: str | Mapping[str, Of],
        by: Sequence[str] = (),
        keys: Keys = None,
        places: Places | None = None,
    ) -> Question:
        """Count rows on every level of nested keys, the widest first, each also by further keys.

        Levels are names of columns, or expressions under names. Levels that read one column are
        nested by themselves. For several columns `places` lists their combinations, each a row of
        values; without it all combinations count.

        >>> import discreet as dp
        >>> columns = {"tract": dp.Integer(0, 11_999), "sex": dp.Category(["f", "m"])}
        >>> land = dp.Schema("land", dp.Rows(), columns)
        >>> levels = {"state": dp.col("tract") // 1200, "tract": "tract"}
        >>> tree = dp.Table(land).hierarchy(levels, by=["sex"])
        >>> tree.sets, len(tree.nested.rows)
        (((0, 1, 2), (0, 1), (0, 2), (0,), (2,), ()), 12000)

        Refuses: all that `marginals` refuses, combinations twice or of other keys, and more than
        200,000 cells of nested keys.
        """
        named: dict[str, Of] = {}
        for level in levels:
            named.update(named_levels(level))
        # Called for its refusals of names alone.
        sets_up_to([*named, *by], 1)
        sets = level_sets(len(named), len(by))
        asked = dict(named)
        for name in by:
            asked[name] = name
        if places is None:
            return self._together(self.count(asked, keys), sets=sets)
        rows = read_places(places, list(named), keys)
        question = self.count(asked, listed_keys(rows, list(named), keys))
        # A single level is a list of values, no hierarchy.
        nest = nest_of(rows) if len(named) > 1 else None
        return self._together(question, sets=sets, nested=nest)

    def cumulative(self, of: Of, *, width: Number | None = None, start: Number = 0) -> Question:
        """Count the rows up to and with every value of a number, or up to every bin.

        `answer.between` and `answer.quantile` read such an answer.

        >>> import discreet as dp
        >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120)})
        >>> dp.Table(people).cumulative("age").running
        True

        Refuses: with `UnsupportedQuery` more than 4,096 values; use wider bins.
        """
        key = running_key(of, width, start)
        return self._together(self.count(by=key), running=True)

    def _together(self, question: Question, **asked: object) -> Question:
        """Return a question with further fields, checked again."""
        extended = replace(question, **asked)  # type: ignore[arg-type]
        return require_sound(extended, self.public_values)


def _sort_key(name: str, computed: Mapping[str, Expression]) -> tuple[Expression, bool]:
    """Read a column of ORDER BY and whether it is descending."""
    descending = name.startswith("-")
    column = name.removeprefix("-")
    return computed.get(column, Field(column)), descending


def _join_pairs(on: On) -> list[tuple[Of, str]]:
    """Return pairs of the expression on this side and the column on the other."""
    if isinstance(on, str):
        return [(on, on)]
    pairs: list[tuple[Of, str]] = []
    for item in on:
        # A name alone is the same on both sides, as in USING.
        pairs.append((item, item) if isinstance(item, str) else item)
    return pairs
