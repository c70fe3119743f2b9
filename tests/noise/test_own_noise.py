"""A noise class of the user: it drives the region, and covers as often as it says."""

from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from test_noise import BLOCKS, within_band

import unassuming as ua
from enumeration import rank_bounds
from unassuming.noise import Noise


class ExchangeableWithinBlocks(Noise):
    """Permutations that keep every row in its block: a subgroup, hence as exact as the whole."""

    assumption = "the noise terms of each block are exchangeable"

    def __init__(self, blocks):
        self.blocks = np.asarray(blocks)

    def draw(self, n, size, rng):
        orders = np.tile(np.arange(n), (size, 1))
        for block in np.unique(self.blocks):
            rows = np.flatnonzero(self.blocks == block)
            orders[:, rows] = rng.permuted(np.tile(rows, (size, 1)), axis=1)
        return orders

    def apply(self, drawn, residuals, fitted):
        return residuals[..., drawn]

    @property
    def orthogonal(self):
        return True


def own_region(noise, y, X, m=20):
    return ua.confidence_region(Ridge(alpha=0.5), X, y, noise=noise, m=m, random_state=11)


def test_a_subclass_of_ones_own_has_the_ranks_of_the_formula():
    rng = np.random.default_rng(1)
    n, X = 6, rng.normal(size=(6, 2))
    y, a = rng.normal(size=6), rng.normal(size=3)
    region = own_region(ExchangeableWithinBlocks(BLOCKS), y, X)
    Phi, P = np.column_stack([np.ones(n), X]), np.diag([0.0, 1.0, 1.0])
    H = Phi.T @ Phi / n + 0.5 / n * P
    r = y - Phi @ a
    s = [Phi.T @ v / n - 0.5 / n * P @ a for v in [r, *region.perturbations.apply(r)]]
    Z = [v @ np.linalg.solve(H, v) for v in s]
    assert region.statistics(a) == pytest.approx(Z, rel=1e-10)
    pi, tied = region.tie_order, np.isclose(Z, Z[0], rtol=1e-9)
    before = [pi[i] < pi[0] if tied[i] else Z[i] < Z[0] for i in range(1, region.m)]
    assert region.rank(a) == 1 + sum(before)


def test_a_subclass_without_a_group_is_sampled_only():
    rng = np.random.default_rng(2)
    with pytest.raises(ValueError, match="no finite group"):
        own_region(
            ExchangeableWithinBlocks(BLOCKS), rng.normal(size=6), rng.normal(size=(6, 2)), "all"
        )


@pytest.mark.slow
def test_a_subclass_of_ones_own_covers_as_often_as_it_says():
    # Blocks of different mean and scale: exchangeable within, not across, and not symmetric.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6, 2))
    scale, shift = np.array([1.0, 5.0, 0.2])[BLOCKS], np.array([0.0, 3.0, -2.0])[BLOCKS]
    noise, inside, runs = ExchangeableWithinBlocks(BLOCKS), 0, 200
    for seed in range(runs):
        y = shift + scale * rng.exponential(size=6)
        region = ua.confidence_region(Ridge(alpha=0.5), X, y, noise=noise, m=5, random_state=seed)
        inside += region.contains(np.zeros(3), level=0.6)
    assert within_band(inside, runs, 0.6)


class Turns(Noise):
    """Turns of the plane by multiples of 72 degrees: a group of five, with rounding errors."""

    def draw(self, n, size, rng):
        return self.matrices(rng.integers(1, 6, size=size))

    def matrices(self, k):
        angle = 2 * np.pi * np.asarray(k) / 5  # five steps are a whole turn, up to rounding
        c, s = np.cos(angle), np.sin(angle)
        return np.moveaxis(np.array([[c, -s], [s, c]]), 2, 0)

    def apply(self, drawn, residuals, fitted):
        return np.einsum("ijk,...k->...ij", drawn, residuals)

    def group(self, n, *, modulo_sign):
        return self.matrices([1, 2, 3, 4]), 5

    @property
    def orthogonal(self):
        return True


def test_a_group_of_ones_own_may_be_enumerated_and_covers_exactly():
    X, noise, e = np.array([[1.0], [-0.4]]), Turns(), np.array([0.7, 2.0])
    orbit = [e, *noise.apply(noise.matrices([1, 2, 3, 4]), e, None)]
    a, ridge = np.array([3.0]), Ridge(alpha=0.5, fit_intercept=False)
    regions = [ua.confidence_region(ridge, X, X @ a + v, noise=noise, m="all") for v in orbit]
    assert [region.m for region in regions] == [5] * 5
    assert sorted(region.rank(a) for region in regions) == [1, 2, 3, 4, 5]


def region_of_turns(**options):
    return ua.confidence_region(Ridge(alpha=0.5), [[1.0], [-0.4]], [0.3, 1.7], m=40, **options)


def test_a_transformation_that_is_the_identity_up_to_rounding_ties():
    region = region_of_turns(noise=Turns(), random_state=0)
    r = np.array([0.8, 0.6])
    images = region.perturbations.apply(r)
    whole_turns = np.isclose(images, r, rtol=0, atol=1e-12).all(axis=1)
    assert whole_turns.any()
    assert (images[whole_turns] != r).any()  # not to the last bit

    class SameTurns(Turns):
        def draw(self, n, size, rng):
            return region.perturbations.drawn

    build = partial(region_of_turns, noise=SameTurns())
    low, high = rank_bounds(build, np.array([0.2, 2.0]))
    assert high - low == whole_turns.sum()


def test_a_noise_that_says_nothing_of_parts_has_no_restriction():
    noise = ExchangeableWithinBlocks(BLOCKS)
    with pytest.raises(ua.NotAvailable, match="what it assumes when rows are left out"):
        noise.restrict(np.ones(6, dtype=bool))
    with pytest.raises(ua.NotAvailable, match="what it assumes when rows are set aside"):
        noise.units(6)
