"""Schema of one table: columns with public bounds, the privacy unit, and the neighbour relation.

A schema states what is public about a table before any row is read. From it and a question follows
how much one person can change an answer. A public table has a schema without a unit.

Law: tests/data/test_schema.py::TestEverySchema, tests/data/test_schema.py::TestRefusals
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping

from ..arithmetic.rational import read_flag, whole
from ..errors import InvalidArgument, SchemaMismatch
from ..frozen import field, fill, frozen
from ..privacy.measures import ADD_REMOVE, Neighbours, read_neighbours
from ..show.nearest import did_you_mean
from .columns.column import Column, Date, Temporal
from .columns.label import check_label
from .display import schema_html, schema_text
from .files.schema_json import READING, schema_from_dict, schema_to_dict
from .retention import Retention, read_keeps
from .unit import MAX_NAME_LENGTH, People, Unit, read_name

TABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_VERSION = 200


@frozen(init=False, repr=False)
class Schema:
    """Public facts about a table; nothing here is read from the data.

    | field | meaning |
    |---|---|
    | `unit` | the protected unit: a row, or a person; it has no default |
    | `columns` | the values that each column may have; there is no default |
    | `neighbours` | which tables are neighbours: "add-remove" or "replace" of one unit |
    | `public` | whether the table is no secret; then it has no unit |
    | `key`, `max_rows` | of a public table: how often its values may repeat (`public_table`) |
    | `size` | a *public* number of units, used to show relative errors |
    | `version` | the steward's name for the state of the data: the same question on the same |
    | | version has the same answer |
    | `label` | words for people who see the table; no question changes by them |
    | `keeps` | how long rows count: `("day", "24 months")`; older rows count nowhere |
    | `needs_word` | facts that a draft took from the data (`infer`), to be confirmed before use |
    | `looked_at` | how cells are read, as far as the steward looked at the data to declare it |

    >>> import discreet as dp
    >>> from discreet.data import Integer, Real, Rows
    >>> people = dp.Schema("people", unit=Rows(), columns={"age": Integer(0, 120), "income": Real(0, 250_000)})
    >>> print(people)
    people: private, the unit is one row, add-remove neighbours, version 1
      age     integer  0 to 120                  NULL absent
      income  real     0 to 250000, step 1/8192  NULL absent

    Refuses: a missing unit, no columns, names that differ only in case, a name that is no
    identifier, and a window over a column that is not declared as a time; InvalidArgument.
    """

    name: str
    unit: Unit | None
    declared: tuple[tuple[str, Column], ...]
    neighbours: Neighbours
    public: bool
    key: tuple[str, ...]
    max_rows: tuple[tuple[str, int], ...]
    size: int | None
    version: str
    needs_word: tuple[str, ...]
    looked_at: tuple[str, ...]
    keeps: Retention | None
    label: str | None = field(compare=False)

    def __init__(
        self,
        name: str,
        unit: Unit | None = None,
        columns: Mapping[str, Column] | None = None,
        *,
        neighbours: Neighbours = ADD_REMOVE,
        public: bool = False,
        key: str | Iterable[str] = (),
        max_rows: Mapping[str, int] | None = None,
        size: int | None = None,
        version: str = "1",
        needs_word: Iterable[str] = (),
        looked_at: Iterable[str] = (),
        keeps: tuple[str, str] | Retention | None = None,
        label: str | None = None,
    ) -> None:
        declared = _read_columns(columns, name)
        by_name = dict(declared)
        fill(
            self,
            name=read_table_name(name),
            unit=_read_unit(unit, by_name, read_flag(public, "public"), name),
            declared=declared,
            neighbours=read_neighbours(neighbours),
            public=public,
            key=_read_key(key, by_name, public),
            max_rows=_read_max_rows(max_rows, by_name, public),
            size=_read_size(size, public),
            version=read_version(version),
            needs_word=_read_needs_word(needs_word, by_name),
            looked_at=_read_looked_at(looked_at, by_name),
            keeps=_read_retention(keeps, by_name, public),
            label=check_label(label),
        )

    @classmethod
    def public_table(
        cls,
        name: str,
        columns: Mapping[str, Column],
        *,
        key: str | Iterable[str] = (),
        max_rows: Mapping[str, int] | None = None,
        version: str = "1",
        label: str | None = None,
    ) -> Schema:
        """Declare a public table: it has no unit, and its keys may be read from it.

        `key` names the columns that together are unique: a join on them adds no rows.
        `max_rows={"ward": 3}` says that at most 3 rows have the same ward: a join on it has a
        fan-out of at most 3. The store checks both.

        >>> import discreet as dp
        >>> from discreet.data import Category, Integer
        >>> columns = {"ward": Integer(1, 40), "city": Category(["Oslo", "Bergen"])}
        >>> dp.Schema.public_table("wards", columns, key="ward").key
        ('ward',)
        """
        facts = {"key": key, "max_rows": max_rows, "version": version, "label": label}
        return cls(name, None, columns, public=True, **facts)  # type: ignore[arg-type]

    def max_matches(self, columns: Iterable[str]) -> int | None:
        """Return the fan-out of a join on these columns: the most rows with equal values, or None.

        >>> import discreet as dp
        >>> from discreet.data import Integer
        >>> facts = {"ward": Integer(1, 40), "year": Integer(2000, 2030), "size": Integer(0, 9)}
        >>> wards = dp.Schema.public_table("wards", facts, key=("ward", "year"), max_rows={"ward": 31})
        >>> wards.max_matches(["ward", "year"]), wards.max_matches(["ward", "size"]), wards.max_matches(["size"])
        (1, 31, None)
        """
        joined = set(columns)
        if self.key and set(self.key) <= joined:
            return 1
        # Each bound holds by itself, so the smallest of them holds too.
        bounds = [max_rows for column, max_rows in self.max_rows if column in joined]
        return min(bounds, default=None)

    def most_matches(self, columns: Iterable[str]) -> int | None:
        """Return the fan-out of a join; the former name of `max_matches`, dropped by version 0.3."""
        told = "Schema.most_matches is now Schema.max_matches; version 0.3 drops it"
        warnings.warn(told, DeprecationWarning, stacklevel=2)
        return self.max_matches(columns)

    @property
    def columns(self) -> dict[str, Column]:
        """The declared columns by name, in order."""
        return dict(self.declared)

    def column(self, name: str) -> tuple[str, Column]:
        """Find a column by its name in any case, as SQL does; return its declared name and type.

        >>> import discreet as dp
        >>> from discreet.data import Integer, Rows
        >>> dp.Schema("people", Rows(), {"age": Integer(0, 120)}).column("AGE")
        ('age', Integer(0, 120))
        """
        for declared, column in self.declared:
            if declared.casefold() == name.casefold():
                return declared, column
        names = [declared for declared, _ in self.declared]
        # Names are declared and hence public, so a refusal may list them.
        message = f"{self.name} has no column {name!r}; it has {', '.join(names)}"
        raise SchemaMismatch("; ".join(filter(None, (message, did_you_mean(name, names)))))

    def ready(self) -> Schema:
        """Return the schema if the steward has stated every fact in it; refuse a draft.

        A bound that was read from the data tells about one person. Code that answers questions
        calls this first.
        """
        if self.needs_word:
            raise InvalidArgument(
                f"{self.name} is a draft: {', '.join(self.needs_word)} came from the data. "
                "Put in what is known without looking, then remove each `needs_word = true`"
            )
        return self

    def to_dict(self) -> dict[str, object]:
        """Return the schema as plain values for JSON; `from_dict` reads the same schema back."""
        return schema_to_dict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, object]) -> Schema:
        """Read a schema from plain values, as `to_dict` gives them.

        >>> import discreet as dp
        >>> from discreet.data import Boolean, Rows
        >>> votes = dp.Schema("votes", Rows(), {"yes": Boolean()})
        >>> dp.Schema.from_dict(votes.to_dict()) == votes
        True
        """
        return schema_from_dict(facts, cls)

    def __hash__(self) -> int:
        # A schema is looked up many times for one question; few schemas share name and version.
        return hash((self.name, self.version))

    def __repr__(self) -> str:
        return f"<Schema {self.name}: {len(self.declared)} columns, {self.unit or 'public'}>"

    def __str__(self) -> str:
        return schema_text(self)

    def _repr_html_(self) -> str:
        return schema_html(self)


def read_table_name(name: object) -> str:
    """Check the name of a table: an identifier, so that no question needs quotes."""
    if not isinstance(name, str) or not TABLE_NAME.fullmatch(name) or len(name) > MAX_NAME_LENGTH:
        raise InvalidArgument(
            f"a table's name must be an identifier of at most 63 letters a-z, digits and _, got {name!r}; try 'people'"
        )
    return str(name)


def _read_columns(columns: object, name: object) -> tuple[tuple[str, Column], ...]:
    """Check the declared columns: names that differ also in lower case, each with a type."""
    if not isinstance(columns, Mapping) or not columns:
        raise InvalidArgument(
            f"{name} needs columns with public bounds, such as columns={{'age': Integer(0, 120)}}"
        )
    # SQL compares names without case, so two names that differ only in case would be one.
    seen: dict[str, str] = {}
    for label, column in columns.items():
        read_name(label, "a column")
        if not isinstance(column, Column):
            raise InvalidArgument(
                f"column {label!r} must be declared by a type such as Integer(0, 120), got {column!r}"
            )
        folded = label.casefold()
        if folded in seen:
            raise InvalidArgument(
                f"columns {seen[folded]!r} and {label!r} differ only in case; rename one"
            )
        seen[folded] = label
    return tuple(columns.items())


def _read_unit(unit: object, columns: dict[str, Column], public: bool, name: object) -> Unit | None:
    """Check the unit: none for a public table, else Rows, or People with a window over a time."""
    if public:
        if unit is not None:
            raise InvalidArgument(
                f"{name} is public, so nobody in it is protected: leave the unit out, or public=True"
            )
        return None
    if not isinstance(unit, Unit):
        raise InvalidArgument(
            f"{name} needs a unit: who is protected? Say unit=Rows() if each person has one row, else "
            "unit=People('user_id', max_rows=10); a table that is no secret is Schema.public_table"
        )
    if isinstance(unit, People) and unit.window is not None:
        column, period = unit.window
        _check_window(column, period, columns)
    return unit


def _check_window(label: str, period: str, columns: dict[str, Column]) -> None:
    """Refuse a window over a column that is no time, and hours of a Date."""
    column = columns.get(label)
    if not isinstance(column, Temporal):
        times = [name for name, other in columns.items() if isinstance(other, Temporal)]
        known = f"there is {', '.join(times)}" if times else "no such column is declared"
        raise InvalidArgument(
            f"the window's column {label!r} must be declared as a Timestamp or a Date; {known}"
        )
    if period == "hour" and isinstance(column, Date):
        raise InvalidArgument(
            f"{label!r} is a Date, which has no hours; use 'day' or longer, or declare a Timestamp"
        )


def _read_key(key: object, columns: dict[str, Column], public: bool) -> tuple[str, ...]:
    """Read the unique columns of a public table; refuses them for a private one."""
    # A text is iterable too, but it is one name.
    names = tuple(key) if isinstance(key, Iterable) and not isinstance(key, str) else (key,)
    if names and not public:
        raise InvalidArgument(
            "only a public table may state a key; of a private table the unit says all that is public"
        )
    for name in names:
        if not isinstance(name, str) or name not in columns or names.count(name) > 1:
            raise InvalidArgument(
                f"the key {name!r} must be one of the columns, once; there are {', '.join(columns)}"
            )
    return names


def _read_max_rows(
    max_rows: object, columns: dict[str, Column], public: bool
) -> tuple[tuple[str, int], ...]:
    """Check the greatest numbers of rows with one value, by column; return them in column order.

    Refuses: such numbers for a private table.
    """
    if max_rows is None:
        return ()
    if not isinstance(max_rows, Mapping):
        raise InvalidArgument(
            f"max_rows of a public table is given by column, such as {{'ward': 3}}, got {max_rows!r}"
        )
    if max_rows and not public:
        raise InvalidArgument(
            "only a public table states max_rows by column; of a private table People(…) says it"
        )
    for name in max_rows:
        if name not in columns:
            raise InvalidArgument(
                f"max_rows speaks of {name!r}, which is no column; there are {', '.join(columns)}"
            )
    # In the order of the columns, so that equal schemas have equal texts.
    bounds = []
    for name in columns:
        if name in max_rows:
            bound = whole(max_rows[name], f"max_rows of {name}", least=1)
            bounds.append((name, bound))
    return tuple(bounds)


def _read_size(size: object, public: bool) -> int | None:
    if size is None:
        return None
    if public:
        raise InvalidArgument("a public table states no size: anyone may count it")
    return whole(size, "size", least=1)


def _read_retention(keeps: object, columns: dict[str, Column], public: bool) -> Retention | None:
    if keeps is not None and public:
        raise InvalidArgument("a public table keeps all its rows; leave keeps out")
    return read_keeps(keeps, columns)


def read_version(version: object) -> str:
    """Check the steward's name for the state of the data."""
    is_text = isinstance(version, str) and version.isprintable() and bool(version.strip())
    if not is_text or len(str(version)) > _MAX_VERSION:
        raise InvalidArgument(f"version must be a short text such as '2024-06', got {version!r}")
    return str(version)


def _read_needs_word(marks: Iterable[str], columns: dict[str, Column]) -> tuple[str, ...]:
    """Read the facts to be confirmed: `unit` or `columns.<name>`, in that order."""
    known = ["unit", *(f"columns.{name}" for name in columns)]
    if isinstance(marks, str):
        raise InvalidArgument(f"needs_word must list some of {', '.join(known)}, got {marks!r}")
    # Read once: a generator is empty at the second look, and a draft would count as declared.
    marked = set(marks)
    if not marked <= set(known):
        raise InvalidArgument(
            f"needs_word must list some of {', '.join(known)}, got {sorted(marked)}"
        )
    return tuple(path for path in known if path in marked)


def _read_looked_at(paths: Iterable[str], columns: dict[str, Column]) -> tuple[str, ...]:
    """Check the options that were taken from the data; each must be declared in its column."""
    known = []
    for name, column in columns.items():
        facts = column.options()
        for fact in READING:
            if facts.get(fact) is not None:
                known.append(f"columns.{name}.{fact}")
    if isinstance(paths, str):
        raise InvalidArgument(f"looked_at must be a list of facts, got {paths!r}")
    looked_at = set(paths)
    if not looked_at <= set(known):
        raise InvalidArgument(
            f"looked_at must list facts of reading that are declared, {', '.join(known) or 'none here'}; "
            f"got {sorted(looked_at - set(known))}"
        )
    # In the order of the schema, so that equal schemas have equal texts.
    return tuple(filter(looked_at.__contains__, known))
