"""Values of a function of bounded norm from cells: biases, intervals and bands."""

from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.linalg import hadamard
from scipy.stats import binom

from unassuming.cells.functions import (
    Assumed,
    BandSizes,
    Coordinates,
    Errors,
    Kriging,
    System,
    Wanted,
    biased_intervals,
    function_band,
)
from unassuming.cells.predict import (
    choose,
    interleaved,
    pointwise_half_width,
)

GAMMA = 0.5


def kernel(s, t, gamma=GAMMA):
    return np.exp(-gamma * np.square(s[:, None] - t))


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
    sizes = BandSizes.of(found, assumed)
    for s in hadamard(K):
        band = function_band(s * u, sizes, 0.9)
        assert (band.q, band.m) == (1, 16)
        inside += bool((np.abs(band.estimate) <= band.half_width).all())
    assert inside == K - 1


def test_the_worst_function_is_in_the_band_for_all_signs():
    """Cells with the same inputs have the same bias, which cancels from all signs but one."""
    K, B = 16, 30.0
    x = np.repeat(np.linspace(0, 10, 6), K)
    system, wanted = system_of(x, np.array([4.37]))
    kriging, a, found = estimated(system, wanted, K=K, mu=1e-2)
    sizes = BandSizes.of(found, Assumed(B, noise_scale=0.01))
    assert sizes.bias[:, 1:].max() < 1e-4 * sizes.bias[0, 0]
    e = 1e-4 * np.random.default_rng(1).standard_cauchy(K)
    share = []
    for norm in (B, 1.05 * B):
        values, truth = worst_case(system, wanted, kriging, a, np.ones(K), norm)
        u = in_cells(kriging, a[0], values)[None]
        bands = [function_band(u + s * e, sizes, 0.9) for s in hadamard(K)]
        share.append(np.mean([abs(b.estimate[0] - truth) <= b.half_width[0] for b in bands]))
    assert share[0] >= 15 / 16
    assert share[1] == 0
