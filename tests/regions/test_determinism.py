"""A region is a function of its data and one integer: not of batches, paths or company."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, Lasso, LinearRegression, Ridge
from sklearn.svm import SVR

import unassuming as ua
from speed import slow_but

pytestmark = pytest.mark.slow_but_first
rng = np.random.default_rng(8)
N = 14
X = rng.normal(size=(N, 2))
Y = 1 + X @ [1.0, -0.5] + rng.laplace(size=N)
WEIGHT = rng.uniform(0.5, 2, size=N)
KERNEL = {"kernel": "rbf", "gamma": 0.5}
NOISES = {
    "symmetric": "symmetric",
    "exchangeable": "exchangeable",
    "symmetric-exchangeable": "symmetric-exchangeable",
    "spherical": "spherical",
    "block": ua.noise.BlockSymmetric([0, 0, 1, *range(2, 12), 11]),
}
QUADRATIC = {
    "LinearRegression": (LinearRegression(), None),
    "weighted LinearRegression": (LinearRegression(), WEIGHT),
    "Ridge": (Ridge(alpha=0.5), None),
    "weighted Ridge": (Ridge(alpha=0.5), WEIGHT),
    "KernelRidge": (KernelRidge(alpha=0.5, **KERNEL), None),
    "weighted KernelRidge": (KernelRidge(alpha=0.5, **KERNEL), WEIGHT),
    "KernelRidge, linear": (KernelRidge(alpha=0.5), None),
}
OTHER = {
    "Lasso": (Lasso(alpha=0.1), None),
    "HuberRegressor": (HuberRegressor(), None),
    "KernelLasso": (ua.KernelLasso(alpha=0.1, **KERNEL), None),
    "KernelHuber": (ua.KernelHuber(alpha=0.1, **KERNEL), None),
    "SVR": (SVR(gamma=0.5, epsilon=0.1), None),
}
MODELS = QUADRATIC | OTHER


def build(name, noise="symmetric", random_state=0, **options):
    estimator, weight = MODELS[name]
    return ua.confidence_region(
        estimator,
        X,
        Y,
        noise=NOISES[noise],
        sample_weight=weight,
        random_state=random_state,
        **options,
    )


def candidates(region, count, seed=0):
    """From a thousandth of the noise to far away, all about the estimate."""
    moves = np.random.default_rng(seed).normal(size=(count, region.objective.d))
    return region.estimate + moves * np.geomspace(1e-3, 10, count)[:, None]


def assert_same(one, other):
    assert one.seed == other.seed
    np.testing.assert_array_equal(one.tie_order, other.tie_order)
    r = np.arange(1.0, N + 1)
    np.testing.assert_array_equal(one.perturbations.apply(r), other.perturbations.apply(r))
    a = candidates(one, 50)
    np.testing.assert_array_equal(one.estimate, other.estimate)
    np.testing.assert_array_equal(one.rank(a), other.rank(a))
    np.testing.assert_array_equal(one.statistics(a), other.statistics(a))


# --- the seed ----------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", MODELS)
def test_the_same_seed_builds_the_same_region(name, noise):
    assert_same(build(name, noise, m=20), build(name, noise, m=20))


@pytest.mark.parametrize(
    "source",
    [
        lambda: 7,
        lambda: np.int64(7),
        lambda: np.uint8(7),
        lambda: np.random.default_rng(7),
        lambda: np.random.Generator(np.random.MT19937(7)),
        lambda: np.random.RandomState(7),
    ],
    ids=["int", "int64", "uint8", "Generator", "MT19937", "RandomState"],
)
@pytest.mark.parametrize("name", ["Ridge", "KernelLasso"])
def test_equal_sources_of_randomness_give_equal_regions_that_their_seed_rebuilds(name, source):
    region = build(name, random_state=source())
    assert_same(region, build(name, random_state=source()))
    assert_same(region, build(name, random_state=region.seed))


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_a_generator_moves_on_from_region_to_region(kind):
    source = kind(7)
    seeds = [build("Ridge", random_state=source).seed for _ in range(20)]
    assert len(set(seeds)) == 20
    again = kind(7)
    assert [build("Ridge", random_state=again).seed for _ in range(20)] == seeds


def test_without_a_seed_regions_differ_and_can_be_rebuilt():
    regions = [build("Ridge", random_state=None) for _ in range(5)]
    assert len({region.seed for region in regions}) == 5
    for region in regions:
        assert_same(region, build("Ridge", random_state=region.seed))


def test_the_global_generator_of_numpy_is_neither_read_nor_moved():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one = build("Ridge", random_state=None)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert build("Ridge", random_state=None).seed != one.seed


@pytest.mark.parametrize("noise", NOISES)
def test_what_is_drawn_does_not_depend_on_the_outputs_or_the_model(noise):
    one = build("Ridge", noise, m=100)
    other = ua.confidence_region(
        ua.KernelLasso(**KERNEL), X + 1, Y**3, noise=NOISES[noise], random_state=0, m=100
    )
    r = np.arange(1.0, N + 1)
    np.testing.assert_array_equal(one.perturbations.apply(r), other.perturbations.apply(r))
    np.testing.assert_array_equal(one.tie_order, other.tie_order)


# --- batches and company -----------------------------------------------------------------------


class AllSigns(ua.noise.Symmetric):
    """All sign vectors but the identity: -I is there, which ties for least squares."""

    def draw(self, n, size, rng):
        codes = np.arange(1, 2**n)[:, None] >> np.arange(n)
        return (1 - 2 * (codes & 1)).astype(np.int8)


LINE, SQUARE = np.array([[0.1], [0.7], [-1.3]]), rng.normal(size=(3, 3))
TIE_RICH = {
    "LinearRegression": (LinearRegression(), LINE),
    "Ridge": (Ridge(alpha=0.5), LINE),
    "KernelRidge": (KernelRidge(alpha=0.5, **KERNEL), LINE),
    "KernelRidge, linear": (KernelRidge(alpha=0.5), LINE),
    "saturated": (LinearRegression(fit_intercept=False), SQUARE),
    "constant": (LinearRegression(fit_intercept=False), np.ones((3, 1))),
    "KernelLasso": (ua.KernelLasso(alpha=0.1, **KERNEL), LINE),
    "SVR": (SVR(gamma=0.5), LINE),
}
SMALL = {
    "symmetric": ("symmetric", 40),
    "exchangeable": ("exchangeable", 40),
    "symmetric-exchangeable": ("symmetric-exchangeable", 40),
    "spherical": ("spherical", 40),
    "all signs": (AllSigns(), 8),
}


def tie_rich_region(name, noise):
    """Three rows, so that the identity and its like are drawn often."""
    estimator, inputs = TIE_RICH[name]
    assumption, m = SMALL[noise]
    y = np.array([0.3, -1.1, 2.7])
    return ua.confidence_region(estimator, inputs, y, noise=assumption, m=m, random_state=3)


def tie_rich_candidates(region, count):
    """Random ones, ones with zeros, where subgradients have a choice, and the estimate."""
    draw = np.random.default_rng(2)
    found = draw.normal(size=(count, region.objective.d)) * 2
    found[::3] *= draw.integers(0, 2, size=found[::3].shape)
    found[1] = region.estimate
    return found


@pytest.mark.parametrize("noise", slow_but(SMALL, "symmetric", "all signs"))
@pytest.mark.parametrize("name", TIE_RICH)
def test_tie_rich_ranks_do_not_depend_on_the_company(name, noise):
    region = tie_rich_region(name, noise)
    a = tie_rich_candidates(region, 36)
    together = region.rank(a)
    assert [region.rank(one) for one in a[::3]] == together[::3].tolist()
    many = np.tile(a, (3, 1))
    np.testing.assert_array_equal(region.rank(many), np.tile(together, 3))


@pytest.mark.parametrize("noise", slow_but(NOISES, "symmetric", "spherical"))
@pytest.mark.parametrize("name", MODELS)
def test_ranks_do_not_depend_on_the_company(name, noise):
    region = build(name, noise, m=40)
    a = candidates(region, 70)
    together = region.rank(a)
    assert len(np.unique(together)) > 5
    assert [region.rank(one) for one in a[::5]] == together[::5].tolist()
    np.testing.assert_array_equal(region.rank(a[::-1]), together[::-1])
    parts = [region.rank(a[:1]), region.rank(a[1:32]), region.rank(a[32:64]), region.rank(a[64:])]
    np.testing.assert_array_equal(np.concatenate(parts), together)


# --- the fast path -----------------------------------------------------------------------------


@pytest.mark.parametrize("weighting", ["identity", "gram", np.diag(np.arange(1.0, N + 1))])
def test_another_weighting_gives_the_same_ranks_one_by_one_and_together(weighting):
    region = build("KernelRidge", weighting=weighting)
    a = candidates(region, 100)
    assert len(np.unique(region.rank(a))) > 10
    assert region.rank(a).tolist() == [region.rank(one) for one in a]


# --- memory ------------------------------------------------------------------------------------

PEAK = """
import numpy as np
import unassuming as ua
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR
from peak_memory import peak_memory

X, y, _ = ua.datasets.sine(n=20, random_state=0)
svr, ridge = SVR(gamma=2.0), KernelRidge(kernel="rbf", gamma=2.0, alpha=2.0)
for estimator, count in ((svr, 20_000), (ridge, 500_000)):
    region = ua.confidence_region(estimator, X, y, m=100, random_state=0)
    d = region.objective.d
    a = np.random.default_rng(0).normal(size=(count, d))
    a *= np.random.default_rng(1).uniform(0, 2, size=(count, 1))
    assert region.m == 100
    ranks = region.rank(a)
    assert ranks.shape == (count,) and len(np.unique(ranks)) > 10
    print(peak_memory())
"""


@pytest.mark.slow
def test_memory_is_bounded_in_the_careful_path_and_for_half_a_million_candidates():
    """In a fresh process. The perturbed residuals would take 320 MB, and the comparison several
    such arrays; then the candidates themselves take 80 MB, their residuals would take 8 GB."""
    pytest.importorskip("resource")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", PEAK], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    careful, many = map(int, done.stdout.split())
    assert careful < 0.4e9
    assert many < 0.6e9
