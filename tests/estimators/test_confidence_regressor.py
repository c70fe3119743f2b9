"""ConfidenceRegressor: the predictions of the estimator, the band of its region."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR
from sklearn.utils.estimator_checks import parametrize_with_checks

import unassuming as ua

RNG = np.random.default_rng(0)
N = 40
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -2.0] + 0.5 + RNG.laplace(size=N)
NEW = RNG.normal(size=(7, 2))
WEIGHT = RNG.uniform(0.5, 2.0, size=N)

MODELS = [
    LinearRegression(),
    Ridge(0.5),
    KernelRidge(kernel="rbf", alpha=0.3),
    Lasso(0.05),
    SVR(),
    HuberRegressor(),
    ua.KernelHuber(kernel="rbf"),
    make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False), Ridge(0.1)),
]
names = pytest.mark.parametrize("model", MODELS, ids=lambda model: repr(model).split("(")[0])


def fitted(model=None, **options):
    model = Ridge(0.5) if model is None else model
    return ua.ConfidenceRegressor(
        model, **{"level": 0.9, "m": 100, "random_state": 0, **options}
    ).fit(X, Y)


# --- conventions ----------------------------------------------------------------------------------

EQUIVALENCE = "check_sample_weight_equivalence"  # scikit-learn runs it on dense and sparse data
SVR_FAILS = {
    f"{EQUIVALENCE}_on_{kind}_data": "libsvm stops early, and so does scikit-learn's own SVR here"
    for kind in ("dense", "sparse")
}


def expected_failures(wrapped):
    return SVR_FAILS if isinstance(wrapped.estimator, SVR) else {}


def checks(*models):
    wrapped = [ua.ConfidenceRegressor(model, m=100) for model in models]
    return parametrize_with_checks(wrapped, expected_failed_checks=expected_failures)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:y has only two values")
@checks(None)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:y has only two values")
@checks(
    KernelRidge(), Lasso(alpha=0.01), LinearRegression(), SVR(), ua.KernelLasso(), ua.KernelHuber()
)
def test_scikit_learn_conventions_with_other_models(estimator, check):
    check(estimator)


# --- predictions and bands ------------------------------------------------------------------------


@names
def test_predictions_are_those_of_the_plain_estimator(model):
    ours, plain = fitted(model), clone(model).fit(X, Y)
    np.testing.assert_array_equal(ours.predict(NEW), plain.predict(NEW))
    assert ours.score(X, Y) == pytest.approx(plain.score(X, Y), rel=1e-14)  # sums may differ


@names
def test_the_region_is_the_one_of_confidence_region(model):
    ours = fitted(model, m=40).region_
    direct = ua.confidence_region(model, X, Y, m=40, random_state=0)
    candidates = direct.estimate + RNG.normal(size=(30, direct.objective.d))
    np.testing.assert_array_equal(ours.rank(candidates), direct.rank(candidates))


def test_the_band_is_the_one_of_the_region():
    model = fitted()
    band = model.region_.band(NEW, level=0.9, method="joint")
    np.testing.assert_array_equal(model.predict_band(NEW)[:, 0], band.lower)
    np.testing.assert_array_equal(model.predict_band(NEW)[:, 1], band.upper)
    assert model.band_status_ == "every bound is finite and an honest outer bound of the region"
    inside = model.predict(NEW)
    assert (band.lower < inside).all()
    assert (inside < band.upper).all()


def test_several_levels_give_a_mapping_of_nested_bands():
    model = fitted()
    bands = model.predict_band(NEW, level=[0.5, 0.9])
    assert set(bands) == set(model.band_status_) == {0.5, 0.9}
    assert (bands[0.9][:, 0] < bands[0.5][:, 0]).all()
    assert (bands[0.5][:, 1] < bands[0.9][:, 1]).all()
    np.testing.assert_array_equal(bands[0.9], model.predict_band(NEW, level=0.9))


@pytest.mark.slow
def test_an_unbounded_band_is_infinite_and_a_norm_bound_makes_it_finite():
    model = fitted(KernelRidge(kernel="rbf"), m=20)
    assert np.isinf(model.predict_band(X)).any()
    assert "norm_bound" in model.band_status_
    bounded = fitted(KernelRidge(kernel="rbf"), norm_bound=30.0, m=20)
    assert np.isfinite(bounded.predict_band(X)).all()
    assert bounded.band_status_.startswith("every bound is finite")


@pytest.mark.parametrize("model", [SVR(), HuberRegressor()], ids=repr)
def test_a_model_without_known_bounds_gets_an_infinite_band_and_a_reason(model):
    model = fitted(model)
    np.testing.assert_array_equal(model.predict_band(NEW), [[-np.inf, np.inf]] * len(NEW))
    assert len(model.band_status_) > 40
    with pytest.raises(ValueError, match=r"expected at most 0\.99 with m = 100"):
        model.predict_band(NEW, level=0.995)


def test_the_status_before_any_band_is_that_of_the_training_inputs():
    model = fitted(KernelRidge(kernel="rbf"), m=20)
    before = model.band_status_
    model.predict_band(X)
    assert before == model.band_status_


# --- weights --------------------------------------------------------------------------------------


def test_weights_reach_the_model_and_the_region_through_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), Ridge(0.5))
    ours = ua.ConfidenceRegressor(pipeline, random_state=0, m=100).fit(X, Y, sample_weight=WEIGHT)
    plain = clone(pipeline).fit(X, Y, ridge__sample_weight=WEIGHT)
    np.testing.assert_allclose(ours.predict(NEW), plain.predict(NEW), rtol=1e-12)
    estimate = np.r_[plain[-1].intercept_, plain[-1].coef_]
    np.testing.assert_allclose(ours.region_.estimate, estimate, rtol=1e-8)


@pytest.mark.parametrize(
    "model", [Lasso(0.05), SVR(), HuberRegressor(), ua.KernelLasso(0.1, kernel="rbf")], ids=repr
)
def test_without_a_region_for_varying_weights_predictions_remain(model):
    ours = ua.ConfidenceRegressor(model, random_state=0, m=100).fit(X, Y, sample_weight=WEIGHT)
    plain = clone(model).fit(X, Y, sample_weight=WEIGHT)
    np.testing.assert_array_equal(ours.predict(NEW), plain.predict(NEW))
    assert "sample_weight varies" in ours.band_status_
    assert np.isinf(ours.predict_band(NEW)).all()
    with pytest.raises(ua.NotAvailable, match="sample_weight varies"):
        _ = ours.region_


def test_metadata_routing_carries_the_weights():
    with sklearn.config_context(enable_metadata_routing=True):
        inner = ua.ConfidenceRegressor(Ridge(0.5), random_state=0, m=100).set_fit_request(
            sample_weight=True
        )
        inner.set_score_request(sample_weight=False)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        outer = make_pipeline(scaler, inner).fit(X, Y, sample_weight=WEIGHT)
        scores = cross_validate(inner, X, Y, params={"sample_weight": WEIGHT})["test_score"]
        bare = Ridge(0.5).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        expected = cross_validate(bare, X, Y, params={"sample_weight": WEIGHT})["test_score"]
    scaled = StandardScaler().fit_transform(X)
    plain = Ridge(0.5).fit(scaled, Y, sample_weight=WEIGHT)
    np.testing.assert_allclose(outer.predict(X), plain.predict(scaled), rtol=1e-10)
    assert not np.allclose(outer.predict(X), Ridge(0.5).fit(scaled, Y).predict(scaled))
    np.testing.assert_array_equal(scores, expected)


# --- all or nothing -------------------------------------------------------------------------------


class Fails(TransformerMixin, BaseEstimator):
    """A transformer that works for the model and fails for the region, or the other way round."""

    calls = 0

    def __init__(self, at=2):
        self.at = at

    def fit(self, X, y=None):
        type(self).calls += 1
        if type(self).calls >= self.at:
            raise OSError("the disk is gone")
        self.fitted_ = True
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize("at", [1, 2])
def test_a_refit_that_fails_changes_nothing(at):
    model = fitted(Ridge(0.5))
    before, band = model.predict(NEW), model.predict_band(NEW)
    Fails.calls = 0
    model.set_params(estimator=make_pipeline(Fails(at), Ridge(0.5)))
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit(X, -Y)
    np.testing.assert_array_equal(model.predict(NEW), before)
    np.testing.assert_array_equal(model.predict_band(NEW), band)


@pytest.mark.parametrize("options", [{"level": 90}, {"noise": "gaussian"}, {"norm_bound": -1}])
def test_a_first_fit_that_fails_leaves_nothing_fitted(options):
    model = ua.ConfidenceRegressor(Ridge(), **options)
    with pytest.raises(ValueError, match=next(iter(options))):
        model.fit(X, Y)
    with pytest.raises(NotFittedError):
        model.predict(NEW)


# --- life inside scikit-learn ---------------------------------------------------------------------


def test_clone_and_pickle_keep_everything():
    model = fitted(MODELS[-1], m=40)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_band(NEW), model.predict_band(NEW))
    assert str(again.region_) == str(model.region_)
    copy = clone(model)
    with pytest.raises(NotFittedError):
        copy.predict(NEW)
    np.testing.assert_array_equal(copy.fit(X, Y).predict_band(NEW), model.predict_band(NEW))


def test_parameters_of_the_inner_model_can_be_set():
    model = ua.ConfidenceRegressor(MODELS[-1], m=100).set_params(estimator__ridge__alpha=7.0, m=20)
    assert model.get_params()["estimator__ridge__alpha"] == 7.0
    assert model.fit(X, Y).region_.objective.penalty.alpha == pytest.approx(7.0)


def test_it_may_end_a_pipeline_and_be_cross_validated():
    outer = make_pipeline(
        StandardScaler(), ua.ConfidenceRegressor(Ridge(0.5), random_state=0, m=100)
    )
    plain = make_pipeline(StandardScaler(), Ridge(0.5))
    np.testing.assert_array_equal(cross_val_score(outer, X, Y), cross_val_score(plain, X, Y))
    search = GridSearchCV(outer, {"confidenceregressor__estimator__alpha": [0.1, 10.0]}, cv=3)
    assert search.fit(X, Y).best_score_ > 0.5


def test_a_precomputed_kernel_is_cut_on_both_sides():
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=-1))
    wrapped = ua.ConfidenceRegressor(KernelRidge(kernel="precomputed"), random_state=0, m=100)
    plain = KernelRidge(kernel="precomputed")
    np.testing.assert_array_equal(cross_val_score(wrapped, K, Y), cross_val_score(plain, K, Y))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_keep_their_names(library):
    frame = pytest.importorskip(library).DataFrame({"age": X[:, 0], "size": X[:, 1]})
    model = ua.ConfidenceRegressor(Ridge(0.5), level=0.9, random_state=0, m=100).fit(frame, Y)
    assert list(model.feature_names_in_) == ["age", "size"]
    assert model.n_features_in_ == 2
    assert model.region_.names == ["intercept", "age", "size"]
    np.testing.assert_allclose(model.predict_band(frame), fitted().predict_band(X), rtol=1e-10)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict_band(frame.rename({"age": "year"}, **_axis(library)))


def _axis(library):
    return {"axis": 1} if library == "pandas" else {}


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_set_output_of_pipelines_inside_and_outside_gives_named_coefficients(output):
    pytest.importorskip(output)
    frame = pd.DataFrame(X, columns=["age", "size"])
    inside = make_pipeline(StandardScaler(), Ridge(0.5)).set_output(transform=output)
    model = ua.ConfidenceRegressor(inside, random_state=0, m=100).fit(frame, Y)
    assert model.region_.names == ["intercept", "age", "size"]
    outside = make_pipeline(
        StandardScaler(), ua.ConfidenceRegressor(Ridge(0.5), random_state=0, m=100)
    )
    outside.set_output(transform=output).fit(frame, Y)
    assert list(outside[-1].feature_names_in_) == ["age", "size"]
    np.testing.assert_allclose(outside.predict(frame), model.predict(frame), rtol=1e-12)


# --- randomness -----------------------------------------------------------------------------------


@pytest.mark.parametrize("features", [RBFSampler(n_components=5), Nystroem(n_components=5)])
def test_random_features_of_predictions_and_of_the_band_are_the_same(features):
    model = fitted(make_pipeline(features, Ridge(0.1)))
    estimate = model.region_.band(NEW, method="joint", level=0.9).estimate
    np.testing.assert_allclose(model.predict(NEW), estimate, rtol=1e-6, atol=1e-8)
    other = fitted(make_pipeline(features, Ridge(0.1)), random_state=1)
    assert not np.allclose(other.predict(NEW), estimate)


def test_one_seed_gives_one_region():
    a, b, c = fitted(), fitted(), fitted(random_state=1)
    np.testing.assert_array_equal(a.predict_band(NEW), b.predict_band(NEW))
    assert not np.array_equal(a.predict_band(NEW), c.predict_band(NEW))


class DrawsInSecret(TransformerMixin, BaseEstimator):
    """Random features that no seed reaches."""

    def fit(self, X, y=None):
        self.matrix_ = np.random.default_rng().normal(size=(X.shape[1], 2))
        return self

    def transform(self, X):
        return X @ self.matrix_


def test_features_that_differ_between_predictions_and_region_are_refused():
    with pytest.raises(ValueError, match=r"other features when it is fitted again.*DrawsInSecret"):
        fitted(make_pipeline(StandardScaler(), DrawsInSecret(), Ridge(0.1)))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_that_draws_at_random_is_seeded():
    """Coordinate descent in random order, stopped early, is elsewhere for every seed."""
    model = make_pipeline(
        PolynomialFeatures(3), Lasso(0.01, selection="random", tol=1e-12, max_iter=2)
    )
    one, two = (fitted(model).predict(NEW) for _ in range(2))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, fitted(model, random_state=1).predict(NEW))


class UsesY(TransformerMixin, BaseEstimator):
    """Scales by what it can see of y."""

    def fit(self, X, y=None):
        self.scale_ = 1.0 if y is None else float(np.std(y))
        return self

    def transform(self, X):
        return X / self.scale_


def test_transformers_never_see_y():
    model = fitted(make_pipeline(UsesY(), Ridge(0.5)))
    assert model.estimator_[0].scale_ == 1.0
    np.testing.assert_array_equal(model.predict(NEW), Ridge(0.5).fit(X, Y).predict(NEW))


# --- refusals, all of them at fit -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"estimator": RandomForestRegressor()}, TypeError, "estimator is not supported"),
        ({"estimator": RidgeClassifier()}, TypeError, "is a classifier"),
        ({"estimator": Ridge}, TypeError, "is a class"),
        ({"estimator": GridSearchCV(Ridge(), {})}, TypeError, r"ua\.tuned_region"),
        (
            {"estimator": make_pipeline(SelectKBest(k=1), Ridge())},
            TypeError,
            "needs y to be fitted",
        ),
        ({"level": 0.995, "m": 100}, ValueError, r"expected at most 0\.99 with m = 100"),
        ({"noise": "gaussian"}, ValueError, "not a known assumption"),
        ({"random_state": "x"}, ValueError, "not a valid seed"),
    ],
)
def test_errors_come_at_fit(options, error, message):
    with pytest.raises(error, match=message):
        ua.ConfidenceRegressor(**options).fit(X, Y)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRegression(copy_X=False),
        Ridge(copy_X=False),
        make_pipeline(StandardScaler(copy=False), Ridge(copy_X=False)),
        pytest.param(Lasso(0.01, copy_X=False), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_a_model_that_overwrites_its_inputs_changes_no_region(estimator):
    X, y, _ = ua.datasets.linear(n=40, d=2, random_state=0)
    X = X + 5
    before = X.copy()
    model = ua.ConfidenceRegressor(estimator, random_state=0, m=100).fit(X, y)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_allclose(
        model.region_.objective.fitted(model.region_.estimate[None])[0], model.predict(X), rtol=1e-3
    )
    model.predict_band(X)
    np.testing.assert_array_equal(X, before)
