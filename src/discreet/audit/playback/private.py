"""Audit of a function as it is: `private` decorates a test, `audit_function` returns the report.

    @dp.audit.private(dp.PureDP(1), neighbours="add-remove")
    def test_my_mean(rows):
        return my_library.mean(rows, epsilon=1, bounds=(0, 100))

The function gets a data set and returns an answer. It is neither rewritten nor annotated: the
sources of randomness are replaced while it runs (`sources.py`), known libraries are seen through
`adapters/`, and each pair of neighbours is tried by replay, coupling or the black box.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ...errors import InvalidArgument
from ...frozen import frozen, replace
from ...privacy.measures import Measure
from ..evidence.claim import read_claim
from ..targets.edges import Pair
from ..targets.edges import neighbours as propose
from ..targets.inputs import Unit, check_inputs
from ..verify import Refuted
from .adapters import attach
from .coupling import with_black_box, with_estimate
from .report import PlaybackReport
from .sources import ANOTHER_THREAD, replaced
from .tape import place_of
from .trial import NOT_REPEATED, Program, Trial, try_pair

_EXAMPLE = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0)
# The black box is slow: only so many pairs of one function are given to it.
_MOST_BLACK_BOXES = 3
# Coupling runs a function 200 times for each pair.
_MOST_COUPLED = 8
_RELATIONS = ("add-remove", "replace")

_running = threading.Lock()


@frozen
class Effort:
    """Limits of the slow ranks: runs of the black box, and seconds for each pair."""

    samples: int
    seconds: float


def private(
    claim: Measure,
    *,
    neighbours: str = "add-remove",
    example: object = _EXAMPLE,
    pairs: Iterable[Sequence[object]] | None = None,
    unit: Unit | None = None,
    low: float | None = None,
    high: float | None = None,
    skip: Sequence[str] = (),
    samples: int = 2000,
    seconds: float = 5.0,
) -> Callable[[Program], Callable[[], None]]:
    """Return a decorator that makes a function of a data set a test of its privacy claim.

    The arguments are those of `audit_function`. The test takes no arguments: it raises
    `ClaimRefuted` with the report, or `InvalidArgument` if nothing could be tested. Its attribute
    `audit()` returns the report.

    >>> import discreet as dp
    >>> import numpy as np
    >>> @dp.audit.private(dp.PureDP(1), example=[1.0, 2.0, 3.0])
    ... def test_count(rows):
    ...     return len(rows) + np.random.laplace(scale=1)
    >>> test_count()
    >>> test_count.audit().verdict
    'not refuted'

    Law: `tests/audit/playback/test_private.py::test_the_decorator`
    """
    # A wrong claim is refused where the test is defined, not when it runs.
    read_claim(claim)
    # Pairs may come from an iterator, and the test may run twice.
    listed = None if pairs is None else list(pairs)

    def decorate(function: Program) -> Callable[[], None]:
        def audited() -> PlaybackReport:
            return audit_function(
                function,
                claim,
                neighbours=neighbours,
                example=example,
                pairs=listed,
                unit=unit,
                low=low,
                high=high,
                skip=skip,
                samples=samples,
                seconds=seconds,
            )

        def test() -> None:
            require(audited())

        # Not functools.wraps: pytest would look through it and ask for a fixture `rows`.
        test.__name__ = function.__name__
        test.__qualname__ = function.__qualname__
        test.__doc__ = function.__doc__
        test.__module__ = function.__module__
        test.audit = audited  # type: ignore[attr-defined]
        return test

    return decorate


def require(report: PlaybackReport) -> None:
    """Raise if a report refutes its claim, or if nothing was tested."""
    if report.refuted:
        raise Refuted(report)
    if report.verdict == "not tested":
        raise InvalidArgument(f"nothing was tested:\n{report}")


def audit_function(
    function: Program,
    claim: Measure,
    *,
    neighbours: str = "add-remove",
    example: object = _EXAMPLE,
    pairs: Iterable[Sequence[object]] | None = None,
    unit: Unit | None = None,
    low: float | None = None,
    high: float | None = None,
    skip: Sequence[str] = (),
    samples: int = 2000,
    seconds: float = 5.0,
) -> PlaybackReport:
    """Try to refute the claim of an unmodified function of a data set.

    | argument | meaning |
    |---|---|
    | `neighbours` | relation of the claim, "add-remove" or "replace" |
    | `example` | data set near which pairs of neighbours are proposed |
    | `pairs` | pairs (D, D') instead, each perhaps with a third part that says why |
    | `low`, `high`, `unit` | bounds of numbers and owner of a row, for the proposals |
    | `skip` | proposals whose description contains one of these words are left out |
    | `samples` | most runs of the black box on each input, for each pair that needs it |
    | `seconds` | limit of the coupling of a pair, and of the black box |

    >>> import discreet as dp
    >>> import numpy as np
    >>> from discreet.audit import audit_function
    >>> def mean(rows):
    ...     return sum(rows) / len(rows) + np.random.laplace(scale=0.1)
    >>> report = audit_function(mean, dp.PureDP(1), pairs=[([1.0, 2.0], [1.0, 2.0, 9.0])])
    >>> report.verdict, report.rank, report.worst.total
    ('refuted', 1, 'ε = 25, claimed 1')

    Guarantee: every source is put back before it returns, also after an exception.
    Refuses: `InvalidArgument` for no function, no claim, no pairs, an audit inside another one.
    Law: `tests/audit/playback/test_zoo.py::test_sound_ones_are_not`
    """
    if not callable(function):
        raise InvalidArgument(
            f"an audit needs a function of a data set, got {type(function).__name__}"
        )
    read_claim(claim)
    # All pairs are checked before the first run.
    proposals = _pairs(example, pairs, neighbours, unit, low, high, skip)
    effort = Effort(samples, seconds)
    trials, notes = _try_all(function, claim, proposals, effort)
    report = PlaybackReport(
        name=getattr(function, "__name__", type(function).__name__),
        source=place_of(function),
        claim=claim,
        neighbours=neighbours,
        trials=trials,
        notes=notes,
    )
    if not report.refuted or pairs is not None:
        return report
    # A library may mean the other relation: say so, rather than only "refuted".
    other = _RELATIONS[neighbours == "add-remove"]
    others = _pairs(example, None, other, unit, low, high, skip)
    again, _ = _try_all(function, claim, others, effort)
    held = replace(report, neighbours=other, trials=again).verdict
    return replace(report, notes=(*notes, f"the same claim under {other}: {held}"))


def _pairs(  # noqa: PLR0917 - the arguments of `audit_function`
    example: object,
    pairs: Iterable[Sequence[object]] | None,
    relation: str,
    unit: Unit | None,
    low: float | None,
    high: float | None,
    skip: Sequence[str],
) -> list[Pair]:
    """Return the pairs to try: those given, checked, or those proposed near the example."""
    if pairs is not None:
        found = []
        for number, given in enumerate(pairs, start=1):
            first, second = check_inputs(tuple(given[:2]), relation, unit)
            why = f"pair {number}"
            if len(given) > 2:
                why = str(given[2])
            found.append(Pair(first, second, why))
    else:
        if example is _EXAMPLE:
            example = list(_EXAMPLE)
        proposed = propose(example, relation, low=low, high=high, unit=unit)
        # None is no value of a list or an array of numbers: only tables have NULL.
        typed = isinstance(example, list | tuple | np.ndarray)
        words: tuple[str, ...] = tuple(skip)
        if typed:
            words = (*skip, "None")
        found = [pair for pair in proposed if not any(word in pair.why for word in words)]
    if not found:
        raise InvalidArgument("no pairs of neighbours are left to try; give `pairs` or skip fewer")
    return found


def _try_all(
    function: Program, claim: Measure, pairs: list[Pair], effort: Effort
) -> tuple[tuple[Trial, ...], tuple[str, ...]]:
    """Try all pairs: replay, then coupling for those left open, then the black box.

    The second part of the result are notes about libraries.
    """
    if not _running.acquire(blocking=False):
        raise InvalidArgument(
            "another audit is running: audits replace the sources of randomness of the whole "
            "process, so they neither nest nor run beside each other; run them one by one"
        )
    try:
        with replaced(function) as patches:
            # Adapters come after the sources: they replace methods that use them.
            attach(patches)
            trials = []
            for first, second, why in pairs:
                trial = try_pair(function, claim, (first, second), why)
                # Only a generator in an unusual place is worth a search of the whole process.
                if NOT_REPEATED in trial.notes and ANOTHER_THREAD not in trial.notes:
                    if patches.find_all():
                        trial = try_pair(function, claim, (first, second), why)
                trials.append(trial)
            trials = _all_coupled(function, trials, claim, effort)
        # True randomness is back: the black box needs it.
        return tuple(_decided(function, trials, claim, effort)), tuple(patches.notes)
    finally:
        _running.release()


def _all_coupled(
    function: Program, trials: list[Trial], claim: Measure, effort: Effort
) -> list[Trial]:
    """Couple the first few open pairs, unless replay has refuted one already."""
    left = _MOST_COUPLED
    if any(trial.verdict == "refuted" for trial in trials):
        left = 0
    coupled = []
    for trial in trials:
        if trial.verdict not in ("suspect", "not seen"):
            coupled.append(trial)
        elif left > 0:
            coupled.append(_coupled(function, trial, claim, effort))
            left -= 1
        else:
            coupled.append(replace(trial, verdict="unknown"))
    return coupled


def _coupled(function: Program, trial: Trial, claim: Measure, effort: Effort) -> Trial:
    """Couple the runs of a pair that replay left open, unless threads forbid it."""
    # A thread's draws are not on the tape: coupled runs would differ for no reason.
    if ANOTHER_THREAD in trial.notes:
        return replace(trial, verdict="unknown")
    return with_estimate(function, trial, claim, effort.seconds)


def _decided(function: Program, trials: list[Trial], claim: Measure, effort: Effort) -> list[Trial]:
    """Send the open pairs to the black box, the most suspicious first, unless one is refuted."""
    decided = list(trials)
    waiting = [
        index for index, trial in enumerate(trials) if trial.verdict in ("suspect", "unknown")
    ]
    # The most suspicious pair is the likeliest to decide, so it goes first.
    waiting.sort(key=lambda index: trials[index].estimate, reverse=True)
    refuted = any(trial.verdict == "refuted" for trial in trials)
    for number, index in enumerate(waiting):
        trial = trials[index]
        if refuted or number >= _MOST_BLACK_BOXES:
            note = "left open: too many pairs"
            if refuted:
                note = "left open: another pair decided"
            decided[index] = replace(
                trial, verdict="not tested", rank=0, notes=(*trial.notes, note)
            )
            continue
        decided[index] = with_black_box(function, trial, claim, effort.samples, effort.seconds)
        refuted = decided[index].verdict == "refuted"
    return decided
