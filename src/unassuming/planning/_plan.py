"""From a model and inputs to a plan: the public function, and the checks of what users pass."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from unassuming._errors import NotAvailable
from unassuming.inputs import (
    as_weights,
    check_alignment,
    check_assumption,
    check_weight,
    group_column,
    is_label_model,
    split_pipeline,
)
from unassuming.noise import Noise
from unassuming.planning._result import Plan
from unassuming.planning._rows import spread
from unassuming.planning._setting import Setting
from unassuming.regions import Assumption, check_level

_SHARES = (3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
"""Default penalties, in units of σ²/B²."""

_INPUTS = 24


def plan(
    estimator: Any,
    X: Any,
    *,
    norm_bound: float | None,
    noise_scale: float,
    level: float = 0.95,
    alphas: Sequence[float] | None = None,
    inputs: Any = None,
    rows: Sequence[int] = (),
    noise: str | Noise | None = None,
    sample_weight: Any = None,
) -> Plan:
    """Predict the widths of bands and intervals before y is seen, and choose the penalty.

    The region is exact for every penalty that does not depend on y, but the width of its band
    depends on the penalty a great deal. The plan does not see y, so its choice does not affect the
    guarantee. A wrong noise scale affects the width, not the coverage.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A regression model that `confidence_region` supports. Only its penalty ``alpha`` changes.
    X : array or DataFrame
        The inputs of the data.
    norm_bound : float or None
        The norm bound that the band will assume. None is for models with features.
    noise_scale : float
        A guess of the standard deviation of the noise, from experience or from other data.
    level : float, default 0.95
    alphas : sequence of floats, optional
        Penalties to compare. For (kernel) ridge regression the default is the penalty of the
        estimator and seven others, from 3 to 3,000 times ``(noise_scale / norm_bound)**2``.
    inputs : array or DataFrame, optional
        Where the function is wanted. The default is up to 24 rows of X. Half-widths are medians
        over these inputs.
    rows : sequence of ints, optional
        Further numbers of rows to predict for. Inputs are then spread over those of X, and repeated
        if there are not enough.
    noise : str or Noise, optional
        The assumption on the noise, as for `confidence_region`.
    sample_weight : array of shape (n,), optional
        The weights that the region will have. The noise of a row is taken to have the variance
        ``noise_scale**2`` over its weight. Rows of weight zero are left out.

    Returns
    -------
    Plan
        ``plan.estimator`` has the best penalty: the smallest one whose predicted half-width is
        within 2 % of the narrowest. ``plan.rows_for(0.3)`` predicts how many rows a
        half-width of 0.3 needs.

    Notes
    -----
    Predictions use simulated data: random functions of norm B/2 with Gaussian noise (docs/theory.md
    9.9). Above 600 rows the joint region of a kernel is left out, and balanced cells serve for
    simultaneous bands. In ten settings with 50 to 300 rows, predictions were within 15 % of the
    median of measured half-widths (``python -m benchmarks.plan_widths``).

    Examples
    --------
    >>> X, y, f = ua.datasets.sine(n=60, random_state=0)
    >>> model = KernelRidge(kernel="rbf", gamma=0.1)
    >>> plan = ua.plan(model, X, norm_bound=60, noise_scale=0.7, alphas=[0.01, 0.1, 1.0])
    >>> print(plan)
    Plan for KernelRidge(gamma=0.1, kernel='rbf'), 60 rows, level 0.95, given a norm of at most 60
    and noise of scale 0.7: predicted half-widths, before y is seen (medians over the inputs).
      bounds hold            method  alpha  cells  half-width
      all at once      joint region   0.01               1.15  best
      all at once      joint region    0.1               1.29
      all at once      joint region      1               4.18
      all at once    balanced cells            32        48.3
      one at a time           cells             6       0.878
      one at a time           cells             7       0.736  best
      one at a time           cells             8       0.794
      one at a time           cells            10        1.38
      one at a time           cells            12        3.54
      one at a time           cells            16        7.87
    Calls, with region = ua.confidence_region(plan.estimator, X, y):
      all at once    region.band(X, norm_bound=60)
      one at a time  region.band(X, norm_bound=60, noise_scale=0.7, simultaneous=False)
    >>> region = ua.confidence_region(plan.estimator, X, y, random_state=0)
    >>> band = region.band(X, norm_bound=60)
    >>> bool((band.lower <= f(X)).all() and (f(X) <= band.upper).all())
    True
    """
    check_assumption(norm_bound, None if norm_bound else 0.0, noise_scale)
    if noise_scale is None:
        raise ValueError(
            "noise_scale is missing: expected one finite number > 0, given None. Pass a guess of "
            "the standard deviation of the noise."
        )
    _, model = split_pipeline(estimator)
    if is_label_model(model):
        raise NotAvailable(
            "a plan needs a regression: the widths for labels depend on the labels themselves. "
            "Use ua.tuned_region to choose the penalty of a classifier."
        )
    parameter = _penalty(estimator)
    check_alignment(X=X, sample_weight=sample_weight, blocks=group_column(noise))
    length = int(np.shape(X)[0])
    used = check_weight(sample_weight, length)[0].nonzero()[0]
    weight = None if sample_weight is None else as_weights(sample_weight, length)
    if inputs is None:
        rows_used = _safe_indexing(X, used)
        inputs = _safe_indexing(rows_used, np.sort(spread(rows_used, min(len(used), _INPUTS))))
    setting = Setting(
        estimator,
        X,
        inputs,
        Assumption(norm_bound, noise_scale=noise_scale),
        check_level(level),
        noise,
        parameter,
        (),
        weight,
    )
    if setting.plain.objective.endogenous:
        raise NotAvailable(
            "widths cannot be predicted for a model with instruments: they depend on how much the "
            "instruments move the endogenous columns, which depend on the noise themselves."
        )
    setting = setting.with_alphas(_alphas(setting, alphas))
    numbers = sorted({setting.n, *map(_count, rows)})
    settings = [setting.with_rows(n) for n in numbers]
    found = tuple(
        row
        for one in settings
        for simultaneous in (True, False)
        for row in one.predicted(simultaneous=simultaneous)
    )
    return Plan(setting, found)


def _penalty(estimator: Any) -> str | None:
    """Return the name of the penalty alpha, with the step of a pipeline before it."""
    name = ""
    while isinstance(estimator, Pipeline):
        step, estimator = estimator.steps[-1]
        name += f"{step}__"
    parameters = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return f"{name}alpha" if isinstance(parameters.get("alpha"), Real) else None


def _alphas(setting: Setting, alphas: Sequence[float] | None) -> tuple[float, ...]:
    """Return the penalties to compare, in increasing order."""
    parameter = setting.parameter
    if alphas is None:
        B, scale = setting.assumption.norm_bound, setting.assumption.noise_scale
        problem = setting.plain.problem
        if parameter is None or not problem.objective.quadratic:
            return ()
        own = float(setting.estimator.get_params()[parameter])
        if B is None or scale is None:
            return (own,)
        unit = (scale / B) ** 2
        return tuple(sorted({own, *(float(f"{share * unit:.3g}") for share in _SHARES)}))
    given = np.asarray(alphas, dtype=np.float64)
    if parameter is None:
        raise ValueError(
            "alphas does not apply: expected a model with a penalty alpha, given "
            f"{setting.estimator!r}. Leave it out."
        )
    if given.ndim != 1 or not given.size or not (np.isfinite(given) & (given > 0)).all():
        raise ValueError(
            f"alphas is out of range: expected finite numbers > 0, given {alphas!r}. Pass e.g. "
            "[0.01, 0.1, 1.0]."
        )
    return tuple(sorted(set(given.tolist())))


def _count(n: Any) -> int:
    if not isinstance(n, Integral) or isinstance(n, bool) or n < 2:
        raise ValueError(
            f"rows is out of range: expected integers of at least 2, given {n!r}. Pass e.g. "
            "rows=[50, 100, 200]."
        )
    return int(n)
