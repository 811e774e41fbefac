"""A device that goes on reporting: its own ledger, and what all its reports together promise.

fresh      Every report is drawn anew. ε adds up, report by report, between any two histories of values.

memoised   One answer is drawn for each different value and sent again whenever the value returns. Then ε adds up over
           different values only, at most K of them; but it holds only between histories with the same pattern, which
           change, and return to an earlier value, at the same moments. The moments show. Against a history with
           another pattern there is no finite ε: (a, a) never sends two different answers, (a, b) does; and (a, b, a)
           never differs in its first and third, (a, b, c) does.

When the K slots are used up, a memoised device goes on with the answer of a slot of its own, drawn at the start for a
public default. It never falls silent, for silence would tell that K values occurred; and that slot is shared with no
value, not even one that equals the default, else returning to it would show.

Whether to report on a day is decided by the calendar, never by the value: `per_day` reports are allowed until
`new_day()` is called, then as many again. What a day and a year promise rests on that count, so a device without
`per_day` promises for them no more than for ever. A year is any 366 days so counted.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np

from ..arithmetic.rational import whole
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
    "histories that change, and return to earlier values, at the same moments; the moments themselves show, and "
    "histories with other moments can be told apart"
)


@frozen
class Lifetime:
    """What a period of reporting promises: an ε, and between which histories it holds.

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
        when = {"day": "a day", "year": "a year", "ever": "for ever"}[self.period]
        price = f"ε = {shown(self.epsilon, 4)}" if math.isfinite(self.epsilon) else "no finite ε"
        return f"{when}, {self.mode} answers: {price}, between {self.neighbours}"


class Device:
    """One device's reports of one metric over time, with its ledger.

    `mode` is "fresh" or "memoised" and has no default: the two promise different things (see the top of this file).
    Fresh devices may have `most_reports`; memoised ones need `slots` (K) and a public `default`. With `per_day` so many
    reports are sent and no more until `new_day()`, which the device's calendar calls. `grid` rounds numbers to an
    α-point grid first, so that small changes of a number are no new value.

    >>> from discreet.local import Device
    >>> from discreet.local.deployments.one_bit import OneBitMean
    >>> from discreet.privacy import PureDP
    >>> minutes = Device(OneBitMean(0, 1440, PureDP(1)), mode="memoised", slots=3, default=0)
    >>> minutes.report(90) == minutes.report(90)
    True
    >>> print(minutes.lifetime("ever"))  # doctest: +ELLIPSIS
    for ever, memoised answers: ε = 3, between histories that change, and return to earlier values, at the same ...

    Refuses an unknown mode, a memoised device without slots or default, and more reports than allowed.
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
        mechanism: Any,  # noqa: ANN401 - any randomizer
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
        self.slots = None if slots is None else whole(slots, "slots", least=1)
        self.most_reports = (
            None if most_reports is None else whole(most_reports, "most_reports", least=1)
        )
        self.per_day = None if per_day is None else whole(per_day, "per_day", least=1)
        self._grid, self._bits = grid, bits
        self._mechanism, self._memory = mechanism, memory_of(mechanism)
        self._sent, self._today, self._kept = 0, 0, dict[Hashable, Any]()
        self._state = self._memory.begin(bits)
        self._overflow = (
            None
            if mode == "fresh"
            else self._memory.remember(self._state, self._rounded(_single(default)), bits)
        )

    def new_day(self) -> None:
        """Begin a new day: `per_day` reports may be sent again. For the calendar to call, never for a value."""
        self._today = 0

    def report(self, value: object) -> Any:  # noqa: ANN401 - what the mechanism reports
        """Return the report of the value held now.

        Refuses more than `per_day` before `new_day()`, more than `most_reports`, and values the mechanism refuses,
        whatever was sent before; a refused value is not counted.
        """
        self._allow()
        rounded = self._rounded(_single(value))
        self._memory.check(rounded)
        fresh = self.mode == "fresh"
        answer = (
            self._memory.remember(self._state, rounded, self._bits)
            if fresh
            else self._answer(rounded)
        )
        self._sent, self._today = self._sent + 1, self._today + 1
        return self._memory.send(self._state, answer, self._bits)

    def _allow(self) -> None:
        """Refuse by what was sent so far, never by a value."""
        if self.most_reports is not None and self._sent >= self.most_reports:
            raise BudgetExceeded("this device has sent all the reports it may", asked=1, left=0)
        if self.per_day is not None and self._today >= self.per_day:
            raise BudgetExceeded(
                "this device has sent the reports of a day; new_day() begins the next",
                asked=1,
                left=0,
            )

    def _answer(self, value: Any) -> Any:  # noqa: ANN401
        """Return the answer kept for a value; draw it if there is a slot left, else take the default's."""
        if value not in self._kept and self.slots is not None and len(self._kept) < self.slots:
            self._kept[value] = self._memory.remember(self._state, value, self._bits)
        return self._kept.get(value, self._overflow)

    def _rounded(self, value: Any) -> Any:  # noqa: ANN401
        return value if self._grid is None else float(self._grid.value(value))

    @property
    def sent(self) -> int:
        """How many reports were sent; the server sees that too."""
        return self._sent

    @property
    def used(self) -> int:
        """How many slots are used; a secret of the device."""
        return len(self._kept)

    def lifetime(self, period: DevicePeriod) -> Lifetime:
        """Return what a day, a year or all of time promises, and between which histories.

        Of a day only what that day shows counts; of a year and of all of time, everything sent so far and from then on.
        """
        if period not in ("day", "year", "ever"):
            raise InvalidArgument(f"period must be 'day', 'year' or 'ever', got {period!r}")
        reports = (
            None
            if self.per_day is None
            else {"day": 1, "year": DAYS}.get(period, math.inf) * self.per_day
        )
        if self.mode == "fresh":
            most = min(
                count for count in (reports, self.most_reports, math.inf) if count is not None
            )
            return Lifetime(
                period,
                self.mode,
                _total(self._memory.each, most),
                _DAY if period == "day" else _ANY,
            )
        if reports == 1:
            return Lifetime(period, self.mode, _total(self._memory.each, 1), _DAY)
        most = min(self.slots or 1, math.inf if reports is None else reports)
        return Lifetime(period, self.mode, _total(self._memory.kept, most), _PATTERN)

    def epsilon(self, period: DevicePeriod) -> float:
        """Return the ε of `lifetime`; read there between which histories it holds."""
        return self.lifetime(period).epsilon

    def to_json(self) -> dict[str, object]:
        """Return all that the device must keep, a secret of its own: who forgets it draws, and pays, anew."""
        told: dict[str, object] = {
            "version": 1,
            "params": params_hash(self._mechanism.to_json()),
            "mode": self.mode,
        }
        told |= {
            "slots": self.slots,
            "most_reports": self.most_reports,
            "per_day": self.per_day,
            "sent": self._sent,
        }
        told["today"] = self._today
        told |= {"state": to_plain(self._state), "overflow": to_plain(self._overflow)}
        told["kept"] = [[value, to_plain(answer)] for value, answer in self._kept.items()]
        return told | {"grid": None if self._grid is None else self._grid.to_json()}

    @classmethod
    def from_json(
        cls, mechanism: Any, given: Mapping[str, Any], *, bits: Bits | None = None
    ) -> Device:
        """Wake a device from what `to_json` wrote; one kept before days were counted wakes without `per_day`.

        Refuses what was kept under other parameters, and other versions.
        """
        if (
            not isinstance(given, Mapping)
            or given.get("version") != 1
            or given.get("params") != params_hash(mechanism.to_json())
        ):
            raise InvalidArgument(
                "this was kept under other parameters, or by another version; begin a new device"
            )
        grid = None if given["grid"] is None else AlphaPoint.from_json(given["grid"])
        default = None if given["mode"] == "fresh" else 0  # its answer was drawn long ago
        _check(given["mode"], given["slots"], default, given["most_reports"])
        fields = {name: given[name] for name in ("mode", "slots", "most_reports")}
        counted = "today" in given
        fields |= {
            "per_day": given["per_day"] if counted else None,
            "_today": given["today"] if counted else 0,
        }
        fields |= {"_sent": given["sent"], "_grid": grid, "_bits": bits, "_mechanism": mechanism}
        fields |= {"_state": from_plain(given["state"]), "_overflow": from_plain(given["overflow"])}
        fields["_kept"] = {value: from_plain(answer) for value, answer in given["kept"]}
        made = cls.__new__(cls)
        for name, value in {**fields, "_memory": memory_of(mechanism)}.items():
            setattr(made, name, value)
        return made

    def __repr__(self) -> str:
        return f"<Device {self.mode}, {self._sent} sent; {self.lifetime('ever')}>"


def _check(mode: object, slots: object, default: object, most_reports: object) -> None:
    if mode not in ("fresh", "memoised"):
        raise InvalidArgument(
            f"mode must be 'fresh' or 'memoised', got {mode!r}; they promise different things"
        )
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
    near = float(exact)
    return near if near >= exact else math.nextafter(near, math.inf)
