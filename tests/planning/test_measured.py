"""Predicted half-widths are within 15 % of the median measured ones, on five settings."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

RUNS = 5


def sine(n):
    X, _, f = ua.datasets.sine(n=n, random_state=0)
    return X, f


def two_columns(n):
    rng = np.random.default_rng(0)
    X, centres, c = rng.uniform(0, 4, (n, 2)), rng.uniform(0, 4, (6, 2)), 3 * rng.standard_normal(6)

    def f(Z):
        return np.exp(-0.3 * np.square(Z[:, None] - centres).sum(axis=2)) @ c

    return X, f


def in_the_space(n):
    X, _, f = ua.datasets.rkhs(n=n, gamma=0.5, random_state=4)
    return X, f


def laplace(n, rng):
    return rng.laplace(size=n)


def gaussian(n, rng):
    return np.sqrt(2) * rng.standard_normal(n)


def rbf(gamma):
    return KernelRidge(kernel="rbf", gamma=gamma)


# model, inputs and truth, norm bound, noise of variance 2 and its factor, level
SETTINGS = {
    "x sin x": (rbf(0.5), sine(80), 30, laplace, 0.5, 0.9),
    "wide kernel": (rbf(0.1), sine(80), 73, laplace, 0.5, 0.9),
    "level 0.8": (rbf(0.5), in_the_space(60), 25, gaussian, 0.7, 0.8),
    "two columns": (rbf(0.3), two_columns(150), 4.9, gaussian, 0.35, 0.9),
    "splines": (make_pipeline(SplineTransformer(8), Ridge()), sine(160), 40, laplace, 0.5, 0.9),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_predicted_half_widths_are_near_the_measured_ones(name):
    model, (X, f), B, draw, factor, level = SETTINGS[name]
    scale = np.sqrt(2) * factor
    alphas = np.array([30, 300]) * (scale / B) ** 2
    plan = ua.plan(model, X, norm_bound=B, noise_scale=scale, level=level, alphas=alphas)
    asked = {"level": level, "norm_bound": B}
    methods = {
        "joint region": {},
        "balanced cells": {"method": "cells", "noise_scale": scale},
        "cells": {"simultaneous": False, "noise_scale": scale},
    }
    predicted = {
        kind: min(p.half_width for p in plan.predictions if p.method == kind and p.alpha in used)
        for kind, used in zip(methods, ([plan.alpha], [None], [None]), strict=True)
    }
    if predicted["balanced cells"] > 2 * predicted["joint region"]:
        del methods["balanced cells"]  # too few rows for them, and nobody would use them
    measured = {kind: [] for kind in methods}
    for run in range(RUNS):
        y = f(X) + factor * draw(len(X), np.random.default_rng(run))
        region = ua.confidence_region(plan.estimator, X, y, random_state=run)
        for kind, options in methods.items():
            band = region.band(plan.setting.inputs, **asked, **options)
            measured[kind].append(np.median(band.upper - band.lower) / 2)
    for kind, widths in measured.items():
        assert predicted[kind] == pytest.approx(np.median(widths), rel=0.15), kind
