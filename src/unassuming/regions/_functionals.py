"""Intervals and bands of linear functionals: all at once, or one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

from unassuming._typing import Array
from unassuming.functionals import Functional
from unassuming.inputs import (
    SingleOptions,
    as_functionals,
    check_assumption,
    check_simultaneous,
    require_nonzero,
)
from unassuming.regions._answers import (
    answer,
    ball_for,
    band_question,
    numbered_inputs,
    whole_function,
)
from unassuming.regions._membership import Membership
from unassuming.regions._question import Call, Question
from unassuming.regions._results import Band, Interval
from unassuming.regions.single import (
    Assumption,
    Functions,
    Instruments,
    Numbers,
    Wanted,
    all_at_once,
    at_each,
    cells_for_functionals,
    cells_for_model_error,
    check_at_once,
    division_for,
    function_cells,
    function_options,
    functional_rows,
    instrument_bounds,
    instrument_options,
    one_by_one,
    options_for,
    require_alone,
    values_at_once,
    values_one_by_one,
)

T = TypeVar("T")


class Functionals(Membership):
    """Bounds of linear functionals of the coefficients, and bands of the function."""

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

        From the joint region all levels come from one computation: a factorisation of a k×k matrix
        for each of the m - 1 sets, k = rank, in batches of 128 MB. ``inner=True`` adds a search, in
        closed form for quadratic objectives and along lines for others (seconds for LASSO and SVR,
        minutes for kernel Huber). The outer bounds of ``KernelHuber``, ``HuberRegressor`` and
        ``LinearSVR`` follow from the norm bound alone; without one they are infinite. Logistic
        regression has no outer bounds for its coefficients.

        Parameters
        ----------
        functionals : array of shape (d,) or (N, d), name or list of names, or Functional, optional
            Each row g stands for gᵀa, and a name out of ``region.names`` for that coefficient.
            `unassuming.functionals` has values, differences, averages and slopes of the function.
            None: every coefficient.
        level : float or sequence of floats, default 0.95
            It is rounded up to the next level that can be attained, which the result reports. A
            sequence gives a dictionary.
        norm_bound : float, optional
            An assumption: ‖coef‖ <= B (the penalised coefficients) for features, and ‖f‖ <= B in
            the norm of the kernel for kernels.
        inner : bool, default False
            Also search for members that come near the bounds, and return them as witnesses.
        simultaneous : bool, default False
            Whether all bounds hold at once. If not, each interval has its level by itself. It is
            usually much narrower then, except where there are few data (docs/theory.md 9).
        method : str, default "auto"
            With ``simultaneous``: ``"joint"`` (bounds of this region), ``"cells"`` (exact, and
            narrower from about 16 d rows on) or ``"auto"`` (the narrower one by the width predicted
            before y is seen). Without ``simultaneous``: see `summary`.
        cells : int or array of shape (n,), optional
            See `summary`. With ``simultaneous`` and ``method="cells"`` a power of two.
        cell_weights : {"design", "residuals"}, default "design"
            Without ``simultaneous``: see `summary`.
        cell_estimate : {"mean", "median"}, default "mean"
            Without ``simultaneous``: see `summary`.
        model_error : float, optional
            An assumption: the features miss the function by at most this much at every input. The
            joint region cannot allow for it.
        noise_scale : float, optional
            A guess of the size of the noise, made without looking at y. With a norm bound or a
            model error it determines the cells; a wrong guess affects the width, not the coverage.
            The default is B√k(x, x)/40, or ten times the model error without a norm bound.

        Returns
        -------
        Interval, or a dictionary of them for several levels

        Examples
        --------
        >>> print(region.interval())
        Interval of 3 functionals at level 0.950195, one at a time (cells): every interval is finite
        and has its level by itself.
                      estimate      lower      upper
          intercept   0.449579   0.220136   0.675111
          x0           1.11028   0.704221    1.42522
          x1         -0.241735  -0.470242  0.0104876
        >>> difference = region.interval([0.0, 1.0, -1.0])
        >>> bool(difference.lower[0] < coefficients[1] - coefficients[2] < difference.upper[0])
        True

        All at once, from the joint region:

        >>> print(region.interval("x0", level=0.9, simultaneous=True, method="joint"))
        Interval of 1 functional at level 0.90625, all at once (joint region): every bound is finite
        and an honest outer bound of the region.
              estimate     lower    upper
          x0   1.11028  0.800029  1.39107
        """
        check_assumption(norm_bound, model_error, noise_scale)
        if model_error is not None:
            self.problem.refuse_basis("a model error")
        assumption = Assumption(norm_bound, model_error, noise_scale)
        alone = not check_simultaneous(simultaneous)
        asked = self._single(functionals) if alone else functionals
        g, names, values = self._asked(asked, assumption)
        make, options = partial(Interval, names=names), (cells, cell_weights, cell_estimate)
        if not alone:
            if isinstance(functionals, Functional) and self.problem.design("interval").dual:
                method = cells_for_functionals(method)
            ball = ball_for(self.shape, norm_bound, inner=inner)
            question = Question(Call.INTERVAL, g, ball, inner=bool(inner))
            return self._at_once(question, names, level, method, options, make, assumption, values)
        require_alone(inner)
        require_nonzero(g)
        if not assumption.given:
            return self._one_by_one(g, names, level, method, options, make)
        return self._values(values(), g, names, level, method, options, assumption, make)

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
        """Return a band: honest bounds at every input, all at once or one input at a time.

        Without a norm bound the band covers the ideal representation, which agrees with the
        noise-free function at the training inputs and need not elsewhere. A full-rank kernel with
        n = 2,000 takes a minute or two, and a quarter of an hour with a norm bound, in under 1 GB.

        For a classifier the band is that of E[y|x]. With at most 4 coefficients it comes from
        branch and bound, which stops when members attain each bound up to 2 % of the width, or
        after 20,000 boxes; it is honest wherever it stops. Bounds are tighter for few inputs.
        Logistic regression has no outer bound beyond [-1, 1]. Bands of regression quantiles come
        from the same search; some are finite on one side only.

        Parameters
        ----------
        X : array or DataFrame
            Inputs, as the model takes them. The columns of a DataFrame are those of the data, in
            the same order.
        level : float or sequence of floats, default 0.95
            It is rounded up to the next level that can be attained, which the result reports. A
            sequence gives a dictionary.
        norm_bound : float, optional
            An assumption: the norm of the function, or of the penalised coefficients, is at most B.
        target : {"representation", "function"}, optional
            ``"function"`` covers the function itself between the training inputs too; it needs a
            kernel and a norm bound, and is the default with these.
        inner : bool, default False
            Also search for members that come near the bounds, and return them as witnesses.
        simultaneous : bool, default True
            Whether all bounds hold at once. With False the interval at each input has its level by
            itself. It is usually much narrower, except where there are few data (docs/theory.md 9).
            A kernel then needs ``norm_bound``.
        method : str, default "auto"
            With ``simultaneous``: ``"joint"`` (bounds of this region), ``"cells"`` (exact, and
            narrower from about 16 d rows on) or ``"auto"`` (the narrower one by the width predicted
            before y is seen). Without ``simultaneous``: see `summary`.
        cells : int or array of shape (n,), optional
            See `summary`. With ``simultaneous`` and ``method="cells"`` a power of two.
        cell_weights : {"design", "residuals"}, default "design"
            Without ``simultaneous``: see `summary`.
        cell_estimate : {"mean", "median"}, default "mean"
            Without ``simultaneous``: see `summary`.
        model_error : float, optional
            An assumption: the features miss the function by at most this much at every input. The
            joint region cannot allow for it. For features the band covers the model, and with
            ``target="function"`` the function itself, which is the default for kernels.
        noise_scale : float, optional
            A guess of the size of the noise, made without looking at y. With a norm bound or a
            model error it determines the cells; a wrong guess affects the width, not the coverage.
            The default is B√k(x, x)/40, or ten times the model error without a norm bound.

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
        Band of the function itself at 2 inputs at level 0.953125, given a norm of at most 30 (your
        assumption), all at once (joint region): every bound is finite and an honest outer bound of
        the region.
          x0  estimate     lower    upper
          2    1.09133  -24.9538  26.1038
          7    3.34613  -23.2692  25.3724
        """
        options = cells, cell_weights, cell_estimate
        check_assumption(norm_bound, model_error, noise_scale)
        if model_error is not None:
            self.problem.refuse_basis("a model error")
        whole = whole_function(self.shape, norm_bound, model_error, target)
        assumption = Assumption(norm_bound, model_error, noise_scale, whole=whole)
        make = partial(Band, X=X, target="function" if whole else "representation")
        if check_simultaneous(simultaneous):
            joint = None if model_error is not None else target
            question = band_question(self.shape, X, norm_bound, joint, inner=inner)
            names, values = numbered_inputs(question.g), partial(self._inputs, X, assumption)
            return self._at_once(question, names, level, method, options, make, assumption, values)
        require_alone(inner)
        if assumption.given:
            wanted, g = self._inputs(X, assumption), self._rows(X)
            names = numbered_inputs(g)
            return self._values(wanted, g, names, level, method, options, assumption, make)
        if not self.objective.endogenous:
            _ = self._numbers  # refuses a kernel before anything else
        g = band_question(self.shape, X, None, target, inner=False).g
        return self._one_by_one(g, numbered_inputs(g), level, method, options, make, own=False)

    @cached_property
    def _numbers(self) -> Numbers:
        """Single numbers; refuses models and noise without an answer."""
        self._require_ordinary()
        return Numbers(self.problem)

    @cached_property
    def _instruments(self) -> Instruments:
        """What is known about coefficients of endogenous columns."""
        self._require_ordinary()
        return Instruments(self.problem)

    def _single(self, functionals: Any) -> Any:
        """Return what is asked one at a time; by default endogenous columns, if there are any."""
        if functionals is None and self.objective.endogenous:
            return [self.names[j] for j in self.objective.endogenous]
        return functionals

    @cached_property
    def _functions(self) -> Functions:
        """Values of a function of bounded norm; refuses models and noise without an answer."""
        self._require_ordinary()
        return Functions(self.problem)

    def _options(self, cells: Any, method: Any, weights: Any, estimator: Any) -> SingleOptions:
        if self.objective.endogenous:
            return instrument_options(self._instruments, cells, method, weights, estimator)
        return options_for(self._numbers, cells, method, weights, estimator)

    def _asked(
        self, functionals: Any, assumption: Assumption
    ) -> tuple[Array, tuple[str, ...], Callable[[], Wanted]]:
        """Return functionals as rows of the design, their names, and what gives them as `Wanted`.

        The last refuses models and noise without an answer.
        """
        if isinstance(functionals, Functional):
            g, names = functional_rows(self.problem, functionals), functionals.names
            return g, names, lambda: self._functions.functional(functionals, g, assumption)
        g, names = as_functionals(functionals, self.names)
        return g, names, lambda: self._functions.coefficients(g, assumption)

    def _inputs(self, X: Any, assumption: Assumption) -> Wanted:
        return self._functions.values(self.problem.transform(X), assumption)

    def _rows(self, X: Any) -> Array:
        return self.problem.design("band").rows(self.problem.transform(X))

    def _at_once(
        self,
        question: Question,
        names: Sequence[str],
        level: Any,
        method: str,
        options: tuple[Any, Any, Any],
        make: Callable[..., T],
        assumption: Assumption,
        values: Callable[[], Wanted],
    ) -> Any:
        """Return simultaneous bounds; ``values`` gives the functionals if something is assumed."""
        cells = options[0]
        chosen = check_at_once(method, *options)
        joint = answer(self.shape, question, self.caveat, make)
        if assumption.model_error is not None:
            _ = self._functions  # refuses models for which no method allows for it
            chosen = cells_for_model_error(chosen)
        if chosen == "joint":
            return self._at_levels(level, joint)
        if assumption.given:
            if not function_cells(chosen, question.inner, lambda: self._functions):
                return self._at_levels(level, joint)
            wanted, estimate = values(), question.g @ self.problem.estimate

            def from_cells(one: float) -> T:
                given = wanted, names, estimate, one, cells, assumption, make
                found = values_at_once(self._functions, *given, unless_wider=chosen == "auto")
                return joint([self.level(one)])[0] if found is None else found

            return at_each(level, from_cells)

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
        method: str,
        options: tuple[Any, Any, Any],
        make: Callable[..., T],
        *,
        own: bool = True,
    ) -> Any:
        """Return bounds that have their level each by itself."""
        cells, weights, estimator = options
        checked = self._options(cells, method, weights, estimator)

        def at(one: float) -> T:
            if self.objective.endogenous:
                return instrument_bounds(self._instruments, g, tuple(names), one, checked, make)
            return one_by_one(self._numbers, g, names, one, checked, make, own=own)

        return at_each(level, at)

    def _values(
        self,
        wanted: Wanted,
        g: Array,
        names: Sequence[str],
        level: Any,
        method: str,
        options: tuple[Any, Any, Any],
        assumption: Assumption,
        make: Callable[..., T],
    ) -> Any:
        """Return bounds of functionals of the function, each with its level by itself."""
        cells, weights, estimator = options
        checked = function_options(self._functions, cells, method, weights, estimator)
        estimate = g @ self.problem.estimate

        def at(one: float) -> T:
            return values_one_by_one(
                self._functions, wanted, names, estimate, one, checked, assumption, make
            )

        return at_each(level, at)
