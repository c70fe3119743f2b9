"""Intervals and bands of linear functionals: all at once, or one at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.cells.functions.kriging import Wanted
from unassuming.functionals import Functional
from unassuming.inputs import (
    as_functionals,
    check_assumption,
    check_inner,
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
from unassuming.regions.single.at_once import NO_MEMBERS, balanced_cells
from unassuming.regions.single.functions import (
    Assumption,
    Functions,
    function_options,
    functional_rows,
)
from unassuming.regions.single.instruments import Instruments
from unassuming.regions.single.numbers import Numbers
from unassuming.regions.single.options import CELLS, JOINT, Setting, check_at_once
from unassuming.regions.single.summary import at_each, highest
from unassuming.regions.single.values import Asked, Joint, values_at_once, values_one_by_one

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

        One at a time the intervals are those of `summary`. All at once they come from balanced
        cells or from the joint region, in which all levels come from one computation: a
        factorisation of a k×k matrix for each of the m - 1 sets, k = rank, in batches of 128 MB.
        ``inner=True`` adds a search for members of the joint region, in closed form for quadratic
        objectives and along lines for others (seconds for LASSO and SVR, minutes for kernel Huber).
        The joint bounds of ``KernelHuber``, ``HuberRegressor`` and ``LinearSVR`` follow from the
        norm bound alone; logistic regression has none for its coefficients.

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
            It is rounded up to the next level that can be attained, which the result reports. A
            sequence gives a dictionary, with the groups of rows chosen for its highest level;
            intervals of calls with different levels need not be nested.
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
        method : str, default "auto"
            One at a time: see `summary`. With ``simultaneous``: ``"joint"`` (bounds of this
            region), ``"cells"`` (exact, and narrower from about 16 d rows on) or ``"auto"`` (the
            narrower one by the width predicted before y is seen).
        cells : int or array of shape (n,), optional
            See `summary`. With ``simultaneous`` and ``method="cells"`` a power of two.
        cell_weights : {"design", "residuals"}, default "design"
            See `summary`.
        cell_estimate : {"mean", "median"}, default "mean"
            See `summary`.

        Returns
        -------
        Interval, or a dictionary of them for several levels

        Examples
        --------
        >>> single = region.interval("x0", level=0.9)
        >>> bool(single.lower[0] < coefficients[1] < single.upper[0]), single.method
        (True, 'cells')
        >>> difference = region.interval([0.0, 1.0, -1.0])
        >>> bool(difference.lower[0] < coefficients[1] - coefficients[2] < difference.upper[0])
        True

        Bounds that hold for all coefficients at once are wider:

        >>> together = region.interval(level=0.9, simultaneous=True)
        >>> bool(together.lower[1] < single.lower[0] < single.upper[0] < together.upper[1])
        True
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
                Setting.KERNEL.check(method)
                method = CELLS
            ball = ball_for(self.shape, norm_bound, inner=inner)
            question = Question(Call.INTERVAL, g, ball, inner=bool(inner))
            return self._at_once(question, names, level, method, options, make, assumption, values)
        _require_alone(inner)
        require_nonzero(g)
        if not assumption.given:
            return self._one_by_one(g, names, level, method, options, make)
        about = self._about(functionals, values(), names, g, assumption)
        return self._values(about, level, method, options, make)

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
            As for `interval`.
        simultaneous : bool, default True
            Whether all bounds hold at once. If not, the interval at each input has its level by
            itself, and a kernel needs ``norm_bound``.
        target : {"representation", "function"}, optional
            ``"function"`` covers the function itself between the training inputs too; it needs a
            kernel and a norm bound, and is the default with these.
        norm_bound, noise_scale, inner, method, cells, cell_weights, cell_estimate
            As for `interval`.
        model_error : float, optional
            As for `interval`. For features the band covers the model, and with
            ``target="function"`` the function itself, which is the default for kernels.

        Returns
        -------
        Band, or a dictionary of them for several levels

        Examples
        --------
        >>> X, y, f = ua.datasets.sine(n=20, random_state=0)
        >>> kernel = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.8)
        >>> region = ua.confidence_region(kernel, X, y)
        >>> region.band([[2.0], [7.0]]).status.name
        'UNBOUNDED'
        >>> band = region.band([[2.0], [7.0]], level=0.9, norm_bound=30)
        >>> band.target, band.method, bool((band.lower < f([[2.0], [7.0]])).all())
        ('function', 'joint region', True)
        """
        options = cells, cell_weights, cell_estimate
        check_assumption(norm_bound, model_error, noise_scale)
        if model_error is not None:
            self.problem.refuse_basis("a model error")
        whole = whole_function(self.shape, norm_bound, model_error, target)
        assumption = Assumption(norm_bound, model_error, noise_scale, whole=whole)
        make = partial(Band, X=X, target="function" if whole else "representation")
        if check_simultaneous(simultaneous):
            of = None if model_error is not None else target
            question = band_question(self.shape, X, norm_bound, of, inner=inner)
            names, values = numbered_inputs(question.g), partial(self._inputs, X, assumption)
            return self._at_once(question, names, level, method, options, make, assumption, values)
        _require_alone(inner)
        if assumption.given:
            g = self._rows(X)
            joint: Joint | None = None
            if model_error is None:
                question = band_question(self.shape, X, norm_bound, target, inner=False)
                if target != "representation" or question.similarity is None:
                    joint = Joint(self.shape, question, self.m)  # cells bound the function itself
            estimate = g @ self.problem.estimate
            wanted = self._inputs(X, assumption)
            asked = Asked(wanted, numbered_inputs(g), estimate, assumption, joint)
            return self._values(asked, level, method, options, make)
        _ = self._numbers  # refuses a kernel before anything else
        g = band_question(self.shape, X, None, target, inner=False).g
        return self._one_by_one(g, numbered_inputs(g), level, method, options, make)

    @cached_property
    def _numbers(self) -> Numbers | Instruments:
        """Single numbers; refuses models and noise without an answer."""
        self._require_ordinary()
        return (Instruments if self.objective.endogenous else Numbers)(self.problem)

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

    def _about(
        self,
        functionals: Any,
        wanted: Wanted,
        names: Sequence[str],
        g: Array,
        assumption: Assumption,
    ) -> Asked:
        """Return functionals of the function, with the same question to the joint region.

        That bounds functionals of features, and of kernels the values at inputs.
        """
        question, bound = None, assumption.norm_bound
        if assumption.model_error is None and not self.problem.design("interval").dual:
            question = Question(Call.INTERVAL, g, ball_for(self.shape, bound))
        elif assumption.model_error is None and functionals.values_at is not None:
            question = band_question(self.shape, functionals.values_at, bound, None, inner=False)
        joint = None if question is None else Joint(self.shape, question, self.m)
        return Asked(wanted, names, g @ self.problem.estimate, assumption, joint)

    def _inputs(self, X: Any, assumption: Assumption) -> Wanted:
        return self._functions.values(self.problem.transform(X), assumption)

    def _rows(self, X: Any) -> Array:
        return self.problem.design("band").rows(self.problem.transform(X))

    def _bounded_jointly(self, level: float) -> bool:
        """Whether the joint region of a level is bounded."""
        try:
            return bool(self.shape.bounded(self.level(level)))
        except (NotAvailable, ValueError):
            return False

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
            Setting.MODEL_ERROR.check(method)
            chosen = CELLS
        if chosen == JOINT:
            return self._at_levels(level, joint)
        if assumption.given:
            try:
                if question.inner:
                    raise NotAvailable(NO_MEMBERS)
                _ = self._functions
            except NotAvailable:
                if chosen == CELLS:
                    raise
                return self._at_levels(level, joint)
            asked = Asked(values(), names, question.g @ self.problem.estimate, assumption)

            def from_cells(one: float, auto: bool = False) -> T | None:
                return values_at_once(self._functions, asked, one, cells, make, unless_wider=auto)

            if chosen == "auto" and from_cells(highest(level), auto=True) is None:
                return self._at_levels(level, joint)
            return at_each(level, from_cells)
        options_of = highest(level), chosen, cells
        made = balanced_cells(self.problem, question.g, *options_of, inner=question.inner)
        if made is None:
            return self._at_levels(level, joint)
        return at_each(level, lambda one: made.answer(one).bounds(make, one))

    def _one_by_one(
        self,
        g: Array,
        names: Sequence[str],
        level: Any,
        method: str,
        options: tuple[Any, Any, Any],
        make: Callable[..., T],
    ) -> Any:
        """Return bounds that have their level each by itself."""
        cells, weights, estimator = options
        checked = self._numbers.options(cells, method, weights, estimator)
        chosen_for, jointly = highest(level), self._bounded_jointly

        def at(one: float) -> T:
            found = self._numbers.answer(g, names, one, checked, chosen_for, jointly)
            return found.bounds(make, one)

        return at_each(level, at)

    def _values(
        self,
        asked: Asked,
        level: Any,
        method: str,
        options: tuple[Any, Any, Any],
        make: Callable[..., T],
    ) -> Any:
        """Return bounds of functionals of the function, each with its level by itself."""
        cells, weights, estimator = options
        checked = function_options(self._functions, cells, method, weights, estimator)
        chosen_for = highest(level)
        return at_each(
            level,
            lambda one: values_one_by_one(self._functions, asked, one, checked, make, chosen_for),
        )


def _require_alone(inner: object) -> None:
    """Refuse what only the joint region offers."""
    check_inner(inner)
    if inner:
        raise ValueError(
            "inner=True does not apply to one number at a time: expected simultaneous=True with "
            "it, given simultaneous=False. Leave out one of the two."
        )
