"""Trial of a function on one pair of neighbours, by record and replay (rank 1).

| what happens | verdict |
|---|---|
| the losses add up to more than the claim, or anything else differs | refuted |
| the same, but no release was seen, some randomness has no known law, | suspect |
| there is a doubt, or steered runs do not confirm it | |
| nothing differs and the losses are within the claim | not refuted |
| the same, but no release was seen, or there is a doubt about one | not seen |
| the function raises before any release | not tested |

The noise is set three times: drawn, far above and far below 0 (steering), so that code which acts
on large noise runs too. All draws come from fixed seeds: a verdict never varies.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from ...frozen import field, frozen
from ...privacy.measures import Measure, PureDP
from .compare import Row, counted, element, numbers_of, rows_of, visible
from .loss import TOLERANCE, Judged, Loss, judge
from .sources import seeded_torch
from .tape import Diverged, Node, Tape, Values
from .tracked import unused_noise

# Steering sets Laplace noise to so many scales; normal noise needs more for a large ratio.
_FAR = {"laplace": 40.0, "normal": 1e4}

NOT_REPEATED = (
    "two runs on the same data differ: the function draws noise that the audit cannot see"
)

Program: TypeAlias = Callable[[Any], object]
"""Function under audit: it gets a data set and returns an answer."""
Inputs: TypeAlias = tuple[object, object]
"""Two neighbouring data sets."""
Forced = Callable[[str, Values], Values]


@frozen
class Trial:
    """Outcome of one pair of neighbours.

    `rank` is 1 for replay, 2 for coupling, 3 for the black box, 0 if nothing was tested.
    """

    why: str
    verdict: str
    rank: int
    rows: tuple[Row, ...] = ()
    differences: tuple[tuple[str, str], ...] = ()
    total: str = ""
    notes: tuple[str, ...] = ()
    estimate: float = 0.0
    """The ε that coupling estimates."""
    pair: Inputs = field(default=(None, None))

    @property
    def place(self) -> str:
        """The line of code that breaks the promise: the first difference, else the largest loss."""
        if self.differences:
            return self.differences[0][0]
        if not self.rows:
            return ""
        return max(self.rows, key=lambda row: _size(row.loss)).place


def _size(loss: Loss) -> float:
    if loss.squared_mu == 0:
        return loss.epsilon
    return math.sqrt(loss.squared_mu)


def run(function: Program, data: object, tape: Tape) -> tuple[str, Any]:
    """Run a function on a copy of the data with a tape; return what happened, and the result.

    | happened | result |
    |---|---|
    | "answer" | the answer as plain values |
    | "raises" | type and text of the exception, which an analyst sees |
    | "diverged" | None: a replay made a step that was not recorded |
    """
    try:
        with tape, seeded_torch(tape):
            answer = function(copy.deepcopy(data))
            # Inside the tape: looking at the answer is a step of the run.
            seen = visible(answer)
            tape.show(np.array(numbers_of(seen), dtype=float))
            return "answer", seen
    except Diverged:
        return "diverged", None
    except Exception as error:  # noqa: BLE001 - the analyst sees an exception, so it is compared
        return "raises", f"{type(error).__name__}: {error}"


@frozen
class Playback:
    """A recorded run, its replay on the other input, and what they show."""

    recorded: Tape
    replayed: Tape
    answers: tuple[tuple[str, Any], tuple[str, Any]]
    rows: tuple[Row, ...]
    differences: tuple[tuple[str, str], ...]

    @property
    def loss(self) -> Loss:
        """Sum of the losses of all releases."""
        return sum((row.loss for row in self.rows), start=Loss())

    @property
    def told(self) -> Loss:
        """Sum of the losses of what the answer tells."""
        rows = rows_of(self.recorded.steps, self.replayed.steps, told=True)
        return sum((row.loss for row in rows), start=Loss())

    def doubts(self) -> list[str]:
        """Return the reasons why a difference or a loss is no proof."""
        found = [*self.recorded.doubts, *self.replayed.doubts]
        for place in unused_noise(self.recorded.steps, self.replayed.steps):
            found.append(f"noise drawn at {place} was used before it was added to anything")
        found += [f"{row.law} at {row.place}: {row.reason}" for row in self.rows if row.reason]
        return list(dict.fromkeys(found))

    def other_draws(self) -> list[str]:
        """Return the draws of no known law."""
        return sorted({*self.recorded.other_draws, *self.replayed.other_draws})


def play(function: Program, pair: Inputs, forced: Forced | None = None) -> Playback:
    """Record a function on the first input and replay it on the second."""
    recorded = Tape(seed=1, forced=forced)
    first = run(function, pair[0], recorded)
    replayed = Tape(seed=1, forced=forced, recorded=recorded.steps)
    second = run(function, pair[1], replayed)
    differences = list(replayed.differences)
    # Steps that the second run never reached.
    rest = recorded.steps[len(replayed.steps) :]
    if rest and second[0] != "diverged":
        replayed.doubt_chain(rest[0], replayed.steps)
        text = f"{rest[0].title} on the first input only"
        differences.append((rest[0].place, text))
    if second[0] != "diverged" and repr(first) != repr(second):
        differences.append((_last_place(recorded), _answers_differ(first, second)))
    rows = tuple(rows_of(recorded.steps, replayed.steps))
    return Playback(recorded, replayed, (first, second), rows, tuple(differences))


def _last_place(tape: Tape) -> str:
    if tape.steps:
        return tape.steps[-1].place
    return ""


def _answers_differ(first: tuple[str, Any], second: tuple[str, Any]) -> str:
    """Describe how two answers differ, without their values: those of D may be private."""
    if first[0] == second[0] == "answer":
        return "the answer differs though every release is the same"
    names = {"answer": "an answer"}
    before = names.get(first[0], f"raises {first[1]!s:.80}")
    after = names.get(second[0], f"raises {second[1]!s:.80}")
    return f"{before} on the first input, {after} on the second"


def try_pair(function: Program, claim: Measure, pair: Inputs, why: str) -> Trial:
    """Replay one pair with the noise as drawn, then far above and far below 0."""
    plays = [play(function, pair)]
    if plays[0].recorded.steps:
        plays += [play(function, pair, _all(sign)) for sign in (1.0, -1.0)]
    # Each transcript has losses of its own where inputs follow earlier outputs.
    judged = [judge(shown.loss, claim) for shown in plays]
    worst = max(range(len(plays)), key=lambda index: _weight(plays[index], judged[index]))
    shown = plays[worst]
    broken = bool(shown.differences) or judged[worst].above
    notes = shown.doubts()
    # What differs without a reason is noise that no patch reached, not a leak.
    if broken and not _repeats(function, pair[0]):
        notes.append(NOT_REPEATED)
    verdict = _verdict(function, claim, pair, shown, judged[worst], doubted=bool(notes))
    if broken and shown.other_draws():
        notes.append("draws of no known law: " + "; ".join(shown.other_draws()[:3]))
    if shown.answers[0][0] == shown.answers[1][0] == "raises":
        notes.append(f"both inputs: raises {shown.answers[0][1]!s:.200}")
    if shown.answers[0] == ("answer", None):
        notes.append("the function returns nothing: only its releases were compared")
    return Trial(
        why=why,
        verdict=verdict,
        rank=1 if verdict in ("refuted", "not refuted") else 0,
        rows=shown.rows,
        differences=shown.differences,
        total=judged[worst].text,
        notes=tuple(notes),
        pair=pair,
    )


def _repeats(function: Program, data: object) -> bool:
    """Return whether replaying a run on the same data shows no difference and no loss."""
    again = play(function, (data, data))
    return not again.differences and again.loss.nothing


def _weight(shown: Playback, judged: Judged) -> tuple[bool, bool, float]:
    return judged.above, bool(shown.differences), judged.seen


def _verdict(
    function: Program,
    claim: Measure,
    pair: Inputs,
    shown: Playback,
    judged: Judged,
    *,
    doubted: bool,
) -> str:
    """Return the verdict of replay; pairs with "suspect" or "not seen" go on to the other ranks.

    `doubted` says that there is a reason why a difference or loss of this replay is no proof.
    """
    # Randomness of no known law may hide what differs: then a difference is no proof.
    uncertain = doubted or bool(shown.other_draws())
    if shown.differences and not uncertain and shown.recorded.steps:
        return "refuted"
    if judged.above and not uncertain:
        if _confirmed(function, claim, pair, shown):
            return "refuted"
        return "suspect"
    if shown.differences or judged.above:
        return "suspect"
    if shown.answers[0][0] == "raises" and not shown.recorded.steps:
        return "not tested"
    if not shown.recorded.steps or doubted:
        return "not seen"
    return "not refuted"


def _all(sign: float) -> Forced:
    """Return a steering of all noise to one side: 4 scales of Laplace, 1000 of normal noise."""

    def forced(law: str, ids: Values) -> Values:
        return np.full(ids.shape, sign * _FAR[law] / 10)

    return forced


def _confirmed(function: Program, claim: Measure, pair: Inputs, shown: Playback) -> bool:
    """Steer the noise to where the ratio is largest, and take the exact log-ratio of that transcript.

    Only what the answer tells is counted: of noise that is compared or sorted, an answer tells less.

    For a pure claim that ratio alone is the proof, also where inputs follow earlier outputs. For any
    other claim the sum of losses is one, if the inputs do not follow earlier outputs.
    """
    if not judge(shown.told, claim).above:
        return False
    steered = play(function, pair, _towards(_signs(shown)))
    if not isinstance(claim, PureDP):
        return _same_inputs(shown.recorded, steered.recorded)
    # A number that moves without noise needs no ratio.
    told = steered.told
    if told.certain or told.unbounded:
        return True
    ratio = _log_ratio(steered)
    return ratio > float(claim.epsilon) * (1 + TOLERANCE)


def _signs(shown: Playback) -> dict[int, float]:
    """Return for each draw the sign of the noise at which the first input is the likelier one."""
    signs: dict[int, float] = {}
    for first, second in _nodes(shown):
        for index in np.flatnonzero(counted(first, second, told=True)).tolist():
            move, _, _ = element(first, second, index)
            factor = float(first.factor[index])
            signs[int(first.ids[index])] = -1.0 if move * factor > 0 else 1.0
    return signs


def _towards(signs: dict[int, float]) -> Forced:
    def forced(law: str, ids: Values) -> Values:
        return np.array([_FAR[law] * signs.get(int(draw), 1.0) for draw in ids.tolist()])

    return forced


def _nodes(shown: Playback) -> list[tuple[Node, Node]]:
    steps = zip(shown.recorded.steps, shown.replayed.steps, strict=False)
    return [(a, b) for a, b in steps if isinstance(a, Node) and isinstance(b, Node)]


def _log_ratio(shown: Playback) -> float:
    """Return log p(transcript | D) − log p(transcript | D'), each draw counted once."""
    total = sum((row.loss.epsilon for row in shown.rows if row.declared), start=0.0)
    done: set[int] = set()
    for first, second in _nodes(shown):
        for index in np.flatnonzero(counted(first, second, told=True)).tolist():
            draw = int(first.ids[index])
            # Two nodes of one draw tell the same noise.
            if draw not in done:
                done.add(draw)
                total += _element_ratio(first, second, index)
    return total


def _element_ratio(first: Node, second: Node, index: int) -> float:
    """Return the log-ratio of the densities at one noisy value, for D against D'."""
    assert first.input is not None  # noqa: S101 - `counted` says so
    move, scale, _ = element(first, second, index)
    # In a steered run this is far on the side where D is the likelier input.
    noise = float(first.value[index] - first.input[index])
    if first.law == "laplace":
        return (abs(noise - move) - abs(noise)) / scale
    return move * (move - 2 * noise) / (2 * scale * scale)


def _same_inputs(first: Tape, second: Tape) -> bool:
    """Return whether two runs on one data set, with other noise, release the same inputs."""
    if len(first.steps) != len(second.steps):
        return False
    for before, after in zip(first.steps, second.steps, strict=True):
        if isinstance(before, Node) and isinstance(after, Node) and before.input is not None:
            if after.input is None or repr(before.input.tolist()) != repr(after.input.tolist()):
                return False
    return True
