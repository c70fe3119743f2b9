"""What is equal in exact arithmetic is equal here, although y - f(x) is rounded."""

import pickle

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

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


def test_constant_noise_ties_everywhere_under_permutations():
    region = ua.confidence_region(
        KernelRidge(kernel="rbf", alpha=0.5), X, F + 0.1, noise="exchangeable", random_state=0
    )
    assert region.rank(truth) == 1 + np.count_nonzero(region.tie_order < region.tie_order[0])


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


@pytest.mark.parametrize(
    "model",
    [
        Ridge(),
        KernelRidge(kernel="rbf"),
        SVR(),
        Lasso(alpha=0.1),
        HuberRegressor(),
        ua.KernelLasso(kernel="rbf"),
        ua.KernelHuber(kernel="rbf"),
        make_pipeline(StandardScaler(), Nystroem(n_components=4), Ridge()),
    ],
    ids=repr,
)
def test_a_region_survives_pickling_and_its_seed_builds_it_again(model):
    rng = np.random.default_rng(0)
    inputs, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    region = ua.confidence_region(model, inputs, y, random_state=None)
    again = ua.confidence_region(model, inputs, y, random_state=region.seed)
    copy = pickle.loads(pickle.dumps(region))
    candidates = region.estimate + 0.1 * rng.normal(size=(50, region.objective.d))
    np.testing.assert_array_equal(copy.rank(candidates), region.rank(candidates))
    np.testing.assert_array_equal(again.rank(candidates), region.rank(candidates))


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


def test_blocks_keep_their_signs_when_others_are_added():
    few, more = ua.noise.BlockSymmetric([1, 1, 2]), ua.noise.BlockSymmetric([1, 1, 2, 0])
    drawn = [noise.draw(n, 50, np.random.default_rng(0)) for noise, n in ((few, 3), (more, 4))]
    np.testing.assert_array_equal(drawn[0], drawn[1][:, :3])


def test_a_huge_group_is_refused_without_being_counted():
    y = np.zeros(20_000)
    with pytest.raises(ValueError, match=r"too large to enumerate.*given 2\^20000"):
        ua.confidence_region(Ridge(), y[:, None], y, m="all")
