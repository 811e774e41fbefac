"""Flags that belong together: a frozen dataclass of them is one parameter of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def spread_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Spread every parameter that is a dataclass into its fields, so that several commands can share their flags.

    >>> import inspect
    >>> from discreet.cli.option_group import spread_flags
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> @spread_flags
    ... def show(name: str, at: Point) -> None:
    ...     print(name, at)
    >>> str(inspect.signature(show)), show(name="here", x=1, y=2)
    here Point(x=1, y=2)
    ('(name: str, *, x: int, y: int = 0) -> None', None)
    """
    plain: list[inspect.Parameter] = []
    spread: list[inspect.Parameter] = []
    bundles: dict[str, Any] = {}
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if is_dataclass(kind):
            bundles[name] = kind
            spread += _flags(kind)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            spread.append(parameter.replace(annotation=kind))
        else:
            plain.append(parameter.replace(annotation=kind))

    @wraps(command)
    def run(*given: object, **flags: object) -> None:
        made = {
            name: kind(**{field.name: flags.pop(field.name) for field in fields(kind)})
            for name, kind in bundles.items()
        }
        command(*given, **flags, **made)

    signature = inspect.Signature([*plain, *spread], return_annotation=None)
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()} | {
        "return": None
    }
    return run


def _flags(bundle: Any) -> list[inspect.Parameter]:  # noqa: ANN401 - any dataclass
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(bundle)
    ]
