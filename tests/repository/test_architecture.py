"""Rules about the source tree that can be checked: sizes of files, names, imports, examples, the public names."""

from __future__ import annotations

import ast
import builtins
import doctest
import gc
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import discreet
from discreet.query.algebra.statistic import BUILDERS

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "discreet"
SOURCES = sorted(PACKAGE.rglob("*.py"))
BANNED_NAMES = {"utils.py", "helpers.py", "common.py", "misc.py"}
MAX_LINES = 500
"""Lines of a file: one subject."""
MAX_MODULES = 30
"""Modules of a folder, its `__init__.py` not counted."""

READ = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom, ast.IfExp,
        ast.Attribute)  # fmt: skip
"""The kinds of nodes that rules look at."""


@cache
def trees() -> dict[str, ast.Module]:
    gc.disable()  # half a million nodes that stay: to look through them for garbage takes twice as long as they do
    parsed = {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in SOURCES
    }
    gc.freeze()
    gc.enable()
    return parsed


@cache
def by_kind() -> dict[type[ast.AST], list[tuple[str, ast.AST]]]:
    found = defaultdict(list)
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if type(node) in READ:
                found[type(node)].append((path, node))
    return found


def nodes(*kinds: type[ast.AST]):
    assert set(kinds) <= set(READ)
    return (one for kind in kinds for one in by_kind()[kind])


def _given(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module gives a value."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }


class TestEveryFile:
    def test_there_are_sources_to_check(self):
        assert len(SOURCES) > 20

    def test_is_one_subject_and_named_after_it(self):
        lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}
        assert not {str(path): count for path, count in lines.items() if count > MAX_LINES}
        assert not BANNED_NAMES & {path.name for path in SOURCES}

    def test_fills_a_frozen_value_in_one_way(self):
        found = {path for path, node in nodes(ast.Attribute) if node.attr == "__setattr__"}
        assert found == {"frozen.py"}
        usual = re.compile(
            r"^@dataclass\(.*frozen=True.*slots=True|^@dataclass\(.*slots=True.*frozen=True",
            re.MULTILINE,
        )
        assert not [path.name for path in SOURCES if usual.search(path.read_text(encoding="utf-8"))]

    def test_says_what_it_is_for(self):
        assert not [path for path, tree in trees().items() if not ast.get_docstring(tree)]

    def test_lists_its_names_only_where_it_hands_on_those_of_others(self):
        """In a module the underscore says whose a name is: a list beside it would be a second truth."""
        for path, tree in trees().items():
            lists = [
                node
                for node in tree.body
                if isinstance(node, ast.Assign) and "__all__" in _given(node)
            ]
            if not lists or path.endswith("__init__.py"):
                continue
            own = {
                name
                for node in tree.body
                if not isinstance(node, ast.ImportFrom)
                for name in _given(node)
            }
            assert path == "errors.py" or all(
                set(ast.literal_eval(node.value)) - own for node in lists
            ), path

    def test_opens_nested_choices(self):
        nested = {f"{p}:{n.lineno}": (n.test, n.body, n.orelse) for p, n in nodes(ast.IfExp)}
        assert not [
            place
            for place, inner in nested.items()
            if any(isinstance(one, ast.IfExp) for one in inner)
        ]


def test_a_folder_holds_few_modules():
    folders = {path.parent for path in SOURCES}
    counts = {
        f.relative_to(PACKAGE): len([m for m in f.glob("*.py") if m.name != "__init__.py"])
        for f in folders
    }
    assert not {str(folder): count for folder, count in counts.items() if count > MAX_MODULES}


def test_the_architecture_page_names_files_that_exist():
    """Every file and folder that the page names is in the package, in the project or among the pages beside it."""
    page = ROOT / "docs" / "explanation" / "architecture.md"
    named = re.findall(r"`([\w./-]+)`|\]\(([\w./-]+)", page.read_text(encoding="utf-8"))
    codes = {code.rstrip("/") for code, _ in named if "/" in code or code.endswith(".py")}
    links = {link for _, link in named if link}
    inside = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*")]
    outside = {
        name
        for name in codes
        if not any(name == path or path.endswith(f"/{name}") for path in inside)
    }
    assert len(codes | links) > 90
    assert not {name for name in outside if not (ROOT / name).exists()}
    assert not {link for link in links if not (page.parent / link).exists()}


class TestClasses:
    def test_no_two_have_one_name(self):
        """Reading a name tells what it is, wherever it stands."""
        homes = defaultdict(list)
        for path, tree in trees().items():
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(path)
        # events.SparseVector is for ever: ledgers hold it; mechanisms.SparseVector is what people make.
        assert {name: paths for name, paths in homes.items() if len(paths) > 1}.keys() == {
            "SparseVector"
        }

    def test_are_no_deeper_than_two(self):
        bases = {node.name: [ast.unparse(b) for b in node.bases] for _, node in nodes(ast.ClassDef)}

        def depth(name: str) -> int:
            return 1 + max(
                (depth(base) for base in bases.get(name, ()) if base in bases and base != name),
                default=0,
            )

        def is_error(name: str) -> bool:
            return name == "DiscreetError" or any(
                is_error(base) for base in bases.get(name, ()) if base != name
            )

        assert not {name for name in bases if depth(name) > (3 if is_error(name) else 2)}


class TestImports:
    HIDDEN = {
        "privacy/measures.py": "a measure compares itself by its price: the one import that looks upward",
        "query/sql/expression.py": "expressions hold functions, and functions expressions",
        "query/sql/parse.py": "sqlglot waits until SQL is read",
        "local/table.py": "SciPy's linear programs wait until a table is made",
        "workloads/fixed_point.py": "SciPy's eigenvectors of tridiagonal matrices wait until a line is planned",
        "workloads/toeplitz.py": "SciPy waits until a strategy is fitted",
        "engines/progress.py": "rich's bars wait until one is drawn",
        "cli/commands/serve.py": "uvicorn and starlette come with an extra",
        "ledger/open.py": "psycopg comes with an extra",
    }

    def test_stand_at_the_top(self):
        """Optional packages wait in `optional.load`; what else waits is few, and has its reason."""
        deep = {path for path, node in nodes(ast.Import, ast.ImportFrom) if node.col_offset}
        functions = [
            (path, f) for path, f in nodes(ast.FunctionDef, ast.AsyncFunctionDef) if path in deep
        ]
        hidden = [
            p
            for p, f in functions
            for node in ast.walk(f)
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        assert set(hidden) == set(self.HIDDEN)
        assert len(hidden) < 16


def documented():
    """Every docstring that shows an example, with its place."""
    for path, node in nodes(ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef):
        if ">>>" in (text := ast.get_docstring(node) or ""):
            yield f"{path}:{getattr(node, 'name', '')}", text


class TestExamples:
    def test_paste_from_help(self):
        """An example defines or imports every name it uses; no import in it is relative."""
        unknown = {}
        for place, text in documented():
            code = ast.parse(
                "".join(example.source for example in doctest.DocTestParser().get_examples(text))
            )
            used = {node.id for node in ast.walk(code) if isinstance(node, ast.Name)}
            if missing := used - _bound(code) - set(dir(builtins)):
                unknown[place] = missing
            assert not [
                node for node in ast.walk(code) if isinstance(node, ast.ImportFrom) and node.level
            ], place
        assert not unknown

    def test_say_what_is_returned(self):
        """A function that returns something says "Return …", as a Python reader expects."""
        functions = nodes(ast.FunctionDef, ast.AsyncFunctionDef)
        said = {f"{p}:{f.name}": ast.get_docstring(f) or "" for p, f in functions if _returns(f)}
        assert not [
            place
            for place, text in said.items()
            if re.match(r"Give (?!up)|(Say|Tell) (whether|which|how)", text)
        ]


def _returns(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return function.returns is not None and ast.unparse(function.returns) != "None"


def _bound(code: ast.Module) -> set[str]:
    names = {
        node.id
        for node in ast.walk(code)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    names |= {node.arg for node in ast.walk(code) if isinstance(node, ast.arg)}
    names |= {
        n.name
        for n in ast.walk(code)
        if isinstance(n, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler)
    }
    aliases = [
        a for n in ast.walk(code) if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names
    ]
    return names | {(alias.asname or alias.name).split(".")[0] for alias in aliases}


def imported_by(statement: str) -> set[str]:
    script = f"{statement}; import sys; print(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


class TestImportIsCheap:
    def test_the_package_brings_nothing_heavy(self):
        assert not {"numpy", "scipy", "rich", "typer", "matplotlib"} & imported_by(
            "import discreet"
        )

    @pytest.mark.parametrize("package", ["noise", "privacy", "mechanisms", "audit"])
    def test_a_package_below_brings_no_scipy(self, package):
        assert not {"scipy", "matplotlib"} & imported_by(f"import discreet.{package}")

    def test_a_service_that_starts_brings_no_scipy(self):
        """Each server process, each command of a ledger and each fork server would wait for it."""
        assert not {"scipy", "matplotlib"} & imported_by("import discreet.service.app")


WAITING = sorted(
    path.parent.relative_to(PACKAGE).as_posix().replace("/", ".")
    for path in PACKAGE.rglob("__init__.py")
    if re.search(r"^from \.{2,}lazy import ", path.read_text(encoding="utf-8"), re.MULTILINE)
)
"""Found in the text: every worker collects these tests, and only one needs the trees of all files."""


def _stub_names(path: Path) -> set[str]:
    """Names that a type checker takes from a stub."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            names |= set(BUILDERS)
            home = import_module(f"discreet.{path.parent.name}.{node.module}")
            assert all(callable(getattr(home, name)) for name in BUILDERS)
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname for alias in node.names}
        elif isinstance(node, ast.Assign):
            names.add(node.targets[0].id)
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("package", WAITING)
class TestAPackageThatWaits:
    def test_has_the_names_that_type_checkers_see(self, package):
        module = import_module(f"discreet.{package}")
        stub = PACKAGE / package.replace(".", "/") / "__init__.pyi"
        assert _stub_names(stub) == set(module.__all__) <= set(dir(module))

    def test_gives_every_name_and_no_other(self, package):
        module = import_module(f"discreet.{package}")
        for name in module.__all__:
            found = getattr(module, name)
            # a module that another import has put in a function's place would be found here
            assert isinstance(found, ModuleType) == (f"discreet.{package}.{name}" in sys.modules)
        with pytest.raises(AttributeError, match="has no attribute 'no_such'"):
            module.no_such  # noqa: B018


class TestTheTopOfThePackage:
    def test_the_names_for_type_checkers_are_the_names_of_the_program(self):
        names = _stub_names(PACKAGE / "__init__.pyi")
        assert names == set(discreet.__all__) == set(dir(discreet))

    def test_every_name_is_there(self):
        assert all(getattr(discreet, name) is not None for name in discreet.__all__)

    def test_a_name_that_is_not_there_is_refused(self):
        with pytest.raises(AttributeError, match="discreet has no 'laplace'"):
            discreet.laplace  # noqa: B018

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("sample", "example"),
            ("group", "group_privacy"),
            ("parse", "parse_sql"),
            ("find_third", "solve_tradeoff"),
            ("Third", "Tradeoff"),
            ("answer_question", "answer.answer_question"),
            ("suggest_bounds", "answer.suggest_bounds"),
            ("classic_gaussian", "mechanisms.classic_gaussian"),
            ("stability_histogram", "mechanisms.stability_histogram"),
            ("bounds", "mechanisms.bounds"),
            ("sensitivity", "mechanisms.sensitivity"),
        ],
    )
    def test_a_name_of_version_0_1_still_works_and_warns(self, old, new):
        with pytest.warns(DeprecationWarning, match=f"discreet.{old} is now discreet.{new};"):
            found = getattr(discreet, old)
        package, _, name = new.rpartition(".")
        assert found is getattr(sys.modules[f"discreet.{package}"] if package else discreet, name)
        assert old not in dir(discreet)
