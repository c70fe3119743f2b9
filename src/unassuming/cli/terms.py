"""From columns to a model: how they enter, as lines, splines or indicators, and the estimator.

A flexible model of a small table has no finite bounds, and a spline of a column with two values has
coefficients that no data determine. So the number of splines follows the number of rows and of
different values. The choice sees the inputs alone, never the target, as the guarantee requires.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Self, final

import numpy as np
import pandas as pd

from unassuming._typing import Array
from unassuming._words import joined, shown
from unassuming.cli.columns import Columns, split_names
from unassuming.cli.options import Model, Problem

_ROWS_EACH, _ROWS_ALONE = 15, 5
"""Rows for each coefficient: the usual rule for splines of several columns, and what is enough for
finite bounds of a single one. Below, columns enter as lines."""

MOST_KNOTS = 8
_OUTER = 0.05, 0.95
"""Quantiles of the first and of the last knot; beyond them a spline is a straight line, so that a
single far value does not shape it."""

SIZE = 2000
"""Rows of a sample."""


class RowSample:
    """A random sample of rows without replacement, the same for all chunks of a stream.

    Row j has a pseudo-random number that depends on the seed and on j only; the rows with the
    smallest numbers are kept, in their order.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._numbers = np.empty(0, dtype=np.uint64)
        self.values: Array = np.empty((0, 0))

    def add(self, first: int, values: Array) -> Self:
        """Consider rows first, first + 1, ... (count, k)."""
        before = self.values if len(self._numbers) else values[:0]
        fresh = np.random.PCG64(self._seed).advance(first).random_raw(len(values))
        numbers = np.concatenate([self._numbers, fresh])
        keep = np.sort(np.argsort(numbers, kind="stable")[:SIZE])
        self._numbers, self.values = numbers[keep], np.concatenate([before, values])[keep]
        return self

    def state(self) -> dict[str, Any]:
        """Return the arrays from which `resume` continues."""
        return {"numbers": self._numbers, "values": self.values}

    def resume(self, state: dict[str, Any]) -> Self:
        """Continue from the result of `state`."""
        self._numbers, self.values = state["numbers"], state["values"]
        return self


class Kind(Enum):
    """How a column enters the model."""

    LINE = "lines"
    SPLINE = "splines"
    INDICATORS = "indicators"


@final
@dataclass(frozen=True)
class Term:
    """A column with its place in the model."""

    column: str
    kind: Kind
    knots: tuple[float, ...] = ()  # of a spline
    degree: int = 3
    levels: tuple[Any, ...] = ()  # the categories of indicators; the first one has none

    @property
    def size(self) -> int:
        """Number of coefficients."""
        if self.kind is Kind.SPLINE:
            return len(self.knots) + self.degree - 2
        return len(self.levels) - 1 if self.kind is Kind.INDICATORS else 1

    @property
    def features(self) -> list[str]:
        """The names of the coefficients."""
        if self.kind is Kind.INDICATORS:
            return [_category(self.column, level) for level in self.levels[1:]]
        if self.kind is Kind.SPLINE:
            return [f"{self.column}_sp_{k}" for k in range(self.size)]
        return [self.column]

    @property
    def transformer(self) -> Any:
        """What makes the features."""
        from sklearn.preprocessing import OneHotEncoder, SplineTransformer

        if self.kind is Kind.SPLINE:
            # All splines of a feature add up to one: one is left out because of the intercept.
            return SplineTransformer(
                knots=np.array(self.knots)[:, None],
                degree=self.degree,
                extrapolation="linear",
                include_bias=False,
            )
        if self.kind is Kind.INDICATORS:
            return OneHotEncoder(
                categories=[list(self.levels)],
                drop="first",
                sparse_output=False,
                feature_name_combiner=_category,
            )
        return "passthrough"


def _category(column: str, level: Any) -> str:
    return f"{column}={level}"


def terms_of(problem: Problem, X: pd.DataFrame, columns: Columns, rows: int) -> tuple[Term, ...]:
    """Choose how the columns enter; ``rows`` is the number of rows, or of independent groups."""
    # Knots come from the same rows as of a stream, which keeps a sample of them.
    numbers = np.arange(len(X), dtype=np.float64)[:, None]
    sample = RowSample(problem.seed).add(0, numbers).values[:, 0].astype(np.int64)
    curved, knots = problem.model is Model.SPLINE, problem.knots
    return choose_terms(X, columns.categorical, rows, X.iloc[sample], splines=curved, knots=knots)


def choose_terms(
    X: pd.DataFrame,
    categorical: Sequence[str],
    rows: int | None = None,
    sample: pd.DataFrame | None = None,
    *,
    splines: bool = False,
    knots: int | None = None,
) -> tuple[Term, ...]:
    """Return a term for each column; ``rows`` counts groups of dependent rows once."""
    terms = {name: _indicators(X[name]) for name in X.columns if name in categorical}
    some = X if sample is None else sample
    numbers = {n: some[n].to_numpy(dtype=np.float64) for n in X.columns if n not in terms}
    values = {name: np.unique(column) for name, column in numbers.items()}
    curved = [name for name in numbers if splines and len(values[name]) > 2]
    size = 1
    if curved:
        spent = 1 + sum(term.size for term in terms.values()) + len(numbers) - len(curved)
        left = (len(X) if rows is None else rows) // rows_each(len(X.columns)) - spent
        size = max(min(left // len(curved), MOST_KNOTS + 1), 1)
    for name, column in numbers.items():
        most = min(size, len(values[name]) // 3) if knots is None else knots + 1
        spline = _spline(name, column, values[name], most) if name in curved else None
        terms[name] = spline or Term(name, Kind.LINE)
    return tuple(terms[name] for name in X.columns)


def rows_each(columns: int) -> int:
    """Return how many rows a spline takes for each coefficient of the model."""
    return _ROWS_ALONE if columns == 1 else _ROWS_EACH


def _indicators(column: pd.Series) -> Term:
    return Term(str(column.name), Kind.INDICATORS, levels=tuple(sorted(column.unique(), key=str)))


def _spline(name: str, column: Array, values: Array, size: int) -> Term | None:
    """Return a spline with at most that many coefficients which the values determine."""
    for count in range(size, 1, -1):
        knots = np.unique(np.quantile(column, np.linspace(*_OUTER, max(count - 1, 2))))
        if len(knots) < 2:
            continue
        term = Term(name, Kind.SPLINE, tuple(knots.tolist()), min(count, 3))
        features = np.insert(term.transformer.fit_transform(values[:, None]), 0, 1.0, axis=1)
        if np.linalg.matrix_rank(features) == features.shape[1]:
            return term
    return None


def encoder(terms: Sequence[Term]) -> Any:
    """Return what makes the features of all terms, in their order; None if they are the columns."""
    if all(term.kind is Kind.LINE for term in terms):
        return None
    from sklearn.compose import ColumnTransformer

    return ColumnTransformer(
        [(term.column, term.transformer, [term.column]) for term in terms],
        verbose_feature_names_out=False,
    )


def in_words(problem: Problem | None, terms: Sequence[Term]) -> list[str]:
    """Say how the columns enter, unless all of them enter as they are."""
    splines = problem is not None and problem.model is Model.SPLINE
    lines = [term.column for term in terms if term.kind is Kind.LINE]
    if len(lines) == len(terms) and not splines:
        return []
    curves: dict[str, list[str]] = {}
    for term in terms:
        if term.kind is Kind.SPLINE:
            what = f"{('quadratic', 'cubic')[term.degree > 2]} splines with {len(term.knots)} knots"
            curves.setdefault(what, []).append(term.column)
    said = [f"{what} in {_some(names)}" for what, names in curves.items()]
    said += [f"straight line{'s' * (len(lines) > 1)} in {_some(lines)}"] if lines else []
    said += [
        f"indicators of {term.column}: {_some(term.levels[1:])}, compared with {term.levels[0]}"
        for term in terms
        if term.kind is Kind.INDICATORS
    ]
    return [f"Model, chosen from the inputs alone: {'; '.join(said)}."]


def _some(names: Sequence[Any]) -> str:
    """Return names as a list in a sentence, at most nine."""
    words = [str(name) for name in names]
    return joined(words if len(words) <= 9 else [*words[:8], f"{len(words) - 8} others"])


# --- the estimator --------------------------------------------------------------------------------


def estimator_of(problem: Problem, terms: Sequence[Term]) -> Any:
    """Return the estimator for columns that enter as these terms.

    Kernels act on standardised inputs; gamma is 1 / (number of features) unless given. All this
    depends on the inputs only, as the guarantee requires.
    """
    from sklearn.pipeline import make_pipeline

    chosen = problem.recipe.defaults | problem.options
    if problem.model is Model.IV:
        for role in ("endogenous", "instruments"):
            chosen[role] = _role(role, chosen[role], terms)
    coded = encoder(terms)
    steps = [] if coded is None else [coded]
    if problem.recipe.kernel:
        gamma = chosen.pop("gamma")
        if chosen["kernel"] != "linear":
            from sklearn.preprocessing import StandardScaler

            steps.append(StandardScaler())
            chosen["gamma"] = (
                1 / max(sum(term.size for term in terms), 1) if gamma is None else gamma
            )
    model = _model(problem.model, chosen)
    return make_pipeline(*steps, model) if steps else model


def _model(model: Model, options: dict[str, Any]) -> Any:
    """Return the last step."""
    from sklearn import linear_model

    import unassuming as ua

    if model is Model.OLS or (model is Model.SPLINE and not options["alpha"]):
        # Without a penalty the estimate is in every region, in whatever units columns are.
        return linear_model.LinearRegression()
    if model in (Model.SPLINE, Model.RIDGE):
        return linear_model.Ridge(**options)
    if model is Model.QUANTILE:
        return linear_model.QuantileRegressor(**options)
    if model is Model.LOGISTIC:
        return linear_model.LogisticRegression(**options)
    if model is Model.KRR:
        from sklearn.kernel_ridge import KernelRidge

        return KernelRidge(**options)
    if model is Model.SVR:
        from sklearn.svm import SVR

        return SVR(**options)
    if model is Model.HUBER:
        return ua.KernelHuber(delta=options.pop("epsilon"), **options)
    own: dict[Model, Any] = {
        Model.IV: ua.InstrumentalRegression,
        Model.KLASSO: ua.KernelLasso,
        Model.LS_SVC: ua.LSSVC,
    }
    return own[model](**options)


def _role(option: str, text: str, terms: Sequence[Term]) -> list[str]:
    """Return the features of the columns that an option names."""
    by_name = {term.column: term for term in terms}
    named = split_names(text, list(by_name))
    for name in named:
        if name not in by_name:
            raise ValueError(
                f"--{option} names a column that is not a feature: expected one of "
                f"{', '.join(map(repr, by_name))}, given {name!r}. Correct the name."
            )
    return [feature for name in named for feature in by_name[name].features]


def in_short(problem: Problem, estimator: Any, terms: Sequence[Term]) -> str:
    """Name the model without the details of its transformers, which `in_words` gives."""
    steps = [step for _, step in getattr(estimator, "steps", [("", estimator)])]
    on = [
        kind.value for kind in (Kind.SPLINE, Kind.INDICATORS) if any(t.kind is kind for t in terms)
    ]
    if problem.recipe.kernel and len(steps) > 1:
        on.append("standardised inputs")
    return shown(steps[-1]) + (f" with {joined(on)}" if on else "")
