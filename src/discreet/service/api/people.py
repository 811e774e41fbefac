"""Endpoints of people and data sets: identity and access; for stewards also user management."""

from __future__ import annotations

from ...answer.stored import scalar_to_json
from ...data.schema import Schema
from ...errors import InvalidArgument, NotAllowed
from ...json_shape import JsonObject
from ...privacy.budget_text import budget_to_table
from ..http.health import health_of
from ..state import State
from ..stores.people import EVERYTHING, Member
from .endpoint import ApiCall, Reply
from .schemas import DATASETS, DAYS, IDENTITY, NEWCOMER, RENEWAL, ROLE, SUBJECT_FIELD, WHO_NAME


def get_health(state: State) -> Reply:
    """Return the health of this worker and of its parts."""
    checks, status = health_of(state)
    return Reply(checks, status)


def get_me(_state: State, call: ApiCall) -> Reply:
    """Return the person to whom the token belongs."""
    return Reply(call.person.to_json())


def list_datasets(state: State, call: ApiCall) -> Reply:
    """List the data sets of this person."""
    return Reply({"datasets": list(state.datasets.allowed(call.person))})


def describe_dataset(state: State, call: ApiCall) -> Reply:
    """Return the public facts of a data set: its tables, its budget and how it is counted."""
    terms = state.datasets.ledger(call.dataset).terms
    schemas = state.datasets.schemas(call.dataset)
    facts: JsonObject = {
        "name": call.dataset,
        "tables": [schema.to_dict() for schema in schemas],
        "budget": budget_to_table(terms.budget),
        "window": terms.window,
        "filter": terms.filter.to_json(),
    }
    if terms.blocks is not None:
        facts["blocks"] = terms.blocks.to_json()
    return Reply(facts)


def list_values(state: State, call: ApiCall) -> Reply:
    """List the values of a column of a public table."""
    schema = _public_table(state, call)
    column, _ = schema.column(call.path["column"])
    curator = state.datasets.curator(call.dataset, call.person.name)
    values = curator.context.public_values(schema.name, column)
    return Reply({"values": [scalar_to_json(value) for value in values]})


def _public_table(state: State, call: ApiCall) -> Schema:
    """Return the schema of the public table in the path; refuse any other table."""
    for schema in state.datasets.schemas(call.dataset):
        if schema.name == call.path["table"] and schema.public:
            return schema
    raise InvalidArgument(
        "only the values of a public table can be listed; there is no such public table"
    )


def list_people(state: State, call: ApiCall) -> Reply:
    """List the people within this steward's data sets."""
    visible = [person.to_json() for person in state.people.all() if call.person.over(person)]
    return Reply({"people": visible})


def add_person(state: State, call: ApiCall) -> Reply:
    """Add a person; their token is shown this once."""
    fields = NEWCOMER.read(call.json())
    datasets = DATASETS.of(fields)
    _check_datasets(state, call.person, datasets)
    name = WHO_NAME.of(fields)
    person, token = state.people.add(name, ROLE.of(fields), datasets, DAYS.of(fields))
    return Reply({**person.to_json(), "token": token}, 201)


def renew_token(state: State, call: ApiCall) -> Reply:
    """Replace a person's token; the old one ends at once."""
    _check_over(state, call)
    fields = {}
    if call.body:
        fields = RENEWAL.read(call.json())
    name = call.path["person"]
    token = state.people.renew(name, DAYS.of(fields))
    return Reply({"name": name, "token": token}, 201)


def revoke_person(state: State, call: ApiCall) -> Reply:
    """Revoke a person's access for good, at once."""
    _check_over(state, call)
    name = call.path["person"]
    state.people.revoke(name)
    return Reply(state.people.find(name).to_json())


def bind_identity(state: State, call: ApiCall) -> Reply:
    """Bind the subject that the provider gives somebody to this person; null takes it away."""
    _check_over(state, call)
    if state.provider is None:
        raise NotAllowed("this service has no provider; name one under [oidc] of curator.toml")
    name = call.path["person"]
    subject = SUBJECT_FIELD.of(IDENTITY.read(call.json()))
    state.people.bind(name, state.provider.options.issuer, subject)
    return Reply({"name": name, "subject": subject})


def _check_over(state: State, call: ApiCall) -> None:
    """Refuse a steward who does not have all data sets of the person that the path names.

    An unknown person is refused in the same words.
    """
    try:
        other = state.people.find(call.path["person"])
    except NotAllowed:
        # Handled below: unknown people and people of others get the same message.
        other = None
    if other is None or not call.person.over(other):
        raise NotAllowed("there is nobody of that name within your data sets")


def _check_datasets(state: State, steward: Member, datasets: list[str]) -> None:
    """Refuse to grant data sets that the steward does not have, or that do not exist."""
    if EVERYTHING in steward.datasets:
        grantable = {EVERYTHING, *state.datasets.names}
        refused = [name for name in datasets if name not in grantable]
    else:
        # A steward of some data sets cannot grant all of them, future ones included.
        refused = [name for name in datasets if not steward.may(name) or name == EVERYTHING]
    if refused or not datasets:
        yours = ", ".join(state.datasets.allowed(steward))
        raise NotAllowed(f"datasets must be some of yours: {yours}")
