"""Bad input is refused before any bit is drawn, with what would work."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.errors import InvalidArgument
from discreet.testing.bits import UntouchedBits

UNTOUCHED = UntouchedBits()
NOT_POSITIVE = [
    0,
    -1,
    0.0,
    -0.5,
    float("nan"),
    float("inf"),
    -float("inf"),
    None,
    "ten",
    True,
    np.bool_(True),
    [1],
    1j,
]
NOT_POSITIVE += [np.array([1.0, 2.0]), Decimal("NaN"), Decimal("sNaN"), b"1", Ellipsis, "1/0"]
NOT_SIZES = [
    -1,
    1.5,
    float("nan"),
    float("inf"),
    "many",
    True,
    (2, 3),
    [4],
    2**33 + 1,
    10**30,
    np.array([1, 2]),
]
SAMPLERS = {
    "laplace": noise.laplace,
    "geometric": noise.geometric,
    "gaussian": noise.gaussian,
    "binomial": noise.binomial,
    "uniform": noise.uniform,
}


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("size", [None, 3, 5000])
@pytest.mark.parametrize("wrong", NOT_POSITIVE, ids=repr)
def test_parameters(name, wrong, size):
    if name == "binomial" and isinstance(wrong, int | float) and wrong == 0 and wrong is not False:
        assert np.all(np.equal(noise.binomial(wrong, size), 0))  # no coins, no heads
        return
    with pytest.raises(InvalidArgument):
        SAMPLERS[name](wrong, size, bits=UNTOUCHED)
    with pytest.raises(InvalidArgument):
        SAMPLERS[name](wrong, size)


@pytest.mark.parametrize("wrong", NOT_SIZES, ids=repr)
@pytest.mark.parametrize(
    "draw",
    [
        *(lambda size, f=f: f(10, size, bits=UNTOUCHED) for f in SAMPLERS.values()),
        lambda size: noise.laplace(10, size),
        lambda size: noise.coin(0.5, size, bits=UNTOUCHED),
        lambda size: noise.exponential_coin(0.5, size, bits=UNTOUCHED),
        lambda size: noise.choice([1, 2], size, bits=UNTOUCHED),
        lambda size: noise.exponential_choice([1, 2], 1, size, bits=UNTOUCHED),
    ],
)
def test_sizes(draw, wrong):
    with pytest.raises(InvalidArgument, match="size must be"):
        draw(wrong)


TOO_MUCH = {
    "laplace": (lambda: noise.laplace(2**50 + 1, bits=UNTOUCHED), "2\\*\\*50"),
    "geometric": (
        lambda: noise.geometric(Fraction(2**50 * 3 + 1, 3), bits=UNTOUCHED),
        "coarser grid",
    ),
    "gaussian": (lambda: noise.gaussian(2**100 + 1, bits=UNTOUCHED), "2\\*\\*100"),
    "binomial": (lambda: noise.binomial(2**62 + 1, bits=UNTOUCHED), "from 0 to"),
    "binomial part": (lambda: noise.binomial(2.5, bits=UNTOUCHED), "whole"),
    "uniform": (lambda: noise.uniform(2**63 + 1, 3, bits=UNTOUCHED), "single values"),
    "uniform part": (lambda: noise.uniform(2.5, bits=UNTOUCHED), "whole"),
    "bias above": (lambda: noise.coin(1.0000001, bits=UNTOUCHED), "from 0 to 1"),
    "bias below": (lambda: noise.coin(-0.1, 3, bits=UNTOUCHED), "from 0 to 1"),
    "exponent": (lambda: noise.exponential_coin(-1, bits=UNTOUCHED), "at least 0"),
    "exponent nan": (lambda: noise.exponential_coin(float("nan"), bits=UNTOUCHED), "finite"),
    "no weights": (lambda: noise.choice([], bits=UNTOUCHED), "at least one"),
    "flat weights": (lambda: noise.choice([[1, 2]], bits=UNTOUCHED), "at least one"),
    "one weight": (lambda: noise.choice(3, bits=UNTOUCHED), "at least one"),
    "negative weight": (lambda: noise.choice([1, -1], bits=UNTOUCHED), "at least 0"),
    "zero weights": (lambda: noise.choice(np.zeros(3, int), bits=UNTOUCHED), "not all be 0"),
    "nan weight": (lambda: noise.choice([1, float("nan")], bits=UNTOUCHED), "finite"),
    "no scores": (lambda: noise.exponential_choice([], 1, bits=UNTOUCHED), "at least one"),
    "nan score": (
        lambda: noise.exponential_choice([1.0, float("nan")], 1, bits=UNTOUCHED),
        "finite",
    ),
    "inf score": (lambda: noise.permute_and_flip([1.0, float("inf")], 1, bits=UNTOUCHED), "finite"),
    "text score": (lambda: noise.permute_and_flip(["a"], 1, bits=UNTOUCHED), "float64"),
    "huge score": (lambda: noise.permute_and_flip([10**30], 1, bits=UNTOUCHED), "float64"),
    "unsigned score": (
        lambda: noise.permute_and_flip(np.array([2**63], np.uint64), 1, bits=UNTOUCHED),
        "float64",
    ),
    "flat scores": (lambda: noise.permute_and_flip([[1.0]], 1, bits=UNTOUCHED), "at least one"),
    "nan rate": (lambda: noise.permute_and_flip([1.0], float("nan"), bits=UNTOUCHED), "finite"),
    "no bits": (lambda: noise.laplace(10, 3, bits=7), "leave it out"),
    "value below": (lambda: noise.truncated_geometric(-1, 1, 0, 5, bits=UNTOUCHED), "clamp"),
    "values above": (lambda: noise.truncated_geometric([1, 6], 1, 0, 5, bits=UNTOUCHED), "clamp"),
    "value part": (lambda: noise.truncated_geometric(1.5, 1, 0, 5, bits=UNTOUCHED), "whole"),
    "values part": (lambda: noise.truncated_geometric([1.5], 1, 0, 5, bits=UNTOUCHED), "integers"),
    "ends swapped": (lambda: noise.truncated_geometric(1, 1, 5, 0, bits=UNTOUCHED), "swap"),
    "ends part": (
        lambda: noise.truncated_geometric(1, 1, 0.5, 2, bits=UNTOUCHED),
        "low must be whole",
    ),
    "ends wide": (
        lambda: noise.truncated_geometric([1], 1, 0, 2**62, bits=UNTOUCHED),
        "single values",
    ),
    "scale of truncated": (
        lambda: noise.truncated_geometric([1], 0, 0, 2, bits=UNTOUCHED),
        "greater than 0",
    ),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_out_of_range(name):
    call, hint = TOO_MUCH[name]
    with pytest.raises(InvalidArgument, match=hint):
        call()


def test_no_size_draws_nothing():
    for sampler in SAMPLERS.values():
        assert sampler(10, 0).shape == (0,)
    assert noise.coin(0.5, 0).shape == (0,)
    assert noise.choice([1, 2], 0).shape == (0,)
    assert noise.exponential_choice([1, 2], 1, 0).shape == (0,)
