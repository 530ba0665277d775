"""Which files there are, and how a worker opens them: as paths, or as addresses that Arrow understands."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .. import types
from ..error import IoError


def listed(paths: types.Path | Sequence[types.Path]) -> list[str]:
    """Every file once, sorted by name. Folders are searched; hidden files are left out.

    Parameters
    ----------
    paths : path-like or list of path-like
        Files and folders on a file system that all workers share, or addresses such as ``s3://bucket/folder``.

    Returns
    -------
    list of str
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from autoactivator.distributed.files import listed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ["b.parquet", "a.parquet", "_SUCCESS"]:
    ...         Path(folder, name).touch()
    ...     [Path(path).name for path in listed([folder, Path(folder, "a.parquet")])]
    ['a.parquet', 'b.parquet']
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    found = {file for path in paths for file in _files(os.fspath(path))}
    if not found:
        raise IoError(f"{', '.join(map(str, paths))}: there are no files")
    return sorted(found)


def _files(path: str) -> list[str]:
    if _is_address(path):
        from pyarrow import fs

        system, place = fs.FileSystem.from_uri(path)
        if system.get_file_info(place).type != fs.FileType.Directory:
            return [path]
        found = system.get_file_info(fs.FileSelector(place, recursive=True))
        inside = (info.path.removeprefix(place) for info in found if info.is_file)
        return [path.rstrip("/") + "/" + name.lstrip("/") for name in inside if not _is_hidden(name)]
    folder = Path(path)
    if not folder.is_dir():
        return [os.path.abspath(path)]
    inside = (file.relative_to(folder) for file in folder.rglob("*") if file.is_file())
    return [os.path.abspath(folder / name) for name in inside if not _is_hidden(str(name))]


def _is_address(path: str) -> bool:
    return "://" in path


def _is_hidden(name: str) -> bool:
    return any(part.startswith(("_", ".")) for part in Path(name).parts)


@contextmanager
def at_hand(path: str) -> Iterator[str]:
    """A path that can be opened: the file itself, or a temporary copy.

    Parameters
    ----------
    path : str
        A path, or an address.

    Yields
    ------
    str
        A path.
    """
    if not _is_address(path):
        yield path
        return
    from pyarrow import fs

    system, place = fs.FileSystem.from_uri(path)
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(place))
        with system.open_input_stream(place) as source, open(copy, "wb") as target:
            shutil.copyfileobj(source, target, 1 << 22)
        yield copy
