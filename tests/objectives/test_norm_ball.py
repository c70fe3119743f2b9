"""Lines in the ball of a norm bound, in every unit of the outputs."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua
from unassuming.objectives import NormBall

EVERYWHERE = np.array([[-np.inf, np.inf]])


def ends(ball, a, d):
    return ball.confine([EVERYWHERE], a[None, :], d[None, :])[0]


@pytest.mark.parametrize("unit", [2.0**-900, 1e-170, 1.0, 1e155, 2.0**900])
@pytest.mark.parametrize("length", [2.0**-100, 1.0, 2.0**100])
def test_a_line_leaves_the_ball_where_its_norm_is_the_bound(unit, length):
    rng = np.random.default_rng(3)
    root = rng.normal(size=(4, 4))
    a, d, bound = rng.normal(size=4), rng.normal(size=4), 20.0
    ball = NormBall(root.T @ root, bound * unit)
    t = ends(ball, a * unit, d * length)[0] / unit * length
    for x in t:
        assert np.linalg.norm(root @ (a + x * d)) == pytest.approx(bound, rel=1e-12)
    assert t[0] < 0 < t[1]


@pytest.mark.parametrize("unit", [1e-170, 1.0, 1e155])
def test_a_line_along_which_the_norm_is_constant_is_in_the_ball_or_outside(unit):
    P, a, d = np.diag([0.0, 1.0]), np.array([5.0, 2.0]), np.array([1.0, 0.0])
    assert ends(NormBall(P, 3 * unit), a * unit, d).tolist() == EVERYWHERE.tolist()
    assert len(ends(NormBall(P, unit), a * unit, d)) == 0
    assert len(ends(NormBall(P, unit), a * unit, d[::-1])) == 1


def test_samples_in_a_ball_scale_with_the_outputs():
    X, y, _ = ua.datasets.sine(n=12, random_state=0)

    def sample(unit):
        model = KernelRidge(kernel="rbf", gamma=0.5, alpha=2.0)
        region = ua.confidence_region(model, X, y * unit, m=20, random_state=0)
        return region.sample(20, 0.9, norm_bound=20.0 * unit, random_state=1) / unit

    np.testing.assert_allclose(sample(2.0**-570), sample(1.0), rtol=1e-6)
