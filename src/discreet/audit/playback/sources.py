"""Sources of randomness, replaced during an audit: NumPy, `random`, `secrets`, `os.urandom`, torch.

| source | what the tape sees |
|---|---|
| `laplace`, `normal`, `standard_normal`, `gauss`, `normalvariate` | law, scale and private input |
| every other draw of NumPy and `random`, `os.urandom`, `secrets` | that it was made; equal on D and D' |
| torch | the same: its generator is seeded alike, and put back |

Functions and generators are replaced in the modules, objects, classes and closures that hold them
(`search.py`).
Everything is put back, whatever happens. Other threads get true randomness, and the tape says so.
"""

from __future__ import annotations

import gc
import operator
import os
import random
import sys
import threading
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from .search import Search
from .tape import Tape, current
from .tracked import wrap

# The true sources, kept before anything is replaced.
_GENERATOR = np.random.Generator
_RANDOM_STATE = np.random.RandomState
_URANDOM = os.urandom


def _shape(size: Any, *parameters: Any) -> tuple[int, ...]:  # noqa: ANN401 - as NumPy takes them
    """Return the shape of a draw: the size, or that of its parameters."""
    if size is None:
        return np.broadcast_shapes(*(np.shape(value) for value in parameters))
    if isinstance(size, int | np.integer):
        return (int(size),)
    return tuple(int(length) for length in size)


def draw_noise(law: str, loc: Any, scale: Any, size: object) -> Any:  # noqa: ANN401 - a number or an array
    """Draw tracked noise; its location is an input."""
    tape = current()
    assert tape is not None  # noqa: S101 - the sources are replaced only while a tape runs
    shape = _shape(size, loc, scale)
    # Inside a mechanism that an adapter sees, or in a coupled run, noise is plain.
    if tape.inside:
        source = tape.generator(f"{law} inside a mechanism")
        return getattr(source, law)(loc, scale, size)
    located = wrap(tape.noise(law, scale, shape), shape) + loc
    located.node.located = True
    return located


def _in_audit(owner: int) -> Tape | None:
    """Return the tape if this is the audit's own thread; another thread leaves a note on it."""
    tape = current()
    if tape is None or threading.get_ident() == owner:
        return tape
    # Its draws must stay secret: it may serve keys or tokens.
    tape.doubt(ANOTHER_THREAD)
    return None


ANOTHER_THREAD = "randomness was drawn in another thread, which the audit cannot replay"


class _Traced:
    """Draws of NumPy's two kinds of generators, on the tape."""

    owner: int

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:  # noqa: ANN401
        """Draw Laplace noise."""
        return self._noise("laplace", loc, scale, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:  # noqa: ANN401
        """Draw normal noise."""
        return self._noise("normal", loc, scale, size)

    def standard_normal(self, size: Any = None, *_: Any, **__: Any) -> Any:  # noqa: ANN401
        """Draw normal noise of scale 1."""
        return self._noise("normal", 0.0, 1.0, size)

    def _noise(self, law: str, loc: Any, scale: Any, size: Any) -> Any:  # noqa: ANN401
        if _in_audit(self.owner) is None:
            return getattr(_GENERATOR(np.random.PCG64()), law)(loc, scale, size)
        return draw_noise(law, loc, scale, size)


def _other_draw(name: str, base: type) -> Callable[..., Any]:
    """Return a method that makes a draw of no known law from the tape's own source."""

    def draw(self: Any, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        tape = _in_audit(self.owner)
        if tape is None:
            bits: np.random.BitGenerator = np.random.PCG64()
        else:
            bits = tape.other(name, _signature(arguments, options)).bit_generator
        if base is _RANDOM_STATE:
            bits = np.random.MT19937(bits.random_raw())
        source = base(bits)
        return getattr(source, name)(*arguments, **options)

    draw.__name__ = name
    return draw


def _signature(arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Return the sizes and numbers of a call, to compare calls of two runs."""
    parts = []
    for value in (*arguments, *options.values()):
        if np.ndim(value):
            parts.append(f"shape {np.shape(value)}")
        else:
            parts.append(repr(value))
    return ", ".join(parts)


def _methods(base: type, known: type) -> dict[str, Any]:
    """Return all drawing methods of a generator that have no method of their own."""
    made: dict[str, Any] = {}
    for name in dir(base):
        fixed = name.startswith("_") or name in ("bit_generator", "spawn", "get_state", "set_state")
        if not fixed and not hasattr(known, name):
            made[name] = _other_draw(name, base)
    return made


def _leave_seed(*_: object, **__: object) -> None:
    """Ignore a seed: the tape decides."""


def _standard_normals(self: Any, *shape: int) -> Any:  # noqa: ANN401
    """Draw normal noise in the shape that the arguments name (`randn`)."""
    return self.standard_normal(shape or None)


_TracedGenerator = type("Generator", (_Traced, _GENERATOR), _methods(_GENERATOR, _Traced))
_TracedState = type(
    "RandomState",
    (_Traced, _RANDOM_STATE),
    _methods(_RANDOM_STATE, _Traced) | {"seed": _leave_seed, "randn": _standard_normals},
)


class Patches:
    """Replacements of one audit, in the order they were made; `undo` puts everything back."""

    def __init__(self) -> None:
        self.owner = threading.get_ident()
        self._stack = ExitStack()
        self._search = Search(_functions(self), self._traced, self.put)
        # Sentences for the report.
        self.notes: list[str] = []
        self.searched = False

    def undo(self) -> None:
        """Put everything back, the last replacement first."""
        self._stack.close()

    def set(self, holder: Any, name: str, value: object) -> None:  # noqa: ANN401 - a module or a class
        """Set an attribute until `undo`."""
        # An attribute that was inherited is deleted afterwards, not set.
        own = _own_attribute(holder, name)
        setattr(holder, name, value)
        if own is None:
            self._stack.callback(delattr, holder, name)
        else:
            self._stack.callback(setattr, holder, name, own)

    def put(self, holder: Any, name: Any, value: object) -> None:  # noqa: ANN401 - what a search found
        """Set an attribute, a key, an element or a default value until `undo`."""
        if isinstance(holder, dict | list):
            self._stack.callback(operator.setitem, holder, name, holder[name])
            holder[name] = value
        elif isinstance(name, int):
            defaults = list(holder.__defaults__)
            defaults[name] = value
            self.set(holder, "__defaults__", tuple(defaults))
        else:
            self.set(holder, name, value)

    def find(self, roots: Sequence[object]) -> None:
        """Replace the sources that modules hold, and those that the roots reach."""
        self._search.modules()
        for root in roots:
            self._search.reached(root)

    def find_all(self) -> bool:
        """Replace random sources in all objects of the process; on a second call return False."""
        if self.searched:
            return False
        self.searched = True
        self.notes.append(
            "two runs on the same data differed: generators were searched among all objects of "
            "the process"
        )
        with _all_objects_shown():
            self._search.process()
        return True

    def _traced(self, known: object) -> object:
        """Return a traced generator that stands for a known one."""
        if isinstance(known, _GENERATOR):
            return self.generator(_TracedGenerator)
        return self.generator(_TracedState)

    def generator(self, kind: type) -> Any:  # noqa: ANN401 - one of the two traced kinds
        """Return a traced generator of this audit."""
        bits: np.random.BitGenerator = np.random.MT19937(0)
        if kind is _TracedGenerator:
            bits = np.random.PCG64(0)
        made = kind(bits)
        made.owner = self.owner
        return made


def _own_attribute(holder: Any, name: str) -> object | None:  # noqa: ANN401 - anything with attributes
    """Return an attribute as its holder keeps it; None if it is inherited."""
    if isinstance(holder, type | types.ModuleType):
        found: object | None = vars(holder).get(name)
        return found
    return getattr(holder, name)  # type: ignore[no-any-return]


@contextmanager
def replaced(*roots: object) -> Iterator[Patches]:
    """Replace all sources for the time of an audit: those of modules, and those that the roots reach.

    Guarantee: every replacement is undone, also after an exception.
    Law: `tests/audit/playback/test_sources.py::test_everything_is_put_back`
    """
    patches = Patches()
    try:
        patches.find(roots)
        yield patches
    finally:
        patches.undo()


@contextmanager
def _all_objects_shown() -> Iterator[None]:
    """Unfreeze all objects for a search: frozen ones are hidden from it."""
    frozen = gc.get_freeze_count() > 0
    gc.unfreeze()
    try:
        yield
    finally:
        # At once: else every full collection during the audit would look through all of them.
        if frozen:
            gc.freeze()


def _functions(patches: Patches) -> list[tuple[object, object]]:
    """Return the functions that are replaced by identity, and replace the classes."""

    def make_generator(seed: object = None) -> object:
        if isinstance(seed, _GENERATOR):
            return seed
        return patches.generator(_TracedGenerator)

    def make_state(seed: object = None) -> object:  # noqa: ARG001 - the tape decides
        return patches.generator(_TracedState)

    patches.set(np.random, "RandomState", _constructor(_RANDOM_STATE, make_state))
    patches.set(np.random, "Generator", _constructor(_GENERATOR, make_generator))
    return [(np.random.default_rng, make_generator), *_random(patches)]


def _constructor(base: type, make: Callable[..., object]) -> type:
    """Return a class that makes traced generators, and to which all generators belong."""

    class Constructor(type):
        def __call__(cls, seed: object = None) -> object:
            return make(seed)

        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, base)

    return Constructor(base.__name__, (), {})


def _random(patches: Patches) -> list[tuple[object, object]]:
    """Return the functions of `random` from which all others follow, and bytes, with replacements."""

    def uniform(self: object) -> float:  # noqa: ARG001
        return float(_source(patches, "random.random", "").random())

    def getrandbits(self: object, k: int) -> int:  # noqa: ARG001
        drawn = _source(patches, "random.getrandbits", str(k)).bytes(k // 8 + 1)
        return int.from_bytes(drawn) >> (8 - k % 8)

    def gauss(self: object, mu: float = 0.0, sigma: float = 1.0) -> float:  # noqa: ARG001
        if _in_audit(patches.owner) is None:
            return float(_GENERATOR(np.random.PCG64()).normal(mu, sigma))
        return draw_noise("normal", mu, sigma, None)  # type: ignore[no-any-return]

    def urandom(size: int, /) -> bytes:
        if _in_audit(patches.owner) is None:
            return _URANDOM(size)
        return _source(patches, "os.urandom", str(size)).bytes(size)

    methods: dict[str, Callable[..., Any]] = {"random": uniform, "getrandbits": getrandbits}
    methods |= {"gauss": gauss, "normalvariate": gauss}
    # Functions of the module are methods of one hidden object.
    hidden = random._inst  # noqa: SLF001 - its methods are the module's functions
    pairs: list[tuple[object, object]] = [(_URANDOM, urandom)]
    for name, method in methods.items():
        pairs.append((getattr(random, name), types.MethodType(method, hidden)))
        patches.set(random.Random, name, method)
    return pairs


def _source(patches: Patches, name: str, arguments: str) -> np.random.Generator:
    tape = _in_audit(patches.owner)
    if tape is None:
        return _GENERATOR(np.random.PCG64())
    return tape.other(name, arguments)


@contextmanager
def seeded_torch(tape: Tape) -> Iterator[None]:
    """Seed torch from the tape for the time of a run, if it is imported, and put its state back.

    Draws of torch are noted on the tape as draws of no known law.
    """
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "get_rng_state"):
        yield
        return
    state = torch.get_rng_state()
    # The same seed on D and D': torch's draws are coupled, as all others are.
    torch.manual_seed(tape.seed)
    begin = torch.get_rng_state()
    try:
        yield
        if not torch.equal(begin, torch.get_rng_state()):
            tape.other_draws["torch"] += 1
    finally:
        torch.set_rng_state(state)
