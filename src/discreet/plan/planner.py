"""Planner: read questions, in SQL or as a tree, and their terms, and return plans.

The local curator, a service and its client use the same planner. Planning needs public facts only:
the declared tables, the terms, the filter of the ledger as it was opened (so that plans do not
change with the remaining budget), and the values of public tables.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias, Unpack

from .. import query
from ..arithmetic.rational import Number
from ..data.schema import Schema
from ..errors import DiscreetError, InvalidArgument, SchemaMismatch
from ..frozen import field, frozen, replace
from ..privacy.filters.filter import Filter
from ..privacy.measures import Measure
from ..query.algebra.tree import (
    JoinPublic,
    Question,
    Relation,
    Scan,
    relations_in,
    relations_of,
)
from ..query.bounds.check import CheckedQuestion, check_question
from ..query.bounds.keys import PublicValues
from ..query.sql.parse import parse
from ..query.text.question import fingerprint
from . import several
from .asked.terms import TermOptions, Terms, read_spend, read_terms
from .choose import check_terms, check_whole, plan_checked
from .plan import Plan
from .public_answer import is_planned_public, public_terms

if TYPE_CHECKING:
    from .several.tradeoff import Tradeoff
    from .several.workload import Workload

QuestionLike: TypeAlias = str | Question
"""A question as a curator takes it: SQL, or built from a Table."""

RECENT_QUESTIONS = 64
"""Questions that an analyst's planner remembers; one may list 100,000 keys."""

# Errors that reading a tree of an unknown form may raise; each is refused as an invalid question.
_MALFORMED = (TypeError, AssertionError, ValueError, LookupError, AttributeError)


class RecentQuestions:
    """Bounded cache of questions that were read from SQL texts.

    A question follows from its text, the declared tables and the values of public tables, which
    all stay the same for one curator. So a text that was read before need not be parsed and
    checked again.

    Guarantee: no entry depends on private data, and only questions that passed all checks are kept.
    """

    __slots__ = ("_lock", "_questions")

    def __init__(self) -> None:
        # Several threads ask one curator, and finding moves an entry.
        self._lock = Lock()
        self._questions: OrderedDict[str, Question] = OrderedDict()

    def find(self, text: str) -> Question | None:
        """Return the question of a text, or None if it is not in the cache."""
        with self._lock:
            known = self._questions.get(text)
            if known is not None:
                self._questions.move_to_end(text)
            return known

    def keep(self, text: str, question: Question) -> None:
        """Keep the question of a text; the one that was not asked for longest is dropped."""
        with self._lock:
            self._questions[text] = question
            self._questions.move_to_end(text)
            if len(self._questions) > RECENT_QUESTIONS:
                self._questions.popitem(last=False)


@frozen(eq=False)
class CheckedRequest:
    """Questions by name, read and checked with their terms, but not planned yet.

    A single question has the empty name. `several` says that the questions share one spend. The
    key of a stored answer follows from this value, so the answer is found before anything is
    planned.
    """

    checked: Mapping[str, CheckedQuestion]
    terms: Terms
    several: bool = False

    @property
    def questions(self) -> dict[str, Question]:
        """The questions by name."""
        return {name: one.question for name, one in self.checked.items()}

    def plans(self, under: Filter) -> dict[str, Plan]:
        """Plan the questions for a filter.

        Refuses: questions without any possible plan.
        """
        if self.several:
            workload = several.workload.workload_of(self.checked, self.terms, under=under)
            return dict(workload.plans)
        plan = plan_checked(self.checked[""], self.terms, under=under)
        return {"": check_whole(plan, self.terms)}


@frozen
class Planner:
    """Plans questions about declared tables under a filter.

    `public_values` reads columns of public tables. `rows_public` says that the store holds every
    record that it was given, so that some counts are public (`layout`). `recent` keeps the last
    questions that were read from SQL, so that a repeated text is parsed once.
    """

    schemas: Mapping[str, Schema]
    filter: Filter
    public_values: PublicValues
    rows_public: bool = False
    recent: RecentQuestions | None = field(default=None, compare=False, repr=False)

    def terms(self, spend: Measure | Number | None = None, **words: Unpack[TermOptions]) -> Terms:
        """Read the terms of a question; a number is an ε if the filter's budget is a pure ε."""
        epsilon = words.pop("epsilon", None)
        measure = read_spend(spend, epsilon, self.filter.promise())
        return read_terms(measure, **words)

    def question(self, asked: object) -> CheckedQuestion:
        """Read SQL, or accept a question that was built in Python, about these very schemas.

        Guarantee: the question is checked once, and is about the curator's own schemas.

        Refuses: a question about another schema of the same table, which could name another unit
        and so protect nobody (SchemaMismatch); values that are no question (InvalidArgument).
        """
        if isinstance(asked, str):
            # `parse` checks the question, so it is not checked again here.
            return CheckedQuestion(self._parse(asked), self.public_values, self.rows_public)
        if isinstance(asked, query.Table):
            raise InvalidArgument(
                "a table is no question yet; end it with count(), mean('age') or aggregate(…)"
            )
        if not isinstance(asked, Question):
            raise InvalidArgument(
                f"a question is SQL text or built from a Table, got {type(asked).__name__}"
            )
        return self._check_tree(asked)

    def _parse(self, text: str) -> Question:
        """Read SQL, or find the question that the same text was read as before."""
        known = None if self.recent is None else self.recent.find(text)
        if known is not None:
            return known
        parsed = parse(text, self.schemas, self.public_values)
        if self.recent is not None:
            self.recent.keep(text, parsed)
        return parsed

    def _check_tree(self, asked: Question) -> CheckedQuestion:
        """Check a question that was built in Python, which may be any tree of nodes."""
        try:
            # The fingerprint visits every node, so a malformed tree is noticed here.
            fingerprint(asked)
            schemas: list[Schema] = []
            for relation in relations_of(asked):
                schemas += schemas_of(relation)
            checked = check_question(asked, self.public_values)
        except DiscreetError:
            raise
        except _MALFORMED:
            raise InvalidArgument(
                "a question holds only what a Table or SQL puts there; build it from a Table"
            ) from None
        for schema in schemas:
            if self.schemas.get(schema.name) != schema:
                raise SchemaMismatch(
                    f"the question is about a schema of {schema.name} that is not the curator's; "
                    f"build it on curator.table({schema.name!r}), or ask in SQL"
                )
        return replace(checked, rows_public=self.rows_public)

    def request(self, asked: object, terms: Terms) -> CheckedRequest:
        """Read one question and check its terms, without planning it.

        Refuses: what planning refuses about the terms, so that the same is refused for a question
        whose answer is stored and which is never planned.
        """
        checked = self.question(asked)
        terms = public_terms(checked.question, terms)
        if not is_planned_public(checked.question, terms):
            check_terms(checked, terms, under=self.filter)
        return CheckedRequest({"": checked}, terms)

    def request_several(self, questions: object, terms: Terms) -> CheckedRequest:
        """Read several questions by name and their terms; refuses as `request` does."""
        named = _check_names(questions)
        checked = {}
        for name, asked in named.items():
            checked[name] = self.question(asked)
        several.workload.check_terms(list(checked), terms)
        return CheckedRequest(checked, terms, several=True)

    def plan(self, asked: object, terms: Terms) -> Plan:
        """Plan one question."""
        checked = self.question(asked)
        terms = public_terms(checked.question, terms)
        plan = plan_checked(checked, terms, under=self.filter)
        return check_whole(plan, terms)

    def workload(self, questions: object, terms: Terms) -> Workload:
        """Plan several questions by name as one charge."""
        named = _check_names(questions)
        checked = {}
        for name, asked in named.items():
            checked[name] = self.question(asked)
        return several.workload.workload_of(checked, terms, under=self.filter)

    def find(
        self, asked: object, terms: Terms, queries: int | None = None
    ) -> Plan | Workload | Tradeoff:
        """Plan one question, or several by name; given two of spend, error, queries find the third.

        Refuses: `queries` beside several questions (InvalidArgument).
        """
        if isinstance(asked, Mapping):
            if queries is not None:
                raise InvalidArgument(
                    "queries= is for one question that is asked so often; leave it out for several"
                )
            return self.workload(asked, terms)
        has_both = terms.spend is not None and terms.error is not None
        if queries is not None or has_both:
            checked = self.question(asked)
            return several.tradeoff.tradeoff_of(checked, terms, queries=queries, under=self.filter)
        return self.plan(asked, terms)


def _check_names(questions: object) -> Mapping[str, object]:
    """Check that questions are given by name, and that there is at least one."""
    if not isinstance(questions, Mapping) or not questions:
        raise InvalidArgument(
            'several questions are given by name: {"regions": "SELECT …", "ages": "SELECT …"}'
        )
    if not all(isinstance(name, str) and name.isidentifier() for name in questions):
        raise InvalidArgument("the name of a question is an identifier, such as regions or by_age")
    return questions


def schemas_of(relation: Relation) -> Iterator[Schema]:
    """List every table that a relation reads, private or public.

    >>> import discreet as dp
    >>> from discreet.plan.planner import schemas_of
    >>> votes = dp.Table(dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()}))
    >>> [schema.name for schema in schemas_of(votes.rows)]
    ['votes']
    """
    for each in relations_in(relation):
        if isinstance(each, Scan):
            yield each.schema
        elif isinstance(each, JoinPublic):
            yield each.table
