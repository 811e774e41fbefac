"""Made-up country, drawn by code: a file of people, a schema, and a release of four questions.

There are 50 states, 3,000 counties and 60,000 tracts, whose sizes follow a Pareto law; nobody in it
exists. Tract t lies in county ⌊t/20⌋ and in state ⌊t/1,200⌋, so the release needs no list of
places. Every column declares a default. So every row has a key in every table, and all tables of a
question can be measured together.
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
    """Write the country into a new folder, and return the path of its release file.

    The folder gets country.csv (one row for each of `people`), country.toml (the schema) and
    tables.toml (the release). The same number of people gives the same country.

    Refuses: a folder that exists, and fewer than 1 or more than 10,000,000 people.
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
