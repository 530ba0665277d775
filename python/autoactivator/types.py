"""The types of what users hand over, for their editors and type checkers."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray


class SupportsDLPack(Protocol):
    """An array of any library that follows the Python array API standard."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...

    def __dlpack_device__(self) -> Any: ...


class SupportsArrow(Protocol):
    """A table or column of any library that exports Arrow streams."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Rows: TypeAlias = ArrayLike | SupportsDLPack | SupportsArrow
"""Rows of features, or sentences."""

Labels: TypeAlias = ArrayLike | SupportsDLPack | SupportsArrow
"""The label of each row."""

Label: TypeAlias = str | int | float | bool | np.generic
"""One label."""

Weights: TypeAlias = ArrayLike | float
"""How often rows count."""

Path: TypeAlias = str | PathLike[str]
"""A file or folder."""

File: TypeAlias = str | bytes | PathLike[str]
"""A file, by its path or its content."""

Found: TypeAlias = NDArray[Any]
"""Labels as an array, of the kind that was learned."""

LabelType: TypeAlias = type[int] | type[float] | type[bool] | type[str] | None
"""The type of labels, where names alone do not tell."""

Image: TypeAlias = str | Sequence[int]
"""The shape of the image that a row holds."""
