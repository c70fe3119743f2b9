"""The Gram matrix of scikit-learn's SVR, whose conventions differ from those of KernelRidge."""

from __future__ import annotations

from typing import Any

import numpy as np

from unassuming._typing import Array
from unassuming.kernels._checks import require_symmetric
from unassuming.kernels._gram import gram


def resolve_svr_gamma(gamma: float | str, X: Array) -> float:
    """Return the number that ``SVR`` uses for its parameter `gamma` on the training inputs `X`.

    Parameters
    ----------
    gamma : float, "scale" or "auto"
        ``"scale"`` is ``1 / (n_features * X.var())`` (1 when all inputs are equal) and ``"auto"``
        is ``1 / n_features``.
    X : ndarray of shape (n, d)

    Returns
    -------
    float

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
    if isinstance(gamma, str):
        raise ValueError(
            f"gamma is not valid for SVR: expected a number, 'scale' or 'auto', given {gamma!r}. "
            "Choose one of these."
        )
    return float(gamma)


def svr_gram(estimator: Any, X: Array, Z: Array | None = None) -> Array:
    """Return the matrix of kernel values ``k(X[i], Z[j])`` with the kernel of an ``SVR``.

    Parameters
    ----------
    estimator : sklearn.svm.SVR
        It need not be fitted. A callable kernel is called with whole matrices, as ``SVR`` does.
    X : ndarray of shape (N, d)
        Samples; for ``kernel="precomputed"`` the kernel values.
    Z : ndarray of shape (n, d), optional
        The *training* inputs, from which ``gamma="scale"`` is computed; `X` itself by default.

    Returns
    -------
    ndarray of shape (N, n)

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> svr_gram(SVR(kernel="poly", degree=2, gamma="auto"), np.array([[1.0], [3.0]]))
    array([[ 1.,  9.],
           [ 9., 81.]])
    """
    training = X if Z is None else Z
    kernel = estimator.kernel
    if callable(kernel):
        values = np.asarray(kernel(X, training), dtype=np.float64)
        if values.shape != (X.shape[0], training.shape[0]):
            raise ValueError(
                "The callable kernel did not return a Gram matrix: expected shape "
                f"{(X.shape[0], training.shape[0])}, given shape {values.shape}. SVR calls it with "
                "two matrices, not with pairs of samples."
            )
        if Z is None:
            require_symmetric(values, "The Gram matrix of a callable kernel")
        return values
    if kernel == "precomputed":
        return gram("precomputed", X, Z)
    return gram(
        kernel,
        X,
        Z,
        gamma=resolve_svr_gamma(estimator.gamma, training),
        degree=estimator.degree,
        coef0=estimator.coef0,
    )
