"""What the three kernel models share."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.utils import get_tags

from unassuming.kernels import gram, truncated_parabolic
from unassuming.models import LSSVC, KernelHuber, KernelLasso

RNG = np.random.default_rng(21)
X = RNG.normal(size=(24, 2))
Z = RNG.normal(size=(7, 2))
Y = np.where(X[:, 0] + 0.3 * RNG.normal(size=24) > 0.0, 1.0, -1.0)
MODELS = [
    KernelLasso(0.1),
    KernelHuber(0.1, delta=0.4),
    LSSVC(2.0),
    LSSVC(2.0, fit_intercept=False),
]
ids = pytest.mark.parametrize("model", MODELS, ids=str)


def shifted_product(x, z, shift=1.0):
    return float(x @ z) + shift


def fitted_function(model, rows):
    return getattr(model, "decision_function", model.predict)(rows)


@ids
@pytest.mark.parametrize(
    "parameters",
    [
        {"kernel": "linear"},
        {"kernel": "rbf", "gamma": 0.7},
        {"kernel": "poly", "degree": 2, "coef0": 0.5},
        {"kernel": RBF(0.8)},
        {"kernel": shifted_product, "kernel_params": {"shift": 2.0}},
    ],
    ids=["linear", "rbf", "poly", "object", "callable"],
)
def test_every_kind_of_kernel_agrees_with_its_precomputed_gram_matrix(model, parameters):
    model = clone(model).set_params(**parameters).fit(X, Y)
    options = {"params" if k == "kernel_params" else k: v for k, v in parameters.items()}
    K, K_new = gram(X=X, **options), gram(X=Z, Z=X, **options)
    precomputed = clone(model).set_params(kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(precomputed.dual_coef_, model.dual_coef_, atol=1e-12)
    values = K_new @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(fitted_function(model, Z), values, atol=1e-12)
    np.testing.assert_allclose(fitted_function(precomputed, K_new), values, atol=1e-12)
    np.testing.assert_array_equal(model.X_fit_, X)
    assert model.n_features_in_ == 2


@ids
def test_only_a_precomputed_kernel_is_pairwise(model):
    assert not get_tags(model).input_tags.pairwise
    assert get_tags(clone(model).set_params(kernel="precomputed")).input_tags.pairwise
    assert not get_tags(clone(model).set_params(kernel=RBF())).input_tags.pairwise


@ids
def test_the_constructor_only_stores(model):
    parameters = model.get_params()
    fitted = clone(model).fit(X, Y)
    assert fitted.get_params() == parameters
    assert clone(model).set_params(kernel="rbf").get_params()["kernel"] == "rbf"


@ids
def test_data_frames_and_grid_search(model):
    frame = pd.DataFrame(X, columns=["first", "second"])
    fitted = clone(model).set_params(kernel="rbf").fit(frame, Y)
    np.testing.assert_array_equal(fitted.feature_names_in_, ["first", "second"])
    np.testing.assert_array_equal(
        fitted.predict(frame), clone(model).set_params(kernel="rbf").fit(X, Y).predict(X)
    )
    search = GridSearchCV(clone(model), {"kernel": ["linear", "rbf"], "gamma": [0.1, 1.0]}, cv=3)
    assert np.isfinite(search.fit(X, Y).best_score_)


@ids
def test_cross_validation_slices_precomputed_matrices(model):
    K = rbf_kernel(X)
    name = "C" if isinstance(model, LSSVC) else "alpha"
    search = GridSearchCV(clone(model).set_params(kernel="precomputed"), {name: [0.1, 1.0]}, cv=3)
    assert np.isfinite(search.fit(K, Y).best_score_)


@ids
def test_the_model_keeps_its_own_copy_of_the_inputs(model):
    rows = X.copy()
    fitted = clone(model).fit(rows, Y)
    before = fitted_function(fitted, Z)
    rows[:] = 0.0
    np.testing.assert_array_equal(fitted_function(fitted, Z), before)


@ids
def test_predicting_before_fitting(model):
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


@ids
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "1", None, True])
def test_penalties_must_be_positive_numbers(model, value):
    names = {KernelLasso: ["alpha"], KernelHuber: ["alpha", "delta"], LSSVC: ["C"]}[type(model)]
    for name in names:
        message = rf"{name} of {type(model).__name__} is not usable: expected a positive number"
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("model", [KernelHuber(), LSSVC()], ids=str)
def test_indefinite_kernels_are_refused(model):
    grid = np.linspace(0.0, 10.0, 24).reshape(-1, 1)
    with pytest.raises(ValueError, match=rf"indefinite, which {type(model).__name__} cannot use"):
        clone(model).set_params(kernel=truncated_parabolic).fit(grid, Y)


@pytest.mark.parametrize("model", [KernelHuber(), LSSVC()], ids=str)
def test_weights_must_leave_something(model):
    # Newer releases of scikit-learn find this themselves, in other words.
    with pytest.raises(ValueError, match=r"leaves no row to fit|at least one non-zero number"):
        clone(model).fit(X, Y, sample_weight=np.zeros(24))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        clone(model).fit(X, Y, sample_weight=np.linspace(-1.0, 1.0, 24))
