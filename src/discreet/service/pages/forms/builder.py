"""Form that asks without SQL: its lists, with what does not apply off and the reason beside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....data.columns.column import Category, Ordered, Text
from ....data.schema import Schema
from ....data.unit import People
from ....errors import DiscreetError
from ....frozen import frozen
from ....query.text.question import describe
from ..ask_form import AskFields, BudgetUnit, read_fields
from .choices import (
    CONDITIONS,
    NUMBERS,
    TABLES,
    TESTS,
    WANTS,
    Choices,
    Condition,
    axes_of,
    column_words,
    columns_to_ask,
    key_choices,
    question_of,
    read_choices,
)

MAX_LISTED = 60
"""Values of a column that a field for values proposes."""


@frozen
class ListedChoice:
    """Entry of a list: value, words, the kind of its column, and why it is off; "" if it is not."""

    value: str
    words: str
    kind: str = ""
    off: str = ""


@frozen
class BuilderForm:
    """Lists of the form for one table, and what is chosen from them.

    `values` are the listed values of the columns that have some. `rows` are the conditions, and an
    empty one after them if there are fewer than CONDITIONS.
    """

    chosen: Choices
    tables: tuple[tuple[str, str], ...]
    wants: tuple[ListedChoice, ...]
    of: tuple[ListedChoice, ...]
    ways: tuple[ListedChoice, ...]
    axes: tuple[ListedChoice, ...]
    columns: tuple[ListedChoice, ...]
    values: Mapping[str, tuple[str, ...]]
    rows: tuple[Condition, ...]

    @property
    def tests(self) -> Mapping[str, str]:
        """Tests of a condition, and their words."""
        return TESTS

    @property
    def layouts(self) -> Mapping[str, str]:
        """Choices of tables over the keys, and their words."""
        return TABLES

    @property
    def why(self) -> Mapping[str, tuple[str, str]]:
        """For each thing to know: the kinds of columns it can be of, and why no others."""
        return {
            key: (" ".join(kind or "rows" for kind in want.of), want.why)
            for key, want in WANTS.items()
        }


def builder_of(
    form: Mapping[str, str], schemas: tuple[Schema, ...], *, delta: bool
) -> BuilderForm | None:
    """Return the form for the table that is chosen; None if all tables are public.

    `delta`: the promise has a δ, which values of free text need.

    >>> import discreet as dp
    >>> from discreet.service.pages.forms.builder import builder_of
    >>> schema = dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])})
    >>> form = builder_of({}, (schema,), delta=False)
    >>> [want.off for want in form.wants if want.value == "mean"]
    ['there is no column of numbers']
    """
    private = {schema.name: schema for schema in schemas if not schema.public}
    if not private:
        return None
    known = {"table": form["table"]} if form.get("table") in private else {}
    chosen = read_choices({**form, "table": known.get("table", "")}, schemas)
    schema = private[chosen.table]
    columns = columns_to_ask(schema)
    every = tuple(
        ListedChoice(name, column_words(schema, name), column.kind)
        for name, column in columns.items()
    )
    axes = axes_of(schema)
    return BuilderForm(
        chosen=chosen,
        tables=tuple((name, one.label or name) for name, one in private.items()),
        wants=tuple(_wants(schema, bool(axes))),
        of=every,
        ways=tuple(
            ListedChoice(
                mark, way.words, columns[way.column].kind, _off(columns[way.column], delta)
            )
            for mark, way in key_choices(schema).items()
        ),
        axes=tuple(ListedChoice(mark, way.words) for mark, way in axes.items()),
        columns=every,
        values={name: _listed(column) for name, column in columns.items() if _listed(column)},
        rows=(*chosen.where, Condition("", "=", ""))[:CONDITIONS],
    )


def _wants(schema: Schema, has_axes: bool) -> list[ListedChoice]:
    """Return all there is to know, with the reason why some cannot be asked of this table."""
    kinds = {column.kind for column in columns_to_ask(schema).values()}
    listed = []
    for key, want in WANTS.items():
        off = ""
        if want.of == NUMBERS and not kinds & set(NUMBERS):
            off = "there is no column of numbers"
        if key == "change" and not has_axes:
            off = "there is no column with an order"
        if key == "people" and not isinstance(schema.unit, People):
            continue
        listed.append(ListedChoice(key, want.words, off=off))
    return listed


def _off(column: object, delta: bool) -> str:
    return "free text needs a promise with δ" if isinstance(column, Text) and not delta else ""


def _listed(column: object) -> tuple[str, ...]:
    if isinstance(column, Ordered | Text):
        return ()
    labels = dict(getattr(column, "labels", None) or ())
    if not isinstance(column, Category):
        return (labels.get(False, "no"), labels.get(True, "yes"))
    return tuple(labels.get(key, str(key)) for key in column.values[:MAX_LISTED])


def written_question(
    form: Mapping[str, str], schemas: tuple[Schema, ...]
) -> tuple[str, bool, DiscreetError | None]:
    r"""Return the SQL of a form, whether a person wrote it, and why the choices give none.

    Text in the editor counts if it differs from what the choices wrote there (`written`); `choose`
    says that the choices count.

    >>> import discreet as dp
    >>> from discreet.service.pages.forms.builder import written_question
    >>> schemas = (dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "m"])}),)
    >>> written_question({"by": "sex"}, schemas)
    ('SELECT sex, COUNT(*) AS n\nFROM people\nGROUP BY sex', False, None)
    >>> written_question({"by": "sex", "sql": "SELECT 1", "written": ""}, schemas)
    ('SELECT 1', True, None)
    """
    text = form.get("sql", "").replace("\r\n", "\n")
    if (
        text.strip()
        and text != form.get("written", "").replace("\r\n", "\n")
        and not form.get("choose")
    ):
        return text, True, None
    try:
        chosen = read_choices(form, schemas)
        [schema] = [one for one in schemas if one.name == chosen.table]
        lines = describe(question_of(chosen, schema)).splitlines()
        # Comments tell which groups a condition leaves; the page shows what was chosen.
        return "\n".join(line for line in lines if not line.startswith("--")), False, None
    except DiscreetError as refusal:
        return "", False, refusal


def asked_fields(
    form: Mapping[str, str], schemas: tuple[Schema, ...], unit: BudgetUnit
) -> tuple[AskFields, dict[str, Any]]:
    """Return the fields of a workbench's form, its SQL written, and what its page says of that.

    `written` is what the choices wrote, `own` that a person wrote the SQL, `problem` why the choices
    give none.
    """
    sql, own, problem = written_question(form, schemas)
    said = {"written": "" if own else sql, "own": own, "problem": problem}
    return read_fields({**form, "sql": sql}, unit), said
