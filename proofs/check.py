"""Check of all proofs by Coq: compile, ask for axioms, write the table (`make proofs`).

| written file | content |
|---|---|
| `checked.json` | hash of every Coq file, axioms of every listed theorem, constants computed by Coq |
| `TABLE.md` | theorem, Coq name, Python function, law, bridge, axioms, hypotheses nobody checks |
| `STATEMENTS.txt` | every listed theorem as Coq prints it, with all hypotheses |
| `docs/explanation/proofs.md` | the counts between its marks |

Guarantee: nothing is written unless every file compiles and every theorem keeps to the axioms that
    `rows.toml` allows its file.
Law: tests/proofs/test_table.py::TestTheTable
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "explanation" / "proofs.md"
PACKAGES = (
    "coq",
    "libcoq-mathcomp",
    "libcoq-mathcomp-algebra-tactics",
    "libcoq-mathcomp-analysis",
    "libcoq-mathcomp-zify",
    "libcoq-coquelicot",
    "libcoq-interval",
)
FORBIDDEN = re.compile(
    r"\b(Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Abort"
    r"|bypass_check|Unset Guard Checking|Unset Universe Checking|Unset Positivity Checking)\b"
)
"""Words of Coq by which a theorem would stand without a proof."""
MARKS = ("<!-- counted by proofs/check.py -->", "<!-- end of counts -->")


def read_rows() -> dict[str, Any]:
    """Read `rows.toml`: the theorems, allowed axioms and exported constants."""
    return tomllib.loads((HERE / "rows.toml").read_text(encoding="utf-8"))


def read_checked() -> dict[str, Any]:
    """Read what the last check wrote."""
    return json.loads((HERE / "checked.json").read_text(encoding="utf-8"))


def hashes(folder: Path = HERE) -> dict[str, str]:
    """Return the SHA-256 of every Coq file of a folder."""
    files = sorted(folder.glob("*.v"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def without_comments(text: str) -> str:
    """Return Coq source without its comments, which may nest."""
    kept = []
    depth = 0
    for piece in re.split(r"(\(\*|\*\))", text):
        if piece == "(*":
            depth += 1
        elif piece == "*)":
            depth -= 1
        elif depth == 0:
            kept.append(piece)
    return "".join(kept)


def unproved() -> list[str]:
    """List words in Coq files by which a statement would stand without a proof."""
    found = []
    for path in sorted(HERE.glob("*.v")):
        source = without_comments(path.read_text(encoding="utf-8"))
        found.extend(f"{path.name}: {match}" for match in FORBIDDEN.findall(source))
    return found


def theorems(rows: dict[str, Any]) -> list[str]:
    """Return the Coq names of all rows, each once, in order."""
    names = [name for row in rows["row"] for name in row["proofs"]]
    return list(dict.fromkeys(names))


def surplus_axioms(rows: dict[str, Any], axioms: dict[str, list[str]]) -> list[str]:
    """List the axioms that a theorem uses and its file may not."""
    found = []
    for name, used in axioms.items():
        groups = rows["files"].get(name.split(".")[0], [])
        allowed = [prefix for group in groups for prefix in rows["axioms"][group]]
        surplus = [axiom for axiom in used if not axiom.startswith(tuple(allowed))]
        found.extend(f"{name}: {axiom}" for axiom in surplus)
    return found


def find_coq() -> bool:
    """Return whether Coq and its libraries are there; install Debian's where apt may."""
    if shutil.which("coqc") is None and shutil.which("apt-get") and os.geteuid() == 0:
        command = ["apt-get", "install", "--yes", "--quiet", *PACKAGES]
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False)  # noqa: S603
    return shutil.which("coqc") is not None


def dependencies(path: Path, names: set[str]) -> set[str]:
    """Return the files of this folder that a file requires."""
    required = re.findall(
        r"^Require (?:Import )?([\w ]+)\.$", path.read_text("utf-8"), re.MULTILINE
    )
    words = {word for line in required for word in line.split()}
    return words & names


def compile_one(folder: Path, name: str) -> None:
    """Compile one file; stop the check with Coq's words if it fails."""
    command = ["coqc", "-q", "-w", "none", "-Q", ".", "", f"{name}.v"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"{name}.v is not proved:\n{done.stdout}{done.stderr}")


def compile_all(folder: Path) -> None:
    """Compile all files, two at a time, each as soon as those it requires are done."""
    waiting = {path.stem: path for path in folder.glob("*.v")}
    needs = {name: dependencies(path, set(waiting)) for name, path in waiting.items()}
    # The longest first, so that none of them is left to run alone at the end.
    order = sorted(waiting, key=lambda name: -waiting[name].stat().st_size)
    done: set[str] = set()
    running: dict[Future[None], str] = {}
    with ThreadPoolExecutor(max_workers=2) as pool:
        while len(done) < len(order):
            for name in order:
                if name in needs and needs[name] <= done:
                    del needs[name]
                    running[pool.submit(compile_one, folder, name)] = name
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                # Raises what the compiler refused.
                future.result()
                done.add(running.pop(future))


def question_about(rows: dict[str, Any], name: str) -> tuple[str, str]:
    """Return the file of questions in which a theorem is asked about, and the name of its question.

    One question is enough for the files without axioms: "closed" then holds for each theorem. With
    machine integers Coq walks through all of Interval, seven seconds a question: there the axioms of
    all such theorems together stand for each. Theorems over the reals are asked about one by one.
    """
    groups = rows["files"].get(name.split(".", maxsplit=1)[0], [])
    if not groups:
        return "Finite", "finite"
    if "machine integers" in groups:
        return "Machine", "machine"
    return "Reals", name


def ask(folder: Path, rows: dict[str, Any]) -> None:
    """Let Coq write the axioms and the statement of each theorem, and each constant, into files.

    Few files, for each loads its libraries again; two of them run beside each other.
    """
    asked: dict[tuple[str, str], list[str]] = {}
    for name in theorems(rows):
        asked.setdefault(question_about(rows, name), []).append(name)
    files: dict[str, list[str]] = {"Reals": [], "Machine": [], "Finite": []}
    for (file, question), names in asked.items():
        short = "asked_" + question.replace(".", "_")
        modules = dict.fromkeys(name.split(".")[0] for name in names)
        lines = files[file]
        lines.append(f"Require {' '.join(modules)}.")
        lines.append(f"Definition {short} := ({', '.join('@' + name for name in names)}).")
        lines.append(f'Redirect "axioms-{question}" Print Assumptions {short}.')
        lines.extend(f'Redirect "statement-{name}" Check @{name}.' for name in names)
    files["Constants"] = constant_questions(rows)
    for file, lines in files.items():
        text = "\n".join(lines) + "\n"
        (folder / f"Ask{file}.v").write_text(text, encoding="utf-8")
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda file: compile_one(folder, f"Ask{file}"), files))


def constant_questions(rows: dict[str, Any]) -> list[str]:
    """Return the lines that let Coq compute and print every constant."""
    modules = sorted({name.split(".")[0] for name in rows["constants"].values()})
    lines = [f"Require {' '.join(modules)}."]
    lines.append("From Coq Require Import ZArith List. Import ListNotations. Open Scope Z_scope.")
    for short, name in rows["constants"].items():
        lines.append(f'Redirect "constant-{short}" Eval vm_compute in {name}.')
    return lines


def read_axioms(folder: Path, name: str) -> list[str]:
    """Return the names of the axioms that Coq printed for a theorem."""
    text = (folder / f"axioms-{name}.out").read_text(encoding="utf-8")
    return sorted(
        set(re.findall(r"^([A-Za-z_][\w.']*)\s*(?::|$)", text, re.MULTILINE)) - {"Axioms"}
    )


def read_constant(folder: Path, short: str) -> Any:  # noqa: ANN401 a number or lists of numbers
    """Return a constant as Coq computed it: a whole number, or a list of lists of them."""
    text = (folder / f"constant-{short}.out").read_text(encoding="utf-8")
    value = text.split("=", 1)[1].rsplit(":", 1)[0]
    return json.loads(" ".join(value.replace(";", ",").split()))


def axiom_free(checked: dict[str, Any], row: dict[str, Any]) -> bool:
    """Return whether no theorem of a row uses an axiom."""
    return not any(checked["axioms"][name] for name in row["proofs"])


def kinds_of(rows: dict[str, Any], used: set[str]) -> str:
    """Name the groups of axioms that are used."""
    groups = [
        group
        for group, names in rows["axioms"].items()
        if any(a.startswith(tuple(names)) for a in used)
    ]
    return ", ".join(groups) or "none"


def table(rows: dict[str, Any], checked: dict[str, Any]) -> str:
    """Return the table of all rows as Markdown."""
    lines = [
        "# Theorems that Coq has checked",
        "",
        "Written by `make proofs` from `rows.toml`; `STATEMENTS.txt` has every statement in full.",
        "",
        "| row | theorem | Coq | function | law | bridge | axioms | assumed, checked by no code |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows["row"]:
        used = {axiom for name in row["proofs"] for axiom in checked["axioms"][name]}
        cells = [
            row["number"],
            row["says"].replace("|", "\\|"),
            ", ".join(f"`{name}`" for name in row["proofs"]),
            f"`{row['function']}`" if "function" in row else "not yet in code",
            f"`{row['law']}`" if "law" in row else "",
            f"`{row['bridge']}`" if "bridge" in row else "",
            kinds_of(rows, used),
            "; ".join(row.get("assumes", [])).replace("|", "\\|") or "nothing",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def counts(rows: dict[str, Any], checked: dict[str, Any]) -> str:
    """Return the counts of the page on what is proved."""
    planned = [row for row in rows["row"] if row["number"].isdecimal()]
    free = [row for row in planned if axiom_free(checked, row)]
    assuming = [row for row in planned if row.get("assumes")]
    later = [row for row in rows["row"] if "function" not in row]
    lines = [
        "| counted | number |",
        "|---|---|",
        f"| rows proved, of the 53 planned | {len(planned)} |",
        f"| … of them without any axiom | {len(free)} |",
        f"| … of them with a hypothesis that no code checks | {len(assuming)} |",
        f"| rows beyond the plan: streams, blocks, siblings, groups | {len(rows['row']) - len(planned)} |",
        f"| … of them about code to come | {len(later)} |",
        f"| theorems in Coq behind these rows | {len(theorems(rows))} |",
    ]
    return "\n".join(lines)


def page(text: str, rows: dict[str, Any], checked: dict[str, Any]) -> str:
    """Return the page with its counts brought up to date."""
    before, _, rest = text.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n\n{counts(rows, checked)}\n\n{MARKS[1]}{after}"


def check(rows: dict[str, Any], folder: Path) -> tuple[dict[str, Any], str]:
    """Compile a copy of all files in a folder; return what was found, and all statements."""
    for path in HERE.glob("*.v"):
        shutil.copy(path, folder)
    # The copies that are compiled, before questions are written beside them.
    files = hashes(folder)
    compile_all(folder)
    ask(folder, rows)
    names = theorems(rows)
    axioms = {name: read_axioms(folder, question_about(rows, name)[1]) for name in names}
    constants = {short: read_constant(folder, short) for short in rows["constants"]}
    statements = [(folder / f"statement-{name}.out").read_text(encoding="utf-8") for name in names]
    return {"files": files, "axioms": axioms, "constants": constants}, "\n".join(statements)


def main() -> None:
    """Check everything and write the results; say so and stop where there is no Coq."""
    if not find_coq():
        sys.stdout.write(f"proofs skipped: no coqc here; install {' '.join(PACKAGES)} (Debian)\n")
        return
    begin = time.monotonic()
    rows = read_rows()
    with tempfile.TemporaryDirectory() as place:
        checked, statements = check(rows, Path(place))
    wrong = unproved() + surplus_axioms(rows, checked["axioms"])
    if wrong:
        raise SystemExit("not proved, or by axioms that are not allowed:\n" + "\n".join(wrong))
    text = json.dumps(checked, indent=1, sort_keys=True)
    # Rows of exported tables on one line each.
    text = re.sub(r"\[\s+(-?\d[-\d,\s]*?)\s+\]", lambda m: "[" + " ".join(m[1].split()) + "]", text)
    (HERE / "checked.json").write_text(text + "\n", encoding="utf-8")
    (HERE / "TABLE.md").write_text(table(rows, checked), encoding="utf-8")
    (HERE / "STATEMENTS.txt").write_text(statements, encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8"), rows, checked), encoding="utf-8")
    seconds = time.monotonic() - begin
    sys.stdout.write(f"{len(theorems(rows))} theorems proved in {seconds:.0f} seconds\n")


if __name__ == "__main__":
    main()
