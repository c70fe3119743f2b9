"""Sums over rows, plain or with orthonormal columns, against the rows themselves."""

import numpy as np
import pytest

import unassuming as ua
from unassuming.noise import draw_key
from unassuming.streaming._sums import orthonormal, sums_for

N, K, M = 60, 4, 9
KEY = draw_key(np.random.default_rng(0))
NOISES = {"signs": ua.noise.Symmetric(), "permutations": ua.noise.ExchangeableWithin(10)}
RNG = np.random.default_rng(1)
ROWS = {
    "tame": np.column_stack([np.ones(N), RNG.normal(size=(N, K - 1))]),
    "offset": np.column_stack(
        [np.ones(N), RNG.normal(size=(N, K - 1)) + np.array([1e5, -1e5, 3e5])]
    ),
    "dependent": np.column_stack([np.ones(N), *(RNG.normal(size=N),) * 2, RNG.normal(size=N)]),
    "zero": np.column_stack([np.ones(N), RNG.normal(size=(N, K - 2)), np.zeros(N)]),
}


def whole(Z, noise):
    """ZᵀZ and Zᵀ(G_i - I)Z, written down."""
    moved = noise.apply(noise.draw_rows(KEY, 0, N, M - 1), Z.T, None)  # (k, m - 1, n)
    return Z.T @ Z, np.einsum("ja,bij->iab", Z, moved - Z.T[:, None, :])


def summed(Z, noise, cuts, *, intercept=True):
    sums = sums_for(noise, KEY, M, K, intercept=intercept)
    parts = [sums(Z[a:b], a) for a, b in zip(cuts, [*cuts[1:], N], strict=True)]
    total = parts[0]
    for part in parts[1:]:
        total = sums.join(total, part)
    return total, sums.turned(total), [part.plain for part in parts]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("cuts", [[0], [0, 20], [0, 10, 20, 50]])
@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize("rows", ROWS)
def test_sums_are_those_of_all_rows(rows, name, cuts, intercept):
    Z, noise = ROWS[rows], NOISES[name]
    total, turned, plain = summed(Z, noise, cuts, intercept=intercept)
    assert total.plain == all(plain) == (rows == "tame")
    gram, moved = whole(Z, noise)
    scale = np.sqrt(np.outer(np.diagonal(gram), np.diagonal(gram))) + 1e-300
    R, E = turned.basis, turned.moved
    np.testing.assert_allclose(np.triu(R), R)
    np.testing.assert_allclose((R.T @ R) / scale, gram / scale, atol=1e-13)
    np.testing.assert_allclose((R.T @ E @ R) / scale, moved / scale, atol=1e-13)


def test_a_plain_part_joins_one_that_is_not():
    Z, noise = ROWS["tame"].copy(), NOISES["signs"]
    Z[30:, 3] = 7.0  # constant there, beside the intercept
    _, turned, plain = summed(Z, noise, [0, 30])
    assert plain == [True, False]
    gram, moved = whole(Z, noise)
    R = turned.basis
    np.testing.assert_allclose(R.T @ R, gram, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(R.T @ turned.moved @ R, moved, rtol=1e-11, atol=1e-11)


def test_a_leaf_of_fewer_rows_than_columns():
    Z = RNG.normal(size=(2, 5))
    Q, R = orthonormal(Z)
    np.testing.assert_allclose(Q @ R, Z, atol=1e-15)
    assert not Q[:, 2:].any()
    assert not R[2:].any()


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_what_columns_are_less_their_means_is_known_whatever_these_are(offset):
    Z = np.column_stack([np.ones(N), np.round(RNG.normal(size=(N, K - 1)), 3)])
    far = Z.copy()
    far[:, 1:] += offset
    _, turned, _ = summed(far, NOISES["signs"], [0, 15, 30, 45])
    centred = far[:, 1:] - far[:, 1:].mean(axis=0)
    R = turned.basis[1:, 1:]
    error = 1e-14 + 1e-15 * offset  # that of the means
    np.testing.assert_allclose(R.T @ R, centred.T @ centred, rtol=0, atol=N * error)
