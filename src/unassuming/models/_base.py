"""The base classes of the kernel models: kernel parameters, checks, fitting and prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from unassuming._typing import Array
from unassuming.kernels import KernelLike, gram, require_positive_semidefinite


class KernelModel(BaseEstimator, ABC):
    """A model f(x) = b + Σ_j a_j k(x, x_j), fitted by its subclasses."""

    X_fit_: Array
    dual_coef_: Array
    intercept_: float

    def __init__(
        self,
        kernel: KernelLike,
        gamma: float | None,
        degree: float,
        coef0: float,
        kernel_params: Mapping[str, Any] | None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def _gram(self, X: Array, Z: Array | None = None) -> Array:
        """Return the kernel values between the rows of X and those of Z, or of X itself."""
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
        """Return the Gram matrix of the training inputs; refuse one indefinite beyond rounding."""
        K = self._gram(X)
        eigenvalues: Array = np.asarray(np.linalg.eigvalsh(K), dtype=np.float64)
        # A precomputed matrix may have been computed in single precision.
        tolerance = 1e-6 if self.kernel == "precomputed" else 0.0
        require_positive_semidefinite(eigenvalues, type(self).__name__, tolerance=tolerance)
        return K

    def _values(self, X: ArrayLike) -> Array:
        """Return the values of the fitted function."""
        check_is_fitted(self)
        rows: Array = validate_data(self, X, reset=False, dtype=np.float64, order="C")
        values: Array = self._gram(rows, self.X_fit_) @ self.dual_coef_ + self.intercept_
        return values

    def _require_positive(self, *names: str) -> None:
        """Raise unless these parameters are positive numbers."""
        for name in names:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0.0:
                raise ValueError(
                    f"{name} of {type(self).__name__} is not usable: expected a positive number, "
                    f"given {value!r}. Set {name} to a positive number."
                )

    def _weights(self, sample_weight: ArrayLike | None, X: Array) -> Array:
        """Return the weights of the rows of X: nonnegative, and not all zero."""
        weights: Array = _check_sample_weight(
            sample_weight, X, dtype=np.float64, ensure_non_negative=True
        )
        if not np.any(weights > 0.0):
            raise ValueError(
                f"sample_weight of {type(self).__name__} leaves no row to fit: expected at least "
                "one positive weight, given zeros only. Give a positive weight to the rows that "
                "should count."
            )
        return weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


class KernelRegressor(RegressorMixin, KernelModel):
    """A kernel model without intercept; a subclass supplies `_coefficients`."""

    _positive: ClassVar[tuple[str, ...]]
    """The parameters that must be positive."""

    @abstractmethod
    def _coefficients(self, X: Array, y: Array, weights: Array) -> Array:
        """Return the coefficients a."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training inputs, or their Gram matrix if the kernel is precomputed.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            The weights w ≥ 0 of the losses, all one by default.

        Returns
        -------
        self
        """
        self._require_positive(*self._positive)
        rows, targets = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        weights = self._weights(sample_weight, rows)
        self.dual_coef_ = self._coefficients(rows, targets.astype(np.float64), weights)
        self.intercept_ = 0.0
        self.X_fit_ = rows.copy()
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict with the fitted function.

        Parameters
        ----------
        X : array-like of shape (N, d)
            Inputs, or the kernel values with the training inputs if the kernel is precomputed.

        Returns
        -------
        ndarray of shape (N,)
        """
        return self._values(X)
