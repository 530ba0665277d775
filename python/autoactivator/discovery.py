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


def groups(
    described: Sequence[Mapping[str, Any]],
    names: Sequence[str | None],
    labels_of: Callable[[set[str]], Mapping[str, object]],
) -> Groups:
    """What was found: the groups as objects of JSON, the name of the group of each row, and what has the labels of class names."""
    labels = np.full(len(names), None, dtype=object)
    labels[:] = names
    nearest = labels_of({group["nearest"]["class"] for group in described})
    found = [
        Group(
            group["name"],
            int(np.sum(labels == group["name"])),
            group["tightness"],
            group["known"],
            nearest[group["nearest"]["class"]],
            group["nearest"]["likeness"],
            group["nearest"]["own"],
        )
        for group in described
    ]
    return Groups(found, labels)
