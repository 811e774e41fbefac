"""Demo service on the bundled census and made-up visits: a folder for it, and two users."""

from __future__ import annotations

from pathlib import Path

from ..frozen import frozen
from ..samples import example as sample
from .config import read_config
from .demo_visits import CONFIG, make_visits
from .stores.people import Members
from .stores.store import open_store

_SCHEMA = """format = 1

[tables.people]
label = "People in the census sample"
size = 1000
unit = { kind = "rows" }

[tables.people.columns]
age = { type = "integer", low = 0, high = 120, label = "Age in years" }
sex = { type = "category", values = ["0", "1"], label = "Sex", labels = { 0 = "man", 1 = "woman" } }
educ = { type = "integer", low = 1, high = 16, label = "Level of education" }
income = { type = "real", low = 0, high = 250000, label = "Income in dollars" }
married = { type = "category", values = ["0", "1"], label = "Married", labels = { 0 = "no", 1 = "yes" } }
"""
_CONFIG = """[service]
url = "{url}"
store = "service.db"
log = "audit.log"
catch_up = "5"

[datasets.census]
schema = "census.toml"
ledger = "census.ledger"
budget = {{ epsilon = "3" }}
duckdb = {{ people = "{csv}" }}
"""


@frozen
class Sample:
    """Configuration file of a demo service, and the tokens of its two users, which are shown once."""

    config: Path
    steward: str
    analyst: str


def make_demo(folder: Path, url: str = "http://127.0.0.1:8000") -> Sample:
    """Set up a service on the bundled census in an empty folder."""
    csv = Path(sample("pums.csv")).as_posix()
    config_file = folder / "curator.toml"
    config_text = _CONFIG.format(url=url, csv=csv) + CONFIG
    make_visits(folder)
    (folder / "census.toml").write_text(_SCHEMA, encoding="utf-8")
    config_file.write_text(config_text, encoding="utf-8")
    config = read_config(config_file)
    store = open_store(config.store)
    people = Members(store)
    _, steward = people.add("stella", "steward", ["*"])
    _, analyst = people.add("ana", "analyst", ["census", "visits"])
    store.close()
    return Sample(config_file, steward, analyst)
