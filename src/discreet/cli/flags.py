"""The flags that several commands share: one word, one meaning, the library's."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

__all__ = [
    "Delta", "Epsilon", "Error", "Json", "LedgerAt", "Level", "Mu", "Nonnegative", "Rho", "SchemaAt", "Size",
    "Source", "Sql", "Tables", "Weight", "Who", "Why",
]  # fmt: skip

Source: TypeAlias = Annotated[
    str, typer.Argument(help="A CSV, Parquet or DuckDB file, or postgresql://… of a database.", show_default=False)
]
Sql: TypeAlias = Annotated[str, typer.Argument(help="The question, as one SELECT.", show_default=False)]
SchemaAt: TypeAlias = Annotated[
    str, typer.Option("--schema", help="The schema file: who is protected, what each column may hold.")
]
LedgerAt: TypeAlias = Annotated[
    str, typer.Option("--ledger", help="The ledger: a file, or postgresql://… of a database.")
]
Tables: TypeAlias = Annotated[
    list[str] | None, typer.Option("--table", help="A further table in a file: regions=regions.csv. May be repeated.")
]
Epsilon: TypeAlias = Annotated[str | None, typer.Option("--epsilon", help="Spend this ε: a number or a fraction.")]
Delta: TypeAlias = Annotated[str | None, typer.Option("--delta", help="… and this δ, together with ε.")]
Rho: TypeAlias = Annotated[str | None, typer.Option("--rho", help="Spend this ρ (zCDP), instead of ε.")]
Mu: TypeAlias = Annotated[str | None, typer.Option("--mu", help="Spend this μ (Gaussian DP), instead of ε.")]
Error: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--error", help="Ask by error instead: 50 for all statistics, or n=50. May be repeated."),
]
Weight: TypeAlias = Annotated[
    list[str] | None, typer.Option("--weight", help="A statistic's part of the budget, 1 unless said: n=2.")
]
Size: TypeAlias = Annotated[
    str | None, typer.Option("--size", help="Rows per group that errors of means and the like are predicted for.")
]
Level: TypeAlias = Annotated[float, typer.Option("--level", help="The level of errors and intervals.")]
Nonnegative: TypeAlias = Annotated[
    bool, typer.Option("--nonnegative", help="Move noisy counts into what is possible: 0 or more.")
]
Why: TypeAlias = Annotated[str, typer.Option("--why", help="What the question is for; the ledger keeps it.")]
Who: TypeAlias = Annotated[str, typer.Option("--who", help="Who asks; the ledger keeps it.", envvar="DISCREET_WHO")]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="As JSON.")]
