"""Sources of randomness, replaced for the time of a run: NumPy, `random`, `secrets`, `os.urandom`, torch.

| source | what the tape sees |
|---|---|
| `laplace`, `normal`, `standard_normal`, `gauss`, `normalvariate` | law, scale and private input |
| every other draw of NumPy and `random`, `os.urandom`, `secrets` | that it was made; equal on D and D' |
| torch | the same: its generator is seeded alike, and put back |

Functions are replaced in the modules that hold them, generators also in objects, classes and closures.
Everything is put back, whatever happens. Other threads get true randomness, and the tape says so.
"""

from __future__ import annotations

import gc
import os
import random
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

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
        # Sentences for the report.
        self.notes: list[str] = []

    def undo(self) -> None:
        """Put everything back, the last replacement first."""
        self._stack.close()

    def set(self, holder: Any, name: str, value: object) -> None:  # noqa: ANN401 - a module or a class
        """Set an attribute until `undo`."""
        # An attribute that was inherited is deleted afterwards, not set.
        own = vars(holder).get(name, self)
        setattr(holder, name, value)
        if own is self:
            self._stack.callback(delattr, holder, name)
        else:
            self._stack.callback(setattr, holder, name, own)

    def everywhere(self, pairs: list[tuple[object, object]]) -> None:
        """Replace objects in every module, object, class and closure that holds one of them."""
        wanted = {id(old): (old, new) for old, new in pairs}
        # One pass over all objects: a pass for each pair would take seconds in a large program.
        for holder in gc.get_referrers(*(old for old, _ in pairs)):
            if isinstance(holder, types.CellType):
                old, new = wanted[id(holder.cell_contents)]
                holder.cell_contents = new
                self._stack.callback(setattr, holder, "cell_contents", old)
            elif isinstance(holder, dict) and holder.get("__name__") != __name__:
                self._in_dictionary(holder, wanted)
            elif not isinstance(holder, type | types.FunctionType) and hasattr(holder, "__dict__"):
                # An object of Python 3.11 may keep its attributes without a dictionary.
                self._in_dictionary(vars(holder), wanted)

    def _in_dictionary(
        self, holder: dict[Any, Any], wanted: dict[int, tuple[object, object]]
    ) -> None:
        """Replace objects in the namespace of a module, an object or a class."""
        owner = _class_of(holder)
        for name in [key for key, value in holder.items() if id(value) in wanted]:
            old, new = wanted[id(holder[name])]
            if owner is not None:
                # A class must hear of the change, or it keeps the old attribute.
                self.set(owner, name, new)
            elif isinstance(name, str):
                holder[name] = new
                self._stack.callback(holder.__setitem__, name, old)

    def generator(self, kind: type) -> Any:  # noqa: ANN401 - one of the two traced kinds
        """Return a traced generator of this audit."""
        bits: np.random.BitGenerator = np.random.MT19937(0)
        if kind is _TracedGenerator:
            bits = np.random.PCG64(0)
        made = kind(bits)
        made.owner = self.owner
        return made


def _class_of(holder: dict[Any, Any]) -> type | None:
    """Return the class whose attributes a dictionary holds, if it is that of a class."""
    if "__module__" not in holder:
        return None
    for owner in gc.get_referrers(holder):
        if isinstance(owner, type) and vars(owner) == holder:
            return owner
    return None


@contextmanager
def replaced() -> Iterator[Patches]:
    """Replace all sources for the time of an audit.

    Guarantee: every replacement is undone, also after an exception.
    Law: `tests/audit/playback/test_sources.py::test_everything_is_put_back`
    """
    patches = Patches()
    try:
        with _all_objects_shown():
            patches.everywhere(_numpy(patches) + _random(patches))
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


def _numpy(patches: Patches) -> list[tuple[object, object]]:
    """Return NumPy's functions and all its generators, each with what replaces it."""
    state = patches.generator(_TracedState)
    pairs: list[tuple[object, object]] = []
    for name in dir(np.random):
        function = getattr(np.random, name)
        # NumPy's functions are methods of one hidden generator.
        if isinstance(getattr(function, "__self__", None), _RANDOM_STATE):
            pairs.append((function, getattr(state, name)))
    for known in _live_generators():
        kind = _TracedState
        if isinstance(known, _GENERATOR):
            kind = _TracedGenerator
        pairs.append((known, patches.generator(kind)))

    def make_generator(seed: object = None) -> object:
        if isinstance(seed, _GENERATOR):
            return seed
        return patches.generator(_TracedGenerator)

    def make_state(seed: object = None) -> object:  # noqa: ARG001 - the tape decides
        return patches.generator(_TracedState)

    pairs.append((np.random.default_rng, make_generator))
    patches.set(np.random, "RandomState", _constructor(_RANDOM_STATE, make_state))
    patches.set(np.random, "Generator", _constructor(_GENERATOR, make_generator))
    return pairs


def _live_generators() -> list[object]:
    """Return all generators of NumPy that exist."""
    kinds = (_GENERATOR, _RANDOM_STATE)
    return [known for known in gc.get_objects() if type(known) in kinds]


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
    """Seed torch alike for every run of one tape, if it is imported, and put its state back."""
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
