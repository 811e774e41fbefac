"""Record and replay: what moves when the noise stands still."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from discreet.audit import replay
from discreet.errors import ClaimRefuted, InvalidArgument


class Norms(NamedTuple):
    l1: Fraction
    squared_l2: Fraction
    linf: Fraction


@dataclass(frozen=True)
class Noise:
    sensitivity: object = 1

    def release(self, value):
        return np.asarray(value) + np.random.default_rng().integers(-5, 6)


class Plain:
    """A mechanism that cannot be compared: two of one kind and setting still count as one."""

    sensitivity = 1

    def release(self, value):
        return value


D, E = ["a", "b"], ["a", "b", "b"]


def histogram(data):
    return [data.count("a"), data.count("b")]


def test_an_honest_program():
    def program(data, recorder):
        recorder.note("columns", ["n"])
        n = recorder.release(Noise(), len(data))
        return {"n": int(n)}

    seen = replay(program, (D, E), neighbours="add-remove")
    assert not seen.refuted
    assert seen.require() is seen
    assert seen.moves[0].moved == 1
    assert "not refuted" in str(seen)
    assert not replay(lambda data, r: r.release(Plain(), len(data)), (D, E)).refuted


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (lambda data, r: r.release(Noise(), 3 * len(data)), "moved by 3"),
        (lambda data, r: min(r.release(Noise(), len(data)), len(data) - 100), "the answer"),
        (lambda data, r: r.note("rows", len(data)), "the note 'rows'"),
        (lambda data, r: [r.release(Noise(), 1) for _ in data] and 0, "did not make"),
        (
            lambda data, r: [r.release(Noise(), 1) for _ in range(5 - len(data))] and 0,
            "stops after 2 steps",
        ),
        (lambda data, r: r.release(Noise(sensitivity=len(data)), 1), "did not make"),
        (
            lambda data, r: r.release(Noise(), 1) if len(data) == 2 else r.note("n", 1),
            "did not make",
        ),
        (lambda data, r: 1 // (len(data) - 3), "the answer"),
        (lambda data, r: r.release(Noise(), [0.0] * len(data), norm="l1") is None, "shape"),
        (
            lambda data, r: r.release(Noise(), 0.0 if len(data) == 2 else math.nan) is None,
            "moved by inf",
        ),
    ],
)
def test_leaks(program, words):
    seen = replay(program, (D, E))
    assert seen.refuted
    assert words in str(seen)
    with pytest.raises(ClaimRefuted, match="REFUTED by replay"):
        seen.require()


@pytest.mark.parametrize(("norm", "broken"), [("l1", True), ("l2", True), ("linf", False)])
def test_norms_of_a_vector(norm, broken):
    def program(data, recorder):
        return recorder.release(Noise(), histogram(data), norm=norm) is None

    assert (
        replay(program, (["a", "a", "b"], ["a", "b", "b"]), neighbours="replace").refuted is broken
    )


def test_a_sensitivity_of_three_norms():
    def program(data, recorder, sensitivity):
        return recorder.release(Noise(sensitivity), np.array(histogram(data))) is None

    right = Norms(Fraction(2), Fraction(2), Fraction(1))
    wrong = Norms(Fraction(2), Fraction(1), Fraction(1))
    pair = (["a", "a", "b"], ["a", "b", "b"])
    assert not replay(lambda d, r: program(d, r, right), pair).refuted
    assert replay(lambda d, r: program(d, r, wrong), pair).refuted


def test_a_break_by_a_hair_is_seen():
    def program(data, recorder):
        return (
            recorder.release(Noise(Fraction(1)), Fraction(len(data)) * (1 + Fraction(1, 10**30)))
            is None
        )

    seen = replay(program, (D, E))
    assert seen.moves[0].too_far
    assert seen.moves[0].moved > 1


def test_exact_float_differences():
    def program(data, recorder):
        return recorder.release(Noise(0.1), 0.3 if len(data) == 2 else 0.2) is None

    assert replay(program, (D, E)).moves[0].moved <= 0.1  # 0.3 − 0.2 is 0.09999999999999998 exactly


def test_refuses():
    with pytest.raises(InvalidArgument, match="say release"):
        replay(lambda data, r: r.release(Noise(), histogram(data)), (D, E))
    with pytest.raises(InvalidArgument, match="equal"):
        replay(lambda data, r: 0, (D, D))
    with pytest.raises(InvalidArgument, match="neighbours"):
        replay(lambda data, r: 0, (D, []), neighbours="replace")
