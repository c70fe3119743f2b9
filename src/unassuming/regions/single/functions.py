"""Values of a function of bounded norm: one at a time, and at once from balanced cells (11.5).

Nothing is assumed about the estimator, so kernel models of every loss share this path. Rows are put
in an order that the inputs determine, so that nothing depends on that of the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast, final

import numpy as np
from sklearn.pipeline import Pipeline

from unassuming._errors import NotAvailable
from unassuming._numerics import EPS
from unassuming._typing import Array, IntArray
from unassuming.cells.estimates import by_unit, order_of
from unassuming.cells.functions import (
    Assumed,
    Coordinates,
    Kriging,
    System,
    Wanted,
    interleaved,
    leading,
)
from unassuming.functionals import Functional
from unassuming.inputs import check_like, single_column, tangents
from unassuming.noise import sign_units_of
from unassuming.objectives import Design, KernelDesign
from unassuming.regions.problem import Problem
from unassuming.regions.single.evidence import IN_MEMORY

WORKING_SCALE = 1 / 40  # of B√k(x, x), which no value of the function exceeds

NO_NORMS = (
    "values of the function need k(z, z) at the new inputs, which a precomputed kernel does not "
    "give: pass the kernel itself, or use simultaneous=True."
)
NO_FEATURES = (
    "a model error alone needs a model with features: the kernel can take any values at the "
    "inputs, so the data say nothing between them. Pass norm_bound=B as well."
)
NO_SLOPES = (
    "slopes need a kernel with a derivative that is known: rbf, linear, poly, or the objects RBF, "
    "Matern (nu 1.5, 2.5 or infinite), RationalQuadratic, DotProduct and their sums, products and "
    "powers. Use ua.functionals.difference for two inputs near each other."
)


@final
@dataclass(frozen=True)
class Assumption:
    """What a user assumes of the function: B, Δ, and a working noise scale; None if not given."""

    # `whole`: values of f* itself are wanted, not those of a model that misses it by Δ.

    norm_bound: float | None
    model_error: float | None = None
    noise_scale: float | None = None
    whole: bool = False

    @property
    def given(self) -> bool:
        """Whether anything is assumed."""
        return self.norm_bound is not None or self.model_error is not None

    @property
    def stated(self) -> dict[str, float | None]:
        """What a result repeats."""
        return {"norm_bound": self.norm_bound, "model_error": self.model_error}

    @property
    def beyond(self) -> float:
        """What is added to each side for values of f* itself."""
        return (self.model_error or 0.0) if self.whole else 0.0


@final
class Functions:
    """Intervals, tests and bands of the function behind one region, with divisions made once."""

    def __init__(self, problem: Problem) -> None:
        if problem.classes is not None:
            raise NotAvailable(
                "intervals of values one at a time need a regression: labels are not a function "
                "plus noise. Use region.band(X), which holds at all inputs at once."
            )
        if problem.objective.endogenous:
            raise NotAvailable(
                "a norm bound or a model error needs inputs that do not depend on the noise, and "
                "the endogenous columns may. Leave it out. For a norm bound use the joint region, "
                "region.interval(norm_bound=B, simultaneous=True)."
            )
        self.problem = problem
        self.design: Design = problem.design("one value at a time")
        need = "values of a function with a norm bound or a model error need"
        self.data = problem.data(need, IN_MEMORY)
        w = self.data.weight
        self._weight = np.ones(problem.n) if w is None else w
        self.basis, noise = problem.left_to_rotate
        units = sign_units_of(noise, problem.n)
        if units is None:
            raise NotAvailable(
                f"{need} noise whose signs may change, and {problem.noise!r} does not declare "
                "that: use noise='symmetric' or ua.noise.BlockSymmetric(blocks) if the noise is "
                "symmetric, or method='joint'."
            )
        # Rows, or blocks of rows that change their sign together.
        self.units = int(units.max()) + 1
        self.blocks = self.units < len(units)
        self._units = units if self.blocks else None
        self._made: dict[object, Kriging] = {}
        self._systems: dict[bool, System] = {}

    @property
    def ordered_units(self) -> IntArray | None:
        """The block of each row (n,) in the order of the rows, if signs change in blocks."""
        return None if self._units is None else self._units[self.order]

    # The function as plain arrays

    @cached_property
    def _alone(self) -> Array | None:
        """The single input column, if there is one."""
        return None if self.problem.rotated else single_column(self.data)

    @cached_property
    def order(self) -> IntArray:
        """The order of the rows: by the single input column, or else by leverage."""
        # These follow a fixed permutation, never the position: rows may be sorted by y.
        if self._alone is not None:
            number = np.unique(self._alone, return_inverse=True)[1].reshape(-1)
            return order_of(-number[:, None].astype(np.float64))
        basis = leading(self._penalised[0])
        scale = len(basis) / max(basis.shape[1], 1)
        return order_of(np.square(basis).sum(axis=1, keepdims=True) * scale)

    def _turned(self, columns: Array) -> Array:
        """Return columns (n, k) in the basis of the noise."""
        return columns if self.basis is None else self.basis.T @ columns

    @cached_property
    def _penalised(self) -> tuple[System, Coordinates | None]:
        """The rows as they are, if the norm of the penalised part is bounded."""
        self.design.ball()  # refuses an indefinite kernel
        free, n = int(self.design.intercept), self.problem.n
        trend = self._turned(self.design.matrix[:, :free])
        if not self.design.dual:
            features = self._turned(self.design.matrix[:, free:])
            return System(trend, self._weight, features, (n + 4) * EPS), None
        found = Coordinates(self._turned(self._turned(cast(KernelDesign, self.design).K).T))
        unit = found.unit if self.basis is None else found.unit * float(np.sqrt(n))
        return System(trend, self._weight, found.features, unit), found

    def system(self, assumption: Assumption) -> System:
        """Return the rows under an assumption, in their order; without a bound all are free."""
        bounded = assumption.norm_bound is not None
        if bounded not in self._systems:
            if self.design.dual and not bounded:
                raise NotAvailable(NO_FEATURES)
            whole, rows = self._penalised[0] if bounded else None, self.order
            if whole is None:
                Phi = self._turned(self.design.matrix)
                whole = System(Phi, self._weight, Phi[:, :0], 0.0)
            trend, features = whole.trend[rows], whole.features[rows]
            self._systems[bounded] = System(trend, whole.weight[rows], features, whole.unit)
        return self._systems[bounded]

    @cached_property
    def y(self) -> Array:
        """The outputs, in the order of the rows."""
        return np.asarray(self._turned(self.problem.objective.y[:, None])[self.order, 0])

    def coefficients(self, g: Array, assumption: Assumption) -> Wanted:
        """Return functionals (N, d) of the coefficients of features."""
        if self.design.dual:
            raise NotAvailable(
                "coefficients of a kernel are not determined by the function: use "
                "region.band(X, norm_bound=B) or ua.functionals for its values."
            )
        return self._of_features(g, assumption)

    def values(self, inputs: Array, assumption: Assumption) -> Wanted:
        """Return the values at inputs (N, p), as the model takes them."""
        if not self.design.dual:
            return self._of_features(self.design.rows(inputs), assumption)
        self.system(assumption)  # refuses a kernel without a norm bound
        square = self.design.self_similarity(inputs)
        if square is None:
            raise NotAvailable(NO_NORMS)
        return self._of_kernel(self.design.rows(inputs), square, np.sqrt(square))

    def functional(self, functional: Functional, g: Array, assumption: Assumption) -> Wanted:
        """Return values, differences, averages or slopes; ``g`` are their rows of the design."""
        design, kernel = self.design, self.design.kernel
        if not design.dual:
            return self._of_features(g, assumption)
        self.system(assumption)  # refuses a kernel without a norm bound
        if functional.column is not None:
            _, squares = slopes(design, *directions(self.problem, functional))
            return self._of_kernel(g, squares, np.sqrt(squares))
        points = np.concatenate([self.problem.transform(X) for X, _ in functional.terms])
        C = np.concatenate([C for _, C in functional.terms], axis=1)
        square = None if kernel is None else kernel.squared_norms(points, C)
        own = design.self_similarity(points)
        if square is None or own is None:
            raise NotAvailable(NO_NORMS)
        return self._of_kernel(g, square, np.abs(C) @ np.sqrt(own))

    def _of_kernel(self, g: Array, square: Array, size: Array) -> Wanted:
        """Return functionals from rows of the design (N, d), squared norms and sizes (N,)."""
        free, coordinates = int(self.design.intercept), self._penalised[1]
        assert coordinates is not None
        return coordinates.wanted(g[:, :free], self._turned(g[:, free:].T).T, square, size)

    def _of_features(self, g: Array, assumption: Assumption) -> Wanted:
        free = g.shape[1] if assumption.norm_bound is None else int(self.design.intercept)
        size = np.linalg.norm(g[:, free:], axis=1)
        return Wanted(g[:, :free], g[:, free:], np.zeros(len(g)), size)

    def assumed(self, assumption: Assumption) -> Assumed:
        """Return the assumptions as numbers, with a working noise scale that does not see y."""
        B, delta = assumption.norm_bound or 0.0, assumption.model_error or 0.0
        scale = assumption.noise_scale
        if scale is None and B:
            square = np.square(self.system(assumption).features).sum(axis=1)
            scale = WORKING_SCALE * B * float(np.sqrt(np.median(square)))
        return Assumed(B, delta, scale or 10 * delta or 1.0)

    # Cells

    def kriging(self, assumption: Assumption, K: int, labels: IntArray | None = None) -> Kriging:
        """Return the weights in K cells, or in those of labels (n,) of the rows of the data."""
        key = assumption.norm_bound is None, K, None if labels is None else labels.tobytes()
        if key not in self._made:
            system = self.system(assumption)
            if labels is None:
                alone = self._alone is not None
                labels = interleaved(system, K, ordered=alone, units=self.ordered_units)
            else:
                if self._units is not None:
                    by_unit(labels, self._units)  # refuses cells that divide a block
                labels = labels[self.order]
            self._made[key] = Kriging(system, labels, K)
        return self._made[key]


def directions(problem: Problem, functional: Functional) -> tuple[Array, Array]:
    """Return the inputs of the model and the directions of the slopes there, both (N, d)."""
    assert functional.column is not None
    X = functional.terms[0][0]
    if problem.rows is not None:
        check_like(X, problem.rows.X)
    elif isinstance(problem.estimator, Pipeline):
        raise NotAvailable(
            "slopes of a pipeline need the fitted transformers, which a stream does not keep: "
            + IN_MEMORY
        )
    else:
        problem.transform(X)  # refuses other columns than those of the stream
    return tangents(problem.transformers, X, functional.column)


def slopes(design: Design, inputs: Array, along: Array) -> tuple[Array, Array]:
    """Return slopes of a kernel as rows of the design (N, n), and their squared norms (N,)."""
    found = None if design.kernel is None else design.kernel.slopes(inputs, along)
    if found is None:
        raise NotAvailable(NO_SLOPES)
    return found


def functional_rows(problem: Problem, functional: Functional) -> Array:
    """Return functionals of the function as rows of the design, shape (N, d)."""
    # For a kernel these are functionals of the representation; they give the estimate.
    design = problem.design("a functional of the function")
    if functional.column is None:
        rows = [design.rows(problem.transform(X)) for X, _ in functional.terms]
        return np.asarray(np.hstack([C for _, C in functional.terms]) @ np.vstack(rows))
    inputs, along = directions(problem, functional)
    if design.dual:
        along, _ = slopes(design, inputs, along)
    return np.column_stack([np.zeros(len(along)), along]) if design.intercept else along
