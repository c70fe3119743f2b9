"""A confidence region: the candidates whose rank is not extreme, and the geometry about them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from unassuming._typing import Array
from unassuming.inputs import as_directions, as_functionals, as_vector, check_sampling
from unassuming.ranking import Level
from unassuming.regions._answers import answer, ball_for, band_question
from unassuming.regions._describe import Description, describe
from unassuming.regions._membership import Membership
from unassuming.regions._question import Call, Question
from unassuming.regions._results import Band, Interval
from unassuming.regions.shapes import Shape, shape_of


@final
class Region(Membership):
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
    (50, 100, Symmetric(), ['intercept', 'x0', 'x1'])
    >>> print(region.shape)
    quadratic: the objective is quadratic and weighted by its Hessian
    >>> region.rank(region.estimate), region.contains(coefficients, level=0.9)
    (1, True)
    >>> region.perturbations.apply(y).shape, region.tie_order.shape, region.inputs.shape
    ((99, 50), (100,), (50, 2))
    >>> region.exact_crossings
    True
    """

    @cached_property
    def shape(self) -> Shape:
        """The geometry in use; printed, it says which one it is, and why."""
        return shape_of(self.problem, self._engine)

    @property
    def exact_crossings(self) -> bool:
        """Whether `crossings` and `reach` are exact rather than found on a grid."""
        return self.shape.exact

    # Lines

    def reach(self, directions: Any, level: Any = 0.9) -> Any:
        """Return how far rays from the estimate stay in the region.

        The largest t such that all of estimate + [0, t] · direction belongs to the region: infinite
        if the ray never leaves it, minus infinity if the estimate is outside. Quadratic regions are
        star convex, so nothing lies beyond; other regions may go on after a gap, see `crossings`.

        Parameters
        ----------
        directions : array of shape (d,) or (N, d), name or list of names
            Directions in the coefficients; t multiplies them as they are. A name out of
            ``region.names`` stands for that coefficient.
        level : float, sequence of floats, or None, default 0.9
            A sequence gives a dictionary. None gives all levels: shape (N, m - 1), column q - 1 for
            level 1 - q/m.

        Returns
        -------
        float for one direction, array of shape (N,) for several

        Examples
        --------
        >>> t = region.reach("x0", level=0.9)
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

    def crossings(self, direction: Any, level: Any = 0.9, origin: Any = None) -> Any:
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
        level : float or sequence of floats, default 0.9
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

    def ellipsoid(self, level: Any = 0.9) -> Any:
        """Return an outer ellipsoid, for quadratic objectives with weighting='hessian'.

        It is {a : (a - estimate)ᵀH(a - estimate) <= squared_radius} with H = ΦᵀWΦ/n + λP, in the
        directions that change fitted values.

        Parameters
        ----------
        level : float or sequence of floats, default 0.9
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

    def interval(
        self,
        functionals: Any = None,
        level: Any = 0.9,
        norm_bound: float | None = None,
        inner: bool = False,
    ) -> Any:
        """Bound linear functionals of the coefficients, all at once (simultaneously).

        All levels come from one computation: a factorisation of a k×k matrix for each of the m - 1
        sets, k = rank, in batches of 128 MB. ``inner=True`` adds a search, in closed form for
        quadratic objectives and along lines for others (seconds for LASSO and SVR, minutes for
        kernel Huber and objectives known by membership only). ``KernelHuber`` and
        ``HuberRegressor`` have no outer bounds but those of the norm bound alone, and logistic
        regression has none for its coefficients.

        Parameters
        ----------
        functionals : array of shape (d,) or (N, d), name or list of names, optional
            Each row g stands for gᵀa, and a name out of ``region.names`` for that coefficient.
            None: every coefficient.
        level : float or sequence of floats, default 0.9
            A sequence gives a dictionary.
        norm_bound : float, optional
            An assumption: ‖coef‖ <= B (the penalised coefficients) for features, and ‖f‖ <= B in
            the norm of the kernel for kernels.
        inner : bool, default False
            Also search for members that come near the bounds, and return them as witnesses.

        Returns
        -------
        Interval, or a dictionary of them for several levels

        Examples
        --------
        >>> print(region.interval())
        Interval of 3 functionals at level 0.9: every bound is finite and an honest outer bound of
        the region.
                      estimate      lower      upper
          intercept   0.449579   0.183833   0.720281
          x0           1.11028   0.780206    1.39273
          x1         -0.241735  -0.504641  0.0329173
        >>> difference = region.interval([0.0, 1.0, -1.0], level=0.95)
        >>> bool(difference.lower[0] < coefficients[1] - coefficients[2] < difference.upper[0])
        True
        """
        g, names = as_functionals(functionals, self.names)
        ball = ball_for(self.shape, norm_bound, inner=inner)
        question = Question(Call.INTERVAL, g, ball, inner=bool(inner))
        make = partial(Interval, names=names)
        return self._at_levels(level, answer(self.shape, question, self.caveat, make))

    def band(
        self,
        X: Any,
        level: Any = 0.9,
        norm_bound: float | None = None,
        target: str | None = None,
        inner: bool = False,
    ) -> Any:
        """Return a simultaneous band: honest outer bounds at every input, from one joint region.

        Without a norm bound the band covers the ideal representation, which agrees with the
        noise-free function at the training inputs and need not elsewhere. Time and memory are those
        of `interval`; a full-rank kernel with n = 2,000 takes a minute or two, and a quarter of an
        hour with a norm bound, in less than 1 GB.

        For a classifier the band is that of E[y|x]. With at most 4 coefficients it comes from
        branch and bound, which stops when members attain each bound up to 2 % of the width, or
        after 20,000 boxes; it is honest wherever it stops, and ``reason`` says which it was. One
        search serves all inputs, so bounds are tighter for few inputs. Logistic regression has no
        outer bound beyond [-1, 1].

        Parameters
        ----------
        X : array or DataFrame
            Inputs, as the model takes them. The columns of a DataFrame are those of the data, in
            the same order.
        level : float or sequence of floats, default 0.9
            A sequence gives a dictionary.
        norm_bound : float, optional
            An assumption: the norm of the function, or of the penalised coefficients, is at most B.
        target : {"representation", "function"}, optional
            ``"function"`` covers the function itself between the training inputs too; it needs a
            kernel and a norm bound, and is the default with these.
        inner : bool, default False
            Also search for members that come near the bounds, and return them as witnesses.

        Returns
        -------
        Band, or a dictionary of them for several levels

        Examples
        --------
        >>> X, y, f = ua.datasets.sine(n=20, random_state=0)
        >>> kernel = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8)
        >>> region = ua.confidence_region(kernel, X, y, random_state=0)
        >>> region.band([[2.0], [7.0]]).status.name
        'UNBOUNDED'
        >>> band = region.band([[2.0], [7.0]], norm_bound=30)
        >>> print(band)
        Band of the function itself at 2 inputs at level 0.9, given a norm of at most 30 (your
        assumption): every bound is finite and an honest outer bound of the region.
          x0  estimate     lower    upper
          2    1.09133  -17.4484  19.7186
          7    3.34613  -17.0953  20.4288
        """
        question = band_question(self.shape, X, norm_bound, target, inner=inner)
        covers = "function" if question.function else "representation"
        make = partial(Band, X=X, target=covers)
        return self._at_levels(level, answer(self.shape, question, self.caveat, make))

    def bounded(self, level: Any = 0.9) -> Any:
        """Return whether the region is bounded, with a certificate either way where there is one.

        Available for quadratic objectives and least-squares classifiers. It takes one symmetric
        eigendecomposition of size k for each of the m - 1 sets, k = rank (minutes for a kernel with
        n = 1,000); for full-rank kernels with signs it is a matter of counting.

        Parameters
        ----------
        level : float or sequence of floats, default 0.9
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
        0.99
        """
        return self.shape.largest_bounded_rank() / self.m

    def sample(
        self,
        size: int,
        level: float = 0.9,
        random_state: Any = None,
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
        level : float, default 0.9
        random_state : int, Generator, RandomState or None
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

    def __str__(self) -> str:
        return self._description().text()

    def _repr_html_(self) -> str:
        return self._description().html()

    def _description(self) -> Description:
        tuned = [] if self.tuning is None else [("tuned", str(self.tuning))]
        words = describe(self.problem, self.m)
        return words.with_lines(*self.shape.lines_of_print(), *tuned)
