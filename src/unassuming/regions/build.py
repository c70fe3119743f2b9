"""From an estimator and data to a region."""

from __future__ import annotations

import warnings
from copy import deepcopy
from functools import partial
from importlib import import_module
from typing import Any, cast

import numpy as np
from sklearn.pipeline import Pipeline

from unassuming._errors import levels_to_user
from unassuming._numerics import factor
from unassuming._typing import Array
from unassuming._words import spoken, with_plain_numbers
from unassuming.inputs import (
    Data,
    as_features,
    as_seed,
    check_columns,
    check_data,
    check_options,
    check_series,
    check_width,
    column_count,
    column_names,
    features_door,
    fit_transform_without_y,
    is_label_model,
    is_series_model,
    kernel_door,
    lagged_outputs,
    refuse_classes,
    seed_unset,
    split_pipeline,
    streams,
    transformed,
)
from unassuming.membership import Engine
from unassuming.models import numbered_columns
from unassuming.noise import (
    BlockSymmetric,
    Noise,
    Perturbations,
    Quantile,
    is_group,
    restricted,
)
from unassuming.objectives import (
    DesignedObjective,
    KernelDesign,
    Objective,
    check_objective,
    factory_for,
)
from unassuming.ranking import Order, check_m, check_ties
from unassuming.regions.describe import PUBLISHED_CLASSIFIER
from unassuming.regions.problem import Problem
from unassuming.regions.region import Region

_LABELS = 8
"""Rows from which an outcome with two values looks like labels."""


def confidence_region(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    noise: str | Noise | None = None,
    clusters: Any = None,
    m: int | str = 128,
    sample_weight: Any = None,
    weighting: Any = None,
    ties: str = "random",
    classes: Any = None,
    random_state: Any = 0,
) -> Region:
    """Build the exact confidence regions of a model, for all levels 1 - q/m at once.

    The region of level p contains the true coefficients, those that reproduce the regression
    function at the inputs, with probability exactly p, for every sample size and every noise that
    satisfies the assumption. (A classifier with an assumption other than ``"labels"`` has no such
    guarantee: that is the published region of LS-SVC.) The guarantee is void if the inputs, the
    features, the weights or the hyper-parameters depend on the noise, or if the seed is chosen
    after seeing the region.

    Parameters
    ----------
    estimator : scikit-learn estimator
        LinearRegression, Ridge, KernelRidge, GaussianProcessRegressor with a fixed kernel, SVR,
        LinearSVR, Lasso, ElasticNet, QuantileRegressor, HuberRegressor, RidgeClassifier,
        LogisticRegression, `KernelLasso`, `KernelHuber`, `LSSVC`, `InstrumentalRegression`, or a
        Pipeline of unsupervised transformers ending in one of them, or `ARX`. Only its hyper-
        parameters are used; it need not be fitted. The transformers are fitted here, without y,
        except one in a FrozenEstimator, which has to be fitted on other rows.
    X, y : arrays or DataFrames
        The data; for `ARX` the input u, or None, and the output y at each time. Columns of pandas
        need the index of X. Dask collections need a model that `StreamingRegion` supports.
    noise : str or Noise, optional
        What is assumed: ``"symmetric"`` (the default for regressors), ``"exchangeable"``,
        ``"symmetric-exchangeable"``, ``"spherical"``, ``"labels"`` (the default for classifiers),
        ``"quantile"`` (for QuantileRegressor, which accepts no other), or an instance
        such as ``ua.noise.BlockSymmetric(blocks)`` or, for noise that satisfies an assumption in
        another basis, ``ua.noise.InBasis(Q, "symmetric")``.
    clusters : array of shape (n,), optional
        Short for ``noise=ua.noise.BlockSymmetric(clusters)``: one label for each row.
    m : int or "all", default 128
        Number of statistics; levels are multiples of 1/m. Signs, of rows or blocks, with m a power
        of two are a group, which the inputs determine, and no seed is in the answer. Fewer than
        log2(m) rows or blocks have fewer sign changes, and m is then smaller. Signs with another m,
        and all other transformations, are drawn at random. ``"all"`` enumerates a finite group of
        at most 4,096 elements: up to 12 rows for signs and 6 for permutations.
    sample_weight : array of shape (n,), optional
        Weights that do not depend on y. Rows of weight zero are dropped.
    weighting : {"hessian", "gram", "identity"} or matrix, optional
        Ψ, the weighting of the gradient, not from y: by default ``"gram"`` (kernels only) for SVR,
        ``"identity"`` for KernelLasso, else ``"hessian"``. It changes the shape of the region, not
        its coverage.
    ties : {"random", "conservative"}, default "random"
        How equal statistics are ordered: at random (exact), or in favour of the candidate
        (nothing random; coverage at least the level).
    classes : sequence of two labels, optional
        The labels of a classifier, of which the second is +1; by default those of y in increasing
        order. They are needed if all labels are equal, unless y is coded by 0 and 1, by -1 and 1
        or by booleans.
    random_state : int, Generator, RandomState or None, default 0
        Source of the transformations that are drawn, and of the tie order.

    Returns
    -------
    Region

    Examples
    --------
    >>> import unassuming as ua
    >>> from sklearn.linear_model import Ridge
    >>> X, y, coefficients = ua.datasets.linear(n=40, noise="cauchy", random_state=0)
    >>> region = ua.confidence_region(Ridge(alpha=0.1), X, y, random_state=0)
    >>> region.rank(region.estimate)
    1
    >>> region.contains(coefficients, level=0.95)
    True
    >>> region.contains(coefficients + 10, level=0.95)
    False

    Labels of one class, and the function ``E[y|x] = 2 P(y = "yes"|x) - 1`` tested on them:

    >>> from sklearn.linear_model import RidgeClassifier
    >>> region = ua.confidence_region(
    ...     RidgeClassifier(), X, ["yes"] * 40, classes=("no", "yes"), random_state=0
    ... )
    >>> region.contains([lambda X: 0.95 + 0 * X[:, 0], lambda X: 0.5 + 0 * X[:, 0]])
    array([ True, False])
    """
    if clusters is not None and noise is not None:
        raise ValueError(
            "clusters and noise are two assumptions: expected one of them, given clusters and "
            f"noise={noise!r}. Leave out noise: clusters=g means noise=ua.noise.BlockSymmetric(g)."
        )
    if clusters is not None:
        noise = BlockSymmetric(clusters)
    build = build_region
    if any(map(is_dask, (X, y, sample_weight))):
        build = import_module("unassuming.streaming").build_from_dask
    return build(
        estimator,
        X,
        y,
        noise=noise,
        m=m,
        sample_weight=sample_weight,
        weighting=weighting,
        ties=check_ties(ties),
        classes=classes,
        seed=as_seed(random_state),
    )


def is_dask(values: Any) -> bool:
    """Whether this is a dask collection; dask is not imported."""
    return hasattr(values, "__dask_graph__")


def build_region(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    noise: str | Noise | None,
    m: int | str,
    sample_weight: Any,
    weighting: Any,
    ties: str,
    classes: Any,
    seed: int,
    drawn: tuple[Any, Order] | None = None,
) -> Region:
    """Build a region with fresh transformations, or with those that another one has drawn."""
    transformers, model = split_pipeline(estimator)
    factory, classify = factory_for(model), is_label_model(model)
    if not classify:
        refuse_classes(classes, model)
    chosen = check_options(model, noise=noise, m=m, ties=ties)
    transformation_stream, tie_stream, feature_stream = streams(seed)
    names = None
    if is_series_model(model):
        _refuse_transformers(transformers, model)
        data, design, outputs = check_series(model, deepcopy(X), y, sample_weight)
        features, width = data.X, None
        objective = factory(model, design, outputs, data.weight)
    else:
        about_y = {"classify": classify, "classes": classes, "noise": chosen}
        data = check_data(deepcopy(X), y, sample_weight, **about_y)
        features, design, width = _features(transformers, feature_stream, model, data, y)
        if drawn is None and not classify:
            _warn_of_lags(model, X, y)
        names = _feature_names(transformers, features)
        numbered = numbered_columns(model, names, design.shape[1])
        objective = factory(numbered, design, data.y, data.weight)
    check_objective(objective, factory)
    _check_fit(chosen, objective, model, classify=classify)
    if names is not None:
        objective.rename(names)
    door = partial(_door, objective, data, computed=transformers is not None)
    if drawn is None and not data.rows.all():
        chosen = restricted(chosen, data.rows)
    chosen.check_length(objective.n)
    objective = _in_basis(chosen, objective, data)
    psi = objective.default_weighting if weighting is None else weighting
    if weighting is not None:
        objective.score(psi)  # refuses what is not a weighting
    problem = Problem(
        estimator=with_plain_numbers(estimator),
        n=objective.n,
        objective=objective,
        noise=chosen,
        weighting=psi,
        ties=ties,
        enumerated=m == "all",
        seed=seed,
        transform=partial(
            _transformed,
            transformers,
            column_names(data.X),
            None if transformers is None else column_count(data.X),
            column_names(features),
            width,
        ),
        rows=data,
        transformers=transformers,
        door=door,
    )
    if drawn is not None:
        engine = partial(Engine, objective, problem.row_noise, *drawn, psi)
    else:
        engine = partial(_engine, problem, m, design, (transformation_stream, tie_stream))
    if drawn is None and not classify:
        warn_of_two_values(data.y, problem.n, chosen)
    region = Region(problem, engine)
    if problem.enumerated or not is_group(problem.row_noise, check_m(m)):
        _ = region.m  # draws now, and refuses groups that are too large
    return region


def _engine(
    problem: Problem,
    m: Any,
    inputs: Array,
    generators: tuple[np.random.Generator, np.random.Generator],
) -> Engine:
    """Draw or enumerate the transformations, or take the group that the inputs determine."""
    o, noise, (stream, ties) = problem.objective, problem.row_noise, generators
    if problem.enumerated:
        found = Perturbations.enumerate(noise, o.n, modulo_sign=o.sign_blind)
    elif is_group(noise, m):
        leverage = _leverage(o, problem.data("leverages need"), inputs, problem.left_to_rotate[0])
        found = Perturbations.sign_group(noise, leverage, m, modulo_sign=o.sign_blind)
    else:
        found = Perturbations.sample(noise, o.n, m, stream)
    order = Order.draw(found.m, problem.ties, ties)
    return Engine(o, noise, found.drawn, order, problem.weighting)


def _leverage(objective: Objective, data: Data, inputs: Any, rotation: Array | None) -> Array:
    """Return the leverage of each row in columns that do not depend on the noise, (n,)."""
    design = objective.exogenous  # without any, as for time series, all rows have the same leverage
    if design is None or (design.dual and (design.kernel is None or design.kernel.precomputed)):
        return np.ones(objective.n)
    columns = design.matrix
    if design.dual:
        columns = np.column_stack([np.ones(len(inputs)), inputs])
    if rotation is not None:
        columns = rotation.T @ columns
    intercept = bool((columns[:, 0] == 1).all())
    w = np.ones(objective.n) if data.weight is None else data.weight
    return np.asarray((factor(columns, w, intercept=intercept).Q ** 2).sum(axis=1))


def _door(objective: Objective, data: Data, *, computed: bool) -> str:
    """Return why the features or the penalty are not ordinary; nothing if they are."""
    design, penalty = objective.design, objective.penalty
    if design is None:
        return ""
    w = np.ones(objective.n) if data.weight is None else data.weight
    if design.dual:
        if penalty is None or penalty.kinked:
            return ""
        return kernel_door(cast(KernelDesign, design).K, w, penalty.alpha)
    if penalty is None:
        found = factor(design.matrix, w, intercept=design.intercept)
    else:
        found = cast(DesignedObjective, objective).factor
    return features_door(design.matrix, found, objective.names, computed=computed)


def _features(
    transformers: Pipeline | None, stream: np.random.Generator, model: Any, data: Data, y: Any
) -> tuple[Any, Array, int | None]:
    """Return the table of features, the matrix of its rows that count, and the width of inputs."""
    features = data.X
    if transformers is not None:
        seed_unset(transformers, stream)
        given = deepcopy(data.X)  # they may overwrite it
        features = fit_transform_without_y(transformers, given, y)
    design = as_features(transformers, data.X, features)
    if not data.rows.all():
        design = design[data.rows]
    if getattr(model, "kernel", None) == "precomputed":
        return features, _precomputed(design, data), None
    return features, design, design.shape[1]


def _refuse_transformers(transformers: Pipeline | None, model: Any) -> None:
    if transformers is not None:
        raise TypeError(
            f"{type(model).__name__} is at the end of a pipeline: expected the model alone, given "
            f"the steps {', '.join(name for name, _ in transformers.steps)} before it. Transform "
            "the input first, and pass it with the output."
        )


def _warn_of_lags(model: Any, X: Any, y: Any) -> None:
    """Warn if the inputs contain earlier outputs, and so earlier noise."""
    precomputed = getattr(model, "kernel", None) == "precomputed"
    found = None if precomputed else lagged_outputs(X, y)
    if found is not None:
        name, shift = found
        warnings.warn(
            f"{name[:1].upper()}{name[1:]} is y shifted by {shift} row{'s' * (shift > 1)}. It "
            "depends on the noise of earlier rows, which voids the guarantee: the inputs must not "
            "depend on the noise. If rows are times, use ua.confidence_region("
            f"ua.ARX(na={shift}, nb=...), u, y), which is exact.",
            UserWarning,
            stacklevel=levels_to_user(),
        )


def _transformed(
    transformers: Pipeline | None,
    columns: list[Any] | None,
    count: int | None,
    names: list[Any] | None,
    width: int | None,
    X: Any,
) -> Array:
    """Return new inputs as the model sees them."""
    features = X
    if transformers is not None:
        features = transformed(transformers, deepcopy(X), columns, count)
    check_columns(features, names, "X" if transformers is None else "the table of features")
    inputs = as_features(transformers, X, features)
    if width is not None:
        check_width(inputs, width)
    return inputs


def _check_fit(noise: Noise, objective: Objective, model: Any, *, classify: bool) -> None:
    """Refuse an assumption that is not one about such a model."""
    name, tau = type(model).__name__, objective.quantile
    own = noise.tau if isinstance(noise, Quantile) else None
    if (objective.labels_only and not noise.labels) or (tau is not None and own is None):
        default = "labels" if objective.labels_only else "quantile"
        raise ValueError(
            f"noise does not fit {objective}: expected noise={default!r}, the default, given "
            f"{noise!r}. Leave it out: the region is then exact."
        )
    if noise.labels and not classify:
        raise ValueError(
            "noise 'labels' needs a classifier: expected RidgeClassifier, LogisticRegression or "
            f"ua.LSSVC, or another assumption, given {name}. Use noise='symmetric' or "
            "'exchangeable' for regression."
        )
    if own != tau:
        raise ValueError(
            "noise 'quantile' needs the loss of that quantile: expected QuantileRegressor(quantile="
            f"{own:g}), or another assumption, given {name} and {noise!r}. Leave out `noise`."
        )
    if classify and not noise.labels:
        warnings.warn(PUBLISHED_CLASSIFIER, UserWarning, stacklevel=levels_to_user())


def _in_basis(noise: Noise, objective: Objective, data: Data) -> Objective:
    """Return the objective of rotated rows, if the noise is described in another basis."""
    other = noise.rotated()
    if other is None:
        return objective
    if data.weight is not None and (data.weight != data.weight[0]).any():
        raise ValueError(
            "sample_weight varies, and noise in another basis mixes the rows: expected equal "
            f"weights, given weights from {data.weight.min():g} to {data.weight.max():g}. Leave "
            "out sample_weight, or describe the noise without a basis."
        )
    turned = objective.in_basis(other[0])
    return objective if turned is None else turned


def _precomputed(K: Array, data: Data) -> Array:
    if K.shape[1] != len(data.rows):
        raise ValueError(
            "X is not a precomputed kernel matrix: expected a square matrix of "
            f"{len(data.rows)} rows and columns, given shape {(len(data.rows), K.shape[1])}. Pass "
            "the kernel values between the training inputs."
        )
    return K[:, data.rows]


def _feature_names(transformers: Pipeline | None, features: Any) -> list[Any] | None:
    """Return the names of the columns that the model sees, if they have any."""
    names = getattr(features, "columns", None)
    if names is None and transformers is not None:
        try:
            names = transformers.get_feature_names_out()
        except (AttributeError, ValueError):  # a transformer without names
            return None
    return None if names is None else list(names)


def warn_of_two_values(y: Array, n: int, noise: Noise) -> None:
    """Warn if the outcome of a regression has two values: given the inputs it is not symmetric."""
    values = np.unique(y)
    if len(values) != 2 or n < _LABELS:
        return
    symmetric = "symmetric about zero" in noise.assumption
    assumed = "symmetric about zero" if symmetric else "distributed as assumed"
    warnings.warn(
        f"y has only two values, {spoken(values[0])} and {spoken(values[1])}: the residuals of "
        f"such an outcome are not {assumed}, so the coverage is not exact. Regions of labels are "
        "exact: use RidgeClassifier, LogisticRegression or ua.LSSVC (--model logistic or ls-svc on "
        "the command line).",
        UserWarning,
        stacklevel=levels_to_user(),
    )
