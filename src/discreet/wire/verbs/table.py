"""Table of all verbs, from which routes, OpenAPI schemas and jobs of the service follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..verb import Verb
from . import declaration, question, streams, synthesis, training

_ALL: tuple[Verb[Any], ...] = (
    *question.VERBS,
    *training.VERBS,
    *synthesis.VERBS,
    *declaration.VERBS,
    *streams.VERBS,
)
VERBS: Mapping[str, Verb[Any]] = {verb.name: verb for verb in _ALL}
"""Verbs by name, in the order of the OpenAPI document.

A name stays for ever: stored jobs and published paths have it.
"""
