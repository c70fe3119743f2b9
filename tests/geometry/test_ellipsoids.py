"""Extents of sets: the same by whitening and with eigenvectors; infinite for cylinders."""

import numpy as np
import pytest

from unassuming._rounding import EPS
from unassuming.geometry.quadratic import Forms, Sets, _sets
from unassuming.geometry.quadratic._sets import SURE, Ellipsoids, FormErrors


def exact(A):
    """Forms without errors."""
    zero = np.zeros(A.shape[:2])
    return FormErrors(zero, zero, np.zeros(len(A)), np.diagonal(A, axis1=1, axis2=2) == 0)


def forms(seed, s=5, k=4, smallest=0.05, empty=()):
    """Ellipsoids with eigenvalues from ``smallest`` to one."""
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(s, k, k)))[0]
    w = np.exp(rng.uniform(np.log(smallest), 0, (s, k)))
    w[:, 0], w[:, 1] = smallest, 1.0
    A = np.einsum("ska,sa,sla->skl", turn, w, turn)
    b = np.einsum("skl,sl->sk", A, rng.normal(size=(s, k)))
    c = rng.uniform(0.1, 2, s)
    return Forms(A, b, c, np.isin(np.arange(s), empty), errors=exact(A))


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


@pytest.mark.slow
def test_extents_are_reached_and_not_exceeded():
    f, g = forms(0, k=3), np.random.default_rng(1).normal(size=(2, 3))
    up, down, _ = f.extents(g)
    for i in range(len(f.A)):
        for j in range(2):
            for value, direction in ((up[j, i], g[j]), (down[j, i], -g[j])):
                best = brute(f, i, direction)
                assert best <= value * (1 + 1e-12)
                assert best == pytest.approx(value, rel=1e-2)


@pytest.mark.parametrize("smallest", [0.5, 1e-3, 1e-5])
def test_whitening_and_eigenvectors_agree(smallest):
    f, g = forms(2, smallest=smallest), np.random.default_rng(3).normal(size=(7, 4))
    *found, sure = f.extents(g)
    assert sure.all()
    for fast, slow in zip(found, f.sets().extents(g), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-12 / smallest)


@pytest.mark.parametrize("smallest", [1e-7, 1e-10])
def test_the_rounding_of_a_nearly_flat_set_widens_it(smallest):
    f = forms(4, smallest=smallest)
    g = np.random.default_rng(5).normal(size=(3, 4))
    *found, sure = f.extents(g)
    assert sure.all()
    for fast, slow in zip(found, f.sets().extents(g), strict=True):
        np.testing.assert_allclose(fast, slow, rtol=100 * EPS / smallest)


@pytest.mark.parametrize("smallest", [1e-13, 1e-30])
def test_eigenvectors_serve_where_a_cylinder_is_too_near(smallest):
    f = forms(4, smallest=smallest)
    g = np.random.default_rng(5).normal(size=(3, 4))
    *found, sure = f.extents(g)
    assert not sure.any()
    for fast, slow in zip(found, f.sets().extents(g), strict=True):
        np.testing.assert_array_equal(fast, slow)
        assert np.isinf(fast).all()


def test_errors_of_the_forms_widen_the_sets():
    f, g = forms(3), np.random.default_rng(5).normal(size=(3, 4))
    rng = np.random.default_rng(6)
    e, b, c = rng.uniform(0, 3e-4, (5, 4)), rng.uniform(0, 1e-6, (5, 4)), rng.uniform(0, 1e-6, 5)
    errors = FormErrors(e, b, c, np.zeros((5, 4), dtype=bool))
    wide = Forms(f.A, f.b, f.c, f.empty, errors=errors).extents(g)
    assert wide[2].all()
    for _ in range(50):
        noise = rng.uniform(-1, 1, (5, 4, 4))
        noise = (noise + np.swapaxes(noise, 1, 2)) / 2
        A = f.A + noise * e[:, :, None] * e[:, None, :]
        other = Forms(
            A, f.b + rng.uniform(-1, 1, b.shape) * b, f.c + rng.uniform(-1, 1, 5) * c, f.empty
        )
        for outer, inner in zip(wide[:2], other.sets().extents(g), strict=True):
            assert (outer >= inner).all()
    too_much = FormErrors(100 * e, b, c, errors.flat)
    assert not Forms(f.A, f.b, f.c, f.empty, errors=too_much).outward(SURE)[1].all()


def test_singular_matrices_do_not_stop_the_others():
    good = forms(6, s=2)
    A = np.concatenate([good.A, np.zeros((1, 4, 4)), np.diag([0.0, 1.0, 1.0, 1.0])[None]])
    b, c = np.concatenate([good.b, np.zeros((2, 4))]), np.concatenate([good.c, [1.0, 1.0]])
    f = Forms(A, b, c, np.zeros(4, dtype=bool), errors=exact(A))
    up, down, _ = f.extents(np.eye(4)[:2])
    np.testing.assert_allclose(up[:, :2], good.extents(np.eye(4)[:2])[0], rtol=1e-12)
    np.testing.assert_array_equal(up[:, 2], np.inf)
    np.testing.assert_allclose(up[:, 3], [np.inf, 1.0], rtol=1e-13)
    np.testing.assert_allclose(down[:, 3], [np.inf, 1.0], rtol=1e-13)


def test_empty_sets_have_no_extent():
    f = forms(7, empty=[1, 3])
    up, down, _ = f.extents(np.eye(4))
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
