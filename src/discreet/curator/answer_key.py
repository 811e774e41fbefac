"""Under which name a ledger keeps what was asked: an event, a key, the name of the question, a part.

**Keys, second format.** A key is the hash of the questions by name (their fingerprints hold the tables with their
versions and neighbours) and of the terms: all that was asked, and nothing of how it was planned. So a better planner
finds the answers that an older one paid for. Equal keys have equal answers, so whatever changes what an answer *means*
is in the key; what only changes how it is shown is not:

    spend, or error by statistic    always: it says how exact the answer is
    weights                         unless all are equal: they say which statistic or question is to be more exact
    level                           with an error, and where an interval is fixed when it is drawn (quantiles)
    nonnegative                     where there is a count that it moves
    intervals                       where there is a quantile that is to have none
    whole                           where it is asked for
    size                            where errors of several totals are balanced for it (means and the like)

Keys of the first format, of release 0.1.0, hash the planned events instead of the terms: see `old`.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ..arithmetic.canonical import hash_json
from ..arithmetic.rational import rational
from ..data.columns.keys import KeyValue
from ..errors import InvalidArgument
from ..ledger import Parts
from ..ledger.stores.store import SECOND
from ..mechanisms.reading.budget import read_budget
from ..plan.asked.options import read_errors
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..plan.text.plan import share_text
from ..privacy.events import Batch, Event
from ..privacy.events.json import Json, measure_to_json, to_json
from ..query.algebra.expression import Field
from ..query.algebra.tree import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Quantile,
    Statistic,
    Variance,
)
from ..query.text.question import describe, fingerprint
from .part import part_of

FORMAT = 2
"""Of the text behind a key; ledgers keep keys, so it changes only with a new number."""
COUNTS = (Count, CountOf, CountPeople, CountDistinct)
_SEVERAL = (Mean, Variance, Covariance, Correlation)


def event_of(plans: Mapping[str, Plan]) -> Event:
    """Return all that will be done as one event, to be charged at once.

    Refuses plans that release nothing: whatever is shown must have been paid for.
    """
    events = [event for plan in plans.values() for event in plan.events]
    if not events:
        raise InvalidArgument(
            "there is nothing to release, so there is nothing to pay for; ask for an aggregate"
        )
    return events[0] if len(events) == 1 else Batch(events)


def event_apart(plans: Mapping[str, Plan]) -> Event:
    """Return what would be charged if every statistic had totals of its own, as release 0.1.0 planned them all."""
    events = [event for plan in plans.values() for event in plan.apart or plan.events]
    return events[0] if len(events) == 1 else Batch(events)


def key_name(prints: Mapping[str, str], said: Json) -> str:
    """Return the key of questions with these fingerprints on these terms, as `terms_of` writes them."""
    return SECOND + hash_json({"key": FORMAT, "asked": dict(prints), "terms": said})


def prints_of(plans: Mapping[str, Plan]) -> dict[str, str]:
    """Return the fingerprints of the questions, by name."""
    return {name: fingerprint(plan.question) for name, plan in plans.items()}


def texts_of(plans: Mapping[str, Plan]) -> dict[str, str]:
    """Return the questions as SQL, by name."""
    return {name: describe(plan.question) for name, plan in plans.items()}


def terms_of(plans: Mapping[str, Plan], terms: Terms) -> Json:
    """Write the terms that change what an answer means, by the table above, as plain JSON types."""
    statistics = [statistic for plan in plans.values() for _, statistic in plan.question.statistics]
    said: Json = {}
    if terms.spend is not None:
        said["spend"] = measure_to_json(read_budget(terms.spend))
    if terms.error is not None:
        said["error"] = {name: _errors(plan, name, terms) for name, plan in plans.items()}
    if weights := _weights(plans, terms):
        said["weights"] = weights
    if terms.size is not None and _any(statistics, _SEVERAL):
        said["size"] = terms.size
    if terms.error is not None or _any(statistics, (Quantile,)):
        said["level"] = repr(terms.level)
    if not terms.intervals and _any(statistics, (Quantile,)):
        said["intervals"] = False
    if terms.nonnegative and _any(statistics, COUNTS):
        said["nonnegative"] = True
    if terms.whole:
        said["whole"] = True
    return said


def _errors(plan: Plan, name: str, terms: Terms) -> list[str]:
    """Write the error of every statistic, in order; of several questions each may have its own."""
    error = terms.error
    if name and isinstance(error, Mapping):
        error = error[name]
    return [str(one) for one in read_errors(plan.question, error)]  # type: ignore[arg-type]  # the planner has read it


def _weights(plans: Mapping[str, Plan], terms: Terms) -> dict[str, str]:
    """Write which part of a spend each statistic gets, or each question of several; nothing if the parts are equal."""
    names, columns = list(plans), {}
    if names == [""]:
        question = plans[""].question
        names = [name for name, _ in question.statistics]
        columns = {
            column: made.name for column, made in question.finish.columns if isinstance(made, Field)
        }
    given = {
        columns.get(name, name): rational(weight, "weights")
        for name, weight in (terms.weights or {}).items()
    }
    parts = {name: given.get(name, Fraction(1)) for name in names}
    whole = sum(parts.values())
    return (
        {name: str(part / whole) for name, part in parts.items()}
        if len(set(parts.values())) > 1
        else {}
    )


def _any(statistics: list[Statistic], kinds: tuple[type, ...]) -> bool:
    return any(isinstance(statistic, kinds) for statistic in statistics)


def shares_of(plan: Plan) -> list[str]:
    """Write how much of one unit counts in each release."""
    return [share_text(release.need.tally.share) for release in plan.releases]


def question_name(prints: Mapping[str, str]) -> str:
    """Return the name of what was asked, as the ledger notes it: a fingerprint, or one for several by name.

    >>> from discreet.curator.answer_key import question_name
    >>> question_name({"": "c0ffee"}), len(question_name({"a": "c0ffee"}))
    ('c0ffee', 64)
    """
    return prints[""] if list(prints) == [""] else hash_json(dict(prints))


def old_key_of(plans: Mapping[str, Plan], level: float, *, nonnegative: bool) -> str:
    """Return the key that release 0.1.0 gave: it hashed the planned events and shares instead of the terms."""
    asked = [
        {
            "name": name,
            "fingerprint": fingerprint(plan.question),
            "events": [to_json(event) for event in plan.events],
            "shares": shares_of(plan),
        }
        for name, plan in plans.items()
    ]
    return hash_json({"key": 1, "asked": asked, "level": repr(level), "nonnegative": nonnegative})


def part_of_all(plans: Mapping[str, Plan], parts: Parts | None) -> KeyValue | None:
    """Return the part that all the questions touch and no other; None if there is no such part."""
    found = [part_of(plan.question, parts) for plan in plans.values()]
    same = all(part == found[0] and type(part) is type(found[0]) for part in found)
    return found[0] if found and same else None
