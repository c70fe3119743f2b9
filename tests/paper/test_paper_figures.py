"""The settings are those of the captions of the article."""

import numpy as np
import pytest

import oracles
import unassuming as ua
from unassuming.paper import FIGURES
from unassuming.paper.reproduce import build

EVERY = {
    f"{setting.panel} {setting.name}": setting
    for figure in FIGURES.values()
    for setting in (*figure.settings, *figure.counted)
}
PANELS = {s.panel: s for figure in FIGURES.values() for s in figure.settings}


def sample(setting, seed=0):
    return setting.draw(np.random.default_rng(seed))


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
