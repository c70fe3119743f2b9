"""The mean of a Gaussian process, which is kernel ridge regression."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, CompoundKernel, ConstantKernel, Kernel

from unassuming._typing import Array
from unassuming.kernels import (
    TrainingKernel,
    gram,
    inner_product_kernel,
    kernel_slope,
    strictly_positive_definite,
    white_noise,
    without_white_noise,
)
from unassuming.objectives._from_kernel import kernel_design, require_visible
from unassuming.objectives._hyperparameters import row_weights
from unassuming.objectives._quadratic import Quadratic
from unassuming.objectives._registry import register_objective


def from_gaussian_process(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> Quadratic:
    """Build the objective of the mean: Σ r_j² / v_j + aᵀKa with the variances v of the noise.

    The variances are ``alpha``, a number or one for each row, plus those of a `WhiteKernel`. With a
    common variance v this is kernel ridge regression with alpha = v. The kernel has to be fixed: by
    ``optimizer=None``, or by hyper-parameters that are all ``"fixed"``.

    Parameters
    ----------
    estimator, X, y, sample_weight
        As in `unassuming.register_objective`.

    Examples
    --------
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> from sklearn.gaussian_process.kernels import RBF, WhiteKernel
    >>> process = GaussianProcessRegressor(RBF(0.5) + WhiteKernel(0.5), alpha=0.0, optimizer=None)
    >>> objective = from_gaussian_process(process, X, y, None)
    >>> objective.d, objective.lam
    (50, 0.01)
    """
    whole = _fixed_kernel(estimator)
    kernel = without_white_noise(whole)
    if kernel is None:
        raise ValueError(
            f"the kernel describes noise alone: expected a kernel of the function, given {whole}. "
            "Add one, for example RBF() + WhiteKernel()."
        )
    training = TrainingKernel(
        partial(gram, kernel),
        X,
        precomputed=False,
        strict=strictly_positive_definite(kernel),
        polynomial=inner_product_kernel(kernel, X.shape[1]),
        slope=kernel_slope(kernel),
    )
    design = kernel_design(training)
    design.require_positive_semidefinite("GaussianProcessRegressor")
    variance = _variances(estimator, len(y)) + white_noise(whole, X)
    w = row_weights(sample_weight, y)
    # Rows of equal variance have equal weights, to the last bit.
    penalty = float(variance.max())
    if (variance != penalty).any():
        if not variance.all():
            raise ValueError(
                "some rows have noise of variance zero and others do not: expected positive "
                f"variances, or zero for all rows, given alpha={estimator.alpha!r}. Use positive "
                "numbers."
            )
        w = w * (penalty / variance)
    require_visible(design, penalty / len(y))
    return Quadratic(design, y, w, penalty / len(y))


def _fixed_kernel(estimator: Any) -> Any:
    """Return the kernel; refuse one that fitting would change, and outputs that it would centre."""
    if estimator.normalize_y:
        raise ValueError(
            "normalize_y=True subtracts the mean of y, which the noise changes too: expected "
            "normalize_y=False. Subtract a number from y that is known beforehand, or add "
            "ConstantKernel() to the kernel."
        )
    kernel = estimator.kernel
    if kernel is None:  # as in scikit-learn, where it is fixed
        return ConstantKernel(1.0, "fixed") * RBF(1.0, "fixed")
    if not isinstance(kernel, Kernel):
        raise ValueError(
            "the kernel is not one of a Gaussian process: expected an object of "
            f"sklearn.gaussian_process.kernels, given {kernel!r}. Pass e.g. kernel=RBF(1.0)."
        )
    if isinstance(kernel, CompoundKernel):
        raise ValueError(
            f"the kernel has several outputs: expected a kernel of one output, given {kernel}. "
            "Build one region for each."
        )
    if estimator.optimizer is not None and kernel.n_dims > 0:
        raise ValueError(
            "GaussianProcessRegressor chooses its kernel with the same y, which voids the "
            f"guarantee: expected optimizer=None, given optimizer={estimator.optimizer!r} and "
            f"{kernel.n_dims} free hyper-parameter{'s' * (kernel.n_dims > 1)}. Fit the process to "
            "other rows, and pass GaussianProcessRegressor(process.kernel_, alpha=process.alpha, "
            "optimizer=None)."
        )
    return kernel


def _variances(estimator: Any, n: int) -> Array:
    """Return ``alpha`` for each row."""
    try:
        alpha = np.asarray(estimator.alpha, dtype=np.float64)
    except (TypeError, ValueError):
        alpha = np.full((), np.nan)
    if alpha.shape not in ((), (n,)) or not np.isfinite(alpha).all() or (alpha < 0).any():
        raise ValueError(
            "GaussianProcessRegressor's alpha is out of range: expected one finite number >= 0, or "
            f"one for each of the {n} rows of positive weight, given {estimator.alpha!r}. Set it "
            "before building the region."
        )
    return np.broadcast_to(alpha, (n,))


register_objective(GaussianProcessRegressor, from_gaussian_process)
