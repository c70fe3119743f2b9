"""Inner products of moved columns: the fast way of signs against columns that are moved."""

import numpy as np
import pytest

from unassuming.geometry.quadratic import _moved_columns
from unassuming.geometry.quadratic._moved_columns import flips_signs, inner_products
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
    assert flips_signs(Symmetric())
    assert flips_signs(BLOCKS)
    assert not flips_signs(SymmetricExchangeable())
    assert not flips_signs(Spherical())


def test_products_are_those_of_the_matrices(problem):
    perturbations, F, q, h, E = problem
    for other in (q, F, F.copy()):
        gram, seen, against = inner_products(perturbations, F, other, h)
        for i, Ei in enumerate(E):
            EF = Ei @ F
            np.testing.assert_allclose(gram[i], EF.T @ EF, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(seen[i], EF.T @ other, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(against[i], EF.T @ h[i], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("few", [2, 64])
@pytest.mark.parametrize(("block", "rows"), [(1, 1), (8, 4), (25, 5), (10**6, 10**6)])
def test_blocks_change_nothing(monkeypatch, block, rows, few):
    rng = np.random.default_rng(1)
    perturbations = Perturbations.sample(Symmetric(), N, SIZE + 1, rng)
    F, q, h = rng.normal(size=(N, K)), rng.normal(size=(N, WIDTH)), rng.normal(size=(SIZE, N))
    E = perturbations.apply(np.eye(N)) - np.eye(N)[:, None, :]  # (N, SIZE, N)
    EF = np.einsum("ris,rk->ikrs", E, F).sum(axis=3)  # (SIZE, K, N)
    monkeypatch.setattr(_moved_columns, "_BLOCK_BYTES", 8 * block)
    monkeypatch.setattr(_moved_columns, "_BLOCK_ROWS", rows)
    monkeypatch.setattr(_moved_columns, "_FEW_COLUMNS", few)
    gram, seen, _ = inner_products(perturbations, F, q, h)
    np.testing.assert_allclose(gram, EF @ np.swapaxes(EF, 1, 2), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(seen, EF @ q, rtol=1e-12, atol=1e-12)


def test_rows_that_keep_their_sign_contribute_exactly_nothing():
    perturbations = Perturbations.sample(Symmetric(), N, SIZE + 1, np.random.default_rng(2))
    gram = inner_products(perturbations, np.eye(N), np.eye(N), np.zeros((SIZE, N)))[0]
    kept = perturbations.apply(np.ones(N)) == 1
    assert kept.any()
    for i in range(SIZE):
        assert (gram[i][kept[i]] == 0).all()
        np.testing.assert_array_equal(np.diag(gram[i])[~kept[i]], 4.0)
