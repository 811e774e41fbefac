"""Models, synthetic tables, bounds and caps over the line: the same as from a curator at hand, charged and stored."""

from __future__ import annotations

import inspect
import math
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.curator.receipt_check import verify_receipt
from discreet.learn.estimator import Estimator
from discreet.wire.models import KINDS, MODEL, model_to_json
from discreet.wire.verbs.declaration import BOUNDS
from discreet.wire.verbs.synthesis import read_synthesis
from discreet.wire.verbs.training import read_learn
from service.deployment import SCHEMA, build, free_port, serving, start
from service.described import check_reply
from service.test_scheduler import DEADLY

SPEND = dp.ApproxDP(1, "1e-6")
ROWS = "SELECT age, region, income FROM people"
VISITS = """[tables.visits]
unit = { kind = "people", id = "who", max_rows = 8 }
[tables.visits.columns]
minutes = { type = "integer", low = 0, high = 1000 }
"""


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    made = build(
        tmp_path_factory.mktemp("making"), port=free_port(), service='grid = "0.1"',
        budget='{ epsilon = "300", delta = "1e-3" }', limits="cells = 5000",
    )  # fmt: skip
    (made.folder / "people.toml").write_text(SCHEMA + VISITS)
    lines = [f"{k % 100},{k % 60}" for k in range(300)]
    (made.folder / "visits.csv").write_text("\n".join(["who,minutes", *lines]) + "\n")
    text = made.config.read_text().replace(
        'wards = "wards.csv" }', 'wards = "wards.csv", visits = "visits.csv" }'
    )
    made.config.write_text(text)
    return made


@pytest.fixture(scope="module")
def server(deployment):
    with serving(deployment):
        yield deployment
    assert '"status":500' not in (deployment.folder / "audit.log").read_text()


@pytest.fixture(scope="module")
def ana(server):
    with dp.connect(server.url, token=server.tokens["ana"], dataset="people") as remote:
        yield remote


@pytest.fixture(scope="module")
def post(server):
    """Send one request as somebody; the reply is compared with its description."""

    def send(who, path, body):
        with server.client(who) as client:
            found = client.post(path, json=body)
        check_reply("POST", path, found)
        return found

    return send


@pytest.fixture(scope="module")
def at_hand(deployment):
    """A curator of the same data with a ledger of its own, to compare with."""
    folder = deployment.folder
    tables = {name: str(folder / f"{name}.csv") for name in ("people", "wards", "visits")}
    ledger = dp.open_ledger(":memory:", dp.ApproxDP(300, "1e-3"))
    return dp.Curator(dp.DuckDB(tables), dp.read_schemas(folder / "people.toml"), ledger, who="ana")


def gives(remote, ask):
    """Ask twice: the second time is free, and gives the same; return both and what the first cost."""
    before = remote.spent()
    first = ask()
    between = remote.spent()
    second = ask()
    assert between == remote.spent() != before
    return first, second


class TestAModel:
    def test_is_learned_there_and_used_here(self, ana, at_hand, deployment):
        model = learn.LinearRegression(target="income", features=["age", "region"])
        first, second = gives(
            ana, lambda: ana.learn(ROWS, model, dp.ApproxDP(20, "1e-6"), why="incomes")
        )
        assert not hasattr(model, "fitted_") and first.coef_.tolist() == second.coef_.tolist()
        assert first.receipt_.who == "ana" and first.receipt_.why == "incomes"
        with dp.open_ledger(deployment.folder / "people.ledger") as ledger:
            assert verify_receipt(first.receipt_, ledger=ledger).number == first.receipt_.number
        beside = at_hand.learn(ROWS, model, dp.ApproxDP(20, "1e-6"))
        assert first.event_ == beside.event_ and first.columns_ == beside.columns_
        assert np.isfinite(first.predict([[30, "N"], [60, "W"]])).all()

    @pytest.mark.parametrize("model", [
        learn.LogisticRegression(target="region", steps=5), learn.KMeans(n_clusters=2, rounds=2, features=["age"]),
        learn.GaussianNB(spend=SPEND, target="region"), learn.PCA(n_components=2),
        learn.AdditiveRegressor(target="income", bins=3, edges={"age": [20, 40.5]}),
        learn.QuantileRegression(target="income", at=0.9, steps=3),
    ], ids=lambda model: type(model).__name__)  # fmt: skip
    def test_of_any_kind_comes_back_with_what_was_learned(self, ana, model):
        found = ana.learn(ROWS, model, None if model.spend else SPEND)
        assert type(found) is type(model) and found.fitted_ and found.summary()
        assert found.get_params() == model.get_params()

    def test_is_explained_for_free(self, ana, at_hand, post):
        model = learn.LinearRegression(target="income")
        before = ana.left()
        said = ana.explain_model(ROWS, model, SPEND, n=400)
        assert (
            str(said) == str(at_hand.explain_model(ROWS, model, SPEND, n=400))
            and ana.left() == before
        )
        body = {
            "sql": ROWS,
            "model": model_to_json(model),
            "spend": {"epsilon": "1", "delta": "1e-6"},
            "n": 400,
        }
        found = post("ana", "/datasets/people/explain_model", body)
        assert found.status_code == 200 and found.json()["text"] == str(said)

    @pytest.mark.parametrize(("words", "why"), [
        ({"kind": "LinearRegression", "target": "nothing"}, "none of the columns"),
        ({"kind": "LogisticRegression", "target": "region", "steps": 10**9}, "from 1 to 1000"),
        ({"kind": "LogisticRegression", "target": "region", "clip": 0}, "between 0.001 and 100"),
        ({"kind": "LogisticRegression", "target": "region", "rate": "1e400"}, "between|too"),
        ({"kind": "QuantileRegression", "target": "income", "at": 1}, "between"),
        ({"kind": "AdditiveClassifier", "target": "region", "bins": 1000}, "noisy numbers; at most 5000"),
        ({"kind": "AdditiveRegressor", "target": "income", "edges": {"age": []}}, "list of numbers"),
        ({"kind": "KMeans", "target": "region"}, "is not known here"),
        ({"kind": "os.system"}, "its kind is one of"), ({"kind": ["PCA"]}, "its kind is one of"), ("PCA", "its kind"),
        ({"kind": "PCA", "schema": {}}, "not known here"), ({"kind": "PCA", "spend": {"rho": "1"}}, "not known here"),
    ])  # fmt: skip
    def test_that_cannot_be_trained_is_refused_before_the_charge(self, ana, post, words, why):
        before = ana.spent()
        body = {"sql": ROWS, "model": words, "spend": {"epsilon": "1", "delta": "1e-6"}}
        found = post("ana", "/datasets/people/learn", body)
        assert found.status_code == 422 and any(word in found.text for word in why.split("|")), (
            found.text
        )
        assert ana.spent() == before

    def test_of_pure_epsilon_is_refused(self, ana):
        with pytest.raises(dp.InvalidArgument, match="keeps no pure ε"):
            ana.learn(ROWS, learn.PCA(), dp.PureDP(1))

    def test_of_ones_own_is_not_sent(self, ana):
        class Mine(learn.PCA):
            pass

        with pytest.raises(dp.InvalidArgument, match="a service trains LinearRegression"):
            ana.learn(ROWS, Mine(), SPEND)
        with pytest.raises(dp.InvalidArgument, match="a model of discreet.learn"):
            ana.learn(ROWS, "PCA", SPEND)


class TestASyntheticTable:
    def test_is_released_there_and_sampled_here(self, ana, at_hand):
        words = {"columns": ["age", "region"], "bins": {"age": 4}, "size": 400}
        first, second = gives(
            ana, lambda: ana.synthesize("people", dp.ApproxDP(30, "1e-6"), **words)
        )
        beside = at_hand.synthesize("people", dp.ApproxDP(30, "1e-6"), **words)
        assert first.explain() == second.explain() == beside.explain()
        assert all(
            (a == b).all() for a, b in zip(first.measured.noisy, second.measured.noisy, strict=True)
        )
        assert len(first.records(7)["age"]) == 7 and abs(first.rows - 400) < 60
        assert abs(sum(first.table("region").to_dict()["n"]) - 400) < 60
        assert first.receipt.who == "ana"

    def test_of_a_select_and_some_sets(self, ana):
        found = ana.synthesize(
            "SELECT age, region FROM people WHERE income > 5", SPEND, workload=[("age", "region")]
        )
        assert found.columns == ("age", "region")

    def test_is_planned_for_free(self, ana, at_hand, post):
        words = {"columns": ["region"], "workload": "ones"}
        said = ana.plan_synthesis("people", SPEND, **words)
        assert str(said) == str(at_hand.plan_synthesis("people", SPEND, **words))
        body = {"table": "people", "spend": {"epsilon": "1", "delta": "1e-6"}, **words}
        found = post("ana", "/datasets/people/plan_synthesis", body).json()
        assert (found["text"], found["tables"], found["hopeless"]) == (str(said), 2, said.hopeless)

    @pytest.mark.parametrize(("words", "why"), [
        ({"table": "nothing"}, "there is no table"), ({"table": "wards"}, "is public"),
        ({"table": "visits"}, "a person may have 8 rows"), ({"columns": ["none"]}, "named once each"),
        ({"workload": "all"}, "must be one of pairs, ones"), ({"workload": [["age", "age"]]}, "one or two of the columns"),
        ({"workload": [["age", "region", "income"]]}, "at most 2"), ({"bins": {"age": 10**6}}, "from 1 to 1000"),
        ({"bins": {"income": 1000}, "columns": ["income", "age"]}, "at most 5000"),
        ({"spend": {"epsilon": "1"}}, "keeps no pure"), ({"size": 0}, "from 1 to"),
    ])  # fmt: skip
    def test_that_cannot_be_made_is_refused_before_the_charge(self, ana, post, words, why):
        before = ana.spent()
        body = {"table": "people", "spend": {"epsilon": "100", "delta": "1e-6"}, **words}
        found = post("ana", "/datasets/people/synthesize", body)
        assert found.status_code == 422 and why in found.text, found.text
        assert ana.spent() == before


class TestManyTablesAtOnce:
    def test_go_over_the_line_whole(self, ana):
        people = ana.table("people")
        found = ana.ask(people.marginals(["age", "region"], up_to=2), spend=dp.ApproxDP(20, "1e-6"))
        assert len(found.table("region").rows) == 4 and found.plan.bound
        cube = "SELECT region, age, COUNT(*) AS n FROM people GROUP BY CUBE (region, age)"
        both = ana.release({"sets": cube, "all": "SELECT COUNT(*) AS n FROM people"}, spend=SPEND)
        assert len(both["sets"].table("region").rows) == 4 and len(both["all"].rows) == 1
        ages = ana.ask(people.cumulative("age"), spend=dp.PureDP(5))
        assert ages.between(18, 64) is not None and 0 <= ages.quantile(0.5) <= 120


class TestBoundsAndCaps:
    def test_are_suggested_as_at_hand(self, ana, at_hand):
        first, second = gives(
            ana, lambda: ana.suggest_bounds("people", "income", dp.PureDP(5), tail="1/20")
        )
        beside = at_hand.suggest_bounds("people", "income", dp.PureDP(5), tail="1/20")
        assert first == second and first.events == beside.events
        assert 0 <= first.low <= first.high <= 100_000
        first, second = gives(ana, lambda: ana.suggest_caps("visits", dp.PureDP(5)))
        assert first == second and math.log2(first.max_rows) % 1 == 0

    def test_what_a_cap_cuts_is_estimated_as_at_hand(self, ana, at_hand, deployment):
        first, second = gives(
            ana, lambda: ana.estimate_truncation("visits", dp.PureDP(5), up_to=20, of="minutes")
        )
        beside = at_hand.estimate_truncation("visits", dp.PureDP(5), up_to=20, of="minutes")
        with pytest.warns(DeprecationWarning, match="estimate_cut is now"):
            former = ana.estimate_cut("visits", dp.PureDP(5), up_to=20, of="minutes")
        assert former.rows == first.rows
        assert first.rows == second.rows and first.columns == beside.columns == (
            "rows", "cut", "share", "total", "cut_total", "share_total",
        )  # fmt: skip
        low, high = first.interval(1 - 1e-10)[0]["rows"]  # false alarm: 1e-10
        assert low <= 300 <= high
        assert [one.text for one in first.receipt.asked] == [
            one.text for one in beside.receipt.asked
        ]
        assert first.plan.events == beside.plan.events
        with dp.open_ledger(deployment.folder / "people.ledger") as ledger:
            assert verify_receipt(first.receipt, ledger=ledger).number == first.receipt.number

    @pytest.mark.parametrize(("path", "body", "why"), [
        ("suggest_bounds", {"table": "people", "column": "region"}, "holds none"),
        ("suggest_bounds", {"table": "people", "column": "none"}, "none"),
        ("suggest_bounds", {"table": "wards", "column": "ward"}, "public"),
        ("suggest_bounds", {"table": "people", "column": "age", "tail": "1/2"}, "between 0 and 1/2"),
        ("estimate_truncation", {"table": "people", "up_to": 9}, "is a row"), ("estimate_truncation", {"table": "visits"}, "up_to"),
        ("estimate_truncation", {"table": "visits", "up_to": 8}, "above max_rows"),
        ("estimate_cut", {"table": "visits", "up_to": 8}, "above max_rows"),
        ("suggest_caps", {"table": "people"}, "is a row"), ("suggest_caps", {"table": "x"}, "there is no table"),
    ])  # fmt: skip
    def test_of_what_has_none_are_refused(self, post, path, body, why):
        found = post("ana", f"/datasets/people/{path}", {**body, "spend": {"epsilon": "1"}})
        assert found.status_code == 422 and why in found.text, found.text


class TestBetweenPeople:
    def test_what_a_colleague_made_looks_like_new(self, server, ana):
        words, model = {"columns": ["region"], "why": "mine"}, learn.PCA(features=["age", "income"])
        asked = [
            lambda who: who.synthesize("people", SPEND, **words).receipt,
            lambda who: who.learn(ROWS, model, SPEND).receipt_,
        ]
        with dp.connect(server.url, token=server.tokens["bob"], dataset="people") as bob:
            for ask in asked:
                theirs, before = ask(ana), (bob.spent(), bob.history())
                mine = ask(bob)
                assert (mine.who, mine.event, mine.price) == ("bob", theirs.event, theirs.price)
                assert bob.spent() != before[0] and len(bob.history()) == len(before[1]) + 1
                newest = bob.history()[-1]
                assert (newest.kind, newest.number) == ("charge", mine.number)

    def test_nobody_may_ask_about_a_data_set_of_others(self, server, post):
        for verb, body in [
            ("learn", {"sql": ROWS, "model": {"kind": "PCA"}, "spend": {"rho": "1"}}),
            ("synthesize", {"table": "people", "spend": {"rho": "1"}}),
            ("suggest_bounds", {"table": "people", "column": "age", "spend": {"rho": "1"}}),
            ("suggest_caps", {"table": "visits", "spend": {"rho": "1"}}),
        ]:
            assert post("ana", f"/datasets/other/{verb}", body).status_code == 403
            with httpx.Client(base_url=server.url, trust_env=False) as stranger:
                assert (
                    stranger.post(f"/api/v1/datasets/people/{verb}", json=body).status_code == 401
                )

    def test_the_steward_sees_what_was_made(self, server, ana):
        ana.learn(ROWS, learn.PCA(features=["age"]), SPEND)
        ana.synthesize("people", SPEND, columns=["region"], workload="ones")
        ana.suggest_bounds("people", "age", dp.PureDP(1))
        ana.suggest_caps("visits", dp.PureDP(1))
        with server.client("stella") as steward:
            asked = steward.get("/datasets/people/history").json()["asked"].values()
        for words in (
            "learned from: SELECT",
            "synthetic region of",
            "bounds of age",
            "caps on the rows",
        ):
            assert any(words in text for text in asked), words


class TestWords:
    def test_every_model_of_the_library_has_its_words(self):
        models = {
            one
            for name in learn.__all__
            if isinstance(one := getattr(learn, name), type) and issubclass(one, Estimator)
        }
        assert set(KINDS) == models
        for kind, slots in KINDS.items():
            named = set(inspect.signature(kind.__init__).parameters) - {"self", "schema", "spend"}
            assert {slot.name for slot in slots} == named
            read = MODEL.read(model_to_json(kind()), "model")
            assert type(read) is kind and read.get_params() == kind().get_params()

    def test_floats_read_back_alike(self):
        for lift in (0.1, 1 / 3, 5e-324, 99.99999999999999):
            words = model_to_json(learn.LinearRegression(lift=np.float64(lift)))
            assert MODEL.read(words, "model").lift == lift

    def test_a_body_reads_back_as_it_was(self):
        budget = {"epsilon": "1", "delta": "1e-6"}
        for read, body in [
            (read_learn, {"sql": ROWS, "model": {"kind": "PCA"}, "spend": budget}),
            (
                read_synthesis,
                {"table": "t", "spend": budget, "workload": [["a"], ["a", "b"]], "bins": {"a": 3}},
            ),
            (BOUNDS.read, {"table": "t", "column": "c", "spend": budget, "tail": "0.01"}),
        ]:
            assert read(read(body).to_json()).to_json() == read(body).to_json()


class TestFaults:
    def test_a_worker_that_dies_after_the_charge_leaves_one_model_that_is_charged_once(
        self, tmp_path
    ):
        """The client goes on asking under its key; whoever takes over trains under the same charge."""
        budget = '{ epsilon = "3", delta = "1e-5" }'
        deployment = build(
            tmp_path, port=free_port(), service='grid = "0.1"\nlease = "1"', budget=budget
        )
        dying = start(deployment, script=DEADLY, environment={"DIE_AT": "charge:after"})
        model, told = learn.LinearRegression(target="income"), []
        with dp.connect(deployment.url, token=deployment.tokens["ana"], dataset="people") as remote:
            asking = threading.Thread(target=lambda: told.append(remote.learn(ROWS, model, SPEND)))
            asking.start()
            dying.process.wait(60)
            with serving(deployment):
                asking.join()
        with dp.open_ledger(deployment.folder / "people.ledger") as ledger:
            assert [entry.kind for entry in ledger.history()] == ["open", "charge", "answer"]
            assert (
                verify_receipt(told[0].receipt_, ledger=ledger).who == "ana"
                and ledger.verify().exact
            )

    def test_however_many_ask_for_one_table_it_is_charged_once(self, server, ana):
        before = ana.spent()
        one = ana.plan_synthesis("people", SPEND, columns=["age"], bins={"age": 7})
        with ThreadPoolExecutor(6) as pool:
            asked = [
                pool.submit(ana.synthesize, "people", SPEND, columns=["age"], bins={"age": 7})
                for _ in range(6)
            ]
            found = [each.result() for each in asked]
        assert len({str([block.tolist() for block in each.measured.noisy]) for each in found}) == 1
        assert (
            len({each.receipt.number for each in found}) == 1 and ana.spent() != before and one.sets
        )
