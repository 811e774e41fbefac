"""`@frozen` makes what `@dataclass(frozen=True, slots=True)` makes."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, is_dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.frozen import fill, frozen, replace
from support.profile import examples

FIELDS = st.lists(
    st.tuples(
        st.sampled_from(["", "default", "default_factory"]),
        st.fixed_dictionaries(
            {
                "repr": st.booleans(),
                "compare": st.booleans(),
                "hash": st.sampled_from([None, True, False]),
                "kw_only": st.booleans(),
            }
        ),
    ),
    max_size=5,
)
VALUES = st.lists(st.integers(0, 1), min_size=5, max_size=5)


def body(facts, **more) -> type:
    """Make the same body of a class anew; those that must be said come first."""
    facts = sorted(facts, key=lambda fact: fact[0] != "")
    said = {"": {}, "default": {"default": 7}, "default_factory": {"default_factory": lambda: 8}}
    parts = {
        f"f{at}": field(**said[unsaid], **options) for at, (unsaid, options) in enumerate(facts)
    }
    names = {
        "__doc__": "A shape.",
        "__module__": __name__,
        "__annotations__": dict.fromkeys(parts, "int"),
    }
    return type("Shape", (), names | parts | more)


@frozen
class Pair:
    """Two whole numbers."""

    left: int
    right: tuple[int, ...] = ()


@frozen
class Own:  # noqa: PLW1641 the decorator gives it
    """One that speaks for itself, and checks what it is given."""

    size: int
    double: int = field(init=False)

    def __post_init__(self) -> None:
        fill(self, double=2 * self.size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __repr__(self) -> str:
        return "own"


class TestAFrozenDataclass:
    """Of any fields, both decorators make, show, compare and hash alike, and describe themselves alike."""

    @given(FIELDS, VALUES, VALUES, st.booleans(), st.booleans())
    @settings(max_examples=examples(400))
    def test_is_made_by_either(self, facts, one, other, shown, compared):
        ours = frozen(repr=shown, eq=compared)(body(facts))
        theirs = dataclass(frozen=True, slots=True, repr=shown, eq=compared)(body(facts))
        first, second = (
            [made(**dict(zip(names(made), values, strict=False))) for values in (one, other)]
            for made in (ours, theirs)
        )
        assert signature(ours) == signature(theirs)
        assert ours.__match_args__ == theirs.__match_args__
        assert ours.__slots__ == theirs.__slots__
        assert asdict(first[0]) == asdict(second[0])
        assert (first[0] == first[1]) == (second[0] == second[1])
        assert first[0] != second[0]
        if compared:
            assert hash(first[0]) == hash(second[0])
        if shown:
            assert repr(first[0]) == repr(second[0])

    @given(FIELDS)
    @settings(max_examples=examples(100))
    def test_takes_what_is_not_said_from_its_fields(self, facts):
        ours, theirs = frozen(body(facts)), dataclass(frozen=True, slots=True)(body(facts))
        needed = {
            part.name: 0
            for part, (unsaid, _) in zip(
                fields(ours), sorted(facts, key=lambda f: f[0] != ""), strict=True
            )
            if not unsaid
        }
        assert asdict(ours(**needed)) == asdict(theirs(**needed))
        for absent in needed:
            with pytest.raises(TypeError, match=f"missing 1 required .*'{absent}'"):
                ours(**{name: 0 for name in needed if name != absent})


def names(made) -> list[str]:
    return [part.name for part in fields(made)]


def signature(made):
    return [
        (p.name, p.kind, p.annotation, p.default is p.empty)
        for p in inspect.signature(made).parameters.values()
    ]


def test_nothing_is_changed_and_nothing_added():
    pair = Pair(1, (2,))
    for name in ("left", "other"):
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(pair, name, 3)
        with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(pair, name)
    assert (pair.left, pair.right, hasattr(pair, "__dict__")) == (1, (2,), False)


def test_copies_are_equal_and_another_is_made_by_replacing():
    pair = Pair(1, (2,))
    assert copy.copy(pair) == copy.deepcopy(pair) == pickle.loads(pickle.dumps(pair)) == pair
    assert replace(pair, left=5) == Pair(5, (2,))
    assert is_dataclass(Pair)


def test_what_a_class_defines_itself_stays():
    assert Own(2).double == 4
    assert Own(2) == Own(3)
    assert repr(Own(2)) == "own"
    assert hash(Own(2)) == hash((2, 4))
    assert Own.__doc__.startswith("One that speaks")
