"""discreet: differentially private answers, with exact noise, tight accounting and stated errors.

>>> import discreet as dp
>>> lap = dp.Laplace.spending(dp.PureDP(0.5), sensitivity=1)
>>> lap.scale, dp.compose([lap.event] * 4).epsilon(delta=0)
(Fraction(2, 1), 2.0)

A scale of 2 is the least noise for ε = 1/2; four such releases together cost ε = 2.

A public name is imported when it is first used, so that `import discreet` itself is fast. The stub
`__init__.pyi` lists the names; `lazy.py` reads it. Renamed names of version 0.1 still work, with a
DeprecationWarning, until version 0.3.
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
"""Names of version 0.1 and their present names, in this package or a subpackage; 0.3 drops them."""

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
    """Return the object that a name of version 0.1 stands for; issue a DeprecationWarning."""
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
