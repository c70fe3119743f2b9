"""Gaps of kernel models whose penalty is small beside the errors of eigenvalues.

Eigenvalues of a kernel matrix K have errors relative to the largest of them, which change
statistics if the penalty is small. With A = K + alpha W⁻¹ and δ = G_i r - r (docs/theory.md 4),

    n (Z_i - Z_0) = δᵀW(G_i r + r) - alpha δᵀC(δ + 2(r + Φa)),    C = A⁻¹,

or C the matrix of the equations with an intercept. Here r + Φa is y, unless the candidate is a
function with values outside the range of Φ. So equations in A replace the eigenvalues of K.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self, final

import numpy as np

from unassuming._batches import rows_that_fit, slices
from unassuming._products import sliced_product
from unassuming._rounding import EPS, gamma, length, powers_of_two
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.membership._kernel_equations import KernelEquations
from unassuming.membership._limits import faint_penalty
from unassuming.objectives import Images, Moves, Quadratic, least_eigenvalue, unresolved_share

_BATCH_BYTES = 2**22


@final
@dataclass(frozen=True, eq=False)
class KernelGaps:
    """Z_i - Z_0 of a kernel model, with twice the digits where double precision has too few.

    Attributes
    ----------
    share : float
        A bound of the error of the smoother in double precision.
    same_length : bool
        Whether all transformations leave δᵀW(G_i r + r) at zero.
    """

    objective: Quadratic
    share: float
    same_length: bool

    @classmethod
    def of(cls, objective: Quadratic, *, orthogonal: bool) -> Self | None:
        """Return them if errors of eigenvalues exceed the rounding that is allowed for anyway."""
        o = objective
        if not o.design.dual or o.primal is not None or o.lam == 0:
            return None
        share = unresolved_share(o.design, o.w, o.lam, o.whitening)
        same_length = orthogonal and bool((o.w == o.w[0]).all())
        return cls(o, share, same_length) if share > 8 * EPS * o.n else None

    @property
    def alpha(self) -> float:
        """The penalty, nλ."""
        return self.objective.n * self.objective.lam

    def refusal(self) -> ArithmeticError:
        """Return the refusal of a rank."""
        weight = float(self.objective.w.max())
        least = max(-least_eigenvalue(self.objective.design) * weight, self.alpha)
        return faint_penalty(self.alpha, least, weight)

    def errors(self, a: Array, images: Images) -> tuple[Array, Array]:
        """Bound the errors of Z_i - Z_0 in double precision by products of two, (N, m - 1) each.

        Z_i is h_iᵀSh_i / n with the smoother S and h_i = W^{1/2}G_i r - nλW^{-1/2}a. If S changes
        by D, then Z_i - Z_0 changes by (h_i - h_0)ᵀD(h_i + h_0) / n.
        """
        o, r = self.objective, images.residuals[:, None, :]
        root, own = np.sqrt(o.w / o.n), a[:, None, int(o.design.intercept) :]
        moved = length((images.perturbed - r) * root)
        whole = length((images.perturbed + r) * root - 2 * o.lam * own / root)
        return np.asarray(self.share * moved), whole

    def signs(
        self, a: Array, images: Images, open_: BoolArray, *, functions: bool
    ) -> tuple[Array, BoolArray]:
        """Return the signs of Z_i - Z_0 where ``open_`` (N, m - 1), 0 for ties, and the unknown.

        Both results have one entry for each pair of a candidate and a transformation. The residuals
        of ``functions`` need not be those of their coefficients.
        """
        rows, sets = np.nonzero(open_)
        found, unknown = np.zeros(len(rows)), np.ones(len(rows), dtype=np.bool_)
        equations = self._equations
        if equations is None:
            return found, unknown
        for some in slices(len(rows), rows_that_fit(_BATCH_BYTES, 32 * self.objective.n)):
            pairs = _Pairs.of(images, rows[some], sets[some])
            y = self._outputs(a[rows[some]], pairs.r) if functions else None
            gaps, error, rounding = self._gaps(equations, pairs, y)
            clear = np.abs(gaps) > error + rounding
            found[some] = np.where(clear, np.sign(gaps), 0.0)
            unknown[some] = ~clear & (error > rounding)
        return found, unknown

    @cached_property
    def _equations(self) -> KernelEquations | None:
        return KernelEquations.of(self.objective)

    def _outputs(self, a: Array, r: Array) -> Array:
        """Return r + Φa of functions, (k, d) and (n, k) -> (n, k)."""
        first, K = int(self.objective.design.intercept), self.objective.design.gram()
        shift = a[:, :first].sum(axis=1) + np.zeros_like(r)
        return sliced_product(K, a[:, first:].T, r, shift)[0]

    def _gaps(self, equations: KernelEquations, pairs: _Pairs, y: Array | None) -> _Bounded:
        """Return n (Z_i - Z_0) in squared units near the size of the residuals."""
        o, alpha, w = self.objective, self.alpha, self.objective.w[:, None]
        unit = powers_of_two(np.maximum(np.abs(o.y).max(), np.abs(pairs.r).max(axis=0)))
        pairs = pairs.over(unit)
        delta = pairs.g - pairs.r
        mine, theirs, error = equations.forms(delta, y, unit)
        lengths = np.zeros_like(delta) if self.same_length else pairs.lengths(o.w)
        gaps = lengths.sum(axis=0) - alpha * (delta * (mine + 2 * theirs)).sum(axis=0)
        size = np.abs(lengths) + alpha * np.abs(delta) * (np.abs(mine) + 2 * np.abs(theirs))
        size = size.sum(axis=0)
        # The gradients of n Z_i and n Z_0 with respect to G_i r and r are 2v_i and 2v_0.
        v, v0 = w * pairs.g - alpha * (mine + theirs), w * pairs.r - alpha * theirs
        rounding = pairs.carried(v, v0, o.w) + gamma(o.n + 8) * size
        return _Bounded(gaps, alpha * error, rounding)


class _Bounded(NamedTuple):
    """Gaps, bounds of their errors, and bounds of the rounding of data and sums."""

    values: Array
    error: Array
    rounding: Array


@final
@dataclass(frozen=True, eq=False)
class _Pairs:
    """Residuals and their images for k pairs of a candidate and a transformation, (n, k) each."""

    r: Array
    g: Array
    error: Array  # of r
    carried_error: Array  # of g
    moves: Moves | None  # the transformations of the pairs, if they only move and flip entries

    @classmethod
    def of(cls, images: Images, candidates: IntArray, sets: IntArray) -> _Pairs:
        """Take some pairs, by numbers of candidates and of transformations."""
        r, error = images.residuals[candidates], images.error[candidates]
        error = error + EPS * np.abs(r)
        if images.moves is None:
            carried = length(error)[:, None] + np.zeros_like(error)
            return cls(r.T, images.perturbed[candidates, sets].T, error.T, carried.T, None)
        # Where G_i r may be equal to r, it is what it is: the rounding of the data covers that.
        moves = images.moves.take(sets)
        g = np.take_along_axis(r, moves.rows, axis=1) * moves.signs
        return cls(r.T, g.T, error.T, np.take_along_axis(error, moves.rows, axis=1).T, moves)

    def over(self, unit: Array) -> _Pairs:
        """Return them in units (k,)."""
        r, g, error, carried = self.r, self.g, self.error, self.carried_error
        return _Pairs(r / unit, g / unit, error / unit, carried / unit, self.moves)

    def lengths(self, w: Array) -> Array:
        """Return terms of δᵀW(G_i r + r), (n, k)."""
        if self.moves is None:
            return np.asarray(w[:, None] * (self.g - self.r) * (self.g + self.r))
        weights = self.moves.signs * w
        return np.asarray((self.moves.back(weights[None])[0].T - w[:, None]) * self.r**2)

    def carried(self, v: Array, v0: Array, w: Array) -> Array:
        """Carry errors of r and G_i r to n (Z_i - Z_0), with half its gradients (n, k), to (k,).

        The smoother is at most the identity, so second orders are at most the squares of errors.
        """
        square = (w[:, None] * (self.error**2 + self.carried_error**2)).sum(axis=0)
        if self.moves is None:
            first = np.abs(v) * self.carried_error + np.abs(v0) * self.error
        else:
            first = np.abs(self.moves.back(v.T[None])[0].T - v0) * self.error
        return np.asarray(2 * first.sum(axis=0) + square)
