"""Transformations that move rows and flip signs."""

import numpy as np
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from unassuming.objectives import Moves

IMAGES = np.array([[1.0, 2, 3], [-1, -2, -3], [1, 3, 2], [-1, -3, -2], [1, 2, -3]])


def test_only_the_identity_and_its_negative_tie_for_every_candidate():
    moves = Moves.of(IMAGES)
    assert moves.always_tied(sign_blind=False).tolist() == [True, False, False, False, False]
    assert moves.always_tied(sign_blind=True).tolist() == [True, True, False, False, False]


def test_known_ties_follow_the_tie_order_without_exact_numbers():
    X, y = np.array([[0.3], [-1.2], [0.9]]), np.array([0.4, 1.7, -0.8])
    for model, tied in ((LinearRegression(fit_intercept=False), 2), (Ridge(1.0), 1)):
        region = ua.confidence_region(model, X, y, m=200, random_state=0)
        signs = region.perturbations.apply(np.ones(3))
        known = np.isin(signs.sum(axis=1), [3.0, -3.0][:tied])
        a = np.full(len(region.estimate), 0.7)
        Z = region.statistics(a)
        close = np.isclose(Z[1:], Z[0], rtol=1e-9)
        assert known.any()
        assert (close | ~known).all()
        before = (Z[1:] < Z[0]) & ~close | close & (region.tie_order[1:] < region.tie_order[0])
        assert region.rank(a) == 1 + before.sum()
