"""Every function of the allow-list, counted or summed over rows: many in one SELECT, so that stores are asked once."""

from __future__ import annotations

from end_to_end.compare import Case

CONDITIONS = {
    "numbers": [
        "minutes + 3 > spent", "minutes - 3 < ward", "ward * minutes >= 100", "minutes / 7 <= 3", "-minutes = 5",
        "spent / 4 <> 10", "minutes % 7 = 3", "ABS(minutes) > 150", "FLOOR(spent / 9) = 4", "CEIL(spent / 9) = 4",
        "ROUND(spent / 9) = 4", "ROUND(spent / 9, 1) = 4.4", "LEAST(ward, 3) = 3",
        "GREATEST(ward, 3, 2) = 3", "minutes BETWEEN 0 AND 99", "minutes NOT BETWEEN 0 AND 99", "ward IN (1, 3, 5)",
        "ward NOT IN (1, 3, 5)", "minutes IS NULL", "minutes IS NOT NULL", "minutes IS DISTINCT FROM 7",
        "minutes IS NOT DISTINCT FROM 7", "COALESCE(minutes, ward, 0) = 2", "NULLIF(ward, 2) IS NULL",
        "CASE WHEN minutes > 0 THEN ward WHEN minutes < 0 THEN 7 END = 7", "CASE ward WHEN 1 THEN 2 WHEN 2 THEN 1 ELSE 0 END = 1",
        "CAST(paid AS INTEGER) = 1", "CAST(ward AS DOUBLE) / 4 > 1", "CAST(minutes AS BIGINT) > 5",
    ],
    "truths": [
        "paid", "NOT paid", "paid IS NULL", "paid IS TRUE", "paid IS NOT TRUE", "paid IS FALSE", "paid IS NOT FALSE",
        "paid AND ward = 1", "paid OR ward = 1", "paid = TRUE", "mood = 'up' OR NOT (paid AND shop = 'a')", "TRUE",
    ],
    "words": [
        "shop = 'a'", "shop <> 'a'", "note LIKE '%o%'", "note LIKE 'b_d'", "note NOT LIKE 'g%'", "note IN ('good', '100%')",
        "LOWER(note) = 'it''s fine'", "UPPER(note) = 'GOOD'", "LENGTH(note) = 3", "TRIM(note) = 'so so'", "LEFT(note, 2) = 'It'",
        "SUBSTRING(note, 2, 3) = 'ood'", "mood IS NULL",
    ],
    "times": [
        "YEAR(day) = 2024", "QUARTER(day) = 2", "MONTH(day) = 2", "DAY(day) = 29", "EXTRACT(YEAR FROM seen) = 2024",
        "EXTRACT(MONTH FROM day) IN (1, 12)", "HOUR(seen) < 6", "EXTRACT(ISODOW FROM day) = 7", "EXTRACT(DOW FROM day) = 0", "CAST(seen AS DATE) = day",
        "CAST(seen AS DATE) >= DATE '2024-06-01'", "day < '2024-03-01'", "day BETWEEN DATE '2024-02-01' AND DATE '2024-02-29'",
        "seen < TIMESTAMP '2024-07-01 12:30:00'", "day IN (DATE '2024-02-29', DATE '2024-12-31')", "DATE_PART('month', day) = 3",
    ],
    "more times": [
        "EXTRACT(WEEK FROM day) = 1", "EXTRACT(ISOYEAR FROM day) = 2025", "EXTRACT(DOY FROM day) > 300", "EXTRACT(MINUTE FROM seen) < 7",
        "EXTRACT(SECOND FROM seen) < 7", "DATE_TRUNC('week', day) = DATE '2024-02-26'", "DATE_TRUNC('quarter', day) = DATE '2024-04-01'",
        "DATE_TRUNC('month', seen) = TIMESTAMP '2024-02-01 00:00:00'", "DATE_TRUNC('hour', seen) < TIMESTAMP '2024-03-01 05:00:00'",
        "DATE_TRUNC('year', seen) = TIMESTAMP '2024-01-01 00:00:00'", "DATE_TRUNC('week', seen) = TIMESTAMP '2024-12-30 00:00:00'",
        "DATE_TRUNC('day', seen) > TIMESTAMP '2024-11-11 00:00:00'", "DATE_TRUNC('minute', seen) > TIMESTAMP '2024-11-11 11:11:00'",
        "day - DATE '2024-01-31' > 30", "day + 7 > DATE '2024-12-31'", "day + INTERVAL '1' MONTH = DATE '2024-02-29'", "day - INTERVAL '1' YEAR < DATE '2023-03-01'",
        "seen + INTERVAL '36' HOUR > TIMESTAMP '2024-12-31 00:00:00'", "seen - INTERVAL '1' MONTH < TIMESTAMP '2024-02-29 12:00:00'",
        "day > DATE '2024-01-31' + INTERVAL '1' MONTH", "EXTRACT(EPOCH FROM seen) > 1720000000", "EXTRACT(EPOCH FROM seen - TIMESTAMP '2024-05-05 00:00:00') < 86400",
        "seen > DATE '2024-06-01'", "seen < day", "day <= seen",
    ],
    "more words": ["note || shop = 'gooda'", "mood || note = 'upbad'", "(shop || '-') || note = 'b-100%'", "LENGTH(note || note) = 6"],
}  # fmt: skip
OWN = {
    "postgres": {
        "ROUND(spent / 9, 1) = 4.4": "ROUND(CAST(spent / 9 AS NUMERIC), 1) = 4.4",
        "ROUND(spent / 9) = 4": "FLOOR(spent / 9 + 0.5) = 4",
        "CAST(paid AS INTEGER) = 1": "paid::int = 1",
        "QUARTER(day) = 2": "EXTRACT(QUARTER FROM day) = 2",
        "HOUR(seen) < 6": "EXTRACT(HOUR FROM seen) < 6",
    },
    "spark": {
        "EXTRACT(EPOCH FROM seen) > 1720000000": "seen > TIMESTAMP_NTZ '2024-07-03 09:46:40'",
        "day - DATE '2024-01-31' > 30": "DATEDIFF(day, DATE '2024-01-31') > 30",
        "EXTRACT(EPOCH FROM seen - TIMESTAMP '2024-05-05 00:00:00') < 86400": "seen < TIMESTAMP '2024-05-06 00:00:00'",
        "EXTRACT(ISOYEAR FROM day) = 2025": "EXTRACT(YEAROFWEEK FROM day) = 2025",
        "EXTRACT(ISODOW FROM day) = 7": "WEEKDAY(day) = 6",
        "EXTRACT(DOW FROM day) = 0": "DAYOFWEEK(day) = 1",
    },
}
"""Where the same thing is said in other words."""

SUMS = [
    "minutes * ward", "IF(paid, ward, 0)", "CASE WHEN paid THEN spent ELSE 0 END", "LENGTH(note)", "MONTH(day) * 100 + DAY(day)",
    "ABS(minutes)", "minutes % 7", "COALESCE(minutes, 0)", "CAST(paid AS INTEGER)", "LEAST(spent, 100)", "GREATEST(COALESCE(minutes, 0), 0)",
]  # fmt: skip


def _counted(conditions: list[str]) -> str:
    columns = [
        f"COUNT(*) FILTER (WHERE {condition}) AS c{i}" for i, condition in enumerate(conditions)
    ]
    return f"SELECT {', '.join(columns)} FROM visits"


def _summed(terms: list[str]) -> str:
    return f"SELECT {', '.join(f'SUM({term}) AS s{i}' for i, term in enumerate(terms))} FROM visits"


def _own(conditions: list[str]) -> dict[str, str]:
    from end_to_end.stores import translated

    return {
        store: ", ".join(
            f"COUNT(*) FILTER (WHERE {other.get(c) or translated(f'SELECT {c}', store)[7:]})"
            for c in conditions
        ).join(("SELECT ", " FROM visits"))
        for store, other in OWN.items()
    }


FUNCTIONS = [
    *(Case(name, _counted(conditions), own=_own(conditions)) for name, conditions in CONDITIONS.items()),
    Case("sums", _summed(SUMS)),
    Case("weeks apart", "SELECT SUM(DATE_DIFF('week', DATE '2024-01-07', day)) AS a, SUM(DATE_DIFF('month', DATE '2024-03-31', day)) AS b, SUM(DATE_DIFF('quarter', day, DATE '2024-03-31')) AS c, SUM(DATE_DIFF('year', day, DATE '2029-03-31')) AS d, SUM(DATE_DIFF('day', day, CAST(seen AS DATE))) AS e FROM visits",
         "SELECT SUM(DATE_DIFF('day', DATE '2024-01-01', CAST(DATE_TRUNC('week', day) AS DATE)) // 7) AS a, SUM(DATE_DIFF('month', DATE '2024-03-31', day)) AS b, SUM(DATE_DIFF('quarter', day, DATE '2024-03-31')) AS c, SUM(DATE_DIFF('year', day, DATE '2029-03-31')) AS d, SUM(DATE_DIFF('day', day, CAST(seen AS DATE))) AS e FROM visits",
         own={"postgres": "SELECT SUM((date_trunc('week', day)::date - DATE '2024-01-01') / 7), SUM(EXTRACT(YEAR FROM day) * 12 + EXTRACT(MONTH FROM day) - 2024 * 12 - 3), SUM(2024 * 4 + 1 - EXTRACT(YEAR FROM day) * 4 - EXTRACT(QUARTER FROM day)), SUM(2029 - EXTRACT(YEAR FROM day)), SUM(seen::date - day) FROM visits",
              "spark": "SELECT SUM(datediff(trunc(day, 'WEEK'), DATE '2024-01-01') div 7), SUM(YEAR(day) * 12 + MONTH(day) - 2024 * 12 - 3), SUM(2024 * 4 + 1 - YEAR(day) * 4 - QUARTER(day)), SUM(2029 - YEAR(day)), SUM(datediff(CAST(seen AS DATE), day)) FROM visits"}),
    Case("hours apart", "SELECT SUM(DATE_DIFF('hour', seen, TIMESTAMP '2024-12-31 23:10:05')) AS a, SUM(DATE_DIFF('minute', seen, TIMESTAMP '2024-12-31 23:10:05')) AS b, SUM(DATE_DIFF('second', day, seen)) AS c FROM visits",
         own={store: f"SELECT SUM(({end} {div} 3600) - ({seen} {div} 3600)), SUM(({end} {div} 60) - ({seen} {div} 60)), SUM({seen} - {day}) FROM visits" for store, div, end, seen, day in (
             ("postgres", "/", "1735686605", "EXTRACT(EPOCH FROM seen)::bigint", "EXTRACT(EPOCH FROM day)::bigint"), ("spark", "div", "1735686605", "unix_seconds(seen)", "unix_date(day) * 86400L"))}),
    Case("roots of rows", "SELECT SUM(SQRT(spent)) AS a, COUNT(SQRT(minutes)) AS b FROM visits", "SELECT SUM(SQRT(spent)) AS a, COUNT(minutes) FILTER (WHERE minutes >= 0) AS b FROM visits", within=1e-3, why="a root is rounded to 2^-23 of the greatest"),
    Case("signs", "SELECT SUM(SIGN(minutes)) AS a, SIGN(SUM(minutes)) AS b FROM visits"),
    Case("a remainder that is never negative", "SELECT SUM(PMOD(minutes, 7)) AS s FROM visits", "SELECT SUM(((minutes % 7) + 7) % 7) AS s FROM visits"),
    Case("division by a column", "SELECT SUM(spent / ward) AS s FROM visits", within=1e-3, why="a quotient of two columns is rounded to a billionth of the largest"),
    Case("division by what may be 0", "SELECT COUNT(1 / (ward - 3)) AS n FROM visits", "SELECT COUNT(1 / NULLIF(ward - 3, 0)) AS n FROM visits"),
]  # fmt: skip
