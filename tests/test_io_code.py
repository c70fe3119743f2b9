"""Estimators and noise that are code are not saved: they are given again, and compared."""

from functools import partial

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

import unassuming as ua
from test_io import N, X, Y, assert_same, build


def dot(x, z):
    return float(x @ z)


class PairSymmetric(ua.noise.BlockSymmetric):
    """A class of the user's own: pairs of rows are flipped together."""

    def __init__(self, n):
        super().__init__(np.arange(n) // 2)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), Ridge(0.5)),
        make_pipeline(RBFSampler(n_components=4), Ridge(0.5)),
        KernelRidge(kernel=dot),
        KernelRidge(kernel=RBF(0.7)),
    ],
    ids=["pipeline", "random features", "function", "kernel object"],
)
def test_code_is_given_again(model, tmp_path):
    region = build(model)
    ua.save(region, tmp_path / "region")
    with pytest.raises(ValueError, match="estimator is needed to load the saved region"):
        ua.load(tmp_path / "region")
    assert_same(ua.load(tmp_path / "region", estimator=model), region)


@pytest.mark.parametrize(
    "other",
    [
        make_pipeline(StandardScaler(with_std=False), Ridge(0.5)),
        make_pipeline(StandardScaler(), Ridge(0.6)),
        make_pipeline(StandardScaler(), Lasso(0.5)),
        make_pipeline(RBFSampler(n_components=4), Ridge(0.5)),
        Ridge(0.5),
    ],
    ids=["features", "penalty", "model", "number of features", "no features"],
)
def test_another_estimator_is_refused(other, tmp_path):
    ua.save(build(make_pipeline(StandardScaler(), Ridge(0.5))), tmp_path / "region")
    with pytest.raises(ValueError, match="estimator is not the one of the saved region"):
        ua.load(tmp_path / "region", estimator=other)


def straight(x, z, scale=1.0):
    return float(scale * x @ z)


def splines(extrapolation):
    return make_pipeline(SplineTransformer(4, extrapolation=extrapolation), Ridge(0.5))


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("saved", "given", "message"),
    [
        (
            splines("linear"),
            splines("constant"),
            "with splinetransformer__extrapolation = 'linear', given.*= 'constant'",
        ),
        (
            make_pipeline(StandardScaler(), Ridge(0.5)),
            make_pipeline(StandardScaler(), "passthrough", Ridge(0.5)),
            r"with steps = \[standardscaler, ridge\], given",
        ),
        (KernelRidge(kernel=RBF(0.7)), KernelRidge(kernel=RBF(0.8)), "kernel__length_scale = 0.7"),
        (KernelRidge(kernel=dot), KernelRidge(kernel=straight), "kernel = dot, given.*= straight"),
        (
            KernelRidge(kernel=partial(straight, scale=2.0)),
            KernelRidge(kernel=partial(straight, scale=3.0)),
            r"kernel = functools.partial\(straight, scale=2.0\), given",
        ),
    ],
    ids=[
        *("parameter of a step", "number of steps", "kernel object", "name of a function"),
        "arguments of a function",
    ],
)
def test_code_of_other_parameters_is_refused(saved, given, message, tmp_path):
    region = build(saved)
    ua.save(region, tmp_path / "region")
    with pytest.raises(ValueError, match=f"estimator is not the one of the saved.*{message}"):
        ua.load(tmp_path / "region", estimator=given)
    assert_same(ua.load(tmp_path / "region", estimator=saved), region)


def nearly_plain(inputs):
    return inputs * (1 + 1e-5)


def plain_up_to_rounding(inputs):
    return inputs * (1 + 1e-13)


nearly_plain.__name__ = plain_up_to_rounding.__name__ = "plain"


def test_a_noise_class_of_the_user_is_given_again(tmp_path):
    region = build(Ridge(0.5), noise=PairSymmetric(N))
    ua.save(region, tmp_path / "region")
    with pytest.raises(ValueError, match="expected an instance of PairSymmetric"):
        ua.load(tmp_path / "region")
    assert_same(ua.load(tmp_path / "region", noise=PairSymmetric(N)), region)


def test_a_tuned_region_remembers_its_tuning(tmp_path):
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}, cv=2)
    region = ua.tuned_region(search, X, Y, random_state=0)
    ua.save(region, tmp_path / "region")
    loaded = ua.load(tmp_path / "region")
    assert str(loaded) == str(region)
    np.testing.assert_array_equal(loaded.tuning.tuning_rows, region.tuning.tuning_rows)
    assert loaded.tuning.best_params == region.tuning.best_params
