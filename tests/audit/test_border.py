"""The auditor shares no code with what it audits."""

import ast
from pathlib import Path

import discreet.audit

ALLOWED = {"errors", "rational", "privacy.measures"}


def test_imports():
    folder = Path(discreet.audit.__file__).parent
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 2:
                assert node.module in ALLOWED, f"{file.name} imports discreet.{node.module}"
            if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                assert not node.module.startswith(("discreet", "scipy.stats")), file.name
            if isinstance(node, ast.Import):
                assert not any(name.name.startswith(("discreet", "scipy.stats")) for name in node.names), file.name
