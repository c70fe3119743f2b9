"""A confidence region: the candidates whose rank is not extreme, and the geometry about them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np

from unassuming._errors import NotAvailable, complaint, levels_to_user
from unassuming._typing import Array, IntArray
from unassuming._words import shown
from unassuming.inputs import (
    as_directions,
    as_seed,
    as_vector,
    check_norm_bound,
    check_norm_bounds,
    check_sampling,
)
from unassuming.membership import Candidates, Engine, resolve
from unassuming.noise import Noise, Perturbations
from unassuming.ranking import Level, RankTest, as_double, as_levels
from unassuming.regions.answers import Answers, How
from unassuming.regions.describe import PUBLISHED_CLASSIFIER, Description, caveat_of, describe
from unassuming.regions.diagnosis import Diagnosis, columns_of, diagnose
from unassuming.regions.explain import Language
from unassuming.regions.lack_of_fit import LackOfFit, lack_of_fit
from unassuming.regions.problem import Problem, Tuning
from unassuming.regions.results import Levels, NormBounds
from unassuming.regions.shapes import Shape, shape_of
from unassuming.regions.single.functions import Assumption
from unassuming.regions.single.hypotheses import FTest
from unassuming.regions.single.summary import Summary
from unassuming.regions.views import View, make_view

T = TypeVar("T")


@final
class Region:
    """Exact confidence regions of all admissible levels, from one set of transformations.

    Built by `unassuming.confidence_region`. A candidate is a coefficient vector, a callable on X
    as it was passed, or a fitted estimator. Every method takes one candidate and answers with a
    number, or several (an array of coefficient vectors, or a list) and answers with an array.

    The rank of the unperturbed statistic among the m statistics decides membership: the region of
    level 1 - q/m holds the candidates of rank at most m - q. The geometry of the region (lines,
    bounds, samples) is that of its `shape`. A level is rounded up to the next multiple of 1/m, and
    a sequence of levels gives a dictionary.

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
    enumerated : bool
        Whether all transformations of a finite group are listed.
    perturbations : Perturbations
        The transformations; ``perturbations.apply(r)`` shows them at work.
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
    >>> region.n, region.m, region.noise, region.names, region.level(0.95)
    (50, 128, Symmetric(), ['intercept', 'x0', 'x1'], Level(q=6, m=128))
    >>> print(region.shape)
    quadratic: the objective is quadratic and weighted by its Hessian
    >>> region.rank(region.estimate), region.smallest_level(region.estimate)
    (1, 0.0078125)
    >>> region.contains(coefficients), region.contains(region.estimate + 10, level=[0.5, 0.9])
    (True, {0.5: False, 0.9: False})
    >>> print(region.test(lambda X: 10 + 0 * X[:, 0]))
    Rank 128 of 128, p-value <= 0.0079: outside every region, up to level 0.9921875.
    >>> region.pvalue([region.estimate, region.estimate + 10])
    array([1.       , 0.0078125])
    >>> region.statistics([coefficients, 2 * coefficients]).shape
    (2, 128)
    >>> region.perturbations.apply(y).shape, region.tie_order.shape, region.inputs.shape
    ((127, 50), (128,), (50, 2))
    >>> bool(region.bounded(level=0.9)), region.max_bounded_level, region.exact_crossings
    (True, 0.9921875, True)
    >>> region.ellipsoid(level=0.9).contains(region.estimate)
    True
    >>> region.text() == str(region)
    True
    """

    def __init__(self, problem: Problem, engine: Callable[[], Engine]) -> None:
        self.problem = problem
        self.objective, self.estimator = problem.objective, problem.estimator
        self.weighting, self.ties = problem.weighting, problem.ties
        self.enumerated, self.seed = problem.enumerated, problem.seed
        self.caveat = "" if problem.guaranteed else PUBLISHED_CLASSIFIER
        self.tuning: Tuning | None = None
        self._make, self._warned = engine, False
        self._answers = Answers(self)

    @cached_property
    def _engine(self) -> Engine:
        """The transformations and what compares statistics, made when they are needed."""
        return self._make()

    @property
    def n(self) -> int:
        """Number of rows of positive weight."""
        return self.problem.n

    @property
    def m(self) -> int:
        """Number of statistics, the unperturbed one included."""
        return self._engine.m

    @property
    def noise(self) -> Noise:
        """The assumption on the noise."""
        return self.problem.noise

    @property
    def names(self) -> list[str]:
        """The names of the coefficients, in their order."""
        return self.objective.names

    @property
    def tie_order(self) -> IntArray:
        """The order π of equal statistics."""
        return self._engine.order.pi

    @property
    def estimate(self) -> Array:
        """The point estimate, polished until its gradient is zero to rounding, shape (d,)."""
        return self.problem.estimate

    @property
    def inputs(self) -> Any:
        """A copy of X as it was passed."""
        return self.problem.data("the inputs need").X

    @property
    def perturbations(self) -> Perturbations:
        """The transformations."""
        self.problem.data("the perturbations need")
        return Perturbations(self.noise, self._engine.drawn, self.n, self.m)

    # Membership, for the following methods:
    # candidates : array of shape (d,) or (N, d), callable, fitted estimator, or a list of these

    def statistics(self, candidates: Any) -> Array:
        """Return Z_0, ..., Z_{m-1} of candidates: shape (m,) for one, (N, m) for several."""
        found = self._resolved(candidates)
        statistics = self._engine.statistics(found.known)
        return statistics[0] if found.single else statistics

    def rank(self, candidates: Any) -> Any:
        """Return the position of Z_0 among the statistics of candidates, from 1 to m."""
        found = self._resolved(candidates)
        ranks = self._engine.rank(found.known)
        return int(ranks[0]) if found.single else ranks

    def smallest_level(self, candidates: Any) -> Any:
        """Return rank / m: candidates lie in the regions of this and all higher levels.

        A candidate of rank m lies in no region.
        """
        return self.rank(candidates) / self.m

    def pvalue(self, candidates: Any) -> Any:
        """Return the p-values of the hypotheses that candidates are the regression function."""
        return (self.m - self.rank(candidates) + 1) / self.m

    def contains(self, candidates: Any, level: float | Sequence[float] = 0.95) -> Any:
        """Return whether candidates lie in the region of that level, or of several levels."""
        ranks = self.rank(candidates)
        return self.at_levels(level, lambda used: [ranks <= one.largest_rank for one in used])

    def test(self, candidate: Any) -> RankTest:
        """Test the hypothesis that one candidate is the regression function at the inputs.

        Parameters
        ----------
        candidate : array of shape (d,), callable or fitted estimator

        Returns
        -------
        RankTest
            Rank, p-value, statistics, and a caveat if the p-value is not a valid test.
        """
        found = self._resolved(candidate)
        if not found.single:
            raise ValueError(
                "there are several candidates: a test takes one candidate, given "
                f"{len(found.known)}. Use rank() or pvalue() for several."
            )
        at = self._engine.state(found.known)
        rank = int(self._engine.rank(at)[0])
        caveat = caveat_of(self.problem, found, at, rank, self.m)
        return RankTest(rank, self.m, self._engine.statistics(at)[0], caveat)

    def level(self, level: float) -> Level:
        """Return a level as the integers (q, m), rounded up to the next multiple of 1/m."""
        return Level.at_least(level, self.m)

    # Single numbers, and all at once

    def interval(
        self,
        functionals: Any = None,
        level: Any = 0.95,
        *,
        simultaneous: bool = False,
        norm_bound: float | None = None,
        model_error: float | None = None,
        noise_scale: float | None = None,
        inner: bool = False,
        method: str = "auto",
        cells: Any = None,
        cell_weights: str = "design",
        cell_estimate: str = "mean",
    ) -> Any:
        """Bound linear functionals of the coefficients, one at a time or all at once.

        One at a time the intervals are those of `summary`. All at once they come from balanced
        cells or from the joint region, whose bounds all levels share.

        Which options go together (with the default of the others):

        ==============================  ==========================  ===============================
        one at a time                   ``method``                  other options
        ==============================  ==========================  ===============================
        nothing assumed                 auto, cells, pairs,         ``cells``, ``cell_weights``,
                                        halves, palmrt, t           ``cell_estimate``
        ``norm_bound``,                 auto, cells                 ``cells``, ``noise_scale``
        ``model_error``
        ==============================  ==========================  ===============================

        ==============================  ==========================  ===============================
        ``simultaneous=True``           ``method``                  other options
        ==============================  ==========================  ===============================
        nothing assumed                 auto, joint, cells          ``inner`` (joint), ``cells``
        ``norm_bound``                  auto, joint, cells          ``inner`` (joint), ``cells``,
                                                                    ``noise_scale``
        ``model_error``                 auto, cells                 ``cells``, ``noise_scale``
        ==============================  ==========================  ===============================

        Parameters
        ----------
        functionals : array of shape (d,) or (N, d), name or list of names, or Functional, optional
            Each row g stands for gᵀa, and a name out of ``region.names`` for that coefficient.
            `unassuming.functionals` has values, differences, averages and slopes of the function.
            None: every coefficient.
        level : float or sequence of floats, default 0.95
            Groups of rows are chosen for the highest level; intervals of calls with different
            levels need not be nested.
        simultaneous : bool, default False
            Whether all bounds hold at once. If not, each interval has its level by itself.
        norm_bound : float, optional
            An assumption: ‖coef‖ <= B (the penalised coefficients) for features, and ‖f‖ <= B in
            the norm of the kernel for kernels. One at a time the narrower one of cells and joint
            region is used for each functional, by the width predicted before y is seen.
        model_error : float, optional
            An assumption: the features miss the function by at most this much at every input.
        noise_scale : float, optional
            A guess of the size of the noise, made without looking at y. With a norm bound or a
            model error it determines the cells; a wrong guess affects the width, not the coverage.
            The default is B√k(x, x)/40, or ten times the model error without a norm bound.
        inner : bool, default False
            Also search for members that come near the bounds, and return them as witnesses.
        method, cells, cell_weights, cell_estimate
            One at a time: see `summary`. With ``simultaneous`` the method is ``"joint"`` (this
            region), ``"cells"`` (a power of two of them) or ``"auto"`` (the narrower one by the
            width predicted before y is seen).

        Returns
        -------
        Interval, or a dictionary of them for several levels

        Examples
        --------
        >>> single = region.interval("x0", level=0.9)
        >>> together = region.interval(level=0.9, simultaneous=True)
        >>> bool(together.lower[1] < single.lower[0] < single.upper[0] < together.upper[1])
        True
        >>> region.interval([0.0, 1.0, -1.0]).method
        'cells'
        """
        assumed = Assumption(norm_bound, model_error, noise_scale)
        options = level, method, cells, cell_weights, cell_estimate
        return self._answers.interval(
            functionals, How(*options, assumed, simultaneous=simultaneous, inner=inner)
        )

    def band(
        self,
        X: Any,
        level: Any = 0.95,
        *,
        simultaneous: bool = True,
        target: str | None = None,
        norm_bound: float | None = None,
        model_error: float | None = None,
        noise_scale: float | None = None,
        inner: bool = False,
        method: str = "auto",
        cells: Any = None,
        cell_weights: str = "design",
        cell_estimate: str = "mean",
    ) -> Any:
        """Return a band: honest bounds at every input, at all inputs at once or one at a time.

        Without a norm bound the band covers the true representation, which agrees with the
        regression function at the training inputs and need not elsewhere. For a classifier it is
        that of E[y|x]: with at most 4 coefficients it comes from branch and bound, which is honest
        wherever it stops. Bands of regression quantiles come from the same search.

        Parameters
        ----------
        X : array or DataFrame
            Inputs, as the model takes them.
        simultaneous : bool, default True
            Whether all bounds hold at once. If not, the interval at each input has its level by
            itself, and a kernel needs ``norm_bound``.
        target : {"representation", "function"}, optional
            ``"function"`` covers the function itself between the training inputs too; it needs a
            kernel and a norm bound, or a model error, and is the default with these for kernels.
        level, norm_bound, model_error, noise_scale, inner, method, cells, cell_weights, \
cell_estimate
            As for `interval`.

        Returns
        -------
        Band, or a dictionary of them for several levels

        Examples
        --------
        >>> X, y, f = ua.datasets.sine(n=20, random_state=0)
        >>> region = ua.confidence_region(KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8), X, y)
        >>> region.band([[2.0], [7.0]]).status.name
        'UNBOUNDED'
        >>> band = region.band([[2.0], [7.0]], level=0.9, norm_bound=30)
        >>> band.target, band.method, bool((band.lower < f([[2.0], [7.0]])).all())
        ('function', 'joint region', True)
        """
        assumed = Assumption(norm_bound, model_error, noise_scale)
        options = level, method, cells, cell_weights, cell_estimate
        return self._answers.band(
            X, target, How(*options, assumed, simultaneous=simultaneous, inner=inner)
        )

    def summary(
        self,
        level: float = 0.95,
        functionals: Any = None,
        *,
        simultaneous: bool = False,
        method: str = "auto",
        cells: Any = None,
        cell_weights: str = "design",
        cell_estimate: str = "mean",
    ) -> Summary:
        """Return estimate, interval and p-value of each coefficient, one at a time.

        The intervals are exact in finite samples under the assumption on the noise alone
        (docs/theory.md 11). Each has its level by itself. They do not depend on the penalty or the
        loss of the model: the target is the true coefficient, the one that reproduces the
        regression function at the inputs.

        Least squares in groups of rows (cells) estimates a number several times. The groups are a
        function of the inputs, the weights, the noise class and the level, never of y, and nothing
        is drawn. Among rows with equal inputs they also depend on the order of the rows: fix it
        before looking at y. With few rows the estimates of many halves of the rows give an interval
        with at least its level.

        Parameters
        ----------
        level : float, default 0.95
            The attained levels are at least this.
        functionals : array of shape (d,) or (N, d), name or list of names, optional
            Other linear functionals of the coefficients; None: every coefficient. (For
            `InstrumentalRegression` only the endogenous column, unless ``simultaneous``.)
        simultaneous : bool, default False
            Whether all intervals hold at once; p-values are then adjusted for that.
        method : str, default "auto"
            ``"cells"`` (signs may change), ``"pairs"`` (rows may be swapped), ``"halves"`` and
            ``"palmrt"`` (at least the level, for few rows) or ``"t"`` (spherical noise).
            ``"auto"`` chooses for each coefficient, before y is seen.
        cells : int or array of shape (n,), optional
            The number of cells, from 2 to 16 or 32, or one label for each row; to be chosen before
            looking at y. For a stream, a number of at most the cells that it has collected.
        cell_weights : {"design", "residuals"}, default "design"
            How the cells are weighted: by the inputs, or also by the size of their residuals, which
            pays if the noise is much larger in some cells than in others.
        cell_estimate : {"mean", "median"}, default "mean"
            How the cells are fitted: by least squares, or by least absolute deviations, which
            resist heavy tails.

        Returns
        -------
        Summary

        Examples
        --------
        >>> region.summary(functionals=["x0", "x1"]).to_frame().shape
        (2, 7)
        """
        options = level, method, cells, cell_weights, cell_estimate
        return self._answers.summary(functionals, How(*options, simultaneous=simultaneous))

    def hypothesis(
        self,
        functional: Any,
        value: Any = 0.0,
        *,
        level: float = 0.95,
        method: str = "auto",
        cells: Any = None,
        cell_weights: str = "design",
        cell_estimate: str = "mean",
        norm_bound: float | None = None,
        model_error: float | None = None,
        noise_scale: float | None = None,
    ) -> RankTest | FTest:
        """Test a hypothesis about one coefficient or functional, whatever the others are.

        Several functionals are tested at once: their hypothetical values make a nested model. The
        p-value of one functional is dual to its interval of `summary` at the same level: the value
        lies outside if and only if the p-value is at most one minus the attained level.

        Parameters
        ----------
        functional : name, list of names, array of shape (d,) or (k, d), or Functional
            What is tested.
        value : float or sequence of k floats, default 0
            The hypothetical value of each functional.
        level, method, cells, cell_weights, cell_estimate
            As for `summary`; the p-value is valid at every level.
        norm_bound, model_error, noise_scale
            As for `interval`. The p-value is then an upper bound, and one functional is tested.

        Returns
        -------
        RankTest, or FTest if the noise is spherical

        Examples
        --------
        >>> print(region.hypothesis("x0"))
        Hypothesis x0 = 0: p-value <= 0.00013 (rank 8192 of 8192).
        >>> region.hypothesis(["x0", "x1"], value=[1, 0]).tested
        'x0 = 1 and x1 = 0'
        """
        assumed = Assumption(norm_bound, model_error, noise_scale)
        options = level, method, cells, cell_weights, cell_estimate
        return self._answers.hypothesis(functional, value, How(*options, assumed))

    # Lines

    @property
    def shape(self) -> Shape:
        """The geometry in use; printed, it says which one it is, and why."""
        self.require_ordinary()
        return self._shape

    @cached_property
    def _shape(self) -> Shape:
        return shape_of(self._engine)

    @property
    def exact_crossings(self) -> bool:
        """Whether `crossings` and `reach` are exact rather than found on a grid."""
        return self.shape.exact

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
            None gives all levels: shape (N, m - 1), column q - 1 for level 1 - q/m.

        Examples
        --------
        >>> t, slope = region.reach("x0"), np.array([0.0, 1.0, 0.0])
        >>> region.contains([region.estimate + s * t * slope for s in (0.999, 1.001)])
        array([ True, False])
        """
        rows, single = as_directions(directions, self.names)
        if level is None:
            every = np.stack(self.shape.reach(rows, range(1, self.m)), axis=1)
            return every[0] if single else every

        def at(used: Sequence[Level]) -> list[Any]:
            ends = self.shape.reach(rows, [one.q for one in used])
            return [float(t[0]) if single else t for t in ends]

        return self.at_levels(level, at)

    def crossings(self, direction: Any, level: Any = 0.95, origin: Any = None) -> Any:
        """Return the closed intervals of t with origin + t · direction in the region, (k, 2).

        Sorted and disjoint, ±inf allowed. Single points [t, t] occur: for LASSO and SVR a sparse
        candidate can be a member while its neighbours are not. If `exact_crossings` is False, ends
        are found by bisection between points of a grid. They are true ends, but an interval between
        two points may be missed, and a member at the far end of the grid counts as unbounded.

        Parameters
        ----------
        direction : array of shape (d,) or (N, d), or name
            t multiplies it as it is. Several lines at once give a list.
        level : float or sequence of floats, default 0.95
        origin : array of shape (d,), optional
            The estimate by default.

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

        return self.at_levels(level, at)

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
        region on that line. `contains` has accepted every sample. No other law is claimed for them,
        and parts of the region that no line joins to the rest may be missed. A region without end
        on some line is refused.

        Parameters
        ----------
        size : int
            Number of samples, from 16 chains.
        level : float, default 0.95
        random_state : int, Generator, RandomState or None, default 0
            Source of the walks.
        norm_bound : float, optional
            Sample within the ball of that norm (see `interval`).
        thinning : int, optional
            Steps between two samples of a chain; 2 k by default for quadratic objectives, k = rank,
            else k.

        Examples
        --------
        >>> members = region.sample(20, level=0.9, random_state=0)
        >>> members.shape, bool(region.contains(members, level=0.9).all())
        ((20, 3), True)
        """
        check_sampling(size, thinning, random_state)
        check_norm_bound(norm_bound)
        rng = np.random.default_rng(as_seed(random_state))
        return self.shape.sample(size, self.level(level), rng, norm_bound, thinning)

    # Size

    def ellipsoid(self, level: Any = 0.95) -> Any:
        """Return an outer `Ellipsoid` at a level, for quadratic objectives, weighting "hessian".

        It is {a : (a - estimate)ᵀH(a - estimate) <= squared_radius} with H = ΦᵀWΦ/n + λP, in the
        directions that change fitted values.
        """
        return self.at_levels(level, lambda used: [self.shape.ellipsoid(one) for one in used])

    def bounded(self, level: Any = 0.95) -> Any:
        """Return whether the region of a level is bounded, with a certificate: a `Boundedness`.

        Available for quadratic objectives, least-squares classifiers and regression quantiles.
        """
        return self.at_levels(level, lambda used: [self.shape.bounded(one) for one in used])

    @property
    def max_bounded_level(self) -> float:
        """The largest level at which a quadratic region is certainly bounded; 0 if there is none.

        Available for quadratic objectives.
        """
        return self.shape.largest_bounded_rank() / self.m

    def norm_lower_bound(self, level: Any = 0.95) -> Any:
        """Return a lower confidence bound of the norm of the function, at a level.

        Every member of the region has at least this norm, so a smaller norm bound is refuted by the
        data. No upper bound follows from the data alone. The norm is the one that ``norm_bound``
        refers to: ‖f‖ of the kernel, or ‖coef‖ of the penalised coefficients (docs/theory.md 4.4).
        Available for quadratic objectives; infinite if the region is empty.

        Examples
        --------
        >>> lowest = region.norm_lower_bound(level=0.9)
        >>> bool(0 < lowest <= np.linalg.norm(region.estimate[1:]))
        True
        """
        lowest = self.shape.norm_lower_bound
        return self.at_levels(level, lambda used: [lowest(one) for one in used])

    def suggest_norm_bound(self) -> float:
        """Return twice the norm of the estimate: a heuristic from the data, not an assumption.

        A band that relies on it carries no guarantee: fix a norm bound before looking at the data
        (docs/howto/choose-a-norm-bound.md); ``norm_lower_bound`` says which the data refute.

        Examples
        --------
        >>> round(ua.confidence_region(Ridge(), X, y, random_state=0).suggest_norm_bound(), 2)
        2.22
        """
        return 2 * self.problem.design("a norm bound").ball().norm(self.estimate)

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
        bands = [self.band(X, level=level, norm_bound=bound, method="joint") for bound in given]
        return NormBounds.of(bands, given, self.norm_lower_bound(level))

    # Checks, and in print

    def diagnose(self) -> Diagnosis:
        """Look for evidence against the assumptions in the residuals of the estimate.

        Residuals are not the noise: the tests are indications, not proofs, in either direction.

        Examples
        --------
        >>> [indication.name for indication in region.diagnose().indications]
        ['symmetry', 'equal spread', 'no order']
        """
        return diagnose(self.problem, describe(self.problem, self.m))

    def lack_of_fit(self, most: int = 20) -> LackOfFit:
        """Look for features that the model lacks, by tests in enlarged models.

        A spline of each numeric column of X and products of two columns are added to the model, one
        at a time, and tested by `hypothesis` in the enlarged model. Which ones depends on the
        inputs alone. The p-values are adjusted for their number (Bonferroni).

        Parameters
        ----------
        most : int, default 20
            The largest number of features that are tested: splines first, then products of
            neighbouring columns. The result lists what was left out.

        Examples
        --------
        >>> X, y, f = ua.datasets.sine(n=200, random_state=0)
        >>> line = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> len(line.lack_of_fit(most=3).tests)
        1
        """
        if isinstance(most, bool) or not isinstance(most, int) or most < 1:
            remedy = "Leave it out for 20."
            raise ValueError(
                complaint("most", "is not a number of tests", "an integer >= 1", most, remedy)
            )
        self.require_ordinary()
        inputs = columns_of(self.problem.data("a test of lack of fit needs"))
        return lack_of_fit(self.problem, inputs, most)

    def report(
        self,
        path: Any,
        *,
        target: str = "y",
        title: str | None = None,
        levels: Sequence[float] | None = None,
        norm_bound: float | None = None,
    ) -> Path:
        """Write a report: one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
            Where to write it.
        target : str, default "y"
            The name of the output.
        title : str, optional
        levels : sequence of floats, optional
            Levels of the bands; the summary has the highest one. By default 0.95, 0.8 and 0.5, as
            far as the region has them.
        norm_bound : float, optional
            As for `band`.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     region.report(f"{folder}/report.html", target="yield").read_text()[:15]
        '<!doctype html>'
        """
        options: dict[str, Any] = {"levels": levels, "norm_bound": norm_bound}
        return Path(make_view(View.REPORT, self, path, target=target, title=title, **options))

    def text(self, language: Language = Language.PYTHON, model: str | None = None) -> str:
        """Return what is printed in a language, with another name for the model if one is given."""
        words = self._description()
        return (words if model is None else replace(words, model=model)).text()

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Region of {shown(self.estimator)}: n={self.n}, m={self.m}, {shown(self.noise)}>"

    def _repr_html_(self) -> str:
        return self._description().html()

    def _description(self) -> Description:
        tuned = [] if self.tuning is None else [("tuned", str(self.tuning))]
        known = [] if self.problem.not_ordinary else self._shape.lines_of_print()
        return describe(self.problem, self.m).with_lines(*known, *tuned)

    # Shared with what a region consists of

    def require_ordinary(self) -> None:
        """Refuse data that double precision does not resolve; ranks and tests alone answer."""
        if self.problem.not_ordinary:
            raise NotAvailable(self.problem.not_ordinary)

    def at_levels(self, level: Any, at: Callable[[Sequence[Level]], list[T]]) -> Any:
        """Return the answer at one level, or a dictionary of answers at several.

        ``at`` takes all levels at once and returns one answer for each.
        """
        levels = as_levels(level)
        found = at([self.level(p) for p in levels])
        if not np.ndim(level):
            return found[0]
        return Levels(zip(map(as_double, levels), found, strict=True))

    def _resolved(self, candidates: Any) -> Candidates:
        problem = self.problem
        if problem.not_ordinary and not self._warned:
            self._warned = True
            warnings.warn(
                f"Ranks and p-values may follow rounding: {problem.not_ordinary}",
                UserWarning,
                stacklevel=levels_to_user(),
            )
        need = "candidates other than coefficient vectors need"
        return resolve(candidates, problem.objective, lambda: problem.data(need))
