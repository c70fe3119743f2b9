"""Gaussian process regression with a fixed kernel: its mean is kernel ridge regression."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from unassuming._typing import Array
from unassuming.kernels import gram, kernel_slope
from unassuming.objectives._from_kernel import kernel_design, require_visible
from unassuming.objectives._hyperparameters import row_weights
from unassuming.objectives._quadratic import Quadratic
from unassuming.objectives._registry import register_objective


def from_gaussian_process(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> Quadratic:
    """Build Σ r²/v + aᵀKa, divided by n, with v the variances of the noise of the process.

    The posterior mean of a Gaussian process minimises it. The variances are ``alpha`` and what a
    WhiteKernel adds. The region assumes neither the prior nor Gaussian noise, only its noise class.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> process = GaussianProcessRegressor(RBF(), alpha=0.5, optimizer=None)
    >>> objective = from_gaussian_process(process, X, y, None)
    >>> objective.d, objective.lam
    (50, 0.01)
    """
    kernel = estimator.kernel
    if kernel is None:
        kernel = ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")
    if estimator.optimizer is not None and len(kernel.theta):
        raise ValueError(
            "the kernel of the Gaussian process would be tuned on the same y, which voids the "
            f"guarantee: expected optimizer=None, given optimizer={estimator.optimizer!r} and "
            f"{len(kernel.theta)} free hyper-parameters. Tune on other rows, and pass the fitted "
            "kernel: GaussianProcessRegressor(process.kernel_, alpha=..., optimizer=None)."
        )
    if estimator.normalize_y:
        raise ValueError(
            "normalize_y of the Gaussian process uses y, which voids the guarantee: expected "
            "normalize_y=False, given True. Subtract a constant that does not come from y."
        )
    kernel = clone(kernel)
    design = kernel_design(kernel, X, partial(gram, kernel), slope=kernel_slope(kernel))
    design.require_positive_semidefinite("GaussianProcessRegressor")
    # A WhiteKernel is in kernel(X), and not in kernel(X, X).
    white = np.diagonal(kernel(X)) - np.diagonal(design.K)
    variance = _variances(estimator.alpha, len(y)) + np.maximum(white, 0.0)
    typical = float(np.median(variance))
    require_visible(design, typical / len(y))
    weight = row_weights(sample_weight, y) * (typical / variance)
    return Quadratic(design, y, weight, typical / len(y))


def _variances(alpha: Any, n: int) -> Array:
    """Return alpha for each row, positive."""
    values = np.asarray(alpha, dtype=np.float64)
    if values.shape not in ((), (n,)) or not np.isfinite(values).all() or (values <= 0).any():
        raise ValueError(
            "alpha of the Gaussian process does not fit: expected one positive number, or one for "
            f"each of the {n} rows, given {alpha!r}. Pass the variance of the noise."
        )
    return np.broadcast_to(values, (n,))


register_objective(GaussianProcessRegressor, from_gaussian_process)
