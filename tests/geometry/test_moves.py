"""Inner products of moved columns: the fast way of signs against columns that are moved."""

import numpy as np
import pytest

from unassuming.geometry.quadratic import _moved_columns
from unassuming.geometry.quadratic._moved_columns import AnyMoves, SignMoves, moves_of
from unassuming.noise import (
    BlockSymmetric,
    Exchangeable,
    Perturbations,
    Spherical,
    Symmetric,
    SymmetricExchangeable,
)

N, K, WIDTH, SIZE = 11, 4, 3, 6
BLOCKS = BlockSymmetric(np.arange(N) // 2)
NOISES = [Symmetric(), BLOCKS, Exchangeable(), SymmetricExchangeable(), Spherical()]


@pytest.fixture(params=NOISES, ids=repr)
def problem(request):
    rng = np.random.default_rng(0)
    perturbations = Perturbations.sample(request.param, N, SIZE + 1, rng)
    F, q, h = rng.normal(size=(N, K)), rng.normal(size=(N, WIDTH)), rng.normal(size=(SIZE, N))
    # G_i F, column by column, from what is drawn
    E = [G - np.eye(N) for G in np.moveaxis(perturbations.apply(np.eye(N)), 0, -1)]
    return perturbations, F, q, h, E


def test_signs_have_a_fast_way_of_their_own():
    assert moves_of(Symmetric()) is moves_of(BLOCKS) is SignMoves
    assert moves_of(SymmetricExchangeable()) is moves_of(Spherical()) is AnyMoves


def test_products_are_those_of_the_matrices(problem):
    perturbations, F, q, h, E = problem
    moved = moves_of(perturbations.noise)(perturbations, F)
    for i, Ei in enumerate(E):
        EF = Ei @ F
        np.testing.assert_allclose(moved.gram()[i], EF.T @ EF, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(moved.seen_by(q)[i], EF.T @ q, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(moved.seen_by(F)[i], EF.T @ F, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(moved.against(h)[i], EF.T @ h[i], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("block", "rows"), [(1, 1), (8, 4), (25, 5), (10**6, 10**6)])
def test_blocks_change_nothing(monkeypatch, block, rows):
    rng = np.random.default_rng(1)
    perturbations = Perturbations.sample(Symmetric(), N, SIZE + 1, rng)
    F, q = rng.normal(size=(N, K)), rng.normal(size=(N, WIDTH))
    plain = AnyMoves(perturbations, F)
    monkeypatch.setattr(_moved_columns, "_BLOCK_BYTES", 8 * block)
    monkeypatch.setattr(_moved_columns, "_BLOCK_ROWS", rows)
    fast = SignMoves(perturbations, F)
    np.testing.assert_allclose(fast.gram(), plain.gram(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(fast.seen_by(q), plain.seen_by(q), rtol=1e-12, atol=1e-12)


def test_rows_that_keep_their_sign_contribute_exactly_nothing():
    perturbations = Perturbations.sample(Symmetric(), N, SIZE + 1, np.random.default_rng(2))
    moved = SignMoves(perturbations, np.eye(N))
    kept = perturbations.apply(np.ones(N)) == 1
    assert kept.any()
    for i in range(SIZE):
        assert (moved.gram()[i][kept[i]] == 0).all()
        np.testing.assert_array_equal(np.diag(moved.gram()[i])[~kept[i]], 4.0)
