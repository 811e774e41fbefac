"""Walk of a data engineer: Parquet to a kept store, then a service from Python alone: answers, files, a dashboard.

Before: remote answers had no labels, and a dashboard could be refreshed on its page alone.
"""

from __future__ import annotations

import pytest

import discreet as dp
from service.deployment import build, free_port, serving

from .shop import open_shop, schemas

SPEND = dp.PureDP("1/2")
BY_COUNTRY = "SELECT country, COUNT(*) AS n FROM users GROUP BY country"


@pytest.mark.slow
def test_parquet_to_a_store(tmp_path):
    pytest.importorskip("pyarrow")
    shop = open_shop(500)
    for name in ("users", "orders", "events"):
        shop.sql(f"SELECT * FROM {name}").write_parquet(str(tmp_path / f"{name}.parquet"))
    sources = {name: str(tmp_path / f"{name}.parquet") for name in ("users", "orders", "events")}
    prepared = dp.prepare(sources, schemas(), tmp_path / "shop.store")
    assert {table.name: table.rows for table in prepared.report.tables}["users"] == 500
    ledger = dp.open_ledger(str(tmp_path / "shop.ledger"), dp.ApproxDP(1_000_000, "1e-3"))
    curator = dp.Curator(dp.DuckDB(str(tmp_path / "shop.store")), schemas(), ledger)
    answer = curator.sql(BY_COUNTRY, spend=dp.ApproxDP(10_000, 0))
    assert round(sum(answer.column("n"))) == 500
    assert answer.to_arrow().num_rows == 4 and list(answer.to_pandas().columns)[:2] == [
        "country",
        "n",
    ]


def test_a_service_from_python(tmp_path):
    port = free_port()
    house = build(tmp_path, port=port, service='grid = "0.05"', dataset="share_dashboards = true")
    schema = house.folder / "people.toml"
    text = schema.read_text()
    schema.write_text(
        text.replace('"E", "W"] }', '"E", "W"], label = "Region", labels = { N = "north" } }')
    )
    by_region = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
    with serving(house), dp.connect(house.url, token=house.tokens["ana"], dataset="people") as ana:
        assert "region: Region; N = north" in str(ana.explain(by_region, spend=SPEND))
        answer = ana.sql(by_region, spend=SPEND)
        assert str(answer).splitlines()[0].split() == ["Region", "n"] and "north" in str(answer)
        assert answer.to_csv().splitlines()[1].startswith("N,")
        with house.client("ana") as http:
            body = {"sql": by_region, "spend": {"epsilon": "1/2"}}
            reply = http.post("/datasets/people/sql", json=body)
            job = reply.headers["Location"].rpartition("/")[2]
        board = ana.dashboard("Regions", [{"text": "Weekly."}, {"answer": job}], shared=True)
        left = ana.left()
        [price] = ana.refresh_prices(board["id"])
        assert (price["part"], price["free"]) == (2, True)
        [fresh] = ana.refresh_dashboard(board["id"], [2])
        assert fresh != job and ana.left() == left
        with pytest.raises(dp.InvalidArgument, match="only answers"):
            ana.refresh_dashboard(board["id"], [1])
        with dp.connect(house.url, token=house.tokens["bob"], dataset="people") as bob:
            assert bob.dashboards() == [board] or bob.dashboards()[0]["id"] == board["id"]
            for refused in (bob.refresh_prices, lambda name: bob.refresh_dashboard(name, [2])):
                with pytest.raises(dp.NotAllowed, match="only its author"):
                    refused(board["id"])
