"""Rounds of a search for words on the command line: the next one's parameters, and what is kept between them."""

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


def recall(asked: WordRound, path: Path | None) -> WordRound:
    """Return the round with what those before it said, as `go_on` kept it; without a file nothing was said."""
    if path is None or not path.exists():
        return asked
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        rows = tuple(
            (float(value), float(variance), float(rivals))
            for value, variance, rivals in kept["heard"]
        )
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidArgument(f"{path} does not hold what earlier rounds said") from None
    known = len(asked.found)  # after scouts only what they found
    if kept.get("round") != asked.index or len(rows) not in (known, known + len(asked.prefixes)):
        raise InvalidArgument(
            f"{path} was kept for another round; give the one that was written with the parameters"
        )
    return replace(asked, heard=rows)


def go_on(collected: Collector, out: Path, heard: Path | None) -> str:
    """Write the parameters of the next round, and what the rounds so far say; return a line about it."""
    following = collected.narrow()
    write_text(
        out,
        json.dumps(device_parameters(following, metric=collected.metric), ensure_ascii=False)
        + "\n",
    )
    if heard is not None:
        write_text(heard, json.dumps({"round": following.index, "heard": following.heard}) + "\n")
    stages = following.words.stages
    share = following.stage.people / people_of(stages)
    done = f"round {following.index} of {len(stages)}: {len(collected)} reports"
    return f"{done}; {out} is for the next group, {share:.1%} of all people"
