"""What public facts say against a question before anybody pays for it; loaded when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...late import late

if TYPE_CHECKING:
    from . import impossible as impossible
    from . import warnings as warnings

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = late(__name__, {"impossible": "", "warnings": ""})
