"""Rounds of a heavy-hitters search for words, on the command line.

Each round writes the parameters of the next one and the counts that later rounds need.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from ..errors import InvalidArgument
from ..local.reports.collector import Collector
from ..local.reports.parameters import device_parameters
from ..local.search.rounds import people_of
from ..local.search.words import WordRound
from .output import write_text


def with_earlier_counts(asked: WordRound, path: Path | None) -> WordRound:
    """Return the round with the counts of earlier ones, as `write_next_round` wrote them to a file.

    Without a file the round is returned as it is. Refuses: a file of another round.
    """
    if path is None or not path.exists():
        return asked
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        counts = []
        for value, variance, rivals in kept["heard"]:
            counts.append((float(value), float(variance), float(rivals)))
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidArgument(f"{path} does not hold what earlier rounds said") from None
    # After scouts there are counts only for the words that they found.
    known = len(asked.found)
    lengths = (known, known + len(asked.prefixes))
    if kept.get("round") != asked.index or len(counts) not in lengths:
        raise InvalidArgument(
            f"{path} was kept for another round; give the one that was written with the parameters"
        )
    return replace(asked, heard=tuple(counts))


def write_next_round(collected: Collector, out: Path, heard: Path | None) -> str:
    """Write the parameters of the next round and the counts so far; return a summary."""
    following = collected.narrow()
    parameters = device_parameters(following, metric=collected.metric)
    write_text(out, json.dumps(parameters, ensure_ascii=False) + "\n")
    if heard is not None:
        kept = {"round": following.index, "heard": following.heard}
        write_text(heard, json.dumps(kept) + "\n")
    stages = following.words.stages
    fraction = following.stage.people / people_of(stages)
    done = f"round {following.index} of {len(stages)}: {len(collected)} reports"
    return f"{done}; {out} is for the next group, {fraction:.1%} of all people"
