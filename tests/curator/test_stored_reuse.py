"""A stored ledger of reused answers: it opens for ever, and gives the same answers and receipts for nothing."""

from __future__ import annotations

import json
from pathlib import Path

import discreet as dp
from curator.test_siblings import Sealed
from fixtures.make_reuse_0_2_0 import ROWS, SCHEMA, told

FIXTURE = Path(__file__).parents[1] / "fixtures" / "reuse_0_2_0"


def test_the_fixture_gives_what_it_gave(tmp_path):
    assert dp.ledger.import_ledger(FIXTURE / "ledger.jsonl", tmp_path / "shops.ledger").exact
    with dp.open_ledger(tmp_path / "shops.ledger") as ledger:
        before = ledger.verify()
        store = Sealed({"shops": ROWS})
        now = json.loads(json.dumps(told(dp.Curator(store, [SCHEMA], ledger, who="ana"))))
        assert now == json.loads((FIXTURE / "expected.json").read_text(encoding="utf-8"))
        assert ledger.verify().charges == before.charges
        for *_, receipt in now:
            dp.verify_receipt(
                json.dumps(receipt, sort_keys=True, separators=(",", ":")), ledger=ledger
            )
        kinds = sorted({facts["receipt"] for *_, facts in now})
        assert kinds == [2, 3, 4, 5]
