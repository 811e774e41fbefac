"""Sentences about mechanisms: which noise was paid for, how it is drawn, and what is known of timing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from ..arithmetic.canonical import canonical_json
from ..privacy.events.json import Json
from .deployment import ENDED, Deployment, Sentence, line_names
from .proof import Charge

_MAX_NOISES = 12


def noises(charges: Iterable[Charge]) -> Counter[str]:
    """Count the mechanisms in the events of charges, by a text of their kind and scale or price."""
    counted: Counter[str] = Counter()
    for charge in charges:
        _count_event(charge.event, counted)
    return counted


def _count_event(event: Any, counted: Counter[str], times: int = 1) -> None:  # noqa: ANN401 JSON
    """Count the plain events within an event, as its JSON nests them."""
    inner = []
    repeats = times
    for name, value in event.items():
        if name == "times":
            repeats = times * int(value)
        # A batch has a list of events, a repetition one; other values are amounts.
        nested = value
        if not isinstance(value, list):
            nested = [value]
        for one in nested:
            if isinstance(one, dict) and "event" in one:
                inner.append(one)
    # Only the innermost events draw noise; those around them say how often.
    if inner:
        for one in inner:
            _count_event(one, counted, repeats)
        return
    counted[_noise_text(event)] += times


def _noise_text(event: Json) -> str:
    name = str(event["event"]).replace("-", " ")
    if "scale" in event:
        return f"{name} of scale {event['scale']} steps for sensitivity {_plain(event.get('sensitivity'))}"
    # Selections have a price of their own in the place of a scale.
    for key in ("epsilon", "delta", "mu"):
        if key in event:
            name += f" of {key} {_plain(event[key])}"
    return name


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    return canonical_json(value)


def noise_sentences(deployment: Deployment) -> list[Sentence]:
    """Return sentences that count the mechanisms that were paid for, the most frequent first.

    Beyond twelve kinds the others are counted together.
    """
    charges = deployment.proof.charges
    lines = line_names(charges) or (ENDED,)
    counted = noises(charges)
    told = []
    # Named one by one as far as a reader follows; the rest is counted.
    for text, count in counted.most_common(_MAX_NOISES):
        told.append(Sentence(f"{count} × {text}.", lines))
    if len(counted) > _MAX_NOISES:
        text = f"Further kinds or scales of noise: {len(counted) - _MAX_NOISES}."
        told.append(Sentence(text, lines))
    return told


def exactness() -> list[Sentence]:
    """Return how noise is drawn, by every release of discreet."""
    noise = ("docs: explanation/noise.md",)
    return [
        Sentence("Noise is drawn as exact integers, without floating point.", noise),
        Sentence("Random bits come from the operating system's secure source.", noise),
    ]


def mechanisms(deployment: Deployment) -> list[Sentence]:
    """Return which mechanisms answered, how they draw, and by which releases of discreet."""
    charges = deployment.proof.charges
    told = [*noise_sentences(deployment), *exactness()]
    releases = set(map(attrgetter("release"), charges))
    # Older answers do not say: they are named as not recorded.
    if releases:
        text = f"Releases of discreet that answered: {', '.join(sorted(releases))}."
        told.append(Sentence(text, line_names(charges)))
    return told + timing(deployment)


def timing(deployment: Deployment) -> list[Sentence]:
    """Return what is known of protection against timing side channels."""
    service: Any = deployment.proof.end["service"]
    if service is None:
        text = "Whether answers wait for a time grid is not stated: no service file was given."
        return [Sentence(text, (ENDED,), open=True)]
    text = f"The service gives results on a time grid of {service['grid']} seconds."
    return [Sentence(text, (ENDED, "docs: explanation/service.md"))]
