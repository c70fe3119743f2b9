"""Extents of sets: the same by whitening and with eigenvectors; infinite for cylinders."""

import numpy as np
import pytest

from unassuming.geometry.quadratic import FREE, Forms, Sets, _sets
from unassuming.geometry.quadratic._sets import Ellipsoids, whitening


def forms(seed, s=5, k=4, smallest=0.05, empty=()):
    """Ellipsoids with eigenvalues from ``smallest`` to one."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(s, k, k)))[0]
    w = np.exp(rng.uniform(np.log(smallest), 0, (s, k)))
    w[:, 0] = smallest
    A = np.einsum("ska,sa,sla->skl", turn, w, turn)
    b = np.einsum("skl,sl->sk", A, rng.normal(size=(s, k)))
    return Forms(A, b, rng.uniform(0.1, 2, s), np.isin(np.arange(s), empty))


def brute(f, i, g, count=200_000):
    """The largest gᵀx over many boundary points of one ellipsoid."""
    u = np.random.default_rng(9).normal(size=(count, len(g)))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    centre = np.linalg.solve(f.A[i], f.b[i])
    half = np.linalg.inv(np.linalg.cholesky(f.A[i])).T
    points = centre + np.sqrt(f.c[i] + f.b[i] @ centre) * u @ half.T
    inside = np.einsum("nk,kl,nl->n", points, f.A[i], points) - 2 * points @ f.b[i]
    np.testing.assert_allclose(inside, f.c[i], rtol=1e-8)
    return (points @ g).max()


def test_extents_are_reached_and_not_exceeded():
    f, g = forms(0, k=3), np.random.default_rng(1).normal(size=(2, 3))
    up, down = f.extents(g)
    for i in range(len(f.A)):
        for j in range(2):
            for value, direction in ((up[j, i], g[j]), (down[j, i], -g[j])):
                best = brute(f, i, direction)
                assert best <= value * (1 + 1e-12)
                assert best == pytest.approx(value, rel=1e-2)


@pytest.mark.parametrize("smallest", [0.5, 1e-3, 1e-5])
def test_whitening_and_eigenvectors_agree(smallest):
    f, g = forms(2, smallest=smallest), np.random.default_rng(3).normal(size=(7, 4))
    assert whitening(f.A)[1].all()
    for fast, slow in zip(f.extents(g), f.sets().extents(g), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-16 / smallest * 100)


@pytest.mark.parametrize("smallest", [1e-7, 2 * FREE, 0.5 * FREE, 0.0])
def test_no_whitening_where_cylinders_are_near(smallest):
    f = forms(4, smallest=smallest or 1e-30)
    assert not whitening(f.A)[1].any()
    g = np.random.default_rng(5).normal(size=(3, 4))
    for fast, slow in zip(f.extents(g), f.sets().extents(g), strict=True):
        np.testing.assert_array_equal(fast, slow)
        assert np.isfinite(fast).all() == (smallest > FREE)


def test_singular_matrices_do_not_stop_the_others():
    good = forms(6, s=2)
    A = np.concatenate([good.A, np.zeros((1, 4, 4)), np.diag([0.0, 1.0, 1.0, 1.0])[None]])
    b, c = np.concatenate([good.b, np.zeros((2, 4))]), np.concatenate([good.c, [1.0, 1.0]])
    f = Forms(A, b, c, np.zeros(4, dtype=bool))
    up, down = f.extents(np.eye(4)[:2])
    np.testing.assert_allclose(up[:, :2], good.extents(np.eye(4)[:2])[0], rtol=1e-12)
    np.testing.assert_array_equal(up[:, 2], np.inf)
    np.testing.assert_array_equal(up[:, 3], [np.inf, 1.0])
    np.testing.assert_array_equal(down[:, 3], [np.inf, 1.0])


def test_empty_sets_have_no_extent():
    f = forms(7, empty=[1, 3])
    up, down = f.extents(np.eye(4))
    np.testing.assert_array_equal(np.isneginf(up), np.tile(f.empty, (4, 1)))
    np.testing.assert_array_equal(np.isneginf(down), np.tile(f.empty, (4, 1)))


@pytest.mark.parametrize("block", [1, 30, 10**6])
def test_blocks_of_functionals_change_nothing(monkeypatch, block):
    f, g = forms(8), np.random.default_rng(8).normal(size=(13, 4))
    expected = f.extents(g)
    monkeypatch.setattr(_sets, "_BLOCK_BYTES", 8 * block)
    for one, two in zip(f.extents(g), expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13)


def test_a_flat_ellipsoid_is_a_segment():
    one = Ellipsoids(np.array([[1.0, 2.0]]), np.array([[[0.0, 3.0], [0.0, 0.0]]]))
    up, down = one.extents(np.eye(2))
    np.testing.assert_array_equal(up, [[4.0], [2.0]])
    np.testing.assert_array_equal(down, [[2.0], [-2.0]])


def test_a_single_point_has_no_width():
    sets = Sets.from_forms(
        np.eye(2)[None], np.array([[1.0, 2.0]]), np.array([-5.0]), np.array([False])
    )
    up, down = sets.extents(np.eye(2))
    np.testing.assert_allclose(up, -down, atol=1e-7)
