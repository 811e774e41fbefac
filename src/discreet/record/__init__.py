"""Public record of a deployment: what was promised, to whom, by which mechanisms, with what error.

It is made from a ledger, schemas and statements of the steward, and can be checked. The package
`discreet.record` can be called like its function `record`, so that `dp.record(…)` works.
"""

from __future__ import annotations

import sys
from types import ModuleType

from .check import Checked, check_record
from .folder import DeploymentRecord, record

__all__ = ["Checked", "DeploymentRecord", "check_record", "record"]


class _Callable(ModuleType):
    """Package that is called as its function: importing it must not hide `dp.record`."""

    __call__ = staticmethod(record)


sys.modules[__name__].__class__ = _Callable
