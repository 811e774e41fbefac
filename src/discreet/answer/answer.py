"""The answer: a table of noisy values, with an interval for every statistic and what it took to make them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import answer as room
from .. import workloads
from ..arithmetic.rational import Number
from ..frozen import field, frozen, replace
from ..plan.plan import Plan
from ..query.algebra.expression import Field, fields_of
from ..query.algebra.tree import Finish, Question
from ..query.algebra.windows import windows_of
from ..query.domains.type_of import ValueType, type_of
from ..query.meaning.post_processing import (
    NoisyRow,
    Types,
    Value,
    keep_rows,
    show_row,
    types_of,
    with_windows,
)
from ..statistics.joint_estimate import JointTotal
from ..statistics.recipe import NoisyValue
from ..statistics.releases.set_totals import SetEstimate
from ..statistics.releases.total import KeyValues
from . import export, text
from .computed.thresholded_keys import keys_shown_by
from .computed.window_intervals import TableLaw, reads_rows
from .confidence import read_level
from .export import plain
from .provenance import Provenance

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa  # type: ignore[import-untyped]

    from .derived_views import Between

Interval = tuple[Value, Value] | None


@frozen
class Answer:
    """Columns and rows as the question asked to see them; everything here is private to nobody.

    `interval(level)` gives, row by row, where the exact value of each column lies with at least that probability.
    "Exact" means: of the bounded shares that the plan states, since what a share cuts off nobody released.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    sorts: tuple[ValueType | None, ...]
    plan: Plan | Provenance
    keys: tuple[KeyValues, ...]
    estimates: tuple[dict[str, NoisyValue], ...]
    receipt: object = None
    caption: str = field(default="", compare=False)
    candidates: int = 0
    every: tuple[tuple[KeyValues, ...], tuple[dict[str, NoisyValue], ...]] | None = None
    """All keys and estimates, where a window or OFFSET reads more than the rows that are shown."""

    @classmethod
    def of(
        cls,
        plan: Plan | Provenance,
        keys: Sequence[KeyValues],
        estimates: Sequence[dict[str, NoisyValue]],
        *,
        candidates: int | None = None,
    ) -> Answer:
        """Finish a table of estimates: HAVING, ORDER BY, LIMIT and the columns to show, all on noisy values.

        `candidates` is the number of keys among which rows are picked, as many as there are by default.
        """
        question, sorts = plan.question, types_of(plan.question)
        names = [key.name for key in question.keys]
        early = _read_of_all(question.finish)
        table: list[NoisyRow] = [
            {
                **dict(zip(names, key, strict=True)),
                **{name: made.value for name, made in row.items() if name in early},
            }
            for key, row in zip(keys, estimates, strict=True)
        ]
        table = list(with_windows(question.finish, table, sorts))
        places = keep_rows(question.finish, table, sorts)
        rows = [_shown(question.finish, table[place], estimates[place], sorts) for place in places]
        among = len(keys) if candidates is None else candidates
        return cls(
            tuple(name for name, _ in question.finish.columns),
            tuple(rows),
            tuple(type_of(expression, sorts) for _, expression in question.finish.columns),
            plan,
            tuple(keys[place] for place in places),
            tuple(estimates[place] for place in places),
            candidates=among if picks_by_noise(question) else 0,
            every=(tuple(keys), tuple(estimates)) if reads_rows(question.finish) else None,
        )

    def with_receipt(self, receipt: object, caption: str = "") -> Answer:
        """Return the same answer with the ledger's receipt; the caption stands below the table wherever it is shown."""
        return replace(self, receipt=receipt, caption=caption)

    @property
    def noisy(self) -> tuple[str, ...]:
        """The columns that are made from statistics; the others are keys, and exact."""
        names = {name for name, _ in self.plan.question.statistics}
        return tuple(
            name for name, made in self.plan.question.finish.columns if fields_of(made) & names
        )

    def column(self, name: str) -> list[object]:
        """List the values of one column as Python has them: dates and times, floats, text."""
        place = self.columns.index(name)
        return [plain(row[place], self.sorts[place]) for row in self.rows]

    def table(self, *names: str) -> Answer:
        """Return one of the sets that were asked at once, by the names of its keys; none for the total.

        >>> import discreet as dp
        >>> people = dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"], default="f")})
        >>> store = dp.Memory({"people": [{"sex": "f"}] * 900})
        >>> curator = dp.Curator(store, [people], dp.open_ledger(":memory:", dp.PureDP(3)))
        >>> cube = curator.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY CUBE (sex)", spend=dp.PureDP(1))
        >>> cube.table("sex").columns, sum(cube.table("sex").column("n")) == cube.table().column("n")[0]
        (('sex', 'n'), True)

        Refuses a set that was not asked.
        """
        return room.derived_views.one_set(self, names)

    def between(self, low: object, high: object, level: float = 0.95) -> Between:
        """Return the count from `low` up to and with `high`, of running totals, with its interval; it is free."""
        return room.derived_views.between(self, low, high, level)

    def quantile(self, at: Number) -> Value:
        """Return the least value up to which a share `at` of the running total lies; it is free."""
        return room.derived_views.quantile_of(self, at)

    def measurements(self) -> dict[str, object]:
        """Return what a workload released before anything was moved, with its covariance, as plain values for JSON."""
        return room.measurements.measurements(self)

    def interval(
        self, level: float = 0.95, *, joint: bool = False
    ) -> tuple[dict[str, Interval], ...]:
        """Bound the exact values, row by row: each interval by itself holds with probability `level` or more.

        `joint`: all intervals of the answer hold at once with that probability. Where rows were picked by noisy values
        (HAVING, ORDER BY … LIMIT), a column's intervals hold at once for all keys among which they were picked, since
        the largest of many noisy values is one that noise made large. Noise in different keys is independent, so of m
        keys each is taken at level^(1/m); of cells of a workload and columns that read other rows, whose noise is
        shared, and of k columns, each at 1 − (1 − level)/k. Where a noisy count decided which keys are shown, every
        interval made from it holds with that probability given that its key was shown.

        Columns that are quotients of sums, shares of a total and differences between rows are bounded by the noise of
        all they are made from (Fieller 1954); those computed otherwise from k statistics take each at
        1 − (1 − level)/k. None where no bound is known: a mode, a quotient whose divisor may be 0, a window over rows
        that noise picked.
        """
        made = [(name, e) for name, e in self.plan.question.finish.columns if name in self.noisy]
        among = max(self.candidates, len(self) if joint else 1, 1)
        beta = (1 - read_level(level)) / (max(1, len(made)) if joint else 1)
        shared = any(
            isinstance(value, SetEstimate) for row in self.estimates[:1] for value in row.values()
        )
        if shared or any(windows_of(expression) for _, expression in made):
            beta /= among
            workloads.reaches(
                [
                    one.law
                    for row in self.estimates
                    for one in row.values()
                    if isinstance(one, SetEstimate)
                ],
                beta,
            )
        elif among > 1:
            beta = -math.expm1(math.log1p(-beta) / among)
        law, places = self.law, range(len(self))
        if self.every is not None:
            known = {key: place for place, key in enumerate(self.every[0])}
            places = [known[key] for key in self.keys]  # type: ignore[assignment]
        return tuple(
            {name: law.interval(expression, place, beta) for name, expression in made}
            for place in places
        )

    @property
    def law(self) -> TableLaw:
        """The noisy table that the rows come from, with the law of the noise of what is computed from it."""
        keys, rows = (self.keys, self.estimates) if self.every is None else self.every
        return TableLaw(self.plan.question, keys, rows, keys_shown_by(self.plan))

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return text.answer.answer_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return text.answer.answer_html(self)

    def to_text(self, width: int | None = None) -> str:
        """Lay out the table as `print` shows it, within the width of a terminal if one is given."""
        return text.answer.answer_text(self, width)

    def to_markdown(self) -> str:
        """Write the table as Markdown, numbers rounded to their error."""
        return text.answer.answer_markdown(self)

    def to_html(self) -> str:
        """Write the table as HTML, as a notebook shows it."""
        return text.answer.answer_html(self)

    def to_dict(self, level: float | None = None) -> dict[str, list[object]]:
        """Return the columns by name; with a level, also `name_low` and `name_high` of every noisy column."""
        return export.to_dict(self, level)

    def to_csv(self, path: str | Path | None = None, level: float | None = None) -> str:
        """Write the table as CSV, to a file if a path is given; return the text."""
        return export.to_csv(self, path, level)

    def to_polars(self, level: float | None = None) -> pl.DataFrame:
        """Return a Polars data frame."""
        return export.to_polars(self, level)

    def to_pandas(self, level: float | None = None) -> pd.DataFrame:
        """Return a pandas data frame."""
        return export.to_pandas(self, level)

    def to_arrow(self, level: float | None = None) -> pa.Table:
        """Return an Arrow table."""
        return export.to_arrow(self, level)

    def plot(
        self, column: str | None = None, level: float = 0.95, title: str | None = None
    ) -> matplotlib.axes.Axes:
        """Draw one noisy column with its error bars (needs matplotlib): a line and a band along a key with an order,
        else bars; of two keys small multiples.
        """
        return text.plot.plot(self, column, level, title)


def picks_by_noise(question: Question) -> bool:
    """Return whether rows are picked by noisy values: by HAVING, or by LIMIT in an order of them."""
    finish, names = question.finish, {name for name, _ in question.statistics}
    ordered = (finish.limit is not None or finish.offset > 0) and any(
        fields_of(expression) & names for expression, _ in finish.order
    )
    return ordered or (finish.having is not None and bool(fields_of(finish.having) & names))


def _read_of_all(finish: Finish) -> frozenset[str]:
    """Return what is read of rows that may not be shown: by HAVING, ORDER BY and windows."""
    having = () if finish.having is None else (finish.having,)
    windows = (call for _, expression in finish.columns for call in windows_of(expression))
    return frozenset[str]().union(
        *map(fields_of, (*having, *(e for e, _ in finish.order), *windows))
    )


def _shown(
    finish: Finish, known: NoisyRow, made: Mapping[str, NoisyValue], sorts: Types
) -> tuple[Value, ...]:
    """Return the columns of a row: statistics as they are shown, and what is computed from them before rounding."""
    row = {**known, **{name: one.value for name, one in made.items() if name not in known}}
    found = show_row(finish, row, sorts)
    if all(isinstance(expression, Field) for _, expression in finish.columns):
        return tuple(found[name] for name, _ in finish.columns)
    exact = {name: float(one.exact) for name, one in made.items() if isinstance(one, JointTotal)}
    computed = show_row(finish, {**row, **exact}, sorts) if exact else found
    return tuple(
        found[name] if isinstance(e, Field) else computed[name] for name, e in finish.columns
    )
