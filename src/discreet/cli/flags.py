"""Options that several commands share, named like the arguments of the library."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

SourceArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="A CSV, Parquet or DuckDB file, or postgresql://… of a database.", show_default=False
    ),
]
SqlArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="The question, as one SELECT; - reads it from standard input.", show_default=False
    ),
]
SchemaFlag: TypeAlias = Annotated[
    str,
    typer.Option("--schema", help="The schema file: who is protected, what each column may hold."),
]
LedgerFlag: TypeAlias = Annotated[
    str, typer.Option("--ledger", help="The ledger: a file, or postgresql://… of a database.")
]
TableFlag: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--table", help="A further table in a file: regions=regions.csv. May be repeated."
    ),
]
EpsilonFlag: TypeAlias = Annotated[
    str | None, typer.Option("--epsilon", help="Spend this ε: a number or a fraction.")
]
DeltaFlag: TypeAlias = Annotated[
    str | None, typer.Option("--delta", help="… and this δ, together with ε.")
]
RhoFlag: TypeAlias = Annotated[
    str | None, typer.Option("--rho", help="Spend this ρ (zCDP), instead of ε.")
]
MuFlag: TypeAlias = Annotated[
    str | None, typer.Option("--mu", help="Spend this μ (Gaussian DP), instead of ε.")
]
ErrorFlag: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--error", help="Ask by error instead: 50 for all statistics, or n=50. May be repeated."
    ),
]
WeightFlag: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--weight", help="A statistic's part of the budget, 1 unless said: n=2."),
]
SizeFlag: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--size", help="Rows per group that errors of means and the like are predicted for."
    ),
]
LevelFlag: TypeAlias = Annotated[
    float, typer.Option("--level", help="The level of errors and intervals.")
]
TargetFlag: TypeAlias = Annotated[
    str,
    typer.Option(
        "--of",
        help="What ± is of: the data, or the population, if rows are a random sample of one.",
    ),
]
NonnegativeFlag: TypeAlias = Annotated[
    bool, typer.Option("--nonnegative", help="Move noisy counts into what is possible: 0 or more.")
]
IntervalsFlag: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--intervals/--no-intervals", help="Spend a part of the budget on intervals of quantiles."
    ),
]
ReuseFlag: TypeAlias = Annotated[
    str,
    typer.Option(
        "--reuse",
        help="yes: measure all that the price allows, for later questions; no: only what is asked; "
        "only: charge nothing, answer from what was released.",
    ),
]
WithinFlag: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--within",
        help="Take sums of released cells for nothing if their error is at most so many times the planned one.",
    ),
]
WhyFlag: TypeAlias = Annotated[
    str, typer.Option("--why", help="What the question is for; the ledger keeps it.")
]
WhoFlag: TypeAlias = Annotated[
    str, typer.Option("--who", help="Who asks; the ledger keeps it.", envvar="DISCREET_WHO")
]
DetailsFlag: TypeAlias = Annotated[
    bool, typer.Option("--details", help="Also print what the numbers mean, a sentence a line.")
]
JsonFlag: TypeAlias = Annotated[bool, typer.Option("--json", help="As JSON.")]
