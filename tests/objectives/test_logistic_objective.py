"""LogisticRegression as an objective: its formula, its estimate, and what it refuses."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

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


def test_separable_labels_have_tests_but_no_unpenalised_estimate():
    X, _, f = data()
    region = region_of(model(C=np.inf), X, np.sign(X[:, 0]))
    with pytest.raises(ValueError, match="can be separated by the features"):
        region.estimate  # noqa: B018
    assert 1 <= region.test(f).rank <= 40
    assert region.test(f.coefficients).caveat == ""
    assert np.isfinite(region_of(model(C=100.0), X, np.sign(X[:, 0])).estimate).all()


# --- hyper-parameters -----------------------------------------------------------------------------


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
