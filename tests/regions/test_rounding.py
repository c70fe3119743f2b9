"""What is equal in exact arithmetic is equal here, although y - f(x) is rounded."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import unassuming as ua

F = np.array([0.1, 0.7, 0.3, 0.9, 0.6, 0.2])  # none of them a sum of few powers of two
X = np.arange(6.0)[:, None] / 3


def truth(inputs):
    return F


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "values"),
    [
        ("exchangeable", [0.0, 0.1]),
        ("symmetric", [-0.1, 0.1]),
        ("symmetric", [-0.1, 0.0, 0.0, 0.1]),
    ],
)
def test_discrete_noise_is_covered_exactly(noise, values):
    runs, m = 150, 10
    rng, model = np.random.default_rng(0), KernelRidge(kernel="rbf", alpha=0.5)
    ranks = []
    for seed in range(runs):
        y = F + rng.choice(values, size=6)
        region = ua.confidence_region(model, X, y, noise=noise, m=m, random_state=seed)
        ranks.append(region.rank(truth))
    for q in (1, 2, 5, 9):
        inside = np.count_nonzero(np.array(ranks) <= m - q)
        low, high = binom.ppf([5e-7, 1 - 5e-7], runs, 1 - q / m)
        assert low <= inside <= high, (q, inside / runs)


def test_a_users_objective_ties_at_its_own_minimum():
    class Mean(ua.objectives.Objective):
        def residuals(self, coefficients):
            return self.y - coefficients

        def gradient(self, coefficients, residuals):
            return residuals.sum(axis=-1, keepdims=True)

    class MeanEstimator:
        pass

    ua.register_objective(MeanEstimator, lambda e, X, y, w: Mean(y, 1))
    y = np.random.default_rng(0).normal(size=4)
    region = ua.confidence_region(MeanEstimator(), X[:4], y, random_state=0)
    Z = region.statistics([y.mean()])
    same = abs(region.perturbations.apply(np.ones(4)).sum(axis=1)) == 4  # G = I or -I
    assert same.any()
    first = region.tie_order[1:] < region.tie_order[0]
    assert region.rank([y.mean()]) == 1 + np.count_nonzero(first & same)
    assert (Z[1:][~same] > 0).all()


def test_what_a_region_holds_cannot_be_changed_by_accident():
    rng = np.random.default_rng(0)
    inputs, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    region = ua.confidence_region(Ridge(), inputs, y, random_state=0)
    before = region.rank(lambda x: x[:, 0])
    inputs[:] = 0.0
    assert region.rank(lambda x: x[:, 0]) == before
    with pytest.raises(ValueError, match="read-only"):
        region.estimate[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        region.tie_order[0] = 1
