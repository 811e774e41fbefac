"""How a workload shows itself: one table after the other, each under the name of its question."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .plan import plan_html, plan_text

if TYPE_CHECKING:
    from ..several.workload import Workload

__all__ = ["workload_html", "workload_text"]


def workload_text(workload: Workload) -> str:
    """Lay out every plan under its name, and what all of it spends."""
    tables = [f"{name}\n{plan_text(plan)}" for name, plan in workload.plans]
    return "\n\n".join([*tables, f"all {len(workload)} questions, in one charge, spend {workload.spend}"])


def workload_html(workload: Workload) -> str:
    """Write every plan as a table for a notebook."""
    tables = [f"<h4>{escape(name)}</h4>{plan_html(plan)}" for name, plan in workload.plans]
    return "".join(tables) + f"<p>all {len(workload)} questions, in one charge, spend {escape(str(workload.spend))}</p>"
