"""What is said back about what was made: models, synthetic tables, suggested bounds and caps, as plain JSON.

All of it was released privately, or is public: what is made of noisy sums may be shown whole.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from ..learn.stored import model_to_json
from ..privacy.budget_text import budget_to_words
from ..synthetic.stored import measured_to_json

if TYPE_CHECKING:
    from ..answer.suggest import SuggestedBounds, SuggestedCaps
    from ..learn.estimator import Estimator
    from ..learn.explanation import TrainingExplanation
    from ..privacy.measures import Measure
    from ..synthetic.plan import SyntheticPlan
    from ..synthetic.synthetic import Synthetic


def model_reply(model: Estimator) -> dict[str, object]:
    """Write a trained model with its receipt."""
    trained, receipt = json.loads(model_to_json(model)), model.receipt_.to_json()  # type: ignore[attr-defined]
    return {"trained": trained, "text": model.summary(), "receipt": receipt}


def training_reply(explained: TrainingExplanation, price: Measure) -> dict[str, object]:
    """Write what learning would release, cost and lose."""
    return {
        "model": explained.model,
        "columns": explained.columns,
        "rows": explained.rows,
        "price": budget_to_words(price),
        "signal": explained.signal,
        "text": str(explained),
    }


def synthetic_reply(made: Synthetic) -> dict[str, object]:
    """Write released tables with their receipt; records are made from them by whoever reads them, for free."""
    receipt = made.receipt.to_json()  # type: ignore[attr-defined]
    return {
        "rows": made.rows,
        "released": measured_to_json(made.measured),
        "text": made.explain(),
        "receipt": receipt,
    }


def synthesis_plan_reply(plan: SyntheticPlan, price: Measure) -> dict[str, object]:
    """Write what making synthetic records would measure and cost."""
    sizes = plan.request.sizes
    return {
        "tables": len(plan.sets),
        "numbers": sum(math.prod(sizes[place] for place in part) for part in plan.sets),
        "price": budget_to_words(price),
        "expected": plan.expected,
        "hopeless": plan.hopeless,
        "text": str(plan),
    }


def bounds_reply(found: SuggestedBounds, price: Measure) -> dict[str, object]:
    """Write suggested bounds, exactly, and what they cost."""
    return {"low": str(found.low), "high": str(found.high), "price": budget_to_words(price)}


def caps_reply(found: SuggestedCaps, price: Measure) -> dict[str, object]:
    """Write a suggested cap, and what it cost."""
    return {"max_rows": found.max_rows, "price": budget_to_words(price)}
