"""The kernel lasso: a sparse kernel expansion by least squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from unassuming._typing import Array
from unassuming.kernels import KernelLike
from unassuming.models._base import KernelRegressor
from unassuming.models.solvers import l1_least_squares


class KernelLasso(KernelRegressor):
    r"""Kernel lasso: minimise :math:`\tfrac{1}{2}\|y - Ka\|^2 + \alpha\|a\|_1`.

    The fitted function is :math:`f(x) = \sum_j a_j k(x, x_j)`, without an intercept. The kernel
    need only be symmetric. With weights the loss is :math:`\tfrac{1}{2}\sum_j w_j (y - Ka)_j^2`; a
    row of weight zero is left out, and its coefficient is zero. A region needs equal weights.

    Parameters
    ----------
    alpha : float, default=1.0
        The penalty, positive.
    kernel : str, gaussian_process kernel or callable, default="linear"
        As in :class:`sklearn.kernel_ridge.KernelRidge`: a name, a kernel object, a function of two
        sample vectors, or ``"precomputed"``.
    gamma, degree, coef0, kernel_params : default None, 3, 1 and None
        Parameters of the kernel, as in :class:`sklearn.kernel_ridge.KernelRidge`.

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
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [3.0, 0.2, -2.0, 0.0]
    >>> model = KernelLasso(alpha=0.5, kernel="rbf", gamma=50.0).fit(X, y)
    >>> model.dual_coef_
    array([ 2.5,  0. , -1.5,  0. ])
    >>> model.predict([[0.0]]).round(3)
    array([2.5])
    """

    _positive: ClassVar[tuple[str, ...]] = ("alpha",)

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
        super().__init__(kernel, gamma, degree, coef0, kernel_params)
        self.alpha = alpha

    def _coefficients(self, X: Array, y: Array, weights: Array) -> Array:
        kept = np.flatnonzero(weights)
        root = np.sqrt(weights[kept])
        design = root[:, None] * self._gram(X)[np.ix_(kept, kept)]
        a = np.zeros(len(y))
        a[kept] = l1_least_squares(design, root * y[kept], np.full(len(kept), float(self.alpha)))
        return a
