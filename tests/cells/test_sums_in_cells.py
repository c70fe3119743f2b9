"""v_b and β_b against their definition, for rows, units and the sums of a stream."""

import numpy as np
import pytest
from exact_cells import dot, exact_weights, rational

from unassuming.cells.estimates import Atoms, KeptCells, Sample, fits, labels_of, places_of


def design(n=40, d=4, seed=0):
    rng = np.random.default_rng(seed)
    Phi = np.column_stack([np.ones(n), rng.normal(size=(n, d - 1)) + 3])
    return Phi, rng.normal(size=n)


def in_cells(sample, labels, g):
    """v and β of functionals of the coefficients, in their own units."""
    sums = sample.atoms.sums(sample.places(labels))
    U, size, seen = sample.at.vectors(g)
    v, beta = fits(sums.G, sums.h, U)
    return v / size[:, None] ** 2, sample.at.estimates(g)[:, None] + size[:, None] * beta, seen


@pytest.mark.parametrize("integers", [True, False])
def test_information_and_estimates_are_those_of_the_definition_in_fractions(integers):
    rng = np.random.default_rng(1)
    Phi = np.column_stack([np.ones(12), rng.integers(-3, 4, size=(12, 2))]).astype(float)
    y = rng.integers(-9, 9, size=12).astype(float)
    if not integers:
        Phi[:, 1:] += rng.normal(size=(12, 2))
        y += rng.normal(size=12)
    labels = np.arange(12) % 4
    for c in (np.eye(3)[1], np.eye(3)[0], np.array([1.0, -2.0, 0.5])):
        v, beta, _ = in_cells(Sample.of(Phi, y, intercept=True), labels, c[None])
        expected = exact_weights(Phi, c, labels.tolist())
        known = v[0] > 0
        assert known.sum() == len(expected)
        exact = [float(square) for *_, square in expected]
        # v is the information about cᵀθ; the definition has that about τ for x = Φc/‖c‖².
        np.testing.assert_allclose(v[0, known], np.array(exact), rtol=1e-9)
        for at, (rows, residual, square) in zip(beta[0, known], expected, strict=True):
            slow = dot(residual, rational(y[rows])) / square
            assert at == pytest.approx(float(slow), rel=1e-8, abs=1e-8)


def test_a_dummy_without_ones_in_a_cell_is_not_identified_there_and_slopes_are():
    rng = np.random.default_rng(2)
    dummy = np.zeros(40)
    dummy[:3] = 1
    Phi = np.column_stack([np.ones(40), dummy, rng.normal(size=40)])
    labels = np.repeat(np.arange(4), 10)
    v, _, _ = in_cells(Sample.of(Phi, rng.normal(size=40)), labels, np.eye(3))
    assert (v[1] > 0).tolist() == [True, False, False, False]
    assert (v[[0, 2]] > 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_dependent_columns_share_what_is_not_determined_and_change_nothing_else(weighted):
    rng = np.random.default_rng(3)
    Phi, y = design(60, 3)
    celsius = rng.normal(size=60) * 8 + 15
    both = np.column_stack([Phi, celsius, 32 + 1.8 * celsius])
    w = rng.uniform(0.5, 2, size=60) if weighted else None
    more, less = (
        Sample.of(P, y, w, intercept=True) for P in (both, np.column_stack([Phi, celsius]))
    )
    labels = np.arange(60) % 6
    v, beta, seen = in_cells(more, labels, np.eye(5))
    expected = in_cells(less, labels, np.eye(4))
    assert seen.tolist() == [False, True, True, False, False]
    np.testing.assert_allclose(v[1:3], expected[0][1:3], rtol=1e-9)
    np.testing.assert_allclose(beta[1:3], expected[1][1:3], rtol=1e-9)
    assert np.isnan(more.at.estimates(np.eye(5))[3:]).all()
    sum_of_both = np.array([[0.0, 0.0, 0.0, 1.0, 1.8]])  # of which the rows know
    assert more.at.vectors(sum_of_both)[2].all()


def test_units_say_what_their_rows_say():
    rng = np.random.default_rng(4)
    Phi, y = design(50, 3)
    units = rng.integers(0, 9, size=50)
    units = np.unique(units, return_inverse=True)[1]
    sample = Sample.of(Phi, y, units=units)
    atoms = sample.atoms
    for u in range(len(atoms)):
        rows = units == u
        G, h = sample.Q[rows].T @ sample.Q[rows], sample.Q[rows].T @ sample.e[rows]
        np.testing.assert_allclose(atoms.L[u].T @ atoms.L[u], G, atol=1e-13)
        np.testing.assert_allclose(atoms.L[u].T @ atoms.e[u], h, atol=1e-12)
        assert atoms.rows[u] == rows.sum()
        assert atoms.squares[u] == pytest.approx(sample.e[rows] @ sample.e[rows])
    labels = np.arange(len(atoms)) % 3
    plain = Sample.of(Phi, y)
    found, expected = (
        in_cells(sample, labels[units], np.eye(3)),
        in_cells(plain, labels[units], np.eye(3)),
    )
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-9)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-9, atol=1e-12)
    assert (
        labels_of(sample.places(labels[units]), len(sample.atoms), units).tolist()
        == labels[units].tolist()
    )


def test_residual_weights_are_v_over_the_residual_variance_of_each_cell():
    Phi, y = design(40, 3)
    labels = np.repeat(np.arange(4), [3, 10, 12, 15])  # the first has no degrees of freedom
    sample = Sample.of(Phi, y)
    sums = sample.atoms.sums(sample.places(labels))
    v = np.ones((1, 4))
    found = sums.residual_weights(v)[0]
    rest = [np.linalg.lstsq(Phi[labels == b], y[labels == b])[1].sum() for b in range(1, 4)]
    variance = np.array([sum(rest) / (37 - 9), *np.array(rest) / ([7, 9, 12])])
    np.testing.assert_allclose(found / found[0], variance[0] / variance, rtol=1e-9)
    alone = sample.atoms.sums(sample.places(np.repeat([0, 0], 20)))
    assert alone.residual_weights(np.ones((1, 1))).tolist() == [[1.0]]


def test_residual_weights_do_not_see_the_sign_of_the_noise_of_a_cell():
    Phi, e = design(40, 3)
    labels = np.arange(40) % 4
    weights = []
    for signs in ([1, 1, 1, 1], [1, -1, 1, -1]):
        sample = Sample.of(Phi, Phi @ [1.0, 2.0, 3.0] + np.array(signs)[labels] * e)
        sums = sample.atoms.sums(sample.places(labels))
        weights.append(sums.residual_weights(np.ones((1, 4)))[0])
    np.testing.assert_allclose(weights[0] / weights[0][0], weights[1] / weights[1][0], rtol=1e-9)


def test_cells_of_a_stream_are_the_sums_of_its_rows():
    Phi, y = design(200, 4, seed=5)
    labels = np.arange(200) % 32
    sample = Sample.of(Phi, y, intercept=True)
    kept = KeptCells.of_rows(sample, labels, 32, blocks=False)
    for K in (8, 16):
        merged, plain = kept.sums.merged(K), sample.atoms.sums(places_of(labels % K))
        for found, expected in zip(vars(merged).values(), vars(plain).values(), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-12)


def test_ill_conditioned_cells_get_the_same_answers_through_eigenvalues():
    rng = np.random.default_rng(6)
    Q = np.linalg.qr(rng.normal(size=(60, 3)))[0]
    atoms = Atoms.of(Q, rng.normal(size=60))
    sums = atoms.sums(places_of(np.arange(60) % 4))
    well = fits(sums.G, sums.h, np.eye(3))
    with_zero = fits(
        np.concatenate([sums.G, np.zeros((1, 3, 3))]),
        np.concatenate([sums.h, np.zeros((1, 3))]),
        np.eye(3),
    )
    for found, expected in zip(with_zero, well, strict=True):
        np.testing.assert_allclose(found[:, :4], expected, rtol=1e-9)
        assert (found[:, 4] == 0).all()
