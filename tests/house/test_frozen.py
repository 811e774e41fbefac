"""A value declared by `arithmetic.frozen.dataclass` is the value that the standard decorator makes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle

import pytest

from discreet.arithmetic.frozen import dataclass


def declare(decorator):
    """The same classes, by one decorator or the other."""

    @decorator(frozen=True, slots=True)
    class Point:
        """A place."""

        x: int
        y: float = 0.0
        seen: list[int] = dataclasses.field(default_factory=list, compare=False, repr=False)
        note: str = dataclasses.field(default="-", kw_only=True)

        def __post_init__(self):
            if self.x < 0:
                raise ValueError("x must be at least 0")

    @decorator(frozen=True)
    class One:
        """A value of one field, with a text of its own."""

        only: object

        def __repr__(self):
            return "one"

    @decorator(frozen=True, slots=True)
    class Nothing:
        """Nothing to hold."""

    @decorator(frozen=True, slots=True, eq=False)
    class Apart:
        """Two of these are never equal."""

        x: int

    @decorator(frozen=True, slots=True, init=False, repr=False)
    class Own:  # noqa: PLW1641
        """Equal as it says itself, and hashed by its fields."""

        x: int

        def __init__(self, x):
            object.__setattr__(self, "x", x)

        def __eq__(self, other):
            return self.x % 10 == other.x % 10

    @decorator(frozen=True, slots=True)
    class Further(Point):
        """Fields are inherited."""

        z: int = 7

    @decorator
    class Loose:
        """A value that changes."""

        x: int

    return Point, One, Nothing, Apart, Own, Further, Loose


@dataclass(frozen=True, slots=True)
class Kept:
    """A value that can be found by its name."""

    x: int
    y: tuple[int, ...] = ()


OURS, THEIRS = declare(dataclass), declare(dataclasses.dataclass)
PAIRS = list(zip(OURS, THEIRS, strict=True))


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda cls: cls.__name__)
class TestADeclaredValueIsTheStandardOne:
    def test_in_its_fields_and_constructor(self, ours, theirs):
        assert inspect.signature(ours) == inspect.signature(theirs)
        assert ours.__init__.__qualname__ == theirs.__init__.__qualname__
        assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]
        assert ours.__match_args__ == theirs.__match_args__
        assert hasattr(ours, "__slots__") == hasattr(theirs, "__slots__")

    def test_in_text_equality_and_hash(self, ours, theirs):
        count = len(inspect.signature(ours).parameters) and 1
        mine, yours = ([cls(*([x] * count)) for x in (3, 3, 4)] for cls in (ours, theirs))
        if ours.__name__ != "Apart" and "0x" not in repr(yours[0]):
            assert repr(mine[0]) == repr(yours[0])
        assert [a == b for a in mine for b in mine] == [a == b for a in yours for b in yours]
        assert mine[0] != yours[0] or ours.__name__ == "Own"
        if yours[0].__hash__ is None:
            assert mine[0].__hash__ is None
        elif ours.__name__ != "Apart":
            assert (hash(mine[0]) == hash(mine[1])) and (hash(mine[0]) == hash(mine[2])) == (count == 0)

    def test_in_what_it_refuses(self, ours, theirs):
        if not (count := len(inspect.signature(ours).parameters) and 1):
            return  # the standard one stumbles where a value with slots has no such field
        for act in (lambda made: setattr(made, "x", 1), lambda made: delattr(made, "x")):
            outcomes = []
            for cls in (ours, theirs):
                try:
                    act(cls(*([3] * count)))
                    outcomes.append(None)
                except AttributeError as refused:
                    outcomes.append((type(refused), str(refused)))
            assert outcomes[0] == outcomes[1]


class TestAValue:
    def test_is_copied_pickled_and_replaced(self):
        kept = Kept(3, (1, 2))
        assert pickle.loads(pickle.dumps(kept)) == copy.deepcopy(kept) == kept
        point = OURS[0](3, seen=[1])
        assert dataclasses.replace(point, y=2.0) == OURS[0](3, 2.0)
        assert dataclasses.asdict(point) == {"x": 3, "y": 0.0, "seen": [1], "note": "-"}

    def test_checks_itself_when_made(self):
        with pytest.raises(ValueError, match="x must be at least 0"):
            OURS[0](-1)

    def test_may_be_inherited_by_a_class_that_adds_to_it(self):
        class Marked(OURS[0]):
            def mark(self, mark):
                self.mark_ = mark
                return self

        marked = Marked(3).mark("m")
        assert marked.mark_ == "m"
        del marked.mark_
        with pytest.raises(dataclasses.FrozenInstanceError):
            marked.x = 4
        with pytest.raises(dataclasses.FrozenInstanceError):
            del marked.x
        assert dataclasses.dataclass(frozen=True)(type("More", (OURS[0],), {"__doc__": "-"}))(3).x == 3

    def test_may_hold_itself(self):
        held = []
        one = dataclass(frozen=True)(type("Holder", (), {"__annotations__": {"held": list}, "__doc__": "-"}))(held)
        held.append(one)
        assert repr(one) == "Holder(held=[...])"
