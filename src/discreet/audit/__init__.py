"""Auditor: search for any broken privacy promise, this library's own included.

The auditor shares no code with what it audits that draws, prices or reads questions.

verify(run, claim, inputs=(D, D'))   raises ClaimRefuted with the evidence
audit(run, claim, inputs=(D, D'))    reports lower bounds on ε and δ, the event, and the limits
neighbours(example, relation)        pairs of inputs worth trying; audit_all(run, claim, pairs)
exact(first, second, claim)          two known distributions: no runs, no doubt
replay(program, inputs=(D, D'))      freeze the noise and compare everything else
private(claim, neighbours=…)         decorate a test: an unmodified function against its claim
audit_function(function, claim)      the same as a report
one_run(…)                           many canaries, one run (Steinke, Nasr, Jagielski 2023)
dkw(first, second, …)                all thresholds at once, without splitting the runs
sql_run(make_curator, sql, spend=…)  a curator's whole answer; command_run(…) a whole program
runs_needed(claim, truth)            plan before running
reconstruct(answers, queries)        secret bits from answers that are too accurate
membership(members, others)          membership inference against a trained model
"""

from .attacks.membership import Membership, membership
from .attacks.reconstruction import reconstruct
from .evidence.bounds import clopper_pearson_lower, clopper_pearson_upper
from .evidence.dkw import dkw
from .evidence.runs_needed import runs_needed
from .exact import Exact, exact
from .one_run import OneRun, guesses_doubt, one_run
from .playback.private import audit_function, private
from .playback.report import PlaybackReport, sarif
from .replay import Recorder, Replay, replay
from .reports.report import Finding, Report
from .targets.command import command_run
from .targets.edges import Pair, neighbours
from .targets.question import remembered, sql_run
from .verify import Refuted, audit, audit_all, verify

__all__ = [
    "Exact",
    "Finding",
    "Membership",
    "OneRun",
    "Pair",
    "PlaybackReport",
    "Recorder",
    "Refuted",
    "Replay",
    "Report",
    "audit",
    "audit_all",
    "audit_function",
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "command_run",
    "dkw",
    "exact",
    "guesses_doubt",
    "membership",
    "neighbours",
    "one_run",
    "private",
    "reconstruct",
    "remembered",
    "replay",
    "runs_needed",
    "sarif",
    "sql_run",
    "verify",
]
