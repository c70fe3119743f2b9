"""One file of arrays and a JSON header: written whole or not at all, read only if undamaged."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from unassuming._errors import complaint

_HEADER = "unassuming"

AnyPath = str | os.PathLike[str]


def write(path: AnyPath, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write beside the target and move into place: nothing half-written is ever seen."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            complaint(
                "path",
                "leads nowhere",
                "a folder that exists",
                target.parent,
                "Create the folder first.",
            )
        )
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    content: dict[str, Any] = {_HEADER: text, **arrays}
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **content)
            file.flush()
            os.fsync(file.fileno())
        _set_permissions(temporary, target)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        raise


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
    try:
        with zipfile.ZipFile(path) as archive:
            damaged = archive.testzip()
        if damaged is None:
            with np.load(path, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
            header = json.loads(arrays.pop(_HEADER).tobytes())
    except (
        *(zipfile.BadZipFile, zlib.error, EOFError),
        *(KeyError, TypeError, ValueError, NotImplementedError, RuntimeError),
    ) as error:
        raise unreadable(path, f"it cannot be read, {error}") from error
    if damaged is not None:
        raise unreadable(path, f"its part {damaged} is damaged")
    return header, arrays


def unreadable(path: AnyPath, why: str) -> ValueError:
    """Return the one error about files."""
    return ValueError(
        complaint(
            "the file",
            "is no saved region",
            "a file that ua.save has written, whole and unchanged",
            f"{os.fspath(path)}: {why}",
            "Save the region again.",
        )
    )
