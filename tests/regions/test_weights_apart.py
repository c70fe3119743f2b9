"""Weights that differ by many orders of magnitude: what is said to help helps."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

import unassuming as ua
from unassuming.geometry.quadratic import widest_spread

N = 30
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, 2.0] + RNG.normal(size=N)
APART = RNG.permutation(10.0 ** np.linspace(-150, 60, N))
CALLS = {
    "interval": lambda region: region.interval(),
    "norm bound": lambda region: region.interval(norm_bound=10.0),
    "band": lambda region: region.band(X[:2]),
    "summary": lambda region: region.summary(),
    "ellipsoid": lambda region: region.ellipsoid(),
}


def region_of(w, **options):
    return ua.confidence_region(
        LinearRegression(), X, Y, sample_weight=w, random_state=0, **options
    )


def finite(found):
    ends = found.squared_radius if hasattr(found, "squared_radius") else found.upper - found.lower
    return bool(np.isfinite(ends).all())


@pytest.mark.parametrize("name", CALLS)
def test_weights_are_named_and_the_remedy_helps(name):
    found = CALLS[name](region_of(APART))
    assert not finite(found)
    assert "210 orders of magnitude" in found.explanation.text()
    assert "x0 spans" not in found.explanation.text()
    remedy = found.explanation.remedies[0].python
    assert remedy.endswith("sample_weight=np.maximum(w, 1e-12 * w.max())")
    assert "rows like these would be enough" not in found.explanation.text()
    assert "fewer features" not in found.explanation.text()
    like = eval(remedy.rsplit("=", 1)[1], {"np": np, "w": APART})  # the remedy as it is given
    assert finite(CALLS[name](region_of(like)))


def test_a_column_whose_numbers_differ_more_is_named_instead():
    inputs = X.copy()
    inputs[:, 0] *= RNG.permutation(10.0 ** np.linspace(-120, 120, N))
    region = ua.confidence_region(LinearRegression(), inputs, Y, sample_weight=APART)
    found = widest_spread(region.shape.objective)
    assert found.column == "x0"
    assert found.orders == 240
    assert not found.weights


@pytest.mark.parametrize("noise", ["exchangeable", "symmetric-exchangeable"])
def test_a_norm_bound_is_offered_where_the_joint_region_has_bounds(noise):
    found = region_of(APART, noise=noise).summary()
    assert not finite(found)
    assert "norm_bound" not in found.explanation.text()
    with pytest.raises(ua.NotAvailable, match="rows of different weight"):
        region_of(APART, noise=noise).interval(norm_bound=10.0)


def test_permutations_are_offered_if_weights_are_equal():
    rare = np.column_stack([X, np.arange(N) < 2])
    for w, offered in ((np.ones(N), True), (1.0 + np.arange(N), False)):
        region = ua.confidence_region(LinearRegression(), rare, Y, sample_weight=w, random_state=0)
        assert ("symmetric-exchangeable" in region.interval().reason) == offered
