"""Ways to what is made beside answers: models, synthetic tables, suggested bounds and caps."""

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
from .questions import charge, check_in_planning_pool, work_out


async def learn_model(state: State, call: ApiCall) -> Reply:
    """Train a model on the rows of a SELECT, charged once for each Idempotency-Key."""
    return await charge(
        state, call, "learn", check_in_planning_pool(read_learn, handlers.check_learn)
    )


def explain_model(state: State, call: ApiCall) -> Reply:
    """Say what training a model would release, cost and lose; nothing is touched or spent."""
    state.datasets.check(call.person, call.dataset)
    asked = read_learn(call.json(), explained=True)
    return Reply(work_out(state, call, handlers.explain_model, asked, state.config.bounds.cells))


async def synthesize_table(state: State, call: ApiCall) -> Reply:
    """Release tables that synthetic records are made from, charged once for each Idempotency-Key."""
    return await charge(
        state, call, "synthesize", check_in_planning_pool(read_synthesis, handlers.check_synthesis)
    )


def plan_synthesis(state: State, call: ApiCall) -> Reply:
    """Say what synthesize would measure and cost; nothing is touched or spent."""
    state.datasets.check(call.person, call.dataset)
    asked = read_synthesis(call.json())
    return Reply(work_out(state, call, handlers.plan_synthesis, asked, state.config.bounds.cells))


async def suggest_bounds(state: State, call: ApiCall) -> Reply:
    """Suggest bounds of a column, charged once for each Idempotency-Key."""
    return await charge(
        state,
        call,
        "suggest_bounds",
        check_in_planning_pool(read_bounds, handlers.check_bounds, limited=False),
    )


async def suggest_caps(state: State, call: ApiCall) -> Reply:
    """Suggest how many rows of one person should count, charged once for each Idempotency-Key."""
    return await charge(
        state,
        call,
        "suggest_caps",
        check_in_planning_pool(read_caps, handlers.check_caps, limited=False),
    )


async def estimate_cut(state: State, call: ApiCall) -> Reply:
    """Estimate what the cap on one person's rows cuts off, charged once for each Idempotency-Key."""
    return await charge(
        state,
        call,
        "estimate_cut",
        check_in_planning_pool(read_truncation, handlers.check_cut, limited=False),
    )
