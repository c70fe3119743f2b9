"""Fitted values as a linear map Φ a of the coefficients, primal or dual (docs/theory.md 1, 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, lstsq, svd

from unassuming._errors import complaint
from unassuming._typing import Array
from unassuming.kernels import require_positive_semidefinite
from unassuming.models.solvers import kernel_ridge

_EPS = float(np.finfo(np.float64).eps)


class Design(ABC):
    """Φ, the penalty matrix P that goes with it, and the whitening of both.

    Attributes
    ----------
    matrix : array of shape (n, d)
        Φ, with a leading column of ones if there is an intercept.
    intercept : bool
        Whether that column is there. It is never penalised.
    names : list of str
        Names of the coefficients.
    """

    matrix: Array
    intercept: bool
    names: list[str]

    @abstractmethod
    def penalty_matrix(self) -> Array:
        """Return P, shape (d, d)."""

    @abstractmethod
    def whiten(self, w: Array, lam: float) -> tuple[Array, Array]:
        """Return L and B with H^{-1/2} s = L G r - B a, up to one rotation.

        Here s = ΦᵀW G r / n - λ P a and H = ΦᵀWΦ/n + λP (docs/theory.md 4). Both come from an
        orthonormal basis Q of the range of the stacked design [W^{1/2}Φ/√n; √λ P^{1/2}], so that
        H is never formed, let alone inverted, and its null space drops out.
        """

    @abstractmethod
    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Return the minimiser of the quadratic objective, shape (d,)."""

    def gram_root(self) -> Array:
        """Return |K|^{1/2}, as a weighting of the gradient in the coefficients."""
        raise ValueError(
            complaint(
                "weighting",
                "'gram' needs a kernel",
                "'identity', 'hessian' or a matrix for a model that is linear in features",
                repr("gram"),
                "Leave it out for the default.",
            )
        )

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of least norm whose fitted values come closest, (N, n) -> (N, d).

        This rule from values to coefficients uses the inputs only, which keeps tests exact.
        """
        n, d = self.matrix.shape
        solution = lstsq(self.matrix, values.T, cond=max(n, d) * _EPS)[0]
        return np.ascontiguousarray(solution.T)

    @property
    @abstractmethod
    def full_rank(self) -> bool:
        """Whether every function has ideal coefficients at the inputs."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.matrix)


class FeatureDesign(Design):
    """Primal: Φ = [1, X], P = diag(0, 1, ..., 1)."""

    def __init__(self, X: Array, *, intercept: bool, names: list[str] | None = None) -> None:
        n, p = X.shape
        self.X = X
        self.intercept = intercept
        self.matrix = np.column_stack([np.ones(n), X]) if intercept else X
        features = [f"x{j}" for j in range(p)] if names is None else list(names)
        self.names = ["intercept", *features] if intercept else features

    @cached_property
    def full_rank(self) -> bool:
        """Whether the features can take any values at the inputs."""
        return bool(np.linalg.matrix_rank(self.matrix) == self.n)

    @property
    def penalised(self) -> Array:
        """One for each penalised coefficient, zero for the intercept."""
        mask = np.ones(self.matrix.shape[1])
        mask[: int(self.intercept)] = 0.0
        return mask

    def penalty_matrix(self) -> Array:
        """Return diag(0, 1, ..., 1)."""
        return np.diag(self.penalised)

    def whiten(self, w: Array, lam: float) -> tuple[Array, Array]:
        """Take Q from an SVD of the stacked design, its columns first scaled to length one."""
        n, root = self.n, np.sqrt(w / self.n)
        stacked = np.vstack([root[:, None] * self.matrix, np.sqrt(lam) * self.penalty_matrix()])
        length = np.linalg.norm(stacked, axis=0)
        u, s, _ = svd(stacked / np.where(length > 0, length, 1.0), full_matrices=False)
        q = u[:, s > max(stacked.shape) * _EPS * s[0]]
        return q[:n].T * root, q[n:].T * (np.sqrt(lam) * self.penalised)

    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Centre, then solve the stacked least squares problem; least norm if not unique."""
        share = w / w.sum()
        centre = share @ self.X if self.intercept else np.zeros(self.X.shape[1])
        level = float(share @ y) if self.intercept else 0.0
        root, p = np.sqrt(w / self.n), self.X.shape[1]
        stacked = np.vstack([root[:, None] * (self.X - centre), np.sqrt(lam) * np.eye(p)])
        target = np.concatenate([root * (y - level), np.zeros(p)])
        slopes = lstsq(stacked, target)[0]
        # One step of refinement: the region is centred where the gradient is zero to rounding.
        slopes = slopes + lstsq(stacked, target - stacked @ slopes)[0]
        if not self.intercept:
            return np.asarray(slopes)
        return np.concatenate([[float(share @ (y - self.X @ slopes))], slopes])


class KernelDesign(Design):
    """Dual: Φ = K or [1, K], P = K or diag(0, K)."""

    def __init__(self, K: Array, *, intercept: bool = False) -> None:
        n = len(K)
        self.K = K
        self.intercept = intercept
        self.matrix = np.column_stack([np.ones(n), K]) if intercept else K
        dual = [f"dual{j}" for j in range(n)]
        self.names = ["intercept", *dual] if intercept else dual

    def penalty_matrix(self) -> Array:
        """Return K, or diag(0, K)."""
        return self._with_intercept(self.K, 0.0)

    def _with_intercept(self, block: Array, corner: float) -> Array:
        if not self.intercept:
            return block
        full = np.zeros((len(block) + 1, len(block) + 1))
        full[0, 0] = corner
        full[1:, 1:] = block
        return full

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        values, vectors = eigh(self.K)
        return values, vectors

    @cached_property
    def full_rank(self) -> bool:
        """Whether K counts as having full rank.

        Where eigenvalues decay to rounding without a gap the rank cannot be told, and K counts as
        full.
        """
        values = self._spectrum[0]
        kept = values[values > len(values) * _EPS * values[-1]]
        return len(kept) == len(values) or bool(kept[0] < 1e-10 * kept[-1])

    def require_positive_semidefinite(self, method: str) -> None:
        """Refuse an indefinite K, with its smallest eigenvalue."""
        require_positive_semidefinite(self._spectrum[0], method)

    def gram_root(self) -> Array:
        """Return |K|^{1/2} up to a rotation, the intercept weighted by one."""
        values, vectors = self._spectrum
        return self._with_intercept(np.sqrt(np.abs(values))[:, None] * vectors.T, 1.0)

    def weighted_spectrum(self, w: Array) -> tuple[Array, Array]:
        """Return Λ > 0 and U of W^{1/2} K W^{1/2}; rounding-size eigenvalues are cut (4)."""
        if (w == w[0]).all():
            values, u = self._spectrum[0] * w[0], self._spectrum[1]
        else:
            root = np.sqrt(w)
            values, u = eigh(root[:, None] * self.K * root)
        keep = values > len(values) * _EPS * values[-1]
        return values[keep], u[:, keep]

    def whiten(self, w: Array, lam: float) -> tuple[Array, Array]:
        """Write Q down from the eigenvectors: nothing is divided by an eigenvalue of K."""
        n, root = self.n, np.sqrt(w)
        values, u = self.weighted_spectrum(w)
        top = u * np.sqrt(values / (values + n * lam))  # U sqrt(Λ / (Λ + nλ))
        low = np.sqrt(n * lam / (values + n * lam))  # the rows of the penalty, in the basis U
        # √λ P^{1/2} a in the basis U, where the weighted problem has coefficients W^{-1/2} a.
        half = np.sqrt(lam * values)[:, None] * (u.T / root)
        pull, push = top.T * (root / np.sqrt(n)), low[:, None] * half
        if not self.intercept:
            return pull, push
        # One more column, W^{1/2} 1 over zeros, made orthogonal to the others; twice, for rounding.
        one_top, one_low = root.copy(), np.zeros(len(values))
        for _ in range(2):
            c = top.T @ one_top + low * one_low
            one_top, one_low = one_top - top @ c, one_low - low * c
        length = np.sqrt(one_top @ one_top + one_low @ one_low)
        pull = np.vstack([one_top / length * (root / np.sqrt(n)), pull])
        push = np.vstack([one_low / length @ half, push])
        return pull, np.column_stack([np.zeros(len(push)), push])

    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Solve (K + nλ W⁻¹) a + b = y, with 1ᵀa = 0 if there is an intercept b."""
        if lam == 0:
            root = np.sqrt(w)[:, None]
            return np.asarray(lstsq(root * self.matrix, root[:, 0] * y, cond=self.n * _EPS)[0])
        b, a = kernel_ridge(self.K, y, self.n * lam, w, fit_intercept=self.intercept)
        return np.concatenate([[b], a]) if self.intercept else a
