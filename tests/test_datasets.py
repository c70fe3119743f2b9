import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from unassuming import datasets

SYMMETRIC = ["gaussian", "laplace", "uniform", "student", "cauchy", "heteroscedastic"]
SKEWED = ["skewed", "binomial"]
NAMES = SYMMETRIC + SKEWED

GENERATORS = {
    "sine": datasets.sine,
    "linear": datasets.linear,
    "rkhs": datasets.rkhs,
    "two_classes": datasets.two_classes,
    "labels": datasets.labels,
}


def noise_of(name, n, seed):
    X, y, f = datasets.sine(n=n, noise=name, random_state=seed)
    return y - f(X)


def within_binomial_band(count, n, p):
    """Whether a count agrees with Binomial(n, p), two-sided at 1e-6."""
    low, high = stats.binom.ppf([0.5e-6, 1 - 0.5e-6], n, p)
    return low <= count <= high


# --- shapes and truth -------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 2, 7])
def test_sine_shapes(name, n):
    X, y, f = datasets.sine(n=n, noise=name, random_state=0)
    assert X.shape == (n, 1)
    assert y.shape == (n,)
    assert f(X).shape == (n,)
    assert np.isfinite(y).all()


def test_sine_is_x_sin_x_at_equidistant_inputs():
    X, y, f = datasets.sine(n=11, noise=lambda n, rng: np.zeros(n))
    assert X.ravel().tolist() == list(range(11))
    assert y.tolist() == [x * np.sin(x) for x in range(11)]
    assert f(X).tolist() == y.tolist()


def test_linear_returns_intercept_first():
    X, y, coefficients = datasets.linear(n=9, d=4, noise=lambda n, rng: np.zeros(n), random_state=1)
    assert X.shape == (9, 4)
    assert coefficients.shape == (5,)
    np.testing.assert_allclose(np.c_[np.ones(9), X] @ coefficients, y, rtol=0, atol=1e-13)


def test_rkhs_norm_is_the_norm_of_the_minimum_norm_interpolant_at_its_centres():
    from sklearn.metrics.pairwise import rbf_kernel

    _, _, f = datasets.rkhs(n=3, gamma=2.0, n_centres=6, random_state=4)
    T = f.centres[:, None]
    K = rbf_kernel(T, gamma=2.0)
    np.testing.assert_allclose(f(T), K @ f.coefficients, rtol=1e-12)
    np.testing.assert_allclose(f.norm**2, f(T) @ np.linalg.solve(K, f(T)), rtol=1e-8)


def test_rkhs_norm_of_one_bump_is_its_height():
    _, _, f = datasets.rkhs(n=3, n_centres=1, random_state=2)
    assert f.norm == abs(f.coefficients[0])
    assert f(f.centres[:, None]).tolist() == f.coefficients.tolist()


def test_rkhs_interpolant_at_the_inputs_has_a_smaller_norm_because_the_centres_lie_between():
    from sklearn.metrics.pairwise import rbf_kernel

    X, y, f = datasets.rkhs(n=8, noise=lambda n, rng: np.zeros(n), random_state=3)
    assert not np.intersect1d(X.ravel(), f.centres).size
    K = rbf_kernel(X, gamma=f.gamma)
    assert np.sqrt(y @ np.linalg.solve(K, y)) < 0.999 * f.norm


@pytest.mark.parametrize(("n", "positive"), [(1, 1), (2, 1), (5, 3), (100, 50)])
def test_two_classes_halves(n, positive):
    X, y = datasets.two_classes(n=n, random_state=0)
    assert X.shape == (n, 2)
    assert y.tolist() == [1.0] * positive + [-1.0] * (n - positive)


def test_two_classes_centres_and_scale():
    n = 20_000
    X, y = datasets.two_classes(n=n, random_state=0)
    for label, centre in [(1, (0, 0.5)), (-1, (-0.5, 0))]:
        e = X[y == label] - centre
        for column in e.T:
            assert within_binomial_band((column > 0).sum(), n // 2, 0.5)
            # half of Laplace(0, ½) lies within ½ log 2 of zero
            assert within_binomial_band((abs(column) < 0.5 * np.log(2)).sum(), n // 2, 0.5)


def test_labels_have_the_mean_that_f_says():
    n = 20_000
    X, y, f = datasets.labels(n=n, d=3, random_state=0)
    assert set(y) == {-1.0, 1.0}
    b, w = f.coefficients[0], f.coefficients[1:]
    np.testing.assert_allclose((1 + f(X)) / 2, 1 / (1 + np.exp(-b - X @ w)), rtol=1e-9)
    # Hoeffding at 1e-6: the terms of each sum are bounded by 1, with range 2
    bound = np.sqrt(2 * n * np.log(2e6))
    assert abs(np.sum(y - f(X))) <= bound
    assert abs(np.sum((y - f(X)) * np.sign(f(X)))) <= bound
    assert abs(np.sum(y * np.sign(f(X)))) > bound  # and the check would notice f = 0


# --- laws of the noise ------------------------------------------------------------------------


def symmetric_at_every_size(e):
    """Whether half of the e_j beyond each of several sizes are positive, within the band."""
    beyond = [e[abs(e) > size] for size in np.quantile(abs(e), [0, 0.25, 0.5, 0.75, 0.9])]
    return all(within_binomial_band((part > 0).sum(), part.size, 0.5) for part in beyond)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_laws_are_symmetric(name):
    assert symmetric_at_every_size(noise_of(name, 20_000, seed=11))


@pytest.mark.parametrize("name", SKEWED)
def test_skewed_laws_are_not_symmetric_but_centred(name):
    e = noise_of(name, 20_000, seed=12)
    assert not symmetric_at_every_size(e)
    # variance 1: six standard deviations of a mean of 20,000 terms
    assert abs(e.mean()) < 6 / np.sqrt(e.size)
    assert abs(e.var() - 1) < 0.2


@pytest.mark.parametrize(
    ("name", "law"),
    [
        ("gaussian", stats.norm()),
        ("laplace", stats.laplace(scale=0.5)),
        ("uniform", stats.uniform(-np.sqrt(3), 2 * np.sqrt(3))),
        ("student", stats.t(2, scale=0.5)),
        ("cauchy", stats.cauchy(scale=0.5)),
        ("skewed", stats.expon(loc=-1)),
    ],
)
def test_continuous_laws_have_the_documented_scale(name, law):
    e = noise_of(name, 20_000, seed=13)
    for p in (0.1, 0.25, 0.5, 0.75, 0.9):
        assert within_binomial_band((e <= law.ppf(p)).sum(), e.size, p)


def test_binomial_noise_takes_the_values_of_a_centred_binomial():
    p = (1 - np.sqrt(0.8)) / 2
    assert 20 * p * (1 - p) == pytest.approx(1)
    # x sin x is subtracted again, so the values are exact to rounding only
    successes = noise_of("binomial", 20_000, seed=14) + 20 * p
    assert abs(successes - np.round(successes)).max() < 1e-12
    for k in range(4):
        count = (np.round(successes) == k).sum()
        assert within_binomial_band(count, successes.size, stats.binom.pmf(k, 20, p))


def test_heteroscedastic_noise_grows_along_the_rows():
    n = 20_000
    z = noise_of("heteroscedastic", n, seed=15) / np.linspace(0.1, 2, n)
    assert within_binomial_band((abs(z) < stats.norm.ppf(0.75)).sum(), n, 0.5)
    for part in np.split(z, 4):
        assert within_binomial_band((abs(part) < stats.norm.ppf(0.75)).sum(), n // 4, 0.5)


def test_noise_may_be_a_callable():
    X, y, f = datasets.sine(n=6, noise=lambda n, rng: rng.choice([-2.0, 2.0], n), random_state=0)
    np.testing.assert_allclose(abs(y - f(X)), 2)


# --- reproducibility --------------------------------------------------------------------------


@pytest.mark.parametrize("name", GENERATORS)
def test_same_seed_same_bytes(name):
    first, again = (GENERATORS[name](n=12, random_state=7) for _ in range(2))
    other = GENERATORS[name](n=12, random_state=8)
    for a, b in zip(first[:2], again[:2], strict=True):
        assert a.tobytes() == b.tobytes()
    assert any(a.tobytes() != b.tobytes() for a, b in zip(first[:2], other[:2], strict=True))


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_and_random_states_are_accepted_and_advance(name, make):
    source = make(3)
    first, second = (GENERATORS[name](n=12, random_state=source)[:2] for _ in range(2))
    again = GENERATORS[name](n=12, random_state=make(3))[:2]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))
    assert any(a.tobytes() != b.tobytes() for a, b in zip(first, second, strict=True))


def test_an_integer_seed_is_the_generator_with_that_seed():
    a = datasets.sine(n=5, random_state=3)[1]
    b = datasets.sine(n=5, random_state=np.random.default_rng(np.int64(3)))[1]
    assert a.tobytes() == b.tobytes()


def test_no_seed_gives_new_data_and_leaves_numpy_s_global_state_alone():
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    a, b = (datasets.sine(n=5)[1] for _ in range(2))
    assert a.tobytes() != b.tobytes()
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


# --- the true functions -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sine", "rkhs", "labels"])
def test_true_functions_take_data_frames_and_survive_pickling(name):
    X, _, f = GENERATORS[name](n=6, random_state=0)
    values = f(X)
    assert f(pd.DataFrame(X)).tolist() == values.tolist()
    assert f(X.tolist()).tolist() == values.tolist()
    assert pickle.loads(pickle.dumps(f))(X).tolist() == values.tolist()


@pytest.mark.parametrize("name", ["sine", "rkhs"])
@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((3, 2)), 1.0])
def test_true_functions_refuse_other_shapes(name, bad):
    _, _, f = GENERATORS[name](n=6, random_state=0)
    with pytest.raises(ValueError, match=r"^X has the wrong shape: expected \(N, 1\), given \("):
        f(bad)


# --- errors -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("n", [0, -3, 2.5, "ten", True, None])
def test_bad_n(name, n):
    with pytest.raises(ValueError, match="n is not a positive integer: ") as info:
        GENERATORS[name](n=n)
    assert f"given {n!r}." in str(info.value)


@pytest.mark.parametrize("name", ["sine", "linear", "rkhs"])
@pytest.mark.parametrize("noise", ["gauss", None, 3])
def test_unknown_noise_names_the_admissible_ones(name, noise):
    with pytest.raises(ValueError, match="noise is not a known law") as info:
        GENERATORS[name](n=4, noise=noise)
    assert f"given {noise!r}." in str(info.value)
    for admissible in NAMES:
        assert f'"{admissible}"' in str(info.value)


def test_noise_callable_of_the_wrong_shape():
    with pytest.raises(ValueError, match=r"expected shape \(4,\), given \(4, 1\)\."):
        datasets.sine(n=4, noise=lambda n, rng: np.zeros((n, 1)))


@pytest.mark.parametrize("random_state", [-1, "zero", 1.5])
def test_bad_random_state(random_state):
    with pytest.raises(ValueError, match="random_state cannot seed a generator") as info:
        datasets.sine(n=4, random_state=random_state)
    assert f"given {random_state!r}." in str(info.value)


@pytest.mark.parametrize("gamma", [0, -1.0, np.inf, np.nan])
def test_bad_gamma(gamma):
    with pytest.raises(ValueError, match="gamma is not positive"):
        datasets.rkhs(gamma=gamma)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: datasets.linear(d=0), "d"),
        (lambda: datasets.labels(d=0), "d"),
        (lambda: datasets.rkhs(n_centres=0), "n_centres"),
    ],
)
def test_other_counts(call, name):
    with pytest.raises(ValueError, match=f"^{name} is not a positive integer"):
        call()
