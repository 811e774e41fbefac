"""How often what discreet said of its own answers held: the error predicted before anything was read, and the interval."""

from __future__ import annotations

import re

import numpy as np

import discreet as dp
from utility_jobs import Columns, Job, truth

SLACK = 1e-9


class Held:
    """Counts, over many runs of one job, how often predictions and intervals held, cell by cell."""

    def __init__(self, job: Job, columns: Columns) -> None:
        self.job = job
        self.within = self.beyond = self.inside = self.outside = 0
        self.answer: dp.Answer | None = None
        self.ordered = np.sort(columns[job.column]) if job.ask == "quantiles" else np.empty(0)
        self.errors: dict[str, float] = {}
        self.grain = 0.0
        self.exact = truth(job, columns).tolist()
        counted = (
            np.bincount(columns[job.column]) if job.ask in ("keys", "prefixes") else np.empty(0)
        )
        self.counted = counted if job.ask == "keys" else np.cumsum(counted)

    def look(self, answer: dp.Answer) -> None:
        """Compare one answer with the truth."""
        if self.job.ask in ("words", "mean_unbounded", "ranges"):
            return  # words and values are cut, so what is left is not known here; ranges are read from the prefixes
        if self.answer is None:  # a plan follows from public facts, so all runs have the same
            self.answer, self.errors, self.grain = (
                answer,
                answer.plan.statistic_errors(),
                self._grain(answer),
            )
        errors, grain = self.errors, self.grain
        for shown, ends in zip(answer.rows, answer.interval(0.95), strict=True):
            row = dict(zip(answer.columns, shown, strict=True))
            for name, exact in self._exact(row).items():
                if name in errors:
                    far = (
                        self._ranks(row[name], name, grain)
                        if self.ordered.size
                        else abs(row[name] - exact)
                    )
                    self._count("within", "beyond", far <= errors[name] + SLACK)
                if ends.get(name) is not None:
                    low, high = ends[name]
                    self._count("inside", "outside", low - SLACK <= exact <= high + SLACK)

    def told(self) -> dict[str, str]:
        """Say what was predicted and how often it held."""
        if self.answer is None:
            return {}
        errors = self.errors
        unit = " rows" if self.ordered.size else ""
        said = sorted({f"± {errors[name]:.4g}{unit}" for name in self._names() if name in errors})
        words = re.search(r"errors in one key: (.*?); planned", str(self.answer.plan))
        return {
            "predicted": ", ".join(said[:3]) or "–",
            "held": _share(self.within, self.beyond),
            "covered": _share(self.inside, self.outside),
            "supposes": "–"
            if words is None or not said
            else re.sub(r"^[\w, ]*? for ", "", words[1]),
        }

    def _count(self, well: str, ill: str, right: bool) -> None:
        name = well if right else ill
        setattr(self, name, getattr(self, name) + 1)

    def _names(self) -> list[str]:
        return [name for name in self.answer.columns if name not in ("x", "key")]

    def _exact(self, row: dict) -> dict[str, float]:
        """Return the exact value of every shown number of a row."""
        job = self.job
        if job.ask == "by_key":
            name = ("n", "s", "m")[int(job.at[0])]
            return {name: self.exact[row["key"]]}
        if job.ask in ("prefixes", "keys"):
            return {"n": float(self.counted[int(row["x"])])}
        return dict(zip(row, self.exact, strict=True))

    def _grain(self, answer: dp.Answer) -> float:
        """Return the part of its value that a quantile may be off by beside its rows."""
        found = re.search(r"or by ([\d.e-]+) % of its value", str(answer.plan))
        return float(found[1]) / 100 if found else 0.0

    def _ranks(self, value: float, name: str, grain: float) -> float:
        at = self.job.at[int(name[1:])] * self.ordered.size
        low = np.searchsorted(self.ordered, value * (1 - grain) - SLACK, "left")
        high = np.searchsorted(self.ordered, value * (1 + grain) + SLACK, "right")
        return max(0.0, low - at, at - high)


def _share(well: int, ill: int) -> str:
    return "–" if well + ill == 0 else f"{100 * well / (well + ill):.1f} %"
