"""More than one question: a workload under one charge, and how many equal questions fit a budget; loaded when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...late import late

if TYPE_CHECKING:
    from . import third as third
    from . import together as together
    from . import workload as workload

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = late(__name__, {"third": "", "together": "", "workload": ""})
