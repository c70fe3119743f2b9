"""The settings are those of the captions of the article."""

import numpy as np
import pytest
from scipy import stats

import oracles
import unassuming as ua
from unassuming.paper import FIGURES
from unassuming.paper.figures import mean_label
from unassuming.paper.reproduce import build

EVERY = {
    f"{setting.panel} {setting.name}": setting
    for figure in FIGURES.values()
    for setting in (*figure.settings, *figure.counted)
}
PANELS = {s.panel: s for figure in FIGURES.values() for s in figure.settings}


def sample(setting, seed=0):
    return setting.draw(np.random.default_rng(seed))


def noise_of(setting, rows):
    many = [sample(setting, seed) for seed in range(rows // setting.n)]
    return np.concatenate([one.y - one.truth(one.X) for one in many])


def gaussian(X, sigma):
    return np.exp(-((X - X.T) ** 2) / (2 * sigma**2))


def test_there_are_six_figures_with_the_parts_of_the_article():
    parts = {number: [s.panel for s in figure.settings] for number, figure in FIGURES.items()}
    four = {k: [f"{k}{part}" for part in "abcd"] for k in (4, 5, 6)}
    assert parts == {1: ["1"], 2: ["2a", "2b"], 3: ["3a"]} | four
    assert [number for number, figure in FIGURES.items() if figure.process] == [3]
    assert [PANELS[f"6{part}"].n for part in "abcd"] == [10, 20, 50, 100]
    assert [s.panel for s in EVERY.values() if s.promise != "exact"] == ["1", "4d"]


@pytest.mark.parametrize("name", EVERY)
def test_every_region_has_a_hundred_statistics_and_the_data_that_it_names(name):
    setting = EVERY[name]
    drawn = sample(setting)
    region = build(setting, drawn, 0)
    assert (region.m, region.n) == (100, setting.n)
    labels = setting in FIGURES[1].counted
    assert isinstance(region.noise, ua.noise.Labels if labels else ua.noise.Symmetric)
    if setting.panel != "1":
        np.testing.assert_allclose(drawn.X[:, 0], np.linspace(0, 10, setting.n))
        np.testing.assert_allclose(drawn.truth(drawn.X), drawn.X[:, 0] * np.sin(drawn.X[:, 0]))


@pytest.mark.parametrize("name", [name for name in EVERY if name[0] in "2356"])
def test_the_noise_is_laplace_of_scale_one_half(name):
    noise = noise_of(EVERY[name], 4000)
    assert stats.kstest(noise, stats.laplace(scale=0.5).cdf).pvalue > 1e-6
    assert stats.kstest(noise, stats.laplace(scale=0.8).cdf).pvalue < 1e-6


def test_the_noises_of_figure_4_have_mean_zero_and_variance_one():
    uniform = stats.uniform(-np.sqrt(3), 2 * np.sqrt(3))
    for part, law in zip(
        "abc", (stats.norm(), stats.laplace(scale=0.5**0.5), uniform), strict=True
    ):
        assert stats.kstest(noise_of(PANELS[f"4{part}"], 4000), law.cdf).pvalue > 1e-6
        assert law.var() == pytest.approx(1)
    p = 0.052786
    noise = noise_of(PANELS["4d"], 4000)
    counts = np.rint(noise + 20 * p)
    np.testing.assert_allclose(noise, counts - 20 * p, atol=1e-4)
    assert stats.binomtest(int((counts == 0).sum()), len(counts), (1 - p) ** 20).pvalue > 1e-6


def test_figure_1_has_fifty_points_around_each_centre_and_symmetric_slacks():
    setting = PANELS["1"]
    many = [sample(setting, seed) for seed in range(100)]
    assert all((one.y == 1).sum() == (one.y == -1).sum() == 50 for one in many)
    for label, centre in ((1, (0.0, 0.5)), (-1, (-0.5, 0.0))):
        noise = np.concatenate([(one.X[one.y == label] - centre).ravel() for one in many])
        assert stats.kstest(noise, stats.laplace(scale=0.5).cdf).pvalue > 1e-6
    assert (setting.model.C, setting.model.kernel) == (0.1, "linear")
    slacks = np.concatenate([1 - one.y * (one.X @ one.truth) for one in many])
    assert stats.ks_2samp(slacks, -slacks).pvalue > 1e-6
    assert stats.ks_2samp(slacks + 0.5, -slacks - 0.5).pvalue < 1e-6


def test_the_mean_label_is_that_of_the_coins():
    many = [sample(FIGURES[1].counted[0], seed) for seed in range(100)]
    f = np.concatenate([mean_label(one.X) for one in many])
    y = np.concatenate([one.y for one in many])
    for low, high in ((-1, -0.5), (-0.5, 0), (0, 0.5), (0.5, 1)):
        within = (f > low) & (f <= high)
        p = float((1 + f[within]).mean() / 2)
        plus = int((y[within] > 0).sum())
        assert stats.binomtest(plus, int(within.sum()), p).pvalue > 1e-6


@pytest.mark.parametrize("panel", ["2a", "4a", "4d"])
def test_kernel_ridge_has_lambda_one_tenth_and_sigma_one_half(panel):
    drawn = sample(PANELS[panel])
    region = build(PANELS[panel], drawn, 0)
    assert region.objective.penalty.alpha / 20 == pytest.approx(0.1)
    values = region.objective.fitted(np.eye(20))
    np.testing.assert_allclose(values, gaussian(drawn.X, 0.5), atol=1e-12)


def test_svr_has_the_formula_of_the_article():
    setting = PANELS["2b"]
    drawn = sample(setting)
    region = build(setting, drawn, 3)
    assert setting.model.C * 20 == 250
    K, images = gaussian(drawn.X, 0.5), region.perturbations.apply
    for one in region.estimate + np.random.default_rng(0).normal(size=(10, 20)):
        Z = oracles.epsilon_svr(K, drawn.y, 0.2, one, images)
        assert region.rank(one) == oracles.rank(Z, region.tie_order)
        np.testing.assert_allclose(region.statistics(one), Z, rtol=1e-9)


@pytest.mark.parametrize("panel", ["3a", "5a", "5b", "5c", "5d", "6a", "6c"])
def test_kernel_lasso_has_lambda_one_and_the_formula_of_the_article(panel):
    setting = PANELS[panel]
    drawn = sample(setting)
    region = build(setting, drawn, 3)
    apart = np.abs(drawn.X - drawn.X.T)
    K = {
        "3a": gaussian(drawn.X, 1.0),
        "5b": np.exp(-apart / 0.5),
        "5c": np.maximum(1 - apart**2, 0),
        "5d": np.eye(setting.n),
    }.get(panel, gaussian(drawn.X, 0.5))
    a = region.estimate + np.random.default_rng(0).normal(size=setting.n)
    Z = oracles.kernel_lasso(K, drawn.y, 1.0, a, region.perturbations.apply)
    np.testing.assert_allclose(region.statistics(a), Z, rtol=1e-9)
