"""Declared tables that the tests of the query room ask about."""

from __future__ import annotations

from discreet.data import (
    Boolean,
    Category,
    Date,
    Integer,
    People,
    Real,
    Rows,
    Schema,
    Text,
    Timestamp,
)

PEOPLE = Schema(
    "people",
    unit=Rows(),
    columns={
        "age": Integer(0, 120),
        "income": Real(-1000, 250_000, step=0.25),
        "region": Category(["N", "S", "E", "W"]),
        "party": Category(["red", "blue"], null_key=True),
        "name": Text(20),
        "ward": Integer(1, 40),
        "active": Boolean(),
        "joined": Date("2020-01-01", "2024-12-31"),
        "seen": Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59"),
    },
)
VISITS = Schema(
    "visits",
    unit=People("user_id", max_rows=10),
    columns={
        "user_id": Integer(0, 10**9),
        "spent": Real(0, 500, step=0.01),
        "shop": Category(["a", "b"]),
        "ward": Integer(1, 40),
        "at": Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59"),
    },
)
USERS = Schema(
    "users",
    unit=People("user_id", max_rows=1),
    columns={"age": Integer(0, 120), "shop": Category(["a", "b"])},
)
MONTHLY = Schema(
    "monthly",
    unit=People("user_id", max_rows=3, window=("at", "month")),
    columns={"at": Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59"), "spent": Integer(0, 9)},
)
WARDS = Schema.public_table(
    "wards", {"ward": Integer(1, 40), "city": Text(30), "big": Boolean()}, key="ward"
)
PRICES = Schema.public_table(
    "prices", {"shop": Category(["a", "b"]), "price": Integer(0, 9)}, max_rows={"shop": 4}
)
SWAPS = Schema("swaps", unit=Rows(), columns={"age": Integer(0, 120)}, neighbours="replace")
TABLES = {
    "people": PEOPLE,
    "visits": VISITS,
    "users": USERS,
    "monthly": MONTHLY,
    "wards": WARDS,
    "prices": PRICES,
    "swaps": SWAPS,
}
