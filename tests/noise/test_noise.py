"""The transformations: their laws, their groups, and what they do to residuals."""

from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from scipy.stats import binom, chi2

from unassuming.noise import (
    LARGEST_GROUP,
    NAMED,
    BlockSymmetric,
    Exchangeable,
    ExchangeableWithin,
    Labels,
    Perturbations,
    Quantile,
    Spherical,
    Symmetric,
    SymmetricExchangeable,
    as_noise,
)

TAIL = 5e-7  # on each side: the two-sided band is left once in a million runs
BLOCKS = np.array([0, 0, 1, 2, 1, 2])


def every_noise(n=6):
    return [
        Symmetric(),
        BlockSymmetric(BLOCKS[:n]),
        Exchangeable(),
        ExchangeableWithin(4),
        SymmetricExchangeable(),
        Spherical(),
        Labels(),
    ]


def within_band(successes, trials, p):
    return binom.ppf(TAIL, trials, p) <= successes <= binom.isf(TAIL, trials, p)


def looks_uniform(cells, count):
    """Whether cells 0..count-1 occur equally often, by a two-sided chi-square band."""
    observed = np.bincount(cells, minlength=count)
    expected = len(cells) / count
    statistic = ((observed - expected) ** 2 / expected).sum()
    return chi2.ppf(TAIL, count - 1) <= statistic <= chi2.isf(TAIL, count - 1)


# --- shapes and linearity --------------------------------------------------------------------


@pytest.mark.parametrize("noise", every_noise(), ids=repr)
@pytest.mark.parametrize("leading", [(), (4,), (4, 3)])
def test_apply_adds_one_axis_for_the_transformations(noise, leading):
    rng = np.random.default_rng(0)
    drawn = noise.draw(6, 5, rng)
    r, f = rng.normal(size=(*leading, 6)), rng.uniform(-1, 1, size=(*leading, 6))
    assert noise.apply(drawn, r, f).shape == (*leading, 5, 6)


def explicit(noise, drawn):
    """The drawn transformations as matrices, from what was drawn."""
    n = 6
    if isinstance(noise, Symmetric | BlockSymmetric):
        return [np.diag(signs) for signs in drawn]
    if isinstance(noise, Exchangeable | ExchangeableWithin):
        return [np.eye(n)[order] for order in drawn]
    if isinstance(noise, SymmetricExchangeable):
        return [np.diag(s) @ np.eye(n)[order] for s, order in zip(*drawn, strict=True)]
    return list(drawn)


@pytest.mark.parametrize("noise", every_noise()[:-1], ids=repr)
def test_apply_is_the_product_with_an_orthogonal_matrix(noise):
    rng = np.random.default_rng(2)
    drawn, r = noise.draw(6, 7, rng), rng.normal(size=6)
    for G, image in zip(explicit(noise, drawn), noise.apply(drawn, r, None), strict=True):
        assert image == pytest.approx(G @ r, abs=1e-14)
        assert np.allclose(G.T @ G, np.eye(6), rtol=0, atol=1e-14)
    assert noise.orthogonal


# --- the laws --------------------------------------------------------------------------------


def test_signs_are_plus_or_minus_one_each_vector_equally_likely():
    drawn = Symmetric().draw(3, 40_000, np.random.default_rng(0))
    assert set(np.unique(drawn)) == {-1, 1}
    assert looks_uniform((drawn > 0) @ [1, 2, 4], 8)


def test_blocks_share_a_sign_and_differ_among_themselves():
    drawn = BlockSymmetric(BLOCKS).draw(6, 40_000, np.random.default_rng(0))
    for block in range(3):
        inside = drawn[:, block == BLOCKS]
        assert (inside == inside[:, :1]).all()
    assert looks_uniform((drawn[:, [0, 2, 3]] > 0) @ [1, 2, 4], 8)


def test_permutations_are_permutations_each_equally_likely():
    drawn = Exchangeable().draw(3, 40_000, np.random.default_rng(0))
    assert (np.sort(drawn, axis=1) == np.arange(3)).all()
    cells = {p: k for k, p in enumerate(permutations(range(3)))}
    assert looks_uniform([cells[tuple(row)] for row in drawn.tolist()], 6)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_rotations_of_even_dimension_have_determinant_one(n):
    drawn = Spherical().draw(n, 200, np.random.default_rng(0))
    assert np.linalg.det(drawn) == pytest.approx(np.ones(200), abs=1e-12)


def test_no_direction_is_preferred_in_three_dimensions():
    # Archimedes: a coordinate of a uniform point on the sphere is uniform on [-1, 1].
    drawn = Spherical().draw(3, 4_000, np.random.default_rng(0))
    for j, k in product(range(3), range(3)):
        assert looks_uniform(((drawn[:, j, k] + 1) * 4).astype(int).clip(0, 7), 8)


def test_labels_are_drawn_with_the_probabilities_of_the_candidate():
    noise, f = Labels(), np.array([-1.0, -0.6, 0.0, 0.5, 1.0])
    residuals = noise.apply(noise.draw(5, 4_000, np.random.default_rng(0)), np.zeros(5), f)
    labels = residuals + f
    assert np.isin(labels, [-1.0, 1.0]).all()
    for j in range(5):
        assert within_band((labels[:, j] == 1).sum(), 4_000, (1 + f[j]) / 2)


# --- whole groups ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("noise", "n", "order"),
    [
        (Symmetric(), 13, 2**13),
        (Exchangeable(), 7, factorial(7)),
        (SymmetricExchangeable(), 6, 2**6 * factorial(6)),
        (BlockSymmetric(np.arange(26) // 2), 26, 2**13),
    ],
    ids=repr,
)
def test_large_groups_are_refused_with_their_size(noise, n, order):
    assert order > LARGEST_GROUP
    with pytest.raises(ValueError, match=rf"2 to {LARGEST_GROUP} elements, given {order}\b"):
        noise.group(n, modulo_sign=False)


@pytest.mark.parametrize("noise", [Spherical(), Labels()], ids=repr)
def test_rotations_and_labels_have_no_group_to_enumerate(noise):
    with pytest.raises(ValueError, match=rf"no finite group.*given {type(noise).__name__}\(\)"):
        noise.group(4, modulo_sign=False)


# --- the drawn transformations of one region -------------------------------------------------


@pytest.mark.parametrize("wrong", [np.ones(4), np.ones((5, 4)), 1.0])
def test_perturbations_refuse_vectors_of_another_length(wrong):
    perturbations = Perturbations.sample(Labels(), 5, 20, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"residuals have the wrong length.*n = 5"):
        perturbations.apply(wrong, np.zeros(5))
    with pytest.raises(ValueError, match=r"have the wrong length.*n = 5"):
        perturbations.apply(np.zeros(5), wrong)


# --- names and errors ------------------------------------------------------------------------


def test_names_stand_for_the_assumptions():
    expected = {
        "symmetric": Symmetric,
        "exchangeable": Exchangeable,
        "symmetric-exchangeable": SymmetricExchangeable,
        "spherical": Spherical,
        "labels": Labels,
        "quantile": Quantile,
    }
    assert {name: type(as_noise(name)) for name in NAMED} == expected


@pytest.mark.parametrize("unknown", ["gaussian", "Symmetric", 3, None, Symmetric])
def test_unknown_names_are_refused_with_the_known_ones(unknown):
    with pytest.raises(ValueError, match=r"'symmetric', 'exchangeable'.*BlockSymmetric"):
        as_noise(unknown)


def test_blocks_of_another_length_are_refused_everywhere():
    noise = BlockSymmetric(["a", "b", "b"])
    with pytest.raises(ValueError, match="each of the 4 rows, given 3"):
        noise.draw(4, 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="each of the 4 rows, given 3"):
        noise.group(4, modulo_sign=False)
    with pytest.raises(ValueError, match="each of the 4 rows, given 3"):
        noise.restrict(np.ones(4, dtype=bool))


def test_restriction_keeps_the_blocks_of_the_remaining_rows():
    rows = np.array([True, False, True, True, True, False])
    noise = BlockSymmetric(BLOCKS).restrict(rows)
    assert noise.blocks.tolist() == BLOCKS[rows].tolist()
    drawn = noise.draw(4, 200, np.random.default_rng(0))
    assert (drawn[:, 1] == drawn[:, 3]).all()  # both in block 1
    assert (drawn[:, 1] != drawn[:, 2]).any()
