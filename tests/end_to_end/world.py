"""A small world that respects its schemas: nobody has more rows than declared, every value is on its grid.

So no share cuts anything off and nothing is clipped: with a budget beyond all noise our answers must be plain SQL's.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta
from random import Random

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
from engines.tables import Table

SHOPS = ["a", "b", "c"]
CITIES = ["Oslo", "Rome", "Oslo", "Riga", "Rome", "Oslo"]
NOTES = ["good", "bad", " so so ", "It's fine", "100%", "a_b"]
NAMES = ["Ann", "Bo", "Åse", "Trond", "Li"]

VISITS = Schema(
    "visits",
    People("user_id", max_rows=8),
    {
        "spent": Real(0, 500, step=0.25),
        "minutes": Integer(-30, 300),
        "shop": Category(SHOPS),
        "mood": Category(["up", "down"], null_key=True),
        "ward": Integer(1, 6),
        "day": Date("2024-01-01", "2024-12-31"),
        "seen": Timestamp("2024-01-01T00:00:00", "2024-12-31T23:59:59"),
        "note": Text(20),
        "paid": Boolean(),
    },
)
USERS = Schema(
    "users",
    People("user_id", max_rows=1),
    {"age": Integer(0, 120), "region": Category(["N", "S"]), "name": Text(30)},
)
MEMBERS = Schema(
    "members",
    People("member", who="user_id", max_rows=1),
    {"since": Date("2023-01-01", "2024-12-31"), "level": Category(["basic", "gold"])},
)
"""The same people under another name of their id."""
STAYS = Schema(
    "stays",
    People("user_id", max_rows=6, max_groups=2),
    {"ward": Integer(1, 6), "nights": Integer(0, 30)},
)
PEOPLE = Schema(
    "people",
    Rows(),
    {"age": Integer(0, 120), "income": Real(0, 250_000, step=0.01), "region": Category(["N", "S", "E"]), "ward": Integer(1, 6)},
)  # fmt: skip
SWAPS = Schema("swaps", Rows(), PEOPLE.columns, neighbours="replace")
WARDS = Schema.public_table(
    "wards", {"ward": Integer(1, 6), "city": Category(sorted(set(CITIES))), "big": Boolean(), "rate": Real(0, 2, step=0.5)}, key="ward"
)  # fmt: skip
PRICES = Schema.public_table(
    "prices", {"shop": Category(SHOPS), "price": Integer(0, 100)}, max_rows={"shop": 2}
)
SCHEMAS = {s.name: s for s in (VISITS, USERS, MEMBERS, STAYS, PEOPLE, SWAPS, WARDS, PRICES)}

VISIT_TYPES = {
    "user_id": "bigint", "spent": "double", "minutes": "bigint", "shop": "text", "mood": "text", "ward": "bigint",
    "day": "date", "seen": "timestamp", "note": "text", "paid": "boolean",
}  # fmt: skip


def _visit(random: Random, user: int) -> tuple[object, ...]:
    minutes = random.randrange(-30, 301)
    day = date(2024, 1, 1) + timedelta(days=random.randrange(366))
    seen = datetime(2024, 1, 1) + timedelta(seconds=random.randrange(366 * 86_400))
    return (
        user, min(2000, 4 * abs(minutes) + random.randrange(400)) / 4, minutes if random.random() < 0.9 else None,
        random.choice("aabbbc"), random.choice(["up", "up", "down", None]), random.randrange(1, 7), day, seen,
        random.choice(NOTES), random.choice([True, True, False, None]),
    )  # fmt: skip


def _odd(rows: list[tuple[object, ...]], place: int) -> list[tuple[object, ...]]:
    """Leave an odd number of rows, and of values at a place, so that each median is a row's own value."""
    if len(rows) % 2 == 0:
        rows.remove(next(row for row in rows if row[place] is None))
    if sum(row[place] is not None for row in rows) % 2 == 0:
        some = next(i for i, row in enumerate(rows) if row[place] is None)
        rows[some] = (*rows[some][:place], 7, *rows[some][place + 1 :])
    return rows


def _members(users) -> list[tuple[int, date, str]]:
    """Make two of three users members, without a draw: the other tables stay as they were."""
    start = date(2023, 1, 1)
    levels = ["basic", "gold", "basic", "basic", "gold"]
    chosen = [user for user in users if user % 3]
    return [(user, start + timedelta(days=user * 37 % 700), levels[user % 5]) for user in chosen]


def world(seed: int = 19) -> dict[str, Table]:
    """Make the tables: the same each time; with this seed no two wards or regions that are put in order are alike."""
    random = Random(seed)
    users = range(1, 82)
    visits = _odd(
        [_visit(random, user) for user in users for _ in range(random.randrange(0, 5))], 2
    )
    stays = []
    for user in users:
        for ward in random.sample(range(1, 7), 2):
            stays += [(user, ward, random.randrange(31)) for _ in range(random.randrange(0, 4))]
    people = [
        (
            random.randrange(121),
            random.randrange(25_000_001) / 100,
            random.choice("NNS"),
            random.randrange(1, 7),
        )
        for _ in range(161)
    ]
    census = {"age": "bigint", "income": "double", "region": "text", "ward": "bigint"}
    return {
        "visits": Table(VISIT_TYPES, visits),
        "users": Table(
            {"user_id": "bigint", "age": "bigint", "region": "text", "name": "text"},
            [
                (user, random.randrange(121), random.choice("NS"), random.choice(NAMES))
                for user in users
            ],
        ),
        "stays": Table({"user_id": "bigint", "ward": "bigint", "nights": "bigint"}, stays),
        "members": Table(
            {"member": "bigint", "since": "date", "level": "text"},
            [(user, day, level) for user, day, level in _members(users)],
        ),
        "people": Table(census, people),
        "swaps": Table(census, people),
        "wards": Table(
            {"ward": "bigint", "city": "text", "big": "boolean", "rate": "double"},
            [(ward, city, ward % 2 == 0, ward % 3 / 2) for ward, city in enumerate(CITIES, 1)],
        ),
        "prices": Table(
            {"shop": "text", "price": "bigint"},
            [("a", 10), ("a", 12), ("b", 7), ("c", 30), ("c", 99)],
        ),
    }
