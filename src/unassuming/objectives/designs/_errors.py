"""Designs without rounding, and the errors that they have in double precision."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh

from unassuming._exact import Exact
from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.objectives.designs._design import Design
from unassuming.objectives.designs._kernel import (
    KernelDesign,
    error_of_spectrum,
    rounding_of_kernel,
)
from unassuming.objectives.designs._whitening import KernelWhitening, Whitening


def projector_error(design: Design, w: Array, lam: float, white: Whitening) -> float:
    """Bound the error of the projector on the range of the stacked design."""
    if not isinstance(design, KernelDesign):
        return white.defect
    # The condition of the weighted kernel matrix, or that of its features.
    ratio = 1 + float(np.abs(design.spectrum[0]).max() * w.max()) / (design.n * lam)
    return float(16 * design.n * EPS * (ratio if design.features is None else np.sqrt(ratio)))


def unresolved_share(design: Design, w: Array, lam: float, white: Whitening) -> float:
    """Return δ with zᵀS*z <= zᵀSz + δ‖z‖² for the exact smoother S*, but for usual rounding.

    The weighted kernel matrix is at most K + εI, and x / (x + nλ) is concave in eigenvalues x.
    """
    if not isinstance(design, KernelDesign) or not isinstance(white, KernelWhitening):
        return 0.0 if np.isfinite(white.defect) else 1.0
    error = error_of_spectrum(design, w, white)
    return error / (error + design.n * lam)


def entry_errors(design: Design) -> Array | None:
    """Bound the errors of the entries of Φ, (n, d); None if they are as given."""
    errors = _kernel_errors(design) if isinstance(design, KernelDesign) else None
    if errors is None or not design.intercept:
        return errors
    return np.column_stack([np.zeros(design.n), errors])


def weight_errors(design: Design, weights: Array, rest: Array) -> Array:
    """Bound the errors of functionals that are written as weights of fitted values, (N,).

    In exact arithmetic K* w* = k* at the k distinct inputs. K and k differ from K* and k* by δ at
    most. If Λ is the least eigenvalue of K, then

        ‖w - w*‖ <= (‖k - K w‖ + δ (1 + ‖w‖)) / (Λ - δ).

    ``weights`` (N, k) are w, and ``rest`` (N, d) is what they leave of the functionals. The bound
    is infinite if rounding alone could make K* singular.
    """
    assert isinstance(design, KernelDesign)
    first = design.distinct[0]
    values = design.spectrum[0]
    if len(first) < design.n:
        values = eigvalsh(design.K[np.ix_(first, first)])
    delta = rounding_of_kernel(design)
    least = float(values[0]) - delta
    if least <= 0:
        return np.full(len(weights), np.inf)
    # The rounding of k - K w is of the size of δ (1 + ‖w‖) as well.
    length = np.linalg.norm(rest, axis=1)
    return np.asarray((length + 2 * delta * (1 + np.linalg.norm(weights, axis=1))) / least)


def least_penalty(design: Design) -> float:
    """Return the least alpha = nλ > 0 that rounding errors of a kernel matrix do not hide."""
    if not isinstance(design, KernelDesign) or design.features is not None:
        return 0.0
    return EPS * float(np.abs(design.spectrum[0]).max(initial=0.0))


def computed_kernel(design: Design) -> tuple[Exact, Array]:
    """Return K as it was computed or given, and its changes if it is rounded, in such units."""
    assert isinstance(design, KernelDesign)
    return Exact.of(design.K), np.abs(design.K)


def row_errors(design: Design, X: Array) -> Array | None:
    """Bound the errors of the rows of Φ at inputs X (N, p), (N, d); None if they are as given."""
    if not isinstance(design, KernelDesign):
        return None
    errors = _value_errors(design, design.self_similarity(X))
    if errors is None or not design.intercept:
        return errors
    return np.column_stack([np.zeros(len(X)), errors])


def nonsingular(design: KernelDesign) -> bool:
    """Whether K is certainly nonsingular at distinct inputs, whatever rounding did to it."""
    first = design.distinct[0]
    values = design.spectrum[0]
    if len(first) < design.n:
        values = eigvalsh(design.K[np.ix_(first, first)])
    return bool(values[0] > rounding_of_kernel(design))


def _kernel_errors(design: KernelDesign) -> Array | None:
    """Bound the errors of computed kernel values, (n, n); None if they are as given."""
    kernel = design.kernel
    return None if kernel is None else _value_errors(design, np.diagonal(design.K))


def _value_errors(design: KernelDesign, own: Array | None) -> Array | None:
    """Bound the errors of kernel values between other inputs and those of the data, (N, n).

    ``own`` is k(z, z) of the others. None if the values are as given.
    """
    kernel = design.kernel
    if kernel is None or kernel.precomputed:
        return None
    # As many roundings as in `rounding_of_kernel`, each by half a unit at most.
    assert own is not None
    size = np.sqrt(np.abs(np.diagonal(design.K)))
    return np.asarray((kernel.X.shape[1] + 4) * EPS / 2 * np.sqrt(np.abs(own))[:, None] * size)
