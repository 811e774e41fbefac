"""How a frozen value fills its own fields, once, in its constructor: the one way of this house."""

from __future__ import annotations


def fill(made: object, /, **fields: object) -> None:
    """Set fields of a frozen value under construction.

    >>> from discreet.arithmetic.frozen import fill
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, init=False)
    ... class Even:
    ...     half: int
    ...     def __init__(self, number):
    ...         fill(self, half=number // 2)
    >>> Even(6)
    Even(half=3)
    """
    for name, value in fields.items():
        object.__setattr__(made, name, value)
