"""Every verb has one definition, and the hand-written methods and commands say the same as it does."""

from __future__ import annotations

import inspect
import typing
from importlib import import_module

import pytest

import discreet as dp
from discreet.cli.app import COMMANDS
from discreet.client import Remote
from discreet.errors import InvalidArgument
from discreet.json_shape import Record
from discreet.wire.json_text import read_json, write_json
from discreet.wire.verb import Request, Verb
from discreet.wire.verbs.table import VERBS

# Arguments of the library under other names than in JSON.
RENAMED = {"text": "sql", "question": "sql"}
# An ε alone is a spend, which JSON writes as one.
# A service keeps the key file of its streams itself.
LIBRARY_ONLY = {"epsilon", "seal"}
# A reason goes into the ledger; free verbs share their request with charged ones, and keep none.
NO_REASON = {"explain", "rehearse", "plan_synthesis"}
# A reply has intervals of the data or of the population; an Answer of the library gives both.
OF_REPLIES = {"of"}
ASKING = {"explain", "rehearse", "sql", "release"}
FORMER = {"estimate_cut": "estimate_truncation"}
VERB_NAMES = [name for name in VERBS if name not in FORMER]

# Commands by verb. Two free verbs are flags of the command of their charged verb; suggestions are
# for stewards, who declare a schema in Python or over HTTP; a release is asked by a file.
COMMAND_OF = {
    "explain": "explain",
    "plan": "plan",
    "rehearse": "rehearse",
    "sql": "query",
    "learn": "learn",
    "synthesize": "synthesize",
    "estimate_truncation": "estimate-truncation",
}
WITHOUT_COMMAND = {
    "release": "release",
    "explain_model": "learn",
    "plan_synthesis": "synthesize",
    "suggest_bounds": "",
    "suggest_caps": "",
    # A group of commands: open, close, show, stop, list.
    "stream": "",
}
FLAG_OF = {
    "weights": "weight",
    "columns": "column",
    "spend": "epsilon",
}
OTHER_ARGUMENTS = {
    "synthesize": {"table": "of"},
    "estimate_truncation": {"table": "name"},
}
# Where the data, the schema and the ledger are, who asks, and the parts of a spend and of its terms.
COMMAND_ONLY = {"source", "schema", "ledger", "table", "budget", "who", "as_json"}
COMMAND_ONLY |= {"epsilon", "delta", "rho", "mu", "error", "weight", "size", "level"}
COMMAND_ONLY |= {"details"}
COMMAND_ONLY_OF = {
    "sql": {"out", "receipt", "plot"},
    "explain": {"store"},
    "learn": {"target", "option", "rows", "out"},
    "synthesize": {"rows", "plan", "out", "tables"},
}
NOT_ON_THE_COMMAND_LINE = {
    # Consistent whole numbers belong to the tables of a release.
    "sql": {"whole"},
    "explain": {"whole", "why", "of", "reuse", "within"},
    "rehearse": {"whole", "why", "reuse", "within"},
    "plan": {"whole", "questions", "nonnegative", "intervals", "reuse", "within"},
}


def parameters(function) -> set[str]:
    """Return the names of all arguments, those of `**terms: Unpack[…]` one by one."""
    module = vars(inspect.getmodule(inspect.unwrap(function)))
    names: set[str] = set()
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            options = parameter.annotation.removeprefix("Unpack[").removesuffix("]")
            options = options.rpartition(".")[2]
            names |= set(_named(module, options).__annotations__)
        elif name != "self":
            names.add(name)
    return names


def _named(module, name):
    """Return a class that a module names, perhaps for type checkers only."""
    if name in module:
        return module[name]
    for place in ("discreet.synthetic.request", "discreet.curator.verbs.stream"):
        if hasattr(import_module(place), name):
            return getattr(import_module(place), name)
    raise AssertionError(name)


def request_fields(verb: Verb) -> set[str]:
    return {field.name for field in verb.request.record.fields}


def argument_fields(verb: Verb) -> set[str]:
    return request_fields(verb) - OF_REPLIES if verb.name in ASKING else request_fields(verb)


def method_fields(verb: Verb, method) -> set[str]:
    found = {RENAMED.get(name, name) for name in parameters(method)} - LIBRARY_ONLY
    if verb.name == "plan":
        # One question, or several by name: two fields in JSON.
        found.add("questions")
    if verb.name in NO_REASON:
        found.add("why")
    return found


@pytest.mark.parametrize("name", VERB_NAMES)
def test_a_method_of_the_curator_takes_the_fields_of_its_verb(name):
    verb = VERBS[name]
    assert method_fields(verb, getattr(dp.Curator, name)) == argument_fields(verb)


@pytest.mark.parametrize("name", VERB_NAMES)
def test_a_method_of_the_client_takes_the_fields_of_its_verb(name):
    verb = VERBS[name]
    found = method_fields(verb, getattr(Remote, name))
    if verb.charged:
        # The idempotency key is a header, no field.
        found.remove("key")
    assert found == argument_fields(verb)


@pytest.mark.parametrize("name", VERB_NAMES)
def test_defaults_are_the_same(name):
    """A reason that is not given is the same text from all sides."""
    verb = VERBS[name]
    example = {key: value for key, value in verb.request.record.example.items() if key != "why"}
    made = verb.request.read(example)
    for method in (getattr(dp.Curator, name), getattr(Remote, name)):
        why = inspect.signature(method).parameters.get("why")
        assert why is None or why.default == made.why


def test_every_verb_has_a_command_or_a_reason_for_none():
    assert COMMAND_OF.keys() | WITHOUT_COMMAND.keys() == set(VERB_NAMES)
    assert {*COMMAND_OF.values(), *filter(None, WITHOUT_COMMAND.values())} <= COMMANDS.keys()


@pytest.mark.parametrize("name", COMMAND_OF)
def test_a_command_takes_the_fields_of_its_verb(name):
    command = COMMAND_OF[name]
    module = import_module(f"discreet.cli.commands.{COMMANDS[command]}")
    flags = set(inspect.signature(getattr(module, command.replace("-", "_"))).parameters)
    other = FLAG_OF | OTHER_ARGUMENTS.get(name, {})
    left_out = NOT_ON_THE_COMMAND_LINE.get(name, set())
    wanted = {other.get(field, field) for field in request_fields(VERBS[name]) - left_out}
    assert wanted <= flags
    assert flags - wanted <= COMMAND_ONLY | COMMAND_ONLY_OF.get(name, set())


@pytest.mark.parametrize("former", FORMER)
def test_a_former_name_does_the_same(former):
    old, new = VERBS[former], VERBS[FORMER[former]]
    assert (old.request, old.reply, old.free_run, old.charged_run) == (
        new.request,
        new.reply,
        new.free_run,
        new.charged_run,
    )
    assert callable(getattr(dp.Curator, former)) and callable(getattr(Remote, former))


@pytest.mark.parametrize("name", VERBS)
def test_what_is_written_is_read_back(name):
    verb = VERBS[name]
    made = verb.request.read(dict(verb.request.record.example))
    written = read_json(write_json(made.to_json()))
    assert verb.request.read(written).to_json() == made.to_json()
    assert isinstance(made, Request) and isinstance(verb.request.record, Record)


def test_operation_ids_are_unique():
    ids = [verb.operation_id for verb in VERBS.values()]
    assert len(set(ids)) == len(ids)


def test_a_free_verb_is_no_job():
    with pytest.raises(InvalidArgument, match="explain is free"):
        VERBS["explain"].run_job(typing.cast("dp.Curator", None), {})
