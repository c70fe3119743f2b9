"""One file of arrays and a JSON header: written whole or not at all, read only if undamaged.

A zip archive whose members are not compressed, so that nothing in it is larger than the file
itself, and every size is known before anything is read.
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
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

_HEADER = "unassuming"
_DIGEST = "sha256"
_SUFFIX = ".npy"

AnyPath = str | os.PathLike[str]


class Unreadable(Exception):
    """Why a file is none of ours, as the rest of a sentence about it."""


def write(path: AnyPath, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write beside the target and move into place: nothing half-written is ever seen."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"path leads nowhere: expected a folder that exists, given {target.parent}. Create the "
            "folder first."
        )
    if target.is_dir():
        raise IsADirectoryError(
            f"path is a folder: expected a file, given {target}. Add the name of a file."
        )
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            _write_members(file, {_HEADER: text, **arrays})
            file.flush()
            os.fsync(file.fileno())
        _set_permissions(temporary, target)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _write_members(file: Any, arrays: Mapping[str, Any]) -> None:
    digest = hashlib.sha256()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            npy.write_array(content, np.asanyarray(array), allow_pickle=False)
            # A fixed date: the same region gives the same file.
            archive.writestr(zipfile.ZipInfo(name + _SUFFIX), content.getbuffer())
            _count(digest, name, content.getbuffer())
        content = io.BytesIO()
        npy.write_array(content, np.frombuffer(digest.digest(), dtype=np.uint8))
        archive.writestr(zipfile.ZipInfo(_DIGEST + _SUFFIX), content.getbuffer())


def _count(digest: Any, name: str, content: Any) -> None:
    digest.update(f"{name}:{len(content)}:".encode())
    digest.update(content)


def _set_permissions(temporary: Path, target: Path) -> None:
    """Give those of the old file, or of any new one; a temporary one is for its owner only."""
    if target.exists():
        shutil.copymode(target, temporary)
        return
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod(0o666 & ~mask)


def read(path: AnyPath) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a file that is whole; objects are never unpickled."""
    with open(path, "rb") as file:  # what is wrong with the path is told by its own error
        try:
            with zipfile.ZipFile(file) as archive:
                arrays = _read_members(archive, os.fstat(file.fileno()).st_size)
            header = json.loads(arrays.pop(_HEADER).tobytes())
            if not isinstance(header, dict):
                raise Unreadable("its header is none")
        except Unreadable as error:
            raise unreadable(path, str(error)) from error
        except Exception as error:  # whatever a foreign file may cause
            raise unreadable(path, f"it cannot be read, {error}") from error
    return header, arrays


def _read_members(archive: zipfile.ZipFile, size: int) -> dict[str, Any]:
    members = archive.infolist()
    names = [member.filename.removesuffix(_SUFFIX) for member in members]
    if _HEADER not in names or _DIGEST not in names:
        raise Unreadable("it lacks the parts that a region has")
    if len(set(names)) < len(names):
        raise Unreadable("it has two parts of one name")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise Unreadable("it is compressed")
    if sum(member.file_size for member in members) > size:
        raise Unreadable("it lists more than it holds")
    arrays, digest = {}, hashlib.sha256()
    for name, member in zip(names, members, strict=True):
        content = archive.read(member)
        arrays[name] = _as_array(content, name)
        if name != _DIGEST:
            _count(digest, name, content)
    if arrays.pop(_DIGEST).tobytes() != digest.digest():
        raise Unreadable("its content has changed since it was written")
    return arrays


def _as_array(content: bytes, name: str) -> Any:
    """Return the array in NumPy's format, whose header must tell the size that is there."""
    stream = io.BytesIO(content)
    read_header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, fortran, dtype = read_header[npy.read_magic(stream)](stream)
    start = stream.tell()
    if dtype.hasobject or prod(shape) * dtype.itemsize != len(content) - start:
        raise Unreadable(f"its part {name} is no array of numbers or text")
    flat = np.frombuffer(content, dtype=dtype, offset=start).copy()
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def unreadable(path: AnyPath, why: str) -> ValueError:
    """Return the one error about files."""
    return ValueError(
        "the file is no saved region: expected a file that ua.save has written, whole and "
        f"unchanged, given {os.fspath(path)}: {' '.join(why.split())}. Save the region again."
    )
