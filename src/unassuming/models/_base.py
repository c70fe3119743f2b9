"""What the kernel models share: the parameters of the kernel, and the way to a Gram matrix."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from unassuming._typing import Array
from unassuming.kernels import KernelLike, gram, require_positive_semidefinite


class KernelModel(BaseEstimator):
    """A model f(x) = b + Σ_j a_j k(x, x_j), whose subclasses say how a and b are found.

    A subclass stores the parameters of the kernel in its constructor, and in `fit` sets ``X_fit_``,
    ``dual_coef_`` and ``intercept_``.
    """

    kernel: KernelLike
    gamma: float | None
    degree: float
    coef0: float
    kernel_params: Mapping[str, Any] | None
    X_fit_: Array
    dual_coef_: Array
    intercept_: float

    def _gram(self, X: Array, Z: Array | None = None) -> Array:
        """The kernel values between the rows of X and of Z, or of X alone."""
        return gram(
            self.kernel,
            X,
            Z,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            params=self.kernel_params,
        )

    def _semidefinite_gram(self, X: Array) -> Array:
        """The Gram matrix of the training inputs, refused if it is indefinite beyond rounding."""
        K = self._gram(X)
        eigenvalues: Array = np.asarray(np.linalg.eigvalsh(K), dtype=np.float64)
        # Who precomputes a matrix may have done so in single precision.
        tolerance = 1e-6 if self.kernel == "precomputed" else 0.0
        require_positive_semidefinite(eigenvalues, type(self).__name__, tolerance=tolerance)
        return K

    def _values(self, X: ArrayLike) -> Array:
        """The values of the fitted function."""
        check_is_fitted(self)
        rows: Array = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        values: Array = self._gram(rows, self.X_fit_) @ self.dual_coef_ + self.intercept_
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def require_positive(model: object, *names: str) -> None:
    """Raise unless these parameters of the model are positive numbers."""
    for name in names:
        value = getattr(model, name)
        if isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0.0:
            raise ValueError(
                f"{name} of {type(model).__name__} is not usable: expected a positive number, "
                f"given {value!r}. Set {name} to a positive number."
            )


def checked_weights(model: object, sample_weight: ArrayLike | None, X: Array) -> Array:
    """The weights of the rows of X: nonnegative, and not all zero."""
    weights: Array = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )
    if not np.any(weights > 0.0):
        raise ValueError(
            f"sample_weight of {type(model).__name__} leaves no row to fit: expected at least one "
            "positive weight, given zeros only. Give a positive weight to the rows that should "
            "count."
        )
    return weights
