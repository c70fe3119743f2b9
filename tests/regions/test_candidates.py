"""Candidates as coefficients, callables and fitted estimators; answers of the matching kind."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

import oracles
import unassuming as ua

RNG = np.random.default_rng(0)
N = 20
X = RNG.normal(size=(N, 2))
Y = 0.5 + X @ [1.0, -2.0] + RNG.laplace(size=N)
TRUTH = np.array([0.5, 1.0, -2.0])
SEVERAL = TRUTH + 0.5 * RNG.normal(size=(60, 3))
PHI, P = np.column_stack([np.ones(N), X]), np.diag([0.0, 1.0, 1.0])


def region_of(model=None, inputs=X, y=Y, **options):
    model = Ridge(alpha=0.3) if model is None else model
    return ua.confidence_region(model, inputs, y, **{"m": 100, "random_state": 0, **options})


def plane(inputs):
    return 0.5 + inputs @ [1.0, -2.0]


def plain_rank(region, a):
    images = region.perturbations.apply
    Z = oracles.weighted_quadratic(PHI, Y, np.ones(N), 0.3 / N, P, a, images)
    return oracles.rank(Z, region.tie_order)


# --- the kind of the answer ---


def test_one_vector_gives_plain_numbers():
    region = region_of()
    rank = region.rank(TRUTH)
    assert type(rank) is int
    assert rank == plain_rank(region, TRUTH)
    pvalue, smallest = region.pvalue(TRUTH), region.smallest_level(TRUTH)
    assert (type(pvalue), type(smallest)) == (float, float)
    assert pvalue == pytest.approx((101 - rank) / 100, rel=1e-15)
    assert smallest == pytest.approx(rank / 100, rel=1e-15)
    assert region.contains(TRUTH, level=0.9) == (rank <= 90)
    assert region.statistics(TRUTH).shape == (100,)
    for form in (list, tuple, pd.Series):
        assert region.rank(form(TRUTH)) == rank


def test_an_array_gives_arrays():
    region = region_of()
    ranks = region.rank(SEVERAL)
    expected = [plain_rank(region, a) for a in SEVERAL]
    np.testing.assert_array_equal(ranks, expected)
    assert ranks.dtype.kind == "i"
    inside = region.contains(SEVERAL, level=0.6)
    assert inside.dtype == bool
    np.testing.assert_array_equal(inside, np.array(expected) <= 60)
    np.testing.assert_allclose(region.pvalue(SEVERAL), (101 - ranks) / 100, rtol=1e-15)
    assert region.statistics(SEVERAL).shape == (60, 100)
    assert region.rank(TRUTH[None]).tolist() == [region.rank(TRUTH)]
    assert region.rank(np.empty((0, 3))).shape == (0,)
    assert region.contains(np.empty((0, 3)), level=0.9).shape == (0,)
    for form in (list, lambda a: [list(row) for row in a], pd.DataFrame):
        np.testing.assert_array_equal(region.rank(form(SEVERAL)), ranks)


def test_lists_may_mix_all_kinds():
    region = region_of()
    several = [TRUTH, plane, Ridge(alpha=0.3).fit(X, Y), [0.0, 0.0, 0.0]]
    assert region.rank(several).tolist() == [region.rank(one) for one in several]
    assert region.statistics(several).shape == (4, 100)
    assert region.contains((plane, plane), level=0.9).shape == (2,)


# --- the order of the coefficients, and their names ---

FRAME = pd.DataFrame(X, columns=["age", "dose"])


@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(0.3), Lasso(0.1), HuberRegressor()], ids=repr
)
def test_the_intercept_comes_first(model):
    region = region_of(model)
    assert region.names == ["intercept", "x0", "x1"]
    np.testing.assert_allclose(region.objective.residuals(TRUTH[None])[0], Y - plane(X))


def rbf(gamma):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=-1))


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (Ridge(fit_intercept=False), ["age", "dose"]),
        (make_pipeline(StandardScaler(), Ridge()), ["intercept", "age", "dose"]),
        (
            make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression()),
            ["intercept", "age", "dose", "age^2", "age dose", "dose^2"],
        ),
        (KernelRidge(), [f"dual{j}" for j in range(N)]),
        (SVR(), ["intercept", *(f"dual{j}" for j in range(N))]),
    ],
    ids=repr,
)
def test_coefficients_have_the_names_of_their_columns(model, names):
    assert region_of(model, FRAME).names == names


# --- callables ---


def test_a_callable_in_the_span_has_the_rank_of_its_coefficients():
    region = region_of()
    assert region.rank(plane) == region.rank(TRUTH)
    np.testing.assert_allclose(region.statistics(plane), region.statistics(TRUTH), rtol=1e-9)
    kernel = region_of(KernelRidge(alpha=0.5, kernel="rbf", gamma=2.0))
    assert kernel.rank(plane) == kernel.rank(np.linalg.solve(rbf(2.0), plane(X)))


def test_a_callable_outside_the_span_is_ranked_by_its_own_residuals():
    """Its coefficients are the least-squares ones, its residuals y - f(x)."""
    region = region_of()

    def curve(inputs):
        return plane(inputs) + 0.3 * np.sin(5 * inputs[:, 0])

    a = np.linalg.lstsq(PHI, curve(X), rcond=None)[0]
    rows = np.vstack([Y - curve(X), region.perturbations.apply(Y - curve(X))])
    s = rows @ PHI - 0.3 * P @ a
    Z = np.einsum("ij,ij->i", s @ np.linalg.inv(PHI.T @ PHI + 0.3 * P), s) / N
    np.testing.assert_allclose(region.statistics(curve), Z, rtol=1e-9)
    assert region.rank(curve) == 1 + (Z[1:] < Z[0]).sum()
    assert not np.allclose(region.statistics(curve), region.statistics(a), rtol=1e-3)


def test_callables_see_the_inputs_as_they_were_passed():
    frame, seen = FRAME.set_axis([f"row {j}" for j in range(N)]), []

    def by_name(inputs):
        seen.append(inputs)
        return 0.5 + inputs["age"] - 2 * inputs["dose"]

    region, expected = region_of(inputs=frame), region_of().rank(plane)
    assert region.rank(by_name) == expected
    pd.testing.assert_frame_equal(seen[0], frame)
    frame.loc[:, "age"] = 0.0  # the region has its own copy
    assert region.rank(by_name) == expected
    piped = region_of(make_pipeline(StandardScaler(), Ridge(alpha=0.3)))
    piped.rank(lambda inputs: seen.append(inputs) or plane(inputs))
    np.testing.assert_array_equal(seen[-1], X)


# --- fitted estimators ---


def dual_of(svr):
    dual = np.zeros(N)
    dual[svr.support_] = svr.dual_coef_[0]
    return np.concatenate([svr.intercept_, dual])


def linear(fitted):
    return np.concatenate([np.ravel(fitted.intercept_), np.ravel(fitted.coef_)])


FITTED = {
    "ridge": (Ridge(alpha=2.0), Y, linear),
    "ridge classifier": (RidgeClassifier(alpha=5.0), np.where(Y > 0, "up", "down"), linear),
    "SVR": (SVR(gamma=0.5, epsilon=0.5, tol=1e-8), Y, dual_of),
    "SVR at zero": (SVR(gamma=0.5, epsilon=100.0), Y, dual_of),
    **{
        f"{type(model).__name__}": (model, Y, lambda fitted: fitted.dual_coef_)
        for model in (
            KernelRidge(alpha=0.5, kernel="rbf", gamma=2.0),
            ua.KernelLasso(0.2, kernel="rbf", gamma=2.0),
            ua.KernelHuber(0.5, kernel="rbf", gamma=2.0),
        )
    },
}


@pytest.mark.parametrize("name", FITTED)
def test_a_fitted_model_is_its_coefficients(name):
    model, y, coefficients = FITTED[name]
    region, fitted = region_of(model, y=y), model.fit(X, y)
    a = coefficients(fitted)
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(a))


@pytest.mark.parametrize("rows", [slice(None, None, -1), slice(0, N)], ids=["reversed", "moved"])
def test_other_models_are_their_predictions(rows):
    """A kernel model of other inputs has as many dual coefficients, but they belong to those."""
    model = KernelRidge(alpha=0.5, kernel="rbf", gamma=2.0)
    other = X[rows] + (0.1 if rows.step is None else 0.0)
    region, fitted = region_of(model), model.fit(other, Y[rows])
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(fitted.predict))
    assert not np.allclose(region.statistics(fitted), region.statistics(fitted.dual_coef_))
    forest = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(region.statistics(forest), region.statistics(forest.predict))


# --- tests ---


def test_a_test_reports_rank_pvalue_level_and_statistics():
    region = region_of()
    result = region.test(TRUTH)
    assert isinstance(result, ua.RankTest)
    assert (result.rank, result.m) == (region.rank(TRUTH), 100)
    assert result.pvalue == region.pvalue(TRUTH)
    assert result.smallest_level == region.smallest_level(TRUTH)
    np.testing.assert_array_equal(result.statistics, region.statistics(TRUTH))
    assert result.caveat == region.test(plane).caveat == ""
    with pytest.raises(ValueError, match=r"takes one candidate, given 60\. Use rank\(\) or"):
        region.test(SEVERAL)


def test_a_test_of_what_was_fitted_says_that_its_pvalue_is_no_test():
    region = region_of()
    pipeline = make_pipeline(StandardScaler(), Lasso(0.1)).fit(X, Y)
    for candidate in (Ridge().fit(X, Y), pipeline, region.estimate):
        result = region.test(candidate)
        assert "p-value is not a valid test" in result.caveat
        assert result.caveat in str(result)


# --- rows of weight zero, precomputed kernels ---

KEPT = np.ones(N, dtype=bool)
KEPT[[0, 7, 19]] = False
WEIGHT = np.where(KEPT, np.linspace(0.5, 2, N), 0.0)


@pytest.mark.parametrize(
    ("model", "weight"),
    [
        (Ridge(alpha=0.3), WEIGHT),
        (ua.KernelHuber(alpha=0.3, kernel="rbf", gamma=0.5), WEIGHT),
        (Lasso(0.1), KEPT.astype(float)),
        (HuberRegressor(), KEPT.astype(float)),
        (SVR(), KEPT.astype(float)),
    ],
    ids=lambda value: repr(value) if hasattr(value, "fit") else "",
)
@pytest.mark.parametrize("noise", ["exchangeable", ua.noise.BlockSymmetric(np.arange(N) // 2)])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(model, weight, noise):
    kept = noise if isinstance(noise, str) else ua.noise.BlockSymmetric(noise.blocks[KEPT])
    dropped = region_of(model, noise=noise, sample_weight=weight)
    without = region_of(model, X[KEPT], Y[KEPT], noise=kept, sample_weight=weight[KEPT])
    assert dropped.n == without.n == 17
    np.testing.assert_array_equal(dropped.estimate, without.estimate)
    some = without.estimate + 0.1 * RNG.normal(size=(40, without.objective.d))
    np.testing.assert_array_equal(dropped.rank(some), without.rank(some))
    seen = []  # functions still get all rows
    assert dropped.rank(lambda x: seen.append(x) or plane(x)) == without.rank(plane)
    np.testing.assert_array_equal(seen[0], X)
