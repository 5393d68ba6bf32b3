"""`frozen` gives what `dataclass(frozen=True)` gives."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from compiler.frozen import frozen


@frozen(slots=True)
class Point:
    x: int
    y: int = 0
    note: str = field(default="", compare=False)
    secret: str = field(default="", repr=False)


@frozen
class Space(Point):
    z: int = 0


@dataclass(frozen=True)
class Plain:
    x: int
    y: int = 0
    note: str = field(default="", compare=False)
    secret: str = field(default="", repr=False)


@frozen
class Empty:
    pass


@frozen
class Named:
    name: str

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name.lower() == other.name.lower()

    __hash__ = None  # type: ignore[assignment]  # such values cannot be keys


def test_values() -> None:
    assert Point(1, 2, "a") == Point(1, 2, "b") != Point(1, 3)
    assert Point(1, 2) != Space(1, 2)
    assert Point(1).__eq__(1) is NotImplemented
    assert hash(Point(1, 2, "a")) == hash(Point(1, 2, "b")) == hash(Plain(1, 2))
    assert Space(1, 2, z=3) == Space(1, 2, z=3) != Space(1, 2, z=4)
    assert Empty() == Empty()
    assert len({Empty(), Empty(), Point(1), Point(1, 0)}) == 2
    assert replace(Space(1, z=3), y=2) == Space(1, 2, z=3)


def test_text() -> None:
    assert repr(Point(1, 2, "a", "b")) == repr(Plain(1, 2, "a", "b")).replace("Plain", "Point")
    assert repr(Empty()) == "Empty()"


def test_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        Point(1).x = 2  # type: ignore[misc]  # it must fail
    assert not hasattr(Point(1), "__dict__")


def test_what_the_class_says_itself_stays() -> None:
    assert repr(Named("a")) == "a"
    assert Named("a") == Named("A")
    with pytest.raises(TypeError):
        hash(Named("a"))
