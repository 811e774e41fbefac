"""Limits on what can be counted about how the source reads.

The limits hold for the whole tree and are lowered as packages are rewritten; they are never raised. No
formatter moves them: statements are counted in nodes of the syntax tree, not in lines.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "discreet").rglob("*.py"))
SIMPLE = (
    ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Raise, ast.Assert, ast.Delete,
)  # fmt: skip
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
OPENING = re.compile(r"(What|How|Who|Where|Whether|From|Which)\b")
METAPHORS = {
    "clerk", "desk", "door", "house", "office", "pulse", "roll", "room", "sheet", "shelf", "stand", "veil",
}  # fmt: skip
"""Words for furniture and people that named components before; modules are named after their purpose."""

MEDIAN_NODES = 12
P90_NODES = 22
CONDITIONAL_EXPRESSIONS = 19.0
COMPREHENSIONS_PER_1000 = 38.0
COMMENTS_PER_1000 = 57.0
OPENINGS = 0


@cache
def counted():
    """Return nodes per simple statement in order, and counts of nodes, statements and comments."""
    nodes = []
    kinds = Counter()
    statements = 0
    comments = 0
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        comments += comment_lines(text)
        for node in ast.walk(ast.parse(text)):
            kinds[type(node)] += 1
            if isinstance(node, ast.stmt) and not is_import(node) and not is_docstring(node):
                statements += 1
                if isinstance(node, SIMPLE):
                    nodes.append(sum(1 for _ in ast.walk(node)))
    return sorted(nodes), kinds, statements, comments


def is_import(node):
    return isinstance(node, ast.Import | ast.ImportFrom)


def is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def comment_lines(text):
    """Count comments on lines of their own with four words or more."""
    count = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        alone = not token.line[: token.start[1]].strip()
        if token.type == tokenize.COMMENT and alone and len(token.string.split()) > 4:
            count += 1
    return count


def test_statements_are_small():
    nodes, _, _, _ = counted()
    assert nodes[len(nodes) // 2] <= MEDIAN_NODES
    assert nodes[int(0.9 * len(nodes))] <= P90_NODES


def test_branches_and_loops_are_written_out():
    _, kinds, statements, _ = counted()
    comprehensions = sum(kinds[kind] for kind in COMPREHENSIONS)
    assert 1000 * kinds[ast.IfExp] / statements <= CONDITIONAL_EXPRESSIONS
    assert 1000 * comprehensions / statements <= COMPREHENSIONS_PER_1000


def test_comments_say_why():
    _, _, statements, comments = counted()
    assert 1000 * comments / statements >= COMMENTS_PER_1000


def test_docstrings_open_with_the_kind_of_thing():
    heads = [ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES]
    assert sum(bool(OPENING.match(head)) for head in heads) <= OPENINGS


def test_modules_are_not_named_after_furniture():
    assert not [path for path in SOURCES if METAPHORS & set(path.stem.split("_"))]
    folders = {part for path in SOURCES for part in path.relative_to(ROOT / "src").parts[:-1]}
    assert not METAPHORS & folders
