"""Longitudinal privacy: a device that reports repeatedly, its ledger, and the total ε.

fresh      Every report is drawn anew. ε adds up, report by report, between any two histories of
           values.

memoised   One answer is drawn for each different value and sent again whenever the value returns.
           Then ε adds up over different values only, at most K of them. It holds only between
           histories with the same pattern: they change, and return to an earlier value, at the
           same moments. The moments show. Against a history with another pattern there is no
           finite ε: (a, a) never sends two different answers, (a, b) does; and (a, b, a) never
           differs in its first and third, (a, b, c) does.

A memoised device keeps answers for K values, its slots. When all are used up, it answers further
values with one more answer, which it drew at the start for a public default. It never falls silent,
for silence would show that K values occurred. No value shares that answer's slot, not even one that
equals the default, else returning to it would show.

The calendar decides whether to report on a day, never the value: `per_day` reports are allowed
until `new_day()` is called, then as many again. The promise for a day and a year depends on that
count, so a device without `per_day` promises for them no more than for ever. A year is any 366 days
so counted.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from ..arithmetic.rational import one_of, whole_or_none
from ..arithmetic.rounding import shown
from ..errors import BudgetExceeded, InvalidArgument
from ..frozen import frozen
from ..noise import Bits
from .deployments.alpha_point import AlphaPoint
from .device_state import from_plain, memory_of, to_plain
from .reports.report import params_hash

DeviceMode: TypeAlias = Literal["fresh", "memoised"]
DevicePeriod: TypeAlias = Literal["day", "year", "ever"]

DAYS = 366
"""Days of a year, the long one."""

_ANY = "any two histories of values"
_DAY = "any two histories of that day, to one who sees that day alone"
_PATTERN = (
    "histories that change, and return to earlier values, at the same moments; "
    "the moments themselves show, and histories with other moments can be told apart"
)
_PERIODS = {"day": "a day", "year": "a year", "ever": "for ever"}


@frozen
class Lifetime:
    """Promise for a period of reporting: an ε, and the histories between which it holds.

    >>> import math
    >>> from discreet.local import Lifetime
    >>> from discreet.local.longitudinal import _ANY
    >>> print(Lifetime("ever", "fresh", math.inf, _ANY))
    for ever, fresh answers: no finite ε, between any two histories of values
    """

    period: DevicePeriod
    mode: DeviceMode
    epsilon: float
    neighbours: str

    def __str__(self) -> str:
        price = "no finite ε"
        if math.isfinite(self.epsilon):
            price = f"ε = {shown(self.epsilon, 4)}"
        when = _PERIODS[self.period]
        return f"{when}, {self.mode} answers: {price}, between {self.neighbours}"


class Device:
    """Reports of one device about one metric over time, with the device's ledger.

    `mode` is "fresh" or "memoised" and has no default: the two promise different things (see the
    top of this file). Fresh devices may have `most_reports`; memoised ones need `slots` (K) and a
    public `default`. With `per_day` so many reports are sent and no more until `new_day()`, which
    the device's calendar calls. `grid` rounds numbers to an α-point grid first, so that small
    changes of a number are no new value.

    >>> from discreet.local import Device
    >>> from discreet.local.deployments.one_bit import OneBitMean
    >>> from discreet.privacy import PureDP
    >>> minutes = Device(OneBitMean(0, 1440, PureDP(1)), mode="memoised", slots=3, default=0)
    >>> minutes.report(90) == minutes.report(90)
    True
    >>> print(minutes.lifetime("ever"))  # doctest: +ELLIPSIS
    for ever, memoised answers: ε = 3, between histories that change, and return to earlier values, at the same ...

    Guarantee: `lifetime(period)` bounds the ε of all reports sent in the period, between the
    histories it names.
    Refuses: `InvalidArgument` for a mechanism that is not local with a pure ε, an unknown mode, a
    memoised device without slots or default, and arguments of the other mode; `BudgetExceeded` for
    more reports than allowed.
    Law: `tests/local/test_longitudinal.py::TestMemoised`
    Law: `tests/local/test_longitudinal.py::TestLifetimes`
    """

    __slots__ = (
        "_bits",
        "_grid",
        "_kept",
        "_mechanism",
        "_memory",
        "_overflow",
        "_sent",
        "_state",
        "_today",
        "mode",
        "most_reports",
        "per_day",
        "slots",
    )

    def __init__(
        self,
        mechanism: Any,  # noqa: ANN401 - a mechanism of discreet.local that promises a pure ε
        *,
        mode: DeviceMode,
        slots: int | None = None,
        default: object = None,
        most_reports: int | None = None,
        per_day: int | None = None,
        grid: AlphaPoint | None = None,
        bits: Bits | None = None,
    ) -> None:
        _check(mode, slots, default, most_reports)
        self.mode: DeviceMode = mode
        self.slots = whole_or_none(slots, "slots", least=1)
        self.most_reports = whole_or_none(most_reports, "most_reports", least=1)
        self.per_day = whole_or_none(per_day, "per_day", least=1)
        self._grid = grid
        self._bits = bits
        self._mechanism = mechanism
        self._memory = memory_of(mechanism)
        self._sent = 0
        self._today = 0
        self._kept = dict[Hashable, Any]()
        self._state = self._memory.begin(bits)
        self._overflow = None
        if mode == "memoised":
            # Drawn at the start, so that running out of slots draws nothing and shows nothing.
            rounded = self._rounded(_single(default))
            self._overflow = self._memory.remember(self._state, rounded, bits)

    def new_day(self) -> None:
        """Begin a new day: `per_day` reports may be sent again.

        The calendar calls this method; no value may decide when.
        """
        self._today = 0

    def report(self, value: object) -> Any:  # noqa: ANN401 - type of the mechanism's reports
        """Return the report of the current value.

        Refuses: `BudgetExceeded` for more than `per_day` before `new_day()` and more than
        `most_reports`; `InvalidArgument` for values the mechanism refuses, whatever was sent
        before. A refused value is not counted.
        Law: `tests/local/test_longitudinal.py::TestRefusedValues`
        """
        # Counts are checked before the value, so that the refusal does not depend on it.
        self._allow()
        rounded = self._rounded(_single(value))
        # Also where the answer is kept already: a refusal must not depend on earlier values.
        self._memory.check(rounded)
        if self.mode == "fresh":
            answer = self._memory.remember(self._state, rounded, self._bits)
        else:
            answer = self._answer(rounded)
        self._sent += 1
        self._today += 1
        return self._memory.send(self._state, answer, self._bits)

    def _allow(self) -> None:
        """Refuse by the number of reports sent so far, never by a value."""
        if self.most_reports is not None and self._sent >= self.most_reports:
            raise BudgetExceeded("this device has sent all the reports it may", asked=1, left=0)
        if self.per_day is not None and self._today >= self.per_day:
            raise BudgetExceeded(
                "this device has sent the reports of a day; new_day() begins the next",
                asked=1,
                left=0,
            )

    def _answer(self, value: Any) -> Any:  # noqa: ANN401
        """Return the answer kept for a value; draw it if a slot is left, else use the default's."""
        has_slot = self.slots is not None and len(self._kept) < self.slots
        if value not in self._kept and has_slot:
            self._kept[value] = self._memory.remember(self._state, value, self._bits)
        return self._kept.get(value, self._overflow)

    def _rounded(self, value: Any) -> Any:  # noqa: ANN401
        """Round a value to the device's grid, if it has one."""
        if self._grid is None:
            return value
        return float(self._grid.value(value))

    @property
    def sent(self) -> int:
        """Number of reports sent; the server sees it too."""
        return self._sent

    @property
    def used(self) -> int:
        """Number of slots used; a secret of the device."""
        return len(self._kept)

    def lifetime(self, period: DevicePeriod) -> Lifetime:
        """Return the promise for a day, a year or all of time, and the histories it is between.

        The promise covers the reports of any one day, of any 366 days, or of all time. Reports
        sent already do not change it. Without `per_day`, a day and a year have the promise for
        all time.
        """
        one_of(period, "period", "day", "year", "ever")
        max_reports = self._max_reports(period)
        if self.mode == "fresh":
            if self.most_reports is not None:
                max_reports = min(max_reports, self.most_reports)
            histories = _DAY if period == "day" else _ANY
            epsilon = _total(self._memory.each, max_reports)
            return Lifetime(period, self.mode, epsilon, histories)
        if max_reports == 1:
            # One report has no pattern, so the histories need not agree in theirs.
            return Lifetime(period, self.mode, _total(self._memory.each, 1), _DAY)
        max_answers = min(self.slots or 1, max_reports)
        epsilon = _total(self._memory.kept, max_answers)
        return Lifetime(period, self.mode, epsilon, _PATTERN)

    def _max_reports(self, period: DevicePeriod) -> float:
        """Return how many reports `per_day` allows in a period."""
        if self.per_day is None or period == "ever":
            return math.inf
        days = 1 if period == "day" else DAYS
        return days * self.per_day

    def epsilon(self, period: DevicePeriod) -> float:
        """Return the ε of `lifetime`; the histories between which it holds are named there."""
        return self.lifetime(period).epsilon

    def to_json(self) -> dict[str, object]:
        """Return all that the device must keep, as JSON types. It is a secret of the device.

        A device that loses this state draws anew, and pays anew.
        """
        kept = [[value, to_plain(answer)] for value, answer in self._kept.items()]
        grid = None if self._grid is None else self._grid.to_json()
        return {
            "version": 1,
            "params": params_hash(self._mechanism.to_json()),
            "mode": self.mode,
            "slots": self.slots,
            "most_reports": self.most_reports,
            "per_day": self.per_day,
            "sent": self._sent,
            "today": self._today,
            "state": to_plain(self._state),
            "overflow": to_plain(self._overflow),
            "kept": kept,
            "grid": grid,
        }

    @classmethod
    def from_json(
        cls,
        mechanism: Any,  # noqa: ANN401 - any randomizer
        given: Mapping[str, Any],
        *,
        bits: Bits | None = None,
    ) -> Device:
        """Restore a device from the state that `to_json` wrote.

        A state written before days were counted gives a device without `per_day`.

        Refuses: `InvalidArgument` for a state of other parameters or another version.
        Law: `tests/local/test_longitudinal.py::TestSleep`
        """
        known = isinstance(given, Mapping) and given.get("version") == 1
        if not known or given.get("params") != params_hash(mechanism.to_json()):
            raise InvalidArgument(
                "this was kept under other parameters, or by another version; begin a new device"
            )
        grid = None if given["grid"] is None else AlphaPoint.from_json(given["grid"])
        # Any default will do here: its answer was drawn when the device began.
        default = None if given["mode"] == "fresh" else 0
        _check(given["mode"], given["slots"], default, given["most_reports"])
        counts_days = "today" in given
        kept = {value: from_plain(answer) for value, answer in given["kept"]}
        fields = {
            "mode": given["mode"],
            "slots": given["slots"],
            "most_reports": given["most_reports"],
            "per_day": given["per_day"] if counts_days else None,
            "_today": given["today"] if counts_days else 0,
            "_sent": given["sent"],
            "_grid": grid,
            "_bits": bits,
            "_mechanism": mechanism,
            "_memory": memory_of(mechanism),
            "_state": from_plain(given["state"]),
            "_overflow": from_plain(given["overflow"]),
            "_kept": kept,
        }
        made = cls.__new__(cls)
        for name, value in fields.items():
            setattr(made, name, value)
        return made

    def __repr__(self) -> str:
        return f"<Device {self.mode}, {self._sent} sent; {self.lifetime('ever')}>"


def _check(mode: object, slots: object, default: object, most_reports: object) -> None:
    """Refuse a mode that is unknown, and arguments that belong to the other mode."""
    one_of(mode, "mode", "fresh", "memoised", hint="; they promise different things")
    if mode == "memoised" and (slots is None or default is None):
        raise InvalidArgument(
            "a memoised device needs slots, the most values it answers for, and a public default"
        )
    if mode == "memoised" and most_reports is not None:
        raise InvalidArgument(
            "a memoised device never falls silent; most_reports belongs to fresh ones"
        )
    if mode == "fresh" and (slots is not None or default is not None):
        raise InvalidArgument("slots and default belong to memoised devices")


def _single(value: object) -> object:
    """Read one value as Python's own type: a list would be the reports of many people."""
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, str | int | float | Fraction):
        raise InvalidArgument(
            "a device reports one value, a text or a number; the mechanism says which"
        )
    return plain


def _total(epsilon: Fraction, reports: float) -> float:
    """Return reports · ε, rounded up."""
    if reports == math.inf:
        return math.inf
    exact = epsilon * int(reports)
    nearest = float(exact)
    if nearest >= exact:
        return nearest
    # The conversion rounds to nearest: if it fell below, the next float is above.
    return math.nextafter(nearest, math.inf)
