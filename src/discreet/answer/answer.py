"""Answer: a table of noisy values with confidence intervals, its plan and its receipt.

HAVING, ORDER BY, LIMIT, computed columns and all displays are post-processing of the noisy values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from .. import answer as modules
from .. import workloads
from ..arithmetic.rational import Number
from ..errors import InvalidArgument
from ..frozen import field, frozen, replace
from ..plan.asked.terms import DEFAULT_LEVEL
from ..plan.plan import Plan
from ..query.algebra.expression import Expression, Field, fields_of, windows_of
from ..query.algebra.statistic import Overall
from ..query.algebra.tree import Finish, Question
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
from ..statistics.recipe import NoisyValue
from ..statistics.releases.set_totals import SetEstimate
from ..statistics.releases.stream_day import shares_noise
from ..statistics.releases.total import JointTotal, KeyValues
from . import export, text
from .computed.thresholded_keys import keys_shown_by
from .computed.window_intervals import TableLaw
from .export import plain
from .provenance import Late, LatePlan, Provenance

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl
    import pyarrow as pa  # type: ignore[import-untyped]

    from .derived_views import Between
    from .population import PopulationLaw

Interval = tuple[Value, Value] | None
DATA = "data"
POPULATION = "population"


@frozen
class Answer:
    """Columns and rows of a question's answer; everything in it may be published.

    `interval(level)` gives, row by row, a confidence interval of the exact value of each column
    that has one. "Exact" means after the contribution bounding and clipping that the plan states:
    no release tells how much they cut off.

    Guarantee: the exact value lies in its interval with probability at least `level`.
    Law: tests/answer/test_coverage.py, tests/answer/test_intervals.py
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
    """All keys and estimates, if there are more rows than are shown or a column reads other rows."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """Sentences with which `details` begins, from curator or service: price, ledger entry, caps."""
    target: str = DATA
    """What the intervals of tables, files and pictures are of: the data, or the population."""

    @classmethod
    def of(
        cls,
        plan: Plan | Provenance | LatePlan,
        keys: Sequence[KeyValues],
        estimates: Sequence[dict[str, NoisyValue]],
        *,
        candidates: int | None = None,
    ) -> Answer:
        """Finish a table of estimates: HAVING, ORDER BY, LIMIT and the columns, all on noisy values.

        `candidates` is the number of keys among which rows are picked, by default that of `keys`.
        A `LatePlan` is made when somebody reads `plan`.
        """
        question = plan.question
        finish = question.finish
        sorts = types_of(question)
        names = [key.name for key in question.keys]
        # Values of rows that are not shown are worked out only where something reads them.
        early = _read_of_all(finish)
        table: list[NoisyRow] = []
        for key, row in zip(keys, estimates, strict=True):
            known: dict[str, Value] = dict(zip(names, key, strict=True))
            for name, made in row.items():
                if name in early:
                    known[name] = made.value
            table.append(known)
        table = list(with_windows(finish, table, sorts))
        rows = []
        shown_keys = []
        shown_estimates = []
        for place in keep_rows(finish, table, sorts):
            rows.append(_shown(finish, table[place], estimates[place], sorts))
            shown_keys.append(keys[place])
            shown_estimates.append(estimates[place])
        picked_from = 0
        if picks_by_noise(question):
            picked_from = len(keys) if candidates is None else candidates
        every = None
        if len(rows) < len(keys) or _reads_rows(finish):
            every = (tuple(keys), tuple(estimates))
        columns = []
        column_types = []
        for name, expression in finish.columns:
            columns.append(name)
            column_types.append(type_of(expression, sorts))
        return cls(
            tuple(columns),
            tuple(rows),
            tuple(column_types),
            # The property `plan` reads a LatePlan, so that callers see a plan in any case.
            cast("Plan", plan),
            tuple(shown_keys),
            tuple(shown_estimates),
            candidates=picked_from,
            every=every,
        )

    def with_receipt(
        self,
        receipt: object,
        caption: str | Late[str] = "",
        notes: tuple[str, ...] | Late[tuple[str, ...]] = (),
    ) -> Answer:
        """Return the same answer with the ledger's receipt.

        The caption is shown below the table; `details` begins with the notes.
        """
        # Not `replace`, which reads every field: a plan that is made later must not be made here.
        return Answer(
            self.columns,
            self.rows,
            self.sorts,
            cast("Plan", _PLAN.__get__(self)),
            self.keys,
            self.estimates,
            receipt,
            cast("str", caption),
            self.candidates,
            self.every,
            cast("tuple[str, ...]", notes),
            self.target,
        )

    def about(self, of: str) -> Answer:
        """Return the same answer, shown with intervals of the "data" or of the "population".

        Tables, files and pictures show them; `interval` says what both are.

        Refuses: with InvalidArgument the population of columns without a known sampling error.
        """
        if modules.sampled_columns.read_target(of, self.question) == self.target:
            return self
        caption = modules.text.caption.line_about(self.caption, of)
        return replace(self, target=of, caption=caption)

    @property
    def question(self) -> Question:
        """The question that was asked; known without a plan."""
        made_by: Plan | Provenance | LatePlan = _PLAN.__get__(self)
        return made_by.question

    @property
    def level(self) -> Fraction:
        """The confidence level that was asked for; known without a plan."""
        made_by: Plan | Provenance | LatePlan = _PLAN.__get__(self)
        return made_by.level

    @property
    def noisy(self) -> tuple[str, ...]:
        """The columns that are made from statistics; the others are keys, and exact."""
        question = self.question
        names = {name for name, _ in question.statistics}
        columns = question.finish.columns
        return tuple(name for name, made in columns if fields_of(made) & names)

    def column(self, name: str) -> list[object]:
        """List the values of one column as Python has them: dates and times, floats, text."""
        place = self.columns.index(name)
        sort = self.sorts[place]
        return [plain(row[place], sort) for row in self.rows]

    def table(self, *names: str) -> Answer:
        """Return one of several grouping sets (CUBE, ROLLUP), by its keys; without names the total.

        >>> import discreet as dp
        >>> people = dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"], default="f")})
        >>> store = dp.Memory({"people": [{"sex": "f"}] * 900})
        >>> curator = dp.Curator(store, [people], dp.open_ledger(":memory:", dp.PureDP(3)))
        >>> cube = curator.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY CUBE (sex)", spend=dp.PureDP(1))
        >>> cube.table("sex").columns, sum(cube.table("sex").column("n")) == cube.table().column("n")[0]
        (('sex', 'n'), True)

        Refuses: with InvalidArgument a set that was not asked.
        """
        return modules.derived_views.one_set(self, names)

    def between(self, low: object, high: object, level: float = DEFAULT_LEVEL) -> Between:
        """Return the count of values in [`low`, `high`] with its confidence interval, for free.

        Refuses: with InvalidArgument an answer that is not of running totals (`Table.cumulative`).
        """
        return modules.derived_views.between(self, low, high, level)

    def quantile(self, at: Number) -> Value:
        """Return, for free, the least value up to which a part `at` (0 … 1) of the rows lies."""
        return modules.derived_views.quantile_of(self, at)

    def measurements(self) -> dict[str, object]:
        """Return the unbiased estimates of a workload and their covariance, as plain values for JSON."""
        return modules.measurements.measurements(self)

    def interval(
        self, level: float = DEFAULT_LEVEL, *, joint: bool = False, of: str = DATA
    ) -> tuple[dict[str, Interval], ...]:
        """Return confidence intervals, row by row: each holds with probability `level` or more.

        `joint`: all intervals of the answer hold at once with that probability.
        `of="data"`: intervals of the values that these rows give; they cover the noise alone.
        `of="population"`: intervals of the values in the population of which these rows, or people, are
        a random sample. Whether they are is for you to know. Sampling error is added by the released
        numbers alone, for free (`answer.population`).

            case                                          failure probability of each interval
            --------------------------------------------  ------------------------------------
            k columns, joint                              β/k: union bound
            m keys, joint or picked from, own noise       1 − (1 − β)^(1/m): noise is independent
            the same, noise shared between rows           β/m: union bound
            the same, of the population                   β/m: all rows share the sample
            a column computed from k statistics           β/k for each; if combined, β

        If noisy values picked the rows (HAVING, ORDER BY … LIMIT), m counts all keys among which they
        were picked. The largest of many noisy values is one that noise made large. Noise is shared between
        the cells of a workload and by columns that read other rows.

        If a noisy count selected the keys, intervals made from it hold given that a key was shown.

        Quotients of sums, fractions of a total and differences between rows are bounded by the noise of all
        their totals together (Fieller 1954). None where no bound is
        known, as of a mode, a quotient whose divisor may be 0, a window over rows that noise picked.

        Refuses: with InvalidArgument the population of columns without a known sampling error.
        """
        modules.sampled_columns.read_target(of, self.question)
        noisy = self.noisy
        made = []
        for name, expression in self.question.finish.columns:
            if name in noisy:
                made.append((name, expression))
        among = max(self.candidates, 1)
        beta = 1 - read_level(level)
        if joint:
            among = max(among, len(self))
            beta /= max(1, len(made))
        law: TableLaw | PopulationLaw = self.law
        if of == POPULATION:
            # Union bound: all rows share the sample.
            beta /= among
            law = modules.population.PopulationLaw(self.law)
        else:
            beta = self._beta_of_one(made, among, beta)
        places: Sequence[int] = range(len(self))
        if self.every is not None:
            # The law is of the table with all keys; find the shown rows in it.
            all_keys, _ = self.every
            place_of = {key: place for place, key in enumerate(all_keys)}
            places = [place_of[key] for key in self.keys]
        bounded = []
        for place in places:
            bounded.append({name: law.interval(each, place, beta) for name, each in made})
        return tuple(bounded)

    def _beta_of_one(
        self, made: Sequence[tuple[str, Expression]], among: int, beta: float
    ) -> float:
        """Return the failure probability of one interval: those of `among` keys share `beta`."""
        laws: list[workloads.SumLaw] = []
        for row in self.estimates:
            for one in row.values():
                if isinstance(one, SetEstimate):
                    laws.append(one.law)
        # Cells of a workload share noise, as do windows and scalar sub-queries (one number for all).
        shared = any(isinstance(one, Overall) for _, one in self.question.statistics)
        shared = shared or any(windows_of(expression) for _, expression in made)
        if laws or shared or shares_noise(self.estimates):
            each = beta / among
            # Work out the tails of all laws in one batch; the intervals then find them in a cache.
            workloads.reaches(laws, each)
            return each
        if among > 1:
            # 1 − (1 − β)^(1/m), written so that a small β keeps its digits.
            return -math.expm1(math.log1p(-beta) / among)
        return beta

    @property
    def law(self) -> TableLaw:
        """The noisy table that the rows come from, with the law of its noise."""
        keys, rows = self.every or (self.keys, self.estimates)
        shown_by = None
        # Public keys are shown in any case, so the plan need not be read for them.
        if any(key.values is None for key in self.question.keys):
            shown_by = keys_shown_by(self.plan)
        return TableLaw(self.question, keys, rows, shown_by, lambda: self.plan)

    def details(self) -> str:
        """Return what the numbers mean, a sentence a line: all that the caption's one line leaves out.

        >>> import discreet as dp
        >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120)})
        >>> store = dp.Memory({"people": [{"age": 40}] * 900})
        >>> curator = dp.Curator(store, [people], dp.open_ledger(":memory:", dp.PureDP(3)))
        >>> answer = curator.sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(1))
        >>> answer.caption, answer.details().splitlines()[0]
        ('cost ε = 1; ± is noise only, at 95 %', 'cost ε = 1 of ε = 3, entry 2 of the ledger')

        Law: tests/answer/test_captions.py::TestCaptions
        """
        return text.caption.details_of(text.display_facts.display_facts_of(self))

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
        self, column: str | None = None, level: float = DEFAULT_LEVEL, title: str | None = None
    ) -> matplotlib.axes.Axes:
        """Draw one noisy column with its error bars (needs matplotlib).

        A key with an order gives a line with a band, other keys bars, two keys small multiples.
        """
        return text.plot.plot(self, column, level, title)


_PLAN: Any = Answer.plan
_CAPTION: Any = Answer.caption
_NOTES: Any = Answer.notes


def _late_property(slot: Any, text: str) -> property:  # noqa: ANN401 a slot has no public type
    """Return a property that reads a slot, and makes a `Late` value that it holds.

    Setting goes to the slot, as unpickling needs it; the class itself refuses to set fields.
    """

    def read(answer: Answer) -> object:
        value = slot.__get__(answer)
        if isinstance(value, Late):
            return value.read()
        return value

    return property(read, slot.__set__, doc=text)


# A stored answer is found without a plan. So these fields may hold a `Late` value, which is made when
# somebody reads the field; comparing and pickling answers read it too.
Answer.plan = _late_property(_PLAN, "The plan that made the answer, or its provenance.")  # type: ignore[assignment]
Answer.caption = _late_property(_CAPTION, "The line below the table, of at most 20 words.")  # type: ignore[assignment]
Answer.notes = _late_property(_NOTES, "The sentences of the maker of the answer.")  # type: ignore[assignment]


def picks_by_noise(question: Question) -> bool:
    """Return whether noisy values pick the rows: by HAVING, QUALIFY, or LIMIT in an order of them."""
    finish = question.finish
    names = {name for name, _ in question.statistics}
    for condition in (finish.having, finish.qualify):
        if condition is not None and fields_of(condition) & names:
            return True
    if finish.limit is None and finish.offset <= 0:
        return False
    return any(fields_of(expression) & names for expression, _ in finish.order)


def _read_of_all(finish: Finish) -> frozenset[str]:
    """Return the fields that conditions, ORDER BY and windows read of all rows, shown or not."""
    read: set[str] = set()
    for condition in (finish.having, finish.qualify):
        if condition is not None:
            read |= fields_of(condition)
    for expression, _ in finish.order:
        read |= fields_of(expression)
    for _, expression in finish.columns:
        for call in windows_of(expression):
            read |= fields_of(call)
    return frozenset(read)


def _shown(
    finish: Finish, known: NoisyRow, made: Mapping[str, NoisyValue], sorts: Types
) -> tuple[Value, ...]:
    """Return the columns of a row: statistics as they are shown, computed columns from unrounded ones."""
    row = dict(known)
    for name, one in made.items():
        if name not in known:
            row[name] = one.value
    shown = show_row(finish, row, sorts)
    if all(isinstance(expression, Field) for _, expression in finish.columns):
        return tuple(shown[name] for name, _ in finish.columns)
    # A joint total is shown rounded to its grid; what is computed from it takes the exact estimate.
    unrounded = {}
    for name, one in made.items():
        if isinstance(one, JointTotal):
            unrounded[name] = float(one.exact)
    computed = shown
    if unrounded:
        computed = show_row(finish, {**row, **unrounded}, sorts)
    values = []
    for name, expression in finish.columns:
        source = shown if isinstance(expression, Field) else computed
        values.append(source[name])
    return tuple(values)


def _reads_rows(finish: Finish) -> bool:
    """Return whether a column or order reads other rows than its own."""
    for _, expression in finish.columns:
        if windows_of(expression):
            return True
    return any(windows_of(expression) for expression, _ in finish.order)


def read_level(level: object) -> float:
    """Check a confidence level: the probability with which an interval holds, at least.

    `level` is always this probability; `beta` = 1 − level is the failure probability.

    >>> from discreet.answer.answer import read_level
    >>> read_level(1)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: level must lie between 0 and 1, got 1; 0.95 is usual
    """
    # A level of 1 would need an infinite interval; True is an int in Python, but no level.
    if not isinstance(level, int | float) or isinstance(level, bool) or not 0 < level < 1:
        raise InvalidArgument(f"level must lie between 0 and 1, got {level}; 0.95 is usual")
    return float(level)
