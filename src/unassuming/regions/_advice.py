"""What helps where bounds are infinite: only what does help this region and this call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.geometry import order_statistic
from unassuming.geometry.piecewise import LineModel, Trials, ball_alone, highest_level, outer_bounds
from unassuming.geometry.quadratic import BallChart
from unassuming.noise import Symmetric
from unassuming.objectives import DesignedObjective, FeatureDesign, KernelDesign, Objective

Way = tuple[bool | Callable[[], bool], str]
"""Whether something helps, or what finds out, and a sentence."""


def what_helps(ways: Iterable[Way]) -> str:
    """Return the ways that do, in one sentence."""
    found = [sentence for works, sentence in ways if (works() if callable(works) else works)]
    if not found:
        return "Nothing that would help is known."
    return "What helps: " + "; ".join(found) + "."


@dataclass(frozen=True, eq=False)
class Asked:
    """A question to a region of which a finite answer is not known.

    Attributes
    ----------
    call : str
        ``"band"``, ``"interval"`` or ``"sample"``.
    g : array of shape (N, d)
        The functionals; every coefficient for a sample.
    q : int
    norm_bound : float or None
    inner : bool
        Whether it asked for what members attain, or that is known to be infinite.
    bounds : arrays of shape (N, m - 1), or None
        Of each set, from above and of -g, where they have been computed.
    """

    call: str
    g: Array
    q: int
    norm_bound: float | None
    inner: bool
    bounds: tuple[Array, Array] | None = None


@dataclass(frozen=True, eq=False)
class Adviser:
    """What is to be known of a piecewise region to say what helps.

    Attributes
    ----------
    objective : Objective
    weighting : object
    model : LineModel or None
    m : int
    size : float or None
        A norm bound to try: twice the norm of the estimate; None if there is none.
    ball : callable
        The chart of functionals g (N, d) in which the norm is a quadratic form; may refuse.
    last : object
        The estimator, or the last step of a pipeline.
    """

    objective: Objective
    weighting: object
    model: LineModel | None
    m: int
    size: float | None
    ball: Callable[[Array], BallChart]
    last: object

    def ways(self, asked: Asked) -> list[Way]:
        """Return what may help, cheap to check first."""
        bounds = self._bounds(asked)
        best = highest_level(*bounds)
        intercept = self._design is not None and self._design.intercept
        slopes = asked.g.copy()
        slopes[:, :1] = 0.0
        some = intercept and bool(slopes.any()) and asked.call == "interval"
        free, held = asked.norm_bound is None, asked.norm_bound is not None
        trials = self._trials(asked)
        kernel = isinstance(self._design, KernelDesign)
        shift = intercept and not kernel and self.shift_unseen
        ways: list[Way] = [
            (
                lambda: free and self._norm_bound_helps(asked, asked.g),
                f"a norm bound that you can assume: {self._paste(asked)}",
            ),
            (
                lambda: (
                    free
                    and some
                    and not self._norm_bound_helps(asked, asked.g)
                    and self._norm_bound_helps(asked, slopes)
                ),
                "a norm bound that you can assume, which bounds all but the intercept: "
                f"{self._slopes(asked)}",
            ),
            (
                lambda: held and some and self._norm_bounds(asked, slopes),
                f"the coefficients that the norm bounds: {self._slopes(asked)}",
            ),
            (best > 0, f"a level of at most {best:.4g}"),
            (lambda: free and trials is not None and trials.weighted(), "weighting='hessian'"),
            (
                lambda: (
                    free and self.weighting == "identity" and trials is not None and trials.scaled()
                ),
                "features of one scale, since weighting='identity' depends on it: "
                f"make_pipeline(StandardScaler(), {' '.join(repr(self.last).split())})",
            ),
            (
                lambda: shift and trials is not None and trials.with_noise(Symmetric()),
                "noise='symmetric', if the noise is symmetric",
            ),
            (
                shift and asked.call != "sample" and 4 * self.objective.d <= self.objective.n,
                "LinearRegression(), of which a shift leaves the slopes as they are: its "
                "interval(region.names[1:])",
            ),
            (
                held and intercept and kernel and asked.call != "interval",
                "KernelRidge() with the same kernel, which has no intercept",
            ),
            (
                held and intercept and not kernel and hasattr(self.last, "fit_intercept"),
                "fit_intercept=False, if the function has no constant part",
            ),
            (free and self._too_many_features, "fewer features than rows"),
            (not asked.inner, "inner=True for values that members attain"),
            (asked.inner, "crossings(direction), which tells how far a line goes"),
        ]
        return ways

    @property
    def shift_unseen(self) -> bool:
        """Whether every transformation leaves a constant shift as it is."""
        if self.model is None:
            return False
        ones = np.ones(self.objective.n)
        return bool((self.model.perturbations.apply(ones) == 1).all())

    @property
    def _design(self) -> FeatureDesign | KernelDesign | None:
        if not isinstance(self.objective, DesignedObjective):
            return None
        design = self.objective.design
        assert isinstance(design, (FeatureDesign, KernelDesign))
        return design

    @property
    def _too_many_features(self) -> bool:
        return isinstance(self._design, FeatureDesign) and self.objective.d > self.objective.n

    def _bounds(self, asked: Asked) -> tuple[Array, Array]:
        if asked.bounds is not None:
            return asked.bounds
        return outer_bounds(self.model, self._design, asked.g, None, None, self.m - 1)

    def _trials(self, asked: Asked) -> Trials | None:
        if self.model is None or not isinstance(self._design, FeatureDesign):
            return None
        assert isinstance(self.objective, DesignedObjective)
        return Trials(self.model, self.objective, asked.g, asked.q)

    def _norm_bound_helps(self, asked: Asked, g: Array) -> bool:
        if self.size is None:
            return False
        try:
            ball = self.ball(g)
        except (NotAvailable, ValueError):  # no norm is known, or it is none
            return False
        if asked.call == "sample":  # a walk takes no step that neither norm nor intercept sees
            if self._design is None or not self._design.intercept:
                return True
            g = g[:1]
            ball = self.ball(g)
        found = outer_bounds(self.model, self._design, g, ball, self.size, self.m - 1)
        return all(bool(np.isfinite(order_statistic(part, asked.q)).all()) for part in found)

    def _norm_bounds(self, asked: Asked, g: Array) -> bool:
        """Whether the ball alone bounds functionals."""
        return bool(np.isfinite(ball_alone(self.ball(g), asked.norm_bound or 1.0)).all())

    def _paste(self, asked: Asked) -> str:
        if asked.call == "band":
            kernel = self._design.kernel if isinstance(self._design, KernelDesign) else None
            if kernel is not None and kernel.precomputed:
                return "band(X, norm_bound=B, target='representation')"
            return "band(X, norm_bound=B)"
        return "sample(size, norm_bound=B)" if asked.call == "sample" else "interval(norm_bound=B)"

    @staticmethod
    def _slopes(asked: Asked) -> str:
        bound = "B" if asked.norm_bound is None else f"{asked.norm_bound:.6g}"
        return f"interval(region.names[1:], norm_bound={bound})"
