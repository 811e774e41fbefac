# ruff: noqa: PLW0108 - a lambda finds the replaced function, a reference does not
"""Sources of randomness: found wherever they are held, and put back."""

import os
import random
import secrets
import threading

import numpy as np
import pytest
from numpy.random import laplace as imported_laplace

from discreet.audit.playback.sources import ANOTHER_THREAD, replaced
from discreet.audit.playback.tape import Node, Tape
from discreet.audit.playback.tracked import TrackedArray, TrackedFloat

known = np.random.default_rng(5)
drawn_by = np.random.default_rng(4).laplace


class Holder:
    shared = np.random.default_rng(6)

    def __init__(self):
        self.own = np.random.RandomState(7)


def closure():
    hidden = np.random.default_rng(8)
    return lambda: hidden.laplace()


class Slotted:
    __slots__ = ("inner",)

    def __init__(self):
        self.inner = [np.random.default_rng(9)]

    def draw(self):
        return self.inner[0].laplace()


def by_default(source=np.random.default_rng(10), *, other=np.random.default_rng(11)):  # noqa: B008
    return source.normal() + other.normal()


SOURCES = {
    "slot and list": Slotted().draw,
    "default values": by_default,
    "method of a generator": lambda: drawn_by(),
    "function": lambda: np.random.laplace(),
    "imported function": lambda: imported_laplace(),
    "generator of a module": lambda: known.laplace(),
    "generator of a class": lambda: Holder.shared.normal(),
    "state of an object": lambda: HOLDER.own.normal(),
    "closure": closure(),
    "new generator": lambda: np.random.default_rng(3).standard_normal(),
    "new state": lambda: np.random.RandomState(3).randn(),
    "seeded": lambda: (np.random.seed(1), np.random.normal())[1],
    "random": lambda: random.gauss(0, 1),
    "a Random": lambda: random.Random(4).normalvariate(0, 2),
    "a SystemRandom": lambda: secrets.SystemRandom().gauss(0, 1),
}
HOLDER = Holder()
OTHERS = {
    "uniform": lambda: np.random.uniform(),
    "integers": lambda: known.integers(10**9),
    "random": random.random,
    "bits": lambda: random.getrandbits(64),
    "choice": lambda: random.choice(range(10**9)),
    "bytes": lambda: os.urandom(8),
    "token": secrets.token_hex,
    "SystemRandom": lambda: secrets.SystemRandom().random(),
}


def drawn(name, seed):
    """Draw at one place of the code: equal places and seeds give equal draws."""
    with Tape(seed=seed) as tape:
        value = OTHERS[name]()
    return value, tape.other_draws.total()


@pytest.fixture(scope="class")
def sources_replaced():
    with replaced(SOURCES, OTHERS):
        yield


@pytest.mark.usefixtures("sources_replaced")
class TestSources:
    """Every source is seen: draws of known laws are tracked, others are the same on both inputs."""

    @pytest.mark.parametrize("name", SOURCES)
    def test_noise_is_tracked(self, name):
        with Tape() as tape:
            noise = SOURCES[name]()
            assert isinstance(noise, TrackedFloat)
            total = 5 + noise
        assert isinstance(tape.steps[-1], Node)
        assert tape.steps[-1].input.tolist() == [5.0]
        assert float(total) == tape.steps[-1].value[0]
        assert not tape.other_draws

    @pytest.mark.parametrize("name", OTHERS)
    def test_other_draws_are_the_same_on_both_inputs(self, name):
        (first, count), (again, _), (other, _) = (drawn(name, seed) for seed in (1, 1, 2))
        assert first == again
        assert first != other
        assert count >= 1

    @pytest.mark.parametrize(
        ("program", "value", "factor"),
        [
            (lambda n: n + 3, 3, 1),
            (lambda n: 3 + n, 3, 1),
            (lambda n: np.float64(3) + n, 3, 1),
            (lambda n: np.int64(3) + n, 3, 1),
            (lambda n: np.add(3, n), 3, 1),
            (lambda n: 3 - n, 3, -1),
            (lambda n: n - 3, -3, 1),
            (lambda n: 2 * (n + 3), 6, 2),
            (lambda n: (n + 3) / 2, 1.5, 0.5),
            (lambda n: -(n + 3), -3, -1),
            (lambda n: n * 2 + 1 + 2, 3, 2),
        ],
    )
    def test_sums_and_products_keep_the_input(self, program, value, factor):
        with Tape() as tape:
            result = program(np.random.laplace())
            assert isinstance(result, TrackedFloat)
        node = tape.steps[-1]
        assert (node.input[0], node.factor[0]) == (value, factor)
        assert node.value[0] == pytest.approx(value + factor * tape.steps[0].value[0])


def held():
    """Return everything that is replaced, as a tuple: that is no namespace."""
    names = [name for name in dir(np.random) if not name.startswith("__")]
    functions = tuple(getattr(np.random, name) for name in names)
    own = tuple(sorted(vars(random.Random)))
    others = (os.urandom, random.random, random.gauss, random._urandom, known, Holder.shared)
    defaults = (by_default.__defaults__, by_default.__kwdefaults__["other"], drawn_by)
    return (*functions, *others, *defaults, HOLDER.own, imported_laplace, own)


def test_everything_is_put_back():
    before = held()
    laplace = (np.random.laplace,)
    with pytest.raises(ZeroDivisionError), replaced(by_default):  # noqa: PT012
        assert np.random.laplace is not laplace[0]
        assert held() != before
        raise ZeroDivisionError
    assert held() == before


def true_sources():
    """Return how many of these generators are NumPy's own."""
    found = (known, Holder.shared, HOLDER.own, drawn_by.__self__, *by_default.__defaults__)
    return sum(type(generator).__module__.startswith("numpy.") for generator in found)


def test_modules_are_searched_without_a_function():
    """Names, classes and objects of modules are; default values only where a function reaches them."""
    assert true_sources() == 5
    with replaced():
        assert true_sources() == 1
    with replaced(by_default):
        assert true_sources() == 0
    assert true_sources() == 5


def test_another_thread_gets_true_randomness_and_is_noted():
    drawn = []
    tape = Tape(seed=1)
    with replaced(), tape:
        for _ in range(2):
            thread = threading.Thread(
                target=lambda: drawn.append((os.urandom(16), np.random.laplace()))
            )
            thread.start()
            thread.join()
    assert drawn[0] != drawn[1]
    assert not isinstance(drawn[0][1], TrackedFloat)
    assert tape.doubts == [ANOTHER_THREAD]


def test_without_a_run_there_is_true_randomness():
    with replaced():
        assert os.urandom(16) != os.urandom(16)
        assert not isinstance(np.random.laplace(), TrackedFloat)


@pytest.mark.usefixtures("sources_replaced")
class TestTrackedNoise:
    """Arrays keep the input as numbers do; all else is plain and frozen."""

    def test_arrays(self):
        with Tape() as tape:
            noise = np.random.laplace(size=(2, 3))
            for part in (noise.T, noise.reshape(6), noise[0], noise.ravel(), noise.copy()):
                assert isinstance(part + np.zeros(part.shape), TrackedArray)
            assert isinstance(noise[1, 2], TrackedFloat)
            assert isinstance(noise.tolist()[0][0], TrackedFloat)
            assert isinstance(noise.item(0), TrackedFloat)
            assert type(np.exp(noise)) is np.ndarray
        assert tape.steps[1].seen.all()

    def test_the_input_is_a_copy(self):
        with Tape() as tape:
            counts = np.array([1.0, 2.0])
            counts += np.random.laplace(size=2)
        assert type(counts) is np.ndarray
        assert tape.steps[-1].input.tolist() == [1.0, 2.0]

    def test_a_replay_shows_what_was_shown(self):
        def program(value):
            return value + np.random.laplace()

        with Tape(seed=1) as recorded:
            first = float(program(3))
        with Tape(seed=1, recorded=recorded.steps) as replayed:
            second = float(program(8))
        assert first == second
        assert replayed.steps[-1].input.tolist() == [8.0]
