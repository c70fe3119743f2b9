"""ConfidenceRegressor: the predictions of the estimator, the band of its region."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
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


@pytest.mark.parametrize("model", [SVR(), HuberRegressor()], ids=repr)
def test_a_model_without_known_bounds_gets_an_infinite_band_and_a_reason(model):
    model = fitted(model)
    np.testing.assert_array_equal(model.predict_band(NEW), [[-np.inf, np.inf]] * len(NEW))
    assert len(model.band_status_) > 40
    with pytest.raises(ValueError, match=r"expected at most 0\.99 with m = 100"):
        model.predict_band(NEW, level=0.995)


# --- weights --------------------------------------------------------------------------------------


def test_weights_reach_the_model_and_the_region_through_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), Ridge(0.5))
    ours = ua.ConfidenceRegressor(pipeline, random_state=0, m=100).fit(X, Y, sample_weight=WEIGHT)
    plain = clone(pipeline).fit(X, Y, ridge__sample_weight=WEIGHT)
    np.testing.assert_allclose(ours.predict(NEW), plain.predict(NEW), rtol=1e-12)
    estimate = np.r_[plain[-1].intercept_, plain[-1].coef_]
    np.testing.assert_allclose(ours.region_.estimate, estimate, rtol=1e-8)


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
