"""Walk of a researcher: prices, an audit that catches a fault, receipts, and the record of a ledger.

Before and now without a stumble but one: `dp.audit(...)` is a module; the function is `dp.audit.audit`.
"""

from __future__ import annotations

import random

import pytest

import discreet as dp

from .test_student import PEOPLE

ASKED = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def test_prices():
    once = dp.Gaussian(scale=10, sensitivity=1).event
    hundred = dp.compose([once] * 100)
    assert hundred.epsilon(delta=1e-6) < 100 * dp.compose([once]).epsilon(delta=1e-6) / 5
    assert "odds" in str(dp.meaning(dp.PureDP(1)))


@pytest.mark.slow
def test_an_audit_finds_half_the_noise():
    def half(values):
        return sum(values) + random.expovariate(2) - random.expovariate(2)

    report = dp.audit.audit(half, dp.PureDP(1), ([1] * 10, [1] * 11), samples=20_000)
    assert report.refuted


def test_receipts_and_the_chain(tmp_path):
    signer = dp.Signer.create()
    ledger = dp.open_ledger(str(tmp_path / "people.ledger"), dp.PureDP(3))
    engine = dp.DuckDB({"people": dp.example("pums.csv")})
    answer = dp.Curator(engine, [PEOPLE], ledger, signer=signer).sql(ASKED, spend=dp.PureDP(1))
    receipt = answer.receipt.to_json()
    assert dp.verify_receipt(receipt, ledger=ledger, key=signer.public).number == 2
    with pytest.raises(dp.DiscreetError):
        dp.verify_receipt(receipt.replace("sex", "age"), ledger=ledger, key=signer.public)
    verdict = ledger.verify()
    assert verdict and verdict.charges == 1


def test_the_record_is_made_and_checked(tmp_path):
    with dp.open_ledger(str(tmp_path / "people.ledger"), dp.PureDP(3)) as ledger:
        engine = dp.DuckDB({"people": dp.example("pums.csv")})
        dp.Curator(engine, [PEOPLE], ledger).sql(ASKED, spend=dp.PureDP(1))
        dp.record(ledger, [PEOPLE], {"data_curators": ["City of Example"]}).write(
            tmp_path / "record"
        )
        assert dp.check_record(tmp_path / "record", ledger)
