"""Questions as a closed tree: relations of rows that each belong to one unit, statistics, and what is done afterwards.

    Question   rows, keys, statistics, finish
    Relation   Scan  Where  Select  JoinPublic  JoinPeople  Union  PerPerson
    Statistic  Count  CountOf  CountPeople  CountDistinct  Sum  Mean  Variance  Quantile  Mode  Covariance  Correlation

Every row of a relation belongs to exactly one unit: the row itself (`Rows`) or a person (`People`). Each node keeps
that true, which is why there is no join of private tables but on the person, no DISTINCT, no window, no free sub-query.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, TypeAlias

from ...data.schema import Schema
from ...frozen import frozen
from ..domains.domain import Scalar
from .expression import Expression

Named: TypeAlias = tuple[tuple[str, Expression], ...]
"""Expressions with their names, in order; names are unique."""


@frozen
class Scan:
    """All rows of a private table, its columns read as the schema declares them."""

    schema: Schema


@frozen
class Where:
    """The rows for which a condition is true (not false, not NULL)."""

    rows: Relation
    condition: Expression


@frozen
class Select:
    """One row for each row, with just these columns."""

    rows: Relation
    columns: Named


@frozen
class JoinPublic:
    """Each row with the public rows that match it: `on` pairs an expression of the row with a public column.

    The public columns appear as `columns` says: (name here, public column). A unit's rows may multiply, as much as
    the public table's schema allows (`Schema.most_matches`). `keep` keeps rows without a match, with NULLs (LEFT JOIN).
    """

    rows: Relation
    table: Schema
    on: tuple[tuple[Expression, str], ...]
    columns: tuple[tuple[str, str], ...]
    keep: bool = False


@frozen
class JoinPeople:
    """Pairs of rows of one and the same person from two relations, further matched on `on`; names must not collide.

    `outer`: rows of the left side ("left"), or of both ("full"), that match nothing stay, with NULLs beside them. What
    one person's rows become hangs on that person's rows alone, so this moves nobody else's.
    """

    left: Relation
    right: Relation
    on: tuple[tuple[Expression, Expression], ...] = ()
    outer: Literal["", "left", "full"] = ""


@frozen
class Union:
    """All rows of several relations with the same column names and domains (UNION ALL)."""

    parts: tuple[Relation, ...]


@frozen
class Total:
    """What `PerPerson` works out about one person's rows, clipped to `low`..`high` whole steps of `step`.

    `what` is the number of rows (`expression` None), or the sum, least or greatest of an expression; NULL if none.
    """

    what: Literal["count", "sum", "least", "greatest"]
    expression: Expression | None
    step: Fraction
    low: int
    high: int


@frozen
class PerPerson:
    """One row for each person and key: GROUP BY the person (and more) in a sub-query."""

    rows: Relation
    keys: Named
    totals: tuple[tuple[str, Total], ...]


Relation: TypeAlias = Scan | Where | Select | JoinPublic | JoinPeople | Union | PerPerson


@frozen
class Count:
    """COUNT(*): rows."""


@frozen
class CountOf:
    """COUNT(x): rows where x is not NULL."""

    of: Expression


@frozen
class CountPeople:
    """COUNT(DISTINCT person): people with at least one row."""


@frozen
class CountDistinct:
    """COUNT(DISTINCT x) of an expression with public keys: how many of them occur."""

    of: Expression


@frozen
class Sum:
    """SUM(x); NULL adds nothing."""

    of: Expression


@frozen
class Mean:
    """AVG(x) over the rows where x is not NULL."""

    of: Expression


@frozen
class Variance:
    """VARIANCE(x) (`sample`) or VAR_POP(x); its root if `root`."""

    of: Expression
    sample: bool = True
    root: bool = False


@frozen
class Quantile:
    """The value below which a share `at` of the rows lies: MIN is 0, MEDIAN 1/2, MAX 1."""

    of: Expression
    at: Fraction


@frozen
class Mode:
    """The most frequent public value of an expression."""

    of: Expression


@frozen
class Covariance:
    """COVAR_SAMP(x, y) (`sample`) or COVAR_POP(x, y) over rows where neither is NULL."""

    x: Expression
    y: Expression
    sample: bool = True


@frozen
class Correlation:
    """CORR(x, y) over rows where neither is NULL."""

    x: Expression
    y: Expression


Statistic: TypeAlias = (
    Count
    | CountOf
    | CountPeople
    | CountDistinct
    | Sum
    | Mean
    | Variance
    | Quantile
    | Mode
    | Covariance
    | Correlation
)


@frozen
class Key:
    """A column of GROUP BY. `values` are its public keys, all of which appear; None: they are selected privately."""

    name: str
    expression: Expression
    values: tuple[Scalar, ...] | None


@frozen
class Finish:
    """Post-processing of the noisy table: the columns to show, HAVING, ORDER BY, LIMIT, OFFSET. It costs nothing.

    `columns` are expressions over the names of keys and statistics; `order` pairs an expression with "descending".
    """

    columns: Named
    having: Expression | None = None
    order: tuple[tuple[Expression, bool], ...] = ()
    limit: int | None = None
    offset: int = 0


@frozen
class Nest:
    """Keys that lie within each other, by their places, the widest first, and every public combination of their values.

    Rows stand in the order of their parents; a row of people that has none of these combinations is in no cell.
    """

    places: tuple[int, ...]
    rows: tuple[tuple[Scalar, ...], ...]


@frozen
class Question:
    """Statistics of the rows, for each key.

    `sets`: for each combination of some of the keys, by their places, summed over the others (GROUPING SETS); a key
    that is summed over is NULL. `running`: totals up to and with each value of the one key. `nested`: which of the
    keys lie within each other, and all combinations of them that there are.
    """

    rows: Relation
    keys: tuple[Key, ...]
    statistics: tuple[tuple[str, Statistic], ...]
    finish: Finish
    sets: tuple[tuple[int, ...], ...] | None = None
    running: bool = False
    nested: Nest | None = None
