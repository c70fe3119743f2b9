"""Two kernels of compact support that scikit-learn lacks."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from unassuming._typing import Array


def truncated_parabolic(
    x: ArrayLike, z: ArrayLike | None = None, *, c: float = 1.0
) -> Array | float:
    r"""The truncated parabolic kernel, :math:`k(x, z) = \max(1 - c\,\|x - z\|^2,\ 0)`.

    It is symmetric but in general not positive definite: the kernel lasso and support vector
    regression accept it; kernel ridge and kernel Huber regression refuse an indefinite Gram matrix.

    Parameters
    ----------
    x, z : array-like
        Two vectors, or two matrices with one sample per row; without z, all pairs of rows of x.
    c : float, default=1.0
        Curvature of the parabola: the support has radius ``1 / sqrt(c)``.

    Returns
    -------
    float or ndarray of shape (n, k)
        A number for two vectors, as ``KernelRidge`` calls kernels; a matrix for matrices, as
        ``SVR`` does.

    Examples
    --------
    >>> truncated_parabolic([0.0], [0.5])
    0.75
    >>> truncated_parabolic([[0.0], [0.5], [3.0]], c=2.0)
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 1. ]])
    """
    values = np.maximum(1.0 - c * _distances(x, z, c, "sqeuclidean"), 0.0)
    return float(values[0, 0]) if np.ndim(x) == 1 else values


def rectangular(x: ArrayLike, z: ArrayLike | None = None, *, c: float = 1.0) -> Array | float:
    r"""The rectangular kernel, :math:`k(x, z) = 1` if :math:`\|x - z\| \le c` and 0 otherwise.

    It is symmetric but in general not positive definite.

    Parameters
    ----------
    x, z : array-like
        As for :func:`truncated_parabolic`.
    c : float, default=1.0
        The radius of the support, a closed ball.

    Returns
    -------
    float or ndarray of shape (n, k)
        As for :func:`truncated_parabolic`.

    Examples
    --------
    >>> rectangular([0.0, 0.0], [3.0, 4.0], c=5.0)
    1.0
    >>> rectangular([[0.0], [1.0], [2.5]])
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    values = (_distances(x, z, c, "euclidean") <= c).astype(np.float64)
    return float(values[0, 0]) if np.ndim(x) == 1 else values


def _distances(x: ArrayLike, z: ArrayLike | None, c: float, metric: str) -> Array:
    """Return all distances, from differences and not from the expanded square, which cancels."""
    if not (np.isfinite(c) and c > 0):
        raise ValueError(
            f"c is not usable in a kernel: expected a positive number, given {c!r}. Choose it in "
            "the units of the inputs."
        )
    rows = np.atleast_2d(np.asarray(x, dtype=np.float64))
    return np.asarray(cdist(rows, rows if z is None else np.atleast_2d(z), metric))
