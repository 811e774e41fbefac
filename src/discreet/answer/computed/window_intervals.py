"""Intervals of what a window over the noisy table says: shares of a total, and differences between rows.

Rows have noise of their own, so a sum of several, or a difference of two, is a line with the
noise of all of them (`NoisyCombination`). That holds for rows that public facts put there. Where
noise decided which rows a window reads (HAVING on noisy values, keys that were selected
privately, an order of noisy values), noise known to be large was added up, and no interval is
given. Shares among more than 32 rows are bounded by the interval of the row and that of the
total, each at half of β.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from fractions import Fraction

from ...frozen import field, frozen
from ...query.algebra.expression import Call, Expression, Field, Function, fields_of
from ...query.algebra.tree import Finish, Mode, Question
from ...query.algebra.windows import outside_windows, window_name, windows_of
from ...query.meaning.post_processing import (
    NoisyRow,
    Value,
    row_before,
    types_of,
    value_of,
    window_groups,
)
from ...statistics.laws.interval_arithmetic import Box, outward
from ...statistics.recipe import NoisyValue
from ...statistics.releases.total import KeyValues, NoisyTotal
from .interval_arithmetic import box_of
from .linear_combination import NoisyCombination, RowAt, bound_quotient, line_of
from .thresholded_keys import ShownKeys

_MOST_LINES = 32
_Ends = tuple[Value, Value] | None


def reads_rows(finish: Finish) -> bool:
    """Return whether some column or order reads more rows than its own, or rows are left out by their number."""
    parts = (*(e for _, e in finish.columns), *(e for e, _ in finish.order))
    return finish.offset > 0 or any(windows_of(part) for part in parts)


def read_box(ends: _Ends) -> Box | None:
    """Read numbers as a box; text, truth and NULL have none."""
    if ends is None or not all(
        isinstance(end, int | float | Fraction) and not isinstance(end, bool) for end in ends
    ):
        return None
    return Fraction(ends[0]), Fraction(ends[1])  # type: ignore[arg-type]


@frozen
class TableLaw:
    """The noisy table of a question, row by row, with the law of the noise of everything that is computed from it."""

    question: Question
    keys: Sequence[KeyValues]
    rows: Sequence[Mapping[str, NoisyValue]]
    shown: ShownKeys | None = None
    groups: dict[Call, dict[int, list[int]]] = field(default_factory=dict)
    earlier: dict[tuple[Call, int], dict[int, int | None]] = field(default_factory=dict)
    totals: dict[tuple[Call, int, float], Box | None] = field(default_factory=dict)

    def interval(self, expression: Expression, place: int, beta: float) -> _Ends:
        """Bound what an expression says of the row at a place, with probability at least 1 − β; None: nothing does."""
        row = self.rows[place]
        if isinstance(expression, Field):
            return self._statistic(expression.name, place, beta) if expression.name in row else None
        if windows_of(expression) and not self._public(expression):
            return None
        at = self._at(place)
        found = bound_quotient(expression, at, self._chance(fields_of(expression), place, beta))
        if found is not None:
            return found
        leaves = {leaf for leaf in outside_windows(expression) if fields_of(leaf) & set(row)}
        boxes = {name: read_box((value, value)) for name, value in at.keys.items()}
        for leaf in leaves:
            name = leaf.name if isinstance(leaf, Field) else window_name(leaf)  # type: ignore[arg-type]
            boxes[name] = self._leaf(leaf, place, beta / len(leaves))
        box = box_of(expression, boxes)
        return None if box is None else outward(box)

    def _statistic(self, name: str, place: int, beta: float) -> _Ends:
        """Bound a statistic; a count that showed its key, given that it did."""
        row = self.rows[place]
        if self.shown is not None and name in self.shown.counts:
            return self.shown.interval(row, beta)
        return row[name].interval(self._chance({name}, place, beta))

    def _chance(self, names: Set[str], place: int, beta: float) -> float:
        """Return the chance of a miss at which these are bounded; less where the count that showed the key is in it."""
        if self.shown is None or not names & self.shown.names:
            return beta
        return self.shown.chance(self.rows[place], beta)

    def _leaf(self, leaf: Expression, place: int, beta: float) -> Box | None:
        if isinstance(leaf, Call) and leaf.function is Function.TOTAL:
            return self._total(leaf, place, beta)
        if isinstance(leaf, Call):
            other = self._before(leaf, place)
            return (
                None if other is None else read_box(self.interval(leaf.arguments[0], other, beta))
            )
        return read_box(self.interval(leaf, place, beta))

    def _public(self, expression: Expression) -> bool:
        """Return whether public facts alone say which rows the windows of an expression read."""
        question, names = self.question, set(self.rows[0])
        noisy = question.finish.having is not None and bool(
            fields_of(question.finish.having) & names
        )
        orders = [part for call in windows_of(expression) for part in call.arguments[1:]]
        return (
            not noisy
            and all(k.values is not None for k in question.keys)
            and not any(fields_of(part) & names for part in orders)
        )

    def _at(self, place: int) -> RowAt:
        return RowAt(
            place, self.rows[place], self._known(place), lambda call: self._line(call, place)
        )

    def _known(self, place: int) -> dict[str, Value]:
        return dict(zip((key.name for key in self.question.keys), self.keys[place], strict=True))

    def _line(self, call: Call, place: int) -> NoisyCombination | None:
        """Return a window as a line of the noise of the rows that it reads; None if they are many, or no lines."""
        if call.function is Function.TOTAL:
            group = self._group(call, place)
            return self._sum(call, group) if len(group) <= _MOST_LINES else None
        other = self._before(call, place)
        return None if other is None else line_of(call.arguments[0], self._at(other))

    def _sum(self, call: Call, group: Sequence[int]) -> NoisyCombination | None:
        lines = [line_of(call.arguments[0], self._at(place)) for place in group]
        known = [line for line in lines if line is not None]
        if len(known) < len(lines):
            return None
        constant, parts = Fraction(0), dict[tuple[int, object], tuple[NoisyTotal, Fraction]]()
        for line in known:
            constant += line.constant
            parts.update(line.parts)  # of different rows, so no two are one
        return NoisyCombination(constant, parts)

    def _total(self, call: Call, place: int, beta: float) -> Box | None:
        """Bound a total over rows: by the noise of all of them, or each at its part of β."""
        group = self._group(call, place)
        if (call, group[0], beta) not in self.totals:
            line = self._sum(call, group)
            self.totals[call, group[0], beta] = (
                _around(line, beta) if line else self._boxes(call, group, beta)
            )
        return self.totals[call, group[0], beta]

    def _boxes(self, call: Call, group: Sequence[int], beta: float) -> Box | None:
        ends = [
            read_box(self.interval(call.arguments[0], place, beta / len(group))) for place in group
        ]
        known = [box for box in ends if box is not None]
        if len(known) < len(ends):
            return None
        return sum((low for low, _ in known), Fraction(0)), sum(
            (high for _, high in known), Fraction(0)
        )

    def _group(self, call: Call, place: int) -> list[int]:
        """Return the rows that a window puts together with one of them, over all that HAVING leaves."""
        if call not in self.groups:
            rows, types, test = (
                self._public_rows(),
                types_of(self.question),
                self.question.finish.having,
            )
            left = [
                i
                for i, row in enumerate(rows)
                if test is None or value_of(test, row, types) is True
            ]
            self.groups[call] = {
                i: group for group in window_groups(call, left, rows, types) for i in group
            }
        return self.groups[call][place]

    def _before(self, call: Call, place: int) -> int | None:
        """Return the row that LAG reads."""
        group = self._group(call, place)
        if (call, group[0]) not in self.earlier:
            found = row_before(
                call.arguments[1:], group, self._public_rows(), types_of(self.question)
            )
            self.earlier[call, group[0]] = found
        return self.earlier[call, group[0]][place]

    def _public_rows(self) -> list[NoisyRow]:
        return [self._known(place) for place in range(len(self.rows))]


def _around(line: NoisyCombination, beta: float) -> Box:
    value, reach = line.value, Fraction(line.reach(beta))
    return value - reach, value + reach


def why_unbounded(expression: Expression, question: Question) -> str:
    """Say why a column has no interval.

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
