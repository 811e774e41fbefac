"""A made-up shop: users, their orders and events over two years, with its schemas and DuckDB's own answers."""

from __future__ import annotations

import datetime as dt
import random

import duckdb
import pandas as pd

import discreet as dp

START = dt.date(2024, 1, 1)
DAYS = 731
COUNTRIES = ("AT", "DE", "FR", "IT")
CATEGORIES = ("books", "games", "garden", "music", "tools")
WEIGHTS = (30, 22, 8, 25, 15)
CHANNELS = ("web", "app", "shop")
DEVICES = ("desktop", "phone")
MAX_ORDERS = 6
MAX_EVENTS = 16
MAX_BASKET = 400


def schemas() -> list[dp.Schema]:
    """Return the schemas; the caps are what the generator keeps, so that nothing is truncated."""
    years = ("2024-01-01", "2025-12-31")
    return [
        dp.Schema(
            "users",
            dp.People("user_id", max_rows=1),
            {
                "country": dp.Category(list(COUNTRIES), label="Country"),
                "plan": dp.Category(["free", "paid"]),
                "joined": dp.Date(*years),
            },
        ),
        dp.Schema(
            "orders",
            dp.People("user_id", max_rows=MAX_ORDERS),
            {
                "day": dp.Date(*years),
                "amount": dp.Real(0, MAX_BASKET, step=1),
                "category": dp.Category(list(CATEGORIES)),
                "channel": dp.Category(list(CHANNELS)),
                "returned": dp.Boolean(),
            },
        ),
        dp.Schema(
            "events",
            dp.People("user_id", max_rows=MAX_EVENTS),
            {
                "day": dp.Date(*years),
                "seen": dp.Timestamp("2024-01-01T00:00:00", "2025-12-31T23:59:59"),
                "kind": dp.Category(["visit", "cart", "buy"]),
                "device": dp.Category(list(DEVICES)),
                "seconds": dp.Integer(0, 600),
            },
        ),
    ]


def open_shop(people: int = 4_000, seed: int = 35) -> duckdb.DuckDBPyConnection:
    """Fill the three tables; the same for the same seed."""
    chance = random.Random(seed)
    users, orders, events = [], [], []
    for user in range(people):
        joined = START + dt.timedelta(days=chance.randrange(DAYS))
        country = chance.choices(COUNTRIES, weights=(1, 5, 3, 2))[0]
        users.append((user, country, chance.choices(("free", "paid"), weights=(3, 1))[0], joined))
        for _ in range(min(MAX_ORDERS, int(chance.expovariate(0.6)))):
            amount = min(MAX_BASKET, round(chance.lognormvariate(3.6, 0.8)))
            orders.append(
                (
                    user,
                    _later(chance, joined),
                    amount,
                    chance.choices(CATEGORIES, weights=WEIGHTS)[0],
                    chance.choices(CHANNELS, weights=(5, 3, 1))[0],
                    chance.random() < 0.1,
                )
            )
        for _ in range(min(MAX_EVENTS, 1 + int(chance.expovariate(0.2)))):
            day = _later(chance, joined)
            at = dt.datetime.combine(day, dt.time(chance.randrange(7, 23), chance.randrange(60)))
            kind = chance.choices(("visit", "cart", "buy"), weights=(6, 2, 1))[0]
            seconds = min(600, int(chance.expovariate(0.01)))
            events.append((user, day, at, kind, chance.choice(DEVICES), seconds))
    opened = duckdb.connect()
    opened.execute("CREATE TABLE users (user_id INT, country TEXT, plan TEXT, joined DATE)")
    opened.execute(
        "CREATE TABLE orders (user_id INT, day DATE, amount DOUBLE, category TEXT, channel TEXT, "
        "returned BOOLEAN)"
    )
    opened.execute(
        "CREATE TABLE events (user_id INT, day DATE, seen TIMESTAMP, kind TEXT, device TEXT, "
        "seconds INT)"
    )
    for name, rows in (("users", users), ("orders", orders), ("events", events)):
        # One frame each: rows that are inserted one by one take a minute.
        frame = pd.DataFrame(rows)
        opened.register("frame", frame)
        opened.execute(f"INSERT INTO {name} SELECT * FROM frame")
    return opened


def _later(chance: random.Random, day: dt.date) -> dt.date:
    """Return a day after another one, more often a near one; within the two years."""
    last = START + dt.timedelta(days=DAYS - 1)
    return min(last, day + dt.timedelta(days=int(chance.expovariate(0.01))))
