"""From the arguments of ``band`` and ``interval`` to questions, and from bounds to results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._typing import Array
from unassuming.inputs import check_inner, check_norm_bound, check_target
from unassuming.noise import Labels
from unassuming.objectives import NormBall
from unassuming.ranking import Level
from unassuming.regions._explain import Cause, Status
from unassuming.regions._question import INPUT, Call, Question
from unassuming.regions.shapes import OuterBounds, Shape

T = TypeVar("T")


def ball_for(shape: Shape, norm_bound: float | None, *, inner: object = False) -> NormBall | None:
    """Return the ball of a norm bound, after checking that a search could start inside it."""
    check_norm_bound(norm_bound)
    check_inner(inner)
    if norm_bound is None:
        return None
    design = shape.problem.design("a norm bound")
    design.require_positive_semidefinite("a norm bound")
    ball = NormBall(design.penalty_matrix(), float(norm_bound))
    if inner:
        shape.require_inside(ball, ", or leave out inner=True for the outer bounds alone")
    return ball


def band_question(
    shape: Shape, X: Any, norm_bound: float | None, target: str | None, *, inner: bool
) -> Question:
    """Return the functionals that are values at inputs, of the function or its representation."""
    design = shape.problem.design("band")
    inputs = shape.problem.transform(X)
    g = design.rows(inputs)
    check_target(target)
    function = target == "function"
    if target is None:
        function = design.dual and norm_bound is not None
    if function and not design.dual:
        raise NotAvailable(
            "target='function' needs a kernel, and this model has features only: leave out "
            "`target`, or use a kernel model such as KernelRidge with norm_bound=B."
        )
    if function and norm_bound is None:
        raise NotAvailable(
            "target='function' needs an assumption on the function between the training inputs: "
            "pass norm_bound=B, or use target='representation'."
        )
    ball, similarity = ball_for(shape, norm_bound, inner=inner), design.self_similarity(inputs)
    if function and similarity is None:
        raise NotAvailable(
            "target='function' needs k(z, z) at the new inputs, which a precomputed kernel does "
            "not give: pass the kernel itself, or use target='representation'."
        )
    return Question(
        Call.BAND,
        g,
        ball,
        similarity,
        function=function,
        features=design.primal_rows(inputs, function=function),
        at=design.rows_at(inputs),
        inputs=inputs,
        inner=bool(inner),
    )


def whole_function(
    shape: Shape, norm_bound: float | None, model_error: float | None, target: str | None
) -> bool:
    """Whether values one at a time are those of the function itself, not of the model.

    With a kernel and a norm bound they are, by default.
    """
    check_target(target)
    dual = shape.problem.design("band").dual
    if norm_bound is None and model_error is None:
        return False
    if target == "function" and not dual and model_error is None:
        raise NotAvailable(
            "target='function' needs a kernel or a model error, and this model has features only: "
            "leave out `target`, use a kernel model such as KernelRidge with norm_bound=B, or pass "
            "model_error=D if the features miss the function by at most D at the inputs."
        )
    return dual if target is None else target == "function"


def answer(
    shape: Shape, question: Question, caveat: str, make: Callable[..., T]
) -> Callable[[Sequence[Level]], list[T]]:
    """Return what makes results at several levels; ``make`` takes the fields of `Bounds`."""
    problem, g, ball = shape.problem, question.g, question.ball
    value: Callable[[Array], Array] = np.asarray
    if question.call is Call.BAND:
        value = problem.objective.response
    means = question.call is Call.BAND and isinstance(problem.noise, Labels)

    def cut(bounds: Array | None) -> Array | None:
        """Return values of the model, of labels within [-1, 1]."""
        if bounds is None:
            return None
        return np.clip(value(bounds), -1.0, 1.0) if means else value(bounds)

    def result(level: Level, found: OuterBounds) -> T:
        explanation = found.explanation
        if ball is not None and (norm := ball.norm(problem.estimate)) > ball.bound:
            outside = Cause.ESTIMATE_OUTSIDE(norm=norm, bound=ball.bound)
            explanation = explanation.with_more(outside)
        low, high = found.inner(g)
        if means and (found.lower <= found.upper).all():
            beyond = (value(found.lower) < -1) | (value(found.upper) > 1)
            if beyond.any() and found.status is not Status.TRIVIAL:
                explanation = explanation.with_more(Cause.CUT(count=int(beyond.sum())))
        return make(
            level=float(level),
            estimate=value(g @ problem.estimate),
            lower=cut(found.lower),
            upper=cut(found.upper),
            inner_lower=cut(low),
            inner_upper=cut(high),
            witnesses=found.witnesses,
            status=found.status,
            reason=explanation.text(),
            norm_bound=None if ball is None else ball.bound,
            caveat=caveat,
            explanation=explanation,
            attained=np.full(len(g), float(level)),
        )

    return lambda levels: list(map(result, levels, shape.bounds(question, levels)))


def numbered_inputs(g: Array) -> list[str]:
    """Return what the values at inputs are called.

    Examples
    --------
    >>> numbered_inputs(np.eye(2))
    ['input 0', 'input 1']
    """
    return [f"{INPUT} {j}" for j in range(len(g))]
