"""Demo service on the bundled census and made-up visits: a folder for it, and two users."""

from __future__ import annotations

from pathlib import Path

from ..frozen import frozen, replace
from ..samples import example as sample
from ..wire.json_text import write_json
from ..wire.verbs.question import read_ask
from .config import read_config
from .demo_visits import CONFIG, make_visits
from .jobs.job import new_job
from .jobs.job_store import JobStore
from .stores.dashboards import DashboardPart, Dashboards
from .stores.people import Members
from .stores.saved import SavedQuestions
from .stores.store import ServiceStore, open_store

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
budget = {{ epsilon = "3", delta = "1e-6" }}
duckdb = {{ people = "{csv}" }}
share_dashboards = true
show_intake = true
"""

_WORDS = """A page that **stella**, the steward, shares with everybody who may ask about the census.

Every number carries noise: ± says how much. The answers were paid for once; reading them is free."""
_ASKED = {
    "People by age": "SELECT CASE WHEN age < 40 THEN 'under 40' WHEN age < 60 THEN '40 to 59' ELSE '60 and over' END "
    "AS ages, COUNT(*) AS people FROM people GROUP BY ages",
    "People by level of education": "SELECT educ, COUNT(*) AS people FROM people GROUP BY educ",
}


@frozen
class Sample:
    """Configuration file of a demo service, and the tokens of its two users, which are shown once."""

    config: Path
    steward: str
    analyst: str


def make_demo(folder: Path, url: str = "http://127.0.0.1:8000") -> Sample:
    """Set up a service on the bundled census and made-up visits in an empty folder."""
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
    _share_dashboard(store, "stella")
    store.close()
    return Sample(config_file, steward, analyst)


def _share_dashboard(store: ServiceStore, author: str) -> None:
    """Put a shared dashboard into the store, with questions that the service asks when it starts."""
    boards = Dashboards(store)
    board = boards.add(author, "census", "Who lives here")
    # Without an owner or a lease, so the first worker that looks for lost jobs takes them.
    jobs = JobStore(store, "", lease=0.0)
    parts = [DashboardPart(text=_WORDS)]
    for name, sql in _ASKED.items():
        asked = read_ask({"sql": sql, "spend": {"epsilon": "1/10"}, "why": "shared dashboard"})
        body = write_json(asked.to_json())
        job, _ = jobs.put(new_job(author, "census", "sql", body, mark="", owner=""))
        SavedQuestions(store).save(author, "census", name, {"sql": sql}, job.id)
        parts.append(DashboardPart(answer=job.id))
    boards.save(board, replace(board, parts=tuple(parts), shared=True))
