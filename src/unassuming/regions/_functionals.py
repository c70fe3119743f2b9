"""Bounds of linear functionals over a region: intervals of coefficients, bands of functions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.geometry.quadratic import BallChart, ball_chart
from unassuming.inputs import as_functionals
from unassuming.objectives import Design, DesignedObjective, KernelDesign
from unassuming.ranking import Level
from unassuming.regions._advice import Asked
from unassuming.regions._region import Region
from unassuming.regions._results import Band, Interval, Status


class FunctionalRegion(Region):
    """A region that can bound linear functionals of the coefficients: what its kinds share.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import Ridge
    >>> X, y, coefficients = ua.datasets.linear(n=50, d=2, random_state=0)
    >>> region = ua.confidence_region(Ridge(), X, y, random_state=0)
    >>> len(region.interval()), len(region.band(X))
    (3, 50)
    """

    def interval(
        self,
        functionals: Any = None,
        level: Any = 0.9,
        norm_bound: float | None = None,
        inner: bool = False,
    ) -> Any:
        """Bound linear functionals of the coefficients, all at once (simultaneously).

        For quadratic objectives outer bounds take, for each of the m - 1 sets, one factorisation of
        a k×k matrix, k = rank (an eigendecomposition if the set is nearly a cylinder, two with a
        norm bound), and about k² multiplications for each functional (60 k with a norm bound). All
        levels come from one computation. The sets are taken a few at a time: 128 MB, or a dozen
        k×k matrices if these are larger. The search of ``inner=True`` holds all of them.

        For other objectives outer bounds cost about as much, and infinite ones, with what helps, a
        second or two. There ``inner=True`` is a search along lines, and mostly far dearer: with
        m = 100 on one core 2 s for LASSO with 6 coefficients and n = 50, 4 s with n = 200; 5 to 7 s
        for 10 values of SVR or kernel LASSO with n = 50. Minutes for kernel Huber (200 s for 10
        values with n = 50) and for objectives of which only membership is known, as HuberRegressor
        and those of your own. ``KernelHuber`` and ``HuberRegressor`` have nothing but the norm
        bound alone for outer bounds.

        Parameters
        ----------
        functionals : array of shape (d,) or (N, d), name or list of names, optional
            Each row g stands for gᵀa, and a name out of ``region.names`` for that coefficient.
            None: every coefficient.
        level : float or sequence of floats
            A sequence gives a dictionary.
        norm_bound : float, optional
            An assumption of yours, ‖coef‖ <= B (the penalised coefficients) for features, and
            ‖f‖ <= B in the norm of the kernel for kernels.
        inner : bool
            Also search for members that come near the bounds, and return them as witnesses.

        Returns
        -------
        Interval, or a dictionary of them for several levels

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import LinearRegression
        >>> X, y, coefficients = ua.datasets.linear(n=50, d=2, random_state=0)
        >>> region = ua.confidence_region(LinearRegression(), X, y, random_state=0)
        >>> print(region.interval())
        Interval of 3 functionals at level 0.9: every bound is finite and an honest outer bound of
        the region.
                      estimate      lower      upper
          intercept   0.449579   0.183833   0.720281
          x0           1.11028   0.780206    1.39273
          x1         -0.241735  -0.504641  0.0329173
        >>> region.interval("x1").names
        ('x1',)
        >>> difference = region.interval([0.0, 1.0, -1.0], level=0.95)
        >>> bool(difference.lower[0] < coefficients[1] - coefficients[2] < difference.upper[0])
        True
        """
        g, names = as_functionals(functionals, self.names)
        self._check_search(norm_bound, inner)
        ball = None if norm_bound is None else self._ball(g, None, function=False)
        make = self._results("interval", g, ball, norm_bound, inner=inner)
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
        function at the training inputs and need not elsewhere. Time and memory are those of
        `interval`, those of ``inner=True`` too; with n = 2,000, kernel ridge and a full-rank kernel
        that is a minute or two, and with a norm bound a quarter of an hour, in less than 1 GB.

        Parameters
        ----------
        X : array or DataFrame
            Inputs, as the model takes them. The columns of a DataFrame are those of the data, in
            the same order.
        level : float or sequence of floats
            A sequence gives a dictionary.
        norm_bound : float, optional
            An assumption of yours: the function's norm is at most B.
        target : {"representation", "function"}, optional
            ``"function"`` covers the function itself between the training inputs too; it needs a
            kernel and a norm bound, and is the default with these.
        inner : bool
            Also search for members that come near the bounds, and return them as witnesses.

        Returns
        -------
        Band, or a dictionary of them for several levels

        Examples
        --------
        >>> import numpy as np
        >>> import unassuming as ua
        >>> from sklearn.kernel_ridge import KernelRidge
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
        >>> truth = f(np.array(band.X))
        >>> bool(((band.lower <= truth) & (truth <= band.upper)).all())
        True
        """
        design = self._design("band")
        inputs = self._transform(X)
        g = design.rows(inputs)
        kernel = isinstance(design, KernelDesign)
        chosen = target or ("function" if kernel and norm_bound is not None else "representation")
        if chosen not in ("representation", "function"):
            raise ValueError(
                f"target is unknown: expected 'representation' or 'function', given {target!r}. "
                "Leave it out for the default."
            )
        if chosen == "function" and not kernel:
            raise NotAvailable(
                "target='function' needs a kernel, and this model has none, only features: leave "
                "out `target`, or use a kernel model such as KernelRidge with norm_bound=B."
            )
        if chosen == "function" and norm_bound is None:
            raise NotAvailable(
                "target='function' needs an assumption on the function between the training "
                "inputs: pass norm_bound=B, or use target='representation'."
            )
        self._check_search(norm_bound, inner)
        ball = None
        if norm_bound is not None:
            similarity = _self_similarity(design, inputs, chosen)
            ball = self._ball(g, similarity, function=chosen == "function")
        make = self._results("band", g, ball, norm_bound, inner=inner)
        return self._at_levels(level, lambda used: Band(X=X, target=chosen, **make(used)))

    def suggest_norm_bound(self) -> float:
        """Return twice the norm of the estimate: a heuristic from the data, not an assumption.

        A band that rests on it carries no guarantee. The norm bound is meant to be known before
        looking at the data.

        Examples
        --------
        >>> import unassuming as ua
        >>> from sklearn.linear_model import Ridge
        >>> X, y, coefficients = ua.datasets.linear(n=50, d=2, random_state=0)
        >>> region = ua.confidence_region(Ridge(), X, y, random_state=0)
        >>> round(region.suggest_norm_bound(), 2)
        2.22
        """
        return 2 * self._norm_of_estimate()

    @abstractmethod
    def _bounds(
        self, g: Array, ball: BallChart | None, norm_bound: float | None, *, inner: bool
    ) -> Callable[[Level], dict[str, Any]]:
        """Return what makes the fields of a result at one level, for functionals g (N, d)."""

    def _fields(
        self,
        used: Level,
        g: Array,
        lower: Array,
        upper: Array,
        status: Status,
        reason: str,
        witnesses: Array | None,
    ) -> dict[str, Any]:
        """Return the fields of a result; ``witnesses`` (2, N, d) attain inner bounds."""
        return {
            "level": float(used),
            "estimate": g @ self.estimate,
            "lower": lower,
            "upper": upper,
            "status": status,
            "reason": reason,
            **attained(witnesses, g),
        }

    def _confined(
        self, spans: list[Array], origins: Array, directions: Array, norm_bound: float | None
    ) -> list[Array]:
        """Cut intervals of t on lines to the ball, if there is one."""
        if norm_bound is None:
            return spans
        P = self._design("a norm bound").penalty_matrix()
        return [
            _within_ball(span, P, a, d, norm_bound)
            for span, a, d in zip(spans, origins, directions, strict=True)
        ]

    def _design(self, operation: str) -> Design:
        """Return the features or the kernel behind the objective."""
        if not isinstance(self.objective, DesignedObjective):
            raise NotAvailable(
                f"{operation} needs a model with features or a kernel, and {self.objective} has "
                "none that the library knows: use interval(functionals) and crossings, or derive "
                "the objective from DesignedObjective."
            )
        return self.objective.design

    @property
    def _root_weights(self) -> Array:
        """The square roots of the weights that the charts contain."""
        return np.ones(self.objective.n)

    def _ball(self, g: Array, similarity: Array | None, *, function: bool) -> BallChart:
        """Return the chart in which the norm is a quadratic form."""
        design = self._design("a norm bound")
        if isinstance(design, KernelDesign):
            design.require_positive_semidefinite("a norm bound")
        return ball_chart(
            design, self._root_weights, self.estimate, g, similarity, function=function
        )

    def _norm_of_estimate(self) -> float:
        """Return the norm that a norm bound bounds, at the estimate."""
        P = self._design("a norm bound").penalty_matrix()
        return float(np.sqrt(np.maximum(self.estimate @ P @ self.estimate, 0.0)))

    def _results(
        self, call: str, g: Array, ball: BallChart | None, norm_bound: float | None, *, inner: bool
    ) -> Callable[[Level], dict[str, Any]]:
        """Return the same, with what the bounds rest on and what helps where they are infinite."""
        make = self._bounds(g, ball, norm_bound, inner=inner)

        def at(used: Level) -> dict[str, Any]:
            fields = make(used)
            sets, known = fields.pop("sets", None), fields.pop("endless", False)
            asked = Asked(call, g, used.q, norm_bound, inner or known, sets)
            said = [fields["reason"], self._ways(asked, fields["status"])]
            if norm_bound is not None and (norm := self._norm_of_estimate()) > norm_bound:
                said.append(
                    f"The estimate's own norm is {norm:.6g}, larger than the bound of "
                    f"{norm_bound:.6g}."
                )
            fields["reason"] = " ".join(part for part in said if part)
            assumed = None if norm_bound is None else float(norm_bound)
            return {**fields, "norm_bound": assumed, "caveat": self._caveat}

        return at

    def _ways(self, asked: Asked, status: Status) -> str:
        """Return what helps where bounds are infinite, unless the reason says so already."""
        del asked, status
        return ""

    def _check_search(self, norm_bound: float | None, inner: object) -> None:
        """Check a norm bound, and whether members within it can be searched for."""
        check_norm_bound(norm_bound)
        if not isinstance(inner, (bool, np.bool_)):
            raise ValueError(
                f"inner is neither true nor false: expected True or False, given {inner!r}. Pass "
                "inner=True for bounds that members attain."
            )
        if inner and norm_bound is not None:
            self._require_inside(norm_bound, ", or leave out inner=True for the outer bounds alone")

    def _require_inside(self, norm_bound: float, otherwise: str = "") -> None:
        """Refuse a search that would have to start outside the ball."""
        norm = self._norm_of_estimate()
        if norm > norm_bound:
            raise NotAvailable(
                f"the search starts at the estimate, whose norm {norm:.6g} is above the norm bound "
                f"{norm_bound:.6g}: pass norm_bound={_rounded_up(norm)} or more{otherwise}."
            )

    def _no_member(self, used: Level) -> NotAvailable:
        return NotAvailable(
            f"the region of level {float(used):.12g} has no member: even the estimate is "
            "outside. Ask for a higher level."
        )


def _self_similarity(design: Design, inputs: Array, target: str) -> Array | None:
    if not isinstance(design, KernelDesign) or design.kernel is None:
        return None
    similarity = design.kernel.diagonal(inputs)
    if similarity is None and target == "function":
        raise NotAvailable(
            "target='function' needs k(z, z) at the new inputs, which a precomputed kernel "
            "does not tell: pass the kernel itself, or use target='representation'."
        )
    return similarity


def _rounded_up(number: float) -> str:
    """Return a number that is not smaller, in six digits."""
    unit = 10.0 ** (np.floor(np.log10(number)) - 5)
    return f"{np.ceil(number / unit) * unit:.6g}"


def attained(witnesses: Array | None, g: Array) -> dict[str, Any]:
    """Return the inner bounds of functionals g (N, d) that members (2, N, d) attain."""
    if witnesses is None:
        return {"inner_lower": None, "inner_upper": None, "witnesses": None}
    low, high = np.einsum("snd,nd->sn", witnesses, g)
    return {"inner_lower": low, "inner_upper": high, "witnesses": witnesses}


def check_norm_bound(norm_bound: float | None) -> None:
    """Refuse what is no bound of a norm."""
    if norm_bound is None:
        return
    number = isinstance(norm_bound, Real) and not isinstance(norm_bound, bool)
    if not number or not np.isfinite(norm_bound) or norm_bound <= 0:
        raise ValueError(
            f"norm_bound is out of range: expected one finite number > 0, given {norm_bound!r}. "
            "Pass an upper bound on the norm that you are ready to assume."
        )


def _within_ball(spans: Array, P: Array, a: Array, d: Array, bound: float) -> Array:
    """Intersect intervals of t with {t : (a + td)ᵀP(a + td) <= B²}."""
    A, b, c = float(d @ P @ d), float(a @ P @ d), float(a @ P @ a) - bound**2
    if A <= 0:  # nothing along the line is penalised: all of it is in the ball, or nothing
        return spans if c <= 0 else spans[:0]
    root = np.sqrt(max(b * b - A * c, 0.0))
    low, high = (-b - root) / A, (-b + root) / A
    clipped = np.clip(spans, low, high)
    return clipped[clipped[:, 0] < clipped[:, 1]]
