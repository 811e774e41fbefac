"""Endpoint of the public record of a data set, for stewards; the steward's page makes the same one.

The request holds the steward's words and the numbers of entries whose questions are shown, the
reply all files of the record as text. No row is asked and nothing is spent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...curator.signing import Signer
from ...record import DeploymentRecord, record
from ..state import State
from .endpoint import ApiCall, Reply
from .schemas import QUESTIONS, RECORD, WORDS


def make_record(state: State, call: ApiCall) -> Reply:
    """Return the public record of a data set: its files by path, its tier, what is not answered."""
    fields = RECORD.read(call.json())
    made = record_of(state, call.dataset, WORDS.of(fields), QUESTIONS.of(fields))
    return Reply({"files": dict(made.files), "tier": made.tier, "open": list(made.open)})


def record_of(
    state: State, dataset: str, words: Mapping[str, object], questions: Sequence[int]
) -> DeploymentRecord:
    """Make the record of a data set with the settings of this service, signed if it has a key."""
    config = state.config
    signer = None
    if config.signing_key:
        signer = Signer.load(config.signing_key)
    shares = config.datasets[dataset].share_questions
    return record(
        state.datasets.ledger(dataset),
        state.datasets.schemas(dataset),
        words,
        questions=questions,
        service={"grid": config.grid, "share_questions": shares},
        signer=signer,
    )
