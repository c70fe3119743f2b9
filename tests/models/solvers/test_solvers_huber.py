import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import brentq
from sklearn.linear_model import HuberRegressor

from unassuming.models.solvers import concomitant_huber, huber_scale

RESIDUALS = arrays(
    np.float64,
    st.integers(1, 12),
    elements=st.one_of(
        st.integers(-3, 3).map(float),
        st.floats(-1e3, 1e3).filter(lambda r: r == 0.0 or abs(r) > 1e-9),
    ),
)


def left_hand_side(r, w, epsilon, sigma):
    return np.sum(w * np.minimum((r / sigma) ** 2, epsilon**2))


@pytest.mark.slow
@given(r=RESIDUALS, seed=st.integers(0, 2**32 - 1), epsilon=st.floats(1.001, 6.0))
def test_the_scale_is_the_root(r, seed, epsilon):
    w = np.random.default_rng(seed).integers(0, 4, size=r.size).astype(float)
    assume(w.sum() > 0.0)
    share = epsilon**2 * np.sum(w[r != 0.0]) / w.sum()
    assume(abs(share - 1.0) > 1e-9)
    sigma = float(huber_scale(r, w, epsilon))
    if share < 1.0:
        assert np.isnan(sigma)
        return
    assert left_hand_side(r, w, epsilon, sigma) == pytest.approx(w.sum(), rel=1e-12)


@given(r=RESIDUALS, seed=st.integers(0, 2**32 - 1), epsilon=st.floats(1.001, 6.0))
def test_signs_change_no_bit_and_permutations_only_the_rounding(r, seed, epsilon):
    rng = np.random.default_rng(seed)
    w = rng.integers(1, 4, size=r.size).astype(float)
    sigma = huber_scale(r, w, epsilon)
    signs = rng.choice([-1.0, 1.0], size=(5, r.size))
    np.testing.assert_array_equal(huber_scale(signs * r, w, epsilon), np.full(5, sigma))
    order = rng.permutation(r.size)
    assume(abs(epsilon**2 * np.sum(w[r != 0.0]) / w.sum() - 1.0) > 1e-9)
    np.testing.assert_allclose(huber_scale(r[order], w[order], epsilon), sigma, rtol=1e-12)


@pytest.mark.slow
@given(r=RESIDUALS, exponent=st.integers(-300, 300), epsilon=st.floats(1.1, 6.0))
def test_the_scale_scales(r, exponent, epsilon):
    w = np.ones(r.size)
    scaled = huber_scale(np.ldexp(r, exponent), w, epsilon)
    np.testing.assert_array_equal(scaled, np.ldexp(huber_scale(r, w, epsilon), exponent))


def test_leading_axes():
    rng = np.random.default_rng(0)
    r, w = rng.standard_cauchy((4, 3, 11)), rng.uniform(0.1, 2.0, size=11)
    sigma = huber_scale(r, w, 1.35)
    assert sigma.shape == (4, 3)
    for index in np.ndindex(4, 3):
        assert sigma[index] == huber_scale(r[index], w, 1.35)
        root = brentq(lambda s, i=index: left_hand_side(r[i], w, 1.35, s) - w.sum(), 1e-6, 1e6)
        assert sigma[index] == pytest.approx(root, rel=1e-9)


def test_no_root():
    assert np.isnan(huber_scale(np.zeros(5), np.ones(5), 1.35))
    assert np.isnan(huber_scale(np.arange(5.0), np.ones(5), 1.0))
    # ε² × share is 1 exactly: every small σ would do, so none is chosen.
    assert np.isnan(huber_scale(np.array([0.0, 0.0, 0.0, 1.0]), np.ones(4), 2.0))
    # A residual without weight does not count.
    assert np.isnan(huber_scale(np.array([0.0, 0.0, 5.0]), np.array([1.0, 1.0, 0.0]), 1.35))


def objective(X, y, w, epsilon, p, a, sigma):
    z = (y - X @ a) / sigma
    H = np.where(np.abs(z) < epsilon, z**2, 2.0 * epsilon * np.abs(z) - epsilon**2)
    return np.sum(w * (sigma + sigma * H)) + p @ a**2


def assert_optimal(X, y, w, epsilon, p, a, sigma):
    """Both gradients vanish, to the rounding error of evaluating them."""
    r = y - X @ a
    gradient = -X.T @ (w * np.clip(r / sigma, -epsilon, epsilon)) + p * a
    noise = np.minimum(np.abs(r) / sigma, epsilon) + (np.abs(y) + np.abs(X) @ np.abs(a)) / sigma
    rounding = 1e-13 * (np.abs(X).T @ (w * noise) + p * np.abs(a))
    assert np.all(np.abs(gradient) <= rounding), (np.abs(gradient) / rounding).max()
    assert left_hand_side(r, w, epsilon, sigma) == pytest.approx(w.sum(), rel=1e-9)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(8, 60)), draw(st.integers(0, 3))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    if draw(st.booleans()):
        X = np.column_stack([X, X[:, :1]])  # a copy, or nothing if d = 0
    noise = rng.standard_t(draw(st.sampled_from([1.0, 2.0, 30.0])), size=n)
    y = X @ rng.normal(size=X.shape[1]) + 10.0 ** draw(st.integers(-3, 3)) * (5.0 + noise)
    w = np.ones(n) if draw(st.booleans()) else rng.uniform(0.1, 3.0, size=n)
    p = np.full(X.shape[1] + 1, draw(st.sampled_from([0.0, 1e-4, 1.0])))
    p[0] = 0.0
    return np.column_stack([np.ones(n), X]), y, w, draw(st.sampled_from([1.35, 2.0, 10.0])), p


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(problem=problems())
def test_the_gradients_vanish(problem):
    try:
        a, sigma = concomitant_huber(*problem)
    except ValueError:  # few rows: the infimum may lie at scale zero, which is refused
        design = problem[0]
        assert len(design) <= 4 * design.shape[1]
        assume(False)
    assert_optimal(*problem, a, sigma)


@pytest.mark.parametrize("epsilon", [1.05, 1.35, 3.0])
def test_scikit_learn_agrees_but_stops_earlier(epsilon):
    rng = np.random.default_rng(7)
    X, w = rng.normal(size=(80, 4)), rng.uniform(0.5, 2.0, size=80)
    y = X @ rng.normal(size=4) + 1.0 + rng.standard_t(2, size=80)
    model = HuberRegressor(epsilon=epsilon, alpha=0.3, tol=1e-10, max_iter=10_000)
    model.fit(X, y, sample_weight=w)
    design, p = np.column_stack([np.ones(80), X]), np.array([0.0, 0.3, 0.3, 0.3, 0.3])
    a, sigma = concomitant_huber(design, y, w, epsilon, p)
    theirs = np.concatenate([[model.intercept_], model.coef_])
    np.testing.assert_allclose(a, theirs, atol=1e-4)
    assert sigma == pytest.approx(model.scale_, abs=1e-4)
    assert_optimal(design, y, w, epsilon, p, a, sigma)
    arguments = design, y, w, epsilon, p
    assert objective(*arguments, a, sigma) <= objective(*arguments, theirs, model.scale_) + 1e-12


def test_a_large_threshold_is_least_squares():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    a, sigma = concomitant_huber(X, y, np.ones(40), 1e3, np.zeros(3))
    np.testing.assert_allclose(a, np.linalg.lstsq(X, y, rcond=None)[0], atol=1e-12)
    assert sigma == pytest.approx(np.sqrt(np.mean((y - X @ a) ** 2)), rel=1e-12)


def test_no_columns():
    a, sigma = concomitant_huber(np.empty((4, 0)), np.arange(4.0), np.ones(4), 2.0, np.empty(0))
    assert a.shape == (0,)
    assert sigma == huber_scale(np.arange(4.0), np.ones(4), 2.0)


def test_an_exact_fit_is_refused():
    X = np.column_stack([np.ones(6), np.arange(6.0)])
    with pytest.raises(ValueError, match=r"y leaves too few nonzero residuals.*epsilon = 1\.35"):
        concomitant_huber(X, np.zeros(6), np.ones(6), 1.35, np.zeros(2))
