"""Candidates as coefficients, callables and fitted estimators; answers of the matching kind."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

import unassuming as ua

RNG = np.random.default_rng(0)
N = 20
X = RNG.normal(size=(N, 2))
Y = 0.5 + X @ [1.0, -2.0] + RNG.laplace(size=N)
TRUTH = np.array([0.5, 1.0, -2.0])
SEVERAL = TRUTH + 0.5 * RNG.normal(size=(60, 3))  # enough for the fast path


def region_of(model=None, inputs=X, y=Y, **options):
    model = Ridge(alpha=0.3) if model is None else model
    return ua.confidence_region(model, inputs, y, **{"m": 100, "random_state": 0, **options})


def plane(inputs):
    return 0.5 + inputs @ [1.0, -2.0]


def plain_rank(region, a, Phi, penalty):
    """Rank a coefficient vector from the formula of the theory, for ridge regression."""
    H = Phi.T @ Phi + penalty
    r = region.objective.y - Phi @ a
    rows = np.vstack([r, region.perturbations.apply(r)])
    s = rows @ Phi - penalty @ a
    Z = np.einsum("ij,ij->i", s @ np.linalg.inv(H), s)
    return 1 + int((Z[1:] < Z[0]).sum())


RIDGE_DESIGN = np.column_stack([np.ones(N), X]), 0.3 * np.diag([0.0, 1.0, 1.0])


# --- coefficient vectors --------------------------------------------------------------------------


def test_one_vector_gives_plain_numbers():
    region = region_of()
    rank = region.rank(TRUTH)
    assert type(rank) is int
    assert rank == plain_rank(region, TRUTH, *RIDGE_DESIGN)
    pvalue, smallest = region.pvalue(TRUTH), region.smallest_level(TRUTH)
    assert type(pvalue) is float
    assert type(smallest) is float
    assert pvalue == pytest.approx((101 - rank) / 100, rel=1e-15)
    assert smallest == pytest.approx(rank / 100, rel=1e-15)
    inside = region.contains(TRUTH, level=0.9)
    assert isinstance(inside, (bool, np.bool_))
    assert inside == (rank <= 90)
    assert region.statistics(TRUTH).shape == (100,)


def test_an_array_gives_arrays():
    region = region_of()
    ranks = region.rank(SEVERAL)
    expected = [plain_rank(region, a, *RIDGE_DESIGN) for a in SEVERAL]
    np.testing.assert_array_equal(ranks, expected)
    assert ranks.dtype.kind == "i"
    assert region.contains(SEVERAL, level=0.6).dtype == bool
    np.testing.assert_array_equal(region.contains(SEVERAL, level=0.6), np.array(expected) <= 60)
    np.testing.assert_allclose(region.pvalue(SEVERAL), (101 - ranks) / 100, rtol=1e-15)
    np.testing.assert_allclose(region.smallest_level(SEVERAL), ranks / 100, rtol=1e-15)
    assert region.statistics(SEVERAL).shape == (60, 100)


@pytest.mark.parametrize(
    "form",
    [list, tuple, lambda a: [list(row) for row in a], lambda a: [*map(tuple, a)], pd.DataFrame],
    ids=["list of arrays", "tuple of arrays", "list of lists", "list of tuples", "DataFrame"],
)
def test_lists_of_vectors_are_arrays(form):
    region = region_of()
    np.testing.assert_array_equal(region.rank(form(SEVERAL)), region.rank(SEVERAL))


@pytest.mark.parametrize("form", [list, tuple, pd.Series], ids=["list", "tuple", "Series"])
def test_one_vector_may_be_any_sequence(form):
    region = region_of()
    assert region.rank(form(TRUTH)) == region.rank(TRUTH)


def test_an_array_of_one_row_gives_an_array_and_of_none_an_empty_one():
    region = region_of()
    assert region.rank(TRUTH[None]).tolist() == [region.rank(TRUTH)]
    assert region.rank(np.empty((0, 3))).shape == (0,)
    assert region.contains(np.empty((0, 3)), level=0.9).shape == (0,)
    assert region.statistics(np.empty((0, 3))).shape == (0, 100)


def test_several_at_once_are_each_on_its_own():
    region = region_of()
    alone = [region.rank(a) for a in SEVERAL]
    np.testing.assert_array_equal(region.rank(SEVERAL), alone)
    np.testing.assert_allclose(region.statistics(SEVERAL)[7], region.statistics(SEVERAL[7]))


def test_a_sequence_of_levels_gives_a_dictionary():
    region = region_of()
    rank = region.rank(TRUTH)
    answer = region.contains(TRUTH, level=[0.05, 0.5, 0.95])
    assert answer == {0.05: rank <= 5, 0.5: rank <= 50, 0.95: rank <= 95}
    arrays = region.contains(SEVERAL, level=(0.5, 0.9))
    assert list(arrays) == [0.5, 0.9]
    np.testing.assert_array_equal(arrays[0.9], region.contains(SEVERAL, level=0.9))
    assert list(region.contains(TRUTH, level=np.array([0.5, 0.9]))) == [0.5, 0.9]


# --- the order of the coefficients ----------------------------------------------------------------


@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(0.3), Lasso(0.1), HuberRegressor()], ids=repr
)
def test_the_intercept_comes_first(model):
    region = region_of(model)
    assert region.objective.names == ["intercept", "x0", "x1"]
    np.testing.assert_allclose(region.objective.residuals(TRUTH[None])[0], Y - plane(X))


def test_without_an_intercept_there_are_slopes_only():
    region = region_of(Ridge(0.3, fit_intercept=False))
    assert region.objective.names == ["x0", "x1"]
    np.testing.assert_allclose(region.objective.residuals(np.ones((1, 2)))[0], Y - X.sum(axis=1))


def rbf(gamma):
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=-1))


def test_svr_has_its_intercept_before_the_dual_coefficients():
    region = region_of(SVR(gamma=0.5))
    assert region.objective.names[:3] == ["intercept", "dual0", "dual1"]
    a = np.linspace(-1, 1, N + 1)
    np.testing.assert_allclose(
        region.objective.residuals(a[None])[0], Y - a[0] - rbf(0.5) @ a[1:], rtol=1e-12
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_lssvc_has_weights_for_the_linear_kernel_and_dual_coefficients_for_others(fit_intercept):
    labels = np.sign(Y)
    linear = region_of(ua.LSSVC(fit_intercept=fit_intercept), y=labels)
    assert linear.objective.names == ["intercept"] * fit_intercept + ["x0", "x1"]
    dual = region_of(ua.LSSVC(kernel="rbf", fit_intercept=fit_intercept), y=labels)
    assert dual.objective.d == N + fit_intercept


# --- callables ------------------------------------------------------------------------------------


def test_a_callable_in_the_span_has_the_rank_of_its_coefficients():
    region = region_of()
    assert region.rank(plane) == region.rank(TRUTH)
    np.testing.assert_allclose(region.statistics(plane), region.statistics(TRUTH), rtol=1e-9)


def test_a_callable_outside_the_span_is_ranked_by_its_own_residuals():
    """Its coefficients are the least-squares ones, its residuals y - f(x)."""
    region = region_of()

    def curve(inputs):
        return plane(inputs) + 0.3 * np.sin(5 * inputs[:, 0])

    Phi, penalty = RIDGE_DESIGN
    a = np.linalg.lstsq(Phi, curve(X), rcond=None)[0]
    rows = np.vstack([Y - curve(X), region.perturbations.apply(Y - curve(X))])
    s = rows @ Phi - penalty @ a
    Z = np.einsum("ij,ij->i", s @ np.linalg.inv(Phi.T @ Phi + penalty), s) / N
    np.testing.assert_allclose(region.statistics(curve), Z, rtol=1e-9)
    assert region.rank(curve) == 1 + (Z[1:] < Z[0]).sum()
    assert not np.allclose(region.statistics(curve), region.statistics(a), rtol=1e-3)


def test_a_callable_with_a_kernel_has_the_rank_of_the_interpolating_coefficients():
    region = region_of(KernelRidge(alpha=0.5, kernel="rbf", gamma=2.0))
    a = np.linalg.solve(rbf(2.0), plane(X))
    assert region.rank(plane) == region.rank(a)


def test_callables_see_the_data_frame_as_it_was_passed():
    frame = pd.DataFrame(X.copy(), columns=["age", "dose"], index=[f"row {j}" for j in range(N)])
    seen = []

    def by_name(inputs):
        seen.append(inputs)
        return 0.5 + inputs["age"] - 2 * inputs["dose"]

    region = region_of(inputs=frame)
    assert region.rank(by_name) == region_of().rank(plane)
    pd.testing.assert_frame_equal(seen[0], frame)
    frame.loc[:, "age"] = 0.0  # the region has its own copy
    assert region.rank(by_name) == region_of().rank(plane)


def test_callables_of_a_pipeline_see_the_inputs_before_the_transformers():
    model = make_pipeline(StandardScaler(), Ridge(alpha=0.3))
    seen = []
    region = region_of(model)
    region.rank(lambda inputs: seen.append(inputs) or plane(inputs))
    np.testing.assert_array_equal(seen[0], X)


def test_a_callable_may_return_one_column():
    region = region_of()
    assert region.rank(lambda inputs: plane(inputs)[:, None]) == region.rank(plane)


def test_lists_of_callables_give_arrays():
    region = region_of()

    def flat(inputs):
        return np.zeros(len(inputs))

    ranks = region.rank([plane, flat])
    assert ranks.tolist() == [region.rank(plane), region.rank(flat)]
    assert region.rank([plane]).tolist() == [region.rank(plane)]
    assert region.contains((plane, flat), level=0.9).shape == (2,)


def test_lists_may_mix_all_kinds():
    region = region_of()
    fitted = Ridge(alpha=0.3).fit(X, Y)
    ranks = region.rank([TRUTH, plane, fitted, [0.0, 0.0, 0.0]])
    expected = [region.rank(c) for c in (TRUTH, plane, fitted, [0.0, 0.0, 0.0])]
    assert ranks.tolist() == expected
    assert region.statistics([TRUTH, plane, fitted]).shape == (3, 100)


def test_a_callable_object_is_a_callable():
    inputs, y, f = ua.datasets.sine(n=20, random_state=0)
    region = region_of(KernelRidge(kernel="rbf", alpha=0.5), inputs, y)
    assert region.rank(f) == region.rank(lambda inputs: f(inputs))


# --- fitted estimators ----------------------------------------------------------------------------


def test_a_fitted_model_is_its_coefficients():
    region = region_of()
    fitted = Ridge(alpha=2.0).fit(X, Y)
    a = np.concatenate([[fitted.intercept_], fitted.coef_])
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(a))


def test_a_fitted_lasso_keeps_its_zeros():
    """Its predictions alone would not: the least-norm coefficients are not sparse."""
    inputs = np.column_stack([X, X[:, 0]])
    region = region_of(Lasso(alpha=0.2), inputs)
    fitted = Lasso(alpha=0.2, tol=1e-12).fit(inputs, Y)
    fitted.coef_[np.abs(fitted.coef_) < 1e-12] = 0.0  # of twins one is zero, up to its rounding
    assert (fitted.coef_ == 0).any()
    a = np.concatenate([[fitted.intercept_], fitted.coef_])
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(a))
    assert not np.allclose(region.statistics(fitted), region.statistics(fitted.predict))


def dual_of(svr):
    dual = np.zeros(N)
    dual[svr.support_] = svr.dual_coef_[0]
    return np.concatenate([svr.intercept_, dual])


@pytest.mark.parametrize("epsilon", [0.5, 100.0], ids=["some support vectors", "none"])
def test_a_fitted_svr_is_its_dual_coefficients(epsilon):
    model = SVR(gamma=0.5, epsilon=epsilon, tol=1e-8)
    region, fitted = region_of(model), model.fit(X, Y)
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(dual_of(fitted)))


@pytest.mark.parametrize(
    "model",
    [
        KernelRidge(alpha=0.5, kernel="rbf", gamma=2.0),
        ua.KernelLasso(0.2, kernel="rbf", gamma=2.0),
        ua.KernelHuber(0.5, kernel="rbf", gamma=2.0),
    ],
    ids=repr,
)
def test_a_fitted_kernel_model_is_its_dual_coefficients(model):
    region, fitted = region_of(model), model.fit(X, Y)
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(fitted.dual_coef_))


def test_a_fitted_linear_lssvc_is_its_weights():
    model = ua.LSSVC(C=0.1)
    labels = np.sign(Y)
    region, fitted = region_of(model, y=labels), model.fit(X, labels)
    a = np.concatenate([[fitted.intercept_], X.T @ fitted.dual_coef_])
    np.testing.assert_allclose(region.statistics(fitted), region.statistics(a), rtol=1e-9)


def test_a_fitted_ridge_classifier_is_its_coefficients():
    model, labels = RidgeClassifier(alpha=5.0), np.where(Y > 0, "up", "down")
    region, fitted = region_of(model, y=labels), model.fit(X, labels)
    a = np.concatenate([np.ravel(fitted.intercept_), np.ravel(fitted.coef_)])
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(a))


def test_a_model_without_coefficients_is_its_predictions():
    region = region_of()
    forest = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(region.statistics(forest), region.statistics(forest.predict))
    assert region.rank(forest) == region.rank(forest.predict)


@pytest.mark.parametrize("rows", [slice(None, None, -1), slice(0, N)], ids=["reversed", "moved"])
def test_a_kernel_model_fitted_on_other_inputs_is_its_predictions(rows):
    """It has as many dual coefficients, but they belong to other inputs."""
    model = KernelRidge(alpha=0.5, kernel="rbf", gamma=2.0)
    other = X[rows] + (0.1 if rows.step is None else 0.0)
    region, fitted = region_of(model), model.fit(other, Y[rows])
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(fitted.predict))
    assert not np.allclose(region.statistics(fitted), region.statistics(fitted.dual_coef_))


def test_an_svr_fitted_on_more_rows_is_its_predictions():
    more = np.vstack([X, X + 0.05])
    fitted = SVR(gamma=0.5).fit(more, np.concatenate([Y, Y]))
    region = region_of(SVR(gamma=0.5))
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(fitted.predict))


def test_a_linear_model_fitted_on_other_rows_is_its_coefficients():
    fitted = LinearRegression().fit(X[:10], Y[:10])
    region = region_of()
    a = np.concatenate([[fitted.intercept_], fitted.coef_])
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(a))


def test_a_fitted_pipeline_is_compared_in_the_features_of_the_region():
    """The same pipeline: coefficients of the scaled inputs. Another one: predictions."""
    model = make_pipeline(StandardScaler(), Ridge(alpha=0.3))
    fitted = make_pipeline(StandardScaler(), Ridge(alpha=3.0)).fit(X, Y)
    a = np.concatenate([[fitted[-1].intercept_], fitted[-1].coef_])
    scaled = region_of(model)
    np.testing.assert_array_equal(scaled.statistics(fitted), scaled.statistics(a))
    raw = region_of()
    assert raw.rank(fitted) == raw.rank(fitted.predict)
    slopes = fitted[-1].coef_ / fitted[0].scale_
    on_raw = np.concatenate([[fitted[-1].intercept_ - slopes @ fitted[0].mean_], slopes])
    np.testing.assert_allclose(raw.statistics(fitted), raw.statistics(on_raw), rtol=1e-8)


def test_a_fitted_search_is_its_predictions():
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=3).fit(X, Y)
    region = region_of()
    assert region.rank(search) == region.rank(search.predict)


# --- tests ----------------------------------------------------------------------------------------


def test_a_test_reports_rank_pvalue_level_and_statistics():
    region = region_of()
    result = region.test(TRUTH)
    assert isinstance(result, ua.RankTest)
    assert (result.rank, result.m) == (region.rank(TRUTH), 100)
    assert result.pvalue == region.pvalue(TRUTH)
    assert result.smallest_level == region.smallest_level(TRUTH)
    np.testing.assert_array_equal(result.statistics, region.statistics(TRUTH))
    assert result.caveat == ""
    assert region.test(plane).rank == region.rank(plane)
    assert region.test(plane).caveat == ""


@pytest.mark.parametrize(
    "candidate",
    [
        Ridge().fit(X, Y),
        RandomForestRegressor(n_estimators=2, random_state=0).fit(X, Y),
        make_pipeline(StandardScaler(), Lasso(0.1)).fit(X, Y),
    ],
    ids=["coefficients", "predictions", "pipeline"],
)
def test_a_test_of_a_fitted_estimator_says_that_its_pvalue_is_no_test(candidate):
    result = region_of().test(candidate)
    assert "p-value is not a valid test" in result.caveat
    assert result.caveat in str(result)
    assert "caveat=" in repr(result)


def test_a_test_of_the_estimate_says_so_too():
    region = region_of()
    assert "p-value is not a valid test" in region.test(region.estimate).caveat


def test_a_test_takes_one_candidate():
    with pytest.raises(ValueError, match=r"takes one candidate, given 60\. Use rank\(\) or"):
        region_of().test(SEVERAL)


# --- rows of weight zero --------------------------------------------------------------------------

KEPT = np.ones(N, dtype=bool)
KEPT[[0, 7, 19]] = False
WEIGHT = np.where(KEPT, np.linspace(0.5, 2, N), 0.0)


@pytest.mark.parametrize(
    ("model", "weight"),
    [
        (Ridge(alpha=0.3), WEIGHT),
        (KernelRidge(alpha=0.3, kernel="rbf", gamma=0.5), WEIGHT),
        (ua.KernelHuber(alpha=0.3, kernel="rbf", gamma=0.5), WEIGHT),
        (Lasso(0.1), KEPT.astype(float)),
        (HuberRegressor(), KEPT.astype(float)),
        (SVR(), KEPT.astype(float)),
    ],
    ids=lambda value: repr(value) if hasattr(value, "fit") else "",
)
@pytest.mark.parametrize("noise", ["symmetric", "exchangeable"])
def test_rows_of_weight_zero_are_as_if_they_were_not_there(model, weight, noise):
    dropped = region_of(model, noise=noise, sample_weight=weight)
    without = region_of(model, X[KEPT], Y[KEPT], noise=noise, sample_weight=weight[KEPT])
    assert dropped.n == without.n == 17
    assert dropped.m == without.m
    np.testing.assert_array_equal(dropped.estimate, without.estimate)
    candidates = without.estimate + 0.1 * np.random.default_rng(1).normal(
        size=(40, without.objective.d)
    )
    np.testing.assert_array_equal(dropped.rank(candidates), without.rank(candidates))


def test_blocks_lose_the_rows_of_weight_zero():
    blocks = np.arange(N) // 2
    dropped = region_of(noise=ua.noise.BlockSymmetric(blocks), sample_weight=WEIGHT)
    noise = ua.noise.BlockSymmetric(blocks[KEPT])
    without = region_of(
        inputs=X[KEPT], y=Y[KEPT], noise=noise, sample_weight=WEIGHT[KEPT], random_state=0
    )
    np.testing.assert_array_equal(dropped.rank(SEVERAL), without.rank(SEVERAL))


def test_callables_and_estimators_still_get_all_rows():
    region = region_of(sample_weight=WEIGHT)
    without = region_of(inputs=X[KEPT], y=Y[KEPT], sample_weight=WEIGHT[KEPT])
    seen = []
    assert region.rank(lambda x: seen.append(x) or plane(x)) == without.rank(TRUTH)
    np.testing.assert_array_equal(seen[0], X)
    forest = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, Y)
    assert region.rank(forest) == without.rank(forest)


# --- precomputed kernels --------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["no weights", "zero weights"])
def test_a_precomputed_kernel_gives_the_ranks_of_the_kernel(weight):
    named = region_of(KernelRidge(alpha=0.5, kernel="rbf", gamma=2.0), sample_weight=weight)
    given = region_of(KernelRidge(alpha=0.5, kernel="precomputed"), rbf(2.0), sample_weight=weight)
    candidates = named.estimate + 0.2 * np.random.default_rng(1).normal(size=(40, named.n))
    np.testing.assert_array_equal(named.rank(candidates), given.rank(candidates))


@pytest.mark.parametrize(
    ("named", "given"),
    [
        (SVR(gamma=2.0), SVR(kernel="precomputed")),
        (ua.KernelLasso(kernel="rbf", gamma=2.0), ua.KernelLasso(kernel="precomputed")),
        (ua.KernelHuber(kernel="rbf", gamma=2.0), ua.KernelHuber(kernel="precomputed")),
    ],
    ids=["SVR", "KernelLasso", "KernelHuber"],
)
def test_precomputed_kernels_serve_every_kernel_model(named, given):
    named, given = region_of(named), region_of(given, rbf(2.0))
    candidates = named.estimate + 0.2 * np.random.default_rng(1).normal(
        size=(40, named.objective.d)
    )
    np.testing.assert_array_equal(named.rank(candidates), given.rank(candidates))


def test_candidates_of_a_precomputed_kernel_take_the_kernel_matrix():
    K = rbf(2.0)
    model = KernelRidge(alpha=0.5, kernel="precomputed")
    region, fitted = region_of(model, K), model.fit(K, Y)
    np.testing.assert_array_equal(region.statistics(fitted), region.statistics(fitted.dual_coef_))
    assert region.rank(lambda matrix: matrix @ np.ones(N)) == region.rank(np.ones(N))


# --- names ----------------------------------------------------------------------------------------

FRAME = pd.DataFrame(X, columns=["age", "dose"])


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (Ridge(), ["intercept", "age", "dose"]),
        (Ridge(fit_intercept=False), ["age", "dose"]),
        (Lasso(), ["intercept", "age", "dose"]),
        (make_pipeline(StandardScaler(), Ridge()), ["intercept", "age", "dose"]),
        (
            make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression()),
            ["intercept", "age", "dose", "age^2", "age dose", "dose^2"],
        ),
        (make_pipeline("passthrough", Ridge()), ["intercept", "age", "dose"]),
        (KernelRidge(), [f"dual{j}" for j in range(N)]),
    ],
    ids=repr,
)
def test_coefficients_have_the_names_of_their_columns(model, names):
    assert region_of(model, FRAME).objective.names == names


def test_columns_without_names_are_numbered():
    assert region_of().objective.names == ["intercept", "x0", "x1"]
    assert region_of(inputs=pd.DataFrame(X)).objective.names == ["intercept", "0", "1"]


def test_a_wrong_vector_is_told_the_names():
    with pytest.raises(ValueError, match=r"3 coefficients \[intercept, age, dose\]"):
        region_of(inputs=FRAME).rank([1.0, 2.0])
