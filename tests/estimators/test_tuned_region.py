"""tuned_region: hyper-parameters from some rows, the region from the others."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RandomizedSearchCV,
    RepeatedKFold,
    ShuffleSplit,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

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


def test_the_region_is_the_one_of_the_other_rows():
    region = tuned()
    rows = region.tuning.region_rows
    direct = ua.confidence_region(region.estimator, X[rows], Y[rows], random_state=region.seed)
    candidates = direct.estimate + RNG.normal(size=(40, 3))
    np.testing.assert_array_equal(region.rank(candidates), direct.rank(candidates))


def test_outputs_of_the_region_rows_do_not_change_what_is_chosen():
    first = tuned()
    changed = Y.copy()
    changed[first.tuning.region_rows] = 1e6
    second = tuned(y=changed)
    np.testing.assert_array_equal(first.tuning.tuning_rows, second.tuning.tuning_rows)
    assert first.tuning.best_params == second.tuning.best_params
    assert first.tuning.best_score == second.tuning.best_score


def test_one_seed_gives_one_split_and_one_region():
    a, b, c = tuned(), tuned(), tuned(random_state=1)
    np.testing.assert_array_equal(a.tuning.tuning_rows, b.tuning.tuning_rows)
    assert a.seed == b.seed
    assert set(a.tuning.tuning_rows) != set(c.tuning.tuning_rows)
    assert a.seed != c.seed
    d = tuned(random_state=a.tuning.seed)
    np.testing.assert_array_equal(a.tuning.tuning_rows, d.tuning.tuning_rows)


@pytest.mark.parametrize(("size", "count"), [(0.25, 15), (10, 10), (0.5, 30), (np.int64(7), 7)])
def test_tune_size_is_a_share_or_a_number_of_rows(size, count):
    assert len(tuned(tune_size=size).tuning.tuning_rows) == count


@pytest.mark.parametrize("size", [0, 60, 0.0, 1.0, -3, 0.001, True, "half"])
def test_other_sizes_are_refused(size):
    with pytest.raises(ValueError, match="tune_size"):
        tuned(tune_size=size)


def test_the_region_says_where_its_hyper_parameters_come_from():
    region = tuned()
    assert f"alpha={region.tuning.best_params['alpha']}, chosen on 30 other rows" in str(region)


def test_the_search_of_the_user_is_not_fitted():
    search = GridSearchCV(Ridge(), GRID, cv=3)
    region = tuned(search)
    assert not hasattr(search, "best_params_")
    assert region.tuning.search.cv_results_["mean_test_score"].shape == (3,)


def test_a_randomised_search_is_repeatable():
    search = RandomizedSearchCV(Ridge(), {"alpha": np.geomspace(1e-3, 1e3, 99)}, n_iter=3, cv=3)
    assert tuned(search).tuning.best_params == tuned(search).tuning.best_params


@pytest.mark.parametrize(
    "cv",
    [KFold(5, shuffle=True), ShuffleSplit(5), RepeatedKFold(n_splits=3, n_repeats=2)],
    ids=lambda cv: type(cv).__name__,
)
def test_splits_without_a_seed_get_one(cv):
    search = GridSearchCV(Ridge(), GRID, cv=cv)
    one, two = (tuned(search).tuning for _ in range(2))
    assert one.best_score == two.best_score
    assert one.best_score != tuned(search, random_state=1).tuning.best_score
    assert cv.random_state is None  # the splitter of the user is as it was


def test_a_seed_that_a_splitter_has_is_kept():
    search = GridSearchCV(Ridge(), GRID, cv=KFold(5, shuffle=True, random_state=7))
    assert tuned(search).tuning.search.cv.random_state == 7


def test_models_that_a_grid_offers_are_copied():
    """What is reported is what the grid offered, not what became of it."""
    inner = Ridge(2.0)
    pipeline = Pipeline([("model", LinearRegression())])
    search = GridSearchCV(pipeline, {"model": [inner], "model__alpha": [3.0]}, cv=3)
    region = tuned(search)
    assert region.estimator[-1].alpha == 3.0
    assert region.tuning.best_params["model"].alpha == 2.0
    assert inner.alpha == 2.0


def test_a_pipeline_is_tuned_as_a_whole():
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(1, include_bias=False), Ridge())
    grid = {"polynomialfeatures__degree": [1, 3], "ridge__alpha": [0.1, 1.0]}
    region = tuned(GridSearchCV(pipeline, grid, cv=3))
    degree = region.tuning.best_params["polynomialfeatures__degree"]
    assert region.objective.d == {1: 3, 3: 10}[degree]


def test_frames_and_options_go_through():
    frame = pd.DataFrame(X, columns=["a", "b"], index=np.arange(N) + 1000)
    region = tuned(inputs=frame, noise="exchangeable", m=20, ties="conservative")
    assert region.names == ["intercept", "a", "b"]
    assert (region.m, region.ties) == (20, "conservative")
    assert isinstance(region.noise, ua.noise.Exchangeable)
    assert list(region.inputs.index) == list(1000 + region.tuning.region_rows)


def test_a_precomputed_kernel_is_cut_to_both_parts():
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=-1))
    region = tuned(GridSearchCV(KernelRidge(kernel="precomputed"), GRID, cv=3), inputs=K)
    rows = region.tuning.region_rows
    np.testing.assert_allclose(region.objective.design.matrix, K[np.ix_(rows, rows)], rtol=1e-12)


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


def test_weights_of_zero_and_one_leave_rows_out_of_both_parts():
    weight = (np.arange(N) % 3 > 0).astype(float)
    region = tuned(sample_weight=weight)
    assert region.n == weight[region.tuning.region_rows].sum() < len(region.tuning.region_rows)
    assert weight[region.tuning.tuning_rows].all()


def test_fit_params_are_cut_to_the_tuning_rows():
    groups = np.arange(N) % 5
    search = GridSearchCV(Ridge(), GRID, cv=GroupKFold(3))
    region = tuned(search, fit_params={"groups": groups})
    rows = region.tuning.tuning_rows
    by_hand = GridSearchCV(Ridge(), GRID, cv=GroupKFold(3)).fit(
        X[rows], Y[rows], groups=groups[rows]
    )
    assert region.tuning.best_score == by_hand.best_score_


@pytest.mark.parametrize("search", [Ridge(), RidgeCV(), GridSearchCV, None], ids=repr)
def test_only_searches_are_taken(search):
    with pytest.raises(TypeError, match="search is not a search over hyper-parameters"):
        ua.tuned_region(search, X, Y)


def test_a_search_that_does_not_decide_is_refused():
    search = GridSearchCV(Ridge(), GRID, scoring=["r2", "neg_max_error"], refit=False, cv=3)
    with pytest.raises(ValueError, match="does not say which hyper-parameters are best"):
        tuned(search)


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
        ({"m": "all"}, ValueError, "wrong size to enumerate"),
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
        ({"tune_size": 59}, ValueError, "leaves the region too few rows"),
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


def test_a_search_may_choose_the_model_itself():
    pipeline = Pipeline([("scale", "passthrough"), ("model", RandomForestRegressor())])
    grid = {"model": [Ridge(1.0), Ridge(10.0)], "scale": [StandardScaler()]}
    assert isinstance(tuned(GridSearchCV(pipeline, grid, cv=3)).estimator[-1], Ridge)


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


class Pairs(ua.noise.BlockSymmetric):
    """A subclass that is built from something else than blocks."""

    def __init__(self, n):
        super().__init__(np.arange(n) // 2)


@pytest.mark.parametrize("noise", [WholeSymmetric(), WholeByInheritance()], ids=repr)
def test_a_noise_class_that_does_not_say_it_can_be_divided_is_refused(noise):
    with pytest.raises(ua.NotAvailable, match="does not say what it assumes when rows are set"):
        tuned(NeverSearchCV(Ridge()), noise=noise)


def test_a_noise_class_says_that_it_can_be_divided():
    class Signs(ua.noise.Symmetric):
        separable = True

        def draw(self, n, size, rng):
            return rng.choice([-1, 1], size=(size, n)).astype(np.int8)

    assert isinstance(tuned(noise=Signs()).noise, Signs)


class SignSearchCV(BaseEstimator):
    """Choose the penalty by the sign of the noise, which WholeSymmetric gives away."""

    def __init__(self, estimator=None):
        self.estimator = estimator

    def fit(self, X, y):
        self.best_params_ = {"alpha": 50.0 if np.mean(y - 2 * X[:, 0]) < 0 else 0.0}
        return self


@pytest.mark.slow
@pytest.mark.parametrize(("dishonest", "kept"), [(False, True), (True, False)])
def test_what_would_happen_if_it_were_not_refused(dishonest, kept):
    """A class that promises wrongly loses the level; one that may promise it keeps it."""

    class Promising(WholeSymmetric):
        separable = True

        def draw(self, n, size, rng):
            return super().draw(n, size, rng)

    runs, covered = 200, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X = 1 + 0.1 * rng.normal(size=(40, 1))
        signs = rng.choice([-1, 1], size=1 if dishonest else 40)
        y = 2 * X[:, 0] + signs * np.abs(rng.normal(size=40))
        search = SignSearchCV(Ridge(fit_intercept=False))
        noise = Promising() if dishonest else None
        region = ua.tuned_region(search, X, y, noise=noise, m=10, random_state=seed)
        covered += region.contains([2.0], level=0.5)
    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], runs, 0.5)
    assert (low <= covered <= high) == kept


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


@pytest.fixture
def one_column(monkeypatch):
    from unassuming.objectives import _registry

    def factory(estimator, X, y, sample_weight):
        column = X[:, [estimator.column]]
        return ua.objectives.from_linear_regression(LinearRegression(), column, y, sample_weight)

    monkeypatch.setattr(_registry, "_FACTORIES", dict(_registry._FACTORIES))
    ua.register_objective(OneColumn, factory)


def covered(build, runs):
    """How many regions of the chosen column hold the truth: no column has to do with y."""
    count = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(24, 40)), rng.standard_t(3, size=24)
        count += build(X, y, seed).contains(np.zeros(2), level=0.9)
    return count


@pytest.mark.slow
def test_tuning_on_other_rows_keeps_the_coverage_and_on_the_same_rows_loses_it(one_column):
    def honest(X, y, seed):
        search = CorrelationSearchCV(OneColumn())
        return ua.tuned_region(search, X, y, m=10, random_state=seed)

    def cheating(X, y, seed):
        best = CorrelationSearchCV().fit(X, y).best_params_
        return ua.confidence_region(OneColumn(**best), X, y, m=10, random_state=seed)

    low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], 150, 0.9)
    assert low <= covered(honest, 150) <= high
    assert covered(cheating, 150) < low
