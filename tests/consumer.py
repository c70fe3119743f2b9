"""A small user of the public interface: ``make lint`` checks the types that it is given."""

from __future__ import annotations

from typing import assert_type

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.noise import Noise
from unassuming.ranking import RankTest
from unassuming.regions import Band, Diagnosis, Interval

Floats = NDArray[np.float64]


def ask(X: Floats, y: Floats) -> None:
    region = ua.confidence_region(LinearRegression(), X, y, noise="symmetric", random_state=0)
    assert_type(region, ua.Region)
    assert_type(region.estimate, Floats)
    assert_type(region.names, list[str])
    assert_type(region.test([0.0, 1.0]), RankTest)
    assert_type(region.summary(level=0.95), ua.Summary)
    assert_type(region.diagnose(), Diagnosis)
    assert_type(region.perturbations.noise, Noise)


def bounds(region: ua.Region, new: Floats) -> tuple[Floats, Floats]:
    band: Band = region.band(new, level=0.9, method="joint")
    interval: Interval = region.interval(level=0.9, simultaneous=True, method="joint")
    assert_type(band.lower, Floats)
    return band.lower, interval.upper


def predict(X: Floats, y: Floats) -> ua.Region:
    regressor = ua.ConfidenceRegressor(LinearRegression(), level=0.9).fit(X, y)
    assert_type(regressor, ua.ConfidenceRegressor)
    return regressor.region_


def stream(parts: list[tuple[Floats, Floats]]) -> ua.Region:
    stream = ua.StreamingRegion(LinearRegression(), random_state=0)
    for X, y in parts:
        stream = stream.partial_fit(X, y)
    return stream.region()
