"""Transformations: groups, what they leave unchanged, and what a class declares."""

from math import factorial

import numpy as np
import pytest

from unassuming.noise import (
    BlockSymmetric,
    Exchangeable,
    ExchangeableWithin,
    InBasis,
    Labels,
    Perturbations,
    Quantile,
    Spherical,
    Symmetric,
    SymmetricExchangeable,
    is_group,
    is_spherical,
    sign_units_of,
)

ROTATION = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
EVERY = [
    Symmetric(),
    BlockSymmetric([0, 0, 1, 2, 2, 2]),
    Exchangeable(),
    ExchangeableWithin(4),
    SymmetricExchangeable(),
    Spherical(),
    InBasis(ROTATION, "symmetric"),
    Labels(),
    Quantile(0.3),
]


@pytest.mark.parametrize("noise", EVERY, ids=repr)
def test_pairs_are_parts_of_the_whole(noise):
    rng = np.random.default_rng(1)
    drawn = noise.draw(6, 9, rng)
    r, f = rng.normal(size=(5, 6)), rng.uniform(-1, 1, (5, 6))
    moved, sets = noise.apply(drawn, r, f), np.array([3, 0, 8, 3, 3])
    assert moved.shape == (5, 9, 6)
    np.testing.assert_allclose(noise.paired(drawn, sets, r, f), moved[np.arange(5), sets])
    part = noise.apply(noise.take(drawn, slice(2, 4)), r, f)
    np.testing.assert_allclose(part, moved[:, 2:4])


@pytest.mark.parametrize(
    ("noise", "order"),
    [
        (Symmetric(), 16),
        (BlockSymmetric(["a", "a", "b", "c"]), 8),
        (Exchangeable(), factorial(4)),
        (ExchangeableWithin(3), factorial(3)),
        (SymmetricExchangeable(), 16 * factorial(4)),
    ],
    ids=repr,
)
def test_enumerated_groups_are_closed(noise, order):
    every = Perturbations.enumerate(noise, 4, modulo_sign=False)
    r = np.array([1.0, 2.0, 4.0, 8.0])
    images = np.vstack([r, every.apply(r)])
    assert every.m == order == len(np.unique(images, axis=0))
    again = every.apply(images).reshape(-1, 4)
    assert {tuple(row) for row in again} <= {tuple(row) for row in images}
    half = Perturbations.enumerate(noise, 4, modulo_sign=True)
    signs = not isinstance(noise, (Exchangeable, ExchangeableWithin))
    assert half.m == (order // 2 if signs else order)


def test_permutations_within_blocks_do_not_depend_on_later_rows():
    noise = ExchangeableWithin(5)
    few, many = (noise.draw(n, 7, np.random.default_rng(4)) for n in (10, 23))
    np.testing.assert_array_equal(many[:, :10], few)
    assert (many // 5 == np.arange(23) // 5).all()


def test_a_subclass_with_transformations_of_its_own_declares_nothing_by_inheritance():
    class Own(Symmetric):
        def apply(self, drawn, residuals, fitted):
            return -super().apply(drawn, residuals, fitted)

    assert is_group(Symmetric(), 128)
    assert not is_group(Own(), 128)
    assert not is_group(Symmetric(), 100)
    assert sign_units_of(Symmetric(), 3).tolist() == [0, 1, 2]
    assert sign_units_of(Own(), 3) is None
    assert not Own().rowwise
    assert is_spherical(Spherical())
    assert not is_spherical(Symmetric())
