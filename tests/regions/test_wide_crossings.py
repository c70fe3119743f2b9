"""Crossings of lines at n = 100, σ = ½, against 77 digits: no overflow and no wrong root."""

import numpy as np
import pytest
from sklearn.svm import SVR

import unassuming as ua
from fixed_point import BITS, WIDE_K, WIDE_N, WIDE_X, WIDE_Y, fixed, perturbed, product, soft

M = 10
VALUES, VECTORS = np.linalg.eigh(WIDE_K)
SMOOTH, WEAK = VECTORS[:, VALUES > 1e-3], VECTORS[:, (VALUES > 1e-8) & (VALUES < 1e-2)]


def member_of(region, penalty, metric, q):
    """Whether origin + t direction is a member, without rounding."""
    K, y, penalty = fixed(WIDE_K), fixed(WIDE_Y), fixed(penalty)

    def member(origin, direction, t):
        a = fixed(origin) + ((fixed(t) * fixed(direction)) >> BITS)
        b, a = (a[0], a[1:]) if len(a) > WIDE_N else (0, a)
        r = y - product(K, a) - b
        images = np.column_stack([r, perturbed(region, r)])
        u = images if metric is WIDE_K else product(K, images)
        g = soft(u, a[:, None], penalty)
        Z = (g * (g if metric is None else product(K, g))).sum(axis=0)
        return 1 + (Z[1:] < Z[0]).sum() <= M - q

    return member


def directions(region, rng, count):
    """In all coefficients, along the face, smooth ones, and ones that fitted values hardly see."""
    d, bias = region.objective.d, region.objective.d - WIDE_N
    for number in range(count):
        kind = number % 4
        v = rng.normal(size=d)
        if kind == 1:
            v *= region.estimate != 0
        elif kind == 2:
            v[bias:] = SMOOTH @ rng.normal(size=SMOOTH.shape[1])
        elif kind == 3:
            v = np.zeros(d)
            v[bias:] = WEAK[:, rng.integers(WEAK.shape[1])]
        # The image of a direction is known to eps / eigenvalue, and so are ends on its line.
        weak = max(1e-9, 1e-13 / np.linalg.norm(WIDE_K @ v[bias:]))
        yield v, weak


def check(region, member, q, rng, count):
    """Every end has a member on its inner side and none on the other."""
    ends = 0
    for number, (d, digits) in enumerate(directions(region, rng, count)):
        away = 0.001 * rng.normal(size=len(d)) * (d != 0) * (number % 3 == 0)
        origin = region.estimate + away
        spans = region.crossings(d, 1 - q / M, origin=origin)
        for low, high in spans[spans[:, 0] < spans[:, 1]]:
            for end, inward in ((low, 1), (high, -1)):
                if np.isfinite(end):
                    step = inward * digits * max(abs(end), 1e-3)
                    assert member(origin, d, end + step)
                    assert not member(origin, d, end - step)
                    ends += 1
    return ends


@pytest.mark.slow
def test_kernel_lasso_crossings_of_a_singular_gram_matrix():
    model = ua.KernelLasso(kernel="rbf", gamma=2.0, alpha=3.0)
    region = ua.confidence_region(model, WIDE_X, WIDE_Y, m=M, random_state=3)
    member = member_of(region, 3.0, None, 2)
    assert check(region, member, 2, np.random.default_rng(0), 8) > 10


@pytest.mark.slow
def test_svr_crossings_of_a_singular_gram_matrix():
    model = SVR(kernel="rbf", gamma=2.0, C=1e3, epsilon=0.5)
    region = ua.confidence_region(model, WIDE_X, WIDE_Y, m=M, random_state=3)
    member = member_of(region, 0.5, WIDE_K, 2)
    assert check(region, member, 2, np.random.default_rng(1), 12) > 14
