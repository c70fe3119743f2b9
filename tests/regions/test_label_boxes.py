"""Boxes of candidates: a set that holds any point of a box is counted there."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier

import unassuming as ua


def test_a_member_among_equal_inputs_is_not_cut_off():
    X = np.array([1, 1, 1, -1, 1, 1, 1, 1, 1, 1, -1.0])[:, None]
    region = ua.confidence_region(RidgeClassifier(), X, X[:, 0], m=4, random_state=226)
    member = np.array([-1 / 15, 11 / 12])
    assert region.rank(member) == 1
    assert region.band([[0.05]], 0.25, method="joint").lower[0] <= member @ [1, 0.05]


@pytest.mark.slow
def test_bounds_over_discrete_data_hold_the_members_found_on_the_way():
    tested = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 12))
        X = rng.choice([-1.0, 1.0], size=(n, 1))
        y = np.where(rng.uniform(size=n) < (1.3 + 0.3 * X[:, 0]) / 2, 1, -1)
        if len(set(X[:, 0])) == 1 or len(set(y)) == 1:
            continue
        region = ua.confidence_region(RidgeClassifier(), X, y, m=4, random_state=seed)
        grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 41)] * 2), axis=-1).reshape(-1, 2)
        for level in (0.25, 0.5):
            band = region.band([[-1.0], [1.0]], level, inner=True, method="joint")
            members = grid[region.contains(grid, level)] @ [[1, 1], [-1, 1]]
            assert (members <= band.upper + 1e-12).all()  # sums of the grid round beyond 1
            assert (members >= band.lower - 1e-12).all()
            if band.inner_upper is not None:
                assert (band.inner_upper <= band.upper).all()
                assert (band.inner_lower >= band.lower).all()
                tested += 1
    assert tested > 3


def test_what_no_fitted_value_sees_is_not_bounded_beside_boxes():
    """A column given twice: its two coefficients are free, their sum is not."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, size=(30, 1))
    y = np.where(rng.uniform(size=30) < (1 + 0.7 * x[:, 0]) / 2, 1, -1)
    region = ua.confidence_region(RidgeClassifier(), np.hstack([x, x]), y, random_state=0)
    interval = region.interval(
        [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0]], simultaneous=True, method="joint"
    )
    assert (interval.lower[0], interval.upper[0]) == (-np.inf, np.inf)
    assert np.isfinite([interval.lower[1], interval.upper[1]]).all()
    band = region.band([[0.5, -0.5], [0.5, 0.5]], method="joint")
    assert (band.lower[0], band.upper[0]) == (-1, 1)  # all that is known of E[y|x] there
    assert np.isfinite([band.lower[1], band.upper[1]]).all()
    far = 1e6 * np.array([0.0, 1.0, -1.0])
    near = np.array([0.0, 0.6, 0.0])
    assert region.contains([near, near + far]).all()  # and that is the truth
