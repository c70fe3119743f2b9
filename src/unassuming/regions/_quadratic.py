"""Quadratic regions: exact boundaries, ellipsoids, certified bands (docs/theory.md 4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._rounding import EPS
from unassuming._typing import Array
from unassuming.geometry import order_statistic
from unassuming.geometry.quadratic import BallChart, covered, intervals
from unassuming.inputs import as_directions, as_vector
from unassuming.objectives import Quadratic
from unassuming.ranking import Level
from unassuming.regions._describe import Description
from unassuming.regions._functionals import FunctionalRegion, check_norm_bound
from unassuming.regions._geometry import Geometry
from unassuming.regions._results import Ellipsoid, Status
from unassuming.regions.search._hit_and_run import check_sampling, hit_and_run

_LARGEST_TO_EXAMINE = 500
"""Rows up to which ``print(region)`` says whether it is bounded."""

_ROUNDING = 8 * EPS

_SHARES = (1 - 1e-6, 1 - 1e-4, 0.999, 0.99, 0.97, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1, 0.0)


class QuadraticRegion(FunctionalRegion):
    """A region of least squares, ridge, kernel ridge or LS-SVC, with its exact geometry.

    The region of level 1 - q/m consists of the points that lie in at least q of the m - 1 sets
    {Z_0 <= Z_i}, each an ellipsoid or an ellipsoidal cylinder around the estimate.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
    >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    >>> region.reach([[0.0, 1.0], [0.0, -1.0]], level=0.9).shape
    (2,)
    """

    objective: Quadratic

    # Rays and lines

    def reach(self, directions: Any, level: Any = 0.9) -> Any:
        """Return the largest t with estimate + t · direction in the region.

        Exact and in closed form; infinite along free directions, minus infinity if the region of
        that level is empty. Costs m n (k + 1) multiplications for each direction, k = rank.

        Parameters
        ----------
        directions : array of shape (d,) or (N, d), name or list of names
            Directions in the coefficients; t multiplies them as they are. A name out of
            ``region.names`` stands for that coefficient.
        level : float, sequence of floats, or None
            None gives all levels: shape (N, m - 1), column q - 1 for level 1 - q/m.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> import numpy as np
        >>> slope = np.array([0.0, 1.0])
        >>> t = region.reach(slope, level=0.9)
        >>> region.contains(region.estimate + 0.999 * t * slope)
        True
        >>> region.contains(region.estimate + 1.001 * t * slope)
        False
        """
        d, single = as_directions(directions, self.names)
        ends = self._geometry.exits(d)
        if level is None:
            every = order_statistic(ends)
            return every[0] if single else every

        def at(used: Level) -> Any:
            t = order_statistic(ends, used.q)
            return float(t[0]) if single else t

        return self._at_levels(level, at)

    def crossings(self, direction: Any, level: Any = 0.9, origin: Any = None) -> Any:
        """Return the closed intervals of t with origin + t · direction in the region, (k, 2).

        Exact: sorted, disjoint, ±inf allowed. The default origin is the estimate. Costs as much as
        `reach` in two directions. Several directions (N, d) give a list.

        Parameters
        ----------
        direction : array of shape (d,)
        level : float or sequence of floats, default 0.9
        origin : array of shape (d,), optional
            The estimate by default.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> [[low, high]] = region.crossings([0.0, 1.0], level=0.5)
        >>> bool(low < 0 < high)
        True
        """
        lines, single = as_directions(direction, self.names, "direction")
        start = None
        if origin is not None:
            start = as_vector(origin, "origin", self.objective.d) - self.estimate
            start = np.broadcast_to(start, lines.shape)
        ends = list(zip(*intervals(self._geometry.lines(start, lines)), strict=True))

        def at(used: Level) -> Any:
            spans = [covered(low, high, used.q) for low, high in ends]
            return spans[0] if single else spans

        return self._at_levels(level, at)

    # Bounds

    def ellipsoid(self, level: Any = 0.9) -> Any:
        """Return an outer ellipsoid, by one secular equation for each set.

        It is {a : (a - estimate)ᵀH(a - estimate) <= radius} with H = ΦᵀWΦ/n + λP, in the
        directions that change fitted values. Costs one symmetric eigendecomposition of size k for
        each of the m - 1 sets, k = rank, and the memory of a batch of sets (128 MB, or a few k×k
        matrices if these are larger); no semidefinite programme is solved.

        Parameters
        ----------
        level : float or sequence of floats, default 0.9

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> outer = region.ellipsoid(level=0.9)
        >>> bool(outer.contains(region.estimate))
        True
        """
        o, gamma = self.objective, self._geometry.radii()
        matrix, each = o.forward.T @ o.forward, gamma[None, :]

        def at(used: Level) -> Ellipsoid:
            radius = float(order_statistic(gamma, used.q))
            status, reason = self._geometry.status(each, each, used, None, hidden=False)
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

    # Boundedness

    def bounded(self, level: Any = 0.9) -> Any:
        """Say whether the region is bounded, with a certificate either way where there is one.

        For full-rank kernels with signs this is a matter of counting. Otherwise it takes one
        symmetric eigendecomposition of size k for each of the m - 1 sets, k = rank: minutes for a
        kernel with n = 1,000.

        Parameters
        ----------
        level : float or sequence of floats, default 0.9

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> bool(region.bounded(level=0.9))
        True
        """
        return self._at_levels(level, self._geometry.boundedness)

    @property
    def max_bounded_level(self) -> float:
        """The largest level at which the region is certainly bounded; 0 if there is none.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
        >>> ua.confidence_region(LinearRegression(), X, y, random_state=0).max_bounded_level
        0.99
        """
        return max(0, self.m - self._geometry.free.smallest_bounded_q) / self.m

    # Sampling

    def sample(
        self,
        size: int,
        level: float = 0.9,
        random_state: Any = None,
        norm_bound: float | None = None,
        thinning: int | None = None,
    ) -> Array:
        """Return members of the region, by hit-and-run from the estimate, shape (size, d).

        Each step draws a random direction, finds the intervals of the region on that line and a
        uniform point of them. Every sample has been accepted by `contains`. A step of the 16 chains
        takes about 32 m k² multiplications, k = rank, with a table of m k² numbers, or 32 m n k
        where that would be larger than 8 MB.

        Parameters
        ----------
        size : int
        level : float
        random_state : int, Generator, RandomState or None
        norm_bound : float, optional
            Sample within the ball of that norm (see `interval`). Needed where the region is
            unbounded.
        thinning : int, optional
            Steps between two samples of a chain; 2 k by default.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=50, d=1, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> members = region.sample(20, level=0.9, random_state=0)
        >>> members.shape, bool(region.contains(members, level=0.9).all())
        ((20, 2), True)
        """
        check_sampling(size, thinning, random_state)
        check_norm_bound(norm_bound)
        used = self.level(level)
        if norm_bound is None and not self.bounded(level):
            raise NotAvailable(
                f"sampling needs a bounded region. {self.bounded(level)} With norm_bound=B the "
                "sample is taken within the ball."
            )
        if not self.contains(self.estimate, level):
            raise self._no_member(used)
        if norm_bound is not None:
            self._require_inside(norm_bound)
            verdict = self.bounded(level)
            if self.objective.design.intercept and not verdict:
                one = np.zeros(self.objective.d)
                one[0] = 1.0
                if self.reach(one, level) == np.inf:
                    raise NotAvailable(
                        f"sampling needs a bounded region. {verdict} The norm bound does not "
                        "bound the intercept."
                    )

        def members(origins: Array, directions: Array) -> list[Array]:
            low, high = intervals(self._geometry.lines_to_walk(origins - self.estimate, directions))
            spans = [covered(low[j], high[j], used.q) for j in range(len(origins))]
            if norm_bound is None and any(np.isinf(span).any() for span in spans):
                raise NotAvailable(
                    "sampling needs a region that is bounded beyond rounding, and on some lines "
                    "this one has no end. Sample within a ball: sample(size, norm_bound=B)."
                )
            return self._confined(spans, origins, directions, norm_bound)

        axes = self.objective.back

        def directions(rng: np.random.Generator, chains: Array) -> Array:
            return rng.standard_normal((len(chains), axes.shape[1])) @ axes.T

        steps = 2 * axes.shape[1] if thinning is None else thinning
        return hit_and_run(
            self.estimate,
            directions,
            members,
            lambda a: self.contains(a, level),
            size,
            random_state,
            steps,
        )

    # Inside

    @cached_property
    def _description(self) -> Description:
        return self._describe().with_line("bounded", self._bounded_in_words())

    def _bounded_in_words(self) -> str:
        if self.objective.n > _LARGEST_TO_EXAMINE:
            return "not examined for so many rows: ask region.bounded(level)"
        try:
            highest = self.max_bounded_level
        except NotAvailable:
            return "not known: only membership and tests are available here"
        if highest >= 1 - 1.5 / self.m:
            return "at every level, in fitted values at the inputs"
        if highest <= 0:
            return "known to be so at no level: region.bounded(level) says why and what to do"
        return f"up to level {highest:.4g}; region.bounded(level) says more"

    @property
    def _root_weights(self) -> Array:
        return np.sqrt(self.objective.w)

    @cached_property
    def _geometry(self) -> Geometry:
        perturbations = self._engine.perturbations
        return Geometry(self.objective, perturbations, self.tie_order, self.estimate, self.noise)

    def _drawn_back(self, a: Array, used: Level) -> Array:
        """Move points towards the estimate until they are members, as far as that takes, (N, d).

        The region is star convex around the estimate, a member of every region that has one.
        Where K is nearly singular the coefficients of a boundary point are huge, and rounding their
        fitted values can take it across the boundary.
        """
        points, waiting = a.copy(), np.arange(len(a))
        for share in _SHARES:
            waiting = waiting[~np.asarray(self.contains(points[waiting], float(used)))]
            if not len(waiting):
                break
            points[waiting] = self.estimate + share * (a[waiting] - self.estimate)
        return points

    def _bounds(
        self, g: Array, ball: BallChart | None, norm_bound: float | None, *, inner: bool
    ) -> Callable[[Level], dict[str, Any]]:
        """Return what makes the fields of a result at one level; the sets are made once."""
        geometry, middle = self._geometry, g @ self.estimate
        up, down, hidden = geometry.outer(g, ball, norm_bound)
        rounding = _ROUNDING * (np.abs(g) @ np.abs(self.estimate))  # of the middle

        def at(used: Level) -> dict[str, Any]:
            upper = middle + order_statistic(up, used.q) + rounding
            lower = middle - order_statistic(down, used.q) - rounding
            status, reason = geometry.status(up, down, used, norm_bound, hidden=bool(hidden.any()))
            a = None
            if inner and status is not Status.EMPTY:
                a = geometry.attained(g, ball, norm_bound, used, self.seed)
                a = self._drawn_back(a.reshape(-1, a.shape[-1]), used).reshape(a.shape)
            return self._fields(used, g, lower, upper, status, reason, a)

        return at
