"""Values, differences, averages and slopes of a function as rows of the design."""

from __future__ import annotations

import numpy as np
from sklearn.pipeline import Pipeline

from unassuming._errors import NotAvailable
from unassuming._products import accurate_product
from unassuming._typing import Array
from unassuming.functionals import Functional
from unassuming.inputs import check_like, tangents
from unassuming.regions._problem import Problem

NO_SLOPES = (
    "slopes need a kernel with a derivative that is known: rbf, linear, poly, or the objects RBF, "
    "Matern (nu 1.5, 2.5 or infinite), RationalQuadratic, DotProduct and their sums, products and "
    "powers. Use ua.functionals.difference for two inputs near each other."
)
IN_MEMORY = "build the region in memory with ua.confidence_region(estimator, X, y)."


def functional_rows(problem: Problem, functional: Functional) -> Array:
    """Return functionals of the function as rows of the design, shape (N, d).

    For a kernel these are functionals of the representation; they give the estimate.
    """
    design = problem.design("a functional of the function")
    if functional.column is None:
        rows = [design.rows(problem.transform(X)) for X, _ in functional.terms]
        return _combined(np.hstack([C for _, C in functional.terms]), np.vstack(rows))
    inputs, along = directions(problem, functional)
    if design.dual:
        found = None if design.kernel is None else design.kernel.slopes(inputs, along)
        if found is None:
            raise NotAvailable(NO_SLOPES)
        along = found[0]
    return np.column_stack([np.zeros(len(along)), along]) if design.intercept else along


def _combined(C: Array, rows: Array) -> Array:
    """Return C (N, M) times rows (M, d), each number rounded once even where terms cancel."""
    found = np.asarray(C @ rows)
    # A row, or the difference of two, is rounded once anyway.
    exact = np.isin(C, (-1.0, 0.0, 1.0)).all(axis=1) & ((C != 0).sum(axis=1) <= 2)
    found[~exact] = accurate_product(C[~exact], rows)
    return found


def directions(problem: Problem, functional: Functional) -> tuple[Array, Array]:
    """Return the inputs of the model and the directions of the slopes there, both (N, d)."""
    assert functional.column is not None
    if problem.rows is None and isinstance(problem.estimator, Pipeline):
        raise NotAvailable(
            "slopes of a pipeline need the fitted transformers, which a stream does not keep: "
            + IN_MEMORY
        )
    X = functional.terms[0][0]
    if problem.rows is None:
        problem.transform(X)  # refuses other columns than those of the stream
    else:
        check_like(X, problem.rows.X)
    return tangents(problem.transformers, X, functional.column)
