"""A few rows with the same inner products: the same statistics as the plain formula on all rows."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import oracles
import unassuming as ua
from speed import slow_but
from unassuming.regions._results import Status

N = 1300  # more than a leaf, so that sums are all that is left
NOISES = {
    "signs": ua.noise.Symmetric(),
    "block signs": ua.noise.BlockSymmetric(np.arange(N) // 7 % 90),
    "permutations": ua.noise.ExchangeableWithin(50),
}
MODELS = {
    "least squares": (LinearRegression(), 0.0, True),
    "least squares without intercept": (LinearRegression(fit_intercept=False), 0.0, False),
    "ridge": (Ridge(40.0), 40.0, True),
}


def data(n=N, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * [1.0, 30.0, 0.01][:p] + [0.0, 20.0, 0.0][:p]
    return X, 1 + X[:, 0] + rng.laplace(size=n) * (1 + np.arange(n) / n)


def both(model, X, y, **options):
    options = {"m": 40, "random_state": 4, **options}
    stream = ua.StreamingRegion(model, **options).partial_fit(X, y)
    return ua.confidence_region(model, X, y, **options), stream.region()


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", MODELS)
def test_statistics_are_those_of_the_plain_formula(name, noise):
    model, alpha, intercept = MODELS[name]
    X, y = data()
    memory, streamed = both(model, X, y, noise=NOISES[noise], m=20)
    Phi = np.column_stack([np.ones(N), X]) if intercept else X
    stacked, z = oracles.stacked_ridge(Phi, y, alpha / N, intercept=intercept)
    images = memory.perturbations.apply
    for a in streamed.estimate + np.random.default_rng(1).normal(size=(3, Phi.shape[1])):
        Z = oracles.sps(stacked * np.sqrt(N), z * np.sqrt(N), N, a, images)
        assert streamed.statistics(a) * N == pytest.approx(Z, rel=1e-8)
        assert streamed.rank(a) == oracles.rank(Z, memory.tie_order)


def nearby(region, size=80):
    """Candidates at the scale of the region, however the features are scaled."""
    back, rng = region.objective.back, np.random.default_rng(0)
    return region.estimate + rng.normal(size=(size, back.shape[1])) @ back.T * 2 / np.sqrt(N)


def assert_same_geometry(one, two, seed=0):
    rng, back = np.random.default_rng(seed), one.objective.back
    directions = rng.normal(size=(30, back.shape[1])) @ back.T
    ends = one.reach(directions, None)
    np.testing.assert_allclose(two.reach(directions, None), ends, rtol=1e-6)
    spread = directions * np.where(np.isinf(ends[:, 20]), 0.02, ends[:, 20])[:, None]
    near = one.estimate + rng.uniform(0, 3, size=(30, 1)) * spread
    assert one.rank(near).tolist() == two.rank(near).tolist()
    assert len(set(one.rank(near).tolist())) > 3
    start, levels = one.estimate + spread[0], (0.5, 0.9)
    crossings = [r.crossings(spread[1], levels, origin=start) for r in (one, two)]
    for level in levels:
        a, b = (of[level] for of in crossings)
        assert b.shape == a.shape
        assert b == pytest.approx(a, rel=1e-5, abs=1e-8)
        a, b = (
            one.interval(level=level, simultaneous=True, method="joint"),
            two.interval(level=level, simultaneous=True, method="joint"),
        )
        assert b.status == a.status
        assert b.lower == pytest.approx(a.lower, rel=1e-6, abs=1e-9)
        assert b.upper == pytest.approx(a.upper, rel=1e-6, abs=1e-9)
        assert two.ellipsoid(level).squared_radius == pytest.approx(
            one.ellipsoid(level).squared_radius, rel=1e-6
        )
        assert two.bounded(level).verdict == one.bounded(level).verdict


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", slow_but(NOISES, "signs"))
@pytest.mark.parametrize("name", MODELS)
def test_the_geometry_is_that_of_the_region_in_memory(name, noise):
    assert_same_geometry(*both(MODELS[name][0], *data(), noise=NOISES[noise]))


@pytest.mark.slow
def test_a_norm_bound_holds_as_in_memory():
    one, two = both(Ridge(40.0), *data(), noise=NOISES["permutations"])
    a, b = (
        r.interval(norm_bound=3.0, simultaneous=True, method="joint", level=0.9) for r in (one, two)
    )
    assert b.status == a.status
    assert b.upper == pytest.approx(a.upper, rel=1e-6)
    assert np.isinf(a.upper[0])  # the intercept is held by nothing


def test_samples_are_members_in_memory_as_well():
    one, two = both(LinearRegression(), *data())
    members = two.sample(20, level=0.5, random_state=0)
    assert one.contains(members, 0.5).all()


DEPENDENT = {
    "all dummies": np.eye(3)[np.arange(N) % 3],
    "a column twice": np.repeat(data()[0][:, :1], 2, axis=1),
    "a constant column": np.column_stack([np.full(N, 7.0), data()[0][:, :1]]),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "model"),
    [*((name, LinearRegression()) for name in DEPENDENT), ("all dummies", Ridge(5.0))],
    ids=str,
)
def test_dependent_features_have_the_same_region(name, model):
    one, two = both(model, DEPENDENT[name], data()[1])
    assert two.estimate == pytest.approx(one.estimate, abs=1e-9)
    assert_same_geometry(one, two)


def test_a_constant_column_under_weights_is_dependent_to_rounding():
    X, y = data(p=1)
    X, w = np.column_stack([np.full(N, 0.1), X]), np.random.default_rng(3).uniform(1, 2, size=N)
    stream = ua.StreamingRegion(LinearRegression(), random_state=4, m=100)
    two = stream.partial_fit(X, y, sample_weight=w).region()
    one = ua.confidence_region(LinearRegression(), X, y, sample_weight=w, random_state=4, m=100)
    assert two.estimate == pytest.approx(one.estimate, abs=1e-9)
    assert two.objective.back.shape == one.objective.back.shape == (3, 2)
    near = nearby(one)
    assert two.rank(near).tolist() == one.rank(near).tolist()


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(5.0)], ids=str)
def test_a_column_of_zeros_changes_nothing_for_the_others(model):
    X, y = data(p=1)
    without, _ = both(model, X, y)
    _, streamed = both(model, np.column_stack([X, np.zeros(N)]), y)
    a, b = (
        without.interval(simultaneous=True, method="joint", level=0.9),
        streamed.interval(simultaneous=True, method="joint", level=0.9),
    )
    assert b.upper[:2] == pytest.approx(a.upper, rel=1e-8)
    assert np.isposinf(b.upper[2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "rows", "offset"),
    [(LinearRegression(), 1, 1e6), (Ridge(5.0), 2, 0.0), (Ridge(5.0), 3, 1e6)],
    ids=str,
)
def test_a_dummy_of_few_rows_is_free_in_the_same_sets(rows, model, offset):
    X, y = data(p=2)
    X[:, 0] += offset
    X[:, 1] = 0.0
    X[200 : 200 + rows, 1] = 1.0
    one, two = both(model, X, y)
    assert two.shape.free.cylinders == one.shape.free.cylinders > 0
    assert two.bounded(0.9).verdict == one.bounded(0.9).verdict
    assert_same_geometry(one, two)


@pytest.mark.slow
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(5.0)], ids=str)
def test_two_blocks_of_signs_reverse_everything_or_nothing(model, offset):
    noise = ua.noise.BlockSymmetric(np.zeros(N, dtype=int))
    X, y = data()
    one, two = both(model, X + offset, y, noise=noise)
    near = nearby(one, 20)
    assert two.rank(near).tolist() == one.rank(near).tolist()
    assert [two.rank(a) for a in near[:9]] == one.rank(near[:9]).tolist()


@pytest.mark.slow
def test_outputs_without_noise_have_ties_only():
    X, _ = data()
    one, two = both(LinearRegression(), X, X @ [1.0, 2.0, 3.0] + 4.0)
    assert two.rank([4.0, 1.0, 2.0, 3.0]) == one.rank([4.0, 1.0, 2.0, 3.0])
    assert two.rank([4.1, 1.0, 2.0, 3.0]) == one.rank([4.1, 1.0, 2.0, 3.0]) == 40


@pytest.mark.slow_but_first
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(1e-3)], ids=str)
def test_features_that_are_nearly_dependent_are_told_apart(model):
    X, y = data(p=1)
    X = np.column_stack([X, X[:, 0] + 1e-3 * np.random.default_rng(2).normal(size=N)])
    assert_same_geometry(*both(model, X, y))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("offset", slow_but([1e2, 1e6], 1e6))
@pytest.mark.parametrize("name", MODELS)
def test_offsets_change_no_rank(name, offset, noise):
    model = MODELS[name][0]
    X, y = data(p=2)
    X = X + np.array([offset, -offset])
    one, two = both(model, X, y + 3 * offset, noise=NOISES[noise], m=20)
    near = nearby(one)
    expected = one.rank(near)
    assert len(set(expected.tolist())) > 5
    np.testing.assert_array_equal(two.rank(near), expected)
    a, b = one.band(X[:5], method="joint", level=0.9), two.band(X[:5], method="joint", level=0.9)
    if name == "least squares without intercept" and noise == "permutations" and offset == 1e6:
        # Permutations hardly move the columns: rows have the digits that decide, sums have not.
        assert (a.status, b.status) == (Status.CERTIFIED, Status.NOT_CERTIFIED)
        return
    assert b.status == a.status
    if name == "least squares without intercept" and noise == "permutations":
        # Sums have lost digits of columns that are nearly constant: bounds are wider, not tighter.
        assert (b.upper >= a.upper - 1e-4 * (a.upper - a.estimate)).all()
        assert (b.upper - a.upper <= 0.01 * (a.upper - a.lower)).all()
        return
    assert b.upper - b.estimate == pytest.approx(a.upper - a.estimate, rel=1e-4)


def test_powers_of_days_cover_what_they_cover_in_memory():
    # Days of one year, numbered from year 1, and their squares: offsets of 700,000 and 5e11.
    model = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearRegression())
    rng = np.random.default_rng(0)
    x = rng.integers(738_886, 739_252, size=(3000, 1)).astype(float)
    y = 3 * ((x[:, 0] - 739_069) / 100) ** 2 + rng.laplace(size=3000)
    one, two = both(model, x, y)
    days = np.arange(738_886, 739_252, 30.0)[:, None]
    a, b = one.band(days, method="joint", level=0.9), two.band(days, method="joint", level=0.9)
    assert (a.status.name, b.status.name) == ("CERTIFIED", "CERTIFIED")
    assert b.upper == pytest.approx(a.upper, abs=1e-3)
    assert b.lower == pytest.approx(a.lower, abs=1e-3)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_units_change_no_rank(scale):
    X, y = data(p=2)
    one, two = both(LinearRegression(), scale * X, scale * y)
    near = nearby(one)
    assert two.rank(near).tolist() == one.rank(near).tolist()


@pytest.mark.slow
def test_many_landmarks_are_told_apart():
    X, y, _ = ua.datasets.sine(n=3000, noise="laplace", random_state=0)
    features = Nystroem(kernel="rbf", gamma=0.5, n_components=25, random_state=0).fit(X)
    one, two = both(make_pipeline(FrozenEstimator(features), Ridge(0.1)), X, y)
    a, b = (region.band([[2.5], [5.0], [7.5]], method="joint", level=0.9) for region in (one, two))
    assert (a.status.name, b.status.name) == ("CERTIFIED", "CERTIFIED")
    # Features so nearly dependent leave few digits to sums, and the stream rounds outward for that.
    assert (b.upper >= a.upper - 1e-9).all()
    assert b.upper == pytest.approx(a.upper, rel=1e-4)


def test_features_without_any_value_are_refused():
    stream = ua.StreamingRegion(LinearRegression(fit_intercept=False), random_state=0, m=100)
    with pytest.raises(ValueError, match="the features are zero throughout"):
        stream.partial_fit(np.zeros((N, 2)), np.ones(N)).region()


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
@pytest.mark.parametrize("kind", ["one-hot", "constant", "constant alone"])
def test_dependent_columns_with_a_small_penalty_lose_nothing_else(kind, alpha):
    rng = np.random.default_rng(0)
    n = 2500
    X = {
        "one-hot": np.eye(3)[rng.integers(3, size=n)],
        "constant": np.column_stack([np.full(n, 1e4), rng.normal(size=n)]),
        "constant alone": np.full((n, 1), 2.0),
    }[kind]
    y = X.sum(axis=1) / X.max() + rng.laplace(size=n)
    stream = ua.StreamingRegion(Ridge(alpha), m=20, random_state=1).partial_fit(X, y).region()
    memory = ua.confidence_region(Ridge(alpha), X, y, m=20, random_state=1)
    a = memory.estimate + rng.normal(size=(40, memory.objective.d)) * 0.02 / X.max()
    np.testing.assert_array_equal(stream.rank(a), memory.rank(a))
    fitted = [np.column_stack([np.ones(n), X]) @ region.estimate for region in (stream, memory)]
    np.testing.assert_allclose(*fitted, rtol=1e-4)
