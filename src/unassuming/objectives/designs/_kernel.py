"""Dual: a model whose coefficients belong to kernel functions (docs/theory.md 1, 4)."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, final

import numpy as np
from scipy.linalg import eigh, lstsq, svd

from unassuming._errors import NotAvailable
from unassuming._rounding import EPS, exceeds, length, rank_cut
from unassuming._typing import Array, IntArray
from unassuming.kernels import TrainingKernel, require_positive_semidefinite
from unassuming.models.solvers import kernel_ridge
from unassuming.objectives.designs._complement import Complement
from unassuming.objectives.designs._design import Design
from unassuming.objectives.designs._features import FeatureDesign
from unassuming.objectives.designs._kernel_features import KernelFeatures
from unassuming.objectives.designs._norm_ball import BallCoordinates
from unassuming.objectives.designs._whitening import KernelWhitening, Whitening

_ROUNDING = 16 * EPS
_FEW = 4
"""Roundings of an eigendecomposition, in units of √n EPS ‖K‖."""
_FAINT = 1e-8
"""A penalty below this share of the largest eigenvalue of K is small."""


@final
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
    """

    dual: ClassVar[bool] = True

    def __init__(
        self, K: Array, *, intercept: bool = False, kernel: TrainingKernel | None = None
    ) -> None:
        self.K, self.kernel, self.intercept = K, kernel, intercept
        self.strict = kernel is not None and kernel.strict
        self.one = np.ones(len(K))
        self.matrix = self._with_ones(K)
        self.names = ["intercept"] * intercept + [f"dual{j}" for j in range(len(K))]

    def penalty_matrix(self) -> Array:
        """Return K, or diag(0, K)."""
        return _bordered(self.intercept, self.K, 0.0)

    def rows(self, X: Array) -> Array:
        """Return [1, k(x, x_j)] at inputs x."""
        if self.kernel is None:
            raise NotAvailable(
                "the kernel at new inputs is unknown: this objective was built from a kernel "
                "matrix alone. Pass functionals of the coefficients instead."
            )
        values = self.kernel.rows(X)
        if values.shape[1] != self.n:
            raise ValueError(
                f"X has the wrong number of kernel values: expected {self.n} in each row, one for "
                f"each training input, given shape {values.shape}. Pass the kernel between the new "
                "and the training inputs."
            )
        return self._with_ones(values)

    def coefficients(self, values: Array) -> Array:
        """Return the coefficients of least norm, by a singular value decomposition of Φ."""
        u, s, vt = self._decomposition
        return ((values @ u) / s) @ vt

    @cached_property
    def _decomposition(self) -> tuple[Array, Array, Array]:
        """The singular value decomposition of Φ, on its numerical range."""
        if self.features is not None and not self.intercept:
            values, basis = self.spectrum
            return basis, values, basis.T
        u, s, vt = svd(self.matrix, full_matrices=False)
        keep = s > rank_cut(self.matrix.shape) * s[0]
        return u[:, keep], s[keep], vt[keep]

    @cached_property
    def features(self) -> KernelFeatures | None:
        """F with K = FFᵀ, if the kernel is known to have fewer features than distinct inputs."""
        return KernelFeatures.of(self.kernel, len(self.distinct[0]) - 1)

    def primal(self) -> FeatureDesign | None:
        """Return the model in terms of its features: ‖f‖² = aᵀKa is ‖Fᵀa‖²."""
        if self.features is None:
            return None
        design = FeatureDesign(self.features.F, intercept=self.intercept)
        design.rounding = self.features.rounding
        if design.rounding:
            design.errors = design.rounding * np.abs(design.matrix)
        return design

    def primal_rows(self, X: Array, *, function: bool) -> Array | None:
        """Return [1, φ(x)] at inputs x."""
        if self.features is None:
            return None
        return self._with_ones(self.features.at(X, projected=not function))

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        """Eigenvalues, in increasing order, and eigenvectors of K; those of FFᵀ above zero."""
        return _spectrum(self, None)

    @cached_property
    def distinct(self) -> tuple[IntArray, IntArray]:
        """The first row of each distinct input, and the index of the input of each row."""
        inputs = self.K if self.kernel is None or self.precomputed else self.kernel.X
        _, first, which = np.unique(inputs, axis=0, return_index=True, return_inverse=True)
        return first.astype(np.intp), which.reshape(-1).astype(np.intp)

    @cached_property
    def full_rank(self) -> bool:
        """Whether K counts as having full rank at the distinct inputs (docs/theory.md 4.4).

        Theory decides it for kernels that are strictly positive definite, and the features for
        those with few of them. The rank of any other kernel is unknown and counts as full, so that
        no bound relies on a lack of rank.
        """
        return self.features is None or self.spans_everything

    @cached_property
    def spans_everything(self) -> bool:
        """Whether K certainly has full rank at the distinct inputs."""
        if self.kernel is not None and self.kernel.strict:
            return True
        if self.features is not None:
            return self.features.rank == len(self.distinct[0])
        size = np.abs(self.spectrum[0])
        rank = np.count_nonzero(size > rank_cut(size.shape) * size.max())
        return bool(rank == len(self.distinct[0]))

    @property
    def precomputed(self) -> bool:
        """Whether the kernel is given by its matrix alone."""
        return self.kernel is not None and self.kernel.precomputed

    @property
    def unseen(self) -> int:
        """Number of directions that change no fitted value; at full rank by counting inputs."""
        if self.full_rank:
            return int(self.matrix.shape[1] - len(self.distinct[0]))
        return super().unseen

    def require_positive_semidefinite(self, method: str) -> None:
        """Refuse an indefinite K, with its smallest eigenvalue."""
        if self.features is not None:
            return  # K = FFᵀ
        tolerance = 1e-6 if self.precomputed else 0.0  # it may be of single precision
        require_positive_semidefinite(self.spectrum[0], method, tolerance=tolerance)

    def self_similarity(self, X: Array | None = None) -> Array | None:
        """Return k(z, z); None at new inputs if the kernel is precomputed."""
        if X is None:
            return np.diagonal(self.K)
        return None if self.kernel is None else self.kernel.diagonal(X)

    def gram(self) -> Array:
        """Return K."""
        return self.K

    def probe_directions(self) -> Array:
        """Return directions that change one fitted value, then those that change none."""
        return np.concatenate([self.coefficients(np.eye(self.n)), super().probe_directions()])

    def rows_at(self, X: Array) -> IntArray | None:
        """Return the rows of the data with these inputs; if precomputed, with these values."""
        if self.kernel is None:
            return None
        known = {row.tobytes(): j for j, row in enumerate(self.kernel.X + 0.0)}
        return np.array([known.get(row.tobytes(), -1) for row in X + 0.0], dtype=np.intp)

    def ball_coordinates(
        self,
        root_weights: Array,
        estimate: Array,
        g: Array,
        bound: float,
        self_similarity: Array | None = None,
        *,
        function: bool = False,
        at: IntArray | None = None,
    ) -> BallCoordinates:
        """Bound the norm of the function, ‖f‖ <= B, in coordinates (Λ + δ)^{-1/2} Uᵀf(x).

        K* <= K + δI, so the norm is not larger with K + δI in place of K*, and nothing is divided
        by an eigenvalue that may be rounding alone. The same holds for the inputs together with z:

            f(z) = gᵀx + p s,  ‖x‖² + s² <= B²,  p² = k(z, z) + δ - ‖g‖²,  g = (Λ + δ)^{-1/2} Uᵀk_z

        with p the power function (docs/theory.md 4.4), which cancels near an input. Coordinates
        with Λ <= δ are left out: they move fitted values by at most ``lost`` in all. A
        representation whose coordinates are all known has p = 0, but for rounding.
        """
        values, u = self.spectrum
        delta, offset = rounding_of_kernel(self), int(self.intercept)
        cut = int(np.searchsorted(values, delta, side="right"))  # eigenvalues increase
        size, basis = values[cut:] + delta, u[:, cut:]
        root, own = np.sqrt(size), g[:, offset:]
        turned = (own @ basis) / root
        rest = np.sqrt(np.maximum(values[:cut] + delta, 0.0))
        complete = len(root) == len(self.distinct[0]) or not self.full_rank
        # A representation in coordinates that are all known: rounding of K, and of the functional.
        unit = _ROUNDING * (self.n + 4)
        share = _share_of_representation(delta, float(values[cut]))
        complete &= bool(np.isfinite(share))
        beyond = (share if complete else 0.0) * length(turned)
        beyond += unit * length(own / root[0])
        hidden = exceeds(own - (turned * root) @ basis.T, own) | (not complete)
        if self_similarity is not None:
            largest = float(np.diagonal(self.K).max())
            slack = max(delta, unit * largest) * np.maximum(1.0, self_similarity / largest)
            power = self_similarity + slack - (turned**2).sum(axis=1)
            power = np.sqrt(np.maximum(power, 0.0))
            certain = hidden | function
            beyond, hidden = np.where(certain, power, np.minimum(beyond, power)), hidden & False
        if at is not None:
            there = np.flatnonzero(at >= 0)
            turned[there] = basis[at[there]] * root
            beyond[there] = np.linalg.norm(u[at[there], :cut] * rest, axis=1)
            hidden[there] = False
        origin = root * (basis.T @ estimate[offset:])
        if offset:
            turned = np.column_stack([g[:, 0], turned])
            origin = np.concatenate([estimate[:1], origin])
        return BallCoordinates(
            F=root_weights[:, None] * self._with_ones(basis * root),
            N=_bordered(self.intercept, np.eye(len(root)), 0.0),
            origin=origin,
            functionals=turned,
            beyond=beyond,
            hidden=hidden,
            back=_bordered(self.intercept, basis / root, 1.0),
            bound=bound,
            lost=float(root_weights.max() * rest.max(initial=0.0)),
        )

    def complement(self, w: Array, lam: float, white: Whitening) -> Complement:
        """Return nλ(W^{1/2}KW^{1/2} + nλ)⁻¹, which is never the difference of two large numbers."""
        if self.features is not None or not isinstance(white, KernelWhitening):
            return super().complement(w, lam, white)
        if lam == 0:  # directions that are lost in rounding could be fitted or not
            return Complement(white.q, relative=np.inf)
        one, error = np.sqrt(w) if self.intercept else None, error_of_spectrum(self, w, white)
        return Complement.of_kernel(white.values, white.u, self.n * lam, error, one)

    def gram_root(self) -> Array:
        """Return ``|K|^{1/2}`` up to a rotation, the intercept weighted by one."""
        return _bordered(self.intercept, self.kernel_root(), 1.0)

    def kernel_root(self) -> Array:
        """Return ``|K|^{1/2}`` up to a rotation."""
        values, vectors = self.spectrum
        size = np.abs(values)
        # Rounding errors are cut: their roots would be large.
        size = np.where(size > rank_cut(values.shape) * size.max(), size, 0.0)
        return np.asarray(np.sqrt(size)[:, None] * vectors.T)

    def whiten(self, w: Array, lam: float) -> Whitening:
        """Take Q from Λ > 0 and U of W^{1/2} K W^{1/2}."""
        root = np.sqrt(w)
        if (w == w[0]).all():
            values, u = self.spectrum[0] * w[0], self.spectrum[1]
        else:
            values, u = _spectrum(self, root)
        # Eigenvalues increase: a slice, which copies nothing, cuts those that are only rounding.
        cut = 0
        if self.features is None:
            cut = int(np.searchsorted(values, rank_cut(values.shape) * values[-1], side="right"))
        return KernelWhitening(values[cut:], u[:, cut:], root, lam, intercept=self.intercept)

    def least_squares(self, y: Array, w: Array, lam: float) -> Array:
        """Solve (K + nλ W⁻¹) a + b = y, with 1ᵀa = 0 if there is an intercept b."""
        root, penalty = np.sqrt(w), self.n * lam
        if self.features is not None and not self.intercept:
            values, u = _spectrum(self, root)
            if penalty < _FAINT * values[-1]:
                # Outside the range of K the coefficients are residuals over the penalty. They
                # change no function, and if they are large, rounding them does.
                return np.asarray(root * (u @ ((u.T @ (root * y)) / (values + penalty))))
        if lam == 0:
            cut = rank_cut(self.matrix.shape)
            return np.asarray(lstsq(root[:, None] * self.matrix, root * y, cond=cut)[0])
        b, a = kernel_ridge(self.K, y, penalty, w, fit_intercept=self.intercept)
        return np.concatenate([[b], a]) if self.intercept else a


def _bordered(intercept: bool, block: Array, corner: float) -> Array:
    """Return diag(corner, block) if there is an intercept."""
    if not intercept:
        return block
    full = np.zeros((block.shape[0] + 1, block.shape[1] + 1))
    full[0, 0], full[1:, 1:] = corner, block
    return full


def rounding_of_kernel(design: KernelDesign) -> float:
    """Return δ >= ‖K* - UΛUᵀ‖ (docs/theory.md 4.4), for the inputs alone and with one more.

    A kernel value takes at most p + 4 roundings relative to κ², the largest k(x, x): p + 2 in a
    distance or an inner product of p terms, where x e^{-x} < 1 for a Gaussian, and two more. A
    power of degree k magnifies them k times, and they are roundings of EPS / 2. An
    (n + 1, n + 1) matrix of such errors has a norm of at most (n + 1)(p + 4) EPS κ². The
    decomposition is that of a matrix whose distance from K is a few √n EPS ‖K‖ (LAPACK). K* is
    semidefinite, so an eigenvalue below zero shows an error of its size.

    It is zero for eigenvalues that come from features, which are accurate each.
    """
    if design.features is not None:
        return 0.0
    values, n = design.spectrum[0], design.n
    kernel = design.kernel
    p = 0 if kernel is None or kernel.precomputed else kernel.X.shape[1]
    power = 1.0
    if kernel is not None and kernel.polynomial is not None:
        power = max(1.0, kernel.polynomial.degree / 2)
    of_values = (n + 1) * (p + 4) * power * float(np.abs(np.diagonal(design.K)).max())
    return float(max(EPS * of_values + _rounding_of_spectrum(design), -2 * float(values[0])))


def _rounding_of_spectrum(design: KernelDesign) -> float:
    """Return a bound of ‖K - UΛUᵀ‖ for the computed K."""
    size = float(np.abs(design.spectrum[0]).max())
    return float(EPS * _FEW * (np.sqrt(design.n) + 4) * size)


def least_eigenvalue(design: Design) -> float:
    """Return a lower bound of the eigenvalues of the computed K."""
    assert isinstance(design, KernelDesign)
    return float(design.spectrum[0][0]) - _rounding_of_spectrum(design)


def error_of_spectrum(design: KernelDesign, w: Array, white: KernelWhitening) -> float:
    """Return a bound of the error of W^{1/2}KW^{1/2} in terms of the eigenvectors that are kept."""
    cut = rank_cut(white.u.shape) * float(white.values.max())
    return max(rounding_of_kernel(design) * float(w.max()), cut)


def _share_of_representation(delta: float, least: float) -> float:
    """Bound the relative error of (Λ + δ)^{-1/2} Uᵀk_z as a representation, given the least Λ.

    The exact vector is (Λ + δ)^{1/2} Uᵀ K*⁻¹ k_z. With D = UΛUᵀ + δ - K*, 0 <= D <= 2δ, the two
    differ by (Λ + δ)^{1/2} Uᵀ K*⁻¹ D (UΛUᵀ + δ)⁻¹ k_z, and K* >= Λ - δ.
    """
    exact = least - delta
    if exact <= 0:
        return np.inf
    size = np.sqrt(exact) * np.sqrt(least + delta)
    return float(np.sqrt(1 + 2 * delta / exact) * 2 * delta / size)


def _spectrum(design: KernelDesign, root_weights: Array | None) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors of W^{1/2} K W^{1/2}, through its features if few.

    Divide and conquer keeps the eigenvectors orthogonal to rounding. The default driver loses some
    digits if eigenvalues are close, as they usually are here.
    """
    if design.features is not None:
        s, u = design.features.decomposition(root_weights)
        return s**2, u
    K = design.K
    if root_weights is not None:
        K = root_weights[:, None] * K * root_weights
    values, vectors = eigh(K, driver="evd")
    return values, vectors
