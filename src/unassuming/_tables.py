"""Tables and values as plain arrays and JSON, and back: what a file without code can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from unassuming._errors import complaint

_PLAIN_KINDS = "biufcmMUS"  # what NumPy stores without pickling


def as_plain(value: Any) -> tuple[Any, bool]:
    """Return a value as JSON has it, and whether that is possible."""
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


class Store:
    """Named arrays, and how to find one's way back from them to what was put in."""

    def __init__(self, arrays: dict[str, Any] | None = None) -> None:
        self.arrays: dict[str, Any] = {} if arrays is None else arrays

    def put(self, name: str, values: Any) -> dict[str, Any]:
        """Keep an array of numbers, or a list of text and other plain values."""
        array = np.asarray(values)
        if array.dtype.kind in _PLAIN_KINDS:
            self.arrays[name] = array
            return {"array": name}
        entries = [None if _missing(entry) else entry for entry in array.ravel().tolist()]
        plain, possible = as_plain(entries)
        if not possible or array.dtype.kind != "O":
            raise _not_plain(name, next(e for e in entries if not as_plain(e)[1]))
        return {"values": plain, "shape": list(array.shape)}

    def get(self, entry: dict[str, Any]) -> Any:
        """Return what `put` kept."""
        if "array" in entry:
            return self.arrays[entry["array"]]
        array = np.empty(len(entry["values"]), dtype=object)
        array[:] = entry["values"]
        return array.reshape(entry["shape"])

    def put_transformations(self, name: str, drawn: Any) -> dict[str, Any]:
        """Keep an array of transformations; signs as bits."""
        array = np.asarray(drawn)
        if array.dtype.kind not in "biuf":
            raise _not_plain("the drawn transformations", drawn)
        if array.dtype == np.int8 and (np.abs(array) == 1).all():
            self.arrays[name] = np.packbits(array < 0)
            return {"signs": name, "shape": list(array.shape)}
        return self.put(name, array)

    def get_transformations(self, entry: dict[str, Any]) -> Any:
        """Return what `put_transformations` kept."""
        if "signs" not in entry:
            return self.get(entry)
        shape = tuple(entry["shape"])
        bits = np.unpackbits(self.arrays[entry["signs"]], count=int(np.prod(shape)))
        return (1 - 2 * bits.astype(np.int8)).reshape(shape)

    def put_table(self, name: str, X: Any) -> dict[str, Any]:
        """Keep inputs: an array, a sparse matrix, a pandas or polars DataFrame."""
        if sparse.issparse(X):
            table = X.tocoo()
            self.arrays[f"{name}_data"] = table.data
            self.arrays[f"{name}_row"], self.arrays[f"{name}_col"] = table.row, table.col
            kind = "sparse array" if isinstance(X, sparse.sparray) else "sparse matrix"
            return {"kind": kind, "format": X.format, "shape": list(X.shape), "name": name}
        library = type(X).__module__.split(".")[0]
        if library in ("pandas", "polars") and hasattr(X, "columns"):
            columns = [
                self._put_column(f"{name}_{j}", X, j, label) for j, label in enumerate(X.columns)
            ]
            return {"kind": library, "columns": columns}
        values = np.asarray(X)
        if isinstance(X, list) and values.dtype.kind in "US":  # numbers beside text stay numbers
            values = np.asarray(X, dtype=object)
        return {"kind": "array", "values": self.put(name, values)}

    def get_table(self, entry: dict[str, Any]) -> Any:
        """Return what `put_table` kept."""
        kind = entry["kind"]
        if kind == "array":
            return self.get(entry["values"])
        if kind.startswith("sparse"):
            part = {p: self.arrays[f"{entry['name']}_{p}"] for p in ("data", "row", "col")}
            make = sparse.coo_array if kind == "sparse array" else sparse.coo_matrix
            triplets = (part["data"], (part["row"], part["col"]))
            return make(triplets, shape=tuple(entry["shape"])).asformat(entry["format"])
        columns = {column["label"]: self.get(column["values"]) for column in entry["columns"]}
        if kind == "polars":
            import polars as pl

            types = {column["label"]: column["dtype"] for column in entry["columns"]}
            series = [pl.Series(label, _listed(values)) for label, values in columns.items()]
            return pl.DataFrame([s.cast(_polars_type(types[s.name], pl)) for s in series])
        import pandas as pd

        frame = pd.DataFrame(columns)
        for column in entry["columns"]:
            dtype: Any = column["dtype"]
            if column["categories"] is not None:
                dtype = pd.CategoricalDtype(self.get(column["categories"]), column["ordered"])
            frame[column["label"]] = frame[column["label"]].astype(dtype)
        return frame

    def _put_column(self, name: str, X: Any, j: int, label: Any) -> dict[str, Any]:
        if not isinstance(label, (str, int)):
            raise _not_plain("a column name of X", label)
        column = X[label] if isinstance(label, str) else X.iloc[:, j]
        categories = getattr(column.dtype, "categories", None)
        pandas_categories = categories is not None and hasattr(column.dtype, "ordered")
        return {
            "label": label,
            "dtype": str(column.dtype),
            "values": self.put(name, column.to_numpy()),
            "categories": self.put(f"{name}_categories", categories) if pandas_categories else None,
            "ordered": bool(column.dtype.ordered) if pandas_categories else None,
        }


def _missing(entry: Any) -> bool:
    """Whether this is a missing value: pandas' own one compares with nothing."""
    return entry is None or type(entry).__name__ in ("NAType", "NaTType") or entry != entry


def _listed(values: Any) -> Any:
    return values.tolist() if values.dtype == object else values


def _polars_type(name: str, pl: Any) -> Any:
    """Return the type of a name such as Float64; types with parameters are taken as text."""
    return getattr(pl, name) if name.isidentifier() else pl.String


def _not_plain(name: str, value: Any) -> TypeError:
    return TypeError(
        complaint(
            name,
            "cannot be saved",
            "numbers, text or missing values",
            f"{type(value).__name__} {value!r:.60}",
            "Convert it before building the region.",
        )
    )
