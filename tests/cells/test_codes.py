"""The words: groups of sign vectors, one of each pair {s, -s}."""

from itertools import combinations

import numpy as np
import pytest

from unassuming.cells.theorem import (
    fewest_cells,
    hadamard_words,
    in_use,
    largest_q,
    number_of_words,
    words,
)
from unassuming.noise import powers


def as_integers(s):
    """Each word as the binary number of its minus signs, one of each pair {s, -s}."""
    flipped = (s < 0) ^ (s[:, :1] < 0)
    return flipped @ (1 << np.arange(s.shape[1]))


@pytest.mark.parametrize("K", [1, 2, 5, 8, 16, 25, 29, 32])
def test_words_are_a_group_without_opposites_and_the_identity_is_first(K):
    s = words(K)
    assert s.shape == (number_of_words(K), K)
    assert set(np.unique(s)) <= {-1.0, 1.0}
    assert (s[0] == 1).all()
    numbers = as_integers(s)
    assert len(np.unique(numbers)) == len(s)
    for other in s[np.random.default_rng(0).integers(len(s), size=20)]:
        assert np.array_equal(np.unique(as_integers(s * other)), np.sort(numbers))


def test_the_code_of_32_cells_has_distance_8_and_is_self_dual():
    s = words(32)
    weights = np.minimum((s < 0).sum(axis=1), (s > 0).sum(axis=1))
    assert np.unique(weights).tolist() == [0, 8, 12, 16]
    bits = (s[:64] < 0).astype(int)
    assert not (bits @ (s < 0).astype(int).T % 2).any()


def test_any_seven_of_32_cells_see_all_signs_equally_often():
    s = words(32)
    both = np.concatenate([s, -s]) < 0
    rng = np.random.default_rng(1)
    for _ in range(10):
        seven = rng.choice(32, 7, replace=False)
        assert np.unique(np.bincount(both[:, seven] @ (1 << np.arange(7)))).tolist() == [512]


@pytest.mark.parametrize(("level", "m"), [(0.9, 16), (0.95, 32), (0.96875, 32), (0.99, 128)])
def test_q_is_the_largest_with_the_level(level, m):
    q = largest_q(level, m)
    assert 1 - q / m >= level - 1e-12 > 1 - (q + 1) / m - 1e-12


def test_levels_that_were_attained_are_attained_again():
    for K in (6, 8, 16, 32):
        m = number_of_words(K)
        for q in (1, 2, m // 20, m // 2):
            assert largest_q((m - q) / m, m) == q


def test_fewest_cells():
    assert [fewest_cells(level) for level in (0.5, 0.9, 0.95, 0.99, 0.9999)] == [2, 5, 6, 8, 15]


def test_cells_in_use():
    v = np.ones(32)
    v[[3, 30]] = 0.0, 1e-12  # little is not nothing
    assert in_use(v).tolist() == [i for i in range(32) if i != 3]
    best = in_use(np.append(np.arange(20.0, 0.0, -1), 0))
    assert best.tolist() == list(range(16))


@pytest.mark.parametrize("m", [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048])
def test_powers_visit_every_column(m):
    assert sorted(powers(m, m - 1).tolist()) == list(range(1, m))
    assert powers(m, m)[-1] == 1


def test_hadamard_words_are_balanced_and_a_group():
    s = hadamard_words(16)
    assert (s[1:].sum(axis=1) == 0).all()
    rows = set(map(tuple, s))
    assert all(tuple(a * b) in rows for a, b in combinations(s, 2))
