"""A confidence region: the candidates whose rank is not extreme, and the geometry about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np

from unassuming._typing import Array
from unassuming.inputs import as_directions, as_vector, check_norm_bounds, check_sampling
from unassuming.ranking import Level
from unassuming.regions._answers import ball_for
from unassuming.regions._describe import Description, describe
from unassuming.regions._explain import Language
from unassuming.regions._norm_bounds import NormBounds
from unassuming.regions._summaries import Summaries
from unassuming.regions.shapes import Shape, shape_of


@final
class Region(Summaries):
    """Exact confidence regions of all admissible levels, from one set of transformations.

    Built by `unassuming.confidence_region`. A candidate is a coefficient vector, a callable on X
    as it was passed, or a fitted estimator. Every method takes one candidate and answers with a
    number, or several (an array of coefficient vectors, or a list) and answers with an array.

    The rank of the unperturbed statistic among the m statistics decides membership: the region of
    level 1 - q/m holds the candidates of rank at most m - q. The geometry of the region (lines,
    bounds, samples) is that of its `shape`.

    Attributes
    ----------
    n, m : int
        Rows of positive weight; number of statistics.
    noise : Noise
        The assumption on the noise.
    objective : Objective
        What the model minimises, in the theory's symbols.
    names : list of str
        The coefficients, in their order.
    estimate : array of shape (d,)
        The point estimate, polished until its gradient is zero to rounding.
    shape : Shape
        The geometry in use; ``print(region.shape)`` says which one it is, and why.
    weighting, ties : object
        The weighting Ψ of the gradient; ``"random"`` or ``"conservative"``.
    perturbations : Perturbations
        The drawn transformations; ``perturbations.apply(r)`` shows them at work.
    tie_order : array of shape (m,)
        The permutation π that orders equal statistics.
    seed : int
        ``random_state=seed`` builds the same region again.
    estimator, inputs : object
        The model (not fitted here) and a copy of X, as they were passed.
    problem : Problem
        The data, the objective and the noise together.
    tuning : Tuning or None
        Where the hyper-parameters come from, for a region of `unassuming.tuned_region`.
    caveat : str
        Not empty if the region carries no coverage guarantee.

    Examples
    --------
    >>> X, y, coefficients = ua.datasets.linear(n=50, d=2, random_state=0)
    >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
    >>> region.n, region.m, region.noise, region.names
    (50, 128, Symmetric(), ['intercept', 'x0', 'x1'])
    >>> print(region.shape)
    quadratic: the objective is quadratic and weighted by its Hessian
    >>> region.rank(region.estimate), region.contains(coefficients, level=0.9)
    (1, True)
    >>> region.perturbations.apply(y).shape, region.tie_order.shape, region.inputs.shape
    ((127, 50), (128,), (50, 2))
    >>> region.exact_crossings
    True
    """

    @property
    def shape(self) -> Shape:
        """The geometry in use; printed, it says which one it is, and why."""
        self._require_ordinary()
        return self._shape

    @cached_property
    def _shape(self) -> Shape:
        return shape_of(self.problem, self._engine)

    @property
    def exact_crossings(self) -> bool:
        """Whether `crossings` and `reach` are exact rather than found on a grid."""
        return self.shape.exact

    # Lines

    def reach(self, directions: Any, level: Any = 0.95) -> Any:
        """Return how far rays from the estimate stay in the region.

        The largest t such that all of estimate + [0, t] · direction belongs to the region: infinite
        if the ray never leaves it, minus infinity if the estimate is outside. Quadratic regions are
        star convex, so nothing lies beyond; other regions may go on after a gap, see `crossings`.

        Parameters
        ----------
        directions : array of shape (d,) or (N, d), name or list of names
            Directions in the coefficients; t multiplies them as they are. A name out of
            ``region.names`` stands for that coefficient.
        level : float, sequence of floats, or None, default 0.95
            A sequence gives a dictionary. None gives all levels: shape (N, m - 1), column q - 1 for
            level 1 - q/m.

        Returns
        -------
        float for one direction, array of shape (N,) for several

        Examples
        --------
        >>> t = region.reach("x0")
        >>> slope = np.array([0.0, 1.0, 0.0])
        >>> region.contains(region.estimate + 0.999 * t * slope)
        True
        >>> region.contains(region.estimate + 1.001 * t * slope)
        False
        """
        rows, single = as_directions(directions, self.names)
        if level is None:
            every = np.stack(self.shape.reach(rows, range(1, self.m)), axis=1)
            return every[0] if single else every

        def at(used: Sequence[Level]) -> list[Any]:
            ends = self.shape.reach(rows, [one.q for one in used])
            return [float(t[0]) if single else t for t in ends]

        return self._at_levels(level, at)

    def crossings(self, direction: Any, level: Any = 0.95, origin: Any = None) -> Any:
        """Return the closed intervals of t with origin + t · direction in the region.

        Sorted and disjoint, ±inf allowed. Single points [t, t] occur: for LASSO and SVR a sparse
        candidate can be a member while its neighbours are not. If `exact_crossings` is False, ends
        are found by bisection between points of a grid. They are true ends, but an interval between
        two points may be missed, and a member at the far end of the grid, 10⁶ times the size of the
        origin away, counts as unbounded.

        Parameters
        ----------
        direction : array of shape (d,) or (N, d), or name
            t multiplies it as it is. A name out of ``region.names`` stands for that coefficient.
            Several lines at once, which is faster than one by one, give a list.
        level : float or sequence of floats, default 0.95
            A sequence gives a dictionary.
        origin : array of shape (d,), optional
            The estimate by default.

        Returns
        -------
        array of shape (k, 2), or a list of such arrays

        Examples
        --------
        >>> [[low, high]] = region.crossings("x0", level=0.5)
        >>> bool(low < 0 < high)
        True
        """
        lines, single = as_directions(direction, self.names, "direction")
        start = self.estimate if origin is None else origin
        start = np.broadcast_to(as_vector(start, "origin", self.objective.d), lines.shape)

        def at(used: Sequence[Level]) -> list[Any]:
            found = self.shape.intervals(start, lines, [one.q for one in used])
            return [spans[0] if single else spans for spans in found]

        return self._at_levels(level, at)

    # Bounds

    def ellipsoid(self, level: Any = 0.95) -> Any:
        """Return an outer ellipsoid, for quadratic objectives with weighting='hessian'.

        It is {a : (a - estimate)ᵀH(a - estimate) <= squared_radius} with H = ΦᵀWΦ/n + λP, in the
        directions that change fitted values.

        Parameters
        ----------
        level : float or sequence of floats, default 0.95
            A sequence gives a dictionary.

        Returns
        -------
        Ellipsoid, or a dictionary of them for several levels

        Examples
        --------
        >>> region.ellipsoid(level=0.9).contains(region.estimate)
        True
        """
        return self._at_levels(level, lambda used: [self.shape.ellipsoid(one) for one in used])

    def bounded(self, level: Any = 0.95) -> Any:
        """Return whether the region is bounded, with a certificate either way where there is one.

        Available for quadratic objectives and least-squares classifiers. It takes one symmetric
        eigendecomposition of size k for each of the m - 1 sets, k = rank (minutes for a kernel with
        n = 1,000); for full-rank kernels with signs it is a matter of counting.

        Parameters
        ----------
        level : float or sequence of floats, default 0.95
            A sequence gives a dictionary.

        Returns
        -------
        Boundedness, or a dictionary of them for several levels

        Examples
        --------
        >>> bool(region.bounded(level=0.9))
        True
        """
        return self._at_levels(level, lambda used: [self.shape.bounded(one) for one in used])

    @property
    def max_bounded_level(self) -> float:
        """The largest level at which the region is certainly bounded; 0 if there is none.

        Available for quadratic objectives.

        Examples
        --------
        >>> region.max_bounded_level
        0.9921875
        """
        return self.shape.largest_bounded_rank() / self.m

    def norm_lower_bound(self, level: Any = 0.95) -> Any:
        """Return a lower confidence bound of the norm of the function.

        Every member of the region has at least this norm, so the norm of the true function is at
        least this large with probability at least ``level``. A smaller norm bound is refuted by the
        data. No upper bound follows from the data alone. The norm is the one that ``norm_bound``
        refers to: ‖f‖ of the kernel, or ‖coef‖ of the penalised coefficients (docs/theory.md 4.4).

        Available for quadratic objectives; it takes about as long as a band with a norm bound.

        Parameters
        ----------
        level : float or sequence of floats, default 0.95
            A sequence gives a dictionary.

        Returns
        -------
        float, or a dictionary of them for several levels; rounded down, and infinite if the region
        is empty

        Examples
        --------
        >>> lowest = region.norm_lower_bound(level=0.9)
        >>> bool(0 < lowest <= np.linalg.norm(region.estimate[1:]))
        True
        """
        return self._at_levels(
            level, lambda used: [self.shape.norm_lower_bound(one) for one in used]
        )

    def norm_bounds_table(
        self, X: Any, norm_bounds: Sequence[float] | None = None, level: float = 0.95
    ) -> NormBounds:
        """Compute the band for several norm bounds, to see how much depends on the choice.

        Parameters
        ----------
        X : array or DataFrame
            Inputs of the band.
        norm_bounds : sequence of floats, optional
            By default 1, 2, 4 and 8 times the norm of the estimate.
        level : float, default 0.95

        Returns
        -------
        NormBounds

        Examples
        --------
        >>> X, y, f = ua.datasets.sine(n=20, random_state=0)
        >>> kernel = ua.confidence_region(KernelRidge(kernel="rbf"), X, y, random_state=0)
        >>> kernel.norm_bounds_table(X[:3], [20, 40]).norm_bound
        array([20., 40.])
        """
        if norm_bounds is None:
            norm_bounds = [factor * self.suggest_norm_bound() / 2 for factor in (1, 2, 4, 8)]
        given = check_norm_bounds(norm_bounds)
        least = self.norm_lower_bound(level)
        bands = [self.band(X, level=level, norm_bound=bound, method="joint") for bound in given]
        return NormBounds.of(bands, given, least)

    def sample(
        self,
        size: int,
        level: float = 0.95,
        random_state: Any = 0,
        norm_bound: float | None = None,
        thinning: int | None = None,
    ) -> Array:
        """Return members of the region, by hit-and-run from the estimate, shape (size, d).

        Each step draws a random line through the current point and moves to a uniform point of the
        region on that line; for LASSO and SVR some steps keep zeros as they are, so that sparse
        members are among the samples. `contains` has accepted every sample. No other law is claimed
        for them, and parts of the region that no line joins to the rest may be missed. A region
        without end on some line is refused.

        Parameters
        ----------
        size : int
            Number of samples, from 16 chains.
        level : float, default 0.95
        random_state : int, Generator, RandomState or None, default 0
            Source of the walks.
        norm_bound : float, optional
            Sample within the ball of that norm (see `interval`). Needed where the region is
            unbounded.
        thinning : int, optional
            Steps between two samples of a chain; 2 k by default for quadratic objectives, k = rank,
            else d.

        Returns
        -------
        array of shape (size, d)

        Examples
        --------
        >>> members = region.sample(20, level=0.9, random_state=0)
        >>> members.shape, bool(region.contains(members, level=0.9).all())
        ((20, 3), True)
        """
        check_sampling(size, thinning, random_state)
        ball = ball_for(self.shape, norm_bound)
        return self.shape.sample(size, self.level(level), ball, random_state, thinning)

    # In print

    def text(self, language: Language = Language.PYTHON, model: str | None = None) -> str:
        """Return what is printed, with advice for Python or for the command line.

        Parameters
        ----------
        language : Language, default Language.PYTHON
            Whom the advice is for.
        model : str, optional
            What to call the model; by default the estimator.

        Returns
        -------
        str

        Examples
        --------
        >>> region.text() == str(region)
        True
        """
        words = self._description(language)
        return (words if model is None else replace(words, model=model)).text()

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self._description(Language.PYTHON).html()

    def _description(self, language: Language = Language.PYTHON) -> Description:
        tuned = [] if self.tuning is None else [("tuned", str(self.tuning))]
        words = describe(self.problem, self.m)
        return words.with_lines(*self._shape.lines_of_print(language), *tuned)
