"""Counting instead of sampling: chosen transformations, and the extremes of a rank with ties."""

from fractions import Fraction

import numpy as np

import unassuming as ua

LAST_SEEDS = {}
"""For each m a seed whose tie order puts the candidate last."""


class Chosen(ua.noise.Noise):
    """Transformations of another assumption, chosen one by one."""

    orthogonal = True

    def __init__(self, noise, drawn):
        self.noise, self.drawn = noise, drawn

    def draw(self, n, size, rng):
        return self.drawn

    def apply(self, drawn, residuals, fitted):
        return self.noise.apply(drawn, residuals, fitted)


class ChosenLabels(ua.noise.Labels):
    """Labels that are drawn by given uniform numbers."""

    def __init__(self, uniforms):
        self.uniforms = np.asarray(uniforms, dtype=float)

    def draw(self, n, size, rng):
        return self.uniforms


class ChosenQuantile(ua.noise.Quantile):
    """Given indicators of residuals below the quantile."""

    def __init__(self, tau, below):
        super().__init__(tau)
        self.below = np.asarray(below, dtype=bool)

    def draw(self, n, size, rng):
        return self.below


def candidate_last(build):
    """The region whose tie order puts the candidate behind all others."""
    region = build(random_state=0)
    m = region.m
    for seed in (LAST_SEEDS.get(m, 0), *range(100 * m)):
        region = build(random_state=seed)
        if region.tie_order[0] == m - 1:
            LAST_SEEDS[m] = seed
            return region
    raise AssertionError("no tie order puts the candidate last")


def rank_bounds(build, a):
    """The rank of a with every tie for the candidate, and with every tie against it.

    ``build`` makes the same region with the options ``ties`` and ``random_state`` it is given.
    """
    return build(ties="conservative").rank(a), candidate_last(build).rank(a)


def chance_inside(bounds, largest_rank):
    """The share of all tie orders for which the rank is at most that large."""
    low, high = bounds
    return Fraction(min(max(largest_rank - low + 1, 0), high - low + 1), high - low + 1)


def assert_exact_on_average(bounds, m, weights=None):
    """Over all data sets, of these weights, every level is attained exactly."""
    weights = [Fraction(1)] * len(bounds) if weights is None else weights
    for q in range(1, m):
        covered = sum(w * chance_inside(b, m - q) for b, w in zip(bounds, weights, strict=True))
        assert covered == Fraction(m - q, m) * sum(weights)
