import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics.pairwise import rbf_kernel

from unassuming import datasets

SYMMETRIC = ["gaussian", "laplace", "uniform", "student", "cauchy", "heteroscedastic"]
GENERATORS = {
    name: getattr(datasets, name)
    for name in ("sine", "linear", "rkhs", "instrumented", "arx", "two_classes", "labels")
}
MANY = 20_000


def zeros(n, rng):
    return np.zeros(n)


def noise_of(name, seed):
    X, y, f = datasets.sine(n=MANY, noise=name, random_state=seed)
    return y - f(X)


def within_binomial_band(count, n, p):
    """Whether a count agrees with Binomial(n, p), two-sided at 1e-6."""
    low, high = stats.binom.ppf([0.5e-6, 1 - 0.5e-6], n, p)
    return low <= count <= high


# --- shapes and truth -------------------------------------------------------------------------


def test_linear_returns_intercept_first():
    X, y, coefficients = datasets.linear(n=9, d=4, noise=zeros, random_state=1)
    np.testing.assert_allclose(np.c_[np.ones(9), X] @ coefficients, y, rtol=0, atol=1e-13)


def test_the_instrumented_equation_has_its_coefficients_and_the_column_depends_on_the_noise():
    X, y, (a, c, b) = datasets.instrumented(n=2000, instruments=2, random_state=0)
    e = y - a - c * X[:, 1] - b * X[:, 0]
    correlation = np.corrcoef(e, X.T)[0]
    assert correlation[1] > 0.3
    assert abs(correlation[2:]).max() < 5 / np.sqrt(2000)


def test_the_dynamical_system_follows_its_equation_from_zero():
    u, y, coefficients = datasets.arx(n=5, a=[0.5, -0.2], b=[2.0], noise=zeros, random_state=0)
    plain = [0.0, 0.0]
    for t in range(5):
        plain.append(0.5 * plain[-1] - 0.2 * plain[-2] + (2 * u[t - 1] if t else 0))
    np.testing.assert_allclose(y, plain[2:], rtol=1e-12)
    assert coefficients.tolist() == [0.5, -0.2, 2.0]


def test_rkhs_norm_is_the_norm_of_the_minimum_norm_interpolant_at_its_centres():
    _, _, f = datasets.rkhs(n=3, gamma=2.0, n_centres=6, random_state=4)
    T = f.centres[:, None]
    K = rbf_kernel(T, gamma=2.0)
    np.testing.assert_allclose(f(T), K @ f.coefficients, rtol=1e-12)
    np.testing.assert_allclose(f.norm**2, f(T) @ np.linalg.solve(K, f(T)), rtol=1e-8)


def test_labels_have_the_mean_that_f_says():
    X, y, f = datasets.labels(n=MANY, d=3, random_state=0)
    b, w = f.coefficients[0], f.coefficients[1:]
    np.testing.assert_allclose((1 + f(X)) / 2, 1 / (1 + np.exp(-b - X @ w)), rtol=1e-9)
    # Hoeffding at 1e-6: the terms of each sum are bounded by 1, with range 2
    bound = np.sqrt(2 * MANY * np.log(2e6))
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
    assert symmetric_at_every_size(noise_of(name, seed=11))


LAWS = {
    "gaussian": stats.norm(),
    "laplace": stats.laplace(scale=0.5),
    "uniform": stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
    "student": stats.t(2, scale=0.5),
    "cauchy": stats.cauchy(scale=0.5),
    "skewed": stats.expon(loc=-1),
}


@pytest.mark.parametrize("name", LAWS)
def test_continuous_laws_have_the_documented_scale(name):
    e = noise_of(name, seed=13)
    for p in (0.1, 0.25, 0.5, 0.75, 0.9):
        assert within_binomial_band((e <= LAWS[name].ppf(p)).sum(), e.size, p)


# --- reproducibility --------------------------------------------------------------------------


def content(name, random_state):
    return b"".join(a.tobytes() for a in GENERATORS[name](n=12, random_state=random_state)[:2])


def test_no_seed_gives_new_data_and_leaves_numpy_s_global_state_alone():
    before = np.random.get_state()[1].tobytes()  # noqa: NPY002
    assert content("sine", None) != content("sine", None)
    assert np.random.get_state()[1].tobytes() == before  # noqa: NPY002


# --- true functions, and bad input ------------------------------------------------------------


@pytest.mark.parametrize("name", ["sine", "rkhs", "labels"])
def test_true_functions_take_data_frames_survive_pickling_and_refuse_other_shapes(name):
    X, _, f = GENERATORS[name](n=6, random_state=0)
    values = f(X).tolist()
    assert f(pd.DataFrame(X)).tolist() == f(X.tolist()).tolist() == values
    assert pickle.loads(pickle.dumps(f))(X).tolist() == values
    for bad in (np.zeros(3), np.zeros((3, 5)), 1.0):
        with pytest.raises(
            ValueError, match=r"^X has the wrong shape: expected \(N, [12]\), given"
        ):
            f(bad)


BAD = {
    **{f"n={n!r}": ({"n": n}, f"n is not .*, given {n!r}. ") for n in (0, 2.5, "ten", True, None)},
    "a fraction as a seed": ({"random_state": 1.5}, "random_state cannot .*given 1.5. "),
    "a negative seed": ({"random_state": -1}, "random_state cannot .*given -1. "),
    "no law": ({"noise": 3}, "noise is unknown: expected one of .*binomial, or.*given 3. "),
    "another law": ({"noise": "gauss"}, "noise is unknown: expected one of gaussian.*'gauss'. "),
    "a column": ({"noise": lambda n, rng: np.zeros((n, 1))}, r"\(40,\), given \(40, 1\)\. "),
    "no width": ({"gamma": 0}, "gamma is not positive"),
    "endless": ({"gamma": np.inf}, "gamma is not positive"),
    "no bumps": ({"n_centres": 0}, "n_centres is not a positive integer"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    arguments, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        datasets.rkhs(**arguments)
