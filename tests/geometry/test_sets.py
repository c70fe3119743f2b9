"""The sets {Z_0 <= Z_i}: their quadratic forms, eigenvectors, free directions and supports."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unassuming._rounding import SEEN
from unassuming.geometry.quadratic import FREE, FormMaker, Sets, _forms
from unassuming.geometry.quadratic._moved_columns import numbers_per_set
from unassuming.geometry.quadratic._sets import SURE, Ellipsoids, FormErrors
from unassuming.noise import (
    Exchangeable,
    Noise,
    Perturbations,
    Spherical,
    Symmetric,
    SymmetricExchangeable,
)

NOISES = [Symmetric(), Exchangeable(), SymmetricExchangeable(), Spherical()]


class Problem:
    """Ridge in coefficients, fitted and whitened by plain linear algebra."""

    def __init__(self, noise, *, n=9, d=3, m=12, alpha=0.7, weights=None, seed=0):
        rng = np.random.default_rng(seed)
        self.n, self.alpha = n, alpha
        self.Phi, self.y = rng.normal(size=(n, d)), rng.standard_cauchy(n)
        self.w = np.ones(n) if weights is None else weights
        self.H = self.Phi.T @ (self.w[:, None] * self.Phi) / n + alpha / n * np.eye(d)
        self.a = np.linalg.solve(self.H, self.Phi.T @ (self.w * self.y) / n)
        self.perturbations = Perturbations.sample(noise, n, m, rng)
        self.tie_wins = rng.random(m - 1) < 0.5
        # Q of the stacked design: its upper part.
        self.F = np.sqrt(self.w)[:, None] * self.Phi
        q = np.linalg.qr(np.vstack([self.F, np.sqrt(alpha) * np.eye(d)]))[0][:n]
        self.maker = FormMaker(
            q=q,
            residual=np.sqrt(self.w) * (self.y - self.Phi @ self.a),
            residual_error=np.full(n, 1e-15),
            perturbations=self.perturbations,
            tie_wins=self.tie_wins,
        )

    def gaps(self, a):
        """Z_i - Z_0 for i = 1..m-1, from the definition."""
        r = self.y - self.Phi @ a
        Z = []
        for transformed in [r, *self.perturbations.apply(r)]:
            s = self.Phi.T @ (self.w * transformed) / self.n - self.alpha / self.n * a
            Z.append(s @ np.linalg.solve(self.H, s))
        return np.array(Z[1:]) - Z[0]

    def forms(self):
        return [forms for _, forms in self.maker.batches(self.F)]


@pytest.mark.parametrize("noise", NOISES, ids=repr)
@pytest.mark.parametrize("alpha", [0.0, 0.7])
def test_forms_are_the_differences_of_the_statistics(noise, alpha):
    problem = Problem(noise, alpha=alpha)
    (forms,) = problem.forms()
    for x in np.random.default_rng(1).normal(size=(5, 3)):
        value = forms.c + 2 * forms.b @ x - np.einsum("skl,k,l->s", forms.A, x, x)
        gaps = problem.n * problem.gaps(problem.a + x)
        np.testing.assert_allclose(value, gaps, rtol=1e-9, atol=1e-9 * np.abs(gaps).max())


def test_forms_with_weights():
    problem = Problem(Symmetric(), weights=np.linspace(0.2, 3, 9))
    (forms,) = problem.forms()
    x = np.array([0.3, -1.0, 0.5])
    value = forms.c + 2 * forms.b @ x - np.einsum("skl,k,l->s", forms.A, x, x)
    np.testing.assert_allclose(value, problem.n * problem.gaps(problem.a + x), rtol=1e-9)


@pytest.mark.parametrize("noise", NOISES, ids=repr)
def test_batches_change_nothing(noise, monkeypatch):
    problem = Problem(noise)
    (whole,) = problem.forms()
    monkeypatch.setattr(_forms, "BATCH_BYTES", 8 * numbers_per_set(noise, 9, 3, 3) * 4)
    slices = [which for which, _ in problem.maker.batches(problem.F)]
    assert [s.stop - s.start for s in slices] == [4, 4, 3]
    parts = problem.forms()
    for name in ("A", "b", "c", "empty"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_allclose(joined, getattr(whole, name), rtol=1e-12, atol=1e-12)


# --- ties -----------------------------------------------------------------------------------------


class Given(Noise):
    """Transformations that a test writes down, as matrices."""

    def __init__(self, *matrices):
        self.matrices = np.array(matrices, dtype=float)

    def draw(self, n, size, rng):
        return self.matrices[:size]

    def apply(self, drawn, residuals, fitted):
        return np.einsum("skl,...l->...sk", drawn, residuals)

    @property
    def orthogonal(self):
        return True


def turn(n, i, j, angle):
    G = np.eye(n)
    G[[i, i, j, j], [i, j, i, j]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
    return G


def tied_problem(alpha, wins):
    """I, -I, one that keeps the range of Φ = first two coordinates, and one that does not."""
    n = 5
    noise = Given(np.eye(n), -np.eye(n), turn(n, 0, 1, 1.0) @ turn(n, 2, 3, 2.0), turn(n, 1, 2, 1))
    Phi = np.eye(n)[:, :2]
    y = np.array([1.0, -2.0, 3.0, 0.5, 1.5])
    q = Phi / np.sqrt(1 + alpha)
    a = Phi.T @ y / (1 + alpha)
    perturbations = Perturbations.sample(noise, n, 5, np.random.default_rng(0))
    maker = FormMaker(q, y - Phi @ a, np.full(len(y), 1e-15), perturbations, np.full(4, wins))
    ((_, forms),) = maker.batches(Phi)
    return forms


def test_identical_ties_are_the_whole_space_or_nothing():
    won, lost = tied_problem(0.0, wins=True), tied_problem(0.0, wins=False)
    np.testing.assert_array_equal(won.empty, [False, False, False, False])
    np.testing.assert_array_equal(lost.empty, [True, True, True, False])
    assert won.sets().free[:3].all()
    assert (won.sets().extents(np.eye(2))[0][:, :3] == np.inf).all()
    assert (lost.sets().extents(np.eye(2))[0][:, :3] == -np.inf).all()
    assert np.isfinite(lost.sets().radius[3])


def test_with_a_penalty_only_the_identity_ties():
    lost = tied_problem(0.8, wins=False)
    np.testing.assert_array_equal(lost.empty, [True, False, False, False])
    assert lost.sets().bounded[1:3].all()


# --- diagonal sets --------------------------------------------------------------------------------


def random_sets(seed, k=4, s=6, flat=0):
    """Sets with ``flat`` free directions each, and the plain forms."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(s, k, k)))[0]
    w = rng.uniform(0.05, 1, (s, k))
    w[:, :flat] = 0.0
    A = np.einsum("ska,sa,sla->skl", basis, w, basis)
    b = np.einsum("skl,sl->sk", A, rng.normal(size=(s, k)))  # in the range of A
    c = rng.uniform(0.1, 2, s)
    return A, b, c, Sets.from_forms(A, b, c, np.zeros(s, dtype=bool))


@given(st.integers(0, 10**6), st.integers(0, 2), st.floats(0.1, 5))
@settings(max_examples=50, deadline=None)
def test_diagonal_form_describes_the_same_set(seed, flat, size):
    A, b, c, sets = random_sets(seed, flat=flat)
    x = size * np.random.default_rng(seed + 1).normal(size=4)
    plain = np.einsum("skl,k,l->s", A, x, x) - 2 * b @ x - c
    turned = np.einsum("ska,k->sa", sets.basis, x)
    centre = sets.b / np.where(sets.free, 1.0, sets.w)
    diagonal = (sets.w * (turned - centre) ** 2).sum(axis=1) - sets.radius
    np.testing.assert_allclose(diagonal, plain, rtol=1e-9, atol=1e-9 * (1 + size**2))


def test_free_directions_are_the_null_space():
    A, _, _, sets = random_sets(3, flat=2)
    assert (sets.free.sum(axis=1) == 2).all()
    assert not sets.bounded.any()
    null = sets.basis[:, :, :2]
    assert np.abs(A @ null).max() < 1e-14
    assert random_sets(3, flat=0)[3].bounded.all()


def test_eigenvalues_below_the_cut_count_as_free():
    A = np.stack([np.diag([0.5 * FREE, 1.0]), np.diag([2 * FREE, 1.0])])
    sets = Sets.from_forms(A, np.zeros((2, 2)), np.ones(2), np.zeros(2, dtype=bool))
    np.testing.assert_array_equal(sets.bounded, [False, True])
    assert sets.extents(np.eye(2)[:1])[0][0, 0] == np.inf
    assert sets.extents(np.eye(2)[:1])[0][0, 1] == pytest.approx((2 * FREE) ** -0.5)


def largest(A, b, c, g):
    """Maximise gᵀx over the set, by a conic solver."""
    values, vectors = np.linalg.eigh(A)
    root = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
    x = cp.Variable(len(b))
    problem = cp.Problem(cp.Maximize(g @ x), [cp.sum_squares(root @ x) - 2 * b @ x <= c])
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("flat", [0, 1])
@pytest.mark.parametrize("seed", range(3))
def test_supports_are_the_largest_values(seed, flat):
    A, b, c, sets = random_sets(seed, flat=flat, s=3)
    g = np.random.default_rng(seed + 50).normal(size=(2, 4))
    for i in range(3):
        seen = g - (g @ sets.basis[i, :, :flat]) @ sets.basis[i, :, :flat].T
        value = sets.extents(seen)[0][:, i]
        expected = [largest(A[i], b[i], c[i], row) for row in seen]
        np.testing.assert_allclose(value, expected, rtol=1e-6)
        if flat:
            assert (sets.extents(g)[0][:, i] == np.inf).all()


def test_a_functional_sees_a_free_direction_beyond_the_tolerance_only():
    _, _, _, sets = random_sets(1, flat=1, s=1)
    along, free = sets.basis[0, :, 1], sets.basis[0, :, 0]
    for length in (1e-6, 1.0, 1e6):  # relative to the length of the functional
        assert np.isfinite(sets.extents(length * (along + 0.1 * SEEN * free)[None, :])[0]).all()
        assert (sets.extents(length * (along + 10 * SEEN * free)[None, :])[0] == np.inf).all()


def test_empty_sets_support_nothing():
    A, b, c, _ = random_sets(2, flat=1, s=2)
    sets = Sets.from_forms(A, b, c, np.array([True, False]))
    np.testing.assert_array_equal(sets.extents(np.ones((1, 4)))[0], [[-np.inf, np.inf]])
    np.testing.assert_array_equal(sets.bounded, [True, False])


@pytest.mark.parametrize("k", [2, 7, 12])
def test_forms_are_rounded_outward_up_to_large_errors(k):
    """Any form within the errors has its set inside: SURE decides only what counts as undecided."""
    rng, tested = np.random.default_rng(k), 0
    for share in (1e-9, 1e-7, 1e-6, 1e-5):
        A = np.eye(k) + 0.3 * rng.normal(size=(k, k))
        A, b, c = A @ A.T, rng.normal(size=k), 2.0
        e = np.sqrt(share * np.diag(A))
        errors = FormErrors(e[None], 0 * e[None], np.zeros(1), np.zeros((1, k), dtype=bool))
        found, omega = Ellipsoids.outward(A[None], b[None], np.array([c]), errors)
        if omega[0] > SURE:  # such a form is not accepted
            continue
        tested += 1
        g = rng.normal(size=(20, k))
        up, down = found.extents(g)
        v = np.linalg.eigh(A)[1][:, 0]  # the worst errors point along the least eigenvector
        for sign in (-np.sign(np.outer(v, v)), np.sign(rng.normal(size=(k, k)))):
            moved = A + np.triu(sign) * np.outer(e, e) + np.triu(sign, 1).T * np.outer(e, e)
            centre = np.linalg.solve(moved, b)
            size = np.einsum("nk,kn->n", g, np.linalg.solve(moved, g.T))
            half = np.sqrt((c + b @ centre) * size)
            assert (g @ centre + half <= up[:, 0] * (1 + 1e-12)).all()
            assert (half - g @ centre <= down[:, 0] * (1 + 1e-12)).all()
    assert tested
