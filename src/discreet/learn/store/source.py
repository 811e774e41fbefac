"""A relation of a store as a source of exact sums: by totals where it can add them up itself, else by its rows.

Totals: one for each pair of columns, so no row leaves the store. Rows: one line for each distinct row with its exact
weight, in the store's own reading; they are coded here, used and dropped.
"""

from __future__ import annotations

import numpy as np

from ...answer.tally_batch import TallyBatch
from ...frozen import frozen
from ...query.algebra.expression import Call, Constant, Expression, Field, Function
from ...query.algebra.tally import Free, RowShare, Share, Tally, Term
from ...query.algebra.tree import Relation, Where
from ...query.bounds.contribution_bounds import row_share
from ...query.bounds.relation_facts import columns_of, multiplicity, neighbours_of
from ...query.domains.domain import Domain, Scalar, Whole
from ...query.domains.domain_of import domain_of
from ..coding.column_cells import Cells, Listed, steps_of
from ..coding.design import ModelDesign, domain_is_ordered
from ..coding.feature import UNIT
from ..coding.label import Classes, Label
from ..coding.rows import CodedRows, Whole64
from ..training.gram import ExactMoments
from ..training.influence import Influence
from ..training.source import Arrays, label_matrix, sums_by_class
from .columns import Amounts, Column, coded, label_expressions, product, square_of, there

FULL_WEIGHT = 64
"""The weight of a row that counts in full where a person's rows share one: shares are rounded down to 1/64."""
MOST_TOTALS = 4_000
"""A statement with more totals than this takes longer to read than to run; the rows are asked for instead."""


def influence_of(rows: Relation) -> Influence:
    """Return how much one unit of a relation counts."""
    share = row_share(rows)
    relation = neighbours_of(rows)
    if isinstance(share, RowShare):
        return Influence(share.rows * FULL_WEIGHT, FULL_WEIGHT, relation)
    return Influence(multiplicity(rows), 1, relation)


@frozen(eq=False)
class Stored:
    """The rows of a relation in a store."""

    engine: TallyBatch
    relation: Relation

    @property
    def share(self) -> Share:
        """How a person's rows are kept in bounds."""
        return row_share(self.relation)

    def rows(self, design: ModelDesign, label: Label | None) -> tuple[CodedRows, Whole64]:
        """Return the distinct rows with their weights, coded."""
        domains = columns_of(self.relation)
        names = [feature.name for feature in design.features] + (
            [] if label is None else [label.name]
        )
        keys = tuple(_key(name, domains[name]) for name in names)
        totals = self.engine.tally(
            Tally(
                self._labelled(label),
                keys,
                self._terms([Constant(True)], self.relation),
                self.share,
            )
        )
        weights = np.fromiter(
            (found[0] for found in totals.values()), dtype=np.int64, count=len(totals)
        )
        columns = list(zip(*totals, strict=True)) or [()] * len(names)
        cells = {
            name: _cells(domains[name], column) for name, column in zip(names, columns, strict=True)
        }
        return Arrays(cells, weights).rows(design, label)

    def moments(self, design: ModelDesign, label: Label | None, unit: int) -> ExactMoments:
        """Return the exact second moments, as totals if the store can work them out."""
        made = coded(self._labelled(label), design, label)
        labels = [] if label is None else label_expressions(label)
        count = design.width * (design.width + 1) // 2 + (design.width + 1) * len(labels)
        if made is None or count > MOST_TOTALS:
            rows, found = self.rows(design, label)
            return rows.gram(label_matrix(label, found, unit))
        return self._totals(*made, labels, unit // UNIT)

    def sums(self, design: ModelDesign, label: Classes, *, squares: bool) -> Whole64:
        """Return the exact sums of each class, as totals by class if the store can work them out."""
        made = coded(self._labelled(label), design, label)
        if made is None or len(made[1]) > MOST_TOTALS:
            coded_rows, found = self.rows(design, label)
            return sums_by_class(coded_rows, found, len(label.values), squares=squares)
        rows, columns = made
        wanted = [
            (column.expression, 1) if isinstance(column, Amounts) else (column.condition, UNIT)
            for column in columns
        ]
        if squares:
            wanted += [(square_of(column), 1) for column in columns if isinstance(column, Amounts)]
        terms = self._terms([expression for expression, _ in wanted], rows)
        only = tuple((value,) for value in label.values)
        totals = self.engine.tally(Tally(rows, (Field(label.name),), terms, self.share, only))
        none, factors = (0,) * len(terms), np.array([factor for _, factor in wanted])
        return np.asarray(
            np.array([totals.get((value,), none) for value in label.values], dtype=np.int64)
            * factors
        )

    def _totals(
        self, rows: Relation, columns: list[Column], labels: list[Column], scale: int
    ) -> ExactMoments:
        width = len(columns)
        pairs = [(i, j) for i in range(width) for j in range(i, width)]
        wanted = [product(columns[i], columns[j]) for i, j in pairs]
        wanted += [product(column, other) for column in columns for other in labels]
        wanted += [product(other, other) for other in labels]
        found = self._sums(wanted, rows)
        square = np.zeros((width, width), dtype=np.int64)
        for (i, j), value in zip(pairs, found, strict=False):
            square[i, j] = square[j, i] = value
        beside = len(pairs) + width * len(labels)
        cross = (
            np.array(found[len(pairs) : beside], dtype=np.int64).reshape(width, len(labels)) * scale
        )
        return square, cross, np.array(found[beside:], dtype=np.int64) * scale**2

    def _sums(self, wanted: list[tuple[Expression, int] | None], rows: Relation) -> list[int]:
        """Return the total of each product, those that are always 0 left out of the question."""
        asked = list(dict.fromkeys(pair[0] for pair in wanted if pair is not None))
        terms = self._terms(asked, rows)
        totals = self.engine.tally(Tally(rows, (), terms, self.share)).get((), (0,) * len(terms))
        known = dict(zip(asked, totals, strict=True))
        return [0 if pair is None else known[pair[0]] * pair[1] for pair in wanted]

    def _terms(self, expressions: list[Expression], rows: Relation) -> tuple[Term, ...]:
        weight, domains = 1 if isinstance(self.share, Free) else FULL_WEIGHT, columns_of(rows)
        ends = [_ends(domain_of(expression, domains)) for expression in expressions]
        return tuple(
            Term(e, weight, low * weight, high * weight)
            for e, (low, high) in zip(expressions, ends, strict=True)
        )

    def _labelled(self, label: Label | None) -> Relation:
        return self.relation if label is None else Where(self.relation, there(label))


def _ends(domain: Domain) -> tuple[int, int]:
    """Return the bounds of a number; yes or no counts 0 or 1."""
    return (domain.low, domain.high) if isinstance(domain, Whole) else (0, 1)


def _key(name: str, domain: Domain) -> Expression:
    """Return a column as a key that comes back as whole steps, a listed value or NULL."""
    if isinstance(domain, Whole) and domain.keys is None and domain.step != 1:
        inverse = 1 / domain.step
        return Call(
            Function.MULTIPLY,
            (Field(name), Constant(int(inverse) if inverse.denominator == 1 else inverse)),
        )
    return Field(name)


def _cells(domain: Domain, values: tuple[Scalar, ...]) -> Cells:
    return steps_of(values) if domain_is_ordered(domain) else Listed(values)
