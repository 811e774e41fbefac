"""Published tables of a record: CSV, data dictionary and measurements with their covariance.

    table of              measurements
    -------------------   --------------------------------------------------------------------
    counts, sums          the noisy totals, and the variance of each
    means, variances, …   the noisy totals that they are made of, and their covariance in a row
    workloads             estimates before post-processing, with the covariance of all cells
    chosen values         none: no noise is added to a value that is chosen

Totals of different rows have independent noise, unless the table says `strategy`.

Law: tests/record/test_tables.py, tests/record/test_regression.py
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import attrgetter
from typing import Any

import numpy as np

from ..answer.answer import Answer
from ..answer.body import Body, read_body
from ..answer.measured_table import view_from_json
from ..answer.measurements import COVARIANCE, LEVELS, MEASUREMENTS_NOTE, plain_value
from ..answer.provenance import Provenance
from ..answer.stored import answer_from_json
from ..arithmetic.rounding import shown
from ..data.schema import Schema
from ..errors import DiscreetError, InvalidArgument
from ..frozen import field, frozen
from ..ledger import Ledger
from ..plan.plan import Plan
from ..privacy.events.json import Json
from ..query.algebra.tree import Question
from ..query.python.truncation import truncation_question
from ..query.sql.parse import parse
from ..query.text.measured_part import measured_part
from ..query.text.question import describe, fingerprint
from ..statistics.recipe import NoisyValue
from ..statistics.releases.set_totals import SetEstimate
from ..statistics.releases.total import NoisyTotal, exact_sums
from .proof import stored_bodies

LEVEL = 0.95
"""Confidence level of the intervals in published tables."""
_TYPES = {
    "number": "number",
    "truth": "boolean",
    "text": "string",
    "day": "date",
    "second": "datetime",
}
"""Types of a Frictionless table schema by our own."""
PACKAGE, MEASURED = "data/datapackage.json", "data/measurements.json"
"""Files that hold the data dictionary and the measurements of all tables."""
NOTE = (
    "Each table has its noisy totals before post-processing: unbiased, with known covariance. `columns` "
    "and `rows` are keys and totals; `covariance` is that of the totals in one row, and totals of "
    "different rows are independent; statistics of one table may share totals. "
    "`formula` says how the published statistic follows. Tables of one "
    "`strategy` are correlated over their rows, as written there. For a regression use generalised least "
    "squares: regression.py and regression.R do. " + MEASUREMENTS_NOTE
)
_FORMULAS = {
    "amount": "the total, clipped to declared bounds",
    "joint total": "total",
    "rounded total": "total",
    "average": "middle + total / count",
    "joint mean": "low + width · total / rows",
}
_TRUNCATION = re.compile(
    r"LEAST\(COUNT\(\*\), (\d{1,7})\) AS rows(?:, SUM\((\w+)\) AS sum)?\s+FROM (\w+)\s"
)
"""Most rows counted, column if any, and table, in the text of `estimate_truncation`."""
_NOT_RECORDED: Json = {"covariance": "not recorded"}


@frozen
class RecordTable:
    """One published table: CSV text, columns, noisy measurements and post-processing steps.

    `entry` is the number of its charge in the ledger, `errors` the typical error of each noisy
    column.
    """

    name: str
    sql: str
    entry: int
    csv: str = field(repr=False)
    columns: tuple[Json, ...] = field(hash=False)
    measurements: Json = field(hash=False, repr=False)
    steps: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


Asked = Mapping[int, Mapping[str, Answer]]
"""Answers as a release gave them, by entry and name."""


def read_tables(
    ledger: Ledger, schemas: Sequence[Schema], shown_entries: Sequence[int], asked: Asked
) -> tuple[RecordTable, ...]:
    """Read the tables of the shown entries from their stored answers.

    Refuses: an answer whose question cannot be read with these schemas, with InvalidArgument.
    """
    tables: list[RecordTable] = []
    bodies = stored_bodies(ledger.entries())
    for number in shown_entries:
        body = read_body(bodies[number])
        given = asked.get(number, {})
        for name in body.answers:
            # A single question has no name of its own.
            own = name or f"entry-{number}"
            answer = given.get(name)
            question = _question(body, name, schemas, answer, number)
            tables.append(make_table((own, number), body, name, question, answer))
    # Names are file names, so each is used once.
    taken = list(map(attrgetter("name"), tables))
    if len(set(taken)) < len(taken):
        raise InvalidArgument("two shown entries have tables of one name; show one of them")
    return tuple(tables)


def _question(
    body: Body, name: str, schemas: Sequence[Schema], answer: Answer | None, number: int
) -> Question:
    """Return the question of a stored answer: as the release had it, or read again from its SQL."""
    if answer is not None:
        return answer.question
    question = None
    if body.facts is not None:
        question = read_again(body, name, body.facts.asked[name].text, schemas)
    if question is None:
        raise InvalidArgument(
            f"entry {number} is no table whose question can be read again; leave it out of "
            "--questions, or publish it by `discreet release`"
        )
    return question


def read_again(body: Body, name: str, text: str, schemas: Sequence[Schema]) -> Question | None:
    """Read the text of a stored question with schemas as they were then; None if it cannot be read.

    One text may be of two questions: of SQL, and of `estimate_truncation`, which counts rows beyond
    the cap. The one with the stored fingerprint is returned, else that of SQL.
    """
    then = {}
    for schema in schemas:
        version = body.versions.get(schema.name, schema.version)
        then[schema.name] = Schema.from_dict({**schema.to_dict(), "version": version})
    try:
        question = parse(text, then)
    except DiscreetError:
        question = None
    estimate = _truncation(text, then)
    if body.facts is not None and estimate is not None:
        if stored_print(body, estimate) == body.facts.asked[name].fingerprint:
            return estimate
    return question


def _truncation(text: str, schemas: Mapping[str, Schema]) -> Question | None:
    """Read a text as the question of `estimate_truncation`; None if it is none."""
    found = _TRUNCATION.search(text)
    if found is None:
        return None
    up_to, column, table = found.groups()
    try:
        return truncation_question(schemas[table], up_to=int(up_to), of=column)
    except (KeyError, InvalidArgument):
        # SQL can be of the same form, with other tables or bounds.
        return None


def truncated_share(table: RecordTable, schema: Schema) -> Mapping[str, str] | None:
    """Return the row of a shown estimate of what the caps of a schema cut off; None of other tables.

    Its `share` is that of all rows; `share_low` and `share_high` are empty if nothing is known.
    """
    estimate = _truncation(table.sql, {schema.name: schema})
    if estimate is None or describe(estimate) != table.sql:
        return None
    return next(csv.DictReader(table.csv.splitlines()))


def stored_print(body: Body, question: Question) -> str:
    """Return the fingerprint of a question as a stored body would state it."""
    if body.measured:
        question = measured_part(question).question
    return fingerprint(question)


def _read_answer(body: Body, name: str, question: Question) -> Answer:
    # Values and intervals need no plan: estimates carry their own noise.
    made = Provenance(question, Fraction(str(LEVEL)), "")
    if body.measured:
        return view_from_json(body.answers[name], made)
    return answer_from_json(body.answers[name], made)


def make_table(
    own: tuple[str, int], body: Body, stored: str, question: Question, given: Answer | None = None
) -> RecordTable:
    """Return the table of an answer; `own` are its name and entry, `stored` its name in the body."""
    read = _read_answer(body, stored, question)
    name, entry = own
    errors = []
    for column in read.noisy:
        halves = _halves(read, column)
        if halves:
            errors.append(f"{column} ± {shown(halves[len(halves) // 2], 3)}")
    return RecordTable(
        name=name,
        sql=describe(read.question),
        entry=entry,
        csv=read.to_csv(level=LEVEL),
        columns=tuple(_columns(read)),
        measurements=_measurements(read, body, stored, given),
        steps=tuple(_steps(read, body)),
        errors=tuple(errors),
    )


def _halves(read: Answer, column: str) -> list[float]:
    """Return half the widths of a column's intervals, in order."""
    halves = []
    for row in read.interval(LEVEL):
        low, high = row[column] or (None, None)
        if isinstance(low, int | float) and isinstance(high, int | float):
            halves.append((high - low) / 2)
    return sorted(halves)


def _columns(read: Answer) -> list[Json]:
    """Return the fields of the data dictionary, in the order of the CSV file."""
    described: list[Json] = []
    for name, sort in zip(read.columns, read.sorts, strict=True):
        kind = _TYPES.get(sort or "", "any")
        if name not in read.noisy:
            text = "Key; NULL (empty): the row is summed over this key, or has no value."
            described.append({"name": name, "type": kind, "description": text})
            continue
        text = "Released with noise; NULL (empty): nothing is known."
        described.append({"name": name, "type": kind, "description": text})
        for end in ("low", "high"):
            text = f"The {end} end of the {100 * LEVEL:g} % confidence interval of {name}."
            described.append({"name": f"{name}_{end}", "type": kind, "description": text})
    return described


def _steps(read: Answer, body: Body) -> list[str]:
    """Return what was done after the noise, as stored terms and the question say."""
    terms: Json = {}
    if body.facts is not None:
        terms = body.facts.terms
    finish = read.question.finish
    steps = []
    if terms.get("whole"):
        steps.append("counts were made whole numbers that add up")
    if terms.get("nonnegative") or terms.get("whole"):
        steps.append("counts below 0 were moved to 0")
    estimates = [one for row in read.estimates for one in row.values()]
    if any(isinstance(one, SetEstimate) for one in estimates):
        steps.append("cells are least-squares estimates of one strategy")
    if finish.having is not None or finish.qualify is not None:
        steps.append("rows were left out by a condition on noisy results")
    if finish.limit is not None or finish.offset:
        steps.append("only some rows are shown, by LIMIT")
    return steps


def _measurements(read: Answer, body: Body, stored: str, given: Answer | None) -> Json:
    """Return the totals of every statistic with their covariance."""
    workload: Json = {}
    # A release has its plan at hand, also where tables share a strategy.
    if given is not None and isinstance(given.plan, Plan) and given.plan.gap is not None:
        workload = given.measurements()
    known: Any = (body.made or {}).get("covariance", {})
    found: Json = {}
    for name, _ in read.question.statistics:
        estimates = [row[name] for row in read.estimates]
        if not any(isinstance(one, SetEstimate) for one in estimates):
            found[name] = _totals(read, estimates)
        elif workload:
            # Sets that count different rows are tables of their own: "n by region".
            for key, one in workload.items():
                if key.partition(" by ")[0] == name:
                    found[key] = one
        else:
            found[name] = _stored_workload(read, name, known.get(stored, {}))
    return found


def _keys(read: Answer) -> tuple[list[str], list[list[object]]]:
    names = list(map(attrgetter("name"), read.question.keys))
    keys = []
    for key in read.keys:
        keys.append(list(map(plain_value, key)))
    return names, keys


def _totals(read: Answer, estimates: Sequence[NoisyValue]) -> Json:
    """Return the noisy totals of one statistic, row by row, and their covariance in a row."""
    names, keys = _keys(read)
    rows: list[list[object]] = []
    covariances: list[list[list[float]]] = []
    made: Json = {}
    for key, estimate in zip(keys, estimates, strict=True):
        totals, weights = _linear(estimate)
        if not totals:
            return {"covariance": "none: the value was chosen, no noise was added to it"}
        matrix = np.array(list(weights.values()), dtype=float)
        # Noise of different totals is independent: the covariance is W · diag(σ²) · Wᵀ.
        variances = []
        for total in totals:
            variances.append(total.mechanism.variance * float(total.unit) ** 2)
        covariances.append((matrix @ np.diag(variances) @ matrix.T).tolist())
        rows.append([*key, *map(float, exact_sums(totals, *weights.values()))])
        made = {
            "noise": sorted(set(map(_law, totals))),
            "columns": [*names, *weights],
            "formula": _FORMULAS.get(estimate.stored.name, estimate.stored.name),
            "constants": _constants(estimate),
        }
    # One matrix for all rows, unless a mechanism differs between them.
    if all(one == covariances[0] for one in covariances[1:]):
        return made | {"rows": rows, "covariance": next(iter(covariances), [])}
    return made | {"rows": rows, "covariance_of_row": covariances}


def _linear(estimate: NoisyValue) -> tuple[tuple[NoisyTotal, ...], dict[str, Any]]:
    """Return the noisy totals behind an estimate, and the weights of what is made of them, by name."""
    fields = estimate.stored.fields
    if "totals" in fields:
        totals = getattr(estimate, "totals")  # noqa: B009 not every estimate has it
        weights = {}
        for name, kind in fields.items():
            if kind == "weights":
                weights[name] = getattr(estimate, name)
        # One list of weights has no name that says what it is of.
        if "weights" in weights:
            weights = {"total": weights.pop("weights"), **weights}
        return totals, {name: one for name, one in weights.items() if one}
    names = [name for name, kind in fields.items() if kind == "noisy"]
    units = {}
    for place, name in enumerate(names):
        units[name] = tuple(Fraction(place == other) for other in range(len(names)))
    return tuple(getattr(estimate, name) for name in names), units


def _constants(estimate: NoisyValue) -> Json:
    constants: Json = {}
    for name, kind in estimate.stored.fields.items():
        value = getattr(estimate, name)
        if kind.startswith("amount") and isinstance(value, Fraction):
            constants[name] = float(value)
    return constants


def _law(total: NoisyTotal) -> str:
    law = "discrete Gaussian"
    if total.noise.laplace:
        law = "discrete Laplace"
    return f"{law} of scale {total.mechanism.scale} in steps of {total.unit}"


def _stored_workload(read: Answer, name: str, known: Json) -> Json:
    """Return a workload's estimates, with the covariance that its body keeps."""
    names, keys = _keys(read)
    rows: list[list[object]] = []
    for key, row in zip(keys, read.estimates, strict=True):
        rows.append([*key, float(row[name].total)])  # type: ignore[attr-defined]
    told: Json = {"columns": [*names, name], "rows": rows}
    part = measured_part(read.question)
    facts: Any = known.get(part.names[name])
    if facts is None or facts["formula"] == "not recorded":
        return told | _NOT_RECORDED
    own = {f"k{place}": asked for asked, place in zip(names, part.places, strict=True)}
    told |= {fact: facts[fact] for fact in ("strategy", "noise", "unit")}
    if facts["formula"] == "matrix":
        if not part.places:
            # Counts of one strategy: bodies of its first releases have one variance for all of them.
            if "with" not in facts:
                return told | _NOT_RECORDED
            told["covariance_with"] = {
                other: facts["with"][canonical] for other, canonical in part.names.items()
            }
        # Stored in canonical order: found again by the keys, and put in the order of these rows.
        order = {json.dumps(key): place for place, key in enumerate(facts["keys"])}
        at = []
        for key in keys:
            canonical = [key[part.places.index(place)] for place in range(len(key))]
            at.append(order[json.dumps(canonical)])
        matrix = np.array(facts["matrix"])[np.ix_(at, at)]
        return told | {"covariance": matrix.tolist()}
    # Canonical names stand in every spelling of the question for its own.
    told["sizes"] = {own[key]: size for key, size in facts["sizes"].items()}
    components = []
    for one in facts["components"]:
        components.append(one | {"keys": list(map(own.__getitem__, one["keys"]))})
    told["components"] = components
    if "levels" in facts:
        told["levels"] = list(map(own.__getitem__, facts["levels"]))
    # The formulas are long, so bodies keep their names alone.
    formulas = {"levels": LEVELS, "sets": COVARIANCE}
    return told | {"covariance": formulas[facts["formula"]]}


def same_measurements(shown_ones: Json, again: Json) -> bool:
    """Compare measurements of a record with those made again from the stored body.

    A release takes those of a workload from its plan: in another order, divided by sets, and with a
    covariance also where the body has none. Of these all estimates and variances are compared.
    """
    theirs: Any = json.loads(json.dumps(again))
    mine: Any = dict(shown_ones)
    for name in list(theirs):
        if "strategy" in theirs[name] or _NOT_RECORDED.items() <= theirs[name].items():
            continue
        # Whatever is no workload has one form.
        if mine.pop(name, None) != theirs.pop(name):
            return False
    recorded = not any(_NOT_RECORDED.items() <= one.items() for one in theirs.values())
    try:
        if _estimates(mine) != _estimates(theirs):
            return False
        ours, stored = _variances(mine), _variances(theirs)
        return not recorded or (len(ours) == len(stored) and np.allclose(ours, stored))
    except (KeyError, TypeError, AttributeError, ValueError):
        # What was forged may have any form.
        return False


def _estimates(measurements: Any) -> list[list[str]]:  # noqa: ANN401 JSON
    """List keys and estimate of every row, in an order that does not depend on how they are named."""
    found = []
    for one in measurements.values():
        for row in one.get("rows", ()):
            found.append(sorted(repr(one) for one in row if one is not None))
    return sorted(found)


def _variances(measurements: Any) -> list[float]:  # noqa: ANN401 JSON
    """List the numbers of all covariances, sorted."""
    found: list[float] = []
    for one in measurements.values():
        for component in one.get("components", ()):
            found.append(component["variance"])
        found += one.get("covariance_with", {}).values()
        if not isinstance(one["covariance"], str):
            found += np.ravel(one["covariance"]).tolist()
    return sorted(found)


def data_package(title: str, tables: Sequence[RecordTable]) -> Json:
    """Return the data dictionary (Frictionless datapackage.json) of the tables."""
    resources = []
    for table in tables:
        resources.append(
            {
                "name": table.name,
                "path": f"{table.name}.csv",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {"fields": list(table.columns), "missingValues": [""]},
                "question": table.sql,
                "entry": table.entry,
                "steps": list(table.steps),
                "errors": list(table.errors),
            }
        )
    return {"title": title, "profile": "tabular-data-package", "resources": resources}


def tables_from(package: Any, files: Mapping[str, str]) -> tuple[RecordTable, ...]:  # noqa: ANN401 JSON
    """Read the tables back from a record's files, to make the other files again."""
    measured: Any = json.loads(files[MEASURED])["tables"]
    tables = []
    for one in package["resources"]:
        tables.append(
            RecordTable(
                name=one["name"],
                sql=one["question"],
                entry=one["entry"],
                csv=files[f"data/{one['path']}"],
                columns=tuple(one["schema"]["fields"]),
                measurements=measured[one["name"]],
                steps=tuple(one["steps"]),
                errors=tuple(one["errors"]),
            )
        )
    return tuple(tables)
