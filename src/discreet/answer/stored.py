"""Serialization of answers as JSON, exact and permanent: a stored answer is read again digit for digit.

An answer is its keys and its estimates. Everything shown (values, intervals at any level, tables) is
worked out from them again. Estimates keep the noisy steps and the mechanism that made them, so nothing is
rounded on the way. The fields of an estimate and their types are declared beside it in `statistics` (its
`stored` form). These declarations *are* the format: they do not follow the classes by reflection, and
fields are only ever added.

    scalars     JSON's own whole numbers, text, truths and null; {"fraction": "1/3"}; {"date": "2024-01-02"};
                {"time": "2024-01-02T03:04:05"}
    noisy       [steps, the unit of a step as text, the index of its mechanism in the answer's list]
    floats      text, their shortest decimal
    mechanisms  additive mechanisms with scale, sensitivity and neighbours, from which intervals follow at any level

Guarantee: `answer_from_json(answer_to_json(answer), plan) == answer`, and the same for mechanisms.
Refuses: with InvalidArgument other versions, unknown or missing fields, values of other types.
Law: tests/ledger/test_before_0_2_0.py, tests/ledger/test_0_1_0.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from functools import lru_cache
from typing import Any

from .. import workloads
from ..errors import InvalidArgument
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..mechanisms.sensitivity import Sensitivity
from ..plan.plan import Plan
from ..privacy.events.json import Json, read_amount, read_list
from ..privacy.measures import Neighbours, read_neighbours
from ..query.algebra.statistic import Statistic
from ..query.algebra.tree import Question
from ..query.domains.domain import Scalar
from ..statistics.catalogue import estimate_class, list_estimates
from ..statistics.laws.noise_sum import Additive
from ..statistics.recipe import NoisyValue
from ..statistics.releases.total import KeyValues, NoisyTotal
from .answer import Answer
from .provenance import LatePlan, Provenance

VERSION = 1
"""Version of this format; an answer of another version is refused."""
_NOISY_FORM = "a noisy total is written as [steps, unit, mechanism]"


@dataclass(slots=True)
class MechanismList:
    """List of the mechanisms of one answer, each written once; it lives for one call."""

    places: dict[Additive, int] = field(default_factory=dict)
    listed: list[Additive] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)
    """Indices by identity, which is faster to look up than by value.

    The answer that is written keeps the mechanisms alive, so no identity is used twice.
    """

    def place(self, mechanism: Additive) -> int:
        """Return the index of a mechanism in the list; a new one is appended."""
        known = self.seen.get(id(mechanism))
        if known is not None:
            return known
        if mechanism not in self.places:
            self.places[mechanism] = len(self.listed)
            self.listed.append(mechanism)
        self.seen[id(mechanism)] = self.places[mechanism]
        return self.places[mechanism]


def answer_to_json(answer: Answer) -> Json:
    """Write the keys and estimates of an answer as JSON types; its question and plan are not written.

    >>> from discreet.answer.stored import answer_from_json, answer_to_json
    >>> import discreet as dp
    >>> from fractions import Fraction
    >>> from discreet.statistics.releases.total import NoisyTotal, TotalEstimate
    >>> votes = {"votes": dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()})}
    >>> plan = dp.plan_question(dp.parse_sql("SELECT COUNT(*) AS n FROM votes", votes), dp.PureDP(1))
    >>> answer = dp.Answer.of(plan, [()], [{"n": TotalEstimate(NoisyTotal(41, Fraction(1), dp.Geometric(1, 1)))}])
    >>> written = answer_to_json(answer)
    >>> written["estimates"]
    [{'n': {'estimate': 'amount', 'total': [41, '1', 0], 'low': None, 'high': None}}]
    >>> answer_from_json(written, plan) == answer
    True
    """
    written = table_to_json(*(answer.every or (answer.keys, answer.estimates)))
    # Written only where noise picked rows, so that other answers keep the text of release 0.1.0.
    if answer.candidates:
        written["candidates"] = answer.candidates
    return written


def table_to_json(keys: Sequence[KeyValues], estimates: Sequence[Mapping[str, NoisyValue]]) -> Json:
    """Return a table: the lists `keys` and `estimates`, an item a row, and their `mechanisms`."""
    mechanisms = MechanismList()
    rows = []
    for row in estimates:
        rows.append({name: _write_estimate(made, mechanisms) for name, made in row.items()})
    return {
        "answer": VERSION,
        "keys": [[scalar_to_json(value) for value in key] for key in keys],
        "estimates": rows,
        # After the rows, which fill the list.
        "mechanisms": [mechanism_to_json(mechanism) for mechanism in mechanisms.listed],
    }


def answer_from_json(data: object, plan: Plan | Provenance | LatePlan) -> Answer:
    """Read an answer written by `answer_to_json`, as the answer to the plan's question.

    Only the question is needed to read it; the plan tells how the answer was made.

    Refuses: other versions, unknown fields, and keys or statistics other than those of the question.
    """
    keys, rows = estimates_from_json(data, plan.question)
    candidates = _read_candidates(data, plan.question, len(keys))
    return Answer.of(plan, keys, rows, candidates=candidates)


def _read_candidates(data: object, question: Question, shown: int) -> int:
    """Read among how many keys the rows were picked.

    Release 0.1.0 did not write it down. For public keys it is their number; for selected keys only the
    number of shown keys is known, a lower bound.
    """
    if isinstance(data, dict) and "candidates" in data:
        if type(data["candidates"]) is not int or data["candidates"] < shown:
            raise InvalidArgument(
                "candidates is a whole number of keys, at least as many as are shown"
            )
        return data["candidates"]
    combinations = 1
    for key in question.keys:
        if key.values is not None:
            combinations *= len(key.values)
    return max(shown, combinations)


def estimates_from_json(
    data: object, question: Question
) -> tuple[list[tuple[Scalar, ...]], list[dict[str, NoisyValue]]]:
    """Read the keys and the estimates of an answer to a question, row by row.

    Refuses: as `answer_from_json`.
    """
    fields = {"answer", "keys", "estimates", "mechanisms"}
    if isinstance(data, dict) and "candidates" in data:
        fields.add("candidates")
    given = read_object(data, fields, "an answer")
    # The type is checked too, because in Python True equals 1.
    if given["answer"] != VERSION or type(given["answer"]) is not int:
        raise InvalidArgument(f"this answer is in an unknown version; this release reads {VERSION}")
    mechanisms = []
    for one in read_list(given["mechanisms"], "mechanisms"):
        mechanisms.append(mechanism_from_json(one))
    keys = []
    for written in read_list(given["keys"], "keys"):
        values = read_list(written, "keys")
        keys.append(tuple(scalar_from_json(value) for value in values))
    statistics = dict(question.statistics)
    rows = []
    for row in read_list(given["estimates"], "estimates"):
        rows.append(read_object(row, set(statistics), "a row of estimates"))
    if len(rows) != len(keys) or any(len(key) != len(question.keys) for key in keys):
        raise InvalidArgument("this answer has other keys than its question")
    estimates = []
    for row in rows:
        read = {}
        for name, statistic in question.statistics:
            read[name] = _read_estimate(row[name], statistic, mechanisms)
        estimates.append(read)
    return keys, estimates


def scalar_to_json(value: object) -> object:
    """Write one value of a key or cell, exactly.

    >>> from datetime import date
    >>> from discreet.answer.stored import scalar_to_json
    >>> from fractions import Fraction
    >>> scalar_to_json(Fraction(1, 3)), scalar_to_json(date(2024, 1, 2)), scalar_to_json(True), scalar_to_json(None)
    ({'fraction': '1/3'}, {'date': '2024-01-02'}, True, None)
    """
    match value:
        case None | bool() | str() | int():
            return value
        case Fraction():
            return {"fraction": str(value)}
        # Before the case of dates: a datetime is also a date.
        case datetime():
            return {"time": value.isoformat()}
        case date():
            return {"date": value.isoformat()}
    raise InvalidArgument(f"a {type(value).__name__} is no value of a key")


def scalar_from_json(data: object) -> Any:  # noqa: ANN401 any scalar, a day or a time
    """Read one value written by `scalar_to_json`.

    >>> from discreet.answer.stored import scalar_from_json
    >>> scalar_from_json({"fraction": "1/3"}), scalar_from_json(7)
    (Fraction(1, 3), 7)
    """
    if data is None or isinstance(data, bool | str | int):
        return data
    if isinstance(data, dict) and len(data) == 1:
        [(tag, text)] = data.items()
        if tag == "fraction":
            return read_amount(text, "a key")
        if tag == "date" and isinstance(text, str):
            return _moment(text, date)
        if tag == "time" and isinstance(text, str):
            return _moment(text, datetime)
    raise InvalidArgument(
        "a key's value is a whole number, text, a truth, null, or a tagged fraction, date or time"
    )


def _moment(text: str, moment_type: type[date]) -> date:
    try:
        return moment_type.fromisoformat(text)
    except ValueError:
        raise InvalidArgument("a key's date or time is written as ISO 8601 says") from None


def _write_estimate(estimate: NoisyValue, mechanisms: MechanismList) -> Json:
    form = estimate.stored
    written: Json = {"estimate": form.name}
    for name, field_type in form.fields.items():
        written[name] = _write(field_type, getattr(estimate, name), mechanisms)
    return written


def _read_estimate(data: object, statistic: Statistic, mechanisms: list[Additive]) -> NoisyValue:
    """Read one estimate of a statistic; refuses forms that the statistic does not have."""
    name = None
    if isinstance(data, dict):
        name = data.get("estimate")
    estimate = None
    if isinstance(name, str):
        estimate = estimate_class(name, statistic)
    if estimate is None:
        known = [one.stored.name for one in list_estimates()]
        raise InvalidArgument(f"an estimate is one of {', '.join(known)}")
    make: Callable[..., NoisyValue] = estimate
    fields = estimate.stored.fields
    given = read_object(data, {"estimate", *fields}, f"the estimate {name}")
    values = {}
    for field_name, field_type in fields.items():
        values[field_name] = _read(field_type, given[field_name], mechanisms)
    return make(**values)


def _write(field_type: str, value: Any, mechanisms: MechanismList) -> object:  # noqa: ANN401 by field_type
    """Write one field of an estimate; `field_type` is the type that its stored form declares."""
    match field_type:
        case "noisy":
            return [value.steps, str(value.unit), mechanisms.place(value.mechanism)]
        case "noisies":
            return [_write("noisy", total, mechanisms) for total in value]
        case "amount" | "amount or null":
            return None if value is None else str(value)
        case "amounts" | "weights":
            return [str(amount) for amount in value]
        case "scalars":
            return [scalar_to_json(scalar) for scalar in value]
        case "scalar":
            return scalar_to_json(value)
        case "float":
            # The shortest decimal that is read as the same float.
            return repr(value)
        case "texts":
            return list(value)
        case "law":
            return _write_law(value)
    return bool(value)


def _write_law(law: workloads.SumLaw) -> list[object]:
    written: list[object] = [repr(law.scale)]
    for weight, count in law.terms:
        written.append([repr(weight), repr(count)])
    if law.loose:
        written.append("loose")
    return written


def _read(field_type: str, value: object, mechanisms: list[Additive]) -> object:
    if field_type == "noisy":
        return _read_noisy(value, mechanisms)
    if field_type == "noisies":
        return tuple(_read_noisy(total, mechanisms) for total in read_list(value, "noisy totals"))
    if field_type == "amount or null" and value is None:
        return None
    return _READERS[field_type](value)


def _read_noisy(value: object, mechanisms: list[Additive]) -> NoisyTotal:
    """Read a noisy total: its steps, its unit, and its mechanism by index in the list."""
    if not isinstance(value, list) or len(value) != 3:
        raise InvalidArgument(_NOISY_FORM)
    steps, unit_text, mechanism = value
    # Not isinstance: true and false are ints in Python, and no numbers here.
    if type(steps) is not int or type(mechanism) is not int:
        raise InvalidArgument(_NOISY_FORM)
    if not 0 <= mechanism < len(mechanisms):
        raise InvalidArgument("a noisy total names a mechanism that the answer does not list")
    if isinstance(unit_text, str):
        unit = _known_unit(unit_text)
    else:
        unit = read_amount(unit_text, "unit")
    return NoisyTotal(steps, unit, mechanisms[mechanism])


def _pair(read: Callable[[object], object]) -> Callable[[object], object]:
    """Make the reader of a list of exactly two values."""

    def pair(value: object) -> tuple[object, ...]:
        parts = read_list(value, "a pair")
        if len(parts) != 2:
            raise InvalidArgument("a pair has two parts")
        return tuple(read(part) for part in parts)

    return pair


def _float(value: object) -> float:
    """Read a float from its text; refuses NaN and other values."""
    number = math.nan
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            number = math.nan
    # "nan" is read as a float too, but is no estimate.
    if math.isnan(number):
        raise InvalidArgument("a float is written as text, such as '0.95'")
    return number


def _law(value: object) -> workloads.SumLaw:
    """Read the law of a sum of noises: a scale, pairs of a weight and a count, perhaps a mark."""
    scale, *terms = read_list(value, "a law") or [None]
    loose = bool(terms) and terms[-1] == "loose"
    if loose:
        terms = terms[:-1]
    pairs = [read_list(term, "a term of a law") for term in terms]
    if any(len(pair) != 2 for pair in pairs):
        raise InvalidArgument(
            "a law is written as a scale, then a weight and a number for each term"
        )
    weighted = tuple((_float(weight), _float(count)) for weight, count in pairs)
    return workloads.SumLaw(_float(scale), weighted, loose)


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument("a truth is written as true or false")
    return value


def _texts(value: object) -> tuple[str, ...]:
    listed = read_list(value, "names")
    names = tuple(name for name in listed if isinstance(name, str))
    if len(names) != len(listed):
        raise InvalidArgument("names are written as texts")
    return names


# Units are equal in all rows, and amounts repeat: parsing fractions would take most of the time.
@lru_cache(maxsize=1024)
def _known_unit(text: str) -> Fraction:
    return read_amount(text, "unit")


@lru_cache(maxsize=1024)
def _known_amount(text: str) -> Fraction:
    return read_amount(text, "an estimate")


def _amount(value: object) -> Fraction:
    if isinstance(value, str):
        return _known_amount(value)
    # Raises: an amount is written as text.
    return read_amount(value, "an estimate")


def _amounts(value: object) -> tuple[Fraction, ...]:
    return tuple(map(_amount, read_list(value, "weights")))


_READERS: Mapping[str, Callable[[object], object]] = {
    "amount": _amount,
    "amount or null": _amount,
    "amounts": _pair(_amount),
    "weights": _amounts,
    "scalars": _pair(scalar_from_json),
    "scalar": scalar_from_json,
    "float": _float,
    "law": _law,
    "truth": _truth,
    "texts": _texts,
}


def read_object(data: object, fields: set[str], what: str) -> Json:
    """Check that JSON data is an object with exactly these fields."""
    if not isinstance(data, dict) or data.keys() != fields:
        raise InvalidArgument(
            f"{what} is a JSON object with exactly the fields {', '.join(sorted(fields))}"
        )
    return data


def mechanism_to_json(mechanism: Additive) -> Json:
    """Write an additive mechanism.

    >>> import discreet as dp
    >>> from discreet.answer.stored import mechanism_to_json
    >>> mechanism_to_json(dp.Geometric("1/2", 1))
    {'mechanism': 'geometric', 'scale': '1/2', 'sensitivity': '1', 'neighbours': 'add-remove'}
    """
    facts: Json = {
        "scale": str(mechanism.scale),
        "sensitivity": _write_sensitivity(mechanism.sensitivity),
        "neighbours": mechanism.neighbours,
    }
    if isinstance(mechanism, DiscreteGaussian):
        return {"mechanism": "discrete-gaussian", **facts, "dimension": mechanism.dimension}
    return {"mechanism": "geometric", **facts}


def mechanism_from_json(data: object) -> Additive:
    """Read a mechanism written by `mechanism_to_json`.

    >>> import discreet as dp
    >>> from discreet.answer.stored import mechanism_from_json, mechanism_to_json
    >>> mechanism_from_json(mechanism_to_json(dp.DiscreteGaussian(3, 1))) == dp.DiscreteGaussian(3, 1)
    True
    """
    fields = {"mechanism", "scale", "sensitivity", "neighbours"}
    match data:
        case {"mechanism": "geometric"}:
            given = read_object(data, fields, "a mechanism")
            return Geometric(*_facts(given), neighbours=read_neighbours(given["neighbours"]))
        case {"mechanism": "discrete-gaussian"}:
            given = read_object(data, fields | {"dimension"}, "a mechanism")
            dimension = None
            if given["dimension"] is not None:
                dimension = _count(given["dimension"])
            neighbours = read_neighbours(given["neighbours"])
            return DiscreteGaussian(*_facts(given), neighbours=neighbours, dimension=dimension)
    raise InvalidArgument("a mechanism is geometric or discrete-gaussian")


def _facts(given: Json) -> tuple[Fraction, Fraction | Sensitivity]:
    """Read the scale and the sensitivity of a mechanism."""
    neighbours = read_neighbours(given["neighbours"])
    scale = read_amount(given["scale"], "scale")
    sensitivity = _read_sensitivity(given["sensitivity"], neighbours)
    return scale, sensitivity


def _write_sensitivity(sensitivity: Fraction | Sensitivity) -> object:
    """Write a sensitivity: a number as text, several norms as an object."""
    if not isinstance(sensitivity, Sensitivity):
        return str(sensitivity)
    return {
        "l1": str(sensitivity.l1),
        "squared_l2": str(sensitivity.squared_l2),
        "linf": str(sensitivity.linf),
        "changed": sensitivity.changed,
    }


def _read_sensitivity(data: object, neighbours: Neighbours) -> Fraction | Sensitivity:
    """Read a sensitivity written by `_write_sensitivity`."""
    if not isinstance(data, dict):
        return read_amount(data, "sensitivity")
    given = read_object(data, {"l1", "squared_l2", "linf", "changed"}, "a sensitivity")
    l1 = read_amount(given["l1"], "l1")
    squared_l2 = read_amount(given["squared_l2"], "squared_l2")
    linf = read_amount(given["linf"], "linf")
    changed = _count(given["changed"])
    return Sensitivity(l1, squared_l2, linf, neighbours, changed)


def _count(value: object) -> int:
    # Not isinstance: true and false are ints in Python, and no numbers here.
    if type(value) is not int:
        raise InvalidArgument("a number of coordinates is a whole number")
    return value
