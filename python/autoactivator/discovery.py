"""What ``discover`` finds: groups of rows that look like no known class."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Group:
    """Rows that look like no known class and like each other.

    Attributes
    ----------
    name : str
        The name that the group is proposed under; no known class has it.
    size : int
        Number of rows.
    tightness : float
        How much alike its rows are: the mean cosine between a row and their mean. 1 if all are the same.
    known : float
        Half of its rows are stranger than all but this share of known rows.
    nearest : str or int
        The known class that it is most like.
    likeness : float
        The mean cosine between rows of the group and the mean of that class.
    own : float
        The same for rows of that class itself.
    """

    name: str
    size: int
    tightness: float
    known: float
    nearest: object
    likeness: float
    own: float


@dataclass(frozen=True)
class Groups:
    """Groups of rows that look like no known class, the largest first.

    Attributes
    ----------
    groups : list of Group
        The groups.
    labels : ndarray of shape (n_samples,)
        The name of the group that each row is in. None for a row of a known class, or of no group.
    """

    groups: list[Group]
    labels: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def __getitem__(self, place: int) -> Group:
        return self.groups[place]


@dataclass(frozen=True)
class KeptGroup(Group):
    """Rows that a server has kept because they were answered "unknown", and that are like each other.

    Attributes
    ----------
    ids : list of str
        Its rows, by which they are named or dismissed.
    shown : list of dict
        Those that are most like it: each has its ``id`` and a ``row``, a ``text`` or a ``picture``.
    """

    ids: list[str]
    shown: list[dict[str, Any]]


@dataclass(frozen=True)
class Kept:
    """Rows that a server has kept because they were answered "unknown".

    Attributes
    ----------
    groups : list of KeptGroup
        Groups that might be new classes, the largest first.
    alone : list of str
        Rows that are in no group.
    shown : list of dict
        The newest of these, as in a group.
    reason : str or None
        Why the model cannot group rows, and what to do.
    known : int
        Number of rows beside these that the model has come to know.
    dropped : int
        Number of rows that were not kept, or had to go, for lack of room.
    """

    groups: list[KeptGroup]
    alone: list[str]
    shown: list[dict[str, Any]]
    reason: str | None
    known: int
    dropped: int

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[KeptGroup]:
        return iter(self.groups)

    def __getitem__(self, place: int) -> KeptGroup:
        return self.groups[place]


def kept(answer: Mapping[str, Any], labels_of: Callable[[set[str]], Mapping[str, object]]) -> Kept:
    """What a server has kept: its answer, and what has the labels of class names."""
    described = answer["groups"]
    nearest = labels_of({group["nearest"]["class"] for group in described}) if described else {}
    found = [
        KeptGroup(*_described(group, group["rows"], nearest), ids=group["ids"], shown=group["shown"])
        for group in described
    ]
    alone = answer["alone"]
    return Kept(found, alone["ids"], alone["shown"], answer["reason"], answer["known"], answer["dropped"])


def _described(
    group: Mapping[str, Any], size: int, nearest: Mapping[str, object]
) -> tuple[str, int, float, float, object, float, float]:
    """The fields of a group of this size."""
    to = group["nearest"]
    label = nearest[to["class"]]
    return group["name"], size, group["tightness"], group["known"], label, to["likeness"], to["own"]


def groups(
    described: Sequence[Mapping[str, Any]],
    names: Sequence[str | None],
    labels_of: Callable[[set[str]], Mapping[str, object]],
) -> Groups:
    """What was found: the groups as objects of JSON, the name of the group of each row, and what has the labels of class names."""
    labels = np.full(len(names), None, dtype=object)
    labels[:] = names
    nearest = labels_of({group["nearest"]["class"] for group in described})
    found = [Group(*_described(group, int(np.sum(labels == group["name"])), nearest)) for group in described]
    return Groups(found, labels)
