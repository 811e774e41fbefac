"""Made-up visits of the demo service, with a standing report of which 60 days are overdue.

The table has 150 past days of three wards. The stream starts on the first of them, and its first
90 days are closed here. The service closes the overdue ones one by one, as `catch_up` says.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from ..curator import Curator
from ..data import read_schemas
from ..engines import DuckDB
from ..ledger import open_ledger
from ..privacy.measures import ZCDP
from ..streams.seal import Seal

DAYS = 150
CLOSED = 90
WARDS = ("A", "B", "C")
_SCHEMA = """format = 1

[tables.visits]
unit = { kind = "rows" }

[tables.visits.columns]
day = { type = "date", low = "2020-01-01", high = "2099-12-31" }
ward = { type = "category", values = ["A", "B", "C"] }
"""
CONFIG = """
[datasets.visits]
schema = "visits.toml"
ledger = "visits.ledger"
budget = { rho = "1/10" }
duckdb = { visits = "visits.csv" }
seal = "visits.key"
"""
_SQL = "SELECT day, ward, COUNT(*) AS n FROM visits GROUP BY day, ward"


def make_visits(folder: Path) -> None:
    """Write the made-up visits, open their stream and close its first days."""
    start = datetime.now(UTC).date() - timedelta(days=DAYS)
    lines = [f"{day},{ward}" for day, ward in _visits(start)]
    text = "\n".join(["day,ward", *lines]) + "\n"
    (folder / "visits.csv").write_text(text, encoding="utf-8")
    (folder / "visits.toml").write_text(_SCHEMA, encoding="utf-8")
    schemas = read_schemas(folder / "visits.toml")
    engine = DuckDB({"visits": str(folder / "visits.csv")})
    seal = Seal.create(folder / "visits.key")
    with open_ledger(folder / "visits.ledger", ZCDP("1/10"), name="visits") as ledger:
        curator = Curator(engine, schemas, ledger, who="stella", seal=seal)
        report = curator.stream(
            _SQL, ZCDP("1/50"), name="visits", start=start, periods=365, matters={"total": 1}
        )
        report.close(CLOSED)
    engine.close()


def _visits(start: date) -> Iterator[tuple[date, str]]:
    """Yield a day and a ward for each visit: fewer at weekends, more on later days.

    The random numbers are the same on every run.
    """
    chance = random.Random(8)
    for number in range(DAYS):
        day = start + timedelta(days=number)
        usual = 40.0 if day.weekday() < 5 else 15.0
        for place, ward in enumerate(WARDS):
            mean = usual * (1 + place / 2) * (1 + number / DAYS)
            for _ in range(max(0, round(chance.gauss(mean, mean**0.5)))):
                yield day, ward
