"""One way to a Gram matrix, for every kind of kernel that scikit-learn accepts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import Kernel
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels

from unassuming._typing import Array
from unassuming.kernels._checks import require_symmetric
from unassuming.kernels._compact import rectangular, truncated_parabolic

KernelLike: TypeAlias = str | Kernel | Callable[..., Any]

_DISTANCES = {"rbf": "sqeuclidean", "laplacian": "cityblock"}
"""Kernels exp(-gamma distance). From differences: ‖x‖² + ‖z‖² - 2xᵀz loses digits if inputs are far
from zero."""


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
        A name of :func:`sklearn.metrics.pairwise.pairwise_kernels`, a kernel object of
        :mod:`sklearn.gaussian_process.kernels`, a function of two sample vectors, or
        ``"precomputed"``, where `X` already holds the kernel values.
    X : ndarray of shape (N, d)
        Samples; for ``"precomputed"`` the kernel values of shape (N, n).
    Z : ndarray of shape (n, d), optional
        Samples for the columns, `X` itself by default. For ``"precomputed"`` only its number of
        rows matters: `X` must have as many columns.
    gamma, degree, coef0 : float
        Parameters of the named kernels; a kernel ignores those that it does not have, and
        ``gamma=None`` is its own default. Objects and callables ignore all of them.
    params : mapping, optional
        Keyword arguments for a callable kernel.

    Returns
    -------
    ndarray of shape (N, n)

    Examples
    --------
    >>> X = np.array([[0.0], [1.0]])
    >>> gram("rbf", X, gamma=np.log(2.0))
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> gram(lambda x, z: float(x @ z) + 1.0, X)
    array([[1., 1.],
           [1., 2.]])
    """
    if isinstance(kernel, str):
        return _named(kernel, X, Z, {"gamma": gamma, "degree": degree, "coef0": coef0})
    if not callable(kernel):
        raise TypeError(
            "kernel is not a kernel: expected a name, an object of "
            f"sklearn.gaussian_process.kernels or a function of two samples, given {kernel!r}. "
            "Pass e.g. kernel='rbf'."
        )
    params = dict(params or {})
    if isinstance(kernel, Kernel):
        # As KernelRidge does; a WhiteKernel adds its diagonal to kernel(X), not to kernel(X, X).
        values = kernel(X, X if Z is None else Z)
    elif _takes_matrices(kernel):
        values = kernel(X, Z, **params)
    else:
        values = pairwise_kernels(X, Z, metric=kernel, **params)
    return np.asarray(values, dtype=np.float64)


def _named(kernel: str, X: Array, Z: Array | None, parameters: dict[str, Any]) -> Array:
    if kernel == "precomputed":
        if Z is None:
            require_symmetric(X)
        elif X.shape[1] != Z.shape[0]:
            raise ValueError(
                "The precomputed kernel matrix does not fit the training samples: expected "
                f"{Z.shape[0]} columns, one per training sample, given shape {X.shape}. Pass the "
                "kernel values between new samples (rows) and training samples."
            )
        return np.asarray(X, dtype=np.float64)
    if kernel not in kernel_metrics():
        raise ValueError(
            f"kernel is unknown: expected 'precomputed' or one of {sorted(kernel_metrics())}, "
            f"given {kernel!r}. Choose one of these, or pass a kernel object or a function of two "
            "samples."
        )
    # None stands for the kernel's default. The chi-squared kernel does not accept it.
    given = {name: value for name, value in parameters.items() if value is not None}
    if kernel in _DISTANCES:
        distances = cdist(X, X if Z is None else Z, _DISTANCES[kernel])
        with np.errstate(invalid="ignore"):  # values that are not finite are refused by name
            return np.asarray(np.exp(-given.get("gamma", 1.0 / X.shape[1]) * distances))
    values = pairwise_kernels(X, Z, metric=kernel, filter_params=True, **given)
    return np.asarray(values, dtype=np.float64)


def _takes_matrices(kernel: object) -> bool:
    """Whether this is a kernel of this package, which returns the whole matrix in one call."""
    while isinstance(kernel, partial):
        kernel = kernel.func
    return kernel is truncated_parabolic or kernel is rectangular
