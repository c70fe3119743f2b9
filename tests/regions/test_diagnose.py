"""region.diagnose(): residual plots' data, indications, and what the guarantee rests on."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom, rankdata, spearmanr
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, Ridge, RidgeClassifier

import unassuming as ua

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 2))
TRUTH = X @ [1.0, -1.0]


def diagnose(noise_terms, model=None, noise="symmetric", **options):
    model = LinearRegression() if model is None else model
    y = TRUTH + noise_terms
    options = {"random_state": 0, **options}
    return ua.confidence_region(model, X, y, noise=noise, **options).diagnose()


def by_name(diagnosis):
    return {indication.name: indication for indication in diagnosis.indications}


GOOD = RNG.laplace(size=N)
SKEWED = RNG.exponential(size=N) ** 2
WIDENING = np.exp(1.5 * TRUTH) * RNG.normal(size=N)
DRIFTING = np.sin(np.arange(N) / 5) + 0.1 * RNG.normal(size=N)


def test_residuals_and_fitted_values_are_those_of_the_estimate():
    y = TRUTH + GOOD
    diagnosis = diagnose(GOOD)
    fit = LinearRegression().fit(X, y)
    np.testing.assert_allclose(diagnosis.fitted, fit.predict(X), rtol=1e-10)
    np.testing.assert_allclose(diagnosis.residuals, y - fit.predict(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(diagnosis.inputs["x1"], X[:, 1])


@pytest.mark.parametrize(
    ("noise_terms", "name"),
    [(SKEWED, "symmetry"), (WIDENING, "equal spread"), (DRIFTING, "no order")],
    ids=["skewed", "widening", "drifting"],
)
def test_what_is_wrong_is_indicated(noise_terms, name):
    assert by_name(diagnose(noise_terms, noise="spherical"))[name].pvalue <= 0.02


def test_nothing_is_indicated_where_nothing_is_wrong():
    for noise in ("symmetric", "exchangeable", "spherical"):
        assert all(i.pvalue > 0.02 for i in diagnose(GOOD, noise=noise).indications)


@pytest.mark.parametrize(
    ("noise", "assumed"),
    [
        ("symmetric", {"symmetry", "no order"}),
        ("exchangeable", {"equal spread", "no order"}),
        ("symmetric-exchangeable", {"symmetry", "equal spread", "no order"}),
        ("spherical", {"symmetry", "equal spread", "no order"}),
    ],
)
def test_it_says_what_the_region_assumes(noise, assumed):
    found = diagnose(GOOD, noise=noise).indications
    assert {indication.name for indication in found if indication.assumed} == assumed


def test_dependence_within_blocks_is_no_objection_to_block_symmetry():
    blocks = np.repeat(np.arange(20), 3)
    together = np.repeat(RNG.choice([-1.0, 1.0], size=20), 3) * RNG.uniform(1, 2, size=N)
    assert by_name(diagnose(together, noise="symmetric"))["no order"].pvalue <= 0.02
    allowed = diagnose(together, noise=ua.noise.BlockSymmetric(blocks))
    assert by_name(allowed)["no order"].pvalue > 0.02


def test_symmetry_is_judged_among_refits_to_transformed_residuals():
    y = TRUTH + WIDENING
    region = ua.confidence_region(LinearRegression(), X, y, m=200, random_state=0)
    fitted = LinearRegression().fit(X, y).predict(X)

    def signed_ranks(r):
        return (np.sign(r) * rankdata(np.abs(r))).sum()

    value, others = signed_ranks(y - fitted), []
    for moved in region.perturbations.apply(y - fitted):
        outputs = fitted + moved
        others.append(signed_ranks(outputs - LinearRegression().fit(X, outputs).predict(X)))
    tail = min(np.sum(np.array(others) >= value), np.sum(np.array(others) <= value))
    expected = min(1.0, 2 * (1 + tail) / 200)
    assert by_name(region.diagnose())["symmetry"].pvalue == pytest.approx(expected, abs=0.011)


def test_equal_spread_agrees_with_spearmans_test():
    y = TRUTH + WIDENING
    r = y - LinearRegression().fit(X, y).predict(X)
    found = by_name(diagnose(WIDENING, noise="symmetric", m=2000))
    expected = spearmanr(np.abs(r), y - r).pvalue
    assert found["equal spread"].pvalue == pytest.approx(max(expected, 2 / 1000), abs=0.01)


@pytest.mark.parametrize(("skewed", "low", "high"), [(False, 0, 25), (True, 85, 100)])
def test_an_intercept_does_not_hide_skewness(skewed, low, high):
    # Of 100 runs at n = 60: the rate of false alarms stays near 0.05, the power near 0.95.
    found = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(N, 2))
        e = rng.exponential(size=N) if skewed else rng.laplace(size=N)
        region = ua.confidence_region(LinearRegression(), Z, Z.sum(axis=1) + e, random_state=seed)
        found += by_name(region.diagnose())["symmetry"].pvalue <= 0.05
    assert low <= found <= high


def test_p_values_are_exact_for_the_noise_itself():
    """With no input that explains anything and nothing fitted, residuals are the noise."""
    rejected, zeros = 0, np.zeros((30, 1))
    for seed in range(300):
        y = np.random.default_rng(seed).standard_t(3, size=30)
        model = Ridge(alpha=1.0, fit_intercept=False)
        region = ua.confidence_region(model, zeros + 1e-9, y, m=20, random_state=seed)
        rejected += by_name(region.diagnose())["symmetry"].pvalue <= 0.2
    # Ties between sums of ranks count against a rejection, and there are a few.
    low, high = binom.ppf(0.5e-6, 300, 0.17), binom.ppf(1 - 0.5e-6, 300, 0.2)
    assert low <= rejected <= high


def test_it_lists_what_the_guarantee_rests_on():
    rests_on = diagnose(GOOD).rests_on
    assert rests_on == (
        "the noise terms are independent, each symmetric about zero (their laws may all differ)",
        "inputs, features, weights, hyper-parameters and seed do not depend on the noise",
        "the noise-free outputs lie in the span of the 3 features",
    )
    assert len(diagnose(GOOD, KernelRidge(kernel="rbf")).rests_on) == 2


def test_it_prints_as_sentences_with_the_caveat():
    text = " ".join(str(diagnose(GOOD)).split())
    assert "Residuals are not the noise" in text
    assert "a large one is no proof" in text
    assert "each symmetric about zero" in text
    assert "with probability exactly 1 - q/100" in text
    assert max(map(len, str(diagnose(GOOD)).splitlines())) <= 100


@pytest.mark.filterwarnings("ignore:The published region")
def test_the_published_classifier_is_not_said_to_cover_anything():
    labels = np.where(TRUTH + GOOD > 0, 1, -1)
    region = ua.confidence_region(RidgeClassifier(), X, labels, noise="symmetric", random_state=0)
    assert "carries no coverage guarantee" in str(region.diagnose())


def test_labels_are_compared_with_fresh_labels_of_the_estimate():
    inputs, labels, _ = ua.datasets.labels(n=80, random_state=0)
    region = ua.confidence_region(RidgeClassifier(), inputs, labels, random_state=0)
    found = region.diagnose()
    assert all(indication.pvalue > 0.02 for indication in found.indications)
    assert found.rests_on[0] == "the labels are independent given the inputs"


def test_rows_of_weight_zero_are_left_out():
    weight = np.ones(N)
    weight[[3, 10]] = 0
    diagnosis = diagnose(GOOD, sample_weight=weight)
    assert len(diagnosis.residuals) == N - 2
    assert not {3, 10} & set(diagnosis.rows)
    np.testing.assert_array_equal(diagnosis.inputs["x0"], X[diagnosis.rows, 0])


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_give_their_columns(library):
    frame = library.DataFrame({"age": X[:, 0], "size": X[:, 1]})
    region = ua.confidence_region(Ridge(), frame, TRUTH + GOOD, random_state=0)
    table = region.diagnose().to_frame()
    assert list(table.columns) == ["row", "fitted", "residual", "age", "size"]
    np.testing.assert_array_equal(table["age"], X[:, 0])


def test_a_perfect_fit_indicates_nothing():
    region = ua.confidence_region(LinearRegression(), X, np.zeros(N), random_state=0)
    assert all(indication.pvalue == 1 for indication in region.diagnose().indications)


def test_real_data():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    found = by_name(ua.confidence_region(Lasso(0.1), X, y, random_state=0).diagnose())
    assert not found["equal spread"].assumed
    assert found["equal spread"].pvalue < 0.01  # the spread grows with the fitted values
