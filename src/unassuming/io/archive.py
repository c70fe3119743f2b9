"""One file of arrays and a JSON header: written whole or not at all, read only if undamaged.

It is an uncompressed zip archive, so that no member is larger than the file itself, and every size
is known before anything is read.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from unassuming._errors import complaint
from unassuming._version import __version__

FORMAT = 3
"""The format of the files of this version; others are refused."""
_HEADER = "unassuming"
_DIGEST = "sha256"
_SUFFIX = ".npy"
_KINDS = "biufcmMUS"  # kinds of arrays that NumPy stores without pickling

AnyPath = str | os.PathLike[str]


class Unreadable(Exception):
    """The reason why the content of a file is refused, as a clause about the file."""


def write(path: AnyPath, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write beside the target and move into place: nothing half-written is ever seen."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        wrong, remedy = "is in a folder that does not exist", "Create the folder first."
        expected = "a folder that exists"
        raise FileNotFoundError(complaint("path", wrong, expected, target.parent, remedy))
    if target.is_dir():
        remedy = "Add the name of a file."
        raise IsADirectoryError(complaint("path", "is a folder", "a file", target, remedy))
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write_members(file, {_HEADER: text, **arrays})
            file.flush()
            os.fsync(file.fileno())
        _set_permissions(temporary, target)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def write_members(file: Any, arrays: Mapping[str, Any]) -> None:
    """Write arrays as members of an archive, and their hash after them."""
    digest = hashlib.sha256()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name in (*arrays, _DIGEST):
            last, content = name == _DIGEST, io.BytesIO()
            array = np.frombuffer(digest.digest(), dtype=np.uint8) if last else arrays[name]
            npy.write_array(content, np.asanyarray(array), allow_pickle=False)
            # The date is fixed, so that the same region gives the same file.
            archive.writestr(zipfile.ZipInfo(name + _SUFFIX), content.getbuffer())
            _add(digest, name, content.getbuffer())


def _add(digest: Any, name: str, content: Any) -> None:
    digest.update(f"{name}:{len(content)}:".encode())
    digest.update(content)


def _set_permissions(temporary: Path, target: Path) -> None:
    """Give the permissions of the old file, or of a new file; only the owner has temporary ones."""
    if target.exists():
        shutil.copymode(target, temporary)
        return
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)


def read(path: AnyPath) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a file that is whole; objects are never unpickled.

    Any defect of the content is an `Unreadable`; a path that cannot be opened is an OSError.
    """
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                arrays = _read_members(archive, os.fstat(file.fileno()).st_size)
            header = json.loads(arrays.pop(_HEADER).tobytes())
        except Unreadable:
            raise
        except Exception as error:  # a foreign file may cause any error
            raise Unreadable(f"it cannot be read, {error}") from error
    require(isinstance(header, dict), "header and arrays")
    return header, arrays


def _read_members(archive: zipfile.ZipFile, size: int) -> dict[str, Any]:
    members = archive.infolist()
    names = [member.filename.removesuffix(_SUFFIX) for member in members]
    for wrong, why in (
        (not {_HEADER, _DIGEST} <= set(names), "it has no header or no hash"),
        (len(set(names)) < len(names), "it has two parts of one name"),
        (any(m.compress_type != zipfile.ZIP_STORED for m in members), "it is compressed"),
        (sum(m.file_size for m in members) > size, "it lists more than it holds"),
    ):
        if wrong:
            raise Unreadable(why)
    arrays, digest = {}, hashlib.sha256()
    for name, member in zip(names, members, strict=True):
        content = archive.read(member)
        arrays[name] = _as_array(content, name)
        if name != _DIGEST:
            _add(digest, name, content)
    if arrays.pop(_DIGEST).tobytes() != digest.digest():
        raise Unreadable("its content has changed since it was written")
    return arrays


def _as_array(content: bytes, name: str) -> Any:
    """Return an array in NumPy's format; its header must agree with the size of the content."""
    stream = io.BytesIO(content)
    read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, fortran, dtype = read_header[npy.read_magic(stream)](stream)
    start = stream.tell()
    if dtype.kind not in _KINDS or prod(shape) * dtype.itemsize != len(content) - start:
        raise Unreadable(f"its part {name} is not an array of numbers or text")
    flat = np.frombuffer(content, dtype=dtype, offset=start).copy()
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


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
