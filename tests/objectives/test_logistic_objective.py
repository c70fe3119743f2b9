"""LogisticRegression as an objective: its formula, its estimate, and what it refuses."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import oracles
import unassuming as ua

pytestmark = pytest.mark.slow_but_first
OLD = LogisticRegression().get_params().get("penalty") == "l2"  # scikit-learn before 1.8
W = np.random.default_rng(1).uniform(0.3, 3, size=40)


def model(ratio=0.0, **options):
    """A LogisticRegression with that l1_ratio, in the spelling of the installed version."""
    if not OLD:
        return LogisticRegression(l1_ratio=ratio, **options)
    if ratio in (0.0, 1.0):
        return LogisticRegression(penalty="l1" if ratio else "l2", **options)
    return LogisticRegression(penalty="elasticnet", l1_ratio=ratio, **options)


PENALTIES = {
    "l2": (0.0, {"C": 0.6}),
    "l1": (1.0, {"C": 0.4, "solver": "saga"}),
    "elastic net": (0.3, {"C": 0.2, "solver": "saga"}),
    "none": (0.0, {"C": np.inf}),
}


def data(d=3, seed=4):
    return ua.datasets.labels(n=40, d=d, random_state=seed)


def region_of(estimator, X, y, **options):
    return ua.confidence_region(estimator, X, y, **{"random_state": 0, "m": 40, **options})


# --- the formula ----------------------------------------------------------------------------------


def hessian_root(Phi, C, w, ratio):
    P = np.diag([0.0, *[1.0] * (Phi.shape[1] - 1)])
    return oracles.inverse_root(C / 4 * Phi.T @ (w[:, None] * Phi) + (1 - ratio) * P)


WEIGHTINGS = {
    "hessian": hessian_root,
    "identity": lambda Phi, C, w, ratio: np.eye(Phi.shape[1]),
    "matrix": lambda Phi, C, w, ratio: np.arange(8.0).reshape(2, 4) - 3,
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elastic net"])
def test_statistics_and_ranks_are_those_of_the_formula(penalty, weighting, weighted):
    ratio, options = PENALTIES[penalty]
    X, y, f = data()
    C, w = options["C"], W if weighted else np.ones(40)
    Phi = np.column_stack([np.ones(40), X])
    psi = WEIGHTINGS[weighting](Phi, C, w, ratio)
    region = region_of(
        model(ratio, **options),
        X,
        y,
        sample_weight=W if weighted else None,
        weighting=psi if weighting == "matrix" else weighting,
    )
    sparse = f.coefficients * [1, 1, 0, 1]
    # Statistics have a common factor, which ranks do not see: the objective is divided by C n, the
    # identity and matrices keep that, and H^{-1/2} has half of it.
    scale = 1 / (C * 40) if weighting == "hessian" else 1 / (C * 40) ** 2
    for a in (f.coefficients, sparse, np.zeros(4), 3 * sparse):
        Z = scale * np.array(
            oracles.logistic(Phi, y, C, w, ratio, a, region.perturbations.apply, psi)
        )
        np.testing.assert_allclose(region.statistics(a), Z, rtol=1e-9, atol=1e-12 * Z.max())
        assert region.rank(a) == oracles.rank(Z, region.tie_order)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_gradient_is_that_of_the_objective(penalty):
    ratio, options = PENALTIES[penalty]
    X, y, f = data()
    objective = region_of(model(ratio, **options), X, y, sample_weight=W).objective
    Phi, C = np.column_stack([np.ones(40), X]), options["C"]

    def value(a):
        loss = W @ np.logaddexp(0, -y * (Phi @ a)) / 40
        penalty = ratio * np.abs(a[1:]).sum() + (1 - ratio) / 2 * (a[1:] @ a[1:])
        return loss + penalty / (C * 40)

    a, h = f.coefficients, 1e-6
    plain = [(value(a + h * e) - value(a - h * e)) / (2 * h) for e in np.eye(4)]
    gradient = objective.gradient(a[None], objective.residuals(a[None]))[0]
    np.testing.assert_allclose(gradient, plain, atol=1e-8)


def test_an_unpenalised_statistic_is_the_score_test():
    """Z = sᵀ(ΦᵀΦ)⁻¹s with s = Φᵀ(y - f), up to the factor 1/n."""
    X, y, f = data()
    region, Phi = region_of(model(C=np.inf), X, y), np.column_stack([np.ones(40), X])
    s = (y - f(X)) @ Phi
    assert region.statistics(f)[0] == pytest.approx(s @ np.linalg.solve(Phi.T @ Phi, s) / 40)


# --- candidates -----------------------------------------------------------------------------------


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_function_is_ranked_as_its_coefficients_are(penalty):
    ratio, options = PENALTIES[penalty]
    X, y, f = data()
    region = region_of(model(ratio, **options), X, y)
    np.testing.assert_allclose(
        region.statistics(f), region.statistics(f.coefficients), rtol=1e-8, atol=1e-14
    )
    assert region.rank(f) == region.rank(f.coefficients)


@pytest.mark.parametrize("penalty", ["l2", "none"])
def test_a_fitted_logistic_regression_is_recognised_by_its_coefficients(penalty):
    ratio, options = PENALTIES[penalty]
    X, y, _ = data()
    fitted = model(ratio, **options).fit(X, np.where(y > 0, "yes", "no"))
    region = region_of(model(ratio, **options), X, np.where(y > 0, "yes", "no"))
    a = np.r_[fitted.intercept_, fitted.coef_[0]]
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(a))
    assert "p-value is not a valid test" in region.test(fitted).caveat


def test_kernel_logistic_regression_is_a_pipeline():
    X, y, f = data(d=2)
    kernel_map = Nystroem(gamma=0.5, n_components=9, random_state=3)
    kernel = make_pipeline(kernel_map, model(C=5.0, solver="newton-cholesky", tol=1e-12))
    region, fitted = region_of(kernel, X, y), clone(kernel).fit(X, y)
    np.testing.assert_allclose(region.estimate[1:], fitted[-1].coef_[0], atol=1e-8)
    Phi = np.column_stack([np.ones(40), fitted[0].transform(X)])
    a = np.linalg.lstsq(Phi, 2 * np.arctanh(f(X)), rcond=None)[0]
    psi, w = hessian_root(Phi, 5.0, np.ones(40), 0.0), np.ones(40)
    Z = oracles.logistic(Phi, y, 5.0, w, 0.0, a, region.perturbations.apply, psi, f=f(X))
    np.testing.assert_allclose(region.statistics(f), np.array(Z) / 200, rtol=1e-7)
    assert region.rank(f) == oracles.rank(Z, region.tie_order)


# --- the estimate ---------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_estimate_is_that_of_scikit_learn(penalty, fit_intercept, weighted):
    ratio, options = PENALTIES[penalty]
    X, y, _ = data()
    w = W if weighted else None
    estimator = model(ratio, fit_intercept=fit_intercept, tol=1e-10, max_iter=100_000, **options)
    fitted = estimator.fit(X, y, sample_weight=w)
    estimate = region_of(clone(estimator), X, y, sample_weight=w).estimate
    theirs = np.r_[fitted.intercept_ if fit_intercept else [], fitted.coef_[0]]
    np.testing.assert_allclose(estimate, theirs, atol=1e-6)


@pytest.mark.parametrize("weighting", ["hessian", "identity"])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("ratio", [0.0, 0.3, 1.0])
def test_the_estimate_comes_first(ratio, C, weighting):
    X, y, _ = data()
    region = region_of(model(ratio, C=C, solver="saga"), X, y, weighting=weighting)
    Z = region.statistics(region.estimate)
    assert Z[0] <= 1e-24 * Z.max()
    conservative = region_of(model(ratio, C=C), X, y, weighting=weighting, ties="conservative")
    assert conservative.rank(region.estimate) == 1


def test_separable_labels_have_tests_but_no_unpenalised_estimate():
    X, _, f = data()
    region = region_of(model(C=np.inf), X, np.sign(X[:, 0]))
    with pytest.raises(ValueError, match="can be separated by the features"):
        region.estimate  # noqa: B018
    assert 1 <= region.test(f).rank <= 40
    assert region.test(f.coefficients).caveat == ""
    assert np.isfinite(region_of(model(C=100.0), X, np.sign(X[:, 0])).estimate).all()


# --- hyper-parameters -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["l1", "l2", "elasticnet", None])
def test_the_older_spelling_of_the_penalty_is_understood_and_does_not_warn(kind):
    X, y, _ = data()
    ratio = {"l1": 1.0, "elasticnet": 0.3}.get(kind, 0.0)
    older = model(ratio, C=0.7).set_params(l1_ratio=0.3 if kind == "elasticnet" else None)
    older.penalty = kind
    newer = model(ratio, C=np.inf if kind is None else 0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regions = [region_of(estimator, X, y) for estimator in (older, newer)]
    np.testing.assert_array_equal(regions[0].estimate, regions[1].estimate)
    assert regions[0].objective.penalty.alpha == regions[1].objective.penalty.alpha


@pytest.mark.parametrize(
    ("options", "pattern"),
    [
        ({"C": 0.0}, r"C is out of range: expected one finite number > 0, or infinity, given 0"),
        ({"C": -np.inf}, r"C is out of range"),
        ({"C": np.nan}, r"C is out of range"),
        ({"class_weight": "balanced"}, r"class_weight depends on the labels"),
        ({"solver": "liblinear"}, r"solver='liblinear' penalises the intercept"),
    ],
    ids=str,
)
def test_what_cannot_be_exact_or_is_out_of_range_is_refused(options, pattern):
    X, y, _ = data()
    with pytest.raises(ValueError, match=pattern):
        region_of(model(**options), X, y)


@pytest.mark.parametrize("ratio", [-0.1, 1.1, "half"])
def test_the_ratio_lies_between_zero_and_one(ratio):
    X, y, _ = data()
    estimator = LogisticRegression(penalty="elasticnet") if OLD else LogisticRegression()
    expected = r"l1_ratio is out of range: expected one finite number >= 0 and <= 1"
    with pytest.raises(ValueError, match=expected):
        region_of(estimator.set_params(l1_ratio=ratio), X, y)


def test_gram_needs_a_kernel():
    X, y, _ = data()
    with pytest.raises(ValueError, match=r"not available for logistic regression: .* given 'gram'"):
        region_of(model(), X, y, weighting="gram")


def test_rows_of_weight_zero_are_dropped():
    X, y, f = data()
    weight = np.r_[np.ones(30), np.zeros(10)]
    dropped = region_of(model(C=0.4), X, y, sample_weight=weight)
    short = region_of(model(C=0.4), X[:30], y[:30])
    np.testing.assert_allclose(dropped.estimate, short.estimate, rtol=1e-10)
    assert dropped.rank(f) == short.rank(f)


def test_a_constant_weight_multiplies_C():
    X, y, f = data()
    weighted = region_of(model(C=0.4), X, y, sample_weight=np.full(40, 3.0))
    plain = region_of(model(C=1.2), X, y)
    np.testing.assert_allclose(weighted.estimate, plain.estimate, rtol=1e-10)
    assert weighted.rank([f, f.coefficients]).tolist() == plain.rank([f, f.coefficients]).tolist()


def test_geometry_is_refused_with_the_name_of_the_objective():
    X, y, _ = data()
    with pytest.raises(ua.NotAvailable, match="logistic regression"):
        region_of(model(), X, y).ellipsoid()
