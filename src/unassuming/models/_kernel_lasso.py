"""The kernel lasso: a sparse kernel expansion by least squares."""

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
from unassuming.models.solvers import l1_least_squares


class KernelLasso(RegressorMixin, KernelModel):
    r"""Kernel lasso: minimise :math:`\tfrac{1}{2}\|y - Ka\|^2 + \alpha\|a\|_1`.

    The fitted function is :math:`f(x) = \sum_j a_j k(x, x_j)`, without an intercept. The kernel
    need only be symmetric. With weights the loss is :math:`\tfrac{1}{2}\sum_j w_j (y - Ka)_j^2`.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty, positive.
    kernel : str, gaussian_process kernel or callable, default="linear"
        As in :class:`sklearn.kernel_ridge.KernelRidge`: a name, a kernel object, a function of two
        sample vectors, or ``"precomputed"``.
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
        The coefficients a; inactive ones are exactly zero.
    intercept_ : float
        Zero: the model has no intercept.
    X_fit_ : ndarray of shape (n, d)
        The training inputs, or the Gram matrix if the kernel is precomputed.
    n_features_in_ : int
        Number of features seen in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from unassuming.models import KernelLasso
    >>> X = np.arange(4.0).reshape(-1, 1)
    >>> model = KernelLasso(alpha=0.5, kernel="rbf", gamma=50.0).fit(X, [3.0, 0.2, -2.0, 0.0])
    >>> model.dual_coef_
    array([ 2.5,  0. , -1.5,  0. ])
    >>> model.predict([[0.0]]).round(3)
    array([2.5])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
    ) -> None:
        self.alpha = alpha
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
            The weights w ≥ 0 of the losses, all one by default. A row of weight zero is left out:
            its coefficient is zero. A region needs equal weights.

        Returns
        -------
        KernelLasso
            The model itself.
        """
        require_positive(self, "alpha")
        rows, targets = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        weights = checked_weights(self, sample_weight, rows)
        K = self._gram(rows)
        kept = np.flatnonzero(weights)
        root = np.sqrt(weights[kept])
        penalty = np.full(len(kept), float(self.alpha))
        self.dual_coef_ = np.zeros(len(weights))
        self.dual_coef_[kept], _ = l1_least_squares(
            root[:, None] * K[np.ix_(kept, kept)], root * targets[kept].astype(np.float64), penalty
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
