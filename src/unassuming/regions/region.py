"""A confidence region: the candidates whose rank is not extreme, and the geometry about them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar, final

import numpy as np

from unassuming._errors import NotAvailable, levels_to_user
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
from unassuming.inputs.options import as_count
from unassuming.membership import Candidates, Engine, resolve
from unassuming.noise import Noise, Perturbations
from unassuming.objectives import State
from unassuming.ranking import Level, RankTest, as_double, as_levels
from unassuming.regions.answers import Answers, How
from unassuming.regions.describe import PUBLISHED_CLASSIFIER, Description, caveat_of, describe
from unassuming.regions.diagnosis import Diagnosis, diagnose
from unassuming.regions.explain import Language
from unassuming.regions.lack_of_fit import LackOfFit, lack_of_fit
from unassuming.regions.problem import Problem, Tuning
from unassuming.regions.results import Levels, NormBounds, over_norm_bounds
from unassuming.regions.shapes import Shape, shape_of
from unassuming.regions.single.functions import Assumption
from unassuming.regions.single.hypotheses import FTest
from unassuming.regions.single.summary import Summary
from unassuming.regions.views import View, make_view

T = TypeVar("T")

_MANY = 500
"""Candidates from which on a shape may know a faster way to their ranks."""


@final
class Region:
    """Exact confidence regions of all admissible levels, from one set of transformations.

    Built by `unassuming.confidence_region`. A candidate is a coefficient vector, a callable on X
    as it was passed, or a fitted estimator; several are an array of vectors or a list, and are
    answered by an array. The rank of the unperturbed statistic among the m statistics decides: the
    region of level 1 - q/m holds the candidates of rank at most m - q. A level is rounded up to the
    next multiple of 1/m, and a sequence of levels gives a dictionary.

    Attributes
    ----------
    n, m, noise : int, int, Noise
        Rows of positive weight, number of statistics, the assumption on the noise.
    names, estimate : list of str, array of shape (d,)
        The coefficients, and where the gradient is zero to rounding.
    objective, weighting, ties : Objective, object, str
        What the model minimises, the weighting Ψ of its gradient, the rule for ties.
    perturbations, enumerated, tie_order : Perturbations, bool, array of shape (m,)
        The transformations, whether all of a finite group are listed, and the order π of ties.
    shape : Shape
        The geometry in use; ``print(region.shape)`` says which one it is, and why.
    seed, estimator, inputs : int, object, object
        ``random_state=seed`` builds the same region again, of this model and this copy of X.
    problem, tuning : Problem, and Tuning or None
        The data, the objective and the noise; where the hyper-parameters come from.
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
    >>> region.ellipsoid(level=0.9).contains(region.estimate), region.text() == str(region)
    (True, True)
    >>> members = region.sample(20, level=0.9)
    >>> members.shape, bool(region.contains(members, level=0.9).all())
    ((20, 3), True)
    >>> ((low, high),) = region.crossings("x0", level=0.5)
    >>> bool(low < 0 < high == region.reach("x0", level=0.5))
    True
    >>> region.summary(functionals=["x0", "x1"]).to_frame().shape
    (2, 7)
    >>> bool(region.norm_lower_bound() < region.suggest_norm_bound())
    True
    >>> len(region.lack_of_fit(most=3).tests), len(region.diagnose().indications)
    (3, 3)
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
    def noise(self) -> Noise:
        """The assumption on the noise."""
        return self.problem.noise

    @property
    def names(self) -> list[str]:
        """The names of the coefficients, in their order."""
        return self.objective.names

    @property
    def m(self) -> int:
        """Number of statistics, the unperturbed one included."""
        return self._engine.m

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

    # Membership: vectors (d,) or (N, d), callables, fitted estimators, or lists of these

    def statistics(self, candidates: Any) -> Array:
        """Return Z_0, ..., Z_{m-1} of candidates: shape (m,) for one, (N, m) for several."""
        found = self._resolved(candidates)
        statistics = self._engine.statistics(found.known)
        return statistics[0] if found.single else statistics

    def rank(self, candidates: Any) -> Any:
        """Return the position of Z_0 among the statistics of candidates, from 1 to m."""
        found = self._resolved(candidates)
        known = found.known
        if isinstance(known, State) or len(known) < _MANY or self.problem.not_ordinary:
            ranks = self._engine.rank(known)
        else:
            ranks = self.shape.ranks(known)
        return int(ranks[0]) if found.single else ranks

    def smallest_level(self, candidates: Any) -> Any:
        """Return rank / m: candidates lie in the regions of this level and above; for m in none."""
        return self.rank(candidates) / self.m

    def pvalue(self, candidates: Any) -> Any:
        """Return the p-values of the hypotheses that candidates are the regression function."""
        return (self.m - self.rank(candidates) + 1) / self.m

    def contains(self, candidates: Any, level: float | Sequence[float] = 0.95) -> Any:
        """Return whether candidates lie in the region of that level, or of several levels."""
        ranks = self.rank(candidates)
        return self._at_levels(level, lambda used: [ranks <= one.largest_rank for one in used])

    def test(self, candidate: Any) -> RankTest:
        """Test the hypothesis that one candidate is the regression function at the inputs.

        Parameters
        ----------
        candidate : array of shape (d,), callable or fitted estimator
            A callable takes X as it was passed, and returns a number for each row.

        Returns
        -------
        RankTest
            Rank, p-value, statistics, and a caveat if the p-value is not a valid test.

        Examples
        --------
        >>> print(region.test(region.estimate + 1))
        Rank 128 of 128, p-value <= 0.0079: outside every region, up to level 0.9921875.
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
        cells or from the joint region. Which options go together (with the default of the others):

        =====================  =================================  ==================================
        assumed                ``method``                         other options
        =====================  =================================  ==================================
        nothing                auto, cells, pairs, halves,        ``cells``, ``cell_weights``,
                               palmrt, t                          ``cell_estimate``
        norm bound or error    auto, cells                        ``cells``, ``noise_scale``
        **all at once:**
        nothing                auto, joint, cells                 ``inner`` (joint), ``cells``
        norm bound             auto, joint, cells                 the same and ``noise_scale``
        model error            auto, cells                        ``cells``, ``noise_scale``
        =====================  =================================  ==================================

        Parameters
        ----------
        functionals : array of shape (d,) or (N, d), name or list of names, or Functional, optional
            Each row g stands for gᵀa; see also `unassuming.functionals`. None: every coefficient.
        level : float or sequence of floats, default 0.95
            Groups of rows are chosen for the highest level of a call.
        simultaneous : bool, default False
            Whether all bounds hold at once. If not, each interval has its level by itself.
        norm_bound, model_error : float, optional
            Assumptions: ‖coef‖ <= B (the penalised coefficients), or ‖f‖ <= B for kernels; the
            features miss the function by at most this much at every input.
        noise_scale : float, optional
            A guess of the size of the noise, made without looking at y, that determines the cells
            with a norm bound or a model error; a wrong guess affects the width, not the coverage.
            The default is B√k(x, x)/40, or ten times the model error without a norm bound.
        inner : bool, default False
            Also search for members that come near the bounds, and return them as witnesses.
        method, cells, cell_weights, cell_estimate
            See `summary`; with ``simultaneous`` also the method ``"joint"`` (this region).

        Examples
        --------
        >>> single = region.interval("x0", level=0.9)
        >>> together = region.interval(level=0.9, simultaneous=True)
        >>> bool(together.lower[1] < single.lower[0] < single.upper[0] < together.upper[1])
        True
        """
        assumed = Assumption(norm_bound, model_error, noise_scale)
        options = level, method, cells, cell_weights, cell_estimate
        how = How(*options, assumed, simultaneous=simultaneous, inner=inner)
        return self._answers.interval(functionals, how)

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
        regression function at the training inputs and need not elsewhere; for a classifier, that of
        E[y|x]. Bands of classifiers and quantiles come from branch and bound, for few coefficients.

        Parameters
        ----------
        X : array or DataFrame
        target : {"representation", "function"}, optional
            ``"function"`` covers the function itself between the training inputs too; it needs a
            kernel and a norm bound, or a model error, and is the default with these for kernels.
        level, simultaneous, norm_bound, model_error, noise_scale, inner, method, cells, \
        cell_weights, cell_estimate
            As for `interval`; one at a time a kernel needs a norm bound.

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
        how = How(*options, assumed, simultaneous=simultaneous, inner=inner)
        return self._answers.band(X, target, how)

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

        The intervals are exact in finite samples under the assumption on the noise alone, whatever
        the penalty or the loss of the model (docs/theory.md 11). Each has its level by itself.
        Least squares in groups of rows (cells) estimates a number several times. The groups depend
        on the inputs, the weights, the noise class and the level, never on y; among rows with equal
        inputs also on the order of the rows: fix it before looking at y.

        Parameters
        ----------
        level : float, default 0.95
            The attained levels are at least this.
        functionals : array of shape (d,) or (N, d), name or list of names, optional
            None: every coefficient, or the endogenous ones alone.
        simultaneous : bool, default False
            Whether all intervals hold at once; p-values are then adjusted for that.
        method : str, default "auto"
            ``"cells"`` (signs may change), ``"pairs"`` (rows may be swapped), ``"halves"`` and
            ``"palmrt"`` (at least the level, for few rows), ``"t"`` (spherical noise) or ``"auto"``
            (the best of them for each coefficient, chosen before y is seen).
        cells : int or array of shape (n,), optional
            The number of cells, from 2 to 16 or 32, or one label for each row; to be chosen before
            looking at y. For a stream, a number of at most the cells that it has collected.
        cell_weights, cell_estimate : {"design", "residuals"}, {"mean", "median"}
            Weights by the inputs, or also by the size of residuals, which may differ between cells;
            least squares, or least absolute deviations, which resist heavy tails.
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

        Several are tested at once. The p-value of one is dual to its interval at the same level:
        the value lies outside if and only if p is at most one minus the attained level.

        Parameters
        ----------
        functional, value, level, method, cells, cell_weights, cell_estimate
            As for `summary`, and the hypothetical values. The p-value is valid at every level.
        norm_bound, model_error, noise_scale
            As for `interval`. The p-value is then an upper bound, and one functional is tested.

        Examples
        --------
        >>> print(region.hypothesis("x0"))
        Hypothesis x0 = 0: p-value <= 3.1e-05 (rank 32768 of 32768).
        >>> region.hypothesis(["x0", "x1"], value=[1, 0]).tested
        'x0 = 1 and x1 = 0'
        """
        assumed = Assumption(norm_bound, model_error, noise_scale)
        options = level, method, cells, cell_weights, cell_estimate
        return self._answers.hypothesis(functional, value, How(*options, assumed))

    @cached_property
    def shape(self) -> Shape:
        """The geometry in use; printed, it says which one it is, and why."""
        self._require_ordinary()
        return shape_of(self._engine)

    @property
    def exact_crossings(self) -> bool:
        """Whether `crossings` and `reach` are exact rather than found on a grid."""
        return self.shape.exact

    def reach(self, directions: Any, level: Any = 0.95) -> Any:
        """Return how far rays from the estimate stay in the region.

        The largest t such that all of estimate + [0, t] · direction belongs to the region: infinite
        if the ray never leaves it, minus infinity if the estimate is outside. Regions that are not
        quadratic may go on after a gap, see `crossings`. The directions are vectors (d,) or (N, d),
        or names. ``level=None`` gives all levels: shape (N, m - 1), column q - 1 for level 1 - q/m.
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
        """Return the closed intervals of t with origin + t · direction in the region, (k, 2).

        They are those of one level, or a dictionary for several. Sorted and disjoint, ±inf allowed;
        several directions give a list, and the origin is the estimate by default. Single points
        [t, t] occur: for LASSO and SVR a sparse candidate can be a member while its neighbours are
        not. If `exact_crossings` is False, ends are found by bisection on a grid: an interval
        between two points may be missed, and a member at the far end of the grid counts as
        unbounded.
        """
        lines, single = as_directions(direction, self.names, "direction")
        start = self.estimate if origin is None else origin
        start = np.broadcast_to(as_vector(start, "origin", self.objective.d), lines.shape)

        def at(used: Sequence[Level]) -> list[Any]:
            found = self.shape.intervals(start, lines, [one.q for one in used])
            return [spans[0] if single else spans for spans in found]

        return self._at_levels(level, at)

    def sample(
        self,
        size: int,
        level: float = 0.95,
        random_state: Any = 0,
        norm_bound: float | None = None,
        thinning: int | None = None,
    ) -> Array:
        """Return members of the region, by hit-and-run from the estimate, shape (size, d).

        Each step moves to a uniform point of the region on a random line through the current point,
        from ``random_state``, within the ball of the ``norm_bound``, if there is one. After
        ``thinning`` steps (by default the rank, twice that if quadratic) a point that `contains`
        accepts at this level is a sample. No other law is claimed for samples, and parts of the
        region that no line joins to the rest may be missed. A region without end is refused.
        """
        check_sampling(size, thinning, random_state)
        check_norm_bound(norm_bound)
        rng = np.random.default_rng(as_seed(random_state))
        return self.shape.sample(size, self.level(level), rng, norm_bound, thinning)

    def ellipsoid(self, level: Any = 0.95) -> Any:
        """Return an outer `Ellipsoid` at a level, for quadratic objectives, weighting "hessian".

        It is {a : (a - estimate)ᵀH(a - estimate) <= squared_radius} with H = ΦᵀWΦ/n + λP, in the
        directions that change fitted values.
        """
        return self._at_levels(level, lambda used: [self.shape.ellipsoid(one) for one in used])

    def bounded(self, level: Any = 0.95) -> Any:
        """Return whether the region of a level is bounded, with a certificate: a `Boundedness`.

        Available for quadratic objectives, least-squares classifiers and regression quantiles.
        """
        return self._at_levels(level, lambda used: [self.shape.bounded(one) for one in used])

    @property
    def max_bounded_level(self) -> float:
        """The largest level at which a quadratic region is certainly bounded, or 0."""
        return self.shape.largest_bounded_rank() / self.m

    def norm_lower_bound(self, level: Any = 0.95) -> Any:
        """Return a lower confidence bound of the norm of the function, at a level.

        Every member of the region has at least this norm, so a smaller ``norm_bound`` is refuted by
        the data (docs/theory.md 4.4); no upper bound follows. For quadratic objectives.
        """
        lowest = self.shape.norm_lower_bound
        return self._at_levels(level, lambda used: [lowest(one) for one in used])

    def suggest_norm_bound(self) -> float:
        """Return twice the norm of the estimate: a heuristic, which guarantees nothing."""
        return 2 * self.problem.design("a norm bound").ball().norm(self.estimate)

    def norm_bounds_table(
        self, X: Any, norm_bounds: Sequence[float] | None = None, level: float = 0.95
    ) -> NormBounds:
        """Compute the band at X, at a level, for several norm bounds.

        ``norm_bounds`` are by default 1, 2, 4 and 8 times the norm of the estimate.

        Examples
        --------
        >>> X, y, f = ua.datasets.sine(n=20, random_state=0)
        >>> kernel = ua.confidence_region(KernelRidge(kernel="rbf"), X, y, random_state=0)
        >>> kernel.norm_bounds_table(X[:3], norm_bounds=[20, 40], level=0.9).norm_bound
        array([20., 40.])
        """
        if norm_bounds is None:
            norm_bounds = [factor * self.suggest_norm_bound() / 2 for factor in (1, 2, 4, 8)]
        given = check_norm_bounds(norm_bounds)
        bands = [self.band(X, level=level, norm_bound=bound, method="joint") for bound in given]
        return over_norm_bounds(bands, given, self.norm_lower_bound(level))

    # Checks, and in print

    def diagnose(self) -> Diagnosis:
        """Look for indications, not proofs, against the assumptions in the residuals."""
        return diagnose(self.problem, describe(self.problem, self.m))

    def lack_of_fit(self, most: int = 20) -> LackOfFit:
        """Look for features that the model lacks, by tests in enlarged models.

        A spline of each numeric column of X and products of two columns, at ``most`` so many, are
        added to the model one at a time, and tested by `hypothesis` in the enlarged model. The
        p-values are adjusted for their number (Bonferroni).
        """
        as_count("most is not a number of tests", most, 1, "Leave it out for 20.")
        self._require_ordinary()
        return lack_of_fit(self.problem, most)

    def report(
        self,
        path: Any,
        *,
        target: str = "y",
        title: str | None = None,
        levels: Sequence[float] | None = None,
        norm_bound: float | None = None,
    ) -> Path:
        """Write a report to a path: one HTML file that needs no network.

        The target is the name of the output; the title stands at the top. The bands have these
        levels, by default 0.95, 0.8 and 0.5, and the ``norm_bound`` of `band`; the summary has the
        highest level.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     found = region.report(f"{folder}/report.html", target="yield", title="Yields")
        ...     found.read_text()[:15]
        '<!doctype html>'
        """
        options = {"target": target, "title": title, "levels": levels, "norm_bound": norm_bound}
        return Path(make_view(View.REPORT, self, path, **options))

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
        known = [] if self.problem.not_ordinary else self.shape.lines_of_print()
        return describe(self.problem, self.m).with_lines(*known, *tuned)

    # Shared with what a region consists of

    def _require_ordinary(self) -> None:
        """Refuse data that double precision does not resolve; ranks and tests alone answer."""
        if self.problem.not_ordinary:
            raise NotAvailable(self.problem.not_ordinary)

    def _at_levels(self, level: Any, at: Callable[[Sequence[Level]], list[T]]) -> Any:
        """Return the answer at one level, or a dictionary of answers at several."""
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
        rows = partial(problem.data, "candidates other than coefficient vectors need")
        return resolve(candidates, problem.objective, rows)
