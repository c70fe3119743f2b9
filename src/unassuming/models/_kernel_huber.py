"""Kernel regression with Huber's loss at a fixed threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from unassuming._typing import Array
from unassuming.kernels import KernelLike
from unassuming.models._base import KernelModel, checked_weights, require_positive
from unassuming.models.solvers import kernel_huber


class KernelHuber(RegressorMixin, KernelModel):
    r"""Kernel Huber regression: :math:`\min \sum_j w_j h_\delta(r_j) + \tfrac{\alpha}{2} a^T K a`.

    The residuals are :math:`r = y - Ka`, and :math:`h_\delta(r) = r^2/2` for
    :math:`|r| \le \delta`, :math:`\delta|r| - \delta^2/2` beyond. For a large threshold this is
    kernel ridge regression with the same `alpha`. There is no intercept.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty, positive.
    delta : float, default=1.0
        The threshold, positive, in the units of y. It is fixed, not estimated.
    kernel : str, gaussian_process kernel or callable, default="linear"
        As in :class:`sklearn.kernel_ridge.KernelRidge`: a name, a kernel object, a function of two
        sample vectors, or ``"precomputed"``. It must be positive semidefinite.
    gamma : float, default=None
        Parameter of the named kernels; None leaves the choice to the kernel.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and sigmoid kernels.
    kernel_params : dict, default=None
        Keyword arguments of a callable kernel.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,)
        The coefficients a, with :math:`\alpha a = w \odot \mathrm{clip}(r, \pm\delta)`.
    intercept_ : float
        Zero: the model has no intercept.
    X_fit_ : ndarray of shape (n, d)
        The training inputs, or the Gram matrix if the kernel is precomputed.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    An outlier pulls with the strength of the threshold, whatever its size:

    >>> import numpy as np
    >>> from unassuming.models import KernelHuber
    >>> X = np.array([[1.0], [1.0], [1.0]])
    >>> model = KernelHuber(alpha=1.0, delta=0.5, kernel="rbf").fit(X, [1.0, 1.0, 1000.0])
    >>> model.predict([[1.0]])
    array([0.83333333])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        delta: float = 1.0,
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
    ) -> None:
        self.alpha = alpha
        self.delta = delta
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

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
        KernelHuber
            The model itself.
        """
        require_positive(self, "alpha", "delta")
        rows, targets = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        weights = checked_weights(self, sample_weight, rows)
        K = self._semidefinite_gram(rows)
        self.dual_coef_ = kernel_huber(
            K, targets.astype(np.float64), float(self.alpha), float(self.delta), weights
        )
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
            The values of the fitted function.
        """
        return self._values(X)
