"""The settings are those of the captions of the article."""

import numpy as np
import pytest
from scipy import stats
from sklearn.kernel_ridge import KernelRidge

import oracles
import unassuming as ua
from unassuming.paper import FIGURES
from unassuming.paper._coverage import build
from unassuming.paper._models import BiasFreeSVR
from unassuming.paper._samples import mean_label

EVERY = {
    f"{setting.panel} {setting.name}": setting
    for figure in FIGURES.values()
    for setting in (*figure.settings, *figure.counted)
}


def sample(setting, seed=0):
    return setting.draw(np.random.default_rng(seed))


def gram_of(setting):
    drawn = sample(setting)
    return build(setting, drawn, 0).objective.design.matrix, drawn.X


def gaussian(X, sigma):
    return np.exp(-((X - X.T) ** 2) / (2 * sigma**2))


def settings(number):
    return FIGURES[number].settings


def test_there_are_six_figures_with_the_parts_of_the_article():
    parts = {number: [s.panel for s in figure.settings] for number, figure in FIGURES.items()}
    assert parts == {
        1: ["1"],
        2: ["2a", "2b"],
        3: ["3a"],
        4: ["4a", "4b", "4c", "4d"],
        5: ["5a", "5b", "5c", "5d"],
        6: ["6a", "6b", "6c", "6d"],
    }
    assert [number for number, figure in FIGURES.items() if figure.process] == [3]


@pytest.mark.parametrize("name", EVERY)
def test_every_region_has_a_hundred_statistics_and_the_sample_size_that_it_names(name):
    setting = EVERY[name]
    drawn = sample(setting)
    region = build(setting, drawn, 0)
    assert region.m == 100
    assert region.n == setting.n == len(drawn.y)
    labels = setting in FIGURES[1].counted
    assert isinstance(region.noise, ua.noise.Labels if labels else ua.noise.Symmetric)


@pytest.mark.parametrize("name", [name for name in EVERY if not name.startswith("1")])
def test_regression_is_x_sin_x_at_equidistant_inputs_from_0_to_10(name):
    drawn = sample(EVERY[name])
    np.testing.assert_allclose(drawn.X[:, 0], np.linspace(0, 10, EVERY[name].n))
    np.testing.assert_allclose(drawn.truth(drawn.X), drawn.X[:, 0] * np.sin(drawn.X[:, 0]))


@pytest.mark.parametrize("name", [name for name in EVERY if name[0] in "2356"])
def test_the_noise_is_laplace_of_scale_one_half(name):
    setting = EVERY[name]
    many = [sample(setting, seed) for seed in range(4000 // setting.n)]
    noise = np.concatenate([one.y - one.truth(one.X) for one in many])
    assert stats.kstest(noise, stats.laplace(scale=0.5).cdf).pvalue > 1e-6
    assert stats.kstest(noise, stats.laplace(scale=0.8).cdf).pvalue < 1e-6


def test_figure_1_has_fifty_points_around_each_centre_and_lambda_one_tenth():
    (setting,) = settings(1)
    drawn = [sample(setting, seed) for seed in range(100)]
    assert all((one.y == 1).sum() == (one.y == -1).sum() == 50 for one in drawn)
    for label, centre in ((1, (0.0, 0.5)), (-1, (-0.5, 0.0))):
        noise = np.concatenate([(one.X[one.y == label] - centre).ravel() for one in drawn])
        assert stats.kstest(noise, stats.laplace(scale=0.5).cdf).pvalue > 1e-6
    assert (setting.model.C, setting.model.kernel) == (0.1, "linear")


def test_the_truth_of_figure_1_has_symmetric_slacks():
    (setting,) = settings(1)
    many = [sample(setting, seed) for seed in range(100)]
    slacks = np.concatenate([1 - one.y * (one.X @ one.truth) for one in many])
    assert stats.ks_2samp(slacks, -slacks).pvalue > 1e-6
    assert stats.ks_2samp(slacks + 0.5, -slacks - 0.5).pvalue < 1e-6


def test_the_mean_label_is_that_of_the_coins():
    (setting,) = FIGURES[1].counted
    many = [sample(setting, seed) for seed in range(100)]
    f = np.concatenate([mean_label(one.X) for one in many])
    y = np.concatenate([one.y for one in many])
    for low, high in ((-1, -0.5), (-0.5, 0), (0, 0.5), (0.5, 1)):
        within = (f > low) & (f <= high)
        plus = int((y[within] > 0).sum())
        p = float((1 + f[within]).mean() / 2)
        assert stats.binomtest(plus, int(within.sum()), p).pvalue > 1e-6


@pytest.mark.parametrize("name", [name for name in EVERY if "KRR" in name])
def test_kernel_ridge_has_lambda_one_tenth_and_sigma_one_half(name):
    setting = EVERY[name]
    K, X = gram_of(setting)
    assert isinstance(setting.model, KernelRidge)
    assert build(setting, sample(setting), 0).objective.lam == pytest.approx(0.1)
    np.testing.assert_allclose(K, gaussian(X, 0.5), atol=1e-12)


def test_svr_has_the_formula_of_the_article():
    setting = settings(2)[1]
    drawn = sample(setting)
    region = build(setting, drawn, 3)
    K = gaussian(drawn.X, 0.5)
    assert isinstance(setting.model, BiasFreeSVR)
    assert setting.model.C * 20 == 250
    a = region.estimate + np.random.default_rng(0).normal(size=(10, 20))
    images = region.perturbations.apply
    for one in a:
        Z = oracles.epsilon_svr(K, drawn.y, 0.2, one, images)
        assert region.rank(one) == oracles.rank(Z, region.tie_order)
        np.testing.assert_allclose(region.statistics(one), Z, rtol=1e-9)


@pytest.mark.parametrize(("name", "sigma"), [("3a", 1.0), ("5a", 0.5), ("6a", 0.5), ("6c", 0.5)])
def test_kernel_lasso_has_lambda_one_and_the_formula_of_the_article(name, sigma):
    (setting,) = (s for s in EVERY.values() if s.panel == name)
    drawn = sample(setting)
    region = build(setting, drawn, 3)
    K = gaussian(drawn.X, sigma)
    a = region.estimate + np.random.default_rng(0).normal(size=setting.n)
    Z = oracles.kernel_lasso(K, drawn.y, 1.0, a, region.perturbations.apply)
    np.testing.assert_allclose(region.statistics(a), Z, rtol=1e-9)


def test_the_kernels_of_figure_5():
    gaussian_, laplacian, parabolic, rectangular = settings(5)
    K, X = gram_of(gaussian_)
    apart = np.abs(X - X.T)
    np.testing.assert_allclose(K, np.exp(-(apart**2) / (2 * 0.5**2)), atol=1e-12)
    np.testing.assert_allclose(gram_of(laplacian)[0], np.exp(-apart / 0.5), atol=1e-12)
    np.testing.assert_allclose(gram_of(parabolic)[0], np.maximum(1 - apart**2, 0), atol=1e-12)
    np.testing.assert_array_equal(gram_of(rectangular)[0], np.eye(20))


def test_the_rectangular_kernel_is_that_of_the_caption_on_inputs_scaled_to_one():
    c = settings(5)[3].model.kernel_params["c"]
    assert c / 10 == pytest.approx(1 / 38)
    _, X = gram_of(settings(5)[3])
    np.testing.assert_array_equal(ua.kernels.rectangular(X, c=1 / 38), np.eye(20))


@pytest.mark.parametrize("part", range(4))
def test_the_noises_of_figure_4_have_mean_zero_and_variance_one(part):
    laws = [
        stats.norm(),
        stats.laplace(scale=np.sqrt(0.5)),
        stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
    ]
    many = [sample(settings(4)[part], seed) for seed in range(200)]
    noise = np.concatenate([one.y - one.truth(one.X) for one in many])
    if part < 3:
        assert stats.kstest(noise, laws[part].cdf).pvalue > 1e-6
        assert laws[part].var() == pytest.approx(1)
        return
    p = 0.052786
    assert 20 * p * (1 - p) == pytest.approx(1, abs=1e-5)
    counts = np.rint(noise + 20 * p)
    np.testing.assert_allclose(noise, counts - 20 * p, atol=1e-4)
    zeros = stats.binomtest(int((counts == 0).sum()), len(counts), (1 - p) ** 20)
    assert zeros.pvalue > 1e-6


def test_sample_sizes_of_figure_6():
    assert [setting.n for setting in settings(6)] == [10, 20, 50, 100]


def test_panels_that_share_a_law_share_the_data():
    same = [*settings(2), *settings(3), *settings(5), settings(6)[1]]
    first = sample(same[0])
    assert all((sample(one).y == first.y).all() for one in same)
