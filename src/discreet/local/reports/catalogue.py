"""Registry of local mechanisms by the name that their parameters carry.

The command line and the server read parameters through it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from ...errors import InvalidArgument
from ..choice import Choice
from ..deployments.bit_flip import BitFlip
from ..deployments.hadamard_sketch import HadamardCountMeanSketch
from ..deployments.one_bit import OneBitMean
from ..deployments.rappor import Rappor
from ..deployments.sketch import CountMeanSketch
from ..histogram import Histogram
from ..number import Number
from ..search.words import WordRound

LocalMechanism: TypeAlias = (
    Choice
    | Number
    | Histogram
    | OneBitMean
    | BitFlip
    | Rappor
    | CountMeanSketch
    | HadamardCountMeanSketch
    | WordRound
)

MECHANISMS: dict[str, type[LocalMechanism]] = {
    "choice": Choice,
    "number": Number,
    "histogram": Histogram,
    "one-bit-mean": OneBitMean,
    "bit-flip": BitFlip,
    "rappor": Rappor,
    "count-mean-sketch": CountMeanSketch,
    "hadamard-count-mean-sketch": HadamardCountMeanSketch,
    "words": WordRound,
}


def read_mechanism(given: Mapping[str, Any]) -> LocalMechanism:
    """Make the mechanism that parameters describe, as its `to_json` wrote them.

    >>> from discreet.local import read_mechanism
    >>> amounts = {"low": "0", "high": "1", "epsilon": "1", "gamma": "0"}
    >>> read_mechanism({"mechanism": "one-bit-mean", "version": 1, **amounts})
    OneBitMean(low=0, high=1, epsilon=1, gamma=0)

    Refuses: `InvalidArgument` for mechanisms that this release does not know, unknown or missing
    fields, and other versions.
    Law: `tests/local/test_collect.py::test_parameters_of_other_versions_are_refused`
    """
    mechanism = None
    if isinstance(given, Mapping):
        mechanism = MECHANISMS.get(str(given.get("mechanism")))
    if mechanism is None:
        raise InvalidArgument(
            f"the parameters name no mechanism of the local model: {', '.join(MECHANISMS)}"
        )
    try:
        return mechanism.from_json(given)
    except (KeyError, TypeError) as broken:
        raise InvalidArgument("the parameters are not as `to_json` writes them") from broken


def needs_candidates(mechanism: LocalMechanism) -> bool:
    """Return whether an estimate needs a list of public candidates."""
    return isinstance(mechanism, Rappor | CountMeanSketch | HadamardCountMeanSketch)
