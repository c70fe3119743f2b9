"""Dual: a model whose coefficients belong to kernel functions (docs/theory.md 1, 4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy.linalg import eigh, svd

from unassuming._errors import NotAvailable
from unassuming._numerics import CUT, EPS, Factor, factor, kernel_factor
from unassuming._typing import Array, IntArray
from unassuming.kernels import TrainingKernel, require_positive_semidefinite
from unassuming.objectives.norm_ball import NormBall
from unassuming.objectives.penalties import Penalty


@final
class KernelDesign:
    """Φ = K, or [1, K] with a bias.

    Parameters
    ----------
    K : array of shape (n, n)
        The kernel matrix at the inputs, symmetric.
    intercept : bool, default False
        Whether there is a column of ones.
    kernel : TrainingKernel, optional
        Gives kernel values at other inputs.

    Examples
    --------
    >>> ua.objectives.KernelDesign(np.eye(2)).names
    ['dual0', 'dual1']
    """

    dual = True

    def __init__(
        self, K: Array, *, intercept: bool = False, kernel: TrainingKernel | None = None
    ) -> None:
        self.K, self.kernel, self.intercept = K, kernel, intercept
        self.matrix = self._with_ones(K)
        self.strict = kernel is not None and kernel.strict
        self.names = ["intercept"] * intercept + [f"dual{j}" for j in range(len(K))]

    def _with_ones(self, K: Array) -> Array:
        return np.column_stack([np.ones(len(K)), K]) if self.intercept else K

    def rows(self, X: Array) -> Array:
        """Return the rows of Φ at inputs X, [1, k(x, x_j)]."""
        if self.kernel is None:
            raise NotAvailable(
                "the kernel at new inputs is unknown: this objective was built from a kernel "
                "matrix alone. Pass functionals of the coefficients instead."
            )
        values = self.kernel.rows(X)
        if values.shape[1] != len(self.K):
            raise ValueError(
                f"X has the wrong number of kernel values: expected {len(self.K)} in each row, one "
                f"for each training input, given shape {values.shape}. Pass the kernel between the "
                "new and the training inputs."
            )
        return self._with_ones(values)

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of least norm whose fitted values come closest."""
        return np.asarray(values @ self._inverse)

    @cached_property
    def _inverse(self) -> Array:
        """The transposed pseudoinverse of Φ."""
        if self.intercept:
            return np.asarray(np.linalg.pinv(self.matrix, rcond=len(self.K) * EPS).T)
        values, U = self._resolved
        return np.asarray((U / values) @ U.T)

    @cached_property
    def features(self) -> Array | None:
        """F (n, D) with K = FFᵀ, if the kernel is known to have fewer features than rows."""
        if self.kernel is None or (known := self.kernel.polynomial) is None:
            return None
        few = known.count(self.kernel.X.shape[1]) < len(self.K)
        return known.features(self.kernel.X) if few else None

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues, in increasing order, and eigenvectors of K; those of FFᵀ above the cut."""
        if self.features is None:
            return eigh(self.K)  # type: ignore[no-any-return]
        U, s, _ = svd(self.features, full_matrices=False)
        keep = s > CUT * s[0]
        return s[keep][::-1] ** 2, U[:, keep][:, ::-1]

    @property
    def _resolved(self) -> tuple[Array, Array]:
        """Eigenvalues that are more than rounding, and their vectors."""
        values, U = self.spectrum
        keep = np.abs(values) > len(values) * EPS * np.abs(values).max()
        return values[keep], U[:, keep]

    @cached_property
    def root(self) -> Array:
        """``|K|^½``, up to a rotation; eigenvalues that are rounding alone count as zero."""
        values, U = self._resolved
        return np.asarray(np.sqrt(np.abs(values))[:, None] * U.T)

    def penalty(self, alpha: float) -> Penalty:
        """Return ½ alpha ‖f‖²; the intercept has no penalty."""
        d, P = self.matrix.shape[1], alpha * self.K
        P = bordered(P, 0.0) if self.intercept else P
        return Penalty(P, np.zeros(d), alpha=alpha)

    def factor(self, w: Array, penalty: Penalty) -> Factor:
        """Factor W^½Φ and the norm of the kernel, without dividing by its eigenvalues."""
        alpha, one = penalty.alpha, int(self.intercept)
        if self.features is None and alpha == 0:
            return factor(self.matrix, w, intercept=self.intercept)
        if self.features is None and not one:
            return kernel_factor(self.K, w, alpha)
        # [1, UΛ^½] has the coefficients [b, Λ^½Uᵀa], and the penalty is alpha times their square.
        values, U = self.spectrum
        keep = values > len(values) * EPS * values[-1] if self.features is None else values > 0
        root, U = np.sqrt(values[keep]), U[:, keep]
        R = np.sqrt(alpha) * np.eye(one + len(root))[one if alpha else one + len(root) :]
        found = factor(self._with_ones(U * root), w, R, intercept=self.intercept)
        turn, back = U / root, (U * root).T
        if one:
            turn, back = bordered(turn), bordered(back)
        null, push = np.linalg.qr(turn @ found.null)[0], found.push @ back
        scales = np.eye(len(turn))
        return replace(found, back=turn @ found.back, push=push, null=null, scales=scales)

    def ball(self) -> NormBall:
        """Return Λ^½Uᵀa where eigenvalues are more than rounding; a bias is free."""
        tolerance = 1e-6 if self.precomputed else 0.0  # it may be of single precision
        require_positive_semidefinite(self.spectrum[0], "a norm bound", tolerance=tolerance)
        values, U = self._resolved
        root, U = np.sqrt(values[values > 0]), U[:, values > 0]
        R, nu, back, forward = U * root, np.ones(len(root)), U / root, (U * root).T
        if self.intercept:
            R, nu = self._with_ones(R), np.append(0.0, nu)
            back, forward = bordered(back), bordered(forward)
        few = self.kernel is not None and self.kernel.polynomial is not None
        complete = few or len(root) == len(self.distinct[0])
        return NormBall(R, nu, back, forward, complete=complete)

    def rename(self, _: Sequence[Any]) -> None:
        """Keep the names: coefficients belong to rows."""

    def in_basis(self, _: Array) -> None:
        """Keep the rows, to which coefficients belong."""

    @cached_property
    def distinct(self) -> tuple[IntArray, IntArray]:
        """The first row of each distinct input, and the number of the input of each row."""
        known = self.kernel is not None and not self.kernel.precomputed
        inputs = self.kernel.X if self.kernel is not None and known else self.K
        _, first, which = np.unique(inputs, axis=0, return_index=True, return_inverse=True)
        return first.astype(np.intp), which.reshape(-1).astype(np.intp)

    @property
    def spans_everything(self) -> bool:
        """Whether K certainly has full rank at the distinct inputs."""
        return self.strict or len(self._resolved[0]) == len(self.distinct[0])

    @property
    def precomputed(self) -> bool:
        """Whether the kernel is given by its matrix alone."""
        return self.kernel is None or self.kernel.precomputed

    def self_similarity(self, X: Array) -> Array | None:
        """Return k(z, z); None if the kernel is precomputed."""
        return None if self.kernel is None else self.kernel.diagonal(X)


def bordered(block: Array, corner: float = 1.0) -> Array:
    """Return diag(corner, block)."""
    full = np.zeros((block.shape[0] + 1, block.shape[1] + 1))
    full[0, 0], full[1:, 1:] = corner, block
    return full
