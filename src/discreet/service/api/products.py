"""Endpoints of products other than answers: models, synthetic tables, suggested bounds and caps."""

from __future__ import annotations

from ...wire.product_request import (
    read_bounds,
    read_caps,
    read_learn,
    read_synthesis,
    read_truncation,
)
from ..state import State
from . import handlers
from .endpoint import ApiCall, Reply
from .questions import charge, checked_reader, run_free


async def learn_model(state: State, call: ApiCall) -> Reply:
    """Train a model on the rows of a SELECT, charged once for each Idempotency-Key."""
    checked = checked_reader(read_learn, handlers.check_learn)
    return await charge(state, call, "learn", checked)


def explain_model(state: State, call: ApiCall) -> Reply:
    """Explain the training of a model: its releases, price and error; free, reads no rows."""
    state.datasets.check(call.person, call.dataset)
    asked = read_learn(call.json(), explained=True)
    max_cells = state.config.bounds.cells
    return Reply(run_free(state, call, handlers.explain_model, asked, max_cells))


async def synthesize_table(state: State, call: ApiCall) -> Reply:
    """Release tables for synthetic records, charged once for each Idempotency-Key."""
    checked = checked_reader(read_synthesis, handlers.check_synthesis)
    return await charge(state, call, "synthesize", checked)


def plan_synthesis(state: State, call: ApiCall) -> Reply:
    """Plan synthetic records: the tables to be measured and their price; free, reads no rows."""
    state.datasets.check(call.person, call.dataset)
    asked = read_synthesis(call.json())
    max_cells = state.config.bounds.cells
    return Reply(run_free(state, call, handlers.plan_synthesis, asked, max_cells))


# The three requests below give a fixed, small number of values: no limit of cells applies.
async def suggest_bounds(state: State, call: ApiCall) -> Reply:
    """Suggest bounds of a column, charged once for each Idempotency-Key."""
    checked = checked_reader(read_bounds, handlers.check_bounds, limited=False)
    return await charge(state, call, "suggest_bounds", checked)


async def suggest_caps(state: State, call: ApiCall) -> Reply:
    """Suggest how many rows of one person should count, charged once for each Idempotency-Key."""
    checked = checked_reader(read_caps, handlers.check_caps, limited=False)
    return await charge(state, call, "suggest_caps", checked)


async def estimate_cut(state: State, call: ApiCall) -> Reply:
    """Estimate the truncation by a cap on one person's rows, charged once for each key."""
    checked = checked_reader(read_truncation, handlers.check_cut, limited=False)
    return await charge(state, call, "estimate_cut", checked)
