"""`discreet local`: the local model (frequency oracles, means), one line of JSON a report.

plan ─► parameters ─► randomize (on the device) ─► collect (refuse forged reports) ─► estimate
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from ...curator.signing import Signer
from ...errors import DiscreetError, InvalidArgument
from ...local.deployments.rappor import Rappor
from ...local.histogram import Histogram
from ...local.reports.catalogue import MECHANISMS, LocalMechanism, read_mechanism
from ...local.reports.collector import Collector, influence_of
from ...local.reports.parameters import device_parameters, to_device
from ...local.reports.report import LocalReport, pack
from ...local.search.words import WordRound, Words
from ...privacy.compose import compose
from ...privacy.measures import PureDP
from ..budget import pairs
from ..flags import JsonFlag
from ..output import write_text
from ..refusal import refusals
from ..word_rounds import with_earlier_counts, write_next_round

app = typer.Typer(
    name="local",
    help="The local model: nobody is trusted, every device randomizes.",
    no_args_is_help=True,
)

Parameters = Annotated[
    str, typer.Argument(help="The parameters, as `plan --out` wrote them.", show_default=False)
]
Lines = Annotated[str, typer.Argument(help="A file of JSON lines, or - for standard input.")]
Out = Annotated[str, typer.Option("--out", help="Where to write; - is standard output.")]
# Mechanisms whose ε follows from their own parameters.
_EPSILON_FREE = ("rappor",)


@app.command()
def plan(  # noqa: PLR0917 - each argument is an option
    mechanism: Annotated[
        str, typer.Argument(help="choice, number, one-bit-mean, bit-flip, rappor, …")
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A parameter: options=yes,no  low=0  high=100. May be repeated."
        ),
    ] = None,
    epsilon: Annotated[
        str | None, typer.Option(help="Spend this ε a report: a number or a fraction.")
    ] = None,
    error: Annotated[str | None, typer.Option(help="Ask by error instead; needs --n.")] = None,
    n: Annotated[int, typer.Option("--n", help="How many people will report.")] = 10_000,
    metric: Annotated[str, typer.Option(help="The name of what is measured.")] = "metric",
    out: Annotated[
        str | None, typer.Option("--out", help="Write the parameters for devices to this file.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="Sign the parameters with this key (`dp.Signer.save`).")
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Choose a mechanism: what a report will cost, how far off n reports will be, and the parameters for devices.

    Example: discreet local plan choice --set options=chrome,firefox,edge
    --epsilon 2 --n 10000 --metric browser --out browser.json
    """
    with refusals(as_json=json_):
        made = _make_mechanism(mechanism, pairs(settings, "--set"), epsilon, error, n)
        if key is None:
            envelope = device_parameters(made, metric=metric)
        else:
            envelope = to_device(made, metric=metric, key=Signer.load(key))
        if out is not None:
            write_text(Path(out), json.dumps(envelope, ensure_ascii=False) + "\n")
        facts = _facts(made, n)
        if json_:
            typer.echo(json.dumps(facts | {"device": envelope}, ensure_ascii=False))
        else:
            typer.echo(_facts_text(facts, metric, n))


@app.command()
def randomize(parameters: Parameters, values: Lines = "-", out: Out = "-") -> None:
    """Randomize values, one JSON value a line (text, or a number), each as a device of its own would.

    Example: echo '"firefox"' | discreet local randomize browser.json -
    """
    with refusals(), _opened(values) as lines, _written(out) as write:
        mechanism, metric, params = _read_parameters(parameters)
        draw: Any = mechanism
        for _, line in lines:
            content = draw.randomize(_value(line))
            if isinstance(content, tuple):
                # JSON has lists, no tuples.
                content = list(content)
            report = LocalReport(metric, params, content)
            write(pack(report))


@app.command()
def collect(parameters: Parameters, reports: Lines = "-", out: Out = "-") -> None:
    """Keep the reports that devices with these parameters could have sent; count the others on standard error.

    Example: discreet local collect browser.json inbox.jsonl --out reports.jsonl
    """
    with refusals(), _opened(reports) as lines, _written(out) as write:
        collector = _collector(parameters)
        refused = 0
        for _, line in lines:
            # One bad line must not stop the others: anybody may send it.
            try:
                collector.add(line)
            except DiscreetError:
                refused += 1
            else:
                write(line)
        typer.echo(f"{len(collector)} reports taken, {refused} refused", err=True)


@app.command()
def estimate(  # noqa: PLR0917 - each argument is an option
    parameters: Parameters,
    reports: Lines = "-",
    level: Annotated[float, typer.Option(help="The level of intervals.")] = 0.95,
    candidates: Annotated[
        Path | None,
        typer.Option(help="A file of candidates, one a line; sketches and RAPPOR need it."),
    ] = None,
    forged: Annotated[
        int, typer.Option(help="Say also how far so many forged reports could have moved it.")
    ] = 0,
    following: Annotated[
        Path | None,
        typer.Option(
            "--next", help="Words before the last round: write the next one's parameters here."
        ),
    ] = None,
    heard: Annotated[
        Path | None,
        typer.Option(help="Words: keep here what the rounds say, for those that follow."),
    ] = None,
    json_: JsonFlag = False,
) -> None:
    """Estimate frequencies or the mean from reports, with intervals; a foreign or forged line is refused.

    Example: discreet local estimate browser.json reports.jsonl
    """
    with refusals(as_json=json_), _opened(reports) as lines:
        collector = _collector(parameters, heard)
        for number, line in lines:
            try:
                collector.add(line)
            except InvalidArgument as refused:
                raise InvalidArgument(
                    f"line {number}: {refused}; discreet local collect keeps the lines that fit"
                ) from None
        if len(collector) == 0:
            raise InvalidArgument("there are no reports; at least one is needed")
        if following is not None:
            typer.echo(write_next_round(collector, following, heard))
            return
        found = collector.estimate(_candidates(candidates), level=level)
        influence = collector.influence(forged=forged)
        if json_:
            reply = found.to_dict()
            if forged:
                reply |= {"influence": influence}
            typer.echo(json.dumps(reply, ensure_ascii=False))
            return
        typer.echo(str(found))
        if forged:
            # RAPPOR fits its estimates by regression: its influence is no strict bound.
            bound = "about" if isinstance(collector.mechanism, Rappor) else "at most"
            moved = f"{bound} {influence:.3g}"
            typer.echo(f"{forged} forged reports can have moved an estimate by {moved}")


def _make_mechanism(
    name: str, settings: dict[str, str], epsilon: str | None, error: str | None, n: int
) -> LocalMechanism:
    """Make a mechanism from options, named like the arguments of its constructor."""
    kind: Any = MECHANISMS.get(name)
    if kind is None:
        raise InvalidArgument(f"{name!r} is no mechanism; take one of {', '.join(MECHANISMS)}")
    if kind is WordRound:
        # A search for words is planned as one, then its first round is opened.
        kind = Words
    given: dict[str, Any] = {key: _setting(key, value) for key, value in settings.items()}
    amounts = sum(amount is not None for amount in (epsilon, error))
    needed = 0 if name in _EPSILON_FREE else 1
    if amounts != needed:
        raise InvalidArgument(
            "give --epsilon or --error, one of them; rappor takes f, p and q by --set instead"
        )
    try:
        if error is not None:
            made = kind.for_error(error, n=n, **given)
        elif name in _EPSILON_FREE:
            made = kind(**given)
        else:
            made = kind(spend=PureDP(str(epsilon)), **given)
    except (TypeError, AttributeError):
        raise InvalidArgument(
            f"{name} takes other parameters; --set gives those of its constructor"
        ) from None
    if isinstance(made, Words):
        return made.open()
    mechanism: LocalMechanism = made
    return mechanism


def _setting(name: str, value: str) -> object:
    """Read the value of a parameter: a whole number, a list of options, or text."""
    if value.isdigit():
        return int(value)
    if name == "options":
        return [option.strip() for option in value.split(",")]
    return value


def _facts(mechanism: LocalMechanism, n: int) -> dict[str, Any]:
    """Return the price of one report and the error of n reports."""
    facts: dict[str, Any] = {"mechanism": str(mechanism.to_json()["mechanism"])}
    facts["epsilon"] = compose([mechanism.event]).epsilon(delta=0)
    asked: Any = mechanism.words if isinstance(mechanism, WordRound) else mechanism
    # The error of a histogram is that of one bin, the first.
    bin_ = {"first": 0, "last": 1} if isinstance(mechanism, Histogram) else {}
    facts["error"] = asked.error(n=n, **bin_)
    facts["one forged report"] = influence_of(mechanism, n=n, forged=1)
    return facts


def _facts_text(facts: dict[str, Any], metric: str, n: int) -> str:
    """Write price, error and influence of one forged report as lines of text."""
    bound = "about" if facts["mechanism"] == "rappor" else "at most"
    influence = f"{bound} {facts['one forged report']:.3g}"
    lines = [
        f"{metric}: {facts['mechanism']}",
        f"one report costs    ε = {facts['epsilon']:.6g}, for whoever sends it",
        f"{n} reports      off by at most {facts['error']:.4g}, with probability 95 %",
        f"one forged report   moves an estimate by {influence}",
    ]
    return "\n".join(lines)


def _read_parameters(path: str) -> tuple[LocalMechanism, str, str]:
    """Read a file of parameters; return the mechanism, its metric and its hash."""
    try:
        envelope = json.loads(Path(path).read_text(encoding="utf-8"))
        given = json.loads(envelope["parameters"])
        metric = str(envelope["metric"])
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidArgument(
            f"{path} holds no parameters; `discreet local plan … --out {path}` makes them"
        ) from None
    mechanism = read_mechanism(given)
    return mechanism, metric, device_parameters(mechanism, metric=metric)["params"]


def _collector(path: str, heard: Path | None = None) -> Collector:
    mechanism, metric, _ = _read_parameters(path)
    if isinstance(mechanism, WordRound):
        mechanism = with_earlier_counts(mechanism, heard)
    return Collector(mechanism, metric=metric)


def _value(line: str) -> object:
    """Read a value from a line of JSON: text or a number."""
    try:
        value = json.loads(line)
    except ValueError:
        raise InvalidArgument(
            'a value must be one line of JSON, such as "firefox" or 12.5'
        ) from None
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise InvalidArgument("a value must be text or a number")
    return value


def _candidates(path: Path | None) -> list[str] | None:
    """Read candidates, one a line; lines that are not UTF-8 are left out and counted."""
    if path is None:
        return None
    try:
        lines = [line for line in path.read_bytes().splitlines() if line]
    except OSError:
        raise InvalidArgument(f"{path} cannot be read") from None
    texts = []
    for line in lines:
        text = line.decode(errors="ignore")
        # Bytes that are not UTF-8 were dropped: such a line is no candidate.
        if text.encode() == line:
            texts.append(text)
    refused = len(lines) - len(texts)
    if refused:
        typer.echo(f"{refused} candidates refused, which are not UTF-8", err=True)
    return texts


@contextmanager
def _opened(path: str) -> Iterator[Iterator[tuple[int, str]]]:
    """Open numbered lines to read, stripped and without empty ones.

    A byte that is not UTF-8 becomes a lone surrogate, which every parser refuses: it spoils its own
    line only.
    """

    def lines(file: TextIO) -> Iterator[tuple[int, str]]:
        for number, row in enumerate(file, 1):
            line = row.strip()
            if line:
                yield number, line

    if path == "-":
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
        yield lines(sys.stdin)
        return
    try:
        file = Path(path).open(encoding="utf-8", errors="surrogateescape")  # noqa: SIM115 - closed below
    except OSError:
        raise InvalidArgument(f"{path} cannot be read") from None
    with file:
        yield lines(file)


@contextmanager
def _written(path: str) -> Iterator[Callable[[str], None]]:
    """Open a file, or standard output for "-", as a function that writes one line."""
    if path == "-":
        yield print
        return
    try:
        file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115 - closed below
    except OSError:
        raise InvalidArgument(
            f"{path} cannot be written; give a path in a folder that exists and is yours"
        ) from None

    def write(line: str) -> None:
        print(line, file=file)

    with file:
        yield write
