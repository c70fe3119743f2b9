"""tuned_region: hyper-parameters from some rows, the region from the others."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
)
from sklearn.pipeline import make_pipeline

import unassuming as ua

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + RNG.laplace(size=N)
GRID = {"alpha": [0.01, 1.0, 100.0]}


def tuned(search=None, inputs=X, y=Y, **options):
    search = GridSearchCV(Ridge(), GRID, cv=3) if search is None else search
    return ua.tuned_region(search, inputs, y, **{"random_state": 0, **options})


def test_the_parts_are_disjoint_cover_all_rows_and_are_reported():
    tuning = tuned().tuning
    assert len(tuning.tuning_rows) == len(tuning.region_rows) == N // 2
    assert sorted([*tuning.tuning_rows, *tuning.region_rows]) == list(range(N))


def test_the_search_sees_its_rows_only():
    region = tuned()
    rows = region.tuning.tuning_rows
    by_hand = GridSearchCV(Ridge(), GRID, cv=3).fit(X[rows], Y[rows])
    assert region.tuning.best_params == by_hand.best_params_
    assert region.tuning.best_score == by_hand.best_score_
    assert region.estimator.get_params() == by_hand.best_estimator_.get_params()


def test_outputs_of_the_region_rows_do_not_change_what_is_chosen():
    first = tuned()
    changed = Y.copy()
    changed[first.tuning.region_rows] = 1e6
    second = tuned(y=changed)
    np.testing.assert_array_equal(first.tuning.tuning_rows, second.tuning.tuning_rows)
    assert first.tuning.best_params == second.tuning.best_params
    assert first.tuning.best_score == second.tuning.best_score


@pytest.mark.parametrize(("size", "count"), [(0.25, 15), (10, 10), (0.5, 30), (np.int64(7), 7)])
def test_tune_size_is_a_share_or_a_number_of_rows(size, count):
    assert len(tuned(tune_size=size).tuning.tuning_rows) == count


def test_blocks_of_dependent_rows_stay_together():
    blocks = np.repeat(np.arange(20), 3)
    RNG.shuffle(blocks)
    region = tuned(noise=ua.noise.BlockSymmetric(blocks))
    here, there = (
        set(blocks[rows]) for rows in (region.tuning.region_rows, region.tuning.tuning_rows)
    )
    assert not here & there
    assert len(there) == 10
    np.testing.assert_array_equal(region.noise.blocks, blocks[region.tuning.region_rows])


def test_weights_are_those_of_the_rows_and_zero_leaves_a_row_out():
    weight = RNG.uniform(1, 2, size=N)
    weight[::10] = 0
    region = tuned(sample_weight=weight)
    rows = region.tuning.region_rows
    direct = ua.confidence_region(region.estimator, X[rows], Y[rows], sample_weight=weight[rows])
    np.testing.assert_allclose(region.estimate, direct.estimate, rtol=1e-12)
    assert (weight[region.tuning.tuning_rows] > 0).all()


def test_fit_params_are_cut_to_the_tuning_rows():
    groups = np.arange(N) % 5
    search = GridSearchCV(Ridge(), GRID, cv=GroupKFold(3))
    region = tuned(search, fit_params={"groups": groups})
    rows = region.tuning.tuning_rows
    by_hand = GridSearchCV(Ridge(), GRID, cv=GroupKFold(3)).fit(
        X[rows], Y[rows], groups=groups[rows]
    )
    assert region.tuning.best_score == by_hand.best_score_


def test_a_classifier_is_tuned_without_looking_at_the_labels_in_the_split():
    inputs, labels, _ = ua.datasets.labels(n=80, random_state=0)
    region = tuned(GridSearchCV(RidgeClassifier(), GRID, cv=3), inputs, labels)
    flipped = tuned(GridSearchCV(RidgeClassifier(), GRID, cv=3), inputs, -labels)
    np.testing.assert_array_equal(region.tuning.tuning_rows, flipped.tuning.tuning_rows)


# --- what is wrong is said before the search ------------------------------------------------------


class NeverSearchCV(BaseEstimator):
    """A search that must not begin."""

    def __init__(self, estimator=None, param_grid=None):
        self.estimator = estimator
        self.param_grid = param_grid

    def fit(self, X, y):
        raise AssertionError("the search has begun")


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"level": 0.9}, TypeError, "unexpected keyword argument 'level'"),
        ({"noize": "symmetric"}, TypeError, "unexpected keyword argument 'noize'"),
        ({"plan": 30}, ValueError, "plan does not fit: expected norm_bound"),
        ({"noise": "gaussian"}, ValueError, "noise is not a known assumption"),
        ({"m": 1}, ValueError, "m must be an integer"),
        ({"m": "all"}, ValueError, "to enumerate"),
        ({"ties": "never"}, ValueError, "ties must be"),
        (
            {"weighting": "best"},
            ValueError,
            "weighting is not available for the quadratic objective",
        ),
        ({"y": Y[:-1]}, ValueError, "y and X differ in length: expected 60 outputs"),
        ({"y": np.where(Y > 1, np.nan, Y)}, ValueError, "y has missing or infinite values"),
        ({"sample_weight": -np.ones(N)}, ValueError, "sample_weight has a negative entry"),
        ({"sample_weight": np.ones(30)}, ValueError, "sample_weight has the wrong length"),
        ({"tune_size": 59}, ValueError, "leaves one part too few rows"),
        ({"noise": ua.noise.BlockSymmetric(np.arange(59))}, ValueError, "each of the 60 rows"),
        (
            {"search": NeverSearchCV(RandomForestRegressor())},
            TypeError,
            "estimator is not supported",
        ),
        (
            {"search": NeverSearchCV(make_pipeline(SelectKBest(k=1), Ridge()))},
            TypeError,
            "'selectkbest' needs y to be fitted",
        ),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)
def test_mistakes_are_found_before_the_search(options, error, message):
    with pytest.raises(error, match=message):
        tuned(**{"search": NeverSearchCV(Ridge()), **options})


# --- noise that can be divided --------------------------------------------------------------------


class WholeSymmetric(ua.noise.Noise):
    """One sign for all rows: the noise of some rows tells the sign of the others."""

    orthogonal = True

    def draw(self, n, size, rng):
        return rng.choice([-1.0, 1.0], size=(size, 1))

    def apply(self, drawn, residuals, fitted):
        return residuals[..., None, :] * drawn


class WholeByInheritance(ua.noise.Symmetric):
    """The same, from a class that may be divided."""

    def draw(self, n, size, rng):
        return np.repeat(super().draw(1, size, rng), n, axis=1)


@pytest.mark.parametrize("noise", [WholeSymmetric(), WholeByInheritance()], ids=repr)
def test_a_noise_class_that_does_not_say_it_can_be_divided_is_refused(noise):
    with pytest.raises(ua.NotAvailable, match="does not say what it assumes when rows are set"):
        tuned(NeverSearchCV(Ridge()), noise=noise)


# --- what it is for -------------------------------------------------------------------------------


class OneColumn(LinearRegression):
    """Least squares on one column, whose number is a hyper-parameter."""

    def __init__(self, *, column=0):
        super().__init__()
        self.column = column


class CorrelationSearchCV(BaseEstimator):
    """Choose the column that goes best with y: fast, and as greedy as a search can be."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y):
        correlations = np.corrcoef(X.T, y)[-1, :-1]
        self.best_params_ = {"column": int(np.abs(correlations).argmax())}
        return self


def of_one_column(estimator, X, y, sample_weight):
    column = X[:, [estimator.column]]
    return ua.objectives.from_linear_regression(LinearRegression(), column, y, sample_weight)


def covered(build, runs):
    """How many regions of the chosen column hold the truth: no column has to do with y."""
    count = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(24, 40)), rng.standard_t(3, size=24)
        count += build(X, y, seed).contains(np.zeros(2), level=0.9)
    return count


@pytest.mark.slow
def test_tuning_on_other_rows_keeps_the_coverage_and_on_the_same_rows_loses_it():
    ua.register_objective(OneColumn, of_one_column)

    def honest(X, y, seed):
        search = CorrelationSearchCV(OneColumn())
        return ua.tuned_region(search, X, y, m=10, random_state=seed)

    def cheating(X, y, seed):
        best = CorrelationSearchCV().fit(X, y).best_params_
        return ua.confidence_region(OneColumn(**best), X, y, m=10, random_state=seed)

    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], 150, 0.9)
    assert low <= covered(honest, 150) <= high
    assert covered(cheating, 150) < low
