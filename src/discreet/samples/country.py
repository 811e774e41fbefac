"""A made-up country of 50 states, 3,000 counties and 60,000 tracts, drawn by code: people, a schema, and a release.

Sizes of tracts follow a Pareto law, as towns do; nobody in it exists. A tract's number says its county (÷ 20) and its
state (÷ 1,200), so a release needs no list of places. Every column declares a default: so no row is without a key, and
all tables of a question are measured as one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..arithmetic.rational import whole
from ..errors import InvalidArgument

TRACTS = 60_000

_SCHEMA = """format = 1

[tables.country]
version = "1"
neighbours = "add-remove"
unit = { kind = "rows" }

[tables.country.columns]
tract = { type = "integer", low = 0, high = 59999, default = 0 }
sex = { type = "category", values = ["f", "m"], default = "f" }
age = { type = "integer", low = 0, high = 99, default = 0 }
"""

_RELEASE = """title = "A made-up country"
source = "country.csv"
schema = "country.toml"
ledger = "country.ledger"
budget = { rho = "1" }
spend = { rho = "1/10" }
whole = true

[questions.places]
title = "People by state, county and tract, in all and by sex"
sql = \"\"\"
SELECT FLOOR(tract / 1200) AS state, FLOOR(tract / 20) AS county, tract, sex, COUNT(*) AS people
FROM country
GROUP BY GROUPING SETS ((state, county, tract, sex), (state, county, tract), (state, county, sex), (state, county),
  (state, sex), (state), (sex), ())
\"\"\"

[questions.ages]
title = "People up to each age"
sql = "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS people FROM country GROUP BY age"

[questions.decades]
title = "People by decade of age and sex"
sql = "SELECT FLOOR(age / 10) AS decade, sex, COUNT(*) AS people FROM country GROUP BY CUBE (FLOOR(age / 10), sex)"

[questions.generations]
title = "People by generation"
sql = "SELECT FLOOR(age / 20) AS generation, COUNT(*) AS people FROM country GROUP BY 1"
"""


def write_country(folder: str | Path, people: int = 300_000) -> Path:
    """Write the country's people, their schema and a release file into a new folder; return the release file's path.

    The same number of people gives the same country.

    Refuses a folder that is there already.
    """
    home, count = Path(folder), whole(people, "people", least=1, most=10_000_000)
    if home.exists():
        raise InvalidArgument(f"{home} is there already; name a new folder")
    home.mkdir(parents=True)
    rng = np.random.default_rng(18)
    sizes = np.minimum(rng.pareto(1.2, TRACTS), 1e4)
    tracts = rng.choice(TRACTS, count, p=sizes / sizes.sum())
    ages = np.minimum(rng.gamma(2.2, 18.0, count), 99).astype(np.int64)
    sexes = rng.integers(0, 2, count)
    lines = [
        f"{t},{'fm'[s]},{a}\n"
        for t, s, a in zip(tracts.tolist(), sexes.tolist(), ages.tolist(), strict=True)
    ]
    (home / "country.csv").write_text("tract,sex,age\n" + "".join(lines), encoding="utf-8")
    (home / "country.toml").write_text(_SCHEMA, encoding="utf-8")
    (home / "tables.toml").write_text(_RELEASE, encoding="utf-8")
    return home / "tables.toml"
