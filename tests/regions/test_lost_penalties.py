"""Penalties that are lost in the rounding of a kernel matrix: exact ranks, or a refusal."""

import numpy as np
import pytest

import unassuming as ua
from rationals import images, statistics

N, M = 14, 20
pytestmark = pytest.mark.filterwarnings("ignore:The published region of LS-SVC:UserWarning")


def data(n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("C", [1e18, 1.0, 1e14, 1e40])
@pytest.mark.parametrize("noise", [ua.noise.Symmetric(), ua.noise.Exchangeable()], ids=str)
def test_ranks_of_few_rows_are_exact_whatever_the_penalty(noise, C):
    X, labels = data()
    model = ua.LSSVC(kernel="rbf", C=C)
    region = ua.confidence_region(model, X, labels, noise=noise, m=M, random_state=0)
    a = np.zeros(N + 1)
    a[[0, 3]] = 0.1, 0.5
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    Phi, P = np.column_stack([np.ones(N), K]), np.zeros((N + 1, N + 1))
    P[1:, 1:] = K
    Z = statistics(Phi, P, 2.0 * labels - 1, 1 / (2 * C), a, images(region))
    assert region.rank(a) == 1 + sum(z < Z[0] for z in Z[1:])


def test_a_penalty_that_rounding_hides_is_refused_for_labels():
    X, labels = data()
    with pytest.raises(ValueError, match=r"lost in the rounding .* given 5e-19\. Use a smaller C"):
        ua.confidence_region(ua.LSSVC(kernel="rbf", C=1e18), X, labels, m=M)
    assert ua.confidence_region(ua.LSSVC(kernel="rbf", C=1e12), X, labels, m=M).m == M
    # The coefficients of features do not depend on a kernel matrix.
    assert ua.confidence_region(ua.LSSVC(C=1e18), X, labels, m=M).m == M


def test_a_penalty_that_rounding_hides_is_refused_for_many_rows():
    X, labels = data(80)
    with pytest.raises(ValueError, match="lost in the rounding of the kernel matrix"):
        ua.confidence_region(ua.LSSVC(kernel="rbf", C=1e18), X, labels, noise="symmetric", m=M)
