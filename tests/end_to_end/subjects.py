"""Sixty questions of three subjects, written down before the first of them was tried.

Each subject has three tables, one of them public, and the ids of its people have two names. The SQL is
what an analyst types: no question was changed, left out or added after it had been asked. Tables respect
their schemas, so no cap cuts anything off and an answer without noise is what plain SQL gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from random import Random

from discreet.data import Category, Date, Integer, People, Real, Schema, Text, Timestamp
from engines.tables import Table

COUNTRIES = ["NO", "SE", "DK"]
STATUSES = ["paid", "returned", "open"]
SKUS = ["p1", "p2", "p3", "p4", "p5"]
SHOP_SCHEMAS = [
    Schema(
        "users",
        People("id", who="user", max_rows=1),
        {
            "age": Integer(16, 99),
            "country": Category(COUNTRIES),
            "joined": Date("2024-01-01", "2024-12-31"),
            "plan": Category(["free", "plus"]),
        },
    ),
    Schema(
        "orders",
        People("user_id", who="user", max_rows=12),
        {
            "at": Date("2024-01-01", "2024-12-31"),
            "sku": Category(SKUS),
            "amount": Real(0, 200, step=0.25),
            "quantity": Integer(1, 9),
            "status": Category(STATUSES),
        },
    ),
    Schema.public_table(
        "products",
        {
            "sku": Category(SKUS),
            "category": Category(["books", "games", "food"]),
            "price": Real(0, 100, step=0.25),
        },
        key="sku",
    ),
]
SHOP = {
    "orders by status": "SELECT status, COUNT(*) AS orders FROM orders GROUP BY status ORDER BY orders DESC",
    "revenue by country": """SELECT u.country, SUM(o.amount) AS revenue FROM users u
        JOIN orders o ON u.id = o.user_id GROUP BY u.country""",
    "revenue by month": """SELECT date_trunc('month', at) AS month, SUM(amount) AS revenue
        FROM orders WHERE status = 'paid' GROUP BY 1 ORDER BY 1""",
    "buyers and users": """SELECT COUNT(DISTINCT u.id) AS users, COUNT(DISTINCT o.user_id) AS buyers
        FROM users u LEFT JOIN orders o ON o.user_id = u.id""",
    "return funnel": """SELECT COUNT(DISTINCT user_id) AS bought,
        COUNT(DISTINCT CASE WHEN status = 'paid' THEN user_id END) AS paid,
        COUNT(DISTINCT CASE WHEN status = 'returned' THEN user_id END) AS returned FROM orders""",
    "funnel by country": """SELECT u.country, COUNT(DISTINCT u.id) AS people,
        COUNT(DISTINCT o.user_id) FILTER (WHERE o.status = 'paid') AS payers
        FROM users u JOIN orders o ON u.id = o.user_id GROUP BY u.country""",
    "first order cohort": """SELECT date_trunc('month', first_at) AS cohort, COUNT(*) AS people
        FROM (SELECT user_id, MIN(at) AS first_at FROM orders GROUP BY user_id) f GROUP BY cohort ORDER BY cohort""",
    "days to first order": """SELECT AVG(DATE_DIFF('day', u.joined, f.first_at)) AS days
        FROM users u JOIN (SELECT user_id, MIN(at) AS first_at FROM orders GROUP BY user_id) f ON f.user_id = u.id""",
    "share of returns": """SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM orders) AS share
        FROM orders WHERE status = 'returned'""",
    "share by status": """SELECT status, 100.0 * COUNT(*) / (SELECT COUNT(*) FROM orders) AS percent
        FROM orders GROUP BY status""",
    "revenue by category": """SELECT category, SUM(amount) AS revenue FROM orders NATURAL JOIN products
        GROUP BY category""",
    "orders of cheap products": """SELECT COUNT(*) AS n FROM orders
        WHERE sku IN (SELECT sku FROM products WHERE price < 20)""",
    "never bought": """SELECT plan, COUNT(*) AS n FROM users
        WHERE id NOT IN (SELECT user_id FROM orders) GROUP BY plan""",
    "big spenders": """WITH spend(user_id, total) AS (SELECT user_id, SUM(amount) FROM orders GROUP BY user_id)
        SELECT COUNT(*) AS n FROM spend WHERE total > 300""",
    "orders per decade": """SELECT (age // 10) * 10 AS decade, COUNT(*) AS n FROM users
        WHERE age > '30' GROUP BY decade ORDER BY decade""",
    "basket size": "SELECT MEAN(amount) AS basket, MEDIAN(amount) AS middle FROM orders LIMIT ALL",
    "variance per buyer": """SELECT SUM(POWER(total, 2)) / COUNT(*) - POWER(AVG(total), 2) AS spread
        FROM (SELECT user_id, SUM(amount) AS total FROM orders GROUP BY user_id) t""",
    "top products": """SELECT sku, SUM(quantity) AS sold FROM orders GROUP BY sku
        HAVING sold > 3 ORDER BY sold DESC LIMIT 3""",
    "best product of each country": """SELECT country, sku, n FROM (
        SELECT u.country, o.sku, COUNT(*) AS n, ROW_NUMBER() OVER (PARTITION BY u.country ORDER BY COUNT(*) DESC, o.sku) AS r
        FROM users u JOIN orders o ON u.id = o.user_id GROUP BY u.country, o.sku) t WHERE r = 1""",
    "every product, also unsold": """SELECT p.sku, p.category, COUNT(o.user_id) AS n
        FROM orders o RIGHT JOIN products p ON o.sku = p.sku GROUP BY p.sku, p.category""",
}  # fmt: skip

SEXES = ["f", "m"]
DISTRICTS = ["north", "south", "east"]
WARDS = ["icu", "surgery", "cardio", "child"]
CODES = ["I21", "J18", "S72", "K35"]
CLINIC_SCHEMAS = [
    Schema(
        "patients",
        People("patient_no", who="patient", max_rows=1),
        {
            "born": Integer(1920, 2024),
            "sex": Category(SEXES),
            "district": Category(DISTRICTS),
        },
    ),
    Schema(
        "stays",
        People("patient", who="patient", max_rows=6),
        {
            "admitted": Date("2024-01-01", "2024-12-31"),
            "days": Integer(0, 60),
            "ward": Category(WARDS),
            "code": Category(CODES),
            "cost": Integer(0, 50_000),
            "outcome": Category(["home", "moved", "died"]),
        },
    ),
    Schema.public_table(
        "wards",
        {"ward": Category(WARDS), "floor": Integer(0, 9), "beds": Integer(0, 99)},
        key="ward",
    ),
]
CLINIC = {
    "stays by ward": "SELECT ward, count(*) FROM stays GROUP BY ward",
    "length of stay": 'SELECT ward, AVG(days) AS "mean days" FROM stays GROUP BY ward ORDER BY 2 DESC',
    "bed days per bed": """SELECT s.ward, SUM(s.days) / MAX(w.beds) AS days_per_bed
        FROM stays s JOIN wards w ON s.ward = w.ward GROUP BY s.ward""",
    "patients by age group": """SELECT CASE WHEN 2024 - born < 18 THEN 'child' WHEN 2024 - born < 65 THEN 'adult'
        ELSE 'old' END AS age_group, COUNT(*) AS n FROM patients GROUP BY age_group""",
    "cost by district": """SELECT p.district, SUM(s.cost) AS cost FROM stays s
        INNER JOIN patients p ON s.patient = p.patient_no GROUP BY p.district""",
    "mortality by sex": """SELECT p.sex, AVG(CASE WHEN s.outcome = 'died' THEN 1 ELSE 0 END) AS died
        FROM patients p, stays s WHERE p.patient_no = s.patient GROUP BY p.sex""",
    "readmitted": """SELECT COUNT(*) AS readmitted FROM (
        SELECT patient FROM stays GROUP BY patient HAVING COUNT(*) > 1) AS again""",
    "share readmitted": """SELECT (SELECT COUNT(*) FROM (SELECT patient FROM stays GROUP BY patient
        HAVING COUNT(*) > 1) r) * 1.0 / COUNT(DISTINCT patient) AS share FROM stays""",
    "first stays by quarter": """SELECT EXTRACT(QUARTER FROM first_stay) AS q, COUNT(*) AS patients
        FROM (SELECT patient, MIN(admitted) AS first_stay FROM stays GROUP BY patient) AS f GROUP BY q ORDER BY q""",
    "last stay by month": """WITH last AS (SELECT patient, MAX(admitted) AS seen FROM stays GROUP BY patient)
        SELECT MONTH(seen) AS month, COUNT(*) AS n FROM last GROUP BY 1""",
    "ever in intensive care": """SELECT district, COUNT(DISTINCT patient_no) FILTER (WHERE ward = 'icu') AS icu,
        COUNT(DISTINCT patient_no) AS all_patients
        FROM patients JOIN stays ON patients.patient_no = stays.patient GROUP BY district""",
    "pneumonia by month": """SELECT date_trunc('month', admitted) AS month, COUNT(*) AS n
        FROM stays WHERE code LIKE 'J%' GROUP BY month HAVING n > 0 ORDER BY month""",
    "cost quantiles": """SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost) AS median,
        percentile_cont(0.9) WITHIN GROUP (ORDER BY cost) AS p90 FROM stays""",
    "upper floors": "SELECT COUNT(*) AS n FROM stays WHERE ward IN (SELECT ward FROM wards WHERE floor >= 2)",
    "old patients": """SELECT COUNT(*) AS n FROM stays WHERE EXISTS (
        SELECT 1 FROM patients WHERE patients.patient_no = stays.patient AND born < 1950)""",
    "above the mean": "SELECT COUNT(*) AS n FROM stays WHERE cost > (SELECT AVG(cost) FROM stays)",
    "share of each ward in cost": """SELECT ward, SUM(cost) / (SELECT SUM(cost) FROM stays) AS share
        FROM stays GROUP BY ward""",
    "outcomes by code": """SELECT code, outcome, COUNT(*) AS n, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER (PARTITION BY code)
        AS share FROM stays GROUP BY code, outcome ORDER BY code, outcome""",
    "text in double quotes": 'SELECT COUNT(*) AS n FROM stays WHERE ward = "icu" AND days >= 7',
    "mean stay per patient": """SELECT AVG(own) AS mean_of_means FROM (
        SELECT patient, AVG(days) AS own FROM stays GROUP BY patient) t""",
}  # fmt: skip

KINDS = ["view", "signup", "cart", "purchase"]
PAGES = ["home", "search", "item", "basket", "help"]
LOG_SCHEMAS = [
    Schema(
        "accounts",
        People("account_id", who="visitor", max_rows=1),
        {
            "tier": Category(["free", "pro"]),
            "country": Category(COUNTRIES),
            "signed_up": Date("2024-01-01", "2024-03-31"),
        },
    ),
    Schema(
        "events",
        People("uid", who="visitor", max_rows=15),
        {
            "at": Timestamp("2024-01-01T00:00:00", "2024-03-31T23:59:59"),
            "page": Category(PAGES),
            "kind": Category(KINDS),
            "ms": Integer(0, 10_000),
            "referrer": Text(40),
        },
    ),
    Schema.public_table(
        "pages",
        {
            "page": Category(PAGES),
            "section": Category(["shop", "info"]),
            "words": Integer(0, 5000),
        },
        key="page",
    ),
]
LOG = {
    "page views": "SELECT page, COUNT(*) AS views FROM events WHERE kind = 'view' GROUP BY page",
    "visitors by day": "SELECT CAST(at AS DATE) AS day, COUNT(DISTINCT uid) AS visitors FROM events GROUP BY day",
    "weekly actives": """SELECT date_trunc('week', at) AS week, COUNT(DISTINCT uid) AS wau FROM events
        GROUP BY week ORDER BY week""",
    "funnel": """SELECT COUNT(DISTINCT CASE WHEN kind = 'view' THEN uid END) AS viewed,
        COUNT(DISTINCT CASE WHEN kind = 'cart' THEN uid END) AS carted,
        COUNT(DISTINCT CASE WHEN kind = 'purchase' THEN uid END) AS bought FROM events""",
    "conversion": """SELECT 100.0 * COUNT(DISTINCT uid) FILTER (WHERE kind = 'purchase') / COUNT(DISTINCT uid)
        AS conversion FROM events""",
    "funnel by country": """SELECT a.country, COUNT(DISTINCT e.uid) FILTER (WHERE e.kind = 'cart') AS carted,
        COUNT(DISTINCT e.uid) FILTER (WHERE e.kind = 'purchase') AS bought
        FROM accounts AS a JOIN events AS e ON a.account_id = e.uid GROUP BY a.country""",
    "ordered funnel": """SELECT COUNT(*) AS n FROM (SELECT uid, MIN(CASE WHEN kind = 'cart' THEN at END) AS cart,
        MAX(CASE WHEN kind = 'purchase' THEN at END) AS bought FROM events GROUP BY uid) t WHERE bought > cart""",
    "signup cohorts": """SELECT date_trunc('week', signed_up) AS cohort, COUNT(DISTINCT account_id) AS signed,
        COUNT(DISTINCT uid) AS active FROM accounts LEFT JOIN events ON account_id = uid
        GROUP BY cohort ORDER BY cohort""",
    "first visit by tier": """SELECT a.tier, date_trunc('month', f.first_at) AS month, COUNT(*) AS n
        FROM accounts a JOIN (SELECT uid, MIN(at) AS first_at FROM events GROUP BY uid) f ON a.account_id = f.uid
        GROUP BY a.tier, month""",
    "slow pages": """SELECT page, quantile(ms, 0.95) AS p95 FROM events GROUP BY page ORDER BY p95 DESC""",
    "traffic by section": "SELECT section, COUNT(*) AS n FROM events JOIN pages USING (page) GROUP BY section",
    "long pages": "SELECT COUNT(*) AS n FROM events WHERE page NOT IN (SELECT page FROM pages WHERE words > 300 AND page IS NOT NULL)",
    "share by page": """SELECT page, COUNT(*) / (SELECT COUNT(*) FROM events)::float AS share FROM events
        GROUP BY page""",
    "share of visitors who buy, by tier": """SELECT tier, COUNT(DISTINCT CASE WHEN kind = 'purchase' THEN uid END) * 1.0
        / COUNT(DISTINCT account_id) AS share FROM accounts JOIN events ON accounts.account_id = events.uid
        GROUP BY tier""",
    "by hour": "SELECT EXTRACT(HOUR FROM at) AS hour, COUNT(*) AS n FROM events GROUP BY hour ORDER BY hour",
    "growth": """SELECT month, n, n - LAG(n) OVER (ORDER BY month) AS more FROM (
        SELECT date_trunc('month', at) AS month, COUNT(*) AS n FROM events GROUP BY 1) m""",
    "moving average": """SELECT date_trunc('week', at) AS week,
        AVG(COUNT(*)) OVER (ORDER BY date_trunc('week', at) ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS smooth
        FROM events GROUP BY 1""",
    "events per visitor": """SELECT n, COUNT(*) AS visitors FROM (
        SELECT uid, COUNT(*) AS n FROM events GROUP BY uid) q GROUP BY n ORDER BY n""",
    "pages seen together": """SELECT a.page, b.page AS other, COUNT(DISTINCT a.uid) AS n FROM events a
        JOIN events b ON a.uid = b.uid AND a.page < b.page GROUP BY a.page, b.page""",
    "inactive accounts": """SELECT country, COUNT(*) AS n FROM accounts a LEFT JOIN events e ON e.uid = a.account_id
        WHERE e.uid IS NULL GROUP BY country""",
}  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """Schemas, tables that respect them, and twenty questions by name."""

    schemas: list[Schema]
    tables: dict[str, Table]
    questions: dict[str, str]


def _shop(random: Random) -> dict[str, Table]:
    users, orders = [], []
    for user in range(1, 61):
        joined = date(2024, 1, 1) + timedelta(days=random.randrange(200))
        plan = random.choice(["free", "plus"])
        users.append((user, random.randrange(16, 100), random.choice(COUNTRIES), joined, plan))
        for _ in range(random.choice([0, 0, 1, 2, 3, 5])):
            at = joined + timedelta(days=random.randrange(150))
            amount, quantity = random.randrange(801) / 4, random.randrange(1, 10)
            status = random.choice(STATUSES)
            orders.append((user, at, random.choice(SKUS[:4]), amount, quantity, status))
    user_types = {"id": "bigint", "age": "bigint", "country": "text", "joined": "date"}
    order_types = {"user_id": "bigint", "at": "date", "sku": "text", "amount": "double"}
    kinds = ["books", "books", "games", "food", "food"]
    products = list(zip(SKUS, kinds, [10.0, 25.5, 60.0, 4.75, 19.0], strict=True))
    return {
        "users": Table(user_types | {"plan": "text"}, users),
        "orders": Table(order_types | {"quantity": "bigint", "status": "text"}, orders),
        "products": Table({"sku": "text", "category": "text", "price": "double"}, products),
    }


def _clinic(random: Random) -> dict[str, Table]:
    patients, stays = [], []
    for patient in range(1, 71):
        born = random.randrange(1920, 2025)
        patients.append((patient, born, random.choice(SEXES), random.choice(DISTRICTS)))
        for _ in range(random.choice([0, 1, 1, 2, 4])):
            admitted = date(2024, 1, 1) + timedelta(days=random.randrange(366))
            days, cost = random.randrange(61), random.randrange(50_001)
            outcome = random.choice(["home", "home", "moved", "died"])
            ward, code = random.choice(WARDS), random.choice(CODES)
            stays.append((patient, admitted, days, ward, code, cost, outcome))
    patient_types = {"patient_no": "bigint", "born": "bigint", "sex": "text", "district": "text"}
    stay_types = {"patient": "bigint", "admitted": "date", "days": "bigint", "ward": "text"}
    wards = list(zip(WARDS, [1, 2, 3, 0], [8, 30, 24, 20], strict=True))
    return {
        "patients": Table(patient_types, patients),
        "stays": Table(stay_types | {"code": "text", "cost": "bigint", "outcome": "text"}, stays),
        "wards": Table({"ward": "text", "floor": "bigint", "beds": "bigint"}, wards),
    }


def _log(random: Random) -> dict[str, Table]:
    accounts, events = [], []
    for account in range(1, 61):
        day = date(2024, 1, 1) + timedelta(days=random.randrange(91))
        accounts.append((account, random.choice(["free", "pro"]), random.choice(COUNTRIES), day))
        for _ in range(random.choice([0, 1, 3, 6, 9])):
            at = datetime(2024, 1, 1) + timedelta(seconds=random.randrange(91 * 86_400))
            page, kind = random.choice(PAGES), random.choice(KINDS)
            referrer = random.choice(["search", "mail", "friend"])
            events.append((account, at, page, kind, random.randrange(10_001), referrer))
    account_types = {"account_id": "bigint", "tier": "text", "country": "text", "signed_up": "date"}
    event_types = {"uid": "bigint", "at": "timestamp", "page": "text", "kind": "text"}
    sections = ["info", "shop", "shop", "shop", "info"]
    pages = list(zip(PAGES, sections, [100, 50, 900, 200, 3000], strict=True))
    return {
        "accounts": Table(account_types, accounts),
        "events": Table(event_types | {"ms": "bigint", "referrer": "text"}, events),
        "pages": Table({"page": "text", "section": "text", "words": "bigint"}, pages),
    }


def subjects(seed: int = 38) -> dict[str, Subject]:
    """Make the three subjects: the same each time."""
    random = Random(seed)
    return {
        "shop": Subject(SHOP_SCHEMAS, _shop(random), SHOP),
        "clinic": Subject(CLINIC_SCHEMAS, _clinic(random), CLINIC),
        "log": Subject(LOG_SCHEMAS, _log(random), LOG),
    }
