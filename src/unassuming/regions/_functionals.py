"""Bounds of linear functionals over a region: intervals of coefficients, bands of functions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from unassuming._errors import NotAvailable, complaint
from unassuming._typing import Array
from unassuming.objectives import Design, DesignedObjective, KernelDesign
from unassuming.ranking import Level
from unassuming.regions._charts import BallChart, ball_chart
from unassuming.regions._directions import as_vectors
from unassuming.regions._region import Region
from unassuming.regions._results import Band, Interval


class FunctionalRegion(Region):
    """A region that can bound linear functionals of the coefficients: what its kinds share."""

    def interval(
        self,
        functionals: Any = None,
        level: Any = 0.9,
        norm_bound: float | None = None,
        inner: bool = False,
    ) -> Any:
        """Bound linear functionals of the coefficients, all at once (simultaneously).

        Parameters
        ----------
        functionals : array of shape (d,) or (N, d), optional
            Each row g stands for gᵀa. None: every coefficient.
        level : float or sequence of floats
        norm_bound : float, optional
            An assumption of yours, ‖coef‖ <= B (the penalised coefficients) for features, and
            ‖f‖ <= B in the norm of the kernel for kernels.
        inner : bool
            Also search for members that come near the bounds.
        """
        if functionals is None:
            g, names = np.eye(self.objective.d), tuple(self.objective.names)
        else:
            g = as_vectors(functionals, "functionals", self.objective.d)[0]
            names = tuple(f"g{j}" for j in range(len(g)))
        check_norm_bound(norm_bound)
        ball = None if norm_bound is None else self._ball(g, None, function=False)
        make = self._bounds(g, ball, norm_bound, inner=inner)
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
        function at the training inputs and need not elsewhere.

        Parameters
        ----------
        X : array or DataFrame
            Inputs, as the model takes them.
        level : float or sequence of floats
        norm_bound : float, optional
            An assumption of yours: the function's norm is at most B.
        target : {"representation", "function"}, optional
            ``"function"`` covers the function itself between the training inputs too; it needs a
            kernel and a norm bound, and is the default with these.
        inner : bool
            Also search for members that come near the bounds, and return them as witnesses.
        """
        design = self._design("band")
        inputs = self._transform(X)
        g = design.rows(inputs)
        kernel = isinstance(design, KernelDesign)
        chosen = target or ("function" if kernel and norm_bound is not None else "representation")
        if chosen not in ("representation", "function"):
            raise ValueError(
                complaint(
                    "target",
                    "is unknown",
                    "'representation' or 'function'",
                    repr(target),
                    "Leave it out for the default.",
                )
            )
        if chosen == "function" and (norm_bound is None or not kernel):
            raise NotAvailable(
                "target='function' needs a kernel and an assumption on the function between the "
                "training inputs: pass norm_bound=B with a kernel model, or use "
                "target='representation'."
            )
        ball = None
        if norm_bound is not None:
            check_norm_bound(norm_bound)
            similarity = _self_similarity(design, inputs, chosen)
            ball = self._ball(g, similarity, function=chosen == "function")
        make = self._bounds(g, ball, norm_bound, inner=inner)
        return self._at_levels(level, lambda used: Band(X=X, target=chosen, **make(used)))

    def suggest_norm_bound(self) -> float:
        """Return twice the norm of the estimate: a heuristic from the data, not an assumption.

        A band that rests on it carries no guarantee. The norm bound is meant to be known before
        looking at the data.
        """
        return 2 * self._norm_of_estimate()

    @abstractmethod
    def _bounds(
        self, g: Array, ball: BallChart | None, norm_bound: float | None, *, inner: bool
    ) -> Callable[[Level], dict[str, Any]]:
        """Return what makes the fields of a result at one level, for functionals g (N, d)."""

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

    def _require_inside(self, norm_bound: float) -> None:
        """Refuse a search that would have to start outside the ball."""
        norm = self._norm_of_estimate()
        if norm > norm_bound:
            raise NotAvailable(
                "the search starts at the estimate, which has to satisfy the norm bound: its norm "
                f"is {norm:.6g}, the bound {norm_bound:.6g}. The outer bounds do not need this."
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


def check_norm_bound(norm_bound: float | None) -> None:
    if norm_bound is None:
        return
    number = isinstance(norm_bound, Real) and not isinstance(norm_bound, bool)
    if not number or not np.isfinite(norm_bound) or norm_bound <= 0:
        raise ValueError(
            complaint(
                "norm_bound",
                "is out of range",
                "one finite number > 0",
                repr(norm_bound),
                "Pass an upper bound on the norm that you are ready to assume.",
            )
        )


def within_ball(spans: Array, P: Array, a: Array, d: Array, bound: float) -> Array:
    """Intersect intervals of t with {t : (a + td)ᵀP(a + td) <= B²}."""
    A, b, c = float(d @ P @ d), float(a @ P @ d), float(a @ P @ a) - bound**2
    if A <= 0:
        return spans
    root = np.sqrt(max(b * b - A * c, 0.0))
    low, high = (-b - root) / A, (-b + root) / A
    clipped = np.clip(spans, low, high)
    return clipped[clipped[:, 0] < clipped[:, 1]]
