"""From a file to a draft: its columns and the steward's answers, its values only if the steward says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ...errors import InvalidArgument
from ...privacy.neighbours import ADD_REMOVE, Neighbours, read_neighbours
from ..columns.column import Boolean, Column, ColumnType, Date, Integer, Real, Text, Timestamp
from ..files.schema_json import SHAPES
from ..schema import read_table_name, read_version
from ..unit import People, Unit
from .draft import Draft
from .sniff import InferSource, Look, look


def infer(
    source: InferSource,
    *,
    name: str | None = None,
    unit: Unit | None = None,
    people: str | None = None,
    columns: Mapping[str, Column] | None = None,
    types: Mapping[str, ColumnType] | None = None,
    leave_out: Iterable[str] = (),
    neighbours: Neighbours = ADD_REMOVE,
    version: str = "1",
    from_data: bool = False,
) -> Draft:
    """Draft a schema from the columns of a file, a data frame or rows, and from the steward's answers.

    The file may be CSV, Parquet or DuckDB's (`company.duckdb#sales.people`); a table of PostgreSQL is named as
    `postgresql://db/company#hr.staff`.

    Names come from the header and kinds from a guess at the first rows (`types` overrules it); bounds come from
    `columns`. `people` names the id where its max_rows is not known yet. With `from_data` what is not answered is read
    from all rows and marked: such a draft can be written and read, but not used until the steward takes the mark away.
    Kinds and names are in principle private too: they tell what values there are. Look at them before publishing.

    >>> import discreet as dp
    >>> from discreet.data import infer
    >>> rows = [{"age": 37, "region": "N"}, {"age": 41, "region": "S"}]
    >>> infer(rows, name="people", columns={"age": dp.Integer(0, 120)}).open["columns.region"]
    'say max_length'
    >>> infer(rows, name="people", from_data=True).needs_word
    ('columns.age', 'columns.region')

    Refuses answers about columns that are not there, both a unit and `people`, and what `Schema` refuses.
    """
    person = unit.id if isinstance(unit, People) else people
    if unit is not None and people is not None:
        raise InvalidArgument("give the unit, or only the people's id, not both")
    looks = look(source, every_row=from_data, person=person)
    answers, kinds = dict(columns or {}), dict(types or {})
    skipped = {*leave_out} | ({person} if person is not None and person not in answers else set())
    _all_known({*answers, *kinds, *skipped}, looks.columns)
    drafted = [
        (n, _column(n, seen, answers, kinds, from_data))
        for n, seen in looks.columns.items()
        if n not in skipped
    ]
    marks = [
        f"columns.{n}"
        for n, c in drafted
        if from_data and n not in answers and not isinstance(c, str | Boolean)
    ]
    counted = people is not None and from_data and looks.most_rows is not None
    who = People(people, max_rows=looks.most_rows) if counted else unit or people  # type: ignore[arg-type]
    needs_word = (*(("unit",) if counted else ()), *marks)
    table = read_table_name(_name(source) if name is None else name)
    hints = tuple((n, hint) for n, seen in looks.columns.items() if (hint := _hint(seen)))
    draft = Draft(
        table,
        who,
        tuple(drafted),
        read_neighbours(neighbours),
        read_version(version),
        needs_word,
        hints,
    )
    if not draft.open:
        draft.schema()  # facts that contradict each other are refused here, not when the file is read
    return draft


def _hint(seen: Look) -> str:
    """Propose how cells are written, and a decimal step for numbers with a few decimals."""
    if seen.proposal is not None:
        return seen.proposal[1]
    return (
        f"step = {10**-seen.places:.{seen.places}f} fits its decimals"
        if seen.kind == "real" and seen.places
        else ""
    )


def _all_known(named: set[str], known: Mapping[str, object]) -> None:
    for name in sorted(named - set(known)):
        raise InvalidArgument(f"there is no column {name!r}; there are {', '.join(known)}")


def _name(source: InferSource) -> str:
    if not isinstance(source, str | Path):
        raise InvalidArgument("rows have no name; say name='people'")
    table = str(source).partition("#")[2].rpartition(".")[2]
    words = re.sub(r"[^A-Za-z0-9_]+", "_", table or Path(str(source).removesuffix(".gz")).stem)
    return words if re.match("[A-Za-z_]", words) else f"table_{words}"


def _column(
    name: str,
    seen: Look,
    answers: Mapping[str, Column],
    kinds: Mapping[str, ColumnType],
    from_data: bool,
) -> Column | ColumnType:
    if name in answers:
        return answers[name]
    kind = kinds.get(name, seen.kind if seen.proposal is None else seen.proposal[0])
    if kind not in SHAPES:
        raise InvalidArgument(f"{kind!r} is no kind of column; use one of {', '.join(SHAPES)}")
    if kind == "boolean":
        return Boolean()
    return (_from_extremes(kind, seen) or kind) if from_data else kind


def _from_extremes(kind: ColumnType, seen: Look) -> Column | None:
    """Make a column of the extremes seen; None where there are none or they make no column."""
    column: Column | None = None
    with suppress(InvalidArgument):
        if kind == "text":
            column = Text(max_length=seen.longest)
        elif kind == "integer" and seen.numbers:
            column = Integer(*(int(x) for x in seen.numbers))
        elif kind == "real" and seen.numbers:
            column = Real(*seen.numbers)
        elif kind == "date" and seen.times:
            column = Date(*(time.date() for time in seen.times))
        elif kind == "timestamp" and seen.times:
            column = Timestamp(*seen.times)
    return column
