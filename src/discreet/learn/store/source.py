"""Source of exact sums over a relation of a store.

| way    | when                               | what leaves the store                     |
|--------|------------------------------------|-------------------------------------------|
| totals | the store can compute every column | one total for each pair of columns        |
|        | and at most 4,000 totals are asked | (or for each column and class)            |
| rows   | otherwise                          | each distinct row, with its exact weight  |

A row's weight depends on the number of all rows of its person in the relation, also of those
without a label. So a row has the same weight as in every other question about the relation.

Distinct rows are coded here, used for the sums and dropped.
Law: tests/learn/test_curator_learn.py::TestTheStoreAndTheArraysAgreeToTheLastDigit
"""

from __future__ import annotations

import numpy as np

from ...answer.ask import TallyBatch
from ...frozen import frozen
from ...query.algebra.expression import Constant, Expression, Field
from ...query.algebra.tally import Free, RowShare, Share, Tally, Term
from ...query.algebra.tree import Relation
from ...query.bounds.contribution_bounds import row_share
from ...query.bounds.relation_facts import columns_of, multiplicity, neighbours_of
from ...query.domains.domain import Domain, Scalar, Values, Whole
from ...query.domains.domain_of import domain_of
from ..coding.column_cells import Cells, Listed, steps_of
from ..coding.design import ModelDesign, domain_is_ordered
from ..coding.feature import UNIT
from ..coding.label import Classes, Label
from ..coding.rows import CodedRows, Exact, Whole64
from ..training.gram import ExactMoments
from ..training.influence import Influence
from ..training.source import Arrays, label_matrix, sums_by_class
from .columns import (
    Amounts,
    Column,
    coded,
    label_expressions,
    product,
    square_of,
    steps_of_field,
    there,
)

FULL_WEIGHT = 64
"""Weight of a row that counts in full, where the unit is a person: shares are in 1/64."""
_MAX_WEIGHT = 1 << 62
"""Limit of the weight of a distinct row, which is held in 64 bits."""
MAX_TOTALS = 4_000
"""Limit of totals in a statement: with more, parsing takes longer than running; use rows."""


def influence_of(rows: Relation) -> Influence:
    """Return the influence of one unit of a relation (contribution bounding)."""
    share = row_share(rows)
    relation = neighbours_of(rows)
    if isinstance(share, RowShare):
        return Influence(share.rows * FULL_WEIGHT, FULL_WEIGHT, relation)
    return Influence(multiplicity(rows), 1, relation)


@frozen(eq=False)
class Stored:
    """Source over the rows of a relation in a store."""

    engine: TallyBatch
    relation: Relation

    @property
    def share(self) -> Share:
        """The contribution bound of a person's rows."""
        return row_share(self.relation)

    def rows(self, design: ModelDesign, label: Label | None) -> tuple[CodedRows, Whole64]:
        """Return the distinct rows with their weights, coded."""
        domains = columns_of(self.relation)
        names = design.names
        if label is not None:
            names.append(label.name)
        keys = tuple(_key(name, domains[name]) for name in names)
        count = self._terms([Constant(True)], self.relation)
        tests, only = _has_label(label)
        tally = Tally(self.relation, (*tests, *keys), count, self.share, only)
        totals = self.engine.tally(tally)
        # A weight stops at 2^62, which moves it no further than its person does.
        counts = [min(total[0], _MAX_WEIGHT) for total in totals.values()]
        weights = np.array(counts, dtype=np.int64)
        # No rows at all: every column is empty.
        columns = list(zip(*totals, strict=True))[len(tests) :] or [()] * len(names)
        cells = {}
        for name, column in zip(names, columns, strict=True):
            cells[name] = _cells(domains[name], column)
        return Arrays(cells, weights).rows(design, label)

    def moments(self, design: ModelDesign, label: Label | None, unit: int) -> ExactMoments:
        """Return the exact second moments, as totals if the store can compute them."""
        made = coded(self.relation, design, label)
        labels = [] if label is None else label_expressions(label)
        count = design.width * (design.width + 1) // 2 + (design.width + 1) * len(labels)
        if made is None or count > MAX_TOTALS:
            rows, found = self.rows(design, label)
            return rows.gram(label_matrix(label, found, unit))
        return self._totals(*made, label, labels, unit // UNIT)

    def sums(self, design: ModelDesign, label: Classes, *, squares: bool) -> Exact:
        """Return the exact sums of each class, as totals if the store can compute them."""
        made = coded(self.relation, design, label)
        if made is None or len(made[1]) > MAX_TOTALS:
            coded_rows, found = self.rows(design, label)
            return sums_by_class(coded_rows, found, len(label.values), squares=squares)
        rows, columns = made
        expressions: list[Expression] = []
        factors = []
        for column in columns:
            if isinstance(column, Amounts):
                expressions.append(column.expression)
                factors.append(1)
            else:
                # A condition counts rows; the column holds UNIT where it is true.
                expressions.append(column.condition)
                factors.append(UNIT)
        if squares:
            amounts = [column for column in columns if isinstance(column, Amounts)]
            expressions += [square_of(column) for column in amounts]
            factors += [1] * len(amounts)
        terms = self._terms(expressions, rows)
        classes = tuple((value,) for value in label.values)
        tally = Tally(rows, (Field(label.name),), terms, self.share, classes)
        totals = self.engine.tally(tally)
        # A class without rows may be missing from the result.
        zeros = (0,) * len(terms)
        by_class = [totals.get(key, zeros) for key in classes]
        # Python's integers throughout: totals of a store have any size.
        return np.asarray(np.array(by_class, dtype=object) * np.array(factors, dtype=object))

    def _totals(
        self,
        rows: Relation,
        columns: list[Column],
        label: Label | None,
        labels: list[Column],
        scale: int,
    ) -> ExactMoments:
        """Return the exact second moments as totals of products of columns, computed by the store.

        `labels` are the columns of the label; `scale` brings them from UNIT to the unit asked for.
        """
        width = len(columns)
        pairs = [(i, j) for i in range(width) for j in range(i, width)]
        wanted = [product(columns[i], columns[j]) for i, j in pairs]
        wanted += [product(column, other) for column in columns for other in labels]
        wanted += [product(other, other) for other in labels]
        totals = self._sums(wanted, rows, label)
        cross_start = len(pairs)
        own_start = cross_start + width * len(labels)
        square = np.zeros((width, width), dtype=object)
        for (i, j), value in zip(pairs, totals[:cross_start], strict=True):
            square[i, j] = value
            square[j, i] = value
        # The store's labels have UNIT for 1; `scale` brings them to the unit that is asked.
        cross = np.array(totals[cross_start:own_start], dtype=object) * scale
        own = np.array(totals[own_start:], dtype=object) * scale**2
        return square, cross.reshape(width, len(labels)), own

    def _sums(
        self, wanted: list[tuple[Expression, int] | None], rows: Relation, label: Label | None
    ) -> list[int]:
        """Return the total of each product; those that are always 0 are not asked."""
        # Equal products are asked once, in the order of their first use.
        distinct = dict.fromkeys(pair[0] for pair in wanted if pair is not None)
        expressions = list(distinct)
        terms = self._terms(expressions, rows)
        tests, only = _has_label(label)
        by_key = self.engine.tally(Tally(rows, tests, terms, self.share, only))
        totals = by_key.get((True,) * len(tests), (0,) * len(terms))
        known = dict(zip(expressions, totals, strict=True))
        sums = []
        for pair in wanted:
            if pair is None:
                sums.append(0)
            else:
                expression, factor = pair
                sums.append(known[expression] * factor)
        return sums

    def _terms(self, expressions: list[Expression], rows: Relation) -> tuple[Term, ...]:
        weight = 1 if isinstance(self.share, Free) else FULL_WEIGHT
        domains = columns_of(rows)
        terms = []
        for expression in expressions:
            low, high = _ends(domain_of(expression, domains))
            terms.append(Term(expression, weight, low * weight, high * weight))
        return tuple(terms)


def _has_label(label: Label | None) -> tuple[tuple[Expression, ...], tuple[Values, ...] | None]:
    """Return a key that tells whether a row has a label, and the list of its wanted values.

    A key and no WHERE: rows without a label are rows of their person, as in a question by class.
    """
    if label is None:
        return (), None
    return (there(label),), ((True,),)


def _ends(domain: Domain) -> tuple[int, int]:
    """Return the bounds of a number; a condition counts 0 or 1."""
    if isinstance(domain, Whole):
        return domain.low, domain.high
    return 0, 1


def _key(name: str, domain: Domain) -> Expression:
    """Return a column as a grouping key: integer steps, a listed value or NULL."""
    if domain_is_ordered(domain):
        return steps_of_field(name, domain)
    return Field(name)


def _cells(domain: Domain, values: tuple[Scalar, ...]) -> Cells:
    if domain_is_ordered(domain):
        return steps_of(values)
    return Listed(values)
