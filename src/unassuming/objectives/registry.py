"""The registry from estimator classes to objectives, and what a user's own objective must do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array
from unassuming.objectives.base import Objective
from unassuming.objectives.refusals import refusal

Factory = Callable[[Any, Array, Array, Array | None], Objective]

_FACTORIES: dict[type, Factory] = {}


def register_objective(estimator_class: type, factory: Factory) -> None:
    """Register the objective that an estimator minimises.

    Parameters
    ----------
    estimator_class : type
        The class itself; subclasses are not covered, since they may minimise something else.
    factory : callable
        ``factory(estimator, X, y, sample_weight) -> Objective``. X and y are clean float arrays
        (labels are ±1 for classifiers); ``sample_weight`` is None or positive and finite.

    Examples
    --------
    >>> class MyRidge(Ridge):
    ...     "Ridge with another solver, which minimises the same."
    >>> ua.register_objective(MyRidge, ua.objectives.from_ridge)
    >>> MyRidge in ua.objectives.registered_classes()
    True
    """
    for name, given, right, expected in (
        ("estimator_class", estimator_class, isinstance(estimator_class, type), "a class"),
        ("factory", factory, callable(factory), "callable"),
    ):
        if not right:
            raise TypeError(
                f"{name} is not {expected}: expected register_objective(estimator_class, factory) "
                "with a class such as sklearn.linear_model.Ridge and a function factory(estimator, "
                f"X, y, sample_weight) -> Objective, given {given!r}. Pass these two."
            )
    _FACTORIES[estimator_class] = factory


def factory_for(estimator: Any, kind: type = object) -> Factory:
    """Return the registered factory of ``estimator``; refuse others, naming the nearest class.

    If no class is near, the error lists all that are supported and derive from ``kind``.

    Examples
    --------
    >>> ua.objectives.factory_for(Ridge()).__name__
    'from_ridge'
    """
    factory = _FACTORIES.get(type(estimator))
    if factory is None:
        raise refusal(estimator, [cls for cls in _FACTORIES if issubclass(cls, kind)])
    return factory


def registered_classes() -> tuple[type, ...]:
    """Return the classes that have a factory.

    Examples
    --------
    >>> Ridge in ua.objectives.registered_classes()
    True
    """
    return tuple(_FACTORIES)


def check_objective(objective: Any, factory: Any) -> None:
    """Refuse what is no objective, or one whose methods return other shapes than they should."""
    if not isinstance(objective, Objective):
        name = getattr(factory, "__name__", repr(factory))
        given = "None" if objective is None else type(objective).__name__
        raise TypeError(
            f"the factory {name} did not return an objective: expected an instance of a subclass "
            f"of ua.objectives.Objective, given {given}. Return the objective from the factory."
        )
    if objective.loss is not None:
        return  # residuals and gradient are those of the library
    name, n, d = type(objective).__name__, objective.n, objective.d
    a = 1e-3 * np.linspace(1.0, 2.0, 2 * d).reshape(2, d)  # two candidates, none of them zero
    r = _shaped(f"{name}.residuals(coefficients)", objective.residuals, (2, n), a)
    gradient = f"{name}.gradient(coefficients, residuals)"
    z = _shaped(gradient, objective.gradient, (2, None), a, r)
    every = np.stack([r, -r, r[:, ::-1]], axis=1)  # three transformations of each
    many = _shaped(gradient, objective.gradient, (2, 3, z.shape[1]), a, every)
    if not np.allclose(many[:, 0], z, rtol=1e-6, atol=1e-9 * np.abs(many).max()):
        wrong = "gives different numbers for several residual vectors at once and for one at a time"
        given = f"{many[0, 0, :3]} and {z[0, :3]}"
        remedy = "Check the axes: candidates come first, rows last."
        raise ValueError(complaint(gradient, wrong, "the same", given, remedy))


def _shaped(
    what: str, method: Callable[..., Array], shape: tuple[int | None, ...], *arrays: Array
) -> Array:
    """Return the result of a user's method; refuse another shape than this, and NaN."""
    try:
        found = np.asarray(method(*arrays), dtype=np.float64)
        given = f"shape {found.shape}, {int(np.isnan(found).sum())} of them NaN"
    except Exception as error:
        found, given = np.full((), np.nan), repr(error)
    pairs = zip(shape, found.shape, strict=False)
    same = len(shape) == found.ndim and all(s in (None, length) for s, length in pairs)
    if same and not np.isnan(found).any():
        return found
    wrong = f"fails for arrays of shapes {', '.join(str(array.shape) for array in arrays)}"
    expected = f"numbers of shape ({', '.join('k' if s is None else str(s) for s in shape)})"
    remedy = (
        "Candidates come first and rows last, transformations between them: write e.g. y - "
        "coefficients @ X.T, and insert middle axes into terms of the coefficients alone. See "
        "docs/howto/add-an-objective.md."
    )
    raise ValueError(complaint(what, wrong, expected, given, remedy))
