"""One way to a Gram matrix, for every kernel that scikit-learn's KernelRidge or SVR accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import Kernel
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels

from unassuming._numerics import rank_cut
from unassuming._typing import Array
from unassuming.kernels.compact import rectangular, truncated_parabolic

KernelLike: TypeAlias = str | Kernel | Callable[..., Any]


def gram(
    kernel: KernelLike,
    X: Array,
    Z: Array | None = None,
    *,
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
    params: Mapping[str, Any] | None = None,
) -> Array:
    """Return the matrix of kernel values ``k(X[i], Z[j])``, for kernels as in ``KernelRidge``.

    Parameters
    ----------
    kernel : str, gaussian_process kernel or callable
        A name of :func:`sklearn.metrics.pairwise.pairwise_kernels`, a kernel object, a function of
        two sample vectors, or ``"precomputed"``, where X already holds the kernel values.
    X : ndarray of shape (N, d)
        Samples; for ``"precomputed"`` the kernel values, (N, n).
    Z : ndarray of shape (n, d), optional
        Samples for the columns, X itself by default.
    gamma, degree, coef0 : float
        Parameters of named kernels that have them; ``gamma=None`` is the kernel's own default.
    params : mapping, optional
        Keyword arguments for a callable kernel.

    Returns
    -------
    ndarray of shape (N, n)

    Examples
    --------
    >>> gram("rbf", np.array([[0.0], [1.0]]), gamma=np.log(2.0))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    if kernel == "precomputed" and Z is None:
        require_symmetric(X)
    given: dict[str, Any] = {"gamma": gamma, "degree": degree, "coef0": coef0}
    if isinstance(kernel, Kernel):  # a WhiteKernel adds its diagonal to kernel(X), not kernel(X, X)
        values = kernel(X, X if Z is None else Z)
    elif kernel == "rbf":  # from differences: ‖x‖² + ‖z‖² - 2xᵀz loses digits far from zero
        distances = cdist(X, X if Z is None else Z, "sqeuclidean")
        values = np.exp(-(1 / X.shape[1] if gamma is None else gamma) * distances)
    elif isinstance(kernel, str):
        if kernel not in (*kernel_metrics(), "precomputed"):
            raise ValueError(
                f"kernel is unknown: expected 'precomputed' or one of {sorted(kernel_metrics())}, "
                f"given {kernel!r}. Choose one of these, a kernel object or a function."
            )
        given = {name: value for name, value in given.items() if value is not None}
        values = pairwise_kernels(X, Z, metric=kernel, filter_params=True, **given)
    elif getattr(kernel, "func", kernel) in (truncated_parabolic, rectangular):
        values = kernel(X, Z, **(params or {}))  # the whole matrix in one call
    else:
        values = pairwise_kernels(X, Z, metric=kernel, **(params or {}))
    return np.asarray(values, dtype=np.float64)


def resolve_svr_gamma(gamma: float | str, X: Array) -> float:
    """Return the number that ``SVR`` uses for ``gamma``, a number, ``"scale"`` or ``"auto"``, on X.

    Examples
    --------
    >>> resolve_svr_gamma("scale", np.array([[0.0], [4.0]]))
    0.25
    """
    if gamma == "scale":
        variance = float(X.var())
        return 1.0 / (int(X.shape[1]) * variance) if variance != 0 else 1.0
    if gamma == "auto":
        return 1.0 / int(X.shape[1])
    return float(gamma)


def svr_gram(estimator: Any, X: Array, Z: Array | None = None) -> Array:
    """Return the matrix of kernel values ``k(X[i], Z[j])`` with the kernel of an ``SVR``.

    Parameters
    ----------
    estimator : sklearn.svm.SVR
        It need not be fitted. A callable kernel is called with whole matrices, as ``SVR`` does.
    X : ndarray of shape (N, d)
    Z : ndarray of shape (n, d), optional
        The training inputs, which ``gamma="scale"`` refers to; X itself by default.

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> svr_gram(SVR(kernel="poly", degree=2, gamma="auto"), np.array([[1.0], [3.0]]))
    array([[ 1.,  9.],
           [ 9., 81.]])
    """
    training, kernel = X if Z is None else Z, estimator.kernel
    if kernel == "precomputed":
        return gram("precomputed", X, Z)
    if not callable(kernel):
        gamma = resolve_svr_gamma(estimator.gamma, training)
        return gram(kernel, X, Z, gamma=gamma, degree=estimator.degree, coef0=estimator.coef0)
    values = np.asarray(kernel(X, training), dtype=np.float64)
    if values.shape != (len(X), len(training)):
        raise ValueError(
            "The callable kernel did not return a Gram matrix: expected shape "
            f"{(len(X), len(training))}, given shape {values.shape}. SVR calls it with two "
            "matrices, not with pairs of samples."
        )
    if Z is None:
        require_symmetric(values, "The Gram matrix of a callable kernel")
    return values


def require_symmetric(K: Array, what: str = "The precomputed kernel matrix") -> None:
    """Raise, with ``what`` as the subject, unless K is square and symmetric up to rounding.

    Examples
    --------
    >>> require_symmetric(np.array([[2.0, 1.0], [0.0, 2.0]]))
    Traceback (most recent call last):
        ...
    ValueError: The precomputed kernel matrix is not symmetric: expected equal kernel values ...
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(
            f"{what} is not square: expected one row and one column per training sample, given "
            f"shape {K.shape}. Pass the kernel values between the training samples."
        )
    gap = np.abs(K - K.T)
    # Sums in different orders differ by rounding of the largest term, as large as the diagonal.
    if gap.max(initial=0.0) > 1e-10 * np.abs(K).max(initial=0.0):
        i, j = sorted(map(int, np.unravel_index(np.argmax(gap), gap.shape)))
        raise ValueError(
            f"{what} is not symmetric: expected equal kernel values k(x, z) and k(z, x), given "
            f"entries ({i}, {j}) and ({j}, {i}) that differ by {gap[i, j]:.3g}. Compute it from "
            "one list of samples, or symmetrise it first."
        )


def require_positive_semidefinite(eigenvalues: Array, method: str, *, tolerance: float = 0) -> None:
    """Raise if a Gram matrix has negative eigenvalues beyond rounding, which a method cannot use.

    The ``tolerance`` for them is relative to the largest eigenvalue.

    Examples
    --------
    >>> require_positive_semidefinite(np.array([-0.43, 0.5, 2.0]), "kernel ridge")
    Traceback (most recent call last):
        ...
    ValueError: The Gram matrix is indefinite, which kernel ridge cannot use: expected a positive
    semidefinite kernel, given eigenvalues from -0.43 to 2. Use such a kernel, or ...
    """
    smallest, size = eigenvalues.min(initial=0.0), np.abs(eigenvalues).max(initial=0.0)
    if smallest < -(rank_cut((10 * len(eigenvalues),)) + tolerance) * size:
        raise ValueError(
            f"The Gram matrix is indefinite, which {method} cannot use: expected a positive "
            f"semidefinite kernel, given eigenvalues from {smallest:.3g} to "
            f"{eigenvalues.max():.3g}. Use such a kernel, or the kernel Lasso or support vector "
            "regression, which accept any symmetric kernel."
        )
