"""The curator: charged before it is run, stored once, the same for the same question, and nothing else is shown."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

import discreet as dp
from curator.cases import COUNT, MEAN, PEOPLE, ROWS, VISITS, WARDS, curator, opened
from discreet.curator.answer_key import event_of, key_of, questions_of
from discreet.ledger import failpoints as steps
from discreet.plan.asked.terms import Terms
from discreet.query import count


class Watched:
    """A store that notes what was spent whenever it is asked, and may fail or wait."""

    def __init__(self, rows=ROWS, problem=None):
        self.store, self.problem = dp.Memory(rows), problem
        self.ledger, self.seen = None, []
        self.explain, self.check, self.public_values = (
            self.store.explain,
            self.store.check,
            self.store.public_values,
        )

    def tally(self, tally):
        self.seen.append(self.ledger.spent() if self.ledger else None)
        if self.problem is not None:
            raise self.problem
        return self.store.tally(tally)


def watched(ledger=None, **more):
    store = Watched(**more)
    store.ledger = opened() if ledger is None else ledger
    return store, dp.Curator(store, [PEOPLE, VISITS, WARDS], store.ledger)


MESSAGE = "the store could not answer; what it said is not shown, since it may tell about the data"


class TestAnAnswer:
    def test_is_near_the_truth_with_a_caption_and_a_receipt(self):
        answer = curator(who="ana").sql(MEAN, spend=dp.PureDP(9), why="report")
        assert answer.column("region") == ["N", "S", "E"]
        assert abs(answer.column("n")[0] - 200) < 40 and abs(answer.column("n")[2]) < 40
        assert answer.caption == "cost ε = 9; ± is noise only, at 95 %"
        assert answer.caption in str(answer)
        assert answer.details().startswith("cost ε = 9 of ε = 10, entry 2 of the ledger\n")
        assert answer.caption in answer._repr_html_()
        assert (answer.receipt.who, answer.receipt.why, answer.receipt.number) == (
            "ana",
            "report",
            2,
        )

    def test_is_charged_before_a_row_is_read(self):
        store, asked = watched()
        asked.sql(COUNT, spend=dp.PureDP(1))
        assert store.seen and all(spent == dp.PureDP(1) for spent in store.seen)

    def test_of_the_same_question_is_the_same_and_free(self):
        store, asked = watched()
        first = asked.sql(COUNT, spend=dp.PureDP(1))
        calls = len(store.seen)
        again = asked.ask(
            asked.table("people").aggregate(by="region", n=count()), spend=dp.PureDP(1)
        )
        assert again == first and again.receipt == first.receipt and again.receipt.who == "analyst"
        assert len(store.seen) == calls and asked.spent() == dp.PureDP(1)

    def test_of_a_new_version_or_other_noise_is_new(self):
        ledger = opened()
        curator(ledger).sql(COUNT, spend=dp.PureDP(1))
        curator(ledger).sql(COUNT, spend=dp.PureDP(2))
        newer = dp.Schema("people", PEOPLE.unit, PEOPLE.columns, version="2")
        curator(ledger, schemas=[newer]).sql(COUNT, spend=dp.PureDP(1))
        curator(ledger).sql(COUNT, spend=dp.PureDP(1), nonnegative=True)
        assert ledger.spent() == dp.PureDP(5)

    def test_survives_the_end_of_the_process(self, tmp_path):
        with opened(where=tmp_path / "a.ledger") as ledger:
            first = curator(ledger).sql(MEAN, spend=dp.PureDP(1))
        with dp.open_ledger(tmp_path / "a.ledger") as ledger:
            again = curator(ledger).sql(MEAN, spend=dp.PureDP(1))
            assert again == first and ledger.spent() == dp.PureDP(1)
            old = "answered before, data version 1, nothing spent; it "
            assert again.details() == old + first.details()
            assert str(again) == str(first).replace("cost", "answered before for")
            assert again.receipt.to_json() == first.receipt.to_json()

    def test_by_error_spends_just_enough(self):
        asked = curator()
        answer = asked.sql(COUNT, error={"n": 20})
        assert dp.PureDP("1/20") <= asked.spent() <= dp.PureDP("1/4")
        assert all(row["n"][1] - row["n"][0] <= 40 for row in answer.interval())
        assert asked.sql(COUNT, error={"n": 20}) == answer and asked.sql(COUNT, error=20) == answer

    def test_of_unknown_keys_needs_a_delta(self):
        asked = curator(opened(dp.ApproxDP(2, 1e-5), kind="approximate"))
        answer = asked.sql(
            "SELECT town, COUNT(*) AS n FROM people GROUP BY town", spend=dp.ApproxDP(1, 1e-6)
        )
        assert answer.column("town") == ["Rome"] and asked.left() == dp.ApproxDP(1, "9e-6")

    def test_with_keys_from_a_public_table(self):
        sql = "SELECT w.city, COUNT(*) AS n FROM people p JOIN wards w ON p.ward = w.ward GROUP BY w.city"
        answer = curator().sql(sql, spend=dp.PureDP(5))
        assert answer.column("city") == ["Oslo", "Rome"] and all(
            abs(n - 200) < 40 for n in answer.column("n")
        )

    def test_of_people_counts_their_shares(self):
        answer = curator().sql(
            "SELECT COUNT(DISTINCT id) AS n, MEDIAN(minutes) AS m FROM visits", spend=dp.PureDP(8)
        )
        assert abs(answer.column("n")[0] - 100) < 40

    def test_keeps_its_ledger_whole(self, tmp_path):
        with opened(where=tmp_path / "a.ledger") as ledger:
            asked = curator(ledger)
            for n in range(5):
                asked.sql(
                    f"SELECT COUNT(*) AS n FROM people WHERE age > {n}", spend=dp.PureDP("1/10")
                )
            ledger.verify()
            # An analyst sees charges; answers are in the ledger alone.
            assert len(asked.history()) == 5 and len(asked.history(last=1)) == 1
            assert len(ledger.history()) == 11


class TestWhatIsNotGranted:
    @pytest.mark.parametrize("spend", [dp.PureDP("10.1"), dp.PureDP(10**6)])
    def test_touches_nothing(self, spend):
        store, asked = watched()
        with pytest.raises(dp.BudgetExceeded) as refused:
            asked.sql(COUNT, spend=spend)
        assert (
            refused.value.left == dp.PureDP(10)
            and not store.seen
            and len(asked.ledger.history()) == 1
        )
        asked.sql(COUNT, spend=dp.PureDP(10))

    def test_a_stranger_gets_nothing_not_even_what_is_stored(self):
        asked = curator(opened(allowances={"ana": dp.PureDP(1), "bob": dp.PureDP(1)}), who="ana")
        answer = asked.sql(COUNT, spend=dp.PureDP(1))
        assert asked.named("bob").sql(COUNT, spend=dp.PureDP(1)).rows == answer.rows
        with pytest.raises(dp.NotAllowed):
            asked.named("eve").sql(COUNT, spend=dp.PureDP(1))
        with pytest.raises(dp.NotAllowed):
            asked.named("eve").explain(COUNT, spend=dp.PureDP(1))

    def test_an_allowance_is_a_limit(self):
        asked = curator(opened(allowances={"ana": dp.PureDP(1)}), who="ana")
        with pytest.raises(dp.BudgetExceeded, match="allowance of ana"):
            asked.sql(COUNT, spend=dp.PureDP(2))
        assert asked.left() == dp.PureDP(1)

    def test_a_plan_that_releases_nothing_is_refused(self):
        plan = curator().plan(COUNT, spend=dp.PureDP(1))
        with pytest.raises(dp.InvalidArgument, match="nothing to release"):
            event_of({"": replace(plan, releases=(), uses=())})

    @pytest.mark.statistical
    def test_a_huge_budget_still_draws_noise(self):
        """ε = 1/2 in a ledger of 1e9: over 40 counts all noise is 0 with a chance below 0.25^40 < 1e-23."""
        asked = curator(opened(dp.PureDP(10**9)))
        sums = (
            asked.sql(
                f"SELECT COUNT(*) AS n FROM people WHERE age < 200 - {n}", spend=dp.PureDP("1/2")
            ).column("n")[0]
            for n in range(40)
        )
        assert any(found != 400 for found in sums)


class TestAFailureAfterTheCharge:
    PROBLEMS = [
        RuntimeError("row 17 is Ana's"),
        dp.EngineFailure("cancelled"),
        MemoryError(),
        dp.SchemaMismatch("x"),
    ]

    @pytest.mark.parametrize("problem", PROBLEMS, ids=lambda p: type(p).__name__)
    def test_is_one_constant_message_and_the_charge_stays(self, problem):
        store, asked = watched(problem=problem)
        with pytest.raises(dp.EngineFailure) as failed:
            asked.sql(COUNT, spend=dp.PureDP(1))
        assert (
            str(failed.value) == MESSAGE
            and failed.value.__cause__ is failed.value.__context__ is None
        )
        assert asked.spent() == dp.PureDP(1) and asked.history()[-1].kind == "fail"
        store.problem = None
        asked.sql(COUNT, spend=dp.PureDP(1))
        assert asked.spent() == dp.PureDP(2)

    def test_of_the_bits_is_no_exception(self, monkeypatch):
        monkeypatch.setattr("ssl.RAND_bytes", lambda count: b"")
        with pytest.raises(dp.EngineFailure, match="the store could not answer"):
            curator().sql(
                "SELECT COUNT(*) AS n FROM people WHERE ward = 3", spend=dp.PureDP("1/77777")
            )

    def test_of_the_ledger_too_says_the_same(self, monkeypatch):
        _, asked = watched(problem=RuntimeError())
        monkeypatch.setattr(steps, "passed", refusing("fail:before"))
        with pytest.raises(dp.EngineFailure) as failed:
            asked.sql(COUNT, spend=dp.PureDP(1))
        assert str(failed.value) == MESSAGE and asked.spent() == dp.PureDP(1)

    def test_a_parquet_file_was_read_when_it_was_opened(self, tmp_path):
        import pyarrow as pa
        from pyarrow import parquet

        table, file = pa.Table.from_pylist(ROWS["people"][:5]), tmp_path / "people.parquet"
        parquet.write_table(table, file)
        ledger = opened()
        asked = dp.Curator(dp.DuckDB({"people": file}), [PEOPLE], ledger)
        file.unlink()
        assert len(asked.sql(COUNT, spend=dp.PureDP(1))) == 3 and ledger.spent() == dp.PureDP(1)

    def test_a_csv_file_was_read_when_it_was_opened(self, tmp_path):
        (tmp_path / "people.csv").write_text("age,income,region,ward,town\n30,500,N,1,Rome\n")
        asked = dp.Curator(dp.DuckDB({"people": tmp_path / "people.csv"}), [PEOPLE], opened())
        (tmp_path / "people.csv").unlink()
        assert len(asked.sql(COUNT, spend=dp.PureDP(1))) == 3

    def test_of_a_closed_store(self):
        import pyarrow as pa

        store = dp.DuckDB({"people": pa.Table.from_pylist(ROWS["people"])})
        asked = dp.Curator(store, [PEOPLE], opened())
        store.close()
        with pytest.raises(dp.EngineFailure) as failed:
            asked.sql(COUNT, spend=dp.PureDP(1))
        assert str(failed.value) == MESSAGE and asked.spent() == dp.PureDP(1)


def refusing(step):
    """Make the ledger's steps fail at one of them, as a full disk would."""

    def passed(reached):
        if reached == step:
            raise dp.LedgerUnavailable("the disk is full")

    return passed


class TestAnInterruptedRun:
    def test_is_run_again_under_the_same_charge(self):
        store, asked = watched(problem=KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            asked.sql(COUNT, spend=dp.PureDP(1))
        store.problem = None
        answer = asked.sql(COUNT, spend=dp.PureDP(1))
        assert answer.receipt.number == 2 and asked.spent() == dp.PureDP(1)

    @pytest.mark.parametrize("step", ["finish:before", "finish:written"])
    def test_shows_nothing_that_was_not_stored(self, step, monkeypatch):
        asked = curator()
        with monkeypatch.context() as patched:
            patched.setattr(steps, "passed", refusing(step))
            with pytest.raises(dp.LedgerUnavailable):
                asked.sql(COUNT, spend=dp.PureDP(1))
        answer = asked.sql(COUNT, spend=dp.PureDP(1))
        assert asked.spent() == dp.PureDP(1) and answer.receipt.number == 2

    def test_is_run_by_whoever_asks_under_the_charge_of_the_first(self):
        store, asked = watched(problem=KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            asked.sql(COUNT, spend=dp.PureDP(1))
        store.problem = None
        answer = asked.named("bob").sql(COUNT, spend=dp.PureDP(1))
        assert asked.ledger.spent() == asked.spent() == dp.PureDP(1) == asked.named("bob").spent()
        assert (
            asked.sql(COUNT, spend=dp.PureDP(1)).rows == answer.rows and answer.receipt.who == "bob"
        )

    def test_two_runs_of_one_charge_show_the_first_answer(self):
        """The slow one is overtaken by another process's run of the same charge, and gives that one's answer."""
        slow = Watched()
        asked = dp.Curator(slow, [PEOPLE], opened())
        slow.ledger = asked.ledger
        other = dp.Curator(dp.Memory(ROWS), [PEOPLE], asked.ledger)
        tally, found = slow.tally, []

        def overtaken(one):
            if not found:
                found.append(other.sql(COUNT, spend=dp.PureDP(1)))
            return tally(one)

        slow.tally = overtaken
        assert asked.sql(COUNT, spend=dp.PureDP(1)) == found[0] and asked.spent() == dp.PureDP(1)

    def test_fails_where_another_process_has_told_of_its_failure(self):
        """One charge pays for one end: a failure is told to all who ran it, or to nobody."""
        slow = Watched()
        asked = dp.Curator(slow, [PEOPLE], opened())
        tally, ledger = slow.tally, asked.ledger

        def given_up(one):
            ledger.fail(ledger.history()[-1])
            return tally(one)

        slow.tally = given_up
        with pytest.raises(dp.EngineFailure, match="could not answer"):
            asked.sql(COUNT, spend=dp.PureDP(1))
        assert ledger.spent() == dp.PureDP(1) and [e.kind for e in ledger.history()][1:] == [
            "charge",
            "fail",
        ]
        ledger.verify()

    @pytest.mark.parametrize("problem", [RuntimeError, dp.Cancelled])
    def test_gives_the_answer_that_another_process_has_stored_though_it_failed_here(self, problem):
        slow = Watched()
        asked = dp.Curator(slow, [PEOPLE], opened())
        other = dp.Curator(dp.Memory(ROWS), [PEOPLE], asked.ledger, who="bob")
        found = []

        def overtaken(_):
            found.append(other.sql(COUNT, spend=dp.PureDP(1)))
            raise problem

        slow.tally = overtaken
        assert asked.sql(COUNT, spend=dp.PureDP(1)).rows == found[
            0
        ].rows and asked.spent() == dp.PureDP(1)

    def test_goes_on_where_one_who_was_not_charged_stops_asking(self):
        slow = Watched()
        asked = dp.Curator(slow, [PEOPLE], opened())
        tally, stopped = slow.tally, Watched()

        def stop(_):
            raise dp.Cancelled

        stopped.tally = stop
        impatient = dp.Curator(stopped, [PEOPLE], asked.ledger, who="bob")

        def beside(one):
            with pytest.raises(dp.EngineFailure):
                impatient.sql(COUNT, spend=dp.PureDP(1))
            return tally(one)

        slow.tally = beside
        asked.sql(COUNT, spend=dp.PureDP(1))
        assert [e.kind for e in asked.ledger.history()][1:] == ["charge", "again", "fail", "answer"]


class TestAStoredAnswerOfAnotherForm:
    @pytest.mark.parametrize("body", ["", "[]", "{}", '{"body":2,"price":{},"answers":{}}'])
    def test_is_not_shown(self, body):
        asked = curator()
        plans = {"": asked.plan(COUNT, spend=dp.PureDP(1))}
        key = key_of(questions_of(plans), Terms(spend=dp.PureDP(1))).text
        charge = asked.ledger.charge(event_of(plans), who="analyst", key=key)
        asked.ledger.finish(charge, body)
        with pytest.raises(dp.LedgerCorrupt, match="a form that this release does not know"):
            asked.sql(COUNT, spend=dp.PureDP(1))
        assert asked.spent() == dp.PureDP(1)


class TestManyThreads:
    def test_asking_the_same_get_one_answer_for_one_charge(self):
        asked, start = curator(), threading.Barrier(8)

        def ask(_):
            start.wait()
            return asked.sql(MEAN, spend=dp.PureDP(1))

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, range(8)))
        assert all(answer == answers[0] for answer in answers) and asked.spent() == dp.PureDP(1)

    def test_asking_different_things_never_overspend(self, tmp_path):
        with opened(dp.PureDP(1), tmp_path / "a.ledger") as ledger:
            asked, start = curator(ledger), threading.Barrier(8)

            def ask(n):
                start.wait()
                try:
                    return asked.sql(
                        f"SELECT COUNT(*) AS n FROM people WHERE age > {n}", spend=dp.PureDP("1/5")
                    )
                except dp.BudgetExceeded:
                    return None

            with ThreadPoolExecutor(8) as pool:
                answers = list(pool.map(ask, range(8)))
            assert sum(
                answer is not None for answer in answers
            ) == 5 and ledger.left() == dp.PureDP(0)
            ledger.verify()


class TestARelease:
    QUESTIONS = {"people": COUNT, "visits": "SELECT COUNT(*) AS n FROM visits"}

    def test_is_one_charge_for_all(self):
        asked = curator()
        answers = asked.release(self.QUESTIONS, spend=dp.PureDP(4))
        assert list(answers) == ["people", "visits"] and asked.spent() == dp.PureDP(4)
        assert [entry.kind for entry in asked.history()] == ["charge"]
        assert answers["people"].receipt == answers["visits"].receipt
        assert [one.name for one in answers["people"].receipt.asked] == ["people", "visits"]
        assert asked.release(
            self.QUESTIONS, spend=dp.PureDP(4)
        ) == answers and asked.spent() == dp.PureDP(4)

    def test_is_all_or_nothing(self):
        asked = curator()
        with pytest.raises(dp.BudgetExceeded):
            asked.release(self.QUESTIONS, spend=dp.PureDP(11))
        with pytest.raises(dp.UnsupportedQuery):
            asked.release({**self.QUESTIONS, "bad": "SELECT * FROM people"}, spend=dp.PureDP(1))
        assert asked.spent() == dp.PureDP(0)

    @pytest.mark.parametrize(
        "questions", [{}, {"": COUNT}, {3: COUNT}, [COUNT], COUNT], ids=range(5)
    )
    def test_needs_questions_by_name(self, questions):
        with pytest.raises(dp.InvalidArgument):
            curator().release(questions, spend=dp.PureDP(1))


class TestParts:
    PARTS = dp.Parts("people", "region", ["N", "S", "E"])

    def test_are_charged_as_the_greatest(self):
        asked = curator(opened(dp.PureDP(1), neighbours="add-remove", parts=self.PARTS))
        for region in "NSE":
            answer = asked.sql(
                f"SELECT COUNT(*) AS n FROM people WHERE region = '{region}'",
                spend=dp.PureDP("3/4"),
            )
            assert answer.receipt.part == region
        assert asked.left() == dp.PureDP("1/4")
        with pytest.raises(dp.BudgetExceeded):
            asked.sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP("1/2"))
        with pytest.raises(dp.BudgetExceeded):
            asked.sql(
                "SELECT COUNT(*) AS n FROM people WHERE region = 'N' AND age > 3",
                spend=dp.PureDP("1/2"),
            )

    def test_under_replace_count_twice(self):
        people = dp.Schema("people", PEOPLE.unit, PEOPLE.columns, neighbours="replace")
        ledger = opened(dp.PureDP(2), neighbours="replace", parts=self.PARTS)
        asked = curator(ledger, schemas=[people])
        told = asked.explain(
            "SELECT COUNT(*) AS n FROM people WHERE region = 'N'", spend=dp.PureDP("1/2")
        )
        assert (told.part, told.price, told.charged) == ("N", dp.PureDP("1/2"), dp.PureDP(1))
        assert "costs ε = 0.5 [ε = 1] of ε = 2 left in part N; ε = 1 would be left" in str(told)
        asked.sql("SELECT COUNT(*) AS n FROM people WHERE region = 'N'", spend=dp.PureDP("1/2"))
        assert asked.left() == dp.PureDP(1)


class TestSuggestedBounds:
    def test_are_charged_once(self):
        asked = curator()
        bounds = asked.suggest_bounds("people", "income", dp.PureDP(4))
        assert (
            0 <= bounds.low <= 300 and 512 <= bounds.high <= 1000 and asked.spent() == dp.PureDP(4)
        )
        assert asked.suggest_bounds(
            "PEOPLE", "Income", spend=dp.PureDP(4)
        ) == bounds and asked.left() == dp.PureDP(6)

    @pytest.mark.parametrize(
        "asked",
        [("people", "region"), ("wards", "ward"), ("nobody", "x"), ("people", "nothing"), (3, 4)],
    )
    def test_are_refused_where_there_are_none(self, asked):
        who = curator()
        with pytest.raises((dp.DiscreetError, TypeError)) as refused:
            who.suggest_bounds(*asked, dp.PureDP(1))
        assert isinstance(refused.value, dp.DiscreetError) and who.spent() == dp.PureDP(0)

    @pytest.mark.parametrize("tail", [0, 0.5, "x"])
    def test_need_a_tail(self, tail):
        with pytest.raises(dp.InvalidArgument):
            curator().suggest_bounds("people", "age", dp.PureDP(1), tail=tail)


class TestAnExplanation:
    def test_json_of_everything_that_is_shown(self):
        asked = curator()
        assert json.dumps(asked.explain(MEAN, spend=dp.PureDP(1)).to_dict(), allow_nan=False)
