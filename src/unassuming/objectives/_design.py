"""Fitted values as a linear map Φ a of the coefficients, primal or dual (docs/theory.md 1, 4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from scipy.linalg import eigh, lstsq, svd

from unassuming._errors import NotAvailable
from unassuming._rounding import powers_of_two, rank_cut
from unassuming._typing import Array, IntArray
from unassuming.kernels import TrainingKernel, require_positive_semidefinite
from unassuming.models.solvers import kernel_ridge
from unassuming.objectives._whitening import (
    FeatureWhitening,
    KernelWhitening,
    Whitening,
)


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
    rounding : float
        The relative error that Φ comes with; zero where its rows are those of the data.

    Examples
    --------
    >>> design: Design = FeatureDesign(np.array([[2.0], [5.0]]), intercept=True)
    >>> design.n, design.names, design.spans_everything
    (2, ['intercept', 'x0'], True)
    """

    matrix: Array
    intercept: bool
    names: list[str]
    rounding: float = 0.0

    @abstractmethod
    def rows(self, X: Array) -> Array:
        """Return the rows of Φ at inputs X (N, p), shape (N, d)."""

    @abstractmethod
    def penalty_matrix(self) -> Array:
        """Return P, shape (d, d)."""

    @abstractmethod
    def whiten(self, w: Array, lam: float) -> Whitening:
        """Return the whitened coordinates for H = ΦᵀWΦ/n + λP (docs/theory.md 4)."""

    @abstractmethod
    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Return the minimiser of the quadratic objective, shape (d,)."""

    def gram_root(self) -> Array:
        """Return ``|K|^{1/2}``, as a weighting of the gradient in the coefficients."""
        raise ValueError(
            "weighting 'gram' needs a kernel: expected 'identity', 'hessian' or a matrix for a "
            "model that is linear in features, given 'gram'. Leave it out for the default."
        )

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of least norm whose fitted values come closest, (N, n) -> (N, d).

        This rule from values to coefficients uses the inputs only, which keeps tests exact.
        """
        u, s, vt = self._decomposition
        return ((values @ u) / s) @ vt

    @cached_property
    def _decomposition(self) -> tuple[Array, Array, Array]:
        """The singular value decomposition of Φ, on its numerical range."""
        u, s, vt = svd(self.matrix, full_matrices=False)
        keep = s > rank_cut(self.matrix.shape) * s[0]
        return u[:, keep], s[keep], vt[keep]

    @property
    @abstractmethod
    def spans_everything(self) -> bool:
        """Whether it is certain that every function has ideal coefficients at the inputs."""

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.matrix)


class FeatureDesign(Design):
    """Primal: Φ = [1, X], P = diag(0, 1, ..., 1).

    Attributes
    ----------
    X : array of shape (n, p)
    intercept : bool
        Whether there is a column of ones.
    names : list of str
        Of the coefficients.
    one : array of shape (n,)
        The fitted values of a constant.

    Examples
    --------
    >>> design = FeatureDesign(np.array([[2.0], [5.0]]), intercept=True)
    >>> design.matrix
    array([[1., 2.],
           [1., 5.]])
    >>> design.rows(np.array([[7.0]]))
    array([[1., 7.]])
    """

    def __init__(self, X: Array, *, intercept: bool, names: list[str] | None = None) -> None:
        n, p = X.shape
        self.X = X
        self.one = np.ones(n)
        self.intercept = intercept
        self.matrix = np.column_stack([self.one, X]) if intercept else X
        if not self.matrix.any():
            raise ValueError(
                "X is zero throughout: expected at least one feature that is not, or an "
                f"intercept, given {p} columns of zeros. Use fit_intercept=True, or other features."
            )
        features = [f"x{j}" for j in range(p)] if names is None else list(names)
        self.names = ["intercept", *features] if intercept else features

    def rows(self, X: Array) -> Array:
        """Return [1, X]."""
        if X.shape[1] != self.X.shape[1]:
            raise ValueError(
                f"X has the wrong number of features: expected {self.X.shape[1]}, as in the data, "
                f"given {X.shape[1]}. Pass the same columns."
            )
        return np.column_stack([np.ones(len(X)), X]) if self.intercept else X

    @cached_property
    def spans_everything(self) -> bool:
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

    def whiten(self, w: Array, lam: float) -> Whitening:
        """Take Q from an SVD of the stacked design, its columns first scaled to length one."""
        n, root = self.n, np.sqrt(w / self.n)
        # With an intercept the columns may be centred: the same functions and the same penalty, in
        # coefficients whose intercept is shifted. Without, a large mean costs as many digits.
        centred, centre = self._centred(w)
        matrix = np.column_stack([self.one, centred]) if self.intercept else centred
        stacked = np.vstack([root[:, None] * matrix, np.sqrt(lam) * self.penalty_matrix()])
        length = _column_lengths(stacked)
        u, s, vt = svd(stacked / length, full_matrices=False)
        keep = s > rank_cut(stacked.shape) * s[0]
        top, low = u[:n, keep], u[n:, keep]
        back = vt[keep].T / s[keep] / length[:, None]
        if self.intercept:
            back[0] -= centre @ back[1:]
        return FeatureWhitening(top, low.T * (np.sqrt(lam) * self.penalised), back)

    def _centred(self, w: Array) -> tuple[Array, Array]:
        """Return X minus its means, and these; columns that rounding alone tells from zero are."""
        if not self.intercept:
            return self.X, np.zeros(self.X.shape[1])
        centre = self._means(w) @ self.X
        centred = self.X - np.outer(self.one, centre)
        size = np.abs(self.one).max() * np.abs(centre)
        constant = np.abs(centred).max(axis=0) <= 4 * rank_cut(self.X.shape) * size
        return np.where(constant, 0.0, centred), centre

    def _means(self, w: Array) -> Array:
        """Return the functional that takes the weighted mean of a column."""
        weighted = w * self.one
        return np.asarray(weighted / (weighted @ self.one))

    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Centre, then solve the stacked least squares problem; least norm if not unique."""
        centred, _ = self._centred(w)
        level = float(self._means(w) @ y) if self.intercept else 0.0
        root, p = np.sqrt(w / self.n), self.X.shape[1]
        stacked = np.vstack([root[:, None] * centred, np.sqrt(lam) * np.eye(p)])
        target = np.concatenate([root * (y - level * self.one), np.zeros(p)])
        slopes = _solve(stacked, target)
        # One step of refinement: the region is centred where the gradient is zero to rounding.
        slopes = slopes + _solve(stacked, target - stacked @ slopes)
        if not self.intercept:
            return slopes
        return np.concatenate([[float(self._means(w) @ (y - self.X @ slopes))], slopes])

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients whose fitted values come closest, (N, n) -> (N, d)."""
        return np.ascontiguousarray(_solve(self.matrix, values.T).T)


def _column_lengths(matrix: Array) -> Array:
    """Return powers of two near the lengths of the columns."""
    return powers_of_two(np.linalg.norm(matrix, axis=0))


def _solve(A: Array, b: Array) -> Array:
    """Return the least squares solution of least norm.

    Columns of very different size look like a loss of rank; where scaling them finds more rank,
    the scaled problem is the one to solve.
    """
    cut = rank_cut(A.shape)
    plain, _, plain_rank, _ = lstsq(A, b, cond=cut)
    length = _column_lengths(A)
    scaled, _, scaled_rank, _ = lstsq(A / length, b, cond=cut)
    if scaled_rank <= plain_rank:
        return np.asarray(plain)
    return np.asarray(scaled / (length if b.ndim == 1 else length[:, None]))


class KernelDesign(Design):
    """Dual: Φ = K or [1, K], P = K or diag(0, K).

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
    >>> design = KernelDesign(np.array([[1.0, 0.5], [0.5, 1.0]]), intercept=True)
    >>> design.matrix
    array([[1. , 1. , 0.5],
           [1. , 0.5, 1. ]])
    >>> design.penalty_matrix()
    array([[0. , 0. , 0. ],
           [0. , 1. , 0.5],
           [0. , 0.5, 1. ]])
    """

    def __init__(
        self, K: Array, *, intercept: bool = False, kernel: TrainingKernel | None = None
    ) -> None:
        n = len(K)
        self.K = K
        self.kernel = kernel
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

    def rows(self, X: Array) -> Array:
        """Return [1, k(x, x_j)] at inputs x."""
        if self.kernel is None:
            raise NotAvailable(
                "the kernel at new inputs is not known: this objective was built from a kernel "
                "matrix alone. Pass functionals of the coefficients instead."
            )
        values = self.kernel.rows(X)
        if values.shape[1] != self.n:
            raise ValueError(
                f"X has the wrong number of kernel values: expected {self.n} in each row, one for "
                f"each training input, given shape {values.shape}. Pass the kernel between the new "
                "and the training inputs."
            )
        return np.column_stack([np.ones(len(values)), values]) if self.intercept else values

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues, in increasing order, and eigenvectors of K."""
        return _spectrum(self.K)

    @cached_property
    def distinct(self) -> tuple[IntArray, IntArray]:
        """The first row of each distinct input, and the number of the input of each row."""
        known = self.kernel is not None and not self.kernel.precomputed
        inputs = self.kernel.X if known and self.kernel is not None else self.K
        _, first, which = np.unique(inputs, axis=0, return_index=True, return_inverse=True)
        return first.astype(np.intp), which.reshape(-1).astype(np.intp)

    @cached_property
    def full_rank(self) -> bool:
        """Whether K counts as having full rank at the distinct inputs (docs/theory.md 4.4).

        By theory for kernels known to be strictly positive definite, by the spectrum for those
        known to have finitely many features. Of any other the rank cannot be told, and it counts
        as full: then no bound is claimed that would rest on a lack of rank.
        """
        return self.spans_everything or self.kernel is None or not self.kernel.finite

    @cached_property
    def spans_everything(self) -> bool:
        """Whether K surely has full rank at the distinct inputs."""
        strict = self.kernel is not None and self.kernel.strict
        return strict or len(self._kept) == len(self.distinct[0])

    @property
    def _kept(self) -> Array:
        """The eigenvalues of K that are more than rounding, by absolute value."""
        size = np.sort(np.abs(self.spectrum[0]))
        return np.asarray(size[size > rank_cut(size.shape) * size[-1]])

    def require_positive_semidefinite(self, method: str) -> None:
        """Refuse an indefinite K, with its smallest eigenvalue.

        A precomputed matrix may be of single precision.
        """
        precomputed = self.kernel is not None and self.kernel.precomputed
        tolerance = 1e-6 if precomputed else 0.0
        require_positive_semidefinite(self.spectrum[0], method, tolerance=tolerance)

    def gram_root(self) -> Array:
        """Return ``|K|^{1/2}`` up to a rotation, the intercept weighted by one."""
        return self._with_intercept(self.kernel_root(), 1.0)

    def kernel_root(self) -> Array:
        """Return ``|K|^{1/2}`` up to a rotation; the roots of rounding errors would be large."""
        values, vectors = self.spectrum
        size = np.abs(values)
        size = np.where(size > rank_cut(values.shape) * size.max(), size, 0.0)
        return np.asarray(np.sqrt(size)[:, None] * vectors.T)

    def weighted_spectrum(self, w: Array) -> tuple[Array, Array]:
        """Return Λ > 0 and U of W^{1/2} K W^{1/2}; rounding-size eigenvalues are cut (4)."""
        if (w == w[0]).all():
            values, u = self.spectrum[0] * w[0], self.spectrum[1]
        else:
            root = np.sqrt(w)
            values, u = _spectrum(root[:, None] * self.K * root)
        # In increasing order: a slice, which copies nothing.
        cut = np.searchsorted(values, rank_cut(values.shape) * values[-1], side="right")
        return values[cut:], u[:, cut:]

    def whiten(self, w: Array, lam: float) -> Whitening:
        """Write Q down from the eigenvectors."""
        values, u = self.weighted_spectrum(w)
        return KernelWhitening(values, u, np.sqrt(w), lam, intercept=self.intercept)

    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Solve (K + nλ W⁻¹) a + b = y, with 1ᵀa = 0 if there is an intercept b."""
        if lam == 0:
            root = np.sqrt(w)[:, None]
            return np.asarray(
                lstsq(root * self.matrix, root[:, 0] * y, cond=rank_cut(self.matrix.shape))[0]
            )
        b, a = kernel_ridge(self.K, y, self.n * lam, w, fit_intercept=self.intercept)
        return np.concatenate([[b], a]) if self.intercept else a


def _spectrum(K: Array) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors, orthogonal to rounding.

    Divide and conquer: on close eigenvalues, the normal case here, the default driver loses some
    digits of orthogonality.
    """
    values, vectors = eigh(K, driver="evd")
    return values, vectors
