"""Ways to the people and the data sets: who am I, what may I ask about; for stewards who may come in."""

from __future__ import annotations

from ...answer.stored import scalar_to_json
from ...data.schema import Schema
from ...errors import InvalidArgument, NotAllowed
from ...privacy.budget_text import budget_to_words
from ..http.health import health_of
from ..state import State
from ..stores.people import EVERYTHING, Member
from .bodies import DATASETS, DAYS, NEWCOMER, RENEWAL, ROLE, WHO_NAME
from .endpoint import ApiCall, Reply


def get_health(state: State) -> Reply:
    """Return whether the worker is well, and what of it is."""
    return Reply(*health_of(state))


def get_me(_state: State, call: ApiCall) -> Reply:
    """Return who is asking."""
    return Reply(call.person.to_json())


def list_datasets(state: State, call: ApiCall) -> Reply:
    """List the data sets of this person."""
    return Reply({"datasets": list(state.datasets.allowed(call.person))})


def describe_dataset(state: State, call: ApiCall) -> Reply:
    """Return the public facts of a data set: its tables, its budget and how it is counted."""
    state.datasets.check(call.person, call.dataset)
    terms = state.datasets.ledger(call.dataset).terms
    return Reply(
        {
            "name": call.dataset,
            "tables": [schema.to_dict() for schema in state.datasets.schemas(call.dataset)],
            "budget": budget_to_words(terms.budget),
            "window": terms.window,
            "filter": terms.filter.to_json(),
        }
    )


def list_values(state: State, call: ApiCall) -> Reply:
    """List the values of a column of a public table."""
    state.datasets.check(call.person, call.dataset)
    schema = _table(state, call)
    column, _ = schema.column(call.path["column"])
    found = state.datasets.curator(call.dataset, call.person.name).stand.public_values(
        schema.name, column
    )
    return Reply({"values": [scalar_to_json(value) for value in found]})


def _table(state: State, call: ApiCall) -> Schema:
    for schema in state.datasets.schemas(call.dataset):
        if schema.name == call.path["table"] and schema.public:
            return schema
    raise InvalidArgument(
        "only the values of a public table can be listed; there is no such public table"
    )


def list_people(state: State, call: ApiCall) -> Reply:
    """List the people within this steward's data sets."""
    seen = [person.to_json() for person in state.people.all() if call.person.over(person)]
    return Reply({"people": seen})


def add_person(state: State, call: ApiCall) -> Reply:
    """Take in somebody new; the token is shown this once."""
    found = NEWCOMER.read(call.json())
    reach = DATASETS.of(found)
    _within(state, call.person, reach)
    person, token = state.people.add(WHO_NAME.of(found), ROLE.of(found), reach, DAYS.of(found))
    return Reply({**person.to_json(), "token": token}, 201)


def renew_token(state: State, call: ApiCall) -> Reply:
    """Return somebody a new token; the old one ends at once."""
    _check_over(state, call)
    found = RENEWAL.read(call.json()) if call.body else {}
    token = state.people.renew(call.path["person"], DAYS.of(found))
    return Reply({"name": call.path["person"], "token": token}, 201)


def revoke_person(state: State, call: ApiCall) -> Reply:
    """Shut somebody out for good, at once."""
    _check_over(state, call)
    state.people.revoke(call.path["person"])
    return Reply(state.people.find(call.path["person"]).to_json())


def _check_over(state: State, call: ApiCall) -> None:
    """Refuse a steward who decides about somebody with other data sets than their own."""
    try:
        other = state.people.find(call.path["person"])
    except NotAllowed:
        other = None
    if other is None or not call.person.over(other):
        raise NotAllowed("there is nobody of that name within your data sets")


def _within(state: State, steward: Member, reach: list[str]) -> None:
    """Refuse to give what the steward does not have, and data sets that do not exist."""
    if EVERYTHING in steward.datasets:
        unknown = [
            name for name in reach if name != EVERYTHING and name not in state.datasets.names
        ]
    else:
        unknown = [name for name in reach if not steward.may(name) or name == EVERYTHING]
    if unknown or not reach:
        yours = ", ".join(state.datasets.allowed(steward))
        raise NotAllowed(f"datasets must be some of yours: {yours}")
