"""Privacy unit: one row, all rows of one person, or one person's rows within a window of time.

The bounds of `People` are enforced, not believed: however many rows a person has, at most
`max_rows` of them count in an answer.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar, Literal, Never, TypeAlias, get_args

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import fill, frozen
from .columns.declared import call

Period: TypeAlias = Literal["hour", "day", "week", "month", "quarter", "year"]
PERIODS: tuple[Period, ...] = get_args(Period)
MAX_NAME_LENGTH = 63
"""PostgreSQL cuts longer names."""


def read_name(value: object, what: str) -> str:
    """Check the name of a stored column: printable text without quotes, at most 63 bytes.

    >>> from discreet.data.unit import read_name
    >>> read_name("Time spent (minutes)", "a column")
    'Time spent (minutes)'

    Refuses the empty name, surrounding spaces, quotes, backslashes, control characters.
    """
    fits = (
        isinstance(value, str)
        and value.isprintable()
        and 0 < len(value.encode()) <= MAX_NAME_LENGTH
    )
    if (
        not isinstance(value, str)
        or not fits
        or value != value.strip()
        or set(value) & set("\"'`\\")
    ):
        raise InvalidArgument(
            f"{what} needs a printable name of at most 63 bytes without quotes, got {value!r}"
        )
    return str(value)


@frozen(init=False)
class Rows:
    """Protect one row: for data with one row per person, or where only the single event is secret.

    >>> import discreet as dp
    >>> print(dp.Rows())
    one row

    Refuses: caps, which are on the rows of a person.
    """

    kind: ClassVar[Literal["rows"]] = "rows"

    def __init__(self, **caps: Never) -> None:
        if caps:
            raise InvalidArgument(
                f"Rows takes no {', '.join(caps)}: a cap is on the rows of a person, and the unit is "
                'one row; write Rows(), or People("user_id", max_rows=…) with the column of their ids'
            )

    def __str__(self) -> str:
        return "one row"


@frozen(init=False, repr=False)
class People:
    """Protect a person: all rows whose column `id` holds the same value; rows without an id count nowhere.

    | bound | the most … of one unit |
    |---|---|
    | `max_rows` | rows that count in an answer, over all its groups |
    | `max_groups` | groups in which the unit is counted as a person, or whose unknown keys it can |
    | | show; None means `max_rows`; by itself it bounds no rows |
    | `max_rows_per_group` | rows that count in one group of an answer with known groups; over |
    | | all groups `max_groups` times as many count, and at most `max_rows`; None is no bound |

    With `window=("visited", "month")` the unit is a person within one calendar month of that
    column. A person active in k months is then protected only as a group of k units.

    The id is compared as it is stored. It need not be declared as a column; questions can only
    count it. `who` names the kind of person (default: the id's own name). Tables with an equal
    `who` hold the same people, whatever their id columns are called: equal ids are one person,
    protected and joined over all these tables.

    >>> import discreet as dp
    >>> print(dp.People("user_id", max_rows=10, window=("visited", "month")))
    one person (user_id) within a month of visited, at most 10 rows

    >>> print(dp.People("user_id", max_rows=10, max_groups=3, max_rows_per_group=2))
    one person (user_id), at most 10 rows in at most 3 groups, 2 in each

    >>> print(dp.People("user_id", who="user", max_rows=3))
    one user (user_id), at most 3 rows

    Refuses: a bound below 1, more groups than rows, more rows in a group than in all, a window that
    is no calendar period.
    """

    kind: ClassVar[Literal["people"]] = "people"
    id: str
    max_rows: int
    max_groups: int | None
    window: tuple[str, Period] | None
    max_rows_per_group: int | None
    who: str

    def __init__(
        self,
        id: str,  # noqa: A002
        *,
        max_rows: int,
        max_groups: int | None = None,
        max_rows_per_group: int | None = None,
        window: tuple[str, Period] | None = None,
        who: str | None = None,
    ) -> None:
        rows = whole(max_rows, "max_rows", least=1)
        groups = None if max_groups is None else whole(max_groups, "max_groups", least=1)
        group_rows = None
        if max_rows_per_group is not None:
            group_rows = whole(max_rows_per_group, "max_rows_per_group", least=1)
            if group_rows > rows:
                raise InvalidArgument(
                    f"max_rows_per_group must be at most max_rows = {rows}, got {group_rows}; "
                    "raise max_rows, or leave it out: then rows are bounded over all groups alone"
                )
        if groups is not None and groups > rows:
            raise InvalidArgument(
                f"max_groups must be at most max_rows = {rows}, got {groups}; a group takes a row"
            )
        id_name = read_name(id, "the id")
        # Without `who` an id is named after itself, which is what every older schema means.
        who_name = id_name
        if who is not None:
            who_name = read_name(who, "who")
        fields = {
            "id": id_name,
            "max_rows": rows,
            "max_groups": groups,
            "max_rows_per_group": group_rows,
            "window": _window(window),
            "who": who_name,
        }
        fill(self, **fields)

    def __repr__(self) -> str:
        who = None
        if self.who != self.id:
            who = self.who
        return call(
            "People",
            self.id,
            max_rows=self.max_rows,
            max_groups=self.max_groups,
            max_rows_per_group=self.max_rows_per_group,
            window=self.window,
            who=who,
        )

    def __str__(self) -> str:
        within = ""
        if self.window is not None:
            column, per = self.window
            within = f" within {'an' if per == 'hour' else 'a'} {per} of {column}"
        groups = ""
        if self.max_groups is not None:
            groups = f" in at most {self.max_groups} group{_s(self.max_groups)}"
        each = ""
        if self.max_rows_per_group is not None:
            each = f", {self.max_rows_per_group} in each{'' if groups else ' group'}"
        rows = f"at most {self.max_rows} row{_s(self.max_rows)}"
        person = "person"
        if self.who != self.id:
            person = self.who
        return f"one {person} ({self.id}){within}, {rows}{groups}{each}"


Unit: TypeAlias = Rows | People


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _window(window: object) -> tuple[str, Period] | None:
    """Read a window: the name of a column, and a calendar period."""
    hint = f'write window=("visited", "month"), with one of {", ".join(PERIODS)}'
    if window is None:
        return None
    if not isinstance(window, tuple | list) or len(window) != 2:
        raise InvalidArgument(f"a window is a column and a period, got {window!r}; {hint}")
    if window[1] not in PERIODS:
        raise InvalidArgument(f"{window[1]!r} is no calendar period; {hint}")
    return read_name(window[0], "the window's column"), window[1]


def window_start(time: datetime, per: Period) -> datetime:
    """Return the first second of the calendar window a time falls in; weeks begin on Monday, all is UTC.

    >>> from datetime import datetime
    >>> from discreet.data.unit import window_start
    >>> window_start(datetime(2024, 5, 15, 9, 30), "week"), window_start(datetime(2024, 5, 15), "quarter")
    (datetime.datetime(2024, 5, 13, 0, 0), datetime.datetime(2024, 4, 1, 0, 0))
    """
    if per == "hour":
        return time.replace(minute=0, second=0, microsecond=0)
    start = time.replace(hour=0, minute=0, second=0, microsecond=0)
    if per == "week":
        return start - timedelta(days=start.weekday())
    if per == "day":
        return start
    month = {"month": start.month, "quarter": start.month - (start.month - 1) % 3, "year": 1}[per]
    return start.replace(month=month, day=1)
