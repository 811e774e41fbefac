"""One price: explanation, plan, caption, receipt, history, pages and replies say the same of a question."""

from __future__ import annotations

import math
import re
from itertools import product

import pytest

import discreet as dp
from discreet.cli.publish.release_page import _guarantee
from discreet.curator.verbs.learn import plan_training
from discreet.learn import LinearRegression
from discreet.privacy import LaplaceNoise
from discreet.privacy.measures import decimal_text
from discreet.privacy.shown_price import Price, price_charge, price_from_json, shown_price
from discreet.service.pages.answer_view import cost_of
from discreet.service.pages.steward import _lines
from discreet.wire.reply import answer_reply
from discreet.wire.verbs.question import explanation_reply

ROWS = [
    {"uid": i % 40, "region": "NS"[i % 2], "word": f"w{i % 3}", "x": i % 10} for i in range(200)
]
COLUMNS = {"region": dp.Category(["N", "S"]), "word": dp.Text(9), "x": dp.Integer(0, 9)}
VISITS = dp.Schema("visits", dp.People("uid", max_rows=5), COLUMNS)
LEDGERS = {
    "pure": (dp.PureDP(30), {}),
    "residue": (dp.ApproxDP(30, "1e-6"), {}),
    "approximate": (dp.ApproxDP(30, "1e-6"), {"kind": "approximate"}),
    "zcdp over (ε, δ)": (dp.ApproxDP(30, "1e-6"), {"kind": "zcdp"}),
    "zcdp": (dp.ZCDP(20), {}),
    "gaussian": (dp.GaussianDP(6), {}),
    "renyi": (dp.RenyiDP({2: 40, 8: 90}), {}),
}
SPENDS = (dp.PureDP(1), dp.ApproxDP(1, "1e-7"), dp.ZCDP("1/50"), dp.GaussianDP("1/5"), None)
UNKNOWN_KEYS = "SELECT word, COUNT(*) AS n FROM visits GROUP BY word"
QUESTIONS = (
    "SELECT SUM(x) AS n FROM visits",
    "SELECT region, COUNT(*) AS n, AVG(x) AS m FROM visits GROUP BY region",
    "SELECT MEDIAN(x) AS n FROM visits",
    "SELECT region, COUNT(*) AS n FROM visits GROUP BY ROLLUP (region)",
)
# Every ledger with every kind of spend, in which the questions take turns.
CASES = [
    (ledger, spend, QUESTIONS[(place + place // 5) % 4])
    for place, (ledger, spend) in enumerate(product(LEDGERS, SPENDS))
]


def curator(ledger, schema=VISITS):
    budget, terms = LEDGERS[ledger]
    store = dp.Memory({"visits": ROWS})
    return dp.Curator(store, [schema], dp.open_ledger(":memory:", budget, **terms))


def words_of(spend, sql):
    if spend is not None:
        return {"spend": spend}
    return {"error": {"n": 40, "m": 2} if "AVG" in sql else 40}


def check_sound(price, spend, budget, event):
    """At most the spend, at most `compose`, at least the lower bound of the event's curve."""
    asked = budget if spend is None else spend
    curve = dp.compose(event)

    def least(delta):
        # Lower bounds of noise on a fine lattice are exact to about a millionth.
        return curve.lower.epsilon(delta) * (1 - 5e-6)

    assert type(price) is type(asked)
    assert spend is None or price <= spend
    match price:
        case dp.PureDP(epsilon=epsilon):
            assert least(0) <= epsilon <= curve.epsilon(0)
        case dp.ApproxDP(epsilon=epsilon, delta=delta):
            assert delta == asked.delta
            assert least(delta) <= epsilon <= curve.epsilon(delta)
        case _:
            assert least(1e-6) <= price.epsilon(1e-6)
            assert not isinstance(price, dp.ZCDP) or price.rho <= curve.rho()
            assert not isinstance(price, dp.GaussianDP) or price.mu <= curve.mu()


def in_caption(caption, said):
    """Return the price in a caption, which may leave the ledger's unit to the details for its length."""
    price = caption.split("; ")[0]
    if price == f"{said.split(' [')[0]} …":
        return said
    return price


class TestOnePrice:
    """All surfaces say one price: at most what was asked, at most `compose`, never below the truth."""

    @pytest.mark.grid
    @pytest.mark.parametrize(("ledger", "spend", "sql"), CASES)
    def test_of_a_question(self, ledger, spend, sql):
        asked = curator(ledger)
        try:
            told = asked.explain(sql, **words_of(spend, sql))
        except dp.InvalidArgument as refusal:
            # A measure that this ledger has no price for: refused, never charged without one.
            assert ledger in ("pure", "approximate") and "no finite price" in str(refusal)
            return
        self.check(asked, sql, spend, told)

    def test_of_unknown_keys(self):
        """The δ of the keys is a part of the price, at the δ that was asked for."""
        spend = dp.ApproxDP(1, "1e-7")
        asked = curator("residue")
        told = asked.explain(UNKNOWN_KEYS, spend)
        self.check(asked, UNKNOWN_KEYS, spend, told)
        assert told.price.delta == spend.delta and told.price.epsilon < 1

    def check(self, asked, sql, spend, told):
        words = words_of(spend, sql)
        answer = asked.sql(sql, **words)
        receipt = answer.receipt
        check_sound(receipt.price, spend, asked.ledger.promise(), receipt.event)
        said = str(receipt.shown_price())
        assert (told.price, told.charged) == (receipt.price, receipt.charged)
        reply = explanation_reply(told)
        again = asked.sql(sql, **words)
        surfaces = {
            "explanation": str(told).split("costs ")[1].split(" of ")[0],
            "caption": in_caption(answer.caption.removeprefix("cost "), said),
            "details": answer.details().split("cost ")[1].split(" of ")[0],
            "stored answer": in_caption(again.caption.removeprefix("answered before for "), said),
            "its details": again.details().split("it cost ")[1].split(" of ")[0],
            "receipt": str(receipt).split("price ")[1].split(" of ")[0].strip(),
            "history": asked.history().prices[receipt.number],
            "HTTP": reply["text"].split("costs ")[1].split(" of ")[0],
            "page": cost_of(answer_reply(answer)),
            "steward": _lines(asked.ledger)[-2].price,
            "publication": re.search(
                "private: (.*) was spent", _guarantee({"": answer}, (VISITS,), dp.PureDP(1))
            )[1],
        }
        assert surfaces == dict.fromkeys(surfaces, said)
        # A plan knows no ledger: it says the price without the ledger's own unit.
        assert f"spends {said.split(' [', maxsplit=1)[0]};" in f"{told.plan};"
        assert dp.verify_receipt(receipt.to_json(), ledger=asked.ledger) == receipt

    @pytest.mark.parametrize("ledger", ["residue", "gaussian"])
    @pytest.mark.parametrize(
        "words",
        [{"spend": dp.ApproxDP(1, "1e-7")}, {"error": {"a": 40, "b": {"n": 40, "m": 2}}}],
        ids=("spend", "error"),
    )
    def test_of_a_release(self, ledger, words):
        asked = curator(ledger)
        questions = {"a": QUESTIONS[0], "b": QUESTIONS[1]}
        planned = str(asked.plan(questions, **words)).splitlines()[-1]
        answers = asked.release(questions, **words)
        receipt = answers["a"].receipt
        check_sound(receipt.price, words.get("spend"), asked.ledger.promise(), receipt.event)
        said = str(receipt.shown_price())
        assert planned.endswith(f"spend {said.split(' [', maxsplit=1)[0]}")
        captions = {one.caption.split("; ")[0] for one in answers.values()}
        assert captions == {f"cost {said}"}
        assert asked.history().prices == {receipt.number: said}

    @pytest.mark.parametrize("ledger", ["residue", "zcdp"])
    def test_of_a_model_and_of_a_synthetic_table(self, ledger):
        """Both name their spend; their texts say what it comes to."""
        spend = dp.ApproxDP(1, "1e-7")
        asked = curator(ledger, dp.Schema("visits", dp.Rows(), COLUMNS, size=200))
        sql, model = "SELECT region, x FROM visits", LinearRegression(target="x")
        explained = asked.explain_model(sql, model, spend, n=200)
        fitted = asked.learn(sql, model, spend)
        words = {"columns": ["region", "x"]}
        planned = asked.plan_synthesis("visits", spend, **words)
        made = asked.synthesize("visits", spend, **words)
        texts = [f"{explained}\n{fitted.summary()}", f"{planned}\n{made.explain()}"]
        for text, receipt in zip(texts, (fitted.receipt_, made.receipt), strict=True):
            check_sound(receipt.price, spend, asked.ledger.promise(), receipt.event)
            assert text.count(decimal_text(receipt.price)) == 2
            assert asked.history().prices[receipt.number] == str(receipt.shown_price())
        training = plan_training(asked.context.planner, sql, model, spend).training
        assert explained.price == training.shown_price() == fitted.receipt_.price

    def test_of_suggested_bounds(self):
        asked = curator("zcdp")
        asked.suggest_bounds("visits", "x", dp.PureDP(1))
        assert list(asked.history().prices.values()) == ["ε = 1 [ρ = 0.0622842]"]

    def test_of_a_refusal(self):
        """The price as it was explained, and where it looks as if it fitted, what it is counted as."""
        asked = dp.Curator(
            dp.Memory({"visits": ROWS}), [VISITS], dp.open_ledger(":memory:", dp.ZCDP("1/10"))
        )
        price = r"asked for ε = 1 \[ρ = 0\.36788\], ρ = 0\.1 is left"
        with pytest.raises(dp.BudgetExceeded, match=price) as refused:
            asked.sql(QUESTIONS[0], dp.PureDP(1))
        assert (refused.value.asked, refused.value.left) == (dp.PureDP(1), dp.ZCDP("1/10"))
        near = dp.Curator(
            dp.Memory({"visits": ROWS}),
            [VISITS],
            dp.open_ledger(":memory:", dp.ApproxDP(2, "1e-6")),
        )
        with pytest.raises(
            dp.BudgetExceeded, match=r"\(1\.9\d*, 1e-06\)\], counted as \(ε, δ\) = \(2"
        ):
            near.sql(QUESTIONS[1], dp.GaussianDP("0.445"))


def test_laplace_noise_has_its_closed_form():
    """δ(ε') = 1 − e^((ε'−ε)/2) of Laplace noise, solved for ε': never below it, and near it."""
    spend = dp.ApproxDP(1, "1e-7")
    exact = 1 + 2 * math.log1p(-1e-7)
    price = shown_price(LaplaceNoise(1, 1), spend, dp.PureDP(9))
    assert exact <= float(price.epsilon) <= exact * (1 + 1e-11)


def test_a_receipt_of_the_first_version_is_read_and_told_tightly():
    """It holds the filter's amount alone: its text says the price of its event at the budget's δ."""
    asked = curator("residue")
    new = asked.sql(QUESTIONS[1], dp.ApproxDP("1/10", "1e-7")).receipt
    taken = asked.ledger.terms.filter.price(new.event)
    old = type(new)(**{**vars_of(new), "price": taken, "charged": None})
    assert '"receipt":1' in old.to_json() and "charged" not in old.to_json()
    assert dp.verify_receipt(old.to_json(), ledger=asked.ledger) == old
    price = old.stated_price()
    check_sound(price, None, asked.ledger.promise(), old.event)
    assert f"{decimal_text(price)} of (ε, δ) = (30, 1e-06)" in str(old)
    lie = type(new)(**{**vars_of(old), "price": dp.GaussianDP("1/100")})
    with pytest.raises(dp.ClaimRefuted, match="price"):
        dp.verify_receipt(lie, ledger=asked.ledger)


def vars_of(receipt):
    return {name: getattr(receipt, name) for name in receipt.__dataclass_fields__}


def test_what_is_no_price_is_refused():
    event = LaplaceNoise(1, 1)
    price = price_charge(
        event, None, counted=event, taken=dp.ApproxDP(1, 0), budget=dp.ApproxDP(3, 0)
    )
    assert str(Price(dp.PureDP(1), price.charged)) == "ε = 1"
    assert price_from_json(price.to_json()) == price
    for lie in (None, {}, {"amount": price.to_json()["amount"]}):
        with pytest.raises(dp.InvalidArgument, match="a price is"):
            price_from_json(lie)
    gaussian = dp.Gaussian(scale=1, sensitivity=1).event
    with pytest.raises(dp.InvalidArgument, match="no price in the measure of ε = 1"):
        shown_price(gaussian, None, dp.PureDP(1))
    assert shown_price(gaussian, dp.PureDP(1), dp.ZCDP(1)) == dp.ZCDP("1/2")
