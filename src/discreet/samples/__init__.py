"""Bundled example data: a census sample and a week of restaurant visits (sources: README.md)."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from ..errors import InvalidArgument

__all__ = ["example"]


def example(name: str) -> str:
    """Return the path of a bundled file.

    >>> import discreet as dp
    >>> dp.example("pums.csv").endswith("pums.csv")
    True

    Refuses: a name that is not bundled.

    >>> dp.example("secrets.csv")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: there is no example 'secrets.csv'; there are pums.csv, restaurant_week.csv
    """
    bundled = {
        Path(str(file)).name: str(file)
        for file in files(__name__).iterdir()
        if file.name.endswith(".csv")
    }
    if name not in bundled:
        raise InvalidArgument(
            f"there is no example {name!r}; there are {', '.join(sorted(bundled))}"
        )
    return bundled[name]
