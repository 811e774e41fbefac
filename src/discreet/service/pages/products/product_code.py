"""Programs that use a synthetic table or model: they ask for it again, which costs its user nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ....wire.verbs.synthesis import read_synthesis
from ....wire.verbs.training import read_learn
from ..downloads.question_code import measure_code

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
    """Write a program that fetches a model that was learned."""
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
    """Write a program that fetches synthetic tables that were released, and makes records of them."""
    asked = read_synthesis(json.loads(body))
    said: Mapping[str, Any] = {
        name: value for name, value in asked.words.items() if value is not None
    }
    words = "\n".join(f"        {name}={value!r}," for name, value in said.items())
    columns = said.get("columns")
    spend, first = measure_code(asked.spend), repr(columns[0]) if columns else ""
    made = SYNTHETIC.format(table=asked.table, spend=spend, words=words, first=first)
    return CONNECTED.format(url=url, dataset=dataset, more="") + made
