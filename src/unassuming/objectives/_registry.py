"""The registry from estimator classes to objectives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unassuming._typing import Array
from unassuming.objectives._base import Objective
from unassuming.objectives._nearest import chooses_itself, has_nearest

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
    A subclass with the same objective:

    >>> class MyRidge(Ridge):
    ...     pass
    >>> ua.register_objective(MyRidge, ua.objectives.from_ridge)

    A new objective, ``Σ |r_j| + alpha ‖a‖²``. Its methods receive coefficients of shape (N, d),
    several candidates at once, and residuals of shape (N, ..., n), several vectors for each
    candidate. Both shapes are checked when a region is built.

    >>> class AbsoluteRidge:
    ...     def __init__(self, alpha=1.0):
    ...         self.alpha = alpha
    >>> class AbsoluteObjective(ua.objectives.Objective):
    ...     def __init__(self, X, y, alpha):
    ...         super().__init__(y, d=X.shape[1])
    ...         self.X, self.alpha = X, alpha
    ...     def residuals(self, coefficients):
    ...         return self.y - coefficients @ self.X.T
    ...     def gradient(self, coefficients, residuals):
    ...         penalty = 2 * self.alpha * coefficients
    ...         between = (1,) * (residuals.ndim - 2)  # the axes of the transformations
    ...         loss = -np.sign(residuals) @ self.X
    ...         return loss + penalty.reshape(len(penalty), *between, self.d)
    >>> def from_absolute_ridge(estimator, X, y, sample_weight):
    ...     return AbsoluteObjective(X, y, estimator.alpha)
    >>> ua.register_objective(AbsoluteRidge, from_absolute_ridge)
    >>> design = np.column_stack([np.ones(len(X)), X])
    >>> region = ua.confidence_region(AbsoluteRidge(alpha=0.1), design, y, random_state=0)
    >>> region.contains([coefficients, coefficients + 0.5], level=0.9)
    array([ True, False])
    """
    if not isinstance(estimator_class, type):
        raise TypeError(
            "estimator_class is not a class: expected a class such as sklearn.linear_model.Ridge, "
            f"given {estimator_class!r}. Pass the class, not an instance."
        )
    if not callable(factory):
        raise TypeError(
            "factory is not callable: expected factory(estimator, X, y, sample_weight) -> "
            f"Objective, given {factory!r}. Pass a function."
        )
    _FACTORIES[estimator_class] = factory


def factory_for(estimator: Any, kind: type = object) -> Factory:
    """Return the registered factory, or raise a TypeError that names the nearest supported class.

    If no class is near, the error lists all that are supported.

    Parameters
    ----------
    estimator : object
    kind : type
        A base class, such as ClassifierMixin, to which the list is restricted.

    Examples
    --------
    >>> factory_for(Ridge()).__name__
    'from_ridge'
    """
    factory = _FACTORIES.get(type(estimator))
    if factory is None:
        refusal = chooses_itself(estimator) or has_nearest(estimator)
        if refusal is not None:
            raise refusal
        names = sorted(cls.__name__ for cls in _FACTORIES if issubclass(cls, kind))
        raise TypeError(
            f"estimator is not supported: expected one of {', '.join(names)}, or a "
            f"Pipeline of unsupervised transformers ending in one of them, given {estimator!r}. "
            "Register another class with ua.register_objective(estimator_class, factory)."
        )
    return factory


def registered_classes() -> tuple[type, ...]:
    """Return the classes that have a factory.

    Examples
    --------
    >>> Ridge in registered_classes()
    True
    """
    return tuple(_FACTORIES)
