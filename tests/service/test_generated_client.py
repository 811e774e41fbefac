"""The description of the API is enough: a client that a public generator makes of it goes through a whole day."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import discreet as dp
from discreet.arithmetic.canonical import canonical_json
from service.deployment import COUNT, GROUPED, build, free_port, serving

GENERATOR = Path(os.environ.get("DISCREET_GENERATOR", Path(sys.prefix) / "generator"))
"""Where `make` puts the packages of the group `generate`: they ask for other versions than the program."""
CONFIG = (
    "post_hooks: []\ncontent_type_overrides:\n  application/x-ndjson: application/octet-stream\n"
)


MODELS = """[datasets.models]
schema = "people.toml"
ledger = "models.ledger"
budget = { epsilon = "50", delta = "1e-4" }
duckdb = { people = "people.csv", wards = "wards.csv" }
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not (GENERATOR / "openapi_python_client").is_dir():
        pytest.skip("the generator is not installed; `make test` installs the group `generate`")
    folder, port = tmp_path_factory.mktemp("generated"), free_port()
    with serving(build(folder, port=port, service='grid = "0.05"', dataset=MODELS)) as deployment:
        yield deployment


@pytest.fixture(scope="module")
def made(server, tmp_path_factory):
    """The generated package, made from what the server itself says; anything it could not make is an error."""
    folder = tmp_path_factory.mktemp("client")
    with server.client() as client:
        (folder / "openapi.json").write_bytes(client.get("/openapi.json").content)
    (folder / "config.yml").write_text(CONFIG)
    command = [
        sys.executable,
        "-m",
        "openapi_python_client",
        "generate",
        "--fail-on-warning",
        "--meta",
        "none",
    ]
    paths = ["--path", "openapi.json", "--config", "config.yml", "--output-path", "analyst_client"]
    environment = os.environ | {"PYTHONPATH": str(GENERATOR)}
    ran = subprocess.run(
        [*command, *paths], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    sys.path.insert(0, str(folder))
    yield import_module("analyst_client")
    sys.path.remove(str(folder))


class Day:
    """The operations of the generated client by their names, each checked to have worked."""

    def __init__(self, made, server, who):
        self.models = import_module(f"{made.__name__}.models")
        self._package = made.__name__
        self._client = made.AuthenticatedClient(
            base_url=server.url, token=server.tokens[who], timeout=60
        )

    def __enter__(self):
        self._client.__enter__()
        return self

    def __exit__(self, *raised):
        self._client.__exit__(*raised)

    def do(self, place, *path, status=200, **said):
        """Call one operation, such as questions.ask_sql, and give what was parsed."""
        module = import_module(f"{self._package}.api.{place}")
        response = module.sync_detailed(*path, client=self._client, **said)
        assert response.status_code in (status, 202), (place, response.content)
        return response.parsed

    def follow(self, found):
        """Ask for a job again until what came of it is there."""
        while isinstance(found, self.models.Job) and not found.reply:
            time.sleep(max(0.01, found.again_in))
            found = self.do("jobs.get_job", found.id)
        return found.reply if isinstance(found, self.models.Job) else found


def test_a_whole_day_of_an_analyst(made, server):
    with Day(made, server, "ana") as day:
        _spend_a_day(day, day.models)


def _spend_a_day(day, models):
    spend = models.PureBudget(epsilon="1/2")
    assert day.do("service.get_health").status == "ok"
    assert day.do("people.get_me").name == "ana" and day.do("datasets.list_datasets").datasets == [
        "people"
    ]
    facts = day.do("datasets.describe_dataset", "people")
    assert [table["name"] for table in (one.to_dict() for one in facts.tables)] == [
        "people",
        "wards",
    ]
    assert day.do("datasets.list_values", "people", "wards", "city").values == ["Bergen", "Oslo"]

    asked = models.AskRequest(sql=GROUPED, spend=spend, why="the whole day")
    told = day.do("questions.explain_question", "people", body=asked)
    assert (
        told.fits
        and not told.stored
        and told.price.epsilon == "1/2"
        and told.after.epsilon == "199/2"
    )
    planned = models.PlanRequest(sql=COUNT, error="20")
    assert "n" in day.do("questions.plan_question", "people", body=planned).text
    rehearsed = day.do(
        "questions.rehearse_question",
        "people",
        body=models.RehearsalRequest(sql=GROUPED, spend=spend),
    )
    assert [one.name for one in rehearsed.columns] == [
        "region",
        "n",
        "income",
    ] and rehearsed.receipt is None

    answer = day.follow(
        day.do("questions.ask_sql", "people", body=asked, idempotency_key="morning")
    )
    assert isinstance(answer, models.Answer) and len(answer.rows) == 4 and answer.columns[1].noisy
    assert all(
        low <= row[1] <= high
        for row, ((_, (low, high), _)) in zip(answer.rows, answer.intervals, strict=True)
    )
    again = day.follow(day.do("questions.ask_sql", "people", body=asked, idempotency_key="morning"))
    assert again.to_dict() == answer.to_dict()
    questions = models.Questions.from_dict({"all": COUNT, "old": COUNT + " WHERE age > 60"})
    errors = models.Errors.from_dict({"all": {"n": "30"}, "old": {"n": "30"}})
    several = models.ReleaseRequest(questions=questions, error=errors)
    both = day.follow(day.do("questions.ask_release", "people", body=several))
    assert set(both.answers.additional_properties) == {"all", "old"}

    bounds = models.BoundsRequest(table="people", column="income", spend=spend)
    found = day.follow(day.do("questions.suggest_bounds", "people", body=bounds))
    assert isinstance(found, models.SuggestedBounds) and found.price.epsilon == "1/2"

    refused = day.do("questions.ask_sql", "people", status=409, body=models.AskRequest(sql=COUNT, spend=models.PureBudget(epsilon="1000")))  # fmt: skip
    refused = day.follow(refused)
    assert refused.error.kind == "BudgetExceeded" and refused.error.asked.epsilon == "1000"
    wrong = day.do("questions.ask_sql", "people", status=422, body=models.AskRequest(sql="SELECT age FROM people", spend=spend))  # fmt: skip
    assert wrong.error.kind == "UnsupportedQuery"

    spent = day.do("books.get_spent", "people").spent
    assert spent.to_dict() == day.do("books.get_spent", "people").spent_by_all.to_dict()
    history = day.do("books.list_history", "people", last=10)
    assert [entry["who"] for entry in history.entries] == ["ana"] * 3 and len(
        history.asked.additional_properties
    ) == 3
    checked = dp.verify_receipt(answer.receipt)
    fetched = day.do("books.get_receipt", "people", str(checked.number))
    assert canonical_json(fetched.to_dict()) == answer.receipt and checked.why == "the whole day"


def test_and_models_are_trained_and_tables_made(made, server):
    with Day(made, server, "stella") as day:
        _make_things(day, day.models)


def _make_things(day, models):
    rows, spend = (
        "SELECT age, region, income FROM people",
        models.ApproximateBudget(epsilon="5", delta="1e-6"),
    )
    linear = models.LinearRegressionModel.from_dict(
        {"kind": "LinearRegression", "target": "income", "lift": 0.5}
    )
    about = models.TrainingRequest(sql=rows, model=linear, spend=spend, n=400)
    assert day.do("questions.explain_model", "models", body=about).model == "LinearRegression"
    learning = models.LearnRequest(sql=rows, model=linear, spend=spend, why="incomes")
    found = day.follow(day.do("questions.learn_model", "models", body=learning))
    assert isinstance(found, models.Trained) and found.trained.kind == "LinearRegression"
    assert (
        len(found.trained.fitted["coefficients"]) == 7
        and dp.verify_receipt(found.receipt).why == "incomes"
    )
    making = models.SynthesisRequest(table="people", spend=spend, columns=["region"])
    assert day.do("questions.plan_synthesis", "models", body=making).tables == 2
    made = day.follow(day.do("questions.synthesize_table", "models", body=making))
    assert isinstance(made, models.Synthetic) and dp.verify_receipt(made.receipt).number


def test_and_of_a_steward(made, server):
    with Day(made, server, "stella") as day:
        _keep_house(day, day.models)


def _keep_house(day, models):
    newcomer = models.PersonRequest(name="carl", datasets=["people"], days=1)
    assert day.do("people.add_person", status=201, body=newcomer).token.startswith("dsc_")
    share = models.AllowanceRequest(who="carl", budget=models.ConcentratedBudget(rho="1/8"))
    assert (
        day.do("books.set_allowance", "people", status=422, body=share).error.kind
        == "InvalidArgument"
    )
    share = models.AllowanceRequest(who="carl", budget=models.PureBudget(epsilon="1"))
    assert day.do("books.set_allowance", "people", status=201, body=share).entry.kind == "allow"
    assert {one.name for one in day.do("people.list_people").people} >= {"ana", "carl"}
    assert day.do("jobs.list_jobs").jobs == [] and day.do("books.verify_ledger", "people").verified
    assert b'"kind":"allow"' in day.do("books.export_ledger", "people")
    assert day.do("people.revoke_person", "carl").revoked
