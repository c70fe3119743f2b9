"""Kernel regression with Huber's loss at a fixed threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from unassuming._typing import Array
from unassuming.kernels import KernelLike
from unassuming.models._base import KernelRegressor
from unassuming.models.solvers import kernel_huber


class KernelHuber(KernelRegressor):
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
    gamma, degree, coef0, kernel_params : default None, 3, 1 and None
        Parameters of the kernel, as in :class:`sklearn.kernel_ridge.KernelRidge`.

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

    >>> X, y = [[1.0], [1.0], [1.0]], [1.0, 1.0, 1000.0]
    >>> KernelHuber(alpha=1.0, delta=0.5, kernel="rbf").fit(X, y).predict([[1.0]])
    array([0.83333333])
    """

    _positive: ClassVar[tuple[str, ...]] = ("alpha", "delta")

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
        super().__init__(kernel, gamma, degree, coef0, kernel_params)
        self.alpha = alpha
        self.delta = delta

    def _coefficients(self, X: Array, y: Array, weights: Array) -> Array:
        K = self._semidefinite_gram(X)
        return kernel_huber(K, y, float(self.alpha), float(self.delta), weights)
