"""Customers, their orders and lines, in the spirit of TPC-H: made here, the same each time. A customer is protected."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from discreet.data import Category, Date, Integer, People, Real, Schema, Text
from engines.tables import Table

REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
NATIONS = [
    ("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0), ("FRANCE", 3),
    ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("JAPAN", 2), ("KENYA", 0), ("CHINA", 2), ("VIETNAM", 2),
]  # fmt: skip
SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
MODES = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]
KINDS = [
    "PROMO BRUSHED TIN",
    "PROMO PLATED STEEL",
    "STANDARD BURNISHED COPPER",
    "ECONOMY ANODIZED BRASS",
]
WORDS = [
    "final deposits",
    "special packages about the requests",
    "regular accounts",
    "quick special requests",
]
DAYS = ("1992-01-01", "1999-12-31")

CUSTOMER = Schema(
    "customer", People("custkey", max_rows=1),
    {"nationkey": Integer(0, 24), "mktsegment": Category(SEGMENTS), "acctbal": Real(-1000, 10_000, step=0.01), "phone": Text(15)},
)  # fmt: skip
ORDERS = Schema(
    "orders", People("custkey", max_rows=6),
    {"orderkey": Integer(1, 10**9), "orderdate": Date(*DAYS), "orderpriority": Category(PRIORITIES),
     "totalprice": Real(0, 500_000, step=0.01), "comment": Text(79)},
)  # fmt: skip
LINEITEM = Schema(
    "lineitem", People("custkey", max_rows=24),
    {"orderkey": Integer(1, 10**9), "partkey": Integer(1, 40), "quantity": Integer(1, 50),
     "extendedprice": Real(0, 105_000, step=0.01), "discount": Real(0, "1/10", step=0.01), "tax": Real(0, "2/25", step=0.01),
     "returnflag": Category(["A", "N", "R"]), "linestatus": Category(["F", "O"]), "shipdate": Date(*DAYS),
     "commitdate": Date(*DAYS), "receiptdate": Date(*DAYS), "shipmode": Category(MODES)},
)  # fmt: skip
NATION = Schema.public_table(
    "nation",
    {"nationkey": Integer(0, 24), "nation": Text(25), "regionkey": Integer(0, 4)},
    key="nationkey",
)
REGION = Schema.public_table(
    "region", {"regionkey": Integer(0, 4), "region": Text(25)}, key="regionkey"
)
PART = Schema.public_table("part", {"partkey": Integer(1, 40), "type": Text(25)}, key="partkey")
SCHEMAS = {schema.name: schema for schema in (CUSTOMER, ORDERS, LINEITEM, NATION, REGION, PART)}

TODAY = date(1995, 6, 17)


def _lines(random: Random, custkey: int, orderkey: int, day: date) -> list[tuple[object, ...]]:
    lines = []
    for _ in range(random.randrange(1, 5)):
        ship = day + timedelta(days=random.randrange(1, 122))
        receipt = ship + timedelta(days=random.randrange(1, 31))
        quantity, part = random.randrange(1, 51), random.randrange(1, 41)
        flag = "N" if receipt > TODAY else random.choice("AR")
        lines.append(
            (custkey, orderkey, part, quantity, quantity * (90_000 + 13 * part) / 100, random.randrange(11) / 100,
             random.randrange(9) / 100, flag, "O" if ship > TODAY else "F", ship,
             day + timedelta(days=random.randrange(30, 91)), receipt, random.choice(MODES))
        )  # fmt: skip
    return lines


def tpch(customers: int = 1000) -> dict[str, Table]:
    """Make the tables; every third customer has no order, as in TPC-H."""
    random = Random(1992)
    people, orders, lines = [], [], []
    for custkey in range(1, customers + 1):
        nation = random.randrange(len(NATIONS))
        people.append((custkey, nation, random.choice(SEGMENTS), random.randrange(-99_999, 1_000_000) / 100, f"{nation + 10}-{random.randrange(1000)}"))  # fmt: skip
        for _ in range(random.randrange(1, 7) if custkey % 3 else 0):
            day = date(1992, 1, 1) + timedelta(days=random.randrange(2405))
            found = _lines(random, custkey, len(orders) + 1, day)
            price = sum(round(line[4] * (1 - line[5]) * 100) for line in found) / 100
            orders.append(
                (
                    custkey,
                    len(orders) + 1,
                    day,
                    random.choice(PRIORITIES),
                    price,
                    random.choice(WORDS),
                )
            )
            lines += found
    money, key, day = "double", "bigint", "date"
    return {
        "customer": Table({"custkey": key, "nationkey": key, "mktsegment": "text", "acctbal": money, "phone": "text"}, people),
        "orders": Table({"custkey": key, "orderkey": key, "orderdate": day, "orderpriority": "text", "totalprice": money, "comment": "text"}, orders),
        "lineitem": Table(
            {"custkey": key, "orderkey": key, "partkey": key, "quantity": key, "extendedprice": money, "discount": money,
             "tax": money, "returnflag": "text", "linestatus": "text", "shipdate": day, "commitdate": day,
             "receiptdate": day, "shipmode": "text"}, lines),
        "nation": Table({"nationkey": key, "nation": "text", "regionkey": key}, [(i, *row) for i, row in enumerate(NATIONS)]),
        "region": Table({"regionkey": key, "region": "text"}, list(enumerate(REGIONS))),
        "part": Table({"partkey": key, "type": "text"}, [(i, KINDS[i % 4]) for i in range(1, 41)]),
    }  # fmt: skip
