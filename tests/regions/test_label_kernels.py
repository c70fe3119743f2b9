"""Label regions of kernels: what fitted values determine is decided without rounding."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.linear_model import RidgeClassifier

import unassuming as ua
from unassuming.geometry.labels import Admissible, Known
from unassuming.objectives import FeatureDesign, row_space
from unassuming.regions import Status

N = 9


def labels(seed, n=N):
    rng = np.random.default_rng(seed)
    y = np.where(rng.uniform(size=n) < 0.6, 1, -1)
    y[:2] = 1, -1
    return rng, y


def region_of(X, y, *, m=20, C=1.0, **kernel):
    model = ua.LSSVC(C=C, **kernel)
    return ua.confidence_region(model, X, y, noise="labels", m=m, random_state=3)


def test_an_intercept_beside_tiny_kernel_values_is_not_a_value_at_an_input():
    """K is near 2⁻⁸⁸. Members far outside [-1, 1] were cut off by a certified bound."""
    rng, y = labels(0)
    X = (0.5 + rng.uniform(size=(N, 1))) * 2.0**-22
    region = region_of(X, y, C=2.0**87, kernel="poly", degree=2, coef0=0, gamma=1.0)
    answer = region.interval(np.eye(N + 1)[:1], 0.95)
    assert answer.status is Status.CERTIFIED
    K = region.objective.design.K
    j = np.argmax(X)
    found = []
    for b in np.linspace(-3, 3, 61):
        for slope in np.linspace(-3, 3, 61):
            a = np.zeros(N + 1)
            a[0], a[1 + j] = b, slope / K[j, j]
            found.append(a)
    found = np.array(found)
    members = found[region.contains(found, 0.95)]
    assert len(members)
    assert members[:, 0].min() >= answer.lower[0]
    assert members[:, 0].max() <= answer.upper[0]
    assert abs(members[:, 0]).max() > 1


@pytest.mark.parametrize("power", [0, -28])
def test_an_intercept_beside_many_tiny_kernel_values_is_not_one_either(power):
    """Seven coefficients: the bounds come from a linear programme."""
    rng, y = labels(8, n=12)
    X = rng.integers(3, 9, size=(12, 3)) * 2.0**power
    region = region_of(
        X, y, C=2.0 ** (-4 * power), kernel="poly", degree=2, coef0=0, gamma=1.0, m=5
    )
    answer = region.interval(np.eye(13)[:1], 0.8)
    monomials = [X[:, i] * X[:, j] * 2.0 ** (-2 * power) for i in range(3) for j in range(i, 3)]
    F = np.column_stack([np.ones(12), *monomials])
    free, both = np.repeat([[None, None]], 7, axis=0), np.vstack([F, -F])
    best = linprog(-np.eye(7)[0], A_ub=both, b_ub=np.ones(24), bounds=free).x
    assert best[0] > 2
    assert answer.upper[0] == pytest.approx(best[0], rel=1e-6)
    weights = np.sqrt([1, 2, 2, 1, 2, 1])
    c = np.linalg.lstsq((F[:, 1:] * weights).T, best[1:] / weights, rcond=None)[0]
    a = np.concatenate([best[:1], c * 2.0 ** (-4 * power)])
    inside = [t for t in np.linspace(0.5, 0.999, 100) if region.contains(t * a, 0.8)]
    assert max(inside) * best[0] > 1


@pytest.mark.parametrize("power", [0, -18, 25])
@pytest.mark.parametrize("degree", [1, 2])
def test_bounds_of_a_polynomial_kernel_follow_the_units_of_its_inputs(power, degree):
    """The penalty goes with the kernel, so that regions are the same in other units."""
    rng, y = labels(1)
    X, options = rng.normal(size=(N, 1)), {"kernel": "poly", "degree": degree, "coef0": 0}
    plain = region_of(X, y, C=4.0, gamma=1.0, **options)
    unit = 2.0**power
    other = region_of(X * unit, y, C=4.0 * unit ** (-2 * degree), gamma=1.0, **options)
    one, two = (r.interval(np.eye(N + 1)[:1], 0.9) for r in (plain, other))
    width = one.upper - one.lower  # up to the gap at which either search stops
    assert abs(one.lower - two.lower) <= 0.05 * width
    assert abs(one.upper - two.upper) <= 0.05 * width
    assert one.status is two.status is Status.CERTIFIED
    assert plain.shape.linear.admissible.rank == other.shape.linear.admissible.rank == 2


@pytest.mark.parametrize("gamma", [1e-5, 1e-7, 3e-8])
def test_no_direction_is_named_if_the_kernel_is_numerically_singular(gamma):
    rng, y = labels(2)
    X = rng.uniform(-1, 1, size=(N, 2))
    region = region_of(X, y, kernel="rbf", gamma=gamma)
    found = region.bounded(0.9)
    assert found.verdict == "unbounded"  # a bias beside a kernel of full rank
    assert found.direction is None


def test_a_direction_of_a_kernel_of_full_rank_changes_no_fitted_value():
    mpmath = pytest.importorskip("mpmath")
    rng, y = labels(3)
    X = rng.uniform(-4, 4, size=(N, 2))
    region = region_of(X, y, kernel="rbf", gamma=0.5)
    v = region.bounded(0.9).direction
    with mpmath.workdps(60):
        K = mpmath.matrix(N, N)
        for i, j in np.ndindex(N, N):
            apart = sum(
                (mpmath.mpf(s) - mpmath.mpf(t)) ** 2 for s, t in zip(X[i], X[j], strict=True)
            )
            K[i, j] = mpmath.exp(-apart / 2)
        exact = mpmath.lu_solve(K, -mpmath.matrix([1] * N))
        w = np.array([1.0, *map(float, exact)])
    np.testing.assert_allclose(v / v[0], w, rtol=1e-10)
    for t in (1e3, 1e6, 1e9):
        assert region.contains(region.shape.start() + t * v, 0.9)


def exactly(K, v):
    """[1, K] v in rationals."""
    rows = [[Fraction(1), *map(Fraction, row)] for row in K.tolist()]
    return [sum(x * Fraction(t) for x, t in zip(row, v.tolist(), strict=True)) for row in rows]


@pytest.mark.parametrize("unit", [1.0, 2.0**-40, 2.0**30])
def test_directions_of_kernels_of_integers_are_exact(unit):
    rng, y = labels(4)
    X = rng.integers(-5, 6, size=(N, 1)).astype(float)
    region = region_of(X * unit, y, C=1 / unit**2, kernel="poly", degree=1, gamma=1.0, coef0=0)
    found = region.bounded(0.9)
    assert found.verdict == "unbounded"
    K = (X * unit) @ (X * unit).T
    assert np.abs(found.direction).max() > 0.1
    assert not any(exactly(K, found.direction))


def test_directions_of_features_are_exact_or_not_named():
    rng, y = labels(5)
    x = rng.integers(-5, 6, size=(N, 2)).astype(float)

    def direction(X):
        region = ua.confidence_region(RidgeClassifier(), X, y, m=20, random_state=0)
        found = region.bounded(0.9)
        assert found.verdict == "unbounded"
        return found.direction

    thirds = np.column_stack([x, (x @ [2, 4]) / 2 * 3, 2.0**40 * x[:, 0]])
    v = direction(thirds)
    exact = [[Fraction(1), *map(Fraction, row)] for row in thirds.tolist()]
    assert not any(
        sum(s * Fraction(t) for s, t in zip(row, v.tolist(), strict=True)) for row in exact
    )
    # The null vector is (3, -1) up to rounding: exactly it has entries of 53 digits.
    odd = np.outer(2.0 ** x[:, 0], [0.1, 0.3])
    model = RidgeClassifier(fit_intercept=False)
    region = ua.confidence_region(model, odd, y, m=20, random_state=0)
    found = region.bounded(0.9)
    assert found.verdict == "unbounded"
    if found.direction is not None:
        s, t = map(Fraction, found.direction.tolist())
        assert not any(Fraction(u) * s + Fraction(v) * t for u, v in odd.tolist())


def test_a_copied_input_is_a_direction_of_its_own():
    rng, y = labels(6)
    X = rng.normal(size=(N, 2))
    X[7] = X[2]
    for bias in (True, False):
        region = region_of(X, y, kernel="rbf", gamma=0.7, fit_intercept=bias)
        v = region.bounded(0.9).direction
        expected = np.zeros(N + bias)
        expected[[2 + bias, 7 + bias]] = 1, -1
        np.testing.assert_array_equal(v, expected)


def test_values_of_a_polynomial_with_a_constant_are_known_everywhere_beside_a_bias():
    rng, y = labels(7)
    X = rng.normal(size=(N, 1))
    region = region_of(X, y, kernel="poly", degree=2, coef0=1, gamma=1.0)
    rows = row_space(region.objective.design)
    assert rows.rank == 3
    new = np.array([[0.3], [2.5]])
    assert rows.holds_values(new).all()
    # Rounded to doubles, such a row is another functional, which is hidden.
    assert not rows.holds(region.objective.design.rows(new)).all()
    assert not rows.holds(np.eye(N + 1)).any()


def test_a_kernel_matrix_has_the_rank_of_its_numbers():
    L = np.array([[1.0, 2, 0], [3, 1, 1], [0, 1, 4], [2, 2, 2], [1, 0, 5], [4, 3, 1]])
    K, y = L @ L.T, np.array([1, -1, 1, 1, -1, -1])
    rows = row_space(region_of(K, y, kernel="precomputed").objective.design)
    assert rows.rank == 4  # with a bias
    K[0, 0] += 2.0**-40
    assert row_space(region_of(K, y, kernel="precomputed").objective.design).rank == 5


@pytest.mark.parametrize("size", [1e-9, 1e-6])
def test_bounds_hold_for_all_kernel_values_within_their_errors(size):
    rng = np.random.default_rng(10)
    phi, g, errors = rng.normal(size=(5, 5)), rng.normal(size=(4, 5)), np.full((5, 5), size)
    known = Known(np.zeros(4, dtype=bool), np.ones(4, dtype=bool), np.full((4, 5), size))
    bounds = Admissible.of_kernel(phi, 5, errors).bounds(g, known)
    largest = np.zeros(4)
    for _ in range(200):
        other = phi + size * rng.choice([-1.0, 1.0], size=(5, 5))
        functionals = g + size * rng.choice([-1.0, 1.0], size=(4, 5))
        exact = np.abs(np.linalg.solve(other.T, functionals.T)).sum(axis=0)
        largest = np.maximum(largest, exact)
    assert (bounds >= largest).all()
    np.testing.assert_allclose(bounds, largest, rtol=1e3 * size)


def test_a_label_region_of_a_kernel_knows_the_errors_of_its_values():
    rng, y = labels(11)
    linear = region_of(rng.normal(size=(N, 2)), y, kernel="rbf", gamma=0.5).shape.linear
    assert (linear.admissible.errors[:, 1:] > 0).all()
    assert not linear.admissible.errors[:, 0].any()  # the ones of the bias


@pytest.mark.parametrize("apart", [0.0, 2.0**-51])
def test_boxes_take_equal_rows_for_ties_and_nearly_equal_ones_not(apart):
    """Labels exchanged between rows that differ by one unit of rounding change statistics."""
    x, y = np.array([1.0, 1.0 + apart, -0.5, 2.0, 0.25]), np.array([1, -1, 1, -1, 1])
    region = ua.confidence_region(RidgeClassifier(), x[:, None], y, m=5, random_state=0)
    boxes = region.shape.linear.boxes
    uniforms = np.where([False, True, True, False, True], 0.1, 0.9)[None]  # the first two exchanged
    model = replace(boxes.model, uniforms=uniforms, tie_wins=np.zeros(1, dtype=bool))
    boxes = replace(boxes, model=model)
    point = np.zeros((1, 2))
    assert boxes.holding(point, point + 1e-6)[0, 0] == (apart > 0)


@pytest.mark.parametrize("weight", [None, [1.0, 3.0, 3.0, 1.0], [1.0, 2.0, 3.0, 4.0]])
def test_labels_exchanged_between_equal_inputs_tie(weight):
    """Statistics that are equal for every candidate differed by rounding of the whitening."""
    one = [-3.214818561923186e-05, -3.214818561923186e-05, -0.03033956465986658]
    two = [1.058323916457396e-05, 1.058323916457396e-05, 0.10603280184587667]
    X, y = np.array([one, two, two, one]), np.array([1.0, -1.0, 1.0, -1.0])
    estimator, options = RidgeClassifier(1.0, fit_intercept=False), {"sample_weight": weight}
    if weight is None:
        kernel = {"kernel": "poly", "degree": 1, "gamma": 0.5, "coef0": 0}
        estimator, options = ua.LSSVC(0.5, fit_intercept=False, **kernel), {}
    region = ua.confidence_region(
        estimator, X, y, noise="labels", m=20, ties="conservative", random_state=0, **options
    )
    fresh = np.where(region.perturbations.drawn < 0.5, 1, -1)  # of the candidate zero
    w = np.ones(4) if weight is None else np.array(weight)
    exchanged = [
        (w * (x - y))[[0, 3]].sum() == 0 and (w * (x - y))[[1, 2]].sum() == 0 for x in fresh
    ]
    assert any(exchanged) or weight == [1.0, 2.0, 3.0, 4.0]
    gaps = region.statistics(np.zeros(region.objective.d))[1:]
    smaller = gaps < region.statistics(np.zeros(region.objective.d))[0]
    expected = 1 + np.count_nonzero(smaller & ~np.array(exchanged))
    assert region.rank(np.zeros(region.objective.d)) == expected


def test_equal_rows_of_different_weight_do_not_cancel():
    X = np.array([[0.1, 0.7], [0.3, -1.0], [0.1, 0.7]])
    rows, exchanged = (
        row_space(FeatureDesign(X, intercept=True)),
        np.array([[1, 0, -1], [1, -1, 0]]),
    )
    assert rows.vanish(exchanged, np.ones(3)).tolist() == [True, False]
    assert rows.vanish(exchanged, np.array([0.1, 1.0, 0.1])).tolist() == [True, False]
    assert rows.vanish(exchanged, np.array([0.1, 0.1, 0.3])).tolist() == [False, False]
