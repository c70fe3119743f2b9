"""Regions of quadratic objectives: exact boundaries, ellipsoids, certified bands (THEORY.md 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from unassuming._errors import NotAvailable, complaint
from unassuming._typing import Array
from unassuming.geometry import (
    FormMaker,
    along_lines,
    covered,
    exits,
    farthest,
    intervals,
    order_statistic,
)
from unassuming.objectives import FeatureDesign, KernelDesign, Quadratic
from unassuming.ranking import Level
from unassuming.regions._boundedness import FreeDirections, boundedness, free_directions
from unassuming.regions._charts import (
    BallChart,
    chart_for,
    coefficient_ball,
    function_ball,
    whitened_chart,
)
from unassuming.regions._data import as_finite
from unassuming.regions._inner import InnerSearch
from unassuming.regions._region import Region
from unassuming.regions._results import Band, Boundedness, Ellipsoid, Interval, Status
from unassuming.regions._sampling import hit_and_run
from unassuming.regions._supports import ball_supports, supports

T = TypeVar("T")
_EPS = float(np.finfo(np.float64).eps)
_BATCH_BYTES = 2**26
_LARGEST_SEARCH = 2**26


class QuadraticRegion(Region):
    """A region of least squares, ridge, kernel ridge or LS-SVC, with its exact geometry.

    The region of level 1 - q/m consists of the points that lie in at least q of the m - 1 sets
    {Z_0 <= Z_i}, each an ellipsoid or an ellipsoidal cylinder around the estimate.
    """

    objective: Quadratic

    # Rays and lines

    def reach(self, directions: Any, level: Any = 0.9) -> Any:
        """Return the largest t with estimate + t · direction in the region.

        Exact and in closed form; infinite along free directions, minus infinity if the region of
        that level is empty. Costs m n (k + 1) multiplications for each direction, k = rank.

        Parameters
        ----------
        directions : array of shape (d,) or (N, d)
            Directions in the coefficients; t multiplies them as they are.
        level : float, sequence of floats, or None
            None gives all levels: shape (N, m - 1), column q - 1 for level 1 - q/m.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> t = region.reach([0.0, 1.0], level=0.9)
        >>> inside, outside = (region.estimate + s * t * [0.0, 1.0] for s in (0.999, 1.001))
        >>> bool(region.contains(inside)), bool(region.contains(outside))
        (True, False)
        """
        d, single = self._directions(directions)
        ends = np.empty((len(d), self.m - 1))
        step = max(1, _BATCH_BYTES // (8 * self.m * 3 * (self.n + self._maker.q.shape[1])))
        for start in range(0, len(d), step):
            lines = self._lines(None, d[start : start + step])
            ends[start : start + step] = exits(lines)
        if level is None:
            every = order_statistic(ends)
            return every[0] if single else every

        def at(used: Level) -> Any:
            t = order_statistic(ends, used.q)
            return float(t[0]) if single else t

        return self._at_levels(level, at)

    def crossings(self, direction: Any, level: Any = 0.9, origin: Any = None) -> Any:
        """Return the closed intervals of t with origin + t · direction in the region, (k, 2).

        Exact: sorted, disjoint, ±inf allowed. The default origin is the estimate.
        """
        d, _ = self._directions(direction)
        if len(d) != 1:
            raise ValueError(
                complaint(
                    "direction",
                    "is not a single one",
                    f"one vector of {self.objective.d} coefficients",
                    f"shape {np.shape(direction)}",
                    "Ask for one line at a time.",
                )
            )
        start = None if origin is None else self._directions(origin)[0] - self.estimate
        low, high = intervals(self._lines(start, d))
        return self._at_levels(level, lambda used: covered(low[0], high[0], used.q))

    # Bounds

    def ellipsoid(self, level: Any = 0.9) -> Any:
        """Return an outer ellipsoid, by one secular equation for each set.

        It is {a : (a - estimate)ᵀH(a - estimate) <= radius} with H = ΦᵀWΦ/n + λP, in the
        directions that change fitted values. Costs one symmetric eigendecomposition of size k for
        each of the m - 1 sets; no semidefinite programme is solved.
        """
        o, gamma = self.objective, np.empty(self.m - 1)
        F = o.whitening.q @ o.seen
        if self._kernel_full_rank and F.shape[1] < self._distinct:
            # Directions lost in rounding could be as long as one likes.
            gamma[:] = np.inf
        else:
            for which, forms in self._maker.batches(F):
                gamma[which] = farthest(forms.sets()) / self.n
        matrix = o.forward.T @ o.forward

        def at(used: Level) -> Ellipsoid:
            radius = float(order_statistic(gamma, used.q))
            status, reason = self._status(np.array([radius]), used)
            return Ellipsoid(
                center=self.estimate,
                matrix=matrix,
                radius=radius,
                level=float(used),
                status=status,
                reason=reason,
                root_inverse=o.back,
            )

        return self._at_levels(level, at)

    def interval(
        self,
        functionals: Any = None,
        level: Any = 0.9,
        norm_bound: float | None = None,
        inner: bool = False,
    ) -> Any:
        """Bound linear functionals of the coefficients, all at once (simultaneously).

        Parameters
        ----------
        functionals : array of shape (d,) or (N, d), optional
            Each row g stands for gᵀa. None: every coefficient.
        level : float or sequence of floats
        norm_bound : float, optional
            An assumption of yours, ‖coef‖ <= B (the penalised coefficients) for features, and
            ‖f‖ <= B in the norm of the kernel for kernels.
        inner : bool
            Also search for members that come near the bounds.
        """
        if functionals is None:
            g, names = np.eye(self.objective.d), tuple(self.objective.names)
        else:
            g = np.atleast_2d(self._check_vectors(functionals, "functionals"))
            names = tuple(f"g{j}" for j in range(len(g)))
        chart = None if norm_bound is None else self._ball(g, None, function=False)
        make = self._bounder(g, chart, norm_bound, inner=inner)
        return self._at_levels(level, lambda used: Interval(names=names, **make(used)))

    def band(
        self,
        X: Any,
        level: Any = 0.9,
        norm_bound: float | None = None,
        target: str | None = None,
        inner: bool = False,
    ) -> Any:
        """Return a simultaneous band: honest outer bounds at every input, from one joint region.

        Without a norm bound the band covers the ideal representation. It agrees with the noise-free
        function at the training inputs and need not elsewhere.

        Parameters
        ----------
        X : array or DataFrame
            Inputs, as the model takes them.
        level : float or sequence of floats
        norm_bound : float, optional
            An assumption of yours: the function's norm is at most B.
        target : {"representation", "function"}, optional
            ``"function"`` covers the function itself between the training inputs too; it needs a
            kernel and a norm bound, and is the default with these.
        inner : bool
            Also search for members that come near the bounds, and return them as witnesses.
        """
        inputs = self._transform(X)
        g = self.objective.design.rows(inputs)
        kernel = isinstance(self.objective.design, KernelDesign)
        chosen = target or ("function" if kernel and norm_bound is not None else "representation")
        if chosen not in ("representation", "function"):
            raise ValueError(
                complaint(
                    "target",
                    "is unknown",
                    "'representation' or 'function'",
                    repr(target),
                    "Leave it out for the default.",
                )
            )
        if chosen == "function" and (norm_bound is None or not kernel):
            raise NotAvailable(
                "target='function' needs a kernel and an assumption on the function between the "
                "training inputs: pass norm_bound=B with a kernel model, or use "
                "target='representation'."
            )
        chart = None
        if norm_bound is not None:
            chart = self._ball(
                g, self._self_similarity(inputs, chosen), function=chosen == "function"
            )
        make = self._bounder(g, chart, norm_bound, inner=inner)
        return self._at_levels(level, lambda used: Band(X=X, target=chosen, **make(used)))

    def suggest_norm_bound(self) -> float:
        """Return twice the norm of the estimate: a heuristic from the data, not an assumption.

        A band that rests on it carries no guarantee. The norm bound is meant to be known before
        looking at the data.
        """
        return 2 * self._estimate_norm()

    # Boundedness

    def bounded(self, level: Any = 0.9) -> Any:
        """Say whether the region is bounded, with a certificate either way where there is one."""

        def at(used: Level) -> Boundedness:
            return boundedness(self._free, used, self.noise)

        return self._at_levels(level, at)

    @property
    def max_bounded_level(self) -> float:
        """The largest level at which the region is certainly bounded; 0 if there is none."""
        return max(0.0, 1 - self._free.smallest_bounded_q / self.m)

    # Sampling

    def sample(
        self,
        size: int,
        level: float = 0.9,
        random_state: Any = None,
        norm_bound: float | None = None,
        thinning: int | None = None,
    ) -> Array:
        """Return members of the region, by exact hit-and-run from the estimate, shape (size, d).

        Each step draws a random direction, finds the exact intervals of the region on that line and
        a uniform point of them. ``thinning`` steps (default 2 k) lie between samples of a chain.
        """
        used = self.level(level)
        if norm_bound is None and not self.bounded(level):
            raise NotAvailable(
                f"sampling needs a bounded region. {self.bounded(level)} With norm_bound=B the "
                "sample is taken within the ball."
            )
        P = self.objective.design.penalty_matrix()
        if norm_bound is not None:
            self._require_inside(norm_bound)

        def members(origins: Array, directions: Array) -> list[Array]:
            low, high = intervals(self._lines(origins - self.estimate, directions))
            spans = [covered(low[j], high[j], used.q) for j in range(len(origins))]
            if norm_bound is not None:
                spans = [
                    _within_ball(span, P, a, d, norm_bound)
                    for span, a, d in zip(spans, origins, directions, strict=True)
                ]
            return spans

        axes = self.objective.back
        steps = 2 * axes.shape[1] if thinning is None else thinning
        return hit_and_run(
            self.estimate,
            axes,
            members,
            lambda a: self.contains(a, level),
            size,
            random_state,
            steps,
        )

    # Inside

    @cached_property
    def _maker(self) -> FormMaker:
        root = np.sqrt(self.objective.w)
        self._require_commuting(root)
        o, a = self.objective, self.estimate
        size = np.abs(o.y) + np.linalg.norm(o.design.matrix, axis=1) * np.linalg.norm(a)
        return FormMaker(
            q=o.whitening.q,
            residual=root * o.residuals(a[None, :])[0],
            residual_error=4 * _EPS * float(np.linalg.norm(root * size)),
            perturbations=self.perturbations,
            tie_wins=self.tie_order[1:] > self.tie_order[0],
        )

    def _require_commuting(self, root: Array) -> None:
        """Refuse transformations that are not orthogonal or do not commute with the weights."""
        if not self.noise.orthogonal:
            raise NotAvailable(
                f"{self.noise!r} does not act by orthogonal maps, so the sets that make up the "
                "region need not be ellipsoids: only membership and tests are available."
            )
        probe = np.cos(np.arange(1, self.n + 1))
        one, two = self.perturbations.apply(root * probe), root * self.perturbations.apply(probe)
        if not np.allclose(one, two, rtol=1e-9, atol=1e-9 * np.abs(root).max()):
            raise NotAvailable(
                f"{self.noise!r} mixes rows of different weight, so the sets that make up the "
                "region need not be convex: only membership and tests are available. Use equal "
                "weights or noise='symmetric'."
            )

    @cached_property
    def _free(self) -> FreeDirections:
        return free_directions(self.objective, self._maker)

    @property
    def _kernel_full_rank(self) -> bool:
        design = self.objective.design
        return isinstance(design, KernelDesign) and design.full_rank

    @property
    def _distinct(self) -> int:
        design = self.objective.design
        return len(design.distinct[0]) if isinstance(design, KernelDesign) else self.n

    def _lines(self, start: Array | None, directions: Array) -> Any:
        design, root = self.objective.design, np.sqrt(self.objective.w)
        step = root * (directions @ design.matrix.T)
        base = np.zeros_like(step) if start is None else root * (start @ design.matrix.T)
        row = np.linalg.norm(design.matrix * root[:, None])
        error = _EPS * sum(design.matrix.shape) * row * np.linalg.norm(directions, axis=1)
        return along_lines(self._maker, base, step, error)

    def _directions(self, directions: Any) -> tuple[Array, bool]:
        d = self._check_vectors(directions, "directions")
        return np.atleast_2d(d), d.ndim == 1

    def _check_vectors(self, vectors: Any, name: str) -> Array:
        v = as_finite(vectors, name)
        if v.ndim not in (1, 2) or v.shape[-1] != self.objective.d:
            raise ValueError(
                complaint(
                    name,
                    "has the wrong shape",
                    f"rows of {self.objective.d} numbers, one for each coefficient",
                    f"shape {v.shape}",
                    "See region.objective.names for their order.",
                )
            )
        return v

    def _at_levels(self, level: Any, at: Callable[[Level], T]) -> T | dict[float, T]:
        if isinstance(level, (Sequence, np.ndarray)):
            return {float(p): at(self.level(float(p))) for p in level}
        return at(self.level(level))

    def _self_similarity(self, inputs: Array, target: str) -> Array | None:
        design = self.objective.design
        if not isinstance(design, KernelDesign) or design.kernel is None:
            return None
        similarity = design.kernel.diagonal(inputs)
        if similarity is None and target == "function":
            raise NotAvailable(
                "target='function' needs k(z, z) at the new inputs, which a precomputed kernel "
                "does not tell: pass the kernel itself, or use target='representation'."
            )
        return similarity

    def _ball(self, g: Array, similarity: Array | None, *, function: bool) -> BallChart:
        design = self.objective.design
        if isinstance(design, KernelDesign):
            return function_ball(
                self.objective, design, self.estimate, g, similarity, function=function
            )
        assert isinstance(design, FeatureDesign)
        return coefficient_ball(self.objective, design, self.estimate, g)

    def _bounder(
        self, g: Array, ball: BallChart | None, norm_bound: float | None, *, inner: bool
    ) -> Callable[[Level], dict[str, Any]]:
        """Return what computes the fields of a result at one level; the sets are made once."""
        middle = g @ self.estimate
        if ball is None or norm_bound is None:
            chart = chart_for(self.objective, g)
            hidden = chart.hidden
            up, down = supports(self._maker, chart)
        else:
            hidden = ball.hidden
            if not (np.isfinite(norm_bound) and norm_bound > 0):
                raise ValueError(
                    complaint(
                        "norm_bound",
                        "is out of range",
                        "one finite number > 0",
                        repr(norm_bound),
                        "Pass an upper bound on the norm that you are ready to assume.",
                    )
                )
            up, down = ball_supports(self._maker, ball, norm_bound)

        def at(used: Level) -> dict[str, Any]:
            upper = middle + order_statistic(up, used.q)
            lower = middle - order_statistic(down, used.q)
            status, reason = self._status(
                np.concatenate([upper, -lower]), used, norm_bound, hidden=bool(hidden.any())
            )
            found: dict[str, Any] = {"inner_lower": None, "inner_upper": None, "witnesses": None}
            if inner:
                found = self._inner(g, ball, norm_bound, used)
            return {
                "level": float(used),
                "estimate": middle,
                "lower": lower,
                "upper": upper,
                "status": status,
                "reason": reason,
                **found,
            }

        return at

    def _status(
        self, upper: Array, used: Level, norm_bound: float | None = None, *, hidden: bool = False
    ) -> tuple[Status, str]:
        """Say what kind of answer the bounds are, and why some are infinite."""
        if np.isneginf(upper).any():
            why = f"A member has to lie in {used.q} of the sets, and fewer of them hold any point."
            if norm_bound is not None:
                why = f"No member has a norm of {norm_bound:g} or less: the bound is too small."
            return Status.EMPTY, why
        if np.isfinite(upper).all():
            return Status.CERTIFIED, ""
        if hidden:
            return Status.UNDETERMINED, (
                "Coefficients can change without changing any fitted value, and some functionals "
                "see that. Bound fitted values instead, drop redundant features, or pass a norm "
                "bound."
            )
        verdict = boundedness(self._free, used, self.noise)
        if verdict.verdict == "unbounded":
            return Status.UNBOUNDED, str(verdict)
        return Status.NOT_CERTIFIED, str(verdict)

    def _estimate_norm(self) -> float:
        P = self.objective.design.penalty_matrix()
        return float(np.sqrt(np.maximum(self.estimate @ P @ self.estimate, 0.0)))

    def _require_inside(self, norm_bound: float) -> None:
        norm = self._estimate_norm()
        if norm > norm_bound:
            raise NotAvailable(
                "the search starts at the estimate, which has to satisfy the norm bound: its norm "
                f"is {norm:.6g}, the bound {norm_bound:.6g}. The outer bounds do not need this."
            )

    def _inner(
        self, g: Array, ball: BallChart | None, norm_bound: float | None, used: Level
    ) -> dict[str, Any]:
        """Search for members near the bounds; the witnesses are coefficient vectors."""
        if ball is None or norm_bound is None:
            chart = whitened_chart(self.objective, g)
            F, functionals, limit = chart.F, chart.functionals, None
            back = self.objective.back / np.sqrt(self.n)
        else:
            self._require_inside(norm_bound)
            F, functionals = ball.F, ball.functionals
            limit = (ball.N, ball.origin, norm_bound)
            back = ball.back
        k = F.shape[1]
        if (self.m - 1) * k * k > _LARGEST_SEARCH:
            raise NotAvailable(
                f"the inner search holds (m - 1) k² numbers, here {(self.m - 1) * k * k:.2g}: ask "
                "for the outer bounds only (inner=False), or use sample()."
            )
        batches = [forms for _, forms in self._maker.batches(F)]
        search = InnerSearch(
            A=np.concatenate([forms.A for forms in batches]),
            b=np.concatenate([forms.b for forms in batches]),
            c=np.concatenate([forms.c for forms in batches]),
            empty=np.concatenate([forms.empty for forms in batches]),
            ball=limit,
        )
        rng = np.random.default_rng(self.seed)
        witnesses = np.empty((2, len(g), self.objective.d))
        for side, sign in enumerate((-1.0, 1.0)):
            for j, functional in enumerate(functionals):
                x = search.search(sign * functional, used.q, rng)
                witnesses[side, j] = self.estimate + back @ x
        inside = self.contains(witnesses.reshape(-1, self.objective.d), float(used))
        witnesses.reshape(-1, self.objective.d)[~inside] = self.estimate
        values = np.einsum("snd,nd->sn", witnesses, g)
        return {"inner_lower": values[0], "inner_upper": values[1], "witnesses": witnesses}


def _within_ball(spans: Array, P: Array, a: Array, d: Array, bound: float) -> Array:
    """Intersect intervals of t with {t : (a + td)ᵀP(a + td) <= B²}."""
    A, b, c = float(d @ P @ d), float(a @ P @ d), float(a @ P @ a) - bound**2
    if A <= 0:
        return spans
    root = np.sqrt(max(b * b - A * c, 0.0))
    low, high = (-b - root) / A, (-b + root) / A
    clipped = np.clip(spans, low, high)
    return clipped[clipped[:, 0] < clipped[:, 1]]
