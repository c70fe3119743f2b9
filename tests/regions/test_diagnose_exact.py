"""The p-values of region.diagnose() hold for every n, and the tests find what is wrong."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge

import unassuming as ua
from unassuming.noise import Noise, all_signs
from unassuming.regions.diagnosis._noise_tests import KERNEL_FALSE_ALARMS, _balance, _order, _tests
from unassuming.regions.diagnosis._pairwise import play, pvalues

RNG = np.random.default_rng(7)


class Everything(Noise):
    """Each element of a group but the identity, once, as a matrix."""

    orthogonal = True

    def __init__(self, matrices):
        self.matrices = matrices

    def draw(self, n, size, rng):
        return self.matrices[1:]

    def apply(self, drawn, residuals, fitted):
        return np.moveaxis(residuals @ np.swapaxes(drawn, 1, 2), 0, -2)


def matrices_of_signs(n):
    return np.array([np.diag(s) for s in all_signs(n, modulo_sign=False)], dtype=float)


def matrices_of_permutations(n):
    return np.array([np.eye(n)[list(p)] for p in permutations(range(n))])


def least_squares(design, y):
    basis = np.linalg.qr(design)[0]
    return basis, y - basis @ (basis.T @ y)


GROUPS = {"signs": matrices_of_signs(8), "permutations": matrices_of_permutations(5)}
NOISE = {
    "spread out": np.array([0.1, -0.7, 1.3, 9.0, -31.0, 0.02, 4.0, 0.5, -2.5]),
    "with ties": np.array([1.0, -1.0, 2.0, 2.0, 0.0, 1.0, -3.0, 1.0, -1.0]),
}


@pytest.mark.slow
@pytest.mark.parametrize("e", NOISE.values(), ids=NOISE)
@pytest.mark.parametrize("statistic", ["symmetry", "equal spread", "no order"])
@pytest.mark.parametrize("group", GROUPS)
def test_of_all_transformed_noise_at_most_the_share_a_has_a_p_value_of_at_most_a(
    group, statistic, e
):
    """All players of the tournament are the noise in turn: counts as integers."""
    matrices = GROUPS[group]
    m, n = matrices.shape[:2]
    design = 1 + 0.3 * np.arange(n)[:, None]
    test = {t.name: t for t in _tests(np.arange(n)[:, None] ** 1.5)}[statistic]
    found = []
    for G in matrices:
        basis, r = least_squares(design, 5 * design.sum(axis=1) + G @ e[:n])
        games = play(basis, r, Everything(matrices), m - 1, RNG)
        [p] = pvalues(games, [test.statistic], [statistic == "no order"], exact=False)
        found.append(round(p * m))  # q: one more than the number of games lost
    q, count = np.unique(found, return_counts=True)
    # With the p-value (2q - 1)/m this says P(p <= a) <= a for every a.
    assert (np.cumsum(count) <= 2 * q - 1).all()


@pytest.mark.slow
def test_where_the_design_moves_with_no_sign_p_values_are_as_small_as_can_be():
    """The feature is zero but in one row: this is the plain test of symmetry by all signs."""
    matrices = matrices_of_signs(8)
    design, found = np.eye(8)[:, :1], []
    for G in matrices:
        basis, r = least_squares(design, G @ NOISE["spread out"][:8])
        games = play(basis, r, Everything(matrices), 255, RNG)
        found += pvalues(games, [_balance], [False], exact=False)
    # The sign of row 0 and a common sign change nothing: 64 groups of 4 that tie.
    ranks, counts = np.unique(np.round(np.array(found) * 256), return_counts=True)
    np.testing.assert_array_equal(ranks, 4 * np.arange(1, 65))
    np.testing.assert_array_equal(counts, 4)


def test_games_agree_with_explicit_projections():
    n = 12
    design = np.column_stack([np.ones(n), RNG.normal(size=(n, 2))])
    y = RNG.normal(size=n)
    basis, r = least_squares(design, y)
    for noise in (ua.noise.Symmetric(), ua.noise.Exchangeable(), ua.noise.SymmetricExchangeable()):
        games = next(play(basis, r, noise, 6, np.random.default_rng(3)))
        drawn = noise.draw(n, 6, np.random.default_rng(3))
        moved_design, moved_y = noise.apply(drawn, design.T, None), noise.apply(drawn, y, None)
        for j in range(6):
            both = np.column_stack([design, moved_design[:, j].T])
            M = np.eye(n) - both @ np.linalg.pinv(both, rcond=1e-10)
            np.testing.assert_allclose(games.observed[j], M @ y, atol=1e-10)
            np.testing.assert_allclose(games.transformed[j], M @ moved_y[j], atol=1e-10)
            assert games.lag[j] == pytest.approx(np.trace(M, offset=1) / np.trace(M))


def diagnose(X, y, model=None, noise="symmetric", seed=0):
    model = LinearRegression() if model is None else model
    region = ua.confidence_region(model, X, y, noise=noise, m=20, random_state=seed)
    return {i.name: i for i in region.diagnose().indications}


@pytest.mark.parametrize("noise", ["symmetric", "exchangeable", "spherical"])
def test_neither_coefficients_nor_scale_nor_a_penalty_change_p_values(noise):
    X, e = RNG.normal(size=(40, 2)), RNG.standard_t(3, size=40)
    outputs = (e, 1 + X @ [5.0, -3.0] + e, e * 2.0**-560, e * 2.0**400)
    found = [[i.pvalue for i in diagnose(X, y, noise=noise).values()] for y in outputs]
    found.append([i.pvalue for i in diagnose(X, e, Ridge(100.0), noise=noise).values()])
    assert all(row == found[0] for row in found)


def heteroscedastic(rng, X):
    return np.exp(X[:, 0]) * rng.standard_t(3, size=len(X))


def cauchy(rng, X):
    return rng.standard_cauchy(size=len(X))


@pytest.fixture
def fewer_transformations(monkeypatch):
    monkeypatch.setattr("unassuming.regions.diagnosis._noise_tests.RANDOMISATIONS", 199)


def alarms(draw, n, runs, noise="symmetric", model=None):
    found = dict.fromkeys(("symmetry", "equal spread", "no order"), 0)
    for seed in range(runs):
        rng = np.random.default_rng([seed, n])
        X = rng.normal(size=(n, 2))
        for name, i in diagnose(X, X.sum(axis=1) + draw(rng, X), model, noise, seed).items():
            found[name] += i.pvalue <= 0.05
    return found


@pytest.mark.slow
@pytest.mark.usefixtures("fewer_transformations")
@pytest.mark.parametrize(
    ("draw", "model", "n"),
    [(heteroscedastic, Ridge(10.0), 60), (cauchy, LinearRegression(), 30)],
    ids=["Ridge", "LinearRegression"],
)
def test_false_alarms_are_at_most_as_frequent_as_the_level(draw, model, n):
    found = alarms(draw, n, 100, model=model)
    most = binom.ppf(1 - 1e-6, 100, 0.05)  # no lower bound: p-values hold, and are not uniform
    assert found["symmetry"] <= most
    assert found["no order"] <= most
    assert draw is heteroscedastic or found["equal spread"] <= most


def autoregressive(rho):
    def draw(rng, X):
        e = rng.normal(size=len(X))
        for j in range(1, len(e)):
            e[j] += rho * e[j - 1]
        return e

    return draw


def skewed(kind):
    return lambda rng, X: getattr(rng, kind)(size=len(X))


def chi_square(rng, X):
    return rng.chisquare(3, size=len(X))


@pytest.mark.slow
@pytest.mark.usefixtures("fewer_transformations")
@pytest.mark.parametrize(
    ("name", "draw", "noise"),
    [
        ("symmetry", skewed("exponential"), "symmetric"),
        ("symmetry", chi_square, "symmetric"),
        ("no order", autoregressive(0.5), "symmetric"),
        ("no order", autoregressive(0.5), "exchangeable"),
        ("equal spread", heteroscedastic, "exchangeable"),
    ],
    ids=["exponential", "chi-square", "0.5", "0.5 exchangeable", "spread"],
)
def test_power(name, draw, noise):
    """With 100 rows at least nine of ten departures are found at 5 %."""
    runs = 30
    assert alarms(draw, 100, runs, noise)[name] >= binom.ppf(1e-6, runs, 0.9)


def test_what_is_exact_is_said():
    X, e = RNG.normal(size=(40, 2)), RNG.normal(size=40)
    for i in diagnose(X, e).values():
        assert i.exact
        assert i.false_alarms is None
        assert "; exact)" in str(i)
    for name, i in diagnose(X, e, KernelRidge(kernel="rbf")).items():
        assert not i.exact
        assert i.false_alarms == KERNEL_FALSE_ALARMS[name]
        assert f"approximate, false alarms at 5 %: up to {100 * i.false_alarms:.2g} %" in str(i)
    for i in diagnose(X, (e > 0).astype(int), LogisticRegression(), "labels").values():
        assert not i.exact
        assert i.false_alarms is not None


def test_the_assumption_under_test_is_named():
    X, e = RNG.normal(size=(40, 2)), RNG.normal(size=40)
    found = diagnose(X, e)
    assert "symmetric about zero" in found["symmetry"].under
    assert "exchangeable" in found["equal spread"].under
    assert "exchangeable" in diagnose(X, e, noise="spherical")["no order"].under


def test_too_few_rows_give_no_p_value():
    X, e = RNG.normal(size=(14, 4)), RNG.normal(size=14)
    for i in diagnose(X, e).values():
        assert np.isnan(i.pvalue)
        assert str(i) == f"{i.name}: not available. 5 features need 15 rows, and there are 14."
    assert all(i.pvalue <= 1 for i in diagnose(X[:, :3], e).values())


def test_without_inputs_there_is_no_spread_to_compare():
    found = diagnose(np.ones((30, 1)), RNG.normal(size=30), Ridge(fit_intercept=False))
    assert "no inputs along which the spread could change" in str(found["equal spread"])
    assert found["symmetry"].exact


def test_statistics_by_hand():
    r = np.array([2.0, -1.0, 0.0, 1.0])
    assert _balance(r) == 4 / 6
    assert _order(r) == -2 / 6
    assert _order(np.zeros(4)) == 0
