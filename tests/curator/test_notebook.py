"""What a notebook shows of a ledger, a curator and a synthetic table: public facts, escaped."""

from __future__ import annotations

import re

import discreet as dp


def cells(html):
    return re.findall(r"<td>(.*?)</td>", html)


def test_a_ledger_and_a_curator_say_what_is_left():
    people = dp.Schema("people", dp.Rows(), {"sex": dp.Category(["f", "<m>"])})
    ledger = dp.open_ledger(":memory:", dp.ZCDP(5))
    rows = [{"sex": "f"}, {"sex": "<m>"}]
    curator = dp.Curator(dp.Memory({"people": rows}), [people], ledger, who="<ana>")
    curator.sql("SELECT COUNT(*) AS n FROM people", spend=dp.ZCDP(1))
    facts = cells(ledger._repr_html_())
    assert facts[:4] == ["budget", "ρ = 5", "spent", "ρ = 1"] and facts[5] == str(ledger.left())
    shown = cells(curator._repr_html_())
    assert shown[0] == "people" and "one row" in shown[1]
    assert shown[2:] == ["left for &lt;ana&gt;", str(ledger.left())]
    made = curator.synthesize("people", spend=dp.ZCDP(2))
    assert "columns" in cells(made._repr_html_())
    table = made.table("sex")._repr_html_()
    assert "&lt;m&gt;" in table and "<m>" not in table
