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
    Noise,
    Perturbations,
    Quantile,
    Spherical,
    Symmetric,
    SymmetricExchangeable,
    as_noise,
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


@pytest.mark.parametrize("noise", [n for n in EVERY if n.orthogonal], ids=repr)
def test_orthogonal_maps_keep_lengths(noise):
    rng = np.random.default_rng(1)
    r = rng.normal(size=6)
    moved = noise.apply(noise.draw(6, 50, rng), r, r)
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), np.linalg.norm(r))
    assert len(np.unique(moved.round(9), axis=0)) > 3


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


def test_a_group_of_signs_is_closed_and_needs_no_seed():
    leverage = np.random.default_rng(2).uniform(0.1, 0.3, 40)
    group = Perturbations.sign_group(Symmetric(), leverage, 128, modulo_sign=True)
    signs = np.vstack([np.ones(40), group.apply(np.ones(40))])
    assert signs.shape == (128, 40)
    products = (signs[:, None] * signs[None]).reshape(-1, 40)
    assert {tuple(row) for row in products} == {tuple(row) for row in signs}
    shuffled = np.random.default_rng(3).permutation(40)
    other = Perturbations.sign_group(Symmetric(), leverage[shuffled], 128, modulo_sign=True)
    np.testing.assert_array_equal(other.apply(np.ones(40)), signs[1:, shuffled])


def test_few_rows_have_fewer_signs():
    group = Perturbations.sign_group(Symmetric(), np.linspace(0.1, 0.9, 5), 128, modulo_sign=False)
    assert group.m == 32
    half = Perturbations.sign_group(Symmetric(), np.linspace(0.1, 0.9, 5), 128, modulo_sign=True)
    assert half.m == 16


def test_blocks_change_sign_as_a_whole():
    noise = BlockSymmetric([3, 1, 3, 1, 2, 2])
    moved = noise.apply(noise.draw(6, 200, np.random.default_rng(0)), np.ones(6), None)
    assert (moved[:, [0, 1, 4]] == moved[:, [2, 3, 5]]).all()
    assert len(np.unique(moved, axis=0)) == 8
    part = noise.restrict(np.array([True, False, True, True, False, True]))
    assert part.units(4).tolist() == [0, 0, 1, 2]


def test_permutations_within_blocks_do_not_depend_on_later_rows():
    noise = ExchangeableWithin(5)
    few, many = (noise.draw(n, 7, np.random.default_rng(4)) for n in (10, 23))
    np.testing.assert_array_equal(many[:, :10], few)
    assert (many // 5 == np.arange(23) // 5).all()


def test_impossible_labels():
    f = np.array([[0.0, 1.0], [1.0, -1.0], [1.1, 0.0], [1 - 1e-13, 0.0]])
    y = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [-1.0, 1.0]])
    assert Labels().admits(y - f, f).tolist() == [True, False, False, False]


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


def test_a_class_of_ones_own_needs_three_members():
    class Whole(Noise):
        orthogonal = True

        def draw(self, n, size, rng):
            return rng.choice([-1.0, 1.0], size=(size, 1))

        def apply(self, drawn, residuals, fitted):
            return residuals[..., None, :] * drawn

    noise = Whole()
    drawn = noise.draw(3, 4, np.random.default_rng(0))
    r = np.arange(6.0).reshape(2, 3)
    pairs = noise.paired(drawn, np.array([2, 1]), r, r)
    np.testing.assert_array_equal(pairs, r * drawn[[2, 1]])
    with pytest.raises(ValueError, match="no finite group to enumerate"):
        noise.group(3, modulo_sign=False)
    assert as_noise(noise) is noise
    assert isinstance(as_noise("exchangeable"), Exchangeable)
    with pytest.raises(ValueError, match=r"Write Labels\(\): an instance"):
        as_noise(Labels)
