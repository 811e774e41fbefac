"""Answers as JSON, exactly and for good: what a ledger keeps today is shown again, digit for digit, in thirty years.

An answer is its keys and its estimates; everything shown (values, intervals at any level, tables) is worked out from
them again. Estimates keep the noisy steps and the mechanism that made them, so no rounding happens on the way. Which
fields of an estimate are kept, and as what, stands beside it in `statistics` (its `stored` form): these *are* the
format, they do not follow the classes by reflection, and lines are only ever added.

    scalars     JSON's own whole numbers, text, truths and null; {"fraction": "1/3"}; {"date": "2024-01-02"};
                {"time": "2024-01-02T03:04:05"}
    noisy       [steps, the worth of a step as text, the place of its mechanism in the answer's list]
    floats      text, their shortest decimal
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from .. import workloads
from ..errors import InvalidArgument
from ..plan.plan import Plan
from ..privacy.events.json import Json, read_amount, read_list
from ..query.algebra.tree import Question
from ..query.domains.domain import Scalar
from ..statistics.catalogue import list_estimates
from ..statistics.laws.noise_sum import Additive
from ..statistics.recipe import NoisyValue
from ..statistics.releases.total import NoisyTotal
from .answer import Answer
from .provenance import Provenance
from .stored_mechanism import MechanismList, mechanism_from_json, mechanism_to_json, read_object

VERSION = 1


def answer_to_json(answer: Answer) -> Json:
    """Write the keys and estimates of an answer as plain JSON types; its question and plan are not written.

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
    mechanisms = MechanismList()
    keys, made = (answer.keys, answer.estimates) if answer.every is None else answer.every
    rows = [
        {name: _write_estimate(estimate, mechanisms) for name, estimate in row.items()}
        for row in made
    ]
    return {
        "answer": VERSION,
        "keys": [[scalar_to_json(value) for value in key] for key in keys],
        "estimates": rows,
        "mechanisms": [mechanism_to_json(mechanism) for mechanism in mechanisms.listed],
        **({"candidates": answer.candidates} if answer.candidates else {}),
    }


def answer_from_json(data: object, plan: Plan | Provenance) -> Answer:
    """Read an answer written by `answer_to_json`, as the answer to the plan's question.

    Nothing but the question is needed to read it; the plan is what the answer says about how it was made.

    Refuses other versions, unknown fields, and an answer whose keys or statistics are not those of the question.
    """
    keys, rows = estimates_from_json(data, plan.question)
    return Answer.of(plan, keys, rows, candidates=_read_candidates(data, plan.question, len(keys)))


def _read_candidates(data: object, question: Question, shown: int) -> int:
    """Read among how many keys the rows were picked.

    Release 0.1.0 did not write it down; of public keys it is their number, of others at least those that are shown.
    """
    if isinstance(data, dict) and "candidates" in data:
        if type(data["candidates"]) is not int or data["candidates"] < shown:
            raise InvalidArgument(
                "candidates is a whole number of keys, at least as many as are shown"
            )
        return data["candidates"]
    lists = [key.values for key in question.keys]
    return max(shown, math.prod(1 if values is None else len(values) for values in lists))


def estimates_from_json(
    data: object, question: Question
) -> tuple[list[tuple[Scalar, ...]], list[dict[str, NoisyValue]]]:
    """Read the keys and the estimates of an answer to a question, row by row; refuses as `answer_from_json`."""
    more = {"candidates"} if isinstance(data, dict) and "candidates" in data else set()
    given = read_object(data, {"answer", "keys", "estimates", "mechanisms"} | more, "an answer")
    if given["answer"] != VERSION or type(given["answer"]) is not int:
        raise InvalidArgument(f"this answer is in an unknown version; this release reads {VERSION}")
    mechanisms = [mechanism_from_json(one) for one in read_list(given["mechanisms"], "mechanisms")]
    keys = [
        tuple(scalar_from_json(v) for v in read_list(key, "keys"))
        for key in read_list(given["keys"], "keys")
    ]
    names = [name for name, _ in question.statistics]
    rows = [
        read_object(row, set(names), "a row of estimates")
        for row in read_list(given["estimates"], "estimates")
    ]
    if len(rows) != len(keys) or any(len(key) != len(question.keys) for key in keys):
        raise InvalidArgument("this answer has other keys than its question")
    return keys, [{name: _read_estimate(row[name], mechanisms) for name in names} for row in rows]


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
        if tag in ("date", "time") and isinstance(text, str):
            return _moment(text, date if tag == "date" else datetime)
    raise InvalidArgument(
        "a key's value is a whole number, text, a truth, null, or a tagged fraction, date or time"
    )


def _moment(text: str, kind: type[date]) -> date:
    try:
        return kind.fromisoformat(text)
    except ValueError:
        raise InvalidArgument("a key's date or time is written as ISO 8601 says") from None


def _write_estimate(estimate: NoisyValue, mechanisms: MechanismList) -> Json:
    form = estimate.stored
    written = {
        name: _write(kind, getattr(estimate, name), mechanisms)
        for name, kind in form.fields.items()
    }
    return {"estimate": form.name, **written}


@cache
def _estimates() -> dict[str, type[NoisyValue]]:
    return {made.stored.name: made for made in list_estimates()}


def _read_estimate(data: object, mechanisms: list[Additive]) -> NoisyValue:
    name = data.get("estimate") if isinstance(data, dict) else None
    known = _estimates()
    if not isinstance(name, str) or name not in known:
        raise InvalidArgument(f"an estimate is one of {', '.join(known)}")
    make: Callable[..., NoisyValue] = known[name]
    fields = known[name].stored.fields
    given = read_object(data, {"estimate", *fields}, f"the estimate {name}")
    return make(**{f: _read(kind, given[f], mechanisms) for f, kind in fields.items()})


def _write(kind: str, value: Any, mechanisms: MechanismList) -> object:  # noqa: ANN401 the kind says which type
    match kind:
        case "noisy":
            return [value.steps, str(value.unit), mechanisms.place(value.mechanism)]
        case "noisies":
            return [_write("noisy", part, mechanisms) for part in value]
        case "amount" | "amount or null":
            return None if value is None else str(value)
        case "amounts" | "weights":
            return [str(part) for part in value]
        case "scalars":
            return [scalar_to_json(part) for part in value]
        case "scalar":
            return scalar_to_json(value)
        case "float":
            return repr(value)
        case "texts":
            return list(value)
        case "law":
            loose = ["loose"] if value.loose else []
            return [
                repr(value.scale),
                *([repr(weight), repr(count)] for weight, count in value.terms),
                *loose,
            ]
    return bool(value)


def _read(kind: str, value: object, mechanisms: list[Additive]) -> object:
    if kind == "noisy":
        return _read_noisy(value, mechanisms)
    if kind == "noisies":
        return tuple(_read_noisy(one, mechanisms) for one in read_list(value, "noisy totals"))
    if kind == "amount or null" and value is None:
        return None
    return _READERS[kind](value)


def _read_noisy(value: object, mechanisms: list[Additive]) -> NoisyTotal:
    if (
        not isinstance(value, list)
        or len(value) != 3
        or type(value[0]) is not int
        or type(value[2]) is not int
    ):
        raise InvalidArgument("a noisy total is written as [steps, unit, mechanism]")
    if not 0 <= value[2] < len(mechanisms):
        raise InvalidArgument("a noisy total names a mechanism that the answer does not list")
    unit = _known_unit(value[1]) if isinstance(value[1], str) else read_amount(value[1], "unit")
    return NoisyTotal(value[0], unit, mechanisms[value[2]])


def _pair(read: Callable[[object], object]) -> Callable[[object], object]:
    def pair(value: object) -> tuple[object, ...]:
        parts = read_list(value, "a pair")
        if len(parts) != 2:
            raise InvalidArgument("a pair has two parts")
        return tuple(read(part) for part in parts)

    return pair


def _float(value: object) -> float:
    try:
        found = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        found = math.nan
    if math.isnan(found):
        raise InvalidArgument("a float is written as text, such as '0.95'")
    return found


def _law(value: object) -> workloads.SumLaw:
    scale, *terms = read_list(value, "a law") or [None]
    loose = bool(terms) and terms[-1] == "loose"
    terms = terms[:-1] if loose else terms
    pairs = [read_list(term, "a term of a law") for term in terms]
    if any(len(pair) != 2 for pair in pairs):
        raise InvalidArgument(
            "a law is written as a scale, then a weight and a number for each term"
        )
    return workloads.SumLaw(
        _float(scale), tuple((_float(weight), _float(count)) for weight, count in pairs), loose
    )


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument("a truth is written as true or false")
    return value


def _texts(value: object) -> tuple[str, ...]:
    found = read_list(value, "names")
    names = tuple(one for one in found if isinstance(one, str))
    if len(names) != len(found):
        raise InvalidArgument("names are written as texts")
    return names


@lru_cache(maxsize=1024)
def _known_unit(text: str) -> Fraction:
    return read_amount(text, "unit")


@lru_cache(maxsize=1024)
def _known_amount(
    text: str,
) -> Fraction:  # units are equal in all rows, and what is shown is mostly the estimate
    return read_amount(text, "an estimate")


def _amount(value: object) -> Fraction:
    return _known_amount(value) if isinstance(value, str) else read_amount(value, "an estimate")


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
