"""Option groups: a dataclass parameter of a command becomes one option for each of its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def spread_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Replace every dataclass parameter of a command by its fields, so that commands share options.

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
    positional: list[inspect.Parameter] = []
    keyword_only: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    # Annotations are texts under `from __future__`: they are evaluated here.
    hints = get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if is_dataclass(kind):
            groups[name] = kind
            keyword_only += _options(kind)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            keyword_only.append(parameter.replace(annotation=kind))
        else:
            positional.append(parameter.replace(annotation=kind))

    @wraps(command)
    def run(*given: object, **flags: object) -> None:
        made = {}
        for name, kind in groups.items():
            values = {field.name: flags.pop(field.name) for field in fields(kind)}
            made[name] = kind(**values)
        command(*given, **flags, **made)

    parameters = [*positional, *keyword_only]
    signature = inspect.Signature(parameters, return_annotation=None)
    # Typer reads the signature and the annotations: both must show the fields.
    run.__signature__ = signature  # type: ignore[attr-defined]
    annotations = {parameter.name: parameter.annotation for parameter in parameters}
    run.__annotations__ = annotations | {"return": None}
    return run


def _options(group: Any) -> list[inspect.Parameter]:  # noqa: ANN401 - any dataclass
    """Return the fields of a dataclass as keyword-only parameters."""
    hints = get_type_hints(group, include_extras=True)
    options = []
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        option = inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=hints[field.name],
        )
        options.append(option)
    return options
