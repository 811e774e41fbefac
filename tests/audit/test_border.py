"""The auditor shares no code with what it audits."""

import ast
from pathlib import Path

import discreet.audit

ALLOWED = {
    "errors",
    "frozen",
    "optional",
    "arithmetic.arrays",
    "arithmetic.rational",
    "arithmetic.special",
    "privacy.measures",
}
SHOWS = "show."


def test_imports():
    """Of other rooms it knows errors, how values are made, names of array types, numbers as people write them, SciPy's functions, measures, and how tables look."""
    folder = Path(discreet.audit.__file__).parent
    for file in folder.rglob("*.py"):
        out = len(file.relative_to(folder.parent).parts)  # so many dots lead to the top
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level >= out:
                assert node.module in ALLOWED or str(node.module).startswith(SHOWS), (
                    f"{file.name} imports discreet.{node.module}"
                )
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                assert not node.module.startswith(("discreet", "scipy")), file.name
            if isinstance(node, ast.Import):
                assert not any(
                    name.name.startswith(("discreet", "scipy")) for name in node.names
                ), file.name
