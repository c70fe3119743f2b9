"""One file of arrays and a JSON header: written whole or not at all, read only if undamaged.

It is an uncompressed zip archive, as NumPy writes it, so that no member is larger than the file
itself. The archive has a checksum of every member.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unassuming._version import __version__

FORMAT = 3
"""The format of the files of this version; others are refused."""
_HEADER = "unassuming"

AnyPath = str | os.PathLike[str]


class Unreadable(Exception):
    """The reason why the content of a file is refused, as a clause about the file."""


def write(path: AnyPath, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write beside the target and move into place: nothing half-written is ever seen."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir() or target.is_dir():
        kind = IsADirectoryError if target.is_dir() else FileNotFoundError
        raise kind(
            "path is not where a file can be written: expected a file in a folder that exists, "
            f"given {target}. Add a name, or create the folder first."
        )
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            np.savez(file, **{_HEADER: text, **arrays})  # the date is fixed: the file is the same
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read(path: AnyPath) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a file that is whole; objects are never unpickled.

    Any defect of the content is an `Unreadable`; a path that cannot be opened is an OSError.
    """
    with open(path, "rb") as file, decoding():
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
        plain = all(member.compress_type == zipfile.ZIP_STORED for member in members)
        size = sum(member.file_size for member in members)
        if not plain or size > os.fstat(file.fileno()).st_size:
            raise Unreadable("it is compressed, or lists more than it holds")
        file.seek(0)
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = json.loads(arrays.pop(_HEADER).tobytes())
        require(isinstance(header, dict), "header and arrays")
    return header, arrays


@contextlib.contextmanager
def decoding() -> Iterator[None]:
    """Make every error in the block an `Unreadable`, with the first sentence of the error."""
    try:
        yield
    except Unreadable:
        raise
    except Exception as error:  # a foreign file may cause any error
        why = str(error).partition(". ")[0].rstrip(".")
        raise Unreadable(f"its parts do not fit together, {why}") from error


def check_format(header: Mapping[str, Any]) -> None:
    """Refuse a file of another format."""
    found, version = header.get("format"), header.get("version")
    if type(found) is not int or found != FORMAT:
        raise Unreadable(
            f"it has format {found} of version {version}, and version {__version__} reads format "
            f"{FORMAT}"
        )


def require(condition: object, what: str) -> None:
    """Refuse a file in which these parts are wrong."""
    if not condition:
        raise Unreadable(f"its {what} do not fit together")


def as_integer(value: Any, what: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """Return an integer of the header within these bounds; booleans and fractions are none."""
    require(type(value) is int and least <= value <= most, what)
    return int(value)


def as_tie_order(stored: Any, m: int) -> Any:
    """Return π, a permutation of 0, ..., m - 1: m cannot be larger than the file allows."""
    require(stored.shape == (m,) and stored.dtype.kind in "iu", "ties")
    require(np.array_equal(np.sort(stored), np.arange(m)), "ties")
    order = stored.astype(np.intp)
    order.setflags(write=False)
    return order
