"""Tables and values as plain arrays and JSON, and back, for files that hold no code."""

from __future__ import annotations

from io import BytesIO
from math import prod
from typing import Any

import numpy as np
from scipy import sparse

from unassuming._labels import is_missing

_PLAIN_KINDS = "biufcmMUS"  # kinds of arrays that NumPy stores without pickling


def as_plain(value: Any) -> tuple[Any, bool]:
    """Return a value in terms of JSON's types, and whether that is possible."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value, True
    if isinstance(value, np.ndarray):
        return as_plain(value.tolist())
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        entries = {key: as_plain(entry) for key, entry in value.items()}
        return {key: e for key, (e, _) in entries.items()}, all(ok for _, ok in entries.values())
    if isinstance(value, (list, tuple)):
        items = [as_plain(item) for item in value]
        return [item for item, _ in items], all(ok for _, ok in items)
    return None, False


def as_table(X: Any) -> Any:
    """Return inputs as an array; in a list with text, numbers stay numbers."""
    values = np.asarray(X)
    text = isinstance(X, list) and values.dtype.kind in "US"
    return np.asarray(X, dtype=object) if text else values


class Store:
    """Named arrays; each ``put`` method returns an entry from which ``get`` restores the value."""

    def __init__(self, arrays: dict[str, Any] | None = None) -> None:
        self.arrays: dict[str, Any] = {} if arrays is None else arrays

    def put(self, name: str, values: Any, what: str = "") -> dict[str, Any]:
        """Store an array of numbers, or a list of text and other plain values."""
        array = np.asarray(values)
        if array.dtype.kind in _PLAIN_KINDS:
            self.arrays[name] = array
            return {"array": name}
        entries = [None if is_missing(entry) else entry for entry in array.ravel().tolist()]
        plain, possible = as_plain(entries)
        if not possible or array.dtype.kind != "O":
            raise _not_plain(what or name, next((e for e in entries if not as_plain(e)[1]), array))
        return {"values": plain, "shape": list(array.shape)}

    def get(self, entry: dict[str, Any]) -> Any:
        """Return the values that `put` stored."""
        if "array" in entry:
            return self.arrays[entry["array"]]
        array = np.empty(len(entry["values"]), dtype=object)
        array[:] = entry["values"]
        return array.reshape(entry["shape"])

    def put_transformations(self, name: str, drawn: Any) -> dict[str, Any]:
        """Store an array of transformations; signs as bits, positions in the smallest type."""
        array = np.asarray(drawn)
        if array.dtype.kind not in "biuf":
            raise _not_plain("the drawn transformations", drawn)
        if array.dtype == np.int8 and (np.abs(array) == 1).all():
            self.arrays[name] = np.packbits(array < 0)
            return {"signs": name, "shape": list(array.shape)}
        if array.dtype == np.intp and array.size and array.min() >= 0:
            self.arrays[name] = array.astype(np.min_scalar_type(array.max()))
            return {"positions": name}
        return self.put(name, array)

    def get_transformations(self, entry: dict[str, Any]) -> Any:
        """Return the array that `put_transformations` stored."""
        if "positions" in entry:
            return self.arrays[entry["positions"]].astype(np.intp)
        if "signs" not in entry:
            return self.get(entry)
        shape, packed = tuple(entry["shape"]), self.arrays[entry["signs"]]
        count = prod(shape)
        if -(-count // 8) != packed.size:  # before anything is allocated
            raise ValueError(f"signs of shape {shape} are not {packed.size} bytes")
        return (1 - 2 * np.unpackbits(packed, count=count).astype(np.int8)).reshape(shape)

    def put_table(self, name: str, X: Any) -> dict[str, Any]:
        """Store inputs: an array, a sparse matrix, a pandas or polars DataFrame."""
        if sparse.issparse(X):
            table = X.tocoo()
            self.arrays[f"{name}_data"] = table.data
            self.arrays[f"{name}_row"], self.arrays[f"{name}_col"] = table.row, table.col
            kind = "sparse array" if isinstance(X, sparse.sparray) else "sparse matrix"
            return {"kind": kind, "format": X.format, "shape": list(X.shape), "name": name}
        if hasattr(X, "write_ipc"):  # polars, in its own format of plain data
            content = BytesIO()
            try:
                X.write_ipc(content)
            except Exception as error:
                raise _not_plain("a column of X", X.dtypes) from error
            self.arrays[name] = np.frombuffer(content.getbuffer(), dtype=np.uint8)
            return {"kind": "polars", "name": name}
        if hasattr(X, "iloc"):
            columns = [self._put_column(f"{name}_{j}", X, j) for j in range(X.shape[1])]
            return {"kind": "pandas", "columns": columns}
        return {"kind": "array", "values": self.put(name, as_table(X), name)}

    def get_table(self, entry: dict[str, Any]) -> Any:
        """Return the inputs that `put_table` stored."""
        kind = entry["kind"]
        if kind == "array":
            return self.get(entry["values"])
        if kind.startswith("sparse"):
            return self._get_sparse(entry)
        if kind == "polars":
            import polars as pl

            return pl.read_ipc(BytesIO(self.arrays[entry["name"]].tobytes()))
        import pandas as pd

        return pd.concat([self._get_column(column, pd) for column in entry["columns"]], axis=1)

    def _get_sparse(self, entry: dict[str, Any]) -> Any:
        data, row, col = (self.arrays[f"{entry['name']}_{part}"] for part in ("data", "row", "col"))
        make = sparse.coo_array if entry["kind"] == "sparse array" else sparse.coo_matrix
        return make((data, (row, col)), shape=tuple(entry["shape"])).asformat(entry["format"])

    def _put_column(self, name: str, X: Any, j: int) -> dict[str, Any]:
        label = X.columns.tolist()[j]
        if not isinstance(label, (str, int)):
            raise _not_plain("a column name of X", label)
        column, what = X.iloc[:, j], f"column {label!r} of X"
        categories = getattr(column.dtype, "categories", None)
        entry: dict[str, Any] = {"label": label, "dtype": str(column.dtype), "categories": None}
        entry["values"] = self.put(name, column.to_numpy(), what)
        if categories is not None:
            entry["categories"] = self.put(f"{name}_categories", categories, what)
            entry["ordered"] = bool(column.dtype.ordered)
        return entry

    def _get_column(self, column: dict[str, Any], pd: Any) -> Any:
        dtype: Any = column["dtype"]
        if column["categories"] is not None:
            labels = self.get(column["categories"])
            dtype = pd.CategoricalDtype(labels, column["ordered"])
        return pd.Series(self.get(column["values"]), name=column["label"]).astype(dtype)


def _not_plain(name: str, value: Any) -> TypeError:
    return TypeError(
        f"{name} cannot be saved: expected numbers, text or missing values, given "
        f"{type(value).__name__} {value!r:.60}. Convert it before building the region."
    )
