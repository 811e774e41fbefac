"""Measured table of an answer: all its keys and estimates, apart from how a question shows them.

The measured part of a question is its totals by key: what noise has to be added to. Names, order of
columns, computed columns, HAVING, ORDER BY and LIMIT are post-processing
(`query.text.measured_part`). So a question is measured once, and every other view of its table is
free.

    asked                                             stored
    SELECT COUNT(*) AS n, sex … ORDER BY n LIMIT 1    k0, s0 of every sex, in the order of the keys
    SELECT sex, COUNT(*) + 1 … HAVING COUNT(*) > 9    the same table

Here k0 is the first key and s0 the first statistic.

Guarantee: a stored table does not tell by which words it was asked for: names and order are canonical.
Law: tests/curator/test_views.py::TestAStoredTable
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from ..arithmetic.canonical import canonical_json
from ..errors import InvalidArgument
from ..plan.plan import Plan
from ..privacy.events.json import Json
from ..query.algebra.tree import Question
from ..query.bounds.nested import pick, set_cells
from ..query.text.measured_part import MeasuredPart, measured_part
from ..statistics.recipe import NoisyValue
from ..statistics.releases.total import JointTotal, KeyValues, TotalEstimate
from .answer import Answer
from .provenance import LatePlan, Provenance
from .stored import estimates_from_json, scalar_to_json, table_to_json

Row: TypeAlias = tuple[KeyValues, dict[str, NoisyValue]]
"""The keys of one row, and its estimates by statistic."""


def measured_to_json(answer: Answer, part: MeasuredPart | None = None) -> Json:
    """Write the measured table of an answer, whatever rows and columns the answer shows of it.

    `part` is the measured part of the question, worked out here if it is not given.
    """
    if part is None:
        part = measured_part(answer.question)
    keys, estimates = answer.every or (answer.keys, answer.estimates)
    rows: list[Row] = []
    for key, row in zip(keys, estimates, strict=True):
        canonical: list[object] = [None] * len(key)
        for place, value in zip(part.places, key, strict=True):
            canonical[place] = value
        own = {}
        for asked, new in part.names.items():
            own[new] = row[asked]
        rows.append((tuple(canonical), own))  # type: ignore[arg-type]
    # The order of the rows would tell in which order the keys were named.
    rows.sort(key=_key_text)
    return table_to_json(*_columns(rows))


def measured_tables(
    answers: Mapping[str, Answer], parts: Mapping[str, MeasuredPart]
) -> dict[str, Json]:
    """Write the measured tables of answers by name; `parts` are their measured parts."""
    tables = {}
    for name, answer in answers.items():
        tables[name] = measured_to_json(answer, parts[name])
    return tables


def _columns(rows: Iterable[Row]) -> tuple[list[KeyValues], list[dict[str, NoisyValue]]]:
    """Return the keys and the estimates of rows apart."""
    keys = []
    estimates = []
    for key, row in rows:
        keys.append(key)
        estimates.append(row)
    return keys, estimates


def _key_text(row: Row) -> str:
    return canonical_json([scalar_to_json(value) for value in row[0]])


def slice_table(data: object, titles: Sequence[str], pinned: Mapping[str, object]) -> Json:
    """Return the part of a written table in which some keys have the values of `pinned`.

    `titles` are the names of the keys by which `pinned` names some of them. A key is pinned to one
    value or summed over several (`{"sum": values}`, a roll-up), and is then no key of the result;
    or it stays with some of its values (`{"of": values}`).

    Refuses: with InvalidArgument what is no table, names of other keys, and sums of what does not add up.

    Law: tests/curator/test_summed_cells.py::TestARollUp
    """
    known = list(titles)
    if not isinstance(data, dict) or not set(known) >= pinned.keys():
        raise InvalidArgument("a part of a table is given by values of its keys")
    # Texts are compared and not values, because in Python True equals 1.
    wanted: dict[int, set[str]] = {}
    left = []
    sums = False
    for place, title in enumerate(known):
        choice = pinned.get(title, {"of": None})
        values, keeps_key = _chosen_values(choice)
        if keeps_key:
            left.append(place)
        sums = sums or (len(values) > 1 and not keeps_key)
        if values:
            wanted[place] = {canonical_json(value) for value in values}
    cells: list[tuple[list[object], Json]] = []
    for key, row in zip(data["keys"], data["estimates"], strict=True):
        if all(canonical_json(key[place]) in texts for place, texts in wanted.items()):
            cells.append((list(pick(key, left)), row))
    if sums:
        cells = _add_cells(cells)
    # Fewer keys have another order as texts: that of a table which was measured so.
    cells.sort(key=_cell_text)
    keys, estimates = [], []
    for own_key, row in cells:
        keys.append(own_key)
        estimates.append(row)
    return {**data, "keys": keys, "estimates": estimates}


def _cell_text(cell: tuple[list[object], Json]) -> str:
    return _text_of(cell[0])


def _text_of(key: object) -> str:
    return canonical_json(key)


def _chosen_values(choice: object) -> tuple[list[object], bool]:
    """Read what is shown of a key: one value, {"sum": values}, or {"of": values}, which stays a key."""
    match choice:
        case {"sum": [_, *_] as values}:
            return list(values), False
        case {"of": None}:
            return [], True
        case {"of": [_, *_] as values}:
            return list(values), True
    return [choice], False


def _add_cells(cells: Sequence[tuple[list[object], Json]]) -> list[tuple[list[object], Json]]:
    """Add up cells of equal keys: each sum is written as a joint total of its parts."""
    groups: dict[str, list[tuple[list[object], Json]]] = {}
    for cell in cells:
        groups.setdefault(canonical_json(cell[0]), []).append(cell)
    added = []
    for group in groups.values():
        sums: Json = {}
        alone: list[object] = []
        for name in group[0][1]:
            parts = [_parts_of(row[name], name) for _, row in group]
            totals = [part["total"] for cell in parts for part in cell]
            # A statistic of one total in each cell may be the very total of another statistic.
            if len(totals) == len(group):
                if totals in alone:
                    # One release of two statistics, or two that are equal by chance: nobody can tell.
                    raise InvalidArgument("statistics of equal totals may share their noise")
                alone.append(totals)
            sums[name] = _joint_total(parts)
        added.append((group[0][0], sums))
    return added


def _joint_total(cells: Sequence[Sequence[Json]]) -> Json:
    """Write the sum of cells as one joint total; totals of one cell keep what they share."""
    joint: Json = {"estimate": JointTotal.stored.name, "low": None, "whole": True}
    totals = []
    weights = []
    names = []
    for place, parts in enumerate(cells):
        for part in parts:
            totals.append(part["total"])
            weights.append(part["weight"])
            # Equal names mean one noise, and cells have each their own: so the cell is in the name.
            names.append(f"{place}:{part['name']}")
            joint["whole"] = joint["whole"] and part["whole"]
    return {**joint, "totals": totals, "weights": weights, "names": names}


def _parts_of(estimate: object, statistic: str) -> list[Json]:
    """Return the noisy totals of a written estimate of a count or sum, with weights and names.

    Refuses: with InvalidArgument numbers that were moved, and all that is no sum of totals.
    """
    parts = _sum_parts(estimate, statistic)
    if parts is None:
        raise InvalidArgument("only released counts and sums that were not moved add up")
    return parts


def _sum_parts(estimate: object, statistic: str) -> list[Json] | None:
    """Return the noisy totals of a released count or sum.

    None for numbers with bounds or rounded values, and for all else: these do not add up.
    """
    match estimate:
        case {"estimate": TotalEstimate.stored.name, "low": None, "high": None, "total": total}:
            return [{"total": total, "weight": "1", "name": statistic, "whole": False}]
        case {
            "estimate": JointTotal.stored.name,
            "low": None,
            "whole": whole,
            "totals": totals,
            "weights": weights,
            "names": names,
        }:
            parts = []
            for total, weight, name in zip(totals, weights, names, strict=True):
                parts.append({"total": total, "weight": weight, "name": name, "whole": whole})
            return parts
    return None


def half_sum(total: object, signed: object) -> Json:
    """Return the written table of half the sum of two written tables of one statistic, key by key.

    Refuses: with InvalidArgument two tables of which `find_half_sum` finds none.
    """
    found = find_half_sum(total, signed)
    if found is None:
        raise InvalidArgument(
            "half a sum is of two tables of one statistic that was not moved, with the same keys"
        )
    return found


def find_half_sum(total: object, signed: object) -> Json | None:
    """Return the written table of half the sum of two written tables of one statistic, key by key.

    `total` has the count t of all rows. `signed` has u: the count of rows that meet a condition
    minus that of the others. So (t + u)/2 counts the rows that meet it. None of tables of other
    keys, of several statistics, and of moved numbers.

    Law: tests/curator/test_contrast.py::TestAContrast
    """
    if not isinstance(total, dict) or not isinstance(signed, dict):
        return None
    if [_text_of(key) for key in total["keys"]] != [_text_of(key) for key in signed["keys"]]:
        return None
    # Each mechanism once, in the order in which it is named: so is a table written that was read.
    mechanisms: dict[str, Json] = {}
    places: dict[str, int] = {}
    rows = []
    for pair in zip(total["estimates"], signed["estimates"], strict=True):
        parts = []
        for source, table, row in zip(("total", "signed"), (total, signed), pair, strict=True):
            if len(row) != 1:
                return None
            [(name, estimate)] = row.items()
            known = _sum_parts(estimate, name)
            if known is None:
                return None
            for part in known:
                noisy: list[Any] = part["total"]  # type: ignore[assignment]
                mechanism = table["mechanisms"][noisy[2]]
                written = canonical_json(mechanism)
                mechanisms.setdefault(written, mechanism)
                own_place = places.setdefault(written, len(places))
                halved = str(Fraction(str(part["weight"])) / 2)
                own = {"total": [*noisy[:2], own_place], "weight": halved, "whole": True}
                parts.append({**own, "name": f"{source}:{part['name']}"})
        rows.append({name: _joint_total([parts])})
    return {**signed, "estimates": rows, "mechanisms": list(mechanisms.values())}


def view_from_json(data: object, plan: Plan | Provenance | LatePlan) -> Answer:
    """Read a measured table as the answer to the plan's question: its names, order and post-processing.

    Refuses: with InvalidArgument a table of another measured part.
    """
    question = plan.question
    part = measured_part(question)
    keys, estimates = estimates_from_json(data, part.question)
    rows = []
    for key, row in zip(keys, estimates, strict=True):
        own = {}
        for name in part.asked:
            own[name] = row[part.names[name]]
        rows.append((pick(key, part.places), own))
    return Answer.of(plan, *_columns(_in_order(question, rows)))


def _in_order(question: Question, rows: Sequence[Row]) -> list[Row]:
    """Return rows in the order of the question's keys; keys that noise selected, by their text."""
    if any(key.values is None for key in question.keys):
        return sorted(rows, key=_printed)
    by_key = dict(rows)
    # LIMIT 0 alone stores a table without rows.
    return [(key, by_key[key]) for key in set_cells(question) if key in by_key]


def _printed(row: Row) -> str:
    return repr(row[0])
