"""Schema inference: a draft from column names, the steward's answers, and a look at the first rows.

Bounds are read from the data only on request, and are then marked for the steward to confirm.

Law: tests/data/test_infer.py::TestDraft, tests/data/test_infer.py::TestKinds
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...privacy.measures import ADD_REMOVE, Neighbours, read_neighbours
from ..columns.column import Boolean, Column, ColumnType, Date, Integer, Real, Text, Timestamp
from ..files.schema_json import COLUMN_SHAPES
from ..schema import read_table_name, read_version
from ..unit import People, Unit
from .draft import Draft
from .guess import Guess, guess, hint_of
from .proposals import Proposal, propose_from
from .sniff import InferSource, Look, sniff


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
    size: int | None = None,
    from_data: bool = False,
) -> Draft:
    """Draft a schema from the columns of a file, a data frame or rows, and from answers.

    The file may be CSV, Parquet or DuckDB's (`company.duckdb#sales.people`); a table of PostgreSQL
    is named as `postgresql://db/company#hr.staff`.

    | fact | source |
    |---|---|
    | names | the header |
    | types | a guess from the first rows; `types` overrules it |
    | bounds | `columns` |
    | unit | `unit`, or `people`, the id column, if max_rows is not known yet |
    | size | `size`, a public number of people or rows |
    | formats, units, spellings | proposals from the forms of the first rows; marked `looked_at` |

    Columns named in `leave_out` are not drafted. `neighbours` and `version` are those of the
    schema.

    With `from_data`, missing facts are read from all rows and marked. Such a draft can be written
    and read, but not used until the steward removes the marks. Types and names are in principle
    private too, because they tell about values: look at them before publishing.

    >>> import discreet as dp
    >>> from discreet.data import infer
    >>> rows = [{"age": 37, "region": "N"}, {"age": 41, "region": "S"}]
    >>> infer(rows, name="people", columns={"age": dp.Integer(0, 120)}).open["columns.region"]
    'say max_length'
    >>> infer(rows, name="people", from_data=True).needs_word
    ('columns.age', 'columns.region')

    Refuses: answers about columns that do not exist, both a unit and `people`, and everything that
    `Schema` refuses; InvalidArgument.
    """
    id_column = unit.id if isinstance(unit, People) else people
    if unit is not None and people is not None:
        raise InvalidArgument("give the unit, or only the people's id, not both")
    looks = sniff(source, every_row=from_data, person=id_column)
    answers = dict(columns or {})
    types_given = dict(types or {})
    skipped = set(leave_out)
    # The id tells people apart; it is no column to ask about unless it is declared as one.
    if id_column is not None and id_column not in answers:
        skipped.add(id_column)
    _check_exist({*answers, *types_given, *skipped}, looks.columns)
    drafted: list[tuple[str, Column | ColumnType]] = []
    needs_word: list[str] = []
    hints: list[tuple[str, str]] = []
    given: list[Proposal] = []
    for label, seen in looks.columns.items():
        if label in skipped:
            continue
        guessed = guess(label, seen)
        if label in answers:
            column: Column | ColumnType = answers[label]
        else:
            column = _column(seen, guessed, types_given.get(label), from_data)
        proposals = guessed.proposals
        if not isinstance(column, str):
            proposals = propose_from(label, column, seen.cells)
            column = proposals[-1].declared if proposals else column
        elif column != guessed.kind:
            # Of another type than the cells were read by: nothing was proposed for it.
            proposals = ()
        given += proposals
        hint = hint_of(proposals) or guessed.hint
        if hint:
            hints.append((label, hint))
        drafted.append((label, column))
        # A Boolean has no bounds, so nothing of it was read from the data.
        if from_data and label not in answers and not isinstance(column, str | Boolean):
            needs_word.append(f"columns.{label}")
    privacy_unit: Unit | str | None = unit or people
    if people is not None and from_data and looks.most_rows is not None:
        privacy_unit = People(people, max_rows=looks.most_rows)
        needs_word.insert(0, "unit")
    draft = Draft(
        read_table_name(_table_name(source) if name is None else name),
        privacy_unit,
        tuple(drafted),
        read_neighbours(neighbours),
        read_version(version),
        tuple(needs_word),
        tuple(hints),
        None if size is None else whole(size, "size", least=1),
        tuple(given),
    )
    if not draft.open:
        # Facts that contradict each other are refused here, not when the file is read.
        draft.schema()
    return draft


def _check_exist(named: set[str], known: Mapping[str, object]) -> None:
    for name in sorted(named - set(known)):
        raise InvalidArgument(f"there is no column {name!r}; there are {', '.join(known)}")


def _table_name(source: InferSource) -> str:
    """Return a name of a table from the path of its source."""
    if not isinstance(source, str | Path):
        raise InvalidArgument("rows have no name; say name='people'")
    # A database is followed by the name of a table, perhaps with its schema.
    _, _, qualified = str(source).partition("#")
    table = qualified.rpartition(".")[2]
    if not table:
        table = Path(str(source).removesuffix(".gz")).stem
    name = re.sub(r"[^A-Za-z0-9_]+", "_", table)
    if re.match("[A-Za-z_]", name):
        return name
    return f"table_{name}"


def _column(
    seen: Look, guessed: Guess, said: ColumnType | None, from_data: bool
) -> Column | ColumnType:
    """Return the type of a column, as the steward said or as guessed; a Boolean needs no bounds.

    With `from_data`, return a column whose bounds are the extremes of the cells seen, if they make
    one.
    """
    kind = said or guessed.kind
    if kind not in COLUMN_SHAPES:
        raise InvalidArgument(
            f"{kind!r} is no kind of column; use one of {', '.join(COLUMN_SHAPES)}"
        )
    if kind == "boolean":
        return Boolean()
    if not from_data:
        return kind
    if guessed.proposals and kind == guessed.kind:
        seen = _read_by(guessed.proposals[-1].declared, seen)
    return _from_extremes(kind, seen) or kind


def _read_by(column: Column, seen: Look) -> Look:
    """Return a look at the cells as a proposed declaration reads them."""
    look = Look(longest=seen.longest)
    for cell in seen.cells:
        value = column.read(cell)
        look.take(float(value) if isinstance(value, Fraction) else value)
    return look


def _from_extremes(kind: ColumnType, seen: Look) -> Column | None:
    """Make a column of the extremes seen; None where there are none or they make no column."""
    # Equal extremes make no column; a refusal would tell that, so the fact just stays missing.
    with suppress(InvalidArgument):
        if kind == "text":
            return Text(max_length=seen.longest)
        if kind == "integer" and seen.numbers:
            low, high = seen.numbers
            return Integer(int(low), int(high))
        if kind == "real" and seen.numbers:
            return Real(*seen.numbers)
        if kind == "date" and seen.times:
            first, last = seen.times
            return Date(first.date(), last.date())
        if kind == "timestamp" and seen.times:
            return Timestamp(*seen.times)
    return None
