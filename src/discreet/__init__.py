"""discreet: answers about private data, with exact noise, the tightest sound price and an error bar on everything.

>>> import discreet as dp
>>> lap = dp.Laplace.spending(dp.PureDP(0.5), sensitivity=1)
>>> lap.scale, dp.compose([lap.event] * 4).epsilon(delta=0)
(Fraction(2, 1), 2.0)

Public names are imported lazily, so that `import discreet` itself costs next to nothing. The stub
`__init__.pyi` lists them; `lazy.py` reads it. Names of version 0.1 still work, with a warning.
"""

from __future__ import annotations

import warnings
from importlib import import_module

from .lazy import lazy_names

_DEPRECATED = {
    "Third": "Tradeoff",
    "answer_question": "answer.answer_question",
    "bounds": "mechanisms.bounds",
    "classic_gaussian": "mechanisms.classic_gaussian",
    "find_third": "solve_tradeoff",
    "group": "group_privacy",
    "parse": "parse_sql",
    "sample": "example",
    "sensitivity": "mechanisms.sensitivity",
    "stability_histogram": "mechanisms.stability_histogram",
    "suggest_bounds": "answer.suggest_bounds",
}
"""Names of version 0.1 and their present names: in this package or in one of its own. They go with version 0.3."""

_load, _, __all__ = lazy_names(__name__)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    if name in _DEPRECATED:
        return _load_deprecated(name)
    if name == "__version__":
        # Only pyproject.toml states the version; the installed package repeats it in its metadata.
        return import_module("importlib.metadata").version(__name__)
    if name not in __all__:
        raise AttributeError(f"discreet has no {name!r}; see dir(discreet)")
    return _load(name)


def _load_deprecated(name: str) -> object:
    """Return the object that a name of version 0.1 stands for, with a warning."""
    now = _DEPRECATED[name]
    warnings.warn(
        f"discreet.{name} is now discreet.{now}; version 0.3 drops it",
        DeprecationWarning,
        stacklevel=3,
    )
    package, _, own = now.rpartition(".")
    if not package:
        return _load(now)
    module = import_module(f".{package}", __name__)
    return getattr(module, own, None) or import_module(f".{now}", __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
