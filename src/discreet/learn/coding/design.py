"""Design matrix of a model: the features of a row as columns of integers, and a constant.

Each column of the table becomes a feature: one scaled column for a number, or a block of columns of
which exactly one is set, for listed values and bins. All of it follows from declared domains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from ...data.columns.keys import KeyValue
from ...errors import InvalidArgument
from ...frozen import frozen
from ...query.domains.domain import Day, Domain, Second, Texts, Whole
from ...workloads.public_bins import BINS, public_edges
from .column_cells import Cells
from .feature import UNIT, Bins, Feature, Numeric, OneHot
from .rows import CodedRows, Whole64
from .shrink import Shrink, shrink_of


@frozen
class ModelDesign:
    """Features in the order of a model's columns.

    Numbers come first, then one block for each other feature; the constant is last.

    Guarantee: the squared norm of every coded row is at most `squared_norm`.
    Law: tests/learn/test_rows.py::TestNoRowIsLongerThanItsBound
    """

    features: tuple[Feature, ...]

    @property
    def names(self) -> list[str]:
        """The names of the table's columns that are features."""
        return [feature.name for feature in self.features]

    @property
    def width(self) -> int:
        """The number of columns, the constant included."""
        return sum(feature.width for feature in self.features) + 1

    @property
    def squared_norm(self) -> int:
        """A bound on a row's squared norm: of all its numbers together, and UNIT² for each block.

        A feature that is not a number has UNIT in one of its columns, as the constant has.
        """
        blocks = len(self.features) - self.numbers + 1
        return self.shrink.limit + blocks * UNIT**2

    @property
    def numbers(self) -> int:
        """The number of features that are numbers; they come first."""
        return sum(isinstance(feature, Numeric) for feature in self.features)

    @property
    def shrink(self) -> Shrink:
        """The rule by which rows of many numbers are shortened."""
        return shrink_of(self.numbers)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns."""
        names: list[str] = []
        for feature in self.features:
            names += feature.labels
        return (*names, "1")

    @property
    def starts(self) -> tuple[int, ...]:
        """The first column of each feature."""
        ends = accumulate((feature.width for feature in self.features), initial=0)
        return tuple(ends)[:-1]

    def code(
        self, columns: Mapping[str, Cells], weights: Sequence[int] | Whole64 | None = None
    ) -> CodedRows:
        """Return the coded rows of a table; `weights` are the counts of each row, by default 1."""
        numbers = []
        codes = []
        for feature, start in zip(self.features, self.starts, strict=True):
            coded = feature.code(columns[feature.name])  # type: ignore[arg-type]
            if isinstance(feature, Numeric):
                numbers.append(coded)
            else:
                # The column that holds UNIT, counted from the first column of the design.
                codes.append(coded + start)
        count = len(coded)
        codes.append(np.full(count, self.width - 1, dtype=np.int64))
        if weights is None:
            weights = np.ones(count, dtype=np.int64)
        dense = np.empty((count, 0))
        if numbers:
            dense = np.stack(numbers, axis=1).astype(np.float64)
        shortened = self.shrink.apply(dense)
        exact_weights = np.asarray(weights, dtype=np.int64)
        return CodedRows(shortened, np.stack(codes, axis=1), exact_weights, self.width)


def design_of(
    domains: Mapping[str, Domain],
    *,
    binned: bool = False,
    bins: int = BINS,
    edges: Mapping[str, Sequence[float]] | None = None,
) -> ModelDesign:
    """Choose the features of a table's columns from their public domains.

        a listed value, a truth value   one column for each value, and one for all others
        a number, a day, a second       one scaled column; with `binned` one for each of `bins` bins
                                        (or between given `edges`), and one for NULL

    >>> import discreet as dp
    >>> from discreet.learn.coding.design import design_of
    >>> from discreet.query.domains.domain import domain_of_column
    >>> columns = {"sex": dp.Category(["f", "m"]), "age": dp.Integer(0, 120)}
    >>> design = design_of({name: domain_of_column(column) for name, column in columns.items()})
    >>> design.labels, design.squared_norm == 3 * 1024**2
    (('age', 'sex=f', 'sex=m', 'sex=other', '1'), True)

    Refuses: no columns, free text, whose values are not public, edges of other or of listed columns,
    and edges of which none lies within the bounds.
    """
    if not domains:
        raise InvalidArgument("a model needs at least one column besides its target")
    given = edges or {}
    unknown = [name for name in given if name not in domains]
    if unknown:
        raise InvalidArgument(
            f"edges are for columns of the model, which has no {unknown[0]}: {', '.join(domains)}"
        )
    features = []
    for name, domain in domains.items():
        features.append(_feature(name, domain, binned, bins, given.get(name)))
    # Sorting is stable: numbers first, otherwise the order of the schema.
    features.sort(key=lambda feature: not isinstance(feature, Numeric))
    return ModelDesign(tuple(features))


def _feature(
    name: str, domain: Domain, binned: bool, bins: int, edges: Sequence[float] | None
) -> Feature:
    """Choose the feature of one column; `edges` are those given for it, None if none are."""
    if isinstance(domain, Whole | Day | Second) and domain_is_ordered(domain):
        low = domain.low
        high = domain.high
        if edges is not None:
            return Bins(name, low, high, _inner(name, domain, edges))
        if binned:
            return Bins(name, low, high, public_edges(low, high, bins))
        return Numeric(name, low, high)
    if edges is not None:
        raise InvalidArgument(f"edges are for numbers and times; {name} is a listed value")
    if isinstance(domain, Texts) and domain.keys is None:
        raise InvalidArgument(
            f"{name} is free text, whose values are not public; "
            "declare Category([...]), or leave the column out"
        )
    values: tuple[KeyValue | None, ...] = domain.keys  # type: ignore[assignment]
    return OneHot(name, tuple(value for value in values if value is not None))


def domain_is_ordered(domain: Domain) -> bool:
    """Return whether a column is a number, a day or a second, and not one of a list."""
    return isinstance(domain, Day | Second) or (isinstance(domain, Whole) and domain.keys is None)


def _inner(name: str, domain: Whole | Day | Second, edges: Sequence[float]) -> tuple[int, ...]:
    """Return given edges as steps strictly inside the declared bounds."""
    step = domain.step if isinstance(domain, Whole) else 1
    # Rounded up: an edge is the first step of the bin above it.
    steps = {-int(-edge // step) for edge in edges}
    inner = tuple(edge for edge in sorted(steps) if domain.low < edge <= domain.high)
    if not inner:
        raise InvalidArgument(f"no edge of {name} lies between its declared bounds")
    return inner
