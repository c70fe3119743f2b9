"""Where no finite bound is true or can be certified: infinity, a status, a reason with a remedy."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel

import unassuming as ua
from speed import slow_but
from unassuming.regions import Status

pytestmark = pytest.mark.slow_but_first


def assert_infinite(found, *statuses):
    """Nothing finite, and one of these statuses, said aloud."""
    assert (found.lower == -np.inf).all()
    assert (found.upper == np.inf).all()
    assert_said(found, *statuses)


def assert_said(found, *statuses):
    assert found.status in statuses
    assert found.status.value in str(found)
    assert found.reason
    assert found.reason in str(found)


def signs(region):
    """The drawn signs, (m - 1, n)."""
    return region.perturbations.apply(np.ones(region.n))


def between(X):
    return (X[1:] + X[:-1]) / 2


def never_ends(region, how):
    """The status where bounds are infinite, and the verdict of a full-rank kernel.

    The rank of a kernel matrix of unknown origin is certain only if double precision shows it.
    """
    values = np.linalg.eigvalsh(region.objective.design.K)
    known = how in ("rbf", "object") or values[0] > len(values) * 2.3e-16 * values[-1]
    return (Status.UNBOUNDED, "unbounded") if known else (Status.NOT_CERTIFIED, "undetermined")


def gaussian(sigma, how, X):
    """The same Gaussian kernel ridge in four forms: estimator, and a map of inputs."""
    gamma = 1 / (2 * sigma**2)
    if how == "precomputed":
        estimator = KernelRidge(kernel="precomputed", alpha=2.0)
        return estimator, lambda Z: rbf_kernel(Z, X, gamma=gamma)
    kernel = {
        "rbf": "rbf",
        "callable": lambda x, z: float(np.exp(-gamma * np.sum((x - z) ** 2))),
        "object": RBF(sigma),
    }[how]
    return KernelRidge(kernel=kernel, gamma=gamma, alpha=2.0), lambda Z: Z


@pytest.mark.parametrize(
    ("n", "sigma", "how"),
    [
        *((20, 1.0, how) for how in ("rbf", "callable", "object", "precomputed")),
        (100, 1.0, "rbf"),
        *(
            pytest.param(100, sigma, how, marks=pytest.mark.slow)
            for sigma, how in [(1.0, "callable"), (1.0, "precomputed"), (0.5, "object")]
        ),
        *((40, 4.0, how) for how in ("rbf", "object")),
    ],
)
def test_kernel_ridge_with_signs_is_unbounded_at_a_high_level(n, sigma, how):
    X, y, _ = ua.datasets.sine(n=n, random_state=0)
    estimator, inputs = gaussian(sigma, how, X)
    region = ua.confidence_region(estimator, inputs(X), y, m=40, random_state=0)
    status, verdict = never_ends(region, how)
    band = region.band(inputs(X), method="joint", level=0.9)
    assert_infinite(band, status)
    assert_infinite(region.band(inputs(between(X)), method="joint", level=0.9), status)
    assert region.bounded(0.9).verdict == verdict
    # The certificate: the count of plus signs of the most fortunate row (docs/theory.md 4.4).
    most = int((signs(region) > 0).sum(axis=0).max())
    assert region.max_bounded_level == pytest.approx(1 - (1 + most) / 40)
    said = f"{most} of the 39 random transformations set no limit"
    assert (said in band.reason) == (verdict == "unbounded")


@pytest.mark.parametrize("how", slow_but(["rbf", "object", "precomputed"], "rbf"))
@pytest.mark.parametrize(("n", "sigma"), [(20, 1.0), (100, 1.0), (100, 0.5)])
def test_values_at_the_inputs_are_finite_below_the_largest_bounded_level(n, sigma, how):
    X, y, _ = ua.datasets.sine(n=n, random_state=0)
    estimator, inputs = gaussian(sigma, how, X)
    region = ua.confidence_region(estimator, inputs(X), y, m=50, random_state=0)
    best = region.max_bounded_level
    assert 0.15 < best < 0.5
    for level in (best, best - 0.1):
        band = region.band(inputs(X), level, method="joint")
        assert band.status is Status.CERTIFIED
        assert np.isfinite([band.lower, band.upper]).all()
        assert region.bounded(level).verdict == "bounded"
    assert_said(region.band(inputs(X), best + 0.02, method="joint"), never_ends(region, how)[0])


def test_each_value_is_finite_exactly_where_its_own_signs_allow_it():
    X, y, _ = ua.datasets.sine(n=25, random_state=1)
    region = ua.confidence_region(KernelRidge(kernel="rbf", alpha=1.0), X, y, random_state=1, m=100)
    plus = (signs(region) > 0).sum(axis=0)
    assert plus.min() < 45 < 52 < plus.max()
    for q in (45, 50, 52):
        band = region.band(X, 1 - q / 100, method="joint")
        np.testing.assert_array_equal(np.isfinite(band.upper), plus < q)
        np.testing.assert_array_equal(np.isfinite(band.lower), plus < q)
        assert_said(band, Status.UNBOUNDED)


@pytest.mark.parametrize("how", ["rbf", "callable", "object", "precomputed"])
def test_duplicated_inputs_move_together(how):
    x = np.repeat(np.linspace(0, 10, 10), 3)[:, None]
    y = ua.datasets.x_sin_x(x) + np.random.default_rng(3).laplace(size=30)
    estimator, inputs = gaussian(1.0, how, x)
    region = ua.confidence_region(estimator, inputs(x), y, random_state=3, m=100)
    together = (signs(region).reshape(99, 10, 3) > 0).all(axis=2).sum(axis=0)
    most = int(together.max())
    assert region.max_bounded_level == pytest.approx(1 - (1 + most) / 100)
    for q in (5, most, most + 1):
        band = region.band(inputs(x), 1 - q / 100, method="joint")
        np.testing.assert_array_equal(np.isfinite(band.upper), np.repeat(together < q, 3))
        if q <= most:
            assert_said(band, Status.UNBOUNDED)
    single = region.interval(level=1 - (most + 1) / 100, simultaneous=True, method="joint")
    assert_infinite(single, Status.UNDETERMINED)  # dual coefficients of equal rows


def test_slopes_are_finite_under_permutations_and_the_intercept_is_not():
    X, y, _ = ua.datasets.linear(n=40, random_state=5)
    for estimator in (LinearRegression(), Ridge(alpha=1.0)):
        region = ua.confidence_region(estimator, X, y, noise="exchangeable", m=20, random_state=5)
        found = region.interval(simultaneous=True, method="joint", level=0.9)
        np.testing.assert_array_equal(np.isfinite(found.upper), [False, True, True, True])
        np.testing.assert_array_equal(np.isfinite(found.lower), [False, True, True, True])
        assert_said(found, Status.UNBOUNDED)
        assert_infinite(region.band(X, method="joint", level=0.9), Status.UNBOUNDED)
        assert_infinite(
            region.band(X, norm_bound=10.0, method="joint", level=0.9), Status.UNBOUNDED
        )
        steps = np.column_stack([np.zeros(39), np.diff(X, axis=0)])
        for bound in (None, 10.0):
            assert (
                region.interval(
                    steps, norm_bound=bound, simultaneous=True, method="joint", level=0.9
                ).status
                is Status.CERTIFIED
            )


@pytest.mark.slow
@pytest.mark.parametrize(("penalty", "share"), [(0.0, 0.5), (0.1, 0.25)])
def test_a_dummy_with_two_ones_is_free_where_both_rows_agree(penalty, share):
    rng = np.random.default_rng(6)
    dummy = np.isin(np.arange(40), [3, 17]).astype(float)
    X = np.column_stack([rng.normal(size=(40, 2)), dummy])
    y = X @ [1.0, 2.0, 3.0] + rng.laplace(size=40)
    estimator = Ridge(alpha=penalty) if penalty else LinearRegression()
    region = ua.confidence_region(estimator, X, y, random_state=6, m=100)
    found = region.interval(simultaneous=True, method="joint", level=0.9)
    np.testing.assert_array_equal(np.isinf(found.upper), [False, False, False, True])
    np.testing.assert_array_equal(np.isinf(found.lower), [False, False, False, True])
    assert_said(found, Status.UNBOUNDED)
    pair = signs(region)[:, [3, 17]]
    free = (pair == 1).all(axis=1) if penalty else pair[:, 0] == pair[:, 1]
    count = int(free.sum())
    assert abs(count / 99 - share) < 0.15
    said = f"{count} of the 99 random transformations set no limit along the coefficient x2 alone"
    assert said in found.reason
    assert region.max_bounded_level == pytest.approx(1 - (count + 1) / 100)
    below = region.interval(level=region.max_bounded_level, simultaneous=True, method="joint")
    assert np.isfinite([below.lower, below.upper]).all()
    # Only predictions that use the dummy are infinite.
    np.testing.assert_array_equal(
        np.isinf(region.band(X, method="joint", level=0.9).upper), dummy == 1
    )


@pytest.mark.slow_but_first
@pytest.mark.parametrize("how", ["rbf", "object"])
def test_a_bias_next_to_a_full_kernel_is_not_determined(how):
    X, y = ua.datasets.two_classes(n=30, random_state=0)
    kernel = "rbf" if how == "rbf" else RBF(np.sqrt(0.5))
    with pytest.warns(UserWarning, match="no coverage guarantee"):
        region = ua.confidence_region(
            ua.LSSVC(C=0.1, kernel=kernel, gamma=1.0), X, y, noise="symmetric", m=20, random_state=0
        )
    assert_infinite(region.band(X, method="joint", level=0.9), Status.UNBOUNDED)
    for level in (0.9, region.max_bounded_level):
        assert_infinite(region.band(X + 0.1, level, method="joint"), Status.UNDETERMINED)
        assert_infinite(
            region.interval(level=level, simultaneous=True, method="joint"), Status.UNDETERMINED
        )
    at_inputs = region.band(X, region.max_bounded_level, method="joint")
    assert np.isfinite([at_inputs.lower, at_inputs.upper]).all()


def test_coefficients_of_equal_columns_are_not_determined_but_their_sum_is():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(40, 2))
    X = np.column_stack([X, X[:, 0]])
    y = X[:, 0] + rng.laplace(size=40)
    for estimator in (Ridge(1.0), LinearRegression()):
        region = ua.confidence_region(estimator, X, y, m=20, random_state=9)
        found = region.interval(simultaneous=True, method="joint", level=0.9)
        np.testing.assert_array_equal(np.isinf(found.upper), [False, True, False, True])
        assert_said(found, Status.UNDETERMINED)
        assert (
            region.interval(
                [0.0, 1.0, 0.0, 1.0], simultaneous=True, method="joint", level=0.9
            ).status
            is Status.CERTIFIED
        )
        # A norm bound determines them: the line to paste is true.
        held = region.interval(norm_bound=5.0, simultaneous=True, method="joint", level=0.9)
        assert np.isfinite([held.lower, held.upper]).all()


def test_between_the_inputs_a_bounded_region_has_no_certified_band():
    # At 0.3 the region is bounded, but the sets that make it up are not.
    X, region = sine_region()
    assert region.bounded(0.3)
    assert_infinite(region.band(between(X), 0.3, method="joint"), Status.NOT_CERTIFIED)


# Every infinite result names a remedy and a line to paste


def sine_region(noise="symmetric", m=100):
    X, y, _ = ua.datasets.sine(n=20, random_state=0)
    estimator = KernelRidge(kernel="rbf", gamma=0.5, alpha=2.0)
    return X, ua.confidence_region(estimator, X, y, noise=noise, m=m, random_state=0)
