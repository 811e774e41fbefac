"""Design matrix of a model: features of a row as columns of whole numbers, with a constant one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from ...data.columns.keys import KeyValue
from ...errors import InvalidArgument
from ...frozen import frozen
from ...query.domains.domain import Day, Domain, Second, Texts, Whole
from .bins import BINS, public_edges
from .column_cells import Cells
from .feature import UNIT, Bins, Feature, Numeric, OneHot
from .rows import CodedRows, Whole64
from .shrink import Shrink, shrink_of


@frozen
class ModelDesign:
    """Features in the order of a model's columns: numbers first, then one block each; the constant comes last."""

    features: tuple[Feature, ...]

    @property
    def width(self) -> int:
        """How many columns there are, the constant included."""
        return sum(feature.width for feature in self.features) + 1

    @property
    def squared_norm(self) -> int:
        """A bound on every row's squared norm, whatever it holds: that of its numbers, and UNIT² for all else."""
        return self.shrink.limit + (len(self.features) - self.numbers + 1) * UNIT**2

    @property
    def numbers(self) -> int:
        """How many features are numbers; they come first."""
        return sum(isinstance(feature, Numeric) for feature in self.features)

    @property
    def shrink(self) -> Shrink:
        """How rows of many numbers are shortened."""
        return shrink_of(self.numbers)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns."""
        return (*(label for feature in self.features for label in feature.labels), "1")

    @property
    def starts(self) -> tuple[int, ...]:
        """Where each feature's columns begin."""
        return tuple(accumulate((feature.width for feature in self.features), initial=0))[:-1]

    def code(
        self, columns: Mapping[str, Cells], weights: Sequence[int] | Whole64 | None = None
    ) -> CodedRows:
        """Return the rows of a table as a model sees them; `weights` says how often each counts."""
        coded = [feature.code(columns[feature.name]) for feature in self.features]  # type: ignore[arg-type]
        count = len(coded[0])
        numbers = [
            c
            for c, feature in zip(coded, self.features, strict=True)
            if isinstance(feature, Numeric)
        ]
        places = [
            c + start
            for c, feature, start in zip(coded, self.features, self.starts, strict=True)
            if not isinstance(feature, Numeric)
        ]
        constant = np.full(count, self.width - 1, dtype=np.int64)
        each = (
            np.ones(count, dtype=np.int64)
            if weights is None
            else np.asarray(weights, dtype=np.int64)
        )
        dense = np.array(numbers, dtype=np.float64).T if numbers else np.empty((count, 0))
        short = self.shrink.apply(np.ascontiguousarray(dense))
        return CodedRows(short, np.stack([*places, constant], axis=1), each, self.width)


def design_of(
    domains: Mapping[str, Domain],
    *,
    binned: bool = False,
    bins: int = BINS,
    edges: Mapping[str, Sequence[float]] | None = None,
) -> ModelDesign:
    """Choose the features of a table's columns from what is public about them.

        a listed value, yes or no       one column each
        a number, a day, a second       one scaled column, or one for each bin where `binned`

    >>> import discreet as dp
    >>> from discreet.learn.coding.design import design_of
    >>> from discreet.query.domains.domain import domain_of_column
    >>> columns = {"sex": dp.Category(["f", "m"]), "age": dp.Integer(0, 120)}
    >>> design = design_of({name: domain_of_column(column) for name, column in columns.items()})
    >>> design.labels, design.squared_norm == 3 * 1024**2
    (('age', 'sex=f', 'sex=m', 'sex=other', '1'), True)

    Refuses free text, whose values are not public.
    """
    if not domains:
        raise InvalidArgument("a model needs at least one column besides its target")
    given = edges or {}
    if unknown := [name for name in given if name not in domains]:
        raise InvalidArgument(
            f"edges are for columns of the model, which has no {unknown[0]}: {', '.join(domains)}"
        )
    features = [
        _feature(name, domain, binned, bins, given.get(name)) for name, domain in domains.items()
    ]
    return ModelDesign(
        tuple(sorted(features, key=lambda feature: not isinstance(feature, Numeric)))
    )


def _feature(
    name: str, domain: Domain, binned: bool, bins: int, edges: Sequence[float] | None
) -> Feature:
    if domain_is_ordered(domain):
        low, high = domain.low, domain.high  # type: ignore[union-attr]
        if edges is not None:
            return Bins(name, low, high, _inner(name, domain, edges))
        return (
            Bins(name, low, high, public_edges(low, high, bins))
            if binned
            else Numeric(name, low, high)
        )
    if edges is not None:
        raise InvalidArgument(f"edges are for numbers and times; {name} is a listed value")
    if isinstance(domain, Texts) and domain.keys is None:
        raise InvalidArgument(
            f"{name} is free text, whose values are not public; declare Category([...]), or leave the column out"
        )
    values: tuple[KeyValue | None, ...] = domain.keys  # type: ignore[assignment]
    return OneHot(name, tuple(value for value in values if value is not None))


def domain_is_ordered(domain: Domain) -> bool:
    """Return whether a column is a number, a day or a second and not one of a list."""
    return isinstance(domain, Day | Second) or (isinstance(domain, Whole) and domain.keys is None)


def _inner(name: str, domain: Domain, edges: Sequence[float]) -> tuple[int, ...]:
    step = domain.step if isinstance(domain, Whole) else 1
    low, high = domain.low, domain.high  # type: ignore[union-attr]
    found = sorted({-int(-edge // step) for edge in edges})
    inner = tuple(edge for edge in found if low < edge <= high)
    if not inner:
        raise InvalidArgument(f"no edge of {name} lies between its declared bounds")
    return inner
