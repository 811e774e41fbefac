"""The table of `queries.py`: one line for each method on each store, printed as it is measured."""

from __future__ import annotations

from dataclasses import dataclass

WIDTHS = {"method": -46, "store": -30, "× plain": 9, "plain s": 8, "peak MB": 8, "rows": 11}


@dataclass(frozen=True, slots=True)
class Line:
    """What was measured of one method on one store; what is None was not measured."""

    method: str
    store: str
    times: float | str
    base: float | None = None
    memory: float | None = None
    rows: int | None = None

    def cells(self) -> list[str]:
        times = (
            self.times
            if isinstance(self.times, str)
            else f"{self.times:,.{1 if self.times > 20 else 2}f}"
        )
        base = "" if self.base is None else f"{self.base:.3f}"
        memory = "" if self.memory is None else f"{self.memory:,.0f}"
        return [
            self.method,
            self.store,
            times,
            base,
            memory,
            "" if self.rows is None else f"{self.rows:,}",
        ]


def head() -> None:
    print(row(list(WIDTHS)))
    print("|" + "|".join("-" * (abs(width) + 2) for width in WIDTHS.values()) + "|", flush=True)


def show(line: Line) -> None:
    print(row(line.cells()), flush=True)


def row(cells: list[str]) -> str:
    padded = (
        cell.ljust(-width) if width < 0 else cell.rjust(width)
        for cell, width in zip(cells, WIDTHS.values(), strict=True)
    )
    return f"| {' | '.join(padded)} |"
