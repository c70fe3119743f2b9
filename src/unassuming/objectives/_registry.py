"""From an estimator to what it minimises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from unassuming._errors import complaint
from unassuming._typing import Array
from unassuming.objectives._base import Objective

Factory = Callable[[Any, Array, Array, Array | None], Objective]

_FACTORIES: dict[type, Factory] = {}


def register_objective(estimator_class: type, factory: Factory) -> None:
    """Teach the library what an estimator minimises.

    Parameters
    ----------
    estimator_class : type
        The class itself; subclasses are not covered, since they may minimise something else.
    factory : callable
        ``factory(estimator, X, y, sample_weight) -> Objective``. X and y are clean float arrays
        (labels are ±1 for classifiers); ``sample_weight`` is None or positive and finite.

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import Ridge
    >>> class MyRidge(Ridge):
    ...     pass
    >>> ua.register_objective(MyRidge, ua.objectives.from_ridge)
    """
    if not isinstance(estimator_class, type):
        raise TypeError(
            complaint(
                "estimator_class",
                "is not a class",
                "a class such as sklearn.linear_model.Ridge",
                repr(estimator_class),
                "Pass the class, not an instance.",
            )
        )
    if not callable(factory):
        raise TypeError(
            complaint(
                "factory",
                "is not callable",
                "factory(estimator, X, y, sample_weight) -> Objective",
                repr(factory),
                "Pass a function.",
            )
        )
    _FACTORIES[estimator_class] = factory


def factory_for(estimator: Any) -> Factory:
    """Return the registered factory, or raise a TypeError that lists what is supported.

    Parameters
    ----------
    estimator : object

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> factory_for(Ridge()).__name__
    'from_ridge'
    """
    factory = _FACTORIES.get(type(estimator))
    if factory is None and type(estimator).__name__.endswith("CV"):  # GridSearchCV, RidgeCV, ...
        raise TypeError(
            complaint(
                "estimator",
                "chooses hyper-parameters with the same y, which voids the guarantee",
                "a model with fixed hyper-parameters",
                type(estimator).__name__,
                "Tune on other rows: ua.tuned_region(search, X, y) does that for a search.",
            )
        )
    if factory is None:
        names = sorted(cls.__name__ for cls in _FACTORIES)
        raise TypeError(
            complaint(
                "estimator",
                "is of no supported class",
                f"one of {', '.join(names)}, or a Pipeline of unsupervised transformers ending in "
                "one of them",
                repr(estimator),
                "Register another class with ua.register_objective(estimator_class, factory).",
            )
        )
    return factory


def registered_classes() -> tuple[type, ...]:
    """Return the classes that have a factory.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> Ridge in registered_classes()
    True
    """
    return tuple(_FACTORIES)
