"""Pipelines: transformers are fitted without y, here, and those that want y are refused."""

import copy

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomTreesEmbedding
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold, f_regression
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.utils.validation import check_is_fitted

import unassuming as ua

RNG = np.random.default_rng(0)
N = 30
X = RNG.normal(size=(N, 2))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + RNG.laplace(size=N)


def region_of(model, inputs=X, y=Y, **options):
    return ua.confidence_region(model, inputs, y, **{"m": 100, "random_state": 0, **options})


def assert_same_region(ours, by_hand):
    """Compare centres, and the ranks of enough candidates for all levels to be met."""
    assert ours.objective.d == by_hand.objective.d
    np.testing.assert_allclose(ours.estimate, by_hand.estimate, rtol=1e-9, atol=1e-12)
    steps = np.random.default_rng(1).normal(size=(60, by_hand.objective.d))
    candidates = by_hand.estimate + steps * np.geomspace(0.01, 3, 60)[:, None]
    ranks = by_hand.rank(candidates)
    np.testing.assert_array_equal(ours.rank(candidates), ranks)
    assert len(np.unique(ranks)) > 10


TRANSFORMERS = {
    "scaling": [StandardScaler()],
    "splines": [SplineTransformer(n_knots=4)],
    "polynomials": [PolynomialFeatures(2, include_bias=False)],
    "Nystroem": [Nystroem(gamma=0.5, n_components=8, random_state=3)],
    "random Fourier features": [RBFSampler(gamma=0.5, n_components=6, random_state=3)],
    "two steps": [PCA(whiten=True), PolynomialFeatures(2)],
    "feature union": [FeatureUnion([("scaled", StandardScaler()), ("squares", PCA())])],
    "function": [FunctionTransformer(np.tanh)],
    "unsupervised selection": [VarianceThreshold(0.1)],
    "sparse splines": [SplineTransformer(n_knots=4, sparse_output=True)],
    "sparse trees": [RandomTreesEmbedding(n_estimators=3, max_depth=2, random_state=0)],
}


def by_hand(steps, inputs=X):
    """Apply copies of the transformers, one after the other."""
    features = inputs
    for step in copy.deepcopy(steps):
        features = step.fit(features).transform(features)
    return features.toarray() if hasattr(features, "toarray") else features


@pytest.mark.parametrize("steps", TRANSFORMERS)
def test_a_pipeline_is_the_model_on_its_features(steps):
    steps = TRANSFORMERS[steps]
    assert_same_region(
        region_of(make_pipeline(*steps, Ridge(alpha=0.5))),
        region_of(Ridge(alpha=0.5), by_hand(steps)),
    )


# --- data frames ----------------------------------------------------------------------------------


def columns():
    rng = np.random.default_rng(4)
    return {"size": rng.normal(size=N), "town": rng.choice(["Aa", "Bo", "Cy"], size=N).tolist()}


@pytest.fixture(params=["pandas", "polars"])
def frame(request):
    library = pytest.importorskip(request.param)
    return library.DataFrame(columns())


def dummies(data):
    towns = np.array(data["town"])[:, None] == np.array(["Aa", "Bo", "Cy"])
    size = np.array(data["size"])
    return np.column_stack([(size - size.mean()) / size.std(), towns])


@pytest.mark.parametrize("sparse", [True, False])
def test_a_column_transformer_takes_columns_by_name(frame, sparse):
    encode = ColumnTransformer(
        [("numbers", StandardScaler(), ["size"]), ("text", OneHotEncoder(), ["town"])],
        sparse_threshold=float(sparse),
    )
    ours = region_of(make_pipeline(encode, Ridge(0.5)), frame)
    assert_same_region(ours, region_of(Ridge(0.5), dummies(columns())))
    names = ["numbers__size", "text__town_Aa", "text__town_Bo", "text__town_Cy"]
    assert ours.objective.names == ["intercept", *names]


# --- the user's objects ---------------------------------------------------------------------------


def test_the_pipeline_of_the_user_is_neither_fitted_nor_changed():
    model = make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge(0.5))
    before = [dict(vars(step)) for _, step in model.steps]
    region = region_of(model)
    region.rank(region.estimate)
    assert [dict(vars(step)) for _, step in model.steps] == before
    for _, step in model.steps:
        with pytest.raises(NotFittedError):
            check_is_fitted(step)


# --- refusals -------------------------------------------------------------------------------------

SUPERVISED = {
    "SelectKBest": SelectKBest(f_regression, k=1),
    "SelectFromModel": SelectFromModel(Ridge()),
    "PLSRegression": PLSRegression(n_components=1),
    "TargetEncoder": TargetEncoder(target_type="continuous"),
    "FeatureUnion": FeatureUnion(
        [("all", StandardScaler()), ("best", SelectKBest(f_regression, k=1))]
    ),
    "ColumnTransformer": ColumnTransformer([("best", SelectKBest(f_regression, k=1), [0, 1])]),
    "Pipeline": make_pipeline(StandardScaler(), SelectKBest(f_regression, k=1)),
}


@pytest.mark.parametrize("kind", SUPERVISED)
def test_supervised_transformers_are_refused_with_the_reason(kind):
    model = Pipeline([("scale", StandardScaler()), ("chosen", SUPERVISED[kind]), ("end", Ridge())])
    message = (
        r"the transformer 'chosen' needs y to be fitted, which voids the guarantee: expected "
        rf"transformers that are fitted to the inputs alone, given {kind}\. Remove it, or fit it "
        r"on other rows"
    )
    with pytest.raises(TypeError, match=message):
        region_of(model)


def frozen(place):
    chosen = FrozenEstimator(SelectKBest(f_regression, k=1).fit(X, Y))
    inside = ColumnTransformer([("best", chosen, [0, 1])])
    return make_pipeline(chosen if place == "step" else inside, Ridge())


@pytest.mark.parametrize(
    ("place", "name"), [("step", "frozenestimator"), ("inside", "columntransformer__best")]
)
def test_a_frozen_step_is_an_assumption_of_the_region(place, name):
    """Whether it was fitted on other rows cannot be seen: it is said instead."""
    region = region_of(frozen(place))
    assert f"the frozen step '{name}' was fitted on other rows" in region.diagnose().rests_on
    assert f"the frozen step '{name}' was fitted on other rows" in str(region)
    assert region.objective.d == 2


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}),
        RandomizedSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, n_iter=2),
    ],
    ids=["grid", "randomized"],
)
@pytest.mark.parametrize(
    "place",
    [lambda s: s, lambda s: make_pipeline(StandardScaler(), s)],
    ids=["alone", "in a pipeline"],
)
def test_searches_are_refused_with_the_reason(search, place):
    message = "chooses hyper-parameters with the same y, which voids the guarantee"
    with pytest.raises(TypeError, match=f"{message}.*given {type(search).__name__}"):
        region_of(place(search))
