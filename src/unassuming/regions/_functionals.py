"""Intervals, bands and tests of linear functionals: all at once, or one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

from unassuming._typing import Array
from unassuming.inputs import (
    SingleOptions,
    as_functionals,
    as_hypothesis,
    check_simultaneous,
    require_nonzero,
)
from unassuming.ranking import RankTest
from unassuming.regions._answers import answer, ball_for, band_question
from unassuming.regions._membership import Membership
from unassuming.regions._question import Call, Question
from unassuming.regions._results import Band, Interval
from unassuming.regions.single import (
    FTest,
    Numbers,
    Summary,
    all_at_once,
    at_each,
    check_at_once,
    check_level,
    division_for,
    hypothesis_test,
    one_by_one,
    options_for,
    require_alone,
    simultaneous_summary,
    summary_of,
)

T = TypeVar("T")


class Functionals(Membership):
    """Bounds and tests of linear functionals of the coefficients."""

    def interval(
        self,
        functionals: Any = None,
        level: Any = 0.9,
        norm_bound: float | None = None,
        inner: bool = False,
        simultaneous: bool = True,
        *,
        method: str | None = None,
        cells: Any = None,
        weights: str = "design",
        estimator: str = "least squares",
    ) -> Any:
        """Bound linear functionals of the coefficients, all at once or one at a time.

        From the joint region all levels come from one computation: a factorisation of a k×k matrix
        for each of the m - 1 sets, k = rank, in batches of 128 MB. ``inner=True`` adds a search, in
        closed form for quadratic objectives and along lines for others (seconds for LASSO and SVR,
        minutes for kernel Huber and objectives known by membership only). ``KernelHuber`` and
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

        simultaneous : bool, default True
            Whether all bounds hold at once. With False each interval has its level by itself,
            which makes it much narrower (docs/theory.md 9).
        method : str, optional
            With ``simultaneous``: ``"joint"`` (the default, bounds of this region), ``"cells"``
            (exact, and narrower from about 16 d rows on) or ``"auto"`` (by the width predicted
            before y is seen). Without: see `summary`.
        cells : int or array of shape (n,), optional
            See `summary`. With ``simultaneous`` and ``method="cells"`` a power of two.
        weights : {"design", "residuals"}, default "design"
            Without ``simultaneous``: see `summary`.
        estimator : {"least squares", "least absolute deviations"}, default "least squares"
            Without ``simultaneous``: see `summary`.

        Returns
        -------
        Interval, or a dictionary of them for several levels

        Examples
        --------
        >>> print(region.interval())
        Interval of 3 functionals at level 0.9, all at once (joint region): every bound is finite
        and an honest outer bound of the region.
                      estimate      lower      upper
          intercept   0.449579   0.183833   0.720281
          x0           1.11028   0.780206    1.39273
          x1         -0.241735  -0.504641  0.0329173
        >>> difference = region.interval([0.0, 1.0, -1.0], level=0.95)
        >>> bool(difference.lower[0] < coefficients[1] - coefficients[2] < difference.upper[0])
        True

        One coefficient, at its own level:

        >>> single = region.interval("x0", level=0.9, simultaneous=False)
        >>> print(single)
        Interval of 1 functional at level 0.9, one at a time (cells, attained level 0.900391):
        every interval is finite and has its level by itself.
              estimate     lower    upper
          x0   1.11028  0.830594  1.33197
        """
        g, names = as_functionals(functionals, self.names)
        make = partial(Interval, names=names)
        options = cells, weights, estimator
        if check_simultaneous(simultaneous):
            ball = ball_for(self.shape, norm_bound, inner=inner)
            question = Question(Call.INTERVAL, g, ball, inner=bool(inner))
            return self._at_once(question, names, level, method, options, make)
        require_alone(norm_bound, inner)
        require_nonzero(g)
        return self._one_by_one(g, names, level, method, options, make)

    def band(
        self,
        X: Any,
        level: Any = 0.9,
        norm_bound: float | None = None,
        target: str | None = None,
        inner: bool = False,
        simultaneous: bool = True,
        *,
        method: str | None = None,
        cells: Any = None,
        weights: str = "design",
        estimator: str = "least squares",
    ) -> Any:
        """Return a band: honest bounds at every input, all at once or one input at a time.

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

        simultaneous : bool, default True
            Whether all bounds hold at once. With False the interval at each input has its level by
            itself, which makes it much narrower (docs/theory.md 9).
            That needs a model with features.
        method : str, optional
            With ``simultaneous``: ``"joint"`` (the default, bounds of this region), ``"cells"``
            (exact, and narrower from about 16 d rows on) or ``"auto"`` (by the width predicted
            before y is seen). Without: see `summary`.
        cells : int or array of shape (n,), optional
            See `summary`. With ``simultaneous`` and ``method="cells"`` a power of two.
        weights : {"design", "residuals"}, default "design"
            Without ``simultaneous``: see `summary`.
        estimator : {"least squares", "least absolute deviations"}, default "least squares"
            Without ``simultaneous``: see `summary`.

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
        assumption), all at once (joint region): every bound is finite and an honest outer bound of
        the region.
          x0  estimate     lower    upper
          2    1.09133  -17.4484  19.7186
          7    3.34613  -17.0953  20.4288
        """
        options = cells, weights, estimator
        if check_simultaneous(simultaneous):
            question = band_question(self.shape, X, norm_bound, target, inner=inner)
            covers = "function" if question.function else "representation"
            make = partial(Band, X=X, target=covers)
            return self._at_once(question, _inputs(question.g), level, method, options, make)
        _ = self._numbers  # refuses a kernel before anything else
        require_alone(norm_bound, inner)
        g = band_question(self.shape, X, None, target, inner=False).g
        make = partial(Band, X=X, target="representation")
        return self._one_by_one(g, _inputs(g), level, method, options, make, own=False)

    def summary(
        self,
        level: float = 0.95,
        functionals: Any = None,
        simultaneous: bool = False,
        *,
        cells: Any = None,
        method: str = "auto",
        weights: str = "design",
        estimator: str = "least squares",
    ) -> Summary:
        """Return estimate, interval and p-value of each coefficient, one at a time.

        The intervals are exact in finite samples under the assumption on the noise alone, and
        nearly as narrow as the usual asymptotic ones (docs/theory.md 9). Each has its level by
        itself. They do not depend on the penalty or the loss of the model: the target is the ideal
        coefficient, the one that reproduces the noise-free outputs. The rows are divided into
        cells, which depend on the inputs, the noise class, the level and the seed, never on y.

        Parameters
        ----------
        level : float, default 0.95
            The attained levels are at least this.
        functionals : array of shape (d,) or (N, d), name or list of names, optional
            Other linear functionals of the coefficients; None: every coefficient.
        simultaneous : bool, default False
            Whether all intervals hold at once; p-values are then adjusted for that.
        cells : int or array of shape (n,), optional
            The number of cells, or one label for each row; to be chosen before looking at y. For a
            stream, a number of at most the cells that it has collected.
        method : str, default "auto"
            ``"cells"`` (signs may change), ``"pairs"`` (rows may be swapped), ``"halves"`` and
            ``"palmrt"`` (certified, for few rows) or ``"t"`` (spherical noise). ``"auto"`` chooses
            for each coefficient, before y is seen. With ``simultaneous``: as for `interval`.
        weights : {"design", "residuals"}, default "design"
            How the cells are weighted: by the inputs, or also by the size of the residuals of each
            cell, which pays if the noise is much larger in some cells than in others.
        estimator : {"least squares", "least absolute deviations"}, default "least squares"
            How the cells are fitted; least absolute deviations resist heavy tails.

        Returns
        -------
        Summary

        Examples
        --------
        >>> print(region.summary())
        Summary of LinearRegression() at level 0.95 (attained: 0.950195)
                      estimate  cell_estimate      lower      upper     pvalue
          intercept   0.449579       0.454248   0.220136   0.675111   0.002441
          x0           1.11028        1.10189   0.704221    1.42522  0.0004883
          x1         -0.241735      -0.214867  -0.470242  0.0104876    0.06104
        Assumed: the noise terms are independent, each symmetric about zero (their laws may all
        differ); inputs, features, weights, hyper-parameters and seed do not depend on the noise;
        the noise-free outputs lie in the span of the 3 features.
        Each interval has its level by itself; all of them hold at once with less certainty.
        Method: least squares in 12 cells of rows, which depend on the inputs and the seed alone;
        exact for every number of rows.
        >>> region.summary(functionals=["x0", "x1"]).to_frame().shape
        (2, 7)
        """
        g, names = as_functionals(functionals, self.names)
        require_nonzero(g)
        level = check_level(level)
        if check_simultaneous(simultaneous):
            _ = self._numbers  # refuses labels and kernels
            chosen = check_at_once(method, cells, weights, estimator)
            question = Question(Call.INTERVAL, g)
            made = division_for(self.shape, question, level, chosen, cells)
            return simultaneous_summary(self.shape, g, names, level, self.level, made)
        options = self._options(cells, method, weights, estimator)
        return summary_of(self._numbers, g, names, level, options)

    def test_functional(
        self,
        functional: Any,
        value: Any = 0.0,
        *,
        level: float = 0.95,
        cells: Any = None,
        method: str = "auto",
        weights: str = "design",
        estimator: str = "least squares",
    ) -> RankTest | FTest:
        """Test a hypothesis about one coefficient or functional, whatever the others are.

        Several functionals are tested at once: their hypothetical values make a nested model. The
        p-value of one functional is dual to its interval of `summary` at the same level, except
        for ties, which the interval counts in favour of a value.

        Parameters
        ----------
        functional : name, list of names, array of shape (d,) or (k, d)
            What is tested.
        value : float or sequence of k floats, default 0
            The hypothetical value of each functional.
        level : float, default 0.95
            It chooses the cells, as for `summary`; the p-value is valid at every level.
        cells : int or array of shape (n,), optional
            As for `summary`.
        method : str, default "auto"
            As for `summary`.
        weights : {"design", "residuals"}, default "design"
            As for `summary`.
        estimator : {"least squares", "least absolute deviations"}, default "least squares"
            As for `summary`.

        Returns
        -------
        RankTest, or FTest if the noise is spherical

        Examples
        --------
        >>> print(region.test_functional("x0"))
        Hypothesis x0 = 0: p-value 0.000488281 (rank 2048 of 2048).
        >>> region.test_functional(["x0", "x1"], value=[1, 0]).tested
        'x0 = 1 and x1 = 0'
        """
        g, names = as_functionals(functional, self.names)
        require_nonzero(g)
        tau = as_hypothesis(value, len(g))
        options = self._options(cells, method, weights, estimator)
        return hypothesis_test(self._numbers, g, names, check_level(level), options, tau)

    @cached_property
    def _numbers(self) -> Numbers:
        """What is known about single numbers; refuses models and noise without an answer."""
        return Numbers(self.problem)

    def _options(self, cells: Any, method: Any, weights: Any, estimator: Any) -> SingleOptions:
        return options_for(self._numbers, cells, method, weights, estimator)

    def _at_once(
        self,
        question: Question,
        names: Sequence[str],
        level: Any,
        method: str | None,
        options: tuple[Any, Any, Any],
        make: Callable[..., T],
    ) -> Any:
        """Return simultaneous bounds."""
        cells = options[0]
        chosen = check_at_once(method, *options)
        joint = answer(self.shape, question, self.caveat, make)
        if chosen == "joint":
            return self._at_levels(level, joint)

        def at(one: float) -> T:
            made = division_for(self.shape, question, one, chosen, cells)
            if made is None:
                return joint([self.level(one)])[0]
            return all_at_once(self.shape, question, names, one, made, make)

        return at_each(level, at)

    def _one_by_one(
        self,
        g: Array,
        names: Sequence[str],
        level: Any,
        method: str | None,
        options: tuple[Any, Any, Any],
        make: Callable[..., T],
        *,
        own: bool = True,
    ) -> Any:
        """Return bounds that have their level each by itself."""
        cells, weights, estimator = options
        numbers = self._numbers
        checked = self._options(cells, "auto" if method is None else method, weights, estimator)

        def at(one: float) -> T:
            return one_by_one(numbers, g, names, one, checked, make, own=own)

        return at_each(level, at)


def _inputs(g: Array) -> list[str]:
    """Return what the values at inputs are called."""
    return [f"input {j}" for j in range(len(g))]
