"""Code that repeats a request, which costs its user nothing.

A question is written as Python, as SQL with its terms in a comment, and as form fields; a synthetic table or a model
as Python that fetches and uses it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from math import isqrt
from typing import Any

from ....answer.answer import DATA, POPULATION
from ....plan.asked.terms import DEFAULT_LEVEL, Terms
from ....privacy.budget_text import budget_to_table
from ....privacy.measures import Measure
from ....wire.verbs.question import read_ask
from ....wire.verbs.synthesis import read_synthesis
from ....wire.verbs.training import read_learn

CONNECTED = '''"""The same request of the same person costs nothing again."""

import os

import discreet as dp
{more}
with dp.connect({url!r}, token=os.environ["DISCREET_TOKEN"], dataset={dataset!r}) as curator:
'''
MODEL = """    model = curator.learn(
        {sql!r},
        {model},
        dp.{spend},
    )
print(model.summary())

# or from the file, without the service:
# model = model_from_json(open("model.json").read(), {{{kind!r}: {kind}}})
# model.predict({{"column": [value, …], …}})
"""
SYNTHETIC = """    made = curator.synthesize(
        {table!r},
        dp.{spend},
{words}
    )
print(made.table({first}))
records = made.records()
"""


def model_code(url: str, dataset: str, body: str) -> str:
    """Write a Python program that fetches the model of a job; `body` is the stored request."""
    asked, said = read_learn(json.loads(body)), json.loads(body)["model"]
    kind = said["kind"]
    more = f"from discreet.learn import {kind}\nfrom discreet.learn.stored import model_from_json\n"
    words = {
        "sql": asked.sql,
        "model": repr(asked.model),
        "spend": measure_code(asked.spend),
        "kind": kind,
    }
    return CONNECTED.format(url=url, dataset=dataset, more=more) + MODEL.format(**words)


def synthesis_code(url: str, dataset: str, body: str) -> str:
    """Write a Python program that fetches the synthetic tables of a job and samples records."""
    asked = read_synthesis(json.loads(body))
    said: Mapping[str, Any] = {
        name: value for name, value in asked.words.items() if value is not None
    }
    words = "\n".join(f"        {name}={value!r}," for name, value in said.items())
    columns = said.get("columns")
    spend, first = measure_code(asked.spend), repr(columns[0]) if columns else ""
    made = SYNTHETIC.format(table=asked.table, spend=spend, words=words, first=first)
    return CONNECTED.format(url=url, dataset=dataset, more="") + made


MEASURES = {
    ("epsilon",): "PureDP({epsilon})",
    ("delta", "epsilon"): "ApproxDP({epsilon}, {delta})",
    ("rho",): "ZCDP({rho})",
    ("mu",): "GaussianDP({mu})",
    ("mu_squared",): "GaussianDP.of_square({mu_squared})",
    ("renyi",): "RenyiDP({renyi})",
}
PYTHON = '''"""Ask once more: the same question of the same person has the same answer, and costs nothing."""

import os

import discreet as dp

with dp.connect({url!r}, token=os.environ["DISCREET_TOKEN"], dataset={dataset!r}) as curator:
    answer = curator.sql(
{lines},
{terms}
    )
print(answer{shown})
'''


def python_code(url: str, dataset: str, body: str) -> str:
    """Write a program that asks what a job asked; whoever runs it gives their own token."""
    ask = read_ask(json.loads(body))
    lines = "\n".join(f"        {line!r}" for line in ask.sql.splitlines(keepends=True))
    terms = "\n".join(f"        {name}={words}," for name, words in _terms(ask.terms).items())
    shown = "" if ask.of == DATA else f".about({ask.of!r})"
    return PYTHON.format(url=url, dataset=dataset, lines=lines, terms=terms, shown=shown)


def sql_code(dataset: str, body: str) -> str:
    r"""Write the question with its terms as remarks above it.

    >>> from discreet.service.pages.downloads.question_code import sql_code
    >>> print(sql_code("town", '{"sql": "SELECT COUNT(*) AS n\\nFROM people", "spend": {"epsilon": "1/2"}}'))
    -- data set town; spend=dp.PureDP('1/2')
    SELECT COUNT(*) AS n
    FROM people
    <BLANKLINE>
    """
    ask = read_ask(json.loads(body))
    said = "; ".join(
        (f"data set {dataset}", *(f"{name}={words}" for name, words in _terms(ask.terms).items()))
    )
    return f"-- {said}\n{ask.sql}\n"


def plain_terms(dataset: str, body: str) -> str:
    """Say the terms of a question in words for a page.

    >>> from discreet.service.pages.downloads.question_code import plain_terms
    >>> plain_terms("town", '{"sql": "SELECT 1", "spend": {"epsilon": "1/2"}}')
    'Data set town, ε = 0.5 to spend'
    """
    terms = read_ask(json.loads(body)).terms
    said = [f"Data set {dataset}"]
    if terms.spend is not None:
        said.append(f"{terms.spend} to spend")
    if isinstance(terms.error, Mapping):
        for name, most in terms.error.items():
            said.append(f"{name} off by at most {most}")
    elif terms.error is not None:
        said.append(f"off by at most {terms.error}")
    return ", ".join(said)


def _terms(terms: Terms) -> dict[str, str]:
    """Return the terms that differ from their defaults, as Python writes them."""
    said: dict[str, str] = {}
    if terms.spend is not None:
        said["spend"] = f"dp.{measure_code(terms.spend)}"
    if terms.error is not None:
        said["error"] = _numbers(terms.error)
    if terms.weights is not None:
        said["weights"] = _numbers(terms.weights)
    if terms.size is not None:
        said["size"] = str(terms.size)
    if terms.whole:
        said["whole"] = "True"
    if terms.level != DEFAULT_LEVEL:
        said["level"] = repr(terms.level)
    if terms.nonnegative:
        said["nonnegative"] = "True"
    if not terms.intervals:
        said["intervals"] = "False"
    if terms.reuse is not True:
        said["reuse"] = repr(terms.reuse)
    if terms.within is not None:
        said["within"] = repr(terms.within)
    return said


def measure_code(measure: Measure) -> str:
    """Write a measure as Python does, its numbers exact.

    >>> import discreet as dp
    >>> from discreet.service.pages.downloads.question_code import measure_code
    >>> measure_code(dp.PureDP("1/3")), measure_code(dp.GaussianDP("1/3"))
    ("PureDP('1/3')", "GaussianDP.of_square('1/9')")
    """
    words = budget_to_table(measure)
    return MEASURES[tuple(sorted(words))].format(
        **{name: repr(value) for name, value in words.items()}
    )


def _numbers(value: object) -> str:
    if isinstance(value, Mapping):
        return repr({name: str(one) for name, one in value.items()})
    return repr(str(value))


def fields_of(body: str) -> dict[str, str]:
    """Return the fields of the workbench's form that would ask what a job asked.

    >>> from discreet.service.pages.downloads.question_code import fields_of
    >>> fields_of('{"sql": "SELECT 1", "error": {"n": "50"}, "nonnegative": true}')
    {'sql': 'SELECT 1', 'mode': 'error', 'error': 'n = 50', 'nonnegative': '1'}
    >>> fields_of('{"sql": "SELECT 1", "spend": {"epsilon": "1/2", "delta": "1e-6"}}')
    {'sql': 'SELECT 1', 'mode': 'spend', 'spend': '1/2', 'delta': '1e-6'}
    """
    said = json.loads(body)
    found = {"sql": str(said.get("sql", "")), "mode": "error" if "error" in said else "spend"}
    error = said.get("error")
    if error is not None:
        pairs = error.items() if isinstance(error, Mapping) else ()
        found["error"] = ", ".join(f"{name} = {value}" for name, value in pairs) or str(error)
    spend = dict(said.get("spend") or {})
    delta = spend.pop("delta", None)
    if "mu_squared" in spend:  # what stood in the field was its root
        square = Fraction(str(spend.pop("mu_squared")))
        spend["mu"] = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if spend:
        found["spend"] = str(next(iter(spend.values())))
    if delta is not None:
        found["delta"] = str(delta)
    why = {"why": str(said["why"])} if said.get("why") else {}
    ticks = {}
    if said.get("nonnegative"):
        ticks["nonnegative"] = "1"
    if said.get("of") == POPULATION:
        ticks["population"] = "1"
    return found | why | ticks
