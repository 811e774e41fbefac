"""Adapters of other libraries: each replaces the calls of a library's mechanisms by recorded ones.

A recorded call keeps its input, so that the move between two runs can be priced.

An adapter is loaded only if its library is imported. It names the versions it was tried with;
with any other version its library is left as it is, and the report says so.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from ..sources import Patches

# Module of a library, its name on PyPI, and the adapter.
KNOWN = (
    ("diffprivlib", "diffprivlib", "diffprivlib"),
    ("opendp", "opendp", "opendp"),
    ("opacus", "opacus", "opacus"),
    ("pipeline_dp", "pipeline-dp", "pipeline_dp"),
    ("tmlt.core", "tmlt.core", "tumult"),
)


def attach(patches: Patches) -> None:
    """Attach the adapters of all libraries that are imported."""
    for module, package, name in KNOWN:
        if module not in sys.modules:
            continue
        adapter = import_module(f".{name}", __name__)
        found = installed(package)
        if found in adapter.VERSIONS:
            adapter.attach(patches)
        else:
            tried = ", ".join(adapter.VERSIONS)
            patches.notes.append(
                f"{package} {found} is not known to the audit (tried with {tried}): "
                "its mechanisms are seen only from outside"
            )


def installed(package: str) -> str:
    """Return the installed version of a package; "unknown" if it has no metadata."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
