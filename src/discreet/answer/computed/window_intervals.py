"""Confidence intervals of computed columns, also of windows: fractions of a total, differences of rows.

Rows have noise of their own, so a sum of several rows or a difference of two is a linear combination with
the noise of all of them (`NoisyCombination`). That holds if public facts decide which rows a window reads.
If noise decided it (HAVING on noisy values, keys that were selected privately, an order of noisy values),
noise known to be large was added up, and no interval is given. Fractions of a total over more than 32 rows
are bounded by the interval of the row and that of the total, each at half of β.

Guarantee: an interval at β misses the exact value with probability at most β.
Law: tests/answer/test_window_forms.py, tests/answer/test_coverage.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from fractions import Fraction

from ...frozen import field, frozen
from ...plan.plan import Plan
from ...query.algebra.expression import (
    SUMMED_WINDOWS,
    Call,
    Constant,
    Expression,
    Field,
    Function,
    fields_of,
    operands_outside_windows,
    window_name,
    windows_of,
)
from ...query.algebra.statistic import Mode
from ...query.algebra.tree import Finish, Question
from ...query.algebra.window import window_parts
from ...query.meaning.post_processing import (
    NoisyRow,
    Value,
    types_of,
    value_of,
    window_groups,
    window_sources,
    with_windows,
)
from ...statistics.laws.interval_arithmetic import Box, outward
from ...statistics.recipe import NoisyValue
from ...statistics.releases.total import KeyValues, NoisyTotal, TotalEstimate
from .interval_arithmetic import box_of
from .linear_combination import (
    NoisyCombination,
    RowAt,
    bound_quotient,
    is_nullif,
    line_of,
    public_branch,
)
from .thresholded_keys import ShownKeys

_MAX_COMBINED_ROWS = 32
"""Rows whose noise is combined in one law; the time of that law grows with their number."""
_Ends = tuple[Value, Value] | None


def read_box(ends: _Ends) -> Box | None:
    """Read numbers as a box; text, truth and NULL have none."""
    if ends is None:
        return None
    low, high = ends
    for end in (low, high):
        if not isinstance(end, int | float | Fraction) or isinstance(end, bool):
            return None
    return Fraction(low), Fraction(high)  # type: ignore[arg-type]


@frozen
class TableLaw:
    """Noisy table of a question, and the confidence intervals of everything computed from it.

    `rows` are the estimates of each row by statistic. `shown` says how keys were selected by a
    count that the question asks for, else it is None. `plan` makes the plan of the answer, if it is
    still known which one it was. `groups`, `sources`, `totals`, `releases` and `public` are caches:
    all rows of a window share its groups and its total.
    """

    question: Question
    keys: Sequence[KeyValues]
    rows: Sequence[Mapping[str, NoisyValue]]
    shown: ShownKeys | None = None
    plan: Callable[[], object] | None = None
    groups: dict[Call, dict[int, list[int]]] = field(default_factory=dict)
    sources: dict[tuple[Call, int], dict[int, list[int]]] = field(default_factory=dict)
    totals: dict[tuple[Call, int, int, float], Box | None] = field(default_factory=dict)
    releases: dict[str, object] = field(default_factory=dict)
    public: list[NoisyRow] = field(default_factory=list)

    def interval(self, expression: Expression, place: int, beta: float) -> _Ends:
        """Return the interval of an expression in row number `place`, at failure probability β.

        None if no bound is known.
        """
        row = self.rows[place]
        if isinstance(expression, Field):
            if expression.name not in row:
                return None
            return self._statistic(expression.name, place, beta)
        if windows_of(expression) and not self._public(expression):
            return None
        at = self._at(place)
        own_beta = self._chance(fields_of(expression), place, beta)
        combined = bound_quotient(expression, at, own_beta)
        if combined is not None:
            return combined
        # Otherwise interval arithmetic: each noisy leaf at an equal part of β (union bound).
        noisy_names = set(row)
        leaves = {
            leaf for leaf in operands_outside_windows(expression) if fields_of(leaf) & noisy_names
        }
        boxes: dict[str, Box | None] = {}
        for name, value in at.keys.items():
            boxes[name] = read_box((value, value))
        for leaf in leaves:
            name = leaf.name if isinstance(leaf, Field) else window_name(leaf)  # type: ignore[arg-type]
            leaf_beta = beta / len(leaves)
            boxes[name] = self._leaf(leaf, place, leaf_beta)
        box = box_of(expression, boxes)
        if box is None:
            return None
        return outward(box)

    def _statistic(self, name: str, place: int, beta: float) -> _Ends:
        """Return the interval of a statistic at failure probability β.

        For the count that selected its key it is conditional: the key was shown.
        """
        row = self.rows[place]
        if self.shown is not None and name in self.shown.counts:
            return self.shown.interval(row, beta)
        return row[name].interval(self._chance({name}, place, beta))

    def _chance(self, names: Set[str], place: int, beta: float) -> float:
        """Return the failure probability to use for these statistics, for a promise of at most β.

        It is less than β if one of them is made from the count that selected the key.
        """
        if self.shown is None or not names & self.shown.names:
            return beta
        return self.shown.chance(self.rows[place], beta)

    def _leaf(self, leaf: Expression, place: int, beta: float) -> Box | None:
        """Return the box of a statistic or of a window, at failure probability β."""
        if not isinstance(leaf, Call):
            return read_box(self.interval(leaf, place, beta))
        if leaf.function not in SUMMED_WINDOWS:
            # The least and the greatest of noisy values have no known law.
            return None
        return self._total(leaf, place, beta)

    def _public(self, expression: Expression) -> bool:
        """Return whether public facts alone decide which rows the windows of an expression read."""
        question = self.question
        names = set(self.rows[0])
        having = question.finish.having
        if having is not None and fields_of(having) & names:
            return False
        if any(key.values is None for key in question.keys):
            return False
        for call in windows_of(expression):
            parts = window_parts(call)
            if any(fields_of(part) & names for part in parts.rows_read_by()):
                return False
            if parts.value is not None and _chooses_by(parts.value, names):
                return False
        return True

    def _at(self, place: int) -> RowAt:
        def window(call: Call) -> NoisyCombination | None:
            return self._line(call, place)

        types = types_of(self.question)
        return RowAt(place, self.rows[place], self._known(place), window, self._release, types)

    def _release(self, name: str) -> object:
        """Identify the total of a statistic that was released alone; None if that is not known.

        Totals that differ in some row are two. Totals that are equal in all rows may be one, or two by
        chance: the plan tells.
        """
        if not self.releases:
            self.releases.update(self._identify())
        return self.releases[name]

    def _identify(self) -> dict[str, object]:
        """Return for each statistic of one total what identifies that total (see `_release`)."""
        columns: dict[str, list[NoisyTotal]] = {}
        for row in self.rows:
            for name, estimate in row.items():
                if isinstance(estimate, TotalEstimate):
                    columns.setdefault(name, []).append(estimate.total)
        alone: dict[tuple[NoisyTotal, ...], list[str]] = {}
        for name, totals in columns.items():
            alone.setdefault(tuple(totals), []).append(name)
        releases: dict[str, object] = {}
        for names in alone.values():
            if len(names) == 1:
                releases[names[0]] = names[0]
                continue
            plan = None if self.plan is None else self.plan()
            places = dict(plan.uses) if isinstance(plan, Plan) else {}
            releases |= {name: places.get(name) for name in names}
        return releases

    def _known(self, place: int) -> NoisyRow:
        """Return what is public of a row: its keys by name, and windows that read keys alone."""
        return self._public_rows()[place]

    def _line(self, call: Call, place: int) -> NoisyCombination | None:
        """Return a window as a combination of noisy totals; None for many rows, or for no sum."""
        known = self._known(place).get(window_name(call))
        if isinstance(known, int | Fraction):
            # No noisy value takes part, as in the number of a row along its keys.
            return NoisyCombination(Fraction(known), {})
        if call.function not in SUMMED_WINDOWS:
            return None
        sources = self.places_of(call, place)
        if len(sources) > _MAX_COMBINED_ROWS:
            return None
        return self._sum(call, sources)

    def _sum(self, call: Call, sources: Sequence[int]) -> NoisyCombination | None:
        """Return the sum of a window's argument over rows; None if it is no combination in some row."""
        combinations = []
        for place in self._present(call, sources):
            combination = line_of(call.arguments[0], self._at(place))
            if combination is None:
                return None
            combinations.append(combination)
        # A sum of no values is NULL, which has no interval.
        return NoisyCombination.sum(combinations) if combinations else None

    def _present(self, call: Call, sources: Sequence[int]) -> list[int]:
        """Return the rows in which public facts do not make a window's argument NULL."""
        value = call.arguments[0]
        return [one for one in sources if public_branch(value, self._at(one)) != Constant(None)]

    def _total(self, call: Call, place: int, beta: float) -> Box | None:
        """Bound a window's sum over rows with probability at least 1 − β.

        The noise of all rows is combined if their values are linear in it; else each row is bounded
        at an equal part of β.
        """
        sources = self.places_of(call, place)
        if not sources:
            return None
        # Frames of one window differ in their first row or in their length.
        key = (call, sources[0], len(sources), beta)
        if key not in self.totals:
            combination = self._sum(call, sources)
            if combination is None:
                self.totals[key] = self._boxes(call, self._present(call, sources), beta)
            else:
                self.totals[key] = combination.box(beta)
        return self.totals[key]

    def _boxes(self, call: Call, sources: Sequence[int], beta: float) -> Box | None:
        """Add up the intervals of rows, each at an equal part of β (union bound)."""
        if not sources:
            return None
        low = Fraction(0)
        high = Fraction(0)
        row_beta = beta / len(sources)
        for place in sources:
            value = public_branch(call.arguments[0], self._at(place))
            if _is_chosen(value):
                return None
            box = read_box(self.interval(value, place, row_beta))
            if box is None:
                return None
            low += box[0]
            high += box[1]
        return low, high

    def places_of(self, call: Call, place: int) -> list[int]:
        """Return the rows that a window reads: its group, its frame, or the one row that LAG reads."""
        group = self._group(call, place)
        if not group:
            return []
        key = (call, group[0])
        if key not in self.sources:
            types = types_of(self.question)
            self.sources[key] = window_sources(call, group, self._public_rows(), types)
        return self.sources[key][place]

    def _group(self, call: Call, place: int) -> list[int]:
        """Return the rows of a window's group that holds a row, of all rows that HAVING leaves."""
        if call not in self.groups:
            rows = self._public_rows()
            types = types_of(self.question)
            having = self.question.finish.having
            left = list(range(len(rows)))
            if having is not None:
                left = []
                for i, row in enumerate(rows):
                    if value_of(having, row, types) is True:
                        left.append(i)
            group_of: dict[int, list[int]] = {}
            for group in window_groups(call, left, rows, types):
                group_of.update(dict.fromkeys(group, group))
            self.groups[call] = group_of
        # A row that HAVING dropped is in no group.
        return self.groups[call].get(place, [])

    def _public_rows(self) -> Sequence[NoisyRow]:
        """Return what is public of every row: its keys, and windows that read keys alone."""
        if not self.public:
            question = self.question
            names = [key.name for key in question.keys]
            rows = [dict(zip(names, key, strict=True)) for key in self.keys]
            finish = question.finish
            shown = [expression for _, expression in finish.columns]
            if finish.qualify is not None:
                shown.append(finish.qualify)
            windows = {}
            for expression in shown:
                for call in windows_of(expression):
                    if fields_of(call) <= set(names):
                        windows[window_name(call)] = call
            having = finish.having
            if having is not None and not fields_of(having) <= set(names):
                # Noise decided which rows windows read, so none of them is public.
                windows = {}
                having = None
            made = Finish(tuple(windows.items()), having)
            self.public.extend(with_windows(made, rows, types_of(question)))
        return self.public


def _is_chosen(value: Expression) -> bool:
    """Return whether a value is a CASE or COALESCE, which may be NULL: a sum would leave it out."""
    chosen = isinstance(value, Call) and value.function in (Function.CASE, Function.COALESCE)
    return chosen and not is_nullif(value)


def _chooses_by(expression: Expression, names: Set[str]) -> bool:
    """Return whether a CASE or COALESCE in an expression chooses by noisy values."""
    if not isinstance(expression, Call) or is_nullif(expression):
        return False
    chosen_by: Sequence[Expression] = ()
    if expression.function is Function.CASE:
        chosen_by = expression.arguments[:-1:2]
    elif expression.function is Function.COALESCE:
        chosen_by = expression.arguments[:1]
    if any(fields_of(condition) & names for condition in chosen_by):
        return True
    return any(_chooses_by(argument, names) for argument in expression.arguments)


def why_unbounded(expression: Expression, question: Question) -> str:
    """Tell why a column has no confidence interval.

    >>> import discreet as dp
    >>> from discreet.answer.computed.window_intervals import why_unbounded
    >>> people = {"people": dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])})}
    >>> asked = dp.parse_sql("SELECT MODE(sex) AS m FROM people", people)
    >>> why_unbounded(asked.finish.columns[0][1], asked)
    'it is picked, not measured'
    """
    statistics = dict(question.statistics)
    if isinstance(expression, Field) and isinstance(statistics.get(expression.name), Mode):
        return "it is picked, not measured"
    if windows_of(expression):
        having = question.finish.having
        if having is not None and fields_of(having) & set(statistics):
            return "noisy values decided which rows it reads"
        if any(key.values is None for key in question.keys):
            return "its keys were selected privately"
    return "what it computes has no bound, as a quotient by what may be 0"
