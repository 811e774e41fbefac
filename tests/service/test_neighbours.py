"""Two neighbouring data sets behind two real servers: nothing but noisy numbers differs.

What is compared byte for byte: status, every header, the body with numbers, times, hashes and ids blotted out. The
lengths are compared too: replies to charged requests are filled up to whole kilobytes.
"""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.deployment import COUNT, GROUPED, build, free_port, rows, serving

QUESTIONS = [
    {"sql": GROUPED, "spend": {"epsilon": "1"}},
    {"sql": COUNT + " WHERE age = 119", "spend": {"epsilon": "1/100"}},
    {
        "sql": "SELECT AVG(income) AS m, COUNT(*) AS n FROM people WHERE age > 200",
        "spend": {"epsilon": "1/2"},
    },
    {"sql": "SELECT MEDIAN(age) AS a FROM people", "spend": {"epsilon": "1/2"}},
    {"sql": "SELECT MAX(income) AS high FROM people", "spend": {"epsilon": "1/2"}},
    {
        "sql": "SELECT region, SUM(income) AS s FROM people GROUP BY region ORDER BY s DESC LIMIT 2",
        "error": 50_000,
    },
    {
        "sql": "SELECT STDDEV(income) AS s FROM people",
        "spend": {"epsilon": "1"},
        "nonnegative": True,
    },
    {"sql": "SELECT income FROM people", "spend": {"epsilon": "1"}},
    {"sql": COUNT, "spend": {"epsilon": "1000"}},
    {"sql": COUNT + " WHERE income / (age - 30) > 1", "spend": {"epsilon": "1/10"}},
    {
        "sql": "SELECT COUNT(*) AS n FROM people WHERE CAST(region AS INTEGER) > 1",
        "spend": {"epsilon": "1/10"},
    },
]
BLOTS = (
    (r"[0-9a-f]{64}", "HASH"),
    (r"/api/v1/jobs/[\w-]{22}", "PLACE"),
    (r'"id": "[\w-]{22}"', '"id": "ID"'),
    (r"null|-?\d+(\.\d+)?(e[+-]?\d+)?", "#"),
    (r'"region"|"(N|S|E|W)"', '"KEY"'),
    (r'"faint": \[[^\]]*\]', "FAINT"),  # rows whose noisy number says nothing beside its error
)


def blotted(text):
    for pattern, blot in BLOTS:
        text = re.sub(pattern, blot, text)
    return text.rstrip()


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The second data set lacks one person, whose row is the most extreme."""
    whole = rows() + "119,99999,W\n"
    made = [
        build(tmp_path_factory.mktemp("pair"), csv=csv, port=free_port(), service='grid = "0.5"')
        for csv in (whole, rows())
    ]
    with serving(made[0]), serving(made[1]):
        yield made


def seen(deployment, body):
    """Ask, and follow the job if there is one; its outcome is compared, headers and all."""
    with deployment.client("ana") as client:
        response = client.post("/datasets/people/sql", json=body)
        if "location" in response.headers:
            place = response.headers["location"].removeprefix("/api/v1")
            while "reply" not in (response := client.get(place)).json():
                time.sleep(response.json()["again_in"])
    headers = {name: blotted(text) for name, text in response.headers.items()}
    return response.status_code, headers, blotted(response.text), len(response.content) // 1024


def both(pair, body):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda deployment: seen(deployment, body), pair))


@pytest.mark.parametrize("body", QUESTIONS, ids=[f"question {k}" for k in range(len(QUESTIONS))])
def test_answers_and_refusals_differ_in_noisy_numbers_only(pair, body):
    one, other = both(pair, body)
    assert one == other


@pytest.mark.parametrize("verb", ["explain", "plan"])
def test_what_is_free_is_the_same_to_the_last_byte(pair, verb):
    for body in QUESTIONS[:6]:
        answers = []
        for deployment in pair:
            with deployment.client("ana") as client:
                found = client.post(f"/datasets/people/{verb}", json=body)
                answers.append(
                    re.sub(r'"left.*?fits', "", found.text) if verb == "explain" else found.text
                )
        if verb == "explain":
            answers = [re.sub(r"costs .* left; .*? would be left", "", text) for text in answers]
        assert answers[0] == answers[1]


def test_a_file_that_was_read_is_not_missed(pair):
    for deployment in pair:
        (deployment.folder / "people.csv").unlink()
    one, other = both(pair, {"sql": COUNT + " WHERE age < 99", "spend": {"epsilon": "1/10"}})
    assert one == other
    assert "done" in one[2]
