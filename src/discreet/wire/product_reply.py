"""Replies with products other than answers: models, synthetic tables, suggested bounds and caps.

Their contents are public or were released privately: post-processing of noisy sums is free.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from ..learn.stored import model_to_json
from ..privacy.budget_text import budget_to_table
from ..synthetic.stored import measured_to_json

if TYPE_CHECKING:
    from ..answer.suggest import SuggestedBounds, SuggestedCaps
    from ..learn.estimator import Estimator
    from ..learn.explanation import TrainingExplanation
    from ..privacy.measures import Measure
    from ..synthetic.plan import SyntheticPlan
    from ..synthetic.synthetic import Synthetic


def model_reply(model: Estimator) -> dict[str, object]:
    """Return the reply with a trained model and its receipt."""
    trained = json.loads(model_to_json(model))
    receipt = model.receipt_.to_json()  # type: ignore[attr-defined]
    return {"trained": trained, "text": model.summary(), "receipt": receipt}


def training_reply(explained: TrainingExplanation, price: Measure) -> dict[str, object]:
    """Return the reply with the explanation of a training."""
    return {
        "model": explained.model,
        "columns": explained.columns,
        "rows": explained.rows,
        "price": budget_to_table(price),
        "signal": explained.signal,
        "text": str(explained),
    }


def synthetic_reply(made: Synthetic) -> dict[str, object]:
    """Return the reply with released tables and their receipt; records are made by the client."""
    receipt = made.receipt.to_json()  # type: ignore[attr-defined]
    return {
        "rows": made.rows,
        "released": measured_to_json(made.measured),
        "text": made.explain(),
        "receipt": receipt,
    }


def synthesis_plan_reply(plan: SyntheticPlan, price: Measure) -> dict[str, object]:
    """Return the reply with the plan of synthetic records."""
    sizes = plan.request.sizes
    numbers = 0
    for columns in plan.sets:
        # A table has one number for each combination of the values of its columns.
        numbers += math.prod(sizes[column] for column in columns)
    return {
        "tables": len(plan.sets),
        "numbers": numbers,
        "price": budget_to_table(price),
        "expected": plan.expected,
        "hopeless": plan.hopeless,
        "text": str(plan),
    }


def bounds_reply(found: SuggestedBounds, price: Measure) -> dict[str, object]:
    """Return the reply with suggested bounds, as exact numbers, and their price."""
    return {"low": str(found.low), "high": str(found.high), "price": budget_to_table(price)}


def caps_reply(found: SuggestedCaps, price: Measure) -> dict[str, object]:
    """Return the reply with a suggested cap and its price."""
    return {"max_rows": found.max_rows, "price": budget_to_table(price)}
