"""Values of a function of bounded norm from cells: biases, intervals and bands."""

from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.stats import binom

from unassuming.cells.functions import (
    Assumed,
    Coordinates,
    Errors,
    Kriging,
    System,
    Wanted,
    band_sizes,
    biased_intervals,
    choose,
    choose_band,
    interleaved,
    made_up,
    numbers_of_cells,
    pointwise_half_width,
)
from unassuming.cells.theorem import balanced_band

GAMMA = 0.5


def kernel(s, t, gamma=GAMMA):
    return np.exp(-gamma * np.square(s[:, None] - t))


def functions_of(system, wanted, assumed, D):
    """The values of made-up functions at the rows (D, n), and the functionals of them (D, N)."""
    theta, _ = made_up(system, assumed, D)
    return theta @ system.features.T, theta @ wanted.features.T


def system_of(x, z, gamma=GAMMA, trend=0, weight=None):
    """The rows at inputs x, and the values at z."""
    powers, coordinates = np.arange(trend), Coordinates(kernel(x, x, gamma))
    weight = np.ones(len(x)) if weight is None else weight
    system = System(x[:, None] ** powers, weight, coordinates.features, coordinates.unit)
    one = np.ones(len(z))
    return system, coordinates.wanted(z[:, None] ** powers, kernel(z, x, gamma), one, one)


def problem(n=40, z=(4.37, 0.1), trend=0):
    x = np.linspace(0, 10, n)
    return x, *system_of(x, np.array(z), trend=trend)


def of_features(F, g, trend=0):
    """Rows and functionals that are known as vectors."""
    system = System(np.ones((len(F), trend)), np.ones(len(F)), F, (len(F) + 4) * 2.0**-52)
    size = np.linalg.norm(g, axis=1)
    return system, Wanted(np.ones((len(g), trend)), g, 0 * size, size)


def estimated(system, wanted, K=6, mu=1e-4):
    kriging = Kriging(system, np.arange(system.n) % K, K)
    a, known = kriging.weights(wanted, mu)
    return kriging, a, Errors.of(wanted, kriging, a, known)


def in_cells(kriging, a, y):
    """Estimates of one functional in the cells for outputs (..., n)."""
    return kriging.sums(a[None], y)[..., 0, :]


def exact_square(x, z, parts):
    """‖Σ_j part_j k(x_j, ·) - Σ_j part_j... - total·k(z, ·)‖² in 50 digits."""
    with mpmath.workdps(50):
        points = [mpmath.mpf(float(one)) for one in (*x, z)]
        c = [mpmath.mpf(float(one)) for one in parts]
        gram = [[mpmath.exp(-mpmath.mpf(GAMMA) * (s - t) ** 2) for t in points] for s in points]
        return mpmath.fsum(c[i] * c[j] * gram[i][j] for i in range(len(c)) for j in range(len(c)))


@pytest.mark.parametrize("mu", [1e-2, 1e-6, 1e-11])
def test_biases_agree_with_fifty_digits_or_with_the_allowance(mu):
    x, system, wanted = problem(n=24)
    kriging, a, found = estimated(system, wanted, K=4, mu=mu)
    for i, z in enumerate((4.37, 0.1)):
        for flags in ((1, 0, 0, 0), (1, 1, 0, 0), (1, 1, 1, 1), (0, 0.3, 0, 0.5)):
            w = np.array(flags, dtype=float)
            c = np.append(w[kriging.labels] * a[i], -w.sum())
            exact = exact_square(x, z, c)
            allowance = w @ found.doubt[i] + 1e-6 * w.sum()
            bound = found.part(np.array([i])).bias(Assumed(1.0), w[None], np.ones((1, 4)))[0, 0]
            assert bound >= float(mpmath.sqrt(exact))
            assert bound <= float(mpmath.sqrt(exact)) + 2 * allowance


def test_the_allowance_is_small():
    _, system, wanted = problem(n=500)
    _, _, found = estimated(system, wanted, K=12)
    assert found.doubt.max() < 1e-5


def test_features_and_their_gram_matrix_agree():
    rng = np.random.default_rng(0)
    F, g = rng.normal(size=(40, 3)), rng.normal(size=(2, 3))
    one, wanted = of_features(F, g, trend=1)
    coordinates = Coordinates(F @ F.T)
    other = System(one.trend, one.weight, coordinates.features, coordinates.unit)
    by_gram = coordinates.wanted(
        wanted.trend, g @ F.T, np.square(g).sum(axis=1), np.linalg.norm(g, axis=1)
    )
    assert coordinates.features.shape == (40, 3)
    (_, a, one), (_, b, two) = estimated(one, wanted, mu=0.1), estimated(other, by_gram, mu=0.1)
    np.testing.assert_allclose(a, b, atol=1e-10)
    np.testing.assert_allclose(one.H, two.H, atol=1e-10)
    assert (one.doubt < two.doubt).all()
    assert two.beyond.max() < 1e-5


def test_intervals_are_those_of_the_plain_formula():
    """Each part of the cells has its own largest bias, B‖Σ_F w_b h_b‖ / Σ_F w_b."""
    _, system, wanted = problem(n=24)
    _, _, found = estimated(system, wanted, K=5, mu=1e-2)
    assumed = Assumed(30.0)
    u, w = np.random.default_rng(0).normal(size=(2, 5)), found.weights(assumed)
    got = biased_intervals(u, found, assumed, 0.8)
    assert (got.m == 16).all()
    for i in range(2):
        ends = []
        for s in product([0, 1], repeat=4):
            first = np.array([0, *s], dtype=bool)
            if not first.any():
                continue
            low, high = [], []
            for part in (first, ~first):
                v = np.where(part, w[i], 0.0)
                bias = 30 * np.sqrt(v @ found.H[i] @ v + (v.sum() * found.beyond[i]) ** 2)
                low.append((v @ u[i] - bias) / v.sum())
                high.append((v @ u[i] + bias) / v.sum())
            ends.append((min(low), max(high)))
        low, high = np.sort(np.array(ends), axis=0).T
        q = int(got.q[i])
        assert got.lower[i] == pytest.approx(low[q - 1], rel=1e-6)
        assert got.upper[i] == pytest.approx(high[-q], rel=1e-6)


def test_biases_of_features_are_not_below_the_exact_ones():
    """Weights that reproduce the features up to rounding: nothing but rounding is left."""
    rng = np.random.default_rng(0)
    F, g = rng.normal(size=(40, 3)), rng.normal(size=(20, 3))
    system, wanted = of_features(F, g)
    kriging, a, found = estimated(system, wanted, mu=1e-20)
    K = kriging.K
    bounds = found.bias(Assumed(1.0), np.ones((20, K)), np.eye(K))
    for i, (b, rows) in product(range(20), enumerate(kriging.cells)):
        weights = list(map(Fraction, a[i, rows].tolist()))
        h = [
            sum(t * Fraction(x) for t, x in zip(weights, F[rows, j].tolist(), strict=True))
            - Fraction(float(g[i, j]))
            for j in range(3)
        ]
        assert Fraction(float(bounds[i, b])) ** 2 >= sum(one * one for one in h)
    assert bounds.max() < 1e-11


def test_kriging_weights_solve_the_bordered_system():
    x, z, weight = np.linspace(0, 10, 30), np.array([4.37, 0.1]), np.linspace(0.5, 2, 30)
    system, wanted = system_of(x, z, trend=2, weight=weight)
    kriging, a, _ = estimated(system, wanted, K=3, mu=1e-2)
    for rows in kriging.cells:
        K = kernel(x[rows], x[rows]) + 1e-2 * np.diag(1 / weight[rows])
        Z = system.trend[rows]
        whole = np.block([[K, Z], [Z.T, np.zeros((2, 2))]])
        right = np.vstack([kernel(x[rows], z), wanted.trend.T])
        np.testing.assert_allclose(a[:, rows].T, np.linalg.solve(whole, right)[: len(rows)], 1e-7)


def test_features_that_are_not_penalised_vanish():
    """A trend of any size moves the interval by its value at z."""
    x, system, wanted = problem(n=60, trend=2)
    kriging, a, found = estimated(system, wanted)
    y = np.random.default_rng(0).standard_cauchy(60)
    moved = y + 1e6 * (1 + x)
    assumed = Assumed(5.0, noise_scale=0.5)
    ends = []
    for out in (y, moved):
        u = np.stack([in_cells(kriging, one, out) for one in a])
        got = biased_intervals(u, found, assumed, 0.9)
        ends.append(np.array([got.lower, got.upper]))
    np.testing.assert_allclose(ends[1] - ends[0], 1e6 * (1 + wanted.trend[:, 1]) + 0 * ends[0])


def test_a_cell_that_cannot_reproduce_the_trend_is_left_out():
    _, system, wanted = problem(n=12, trend=2)
    labels = np.array([0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3])
    kriging = Kriging(system, labels, 4)
    a, known = kriging.weights(wanted, 1e-3)
    assert known.tolist() == [[False, True, True, True]] * 2
    found = Errors.of(wanted, kriging, a, known)
    assert (found.weights(Assumed(1.0))[:, 0] == 0).all()


def test_without_a_bias_the_coverage_over_all_signs_is_exact():
    K, level = 7, 0.9
    _, system, wanted = problem(n=42, z=(4.37,))
    _, _, found = estimated(system, wanted, K=K)
    noise = np.random.default_rng(1).standard_cauchy(K)
    u = np.array(list(product((1, -1), repeat=K))) * noise
    repeated = found.part(np.zeros(len(u), dtype=int))
    got = biased_intervals(u, repeated, Assumed(0.0), level)
    inside = np.count_nonzero((got.lower <= 0) & (got.upper >= 0))
    assert (int(got.q[0]), int(got.m[0])) == (6, 64)
    assert inside == len(u) * (64 - 6) // 64


def worst_case(system, wanted, kriging, a, w, B):
    """The function of norm B with the largest bias of the weighted mean: values at x and at z."""
    c = w[kriging.labels] * a[0] / w.sum()
    h = c @ system.features - wanted.features[0]
    scale = B / np.sqrt(h @ h + wanted.beyond[0] ** 2)
    at_z = h @ wanted.features[0] - wanted.beyond[0] ** 2
    return scale * system.features @ h, scale * at_z


def test_the_worst_function_is_covered_over_all_signs_and_no_worse_one():
    """All cells have the same inputs and so the same bias, which the norm bound just covers."""
    K, level, B = 7, 0.9, 30.0
    x = np.repeat(np.linspace(0, 10, 6), K)
    system, wanted = system_of(x, np.array([4.37]))
    kriging, a, found = estimated(system, wanted, K=K, mu=1e-2)
    e = 1e-6 * np.random.default_rng(1).standard_cauchy(K)
    signs = np.array(list(product((1, -1), repeat=K)))
    repeated = found.part(np.zeros(len(signs), dtype=int))
    assumed = Assumed(B, noise_scale=0.01)
    share = []
    for norm in (B, 1.01 * B):
        values, truth = worst_case(system, wanted, kriging, a, np.ones(K), norm)
        u = in_cells(kriging, a[0], values) + signs * e
        got = biased_intervals(u, repeated, assumed, level)
        share.append(np.mean((got.lower <= truth) & (truth <= got.upper)))
    assert share[0] >= 58 / 64
    assert share[1] == 0


def test_a_hypothesis_is_in_the_interval_exactly_if_it_is_not_rejected():
    _, system, wanted = problem(n=60, z=np.linspace(1, 9, 9))
    _, _, found = estimated(system, wanted, K=8)
    u = np.random.default_rng(2).normal(size=(9, 8))
    tau = np.linspace(-1.5, 1.5, 9)
    assumed = Assumed(3.0)
    for level in (0.5, 0.75, 0.9):
        got = biased_intervals(u, found, assumed, level, tau)
        inside = (got.lower <= tau) & (tau <= got.upper)
        rejected = got.pvalue <= got.q / got.m
        assert (inside == ~rejected).all()


def test_the_model_error_is_covered_at_its_worst():
    x = np.linspace(-1, 1, 48)
    system = System(x[:, None] ** np.arange(2), np.ones(48), np.zeros((48, 0)), 0.0)
    wanted = Wanted(np.array([[1.0, 0.3]]), np.zeros((1, 0)), np.zeros(1), np.zeros(1))
    kriging, a, found = estimated(system, wanted, K=6, mu=1.0)
    y = 2 + x + 0.1 * np.sign(a[0])  # the largest bias that an error of 0.1 can have
    u = in_cells(kriging, a[0], y)[None]
    for delta, covered in ((0.1, True), (0.05, False)):
        got = biased_intervals(u, found, Assumed(0.0, delta), 0.9)
        assert bool(got.lower[0] <= 2.3 + 1e-12 and got.upper[0] >= 2.3) is covered


def test_interleaved_cells_see_all_inputs():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(90, 2))
    square = np.square(X[:, None] - X).sum(axis=2)
    features = Coordinates(np.exp(-3 * square)).features
    system = System(np.zeros((90, 0)), np.ones(90), features, 0.0)
    labels = interleaved(system, 6)
    assert np.bincount(labels).tolist() == [15] * 6
    means = np.array([X[labels == b].mean(axis=0) for b in range(6)])
    assert np.abs(means - X.mean(axis=0)).max() < 0.08
    blocks = np.arange(90) // 3
    together = interleaved(system, 6, units=blocks)
    assert (together.reshape(30, 3) == together[::3, None]).all()


def test_the_chosen_cells_have_the_smallest_predicted_width():
    _, system, wanted = problem(n=80, z=(4.37, 9.9, 2.2))
    divisions = [Kriging(system, interleaved(system, K, ordered=True), K) for K in (5, 6, 8)]
    assumed = Assumed(29.2, noise_scale=0.7)
    chosen = choose(system, wanted, divisions, assumed, 0.9)
    plain, (f, truth) = {}, functions_of(system, wanted, assumed, 24)
    for k, kriging in enumerate(divisions):
        for share in (1.0, 1e-1, 1e-2, 1e-3):
            mu = share * (0.7 / 29.2) ** 2
            a, known = kriging.weights(wanted, mu)
            found = Errors.of(wanted, kriging, a, known)
            plain[k, mu] = pointwise_half_width(
                found, assumed, 0.9, kriging.sums(a, f) - truth[..., None]
            )
    for i, (k, mu) in enumerate(zip(chosen.which, chosen.mu, strict=True)):
        assert chosen.half_width[i] == pytest.approx(plain[k, mu][i], rel=1e-9)
    np.testing.assert_allclose(chosen.half_width, np.min(list(plain.values()), axis=0), rtol=1e-9)
    assert 0.65 < chosen.half_width[0] < 0.85


@pytest.mark.parametrize(("n", "K"), [(30, 5), (60, 5), (60, 6), (120, 8)])
def test_the_predicted_width_is_that_of_gaussian_noise(n, K):
    """With 30 rows the norm bound decides, with 120 the noise."""
    _, system, wanted = problem(n=n, z=(4.37, 2.2))
    kriging, a, found = estimated(system, wanted, K=K, mu=1e-5)
    assumed = Assumed(29.2, noise_scale=0.7)
    f, truth = functions_of(system, wanted, assumed, 24)
    width = pointwise_half_width(found, assumed, 0.9, kriging.sums(a, f) - truth[..., None])
    rng = np.random.default_rng(3)
    y = functions_of(system, wanted, assumed, 400)[0] + 0.7 * rng.normal(size=(400, n))
    for i in range(2):
        u = in_cells(kriging, a[i], y)
        got = biased_intervals(u, found.part(np.full(400, i)), assumed, 0.9)
        half = np.mean(got.upper - got.lower) / 2
        assert width[i] == pytest.approx(half, rel=0.1)


@pytest.mark.parametrize("features", [False, True])
def test_made_up_functions_have_half_the_norm(features):
    rng = np.random.default_rng(0)
    Phi = rng.standard_normal((8, 3))
    K = Phi @ Phi.T + (0.0 if features else np.eye(8))
    coordinates, none = Coordinates(K), np.zeros((8, 0))
    system = System(none, np.ones(8), coordinates.features, coordinates.unit)
    wanted = coordinates.wanted(none, K, np.diagonal(K), np.sqrt(np.diagonal(K)))
    values, truth = functions_of(system, wanted, Assumed(6.0), 4)
    for f in values:  # the least norm of a function with these values
        assert np.sqrt(f @ np.linalg.pinv(K) @ f) == pytest.approx(3.0)
    np.testing.assert_allclose(truth, values)
    # The bias is what the estimate without noise misses, and at most B/2 times the length of h.
    kriging, a, found = estimated(system, wanted, K=2, mu=0.1)
    shifts = kriging.sums(a, values) - truth[..., None]
    lengths = found.bias(Assumed(3.0), np.ones((8, 2)), np.eye(2))
    for d, f in enumerate(values):
        for i in range(8):
            np.testing.assert_allclose(shifts[d, i], in_cells(kriging, a[i], f) - f[i])
    assert (np.abs(shifts) <= lengths + 1e-9).all()


def test_numbers_of_cells_that_are_compared():
    assert numbers_of_cells(0.95, 100) == [6, 7, 8, 10, 12, 16]
    assert numbers_of_cells(0.95, 100, simultaneous=True) == [32, 64]
    assert numbers_of_cells(0.9, 7) == [5, 6, 7]
    assert numbers_of_cells(0.9, 9, simultaneous=True) == []
    assert numbers_of_cells(0.9, 4) == [4]


@pytest.mark.parametrize("trend", [0, 1])
def test_too_few_cells_give_what_the_norm_bound_alone_allows(trend):
    _, system, wanted = problem(n=12, trend=trend)
    _, _, found = estimated(system, wanted, K=3)
    got = biased_intervals(np.zeros((2, 3)), found, Assumed(1.0), 0.9)
    np.testing.assert_allclose(got.lower, -np.inf if trend else -1)
    np.testing.assert_allclose(got.upper, np.inf if trend else 1)
    assert np.isposinf(pointwise_half_width(found, Assumed(1.0), 0.9, np.zeros((24, 2, 3)))).all()


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["laplace", "cauchy", "growing"])
def test_coverage_of_values(noise):
    """A function of norm B between the inputs; at least the level, and not much more."""
    n, B, runs, level = 200, 29.2, 2000, 0.9
    x, system, wanted = problem(n, z=(4.37,))
    divisions = [Kriging(system, interleaved(system, K, ordered=True), K) for K in (8, 10)]
    assumed = Assumed(B, noise_scale=0.7)
    chosen = choose(system, wanted, divisions, assumed, level)
    kriging = divisions[chosen.which[0]]
    a, known = kriging.weights(wanted, chosen.mu[0])
    found = Errors.of(wanted, kriging, a, known)
    rng = np.random.default_rng(0)
    centres, c = rng.uniform(-1, 11, 15), rng.normal(size=15)
    c *= B / np.sqrt(c @ kernel(centres, centres) @ c)
    values, truth = kernel(x, centres) @ c, (kernel(np.array([4.37]), centres) @ c)[0]
    e = {
        "laplace": lambda: rng.laplace(0, 0.5, (runs, n)),
        "cauchy": lambda: rng.standard_cauchy((runs, n)),
        "growing": lambda: rng.standard_t(3, (runs, n)) * (0.2 + 0.1 * x),
    }[noise]()
    u = in_cells(kriging, a[0], values + e)
    got = biased_intervals(u, found.part(np.zeros(runs, dtype=int)), assumed, level)
    covered = np.count_nonzero((got.lower <= truth) & (truth <= got.upper))
    attained = float(got.level[0])
    assert binom.ppf(5e-7, runs, attained) <= covered <= binom.isf(5e-7, runs, attained + 0.03)


def test_every_rank_of_a_band_without_a_bias_occurs_once():
    K = 16
    _, system, wanted = problem(n=64, z=np.linspace(1, 9, 5))
    kriging, a, found = estimated(system, wanted, K=K)
    e = np.random.default_rng(0).standard_cauchy(64)
    assumed = Assumed(0.0)
    u = np.stack([in_cells(kriging, one, e) for one in a])
    inside = 0
    scale, bias = band_sizes(found, assumed)
    for s in hadamard(K):
        band = balanced_band(s * u, scale, 0.9, bias=bias)
        assert (band.q, band.m) == (1, 16)
        inside += bool((np.abs(band.estimate) <= band.half_width).all())
    assert inside == K - 1


def test_the_worst_function_is_in_the_band_for_all_signs():
    """Cells with the same inputs have the same bias, which cancels from all signs but one."""
    K, B = 16, 30.0
    x = np.repeat(np.linspace(0, 10, 6), K)
    system, wanted = system_of(x, np.array([4.37]))
    kriging, a, found = estimated(system, wanted, K=K, mu=1e-2)
    scale, bias = band_sizes(found, Assumed(B, noise_scale=0.01))
    assert bias[:, 1:].max() < 1e-4 * bias[0, 0]
    e = 1e-4 * np.random.default_rng(1).standard_cauchy(K)
    share = []
    for norm in (B, 1.05 * B):
        values, truth = worst_case(system, wanted, kriging, a, np.ones(K), norm)
        u = in_cells(kriging, a[0], values)[None]
        bands = [balanced_band(u + s * e, scale, 0.9, bias=bias) for s in hadamard(K)]
        share.append(np.mean([abs(b.estimate[0] - truth) <= b.half_width[0] for b in bands]))
    assert share[0] >= 15 / 16
    assert share[1] == 0


def test_statistics_of_a_band_allow_for_the_bias_of_every_sign_vector():
    """The worst function for one sign vector hides its noise; the allowance makes up for that."""
    K, B = 8, 30.0
    _, system, wanted = problem(n=64, z=(4.37,))
    kriging, a, found = estimated(system, wanted, K=K, mu=1e-2)
    scale, bias = band_sizes(found, Assumed(B, noise_scale=0.1))
    noise = in_cells(kriging, a[0], np.abs(np.random.default_rng(0).normal(size=64)))
    for index, s in enumerate(hadamard(K)[1:]):
        part = (s * noise).mean()
        c = s[kriging.labels] * a[0] / K  # h_s = Σ c_j k(x_j, ·), since the signs are balanced
        h = c @ system.features
        values = -np.sign(part) * B * system.features @ h / np.linalg.norm(h)
        u = in_cells(kriging, a[0], values) + noise
        band = balanced_band(u[None], scale, 0.5, bias=bias)
        least = abs(part) / scale[0]
        assert band.statistics[index] >= least
        if abs(part) > B * np.linalg.norm(h):
            assert band.statistics[index] == pytest.approx(least, rel=1e-3)


def test_the_predicted_band_is_that_of_gaussian_noise():
    _, system, wanted = problem(n=320, z=np.linspace(0.5, 9.5, 12))
    kriging = Kriging(system, interleaved(system, 16, ordered=True), 16)
    assumed = Assumed(29.2, noise_scale=0.7)
    chosen = choose_band(system, wanted, [kriging], assumed, 0.9)
    a, known = kriging.weights(wanted, chosen.mu[0])
    scale, bias = band_sizes(Errors.of(wanted, kriging, a, known), assumed)
    rng = np.random.default_rng(3)
    half = []
    for _ in range(40):
        [f] = functions_of(system, wanted, assumed, 1)[0]
        y = f + 0.7 * rng.normal(size=320)
        u = np.stack([in_cells(kriging, one, y) for one in a])
        half.append(balanced_band(u, scale, 0.9, bias=bias).half_width)
    np.testing.assert_allclose(chosen.half_width, np.mean(half, axis=0), rtol=0.15)


def test_the_median_half_width_decides_between_divisions():
    x, z = np.linspace(0, 10, 500), np.linspace(0, 10, 40)  # the edges prefer fewer cells
    wide, wanted = system_of(x, z, gamma=GAMMA / 5)
    assumed = Assumed(73.0, noise_scale=0.7)
    divisions = [Kriging(wide, interleaved(wide, K, ordered=True), K) for K in (16, 32)]
    one, two = (choose_band(wide, wanted, [it], assumed, 0.9).half_width for it in divisions)
    both = choose_band(wide, wanted, divisions, assumed, 0.9)
    assert np.median(two) < 0.98 * np.median(one)
    assert np.log(two).mean() > np.log(one).mean()
    assert set(both.which) == {1}
    np.testing.assert_array_equal(both.half_width, two)
