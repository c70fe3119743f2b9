"""The sets of a quadratic region at work: lines, radii, bounds and searches (docs/theory.md 4)."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._rounding import EPS
from unassuming._typing import Array, BoolArray, IntArray
from unassuming.geometry import order_statistic
from unassuming.geometry.quadratic import (
    FREE,
    BallChart,
    FormMaker,
    Forms,
    LineQuadratics,
    along_lines,
    ball_supports,
    chart_for,
    exits,
    farthest,
    supports,
    whitened_chart,
    whitened_matrix,
)
from unassuming.noise import Noise, Perturbations
from unassuming.objectives import KernelDesign, Quadratic
from unassuming.ranking import Level
from unassuming.regions._boundedness import (
    FreeDirections,
    boundedness,
    free_directions,
    known,
    remedy,
)
from unassuming.regions._results import Boundedness, Status
from unassuming.regions.search._ray_search import InnerSearch

_LARGEST_SEARCH = 2**26
_LARGEST_TABLE = 2**20


class Geometry:
    """What `QuadraticRegion` computes with, in clean arrays."""

    def __init__(
        self,
        objective: Quadratic,
        perturbations: Perturbations,
        tie_order: IntArray,
        estimate: Array,
        noise: Noise,
    ) -> None:
        self.objective = objective
        self.noise = noise
        self.perturbations = perturbations
        self.estimate = estimate
        self.root = np.sqrt(objective.w)
        self._require_commuting()
        r = objective.residuals(estimate[None, :])
        error = objective.residual_error(estimate[None, :], r)
        # As in the comparison of ranks: what rounding alone tells from zero is zero.
        r = np.where(np.abs(r) <= error, 0.0, r)
        self.maker = FormMaker(
            q=objective.whitening.q,
            residual=self.root * r[0],
            residual_error=self.root * error[0],
            perturbations=perturbations,
            tie_wins=tie_order[1:] > tie_order[0],
        )

    def _require_commuting(self) -> None:
        """Refuse transformations that are not orthogonal or do not commute with the weights."""
        noise, root = self.perturbations.noise, self.root
        if not noise.orthogonal:
            raise NotAvailable(
                f"{noise!r} does not act by orthogonal maps, so the sets that make up the region "
                "need not be ellipsoids: only membership and tests are available."
            )
        probe = np.cos(np.arange(1, len(root) + 1))
        one, two = self.perturbations.apply(root * probe), root * self.perturbations.apply(probe)
        if not np.allclose(one, two, rtol=1e-9, atol=1e-9 * np.abs(root).max()):
            raise NotAvailable(
                f"{noise!r} mixes rows of different weight, so the sets that make up the region "
                "need not be convex: only membership and tests are available. Use equal weights "
                "or noise='symmetric'."
            )

    # Lines

    def lines(self, start: Array | None, directions: Array) -> LineQuadratics:
        """Restrict the sets to lines estimate + start + t direction, each (N, d)."""
        step, error = self._fitted(directions)
        if start is None:
            return along_lines(self.maker, np.zeros_like(step), step, error)
        base, away = self._fitted(start)
        return along_lines(self.maker, base, step, error, away)

    def _fitted(self, changes: Array) -> tuple[Array, Array]:
        """Return the changes (N, d) in fitted values, (N, n), and bounds of their rounding (N,).

        Rounding is relative to the terms of each sum, however badly the columns are scaled.
        """
        Phi = self.objective.design.matrix
        terms = np.linalg.norm(self.root * (np.abs(changes) @ np.abs(Phi.T)), axis=1)
        unit = EPS * sum(Phi.shape) + self.objective.design.rounding
        return self.root * (changes @ Phi.T), unit * terms

    def lines_to_walk(self, start: Array, directions: Array) -> LineQuadratics:
        """Return the same in fewer operations, less carefully: what is found has to be tested."""
        forms = self._table
        if forms is None:
            return self.lines(start, directions)
        forward = self.objective.forward.T * np.sqrt(self.objective.n)
        x, u = start @ forward, directions @ forward
        Au = np.einsum("skl,nl->nsk", forms.A, u)
        Ax = np.einsum("skl,nl->nsk", forms.A, x)
        A = np.einsum("nsk,nk->ns", Au, u)
        b = np.einsum("nsk,nk->ns", Au, x) - u @ forms.b.T
        c = forms.c + 2 * x @ forms.b.T - np.einsum("nsk,nk->ns", Ax, x)
        noise = FREE * forms.scale * (u**2).sum(axis=1)[:, None]
        return LineQuadratics(A, b, c, noise, np.broadcast_to(forms.empty, A.shape))

    @cached_property
    def _table(self) -> Forms | None:
        """All sets in the whitened chart, if that is not much."""
        F = whitened_matrix(self.objective)
        if (self.perturbations.m - 1) * F.shape[1] ** 2 > _LARGEST_TABLE:
            return None
        return self._all_forms(F)

    def _all_forms(self, F: Array) -> Forms:
        batches = [forms for _, forms in self.maker.batches(F)]
        return Forms(
            A=np.concatenate([forms.A for forms in batches]),
            b=np.concatenate([forms.b for forms in batches]),
            c=np.concatenate([forms.c for forms in batches]),
            empty=np.concatenate([forms.empty for forms in batches]),
            scale=batches[0].scale,
        )

    def exits(self, directions: Array) -> Array:
        """Return where rays from the estimate leave each set, (N, m - 1)."""
        return exits(self.lines(None, directions))

    # Bounds

    def radii(self) -> Array:
        """Return γ_i = max ‖H^{1/2}(a - â)‖² over each set, shape (m - 1,)."""
        o, gamma = self.objective, np.full(self.perturbations.m - 1, np.inf)
        F, design = whitened_matrix(o), o.design
        if (
            isinstance(design, KernelDesign)
            and design.full_rank
            and F.shape[1] < len(design.distinct[0])
        ):
            return gamma  # directions lost in rounding could be as long as one likes
        for which, forms in self.maker.batches(F):
            gamma[which] = farthest(forms.sets()) / o.n
        return gamma

    def outer(
        self, g: Array, ball: BallChart | None, norm_bound: float | None
    ) -> tuple[Array, Array, BoolArray]:
        """Return max gᵀ(a - â) and max -gᵀ(a - â) over each set, and the hidden functionals."""
        if ball is None or norm_bound is None:
            chart = chart_for(self.objective, g)
            return *supports(self.maker, chart), chart.hidden
        return *ball_supports(self.maker, ball, norm_bound), ball.hidden

    @cached_property
    def free(self) -> FreeDirections:
        """The free directions of the sets."""
        return free_directions(self.objective, self.maker)

    def boundedness(self, level: Level) -> Boundedness:
        """Say whether the region of that level is bounded."""
        return boundedness(self.free, level, self.noise)

    def status(
        self, up: Array, down: Array, level: Level, norm_bound: float | None, *, hidden: bool
    ) -> tuple[Status, str]:
        """Say what kind of answer the bounds are, and why some are infinite.

        ``up`` and ``down`` (N, m - 1) are the bounds over each set.
        """
        bounds = np.concatenate([order_statistic(up, level.q), order_statistic(down, level.q)])
        if np.isneginf(bounds).any():
            why = f"A member has to lie in {level.q} of the sets, and fewer of them hold any point."
            if norm_bound is not None:
                why = f"No member has a norm of {norm_bound:g} or less: the bound is too small."
            return Status.EMPTY, why
        if np.isfinite(bounds).all():
            return Status.CERTIFIED, ""
        if hidden:
            return Status.UNDETERMINED, self._hidden()
        verdict, fact, _ = known(self.free, level)
        infinite = max(int(np.isposinf(part).sum(axis=1).max()) for part in (up, down))
        best = (level.m - 1 - infinite) / level.m  # more than that many sets have a finite bound
        ways = remedy(self.free, self.noise, best, region=False, held=norm_bound is not None)
        status = Status.UNBOUNDED if verdict == "unbounded" else Status.NOT_CERTIFIED
        return status, f"The region of level {float(level):.12g} is {verdict}: {fact} {ways}"

    def _hidden(self) -> str:
        if isinstance(self.objective.design, KernelDesign):
            return (
                "Coefficients of the kernel are not determined to rounding: very different ones "
                "give the same fitted values. What helps: bounds of values of the function, "
                "band(X); a norm bound, band(X, norm_bound=B)."
            )
        return (
            "Coefficients can change without changing any fitted value, and some functionals see "
            "that. What helps: bounds of fitted values, band(X); fewer features; a norm bound, "
            "interval(norm_bound=B)."
        )

    # Searches

    def attained(
        self, g: Array, ball: BallChart | None, norm_bound: float | None, level: Level, seed: int
    ) -> Array:
        """Return coefficients near the lower and the upper bounds, shape (2, N, d)."""
        if ball is None or norm_bound is None:
            chart = whitened_chart(self.objective, g)
            F, functionals, limit = chart.F, chart.functionals, None
            back = self.objective.back / np.sqrt(self.objective.n)
        else:
            F, functionals, back = ball.F, ball.functionals, ball.back
            limit = (ball.N, ball.origin, norm_bound)
        size = (self.perturbations.m - 1) * F.shape[1] ** 2
        if size > _LARGEST_SEARCH:
            raise NotAvailable(
                f"the inner search holds (m - 1) k² numbers, here {size:.2g}: ask for the outer "
                "bounds only (inner=False), or use sample()."
            )
        forms = self._all_forms(F)
        search = InnerSearch(forms.A, forms.b, forms.c, forms.empty, limit)
        rng = np.random.default_rng(seed)
        found = [[search.search(s * f, level.q, rng) for f in functionals] for s in (-1.0, 1.0)]
        return np.asarray(self.estimate + np.array(found) @ back.T)
