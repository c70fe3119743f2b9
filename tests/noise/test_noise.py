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


def matrices(noise, drawn, n):
    """The transformations as matrices: the images of the unit vectors are the columns."""
    return np.moveaxis(noise.apply(drawn, np.eye(n), None), 0, 2)


# --- shapes and linearity --------------------------------------------------------------------


@pytest.mark.parametrize("noise", every_noise(), ids=repr)
@pytest.mark.parametrize("leading", [(), (4,), (4, 3)])
def test_apply_adds_one_axis_for_the_transformations(noise, leading):
    rng = np.random.default_rng(0)
    drawn = noise.draw(6, 5, rng)
    r, f = rng.normal(size=(*leading, 6)), rng.uniform(-1, 1, size=(*leading, 6))
    assert noise.apply(drawn, r, f).shape == (*leading, 5, 6)


@pytest.mark.parametrize("noise", every_noise(), ids=repr)
def test_apply_treats_every_residual_vector_alike(noise):
    rng = np.random.default_rng(1)
    drawn = noise.draw(6, 5, rng)
    r, f = rng.normal(size=(4, 3, 6)), rng.uniform(-1, 1, size=(4, 3, 6))
    together = noise.apply(drawn, r, f)
    for k, j in product(range(4), range(3)):
        assert together[k, j] == pytest.approx(noise.apply(drawn, r[k, j], f[k, j]), abs=1e-14)


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


def test_signs_multiply_the_residuals():
    noise, r = Symmetric(), np.array([1.0, 2.0, 4.0])
    drawn = noise.draw(3, 20, np.random.default_rng(0))
    expected = [[s[0] * 1.0, s[1] * 2.0, s[2] * 4.0] for s in drawn]
    assert noise.apply(drawn, r, None).tolist() == expected


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


def test_signed_permutations_are_each_equally_likely():
    noise = SymmetricExchangeable()
    images = noise.apply(
        noise.draw(2, 40_000, np.random.default_rng(0)), np.array([1.0, 2.0]), None
    )
    cells = {}
    for s, t in product([1, -1], repeat=2):
        cells[s, 2 * t] = len(cells)
        cells[2 * s, t] = len(cells)
    assert looks_uniform([cells[tuple(row)] for row in images.tolist()], 8)


@pytest.mark.parametrize("n", [2, 4, 6])
def test_rotations_of_even_dimension_have_determinant_one(n):
    drawn = Spherical().draw(n, 200, np.random.default_rng(0))
    assert np.linalg.det(drawn) == pytest.approx(np.ones(200), abs=1e-12)


@pytest.mark.parametrize("n", [3, 5])
def test_rotations_of_odd_dimension_include_reflections_half_of_the_time(n):
    determinants = np.linalg.det(Spherical().draw(n, 2_000, np.random.default_rng(0)))
    assert np.abs(determinants) == pytest.approx(np.ones(2_000), abs=1e-12)
    assert within_band((determinants > 0).sum(), 2_000, 0.5)


def test_no_direction_is_preferred_in_three_dimensions():
    # Archimedes: a coordinate of a uniform point on the sphere is uniform on [-1, 1].
    drawn = Spherical().draw(3, 4_000, np.random.default_rng(0))
    for j, k in product(range(3), range(3)):
        assert looks_uniform(((drawn[:, j, k] + 1) * 4).astype(int).clip(0, 7), 8)


def test_turning_a_rotation_further_leaves_the_law_alone():
    # Invariance, which is what exactness uses: e has the law of G e for e = G' e_1.
    drawn = Spherical().draw(4, 4_000, np.random.default_rng(1))
    composed = drawn[0] @ drawn[1:]
    assert within_band((composed[:, 2, 1] > 0).sum(), 3_999, 0.5)
    assert within_band((np.abs(composed[:, 2, 1]) < np.abs(composed[:, 1, 1])).sum(), 3_999, 0.5)


def test_labels_are_drawn_with_the_probabilities_of_the_candidate():
    noise, f = Labels(), np.array([-1.0, -0.6, 0.0, 0.5, 1.0])
    residuals = noise.apply(noise.draw(5, 4_000, np.random.default_rng(0)), np.zeros(5), f)
    labels = residuals + f
    assert np.isin(labels, [-1.0, 1.0]).all()
    for j in range(5):
        assert within_band((labels[:, j] == 1).sum(), 4_000, (1 + f[j]) / 2)


def test_labels_of_different_rows_are_independent():
    noise, f = Labels(), np.zeros(3)
    labels = noise.apply(noise.draw(3, 40_000, np.random.default_rng(0)), np.zeros(3), f)
    assert looks_uniform((labels > 0) @ [1, 2, 4], 8)


def test_fresh_labels_ignore_the_observed_ones_and_are_no_linear_map():
    noise, f = Labels(), np.array([0.1, -0.3, 0.5])
    drawn = noise.draw(3, 50, np.random.default_rng(0))
    first, second = (noise.apply(drawn, r, f) for r in (np.zeros(3), np.ones(3)))
    assert (first == second).all()
    assert not noise.orthogonal


def test_labels_need_the_candidate():
    noise = Labels()
    with pytest.raises(ValueError, match="fitted"):
        noise.apply(noise.draw(3, 2, np.random.default_rng(0)), np.zeros(3), None)


def test_labels_admit_values_between_minus_one_and_one():
    values = np.array([[0.0, 1.0], [-1.0, 1.0], [0.0, 1.0 + 1e-9], [-2.0, 0.0]])
    r = np.array([-1.0, 1.0]) - values
    assert Labels().admits(r, values).tolist() == [True, True, False, False]
    assert Symmetric().admits(r, values).tolist() == [True] * 4


# --- whole groups ----------------------------------------------------------------------------

GROUPS = [
    (Symmetric(), 4, 2**4),
    (BlockSymmetric(BLOCKS), 6, 2**3),
    (Exchangeable(), 4, factorial(4)),
    (ExchangeableWithin(3), 5, factorial(3) * factorial(2)),
    (SymmetricExchangeable(), 3, 2**3 * factorial(3)),
]


def as_tuples(G):
    return {tuple(map(tuple, matrix.astype(int).tolist())) for matrix in G}


def whole_group(noise, n, *, modulo_sign=False):
    """The enumerated elements with the identity put back, as matrices."""
    drawn, order = noise.group(n, modulo_sign=modulo_sign)
    others = matrices(noise, drawn, n)
    assert len(others) == order - 1
    return np.concatenate([np.eye(n)[None], others])


@pytest.mark.parametrize(("noise", "n", "order"), GROUPS, ids=repr)
def test_group_is_closed_under_composition(noise, n, order):
    G = whole_group(noise, n)
    products = (G[:, None] @ G[None]).reshape(-1, n, n)
    assert as_tuples(products) == as_tuples(G)


@pytest.mark.parametrize(("noise", "n", "order"), GROUPS, ids=repr)
def test_modulo_sign_keeps_exactly_one_of_each_pair(noise, n, order):
    everything = as_tuples(whole_group(noise, n))
    kept = whole_group(noise, n, modulo_sign=True)
    if as_tuples(-np.eye(n)[None]) <= everything:
        assert len(kept) == order // 2
        assert not as_tuples(kept) & as_tuples(-kept)
        assert as_tuples(kept) | as_tuples(-kept) == everything
    else:
        assert as_tuples(kept) == everything


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


def test_one_block_has_two_elements_of_which_one_is_left_modulo_sign():
    noise = BlockSymmetric([0, 0, 0])
    assert noise.group(3, modulo_sign=False)[1] == 2
    # The only other element is -I, which would always tie: nothing is left to compare with.
    with pytest.raises(ValueError, match="wrong size"):
        noise.group(3, modulo_sign=True)


# --- the drawn transformations of one region -------------------------------------------------


def test_perturbations_hold_one_transformation_less_than_m():
    perturbations = Perturbations.sample(Symmetric(), 5, 20, np.random.default_rng(0))
    assert perturbations.apply(np.ones(5)).shape == (19, 5)
    assert perturbations.apply(np.ones((3, 5))).shape == (3, 19, 5)
    assert Perturbations.enumerate(Symmetric(), 5, modulo_sign=True).m == 16


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


def test_an_instance_is_taken_as_it_is():
    noise = BlockSymmetric(BLOCKS)
    assert as_noise(noise) is noise


@pytest.mark.parametrize("unknown", ["gaussian", "Symmetric", 3, None, Symmetric])
def test_unknown_names_are_refused_with_the_known_ones(unknown):
    with pytest.raises(ValueError, match=r"'symmetric', 'exchangeable'.*BlockSymmetric"):
        as_noise(unknown)


@pytest.mark.parametrize("blocks", [[[0, 1], [1, 0]], 3])
def test_blocks_must_be_one_label_for_each_row(blocks):
    with pytest.raises(ValueError, match="blocks must be one label"):
        BlockSymmetric(blocks)


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


def test_restriction_of_a_subclass_of_blocks_keeps_its_class_and_its_attributes():
    class Pairs(BlockSymmetric):
        def __init__(self, n, note):
            super().__init__(np.arange(n) // 2)
            self.note = note

    noise = Pairs(6, "note").restrict(np.array([False, True, True, True, False, False]))
    assert (type(noise), noise.note, noise.blocks.tolist()) == (Pairs, "note", [0, 1, 1])
    drawn = noise.draw(3, 100, np.random.default_rng(0))
    assert (drawn[:, 1] == drawn[:, 2]).all()
    assert (drawn[:, 0] != drawn[:, 1]).any()
