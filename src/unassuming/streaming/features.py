"""From rows to features, chunk by chunk, without the other rows."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler, SkewedChi2Sampler
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer
from sklearn.utils import resample
from sklearn.utils.validation import check_is_fitted

from unassuming._typing import Array
from unassuming.inputs import as_inputs, check_columns, column_names, rows_between, seed_unset


def fixed_transformers(estimator: Any, rng: np.random.Generator) -> Pipeline | None:
    """Return the fitted or stateless transformers of a pipeline, or None; refuse any other."""
    transformers = Pipeline(deepcopy(_steps(estimator)))
    for name, step in transformers.steps:
        if not all(_fitted(one) or _blind(one) for one in _leaves(step)):
            raise TypeError(
                f"the transformer {name!r} would have to see all rows before it can transform one: "
                f"expected one that is stateless or already fitted, given {type(step).__name__}, "
                "not fitted. Fit it first, on other inputs or on some of these."
            )
    if not all(map(_fitted, _leaves(transformers))):
        seed_unset(transformers, rng)
    return transformers if any(True for _ in _leaves(transformers)) else None


class Features:
    """The features of rows, always with the same columns."""

    def __init__(self, transformers: Pipeline | None) -> None:
        self.transformers = transformers
        self.inputs: list[Any] | None = None  # names of the columns of X
        self.columns: list[str] | None = None  # names of the features
        self.width: int | None = None  # None before the first chunk
        self._row_by_row = transformers is None  # whether this has been checked
        self._single = False  # whether some features have single precision

    def __call__(self, X: Any) -> Array:
        """Return the features as a finite matrix (count, p)."""
        check_columns(X, self.inputs, "X")
        features = X
        if self.transformers is not None:
            features = _transformed(self.transformers, deepcopy(X))  # they may overwrite it
        matrix = as_inputs(features)
        self._single = self._single or _single(features)
        if not self._row_by_row and len(matrix) > 1:
            self._check_rows(X, matrix)
            self._row_by_row = True
        if self.width is None:
            self.inputs, self.columns = column_names(X), self._columns_of(features)
            self.width = matrix.shape[1]
        elif matrix.shape[1] != self.width:
            raise ValueError(
                f"X has the wrong number of features: expected {self.width}, as before, given "
                f"{matrix.shape[1]}. Pass the same columns."
            )
        return matrix

    def names(self) -> list[str]:
        """Return a name for each feature."""
        return [f"x{j}" for j in range(self.width or 0)] if self.columns is None else self.columns

    def alike(self, found: Array, expected: Array) -> bool:
        """Whether features are the same up to rounding, relative to their size."""
        if found.shape != expected.shape:
            return False
        size = float(np.abs(expected).max(initial=0.0))
        relative, absolute = (1e-4, 1e-5) if self._single else (1e-9, 1e-12)
        return bool(np.allclose(found, expected, rtol=relative, atol=absolute * size))

    def _check_rows(self, X: Any, matrix: Array) -> None:
        """Refuse features of the first or last row that depend on the rest of the chunk."""
        for which, row in (("first", slice(0, 1)), ("last", slice(-1, None))):
            alone = deepcopy(rows_between(X, row.start, row.stop))
            if not self.alike(as_inputs(_transformed(self.transformers, alone)), matrix[row]):
                raise ValueError(
                    "the transformers do not act row by row, so that the region would depend on "
                    "the chunks: expected the same features for a row alone and among others, "
                    f"given other features for the {which} row of this chunk alone. Use functions "
                    "of one row, and transformers that were fitted on other inputs."
                )

    def _columns_of(self, features: Any) -> list[str] | None:
        """Return the names of the columns of a table of features, if they have names."""
        names = column_names(features)
        if names is None and self.transformers is not None:
            try:
                names = list(self.transformers.get_feature_names_out())
            except (AttributeError, ValueError):  # a transformer without names
                return None
        return None if names is None else [str(name) for name in names]


def _steps(estimator: Any) -> list[tuple[str, Any]]:
    """Return the transformers, including those of a pipeline at the end of a pipeline."""
    if not isinstance(estimator, Pipeline):
        return []
    inner = _steps(estimator[-1])
    return [*estimator.steps[:-1], *([("inner", Pipeline(inner))] if inner else [])]


def _leaves(step: Any) -> Iterator[Any]:
    """Yield the transformers in a step, those of a pipeline one by one."""
    if isinstance(step, Pipeline):
        for _, inner in step.steps:
            yield from _leaves(inner)
    elif step is not None and step != "passthrough":
        yield step


def _transformed(transformers: Any, X: Any) -> Any:
    """Apply transformers in turn."""
    for step in _leaves(transformers):
        if not _fitted(step):
            # Fitting uses only the number of columns, but may ask for more than one row.
            step.fit(resample(X, n_samples=2, random_state=0))
        X = step.transform(X)
    return X


def _fitted(step: Any) -> bool:
    """Whether the transformer is fitted, or needs no fitting."""
    try:
        check_is_fitted(step.estimator if type(step) is FrozenEstimator else step)
    except (NotFittedError, TypeError):
        return False
    return True


def _blind(step: Any) -> bool:
    """Whether fitting uses only the number of columns."""
    given = {SplineTransformer: "knots", RBFSampler: "gamma"}.get(type(step))
    if given is not None:
        return type(getattr(step, given)) is not str
    return type(step) in (PolynomialFeatures, PolynomialCountSketch, SkewedChi2Sampler)


def _single(features: Any) -> bool:
    """Whether some features were computed in single precision."""
    kinds = features.dtypes if hasattr(features, "dtypes") else [getattr(features, "dtype", "")]
    return any("float32" in str(kind).lower() for kind in kinds)
