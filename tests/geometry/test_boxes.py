"""Boxes of label and quantile regions: none with a member is discarded."""

from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import QuantileRegressor, RidgeClassifier

from unassuming._numerics import factor
from unassuming.geometry.choose import lines_of
from unassuming.geometry.labels.boxes import Admissible, LabelBoxes
from unassuming.geometry.labels.lines import LabelModel
from unassuming.geometry.signs.boxes import SignBoxes
from unassuming.geometry.signs.model import SignModel
from unassuming.membership import Engine
from unassuming.noise import Labels, Quantile
from unassuming.objectives import factory_for
from unassuming.ranking import Order


def engine_of(model, X, y, noise, m, seed, weighting=None):
    rng = np.random.default_rng(seed)
    objective = factory_for(model)(model, X, y, None)
    return Engine(
        objective, noise, noise.draw(len(y), m - 1, rng), Order(rng.permutation(m)), weighting
    )


def closest(spans):
    if not len(spans):
        return np.nan
    inward = 1e-9 * np.where(np.isfinite(spans).all(axis=1), spans[:, 1] - spans[:, 0], 0.0)
    t = np.clip(0.0, spans[:, 0] + inward, spans[:, 1] - inward)
    return t[np.argmin(np.abs(t))]


def near(engine, start, axes, q, a):
    """Members near coefficients a (N, d), on lines to the start and along axes."""
    ways = np.concatenate([start - a, *(np.broadcast_to(x, a.shape) for x in axes)])
    origins = np.tile(a, (1 + len(axes), 1))
    spans = lines_of(engine).intervals(origins, ways, [q])[0]
    t = np.array([closest(one) for one in spans])
    found = (origins + t[:, None] * ways)[np.isfinite(t)]
    return found[engine.rank(found) <= engine.m - q] if len(found) else found


# --- labels --------------------------------------------------------------------------------------


def labels(model, n=40, d=1, seed=0, m=40, weighting=None):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    y = np.where(rng.uniform(size=n) < (1.1 + 0.6 * X[:, 0]) / 2, 1.0, -1.0)
    return engine_of(model, X, y, Labels(), m, seed, weighting)


def plain_factor(engine):
    design = engine.objective.design
    return factor(design.matrix, np.ones(engine.objective.n), intercept=design.intercept)


def label_boxes(engine):
    admissible = Admissible(engine.objective.design.matrix, plain_factor(engine))
    return admissible, LabelBoxes.of(LabelModel.of(engine), admissible)


def label_bounds(engine, g, q, **options):
    admissible, boxes = label_boxes(engine)
    start = admissible.nearest(engine.objective.estimate(), boxes.model)
    return boxes.support(g, q, partial(near, engine, start, admissible.factor.back.T, q), **options)


def test_a_search_that_is_cut_short_is_still_honest():
    engine, widths, g = labels(RidgeClassifier()), [], np.eye(2)
    rng = np.random.default_rng(0)
    some = rng.uniform(-1.5, 1.5, size=(4000, 2))
    members = some[engine.rank(some) <= engine.m - 4]
    assert len(members) > 20
    for nodes in (10, 200, 2000):
        _, boxes = label_boxes(engine)
        found = boxes.support(g, 4, lambda a: a[:0], nodes=nodes)
        assert ((found.lower <= members) & (members <= found.upper)).all()
        assert not found.settled.any()
        widths.append(found.upper - found.lower)
    assert widths[1].prod() < 0.9 * widths[0].prod()
    assert widths[2].prod() < 0.9 * widths[1].prod()


@pytest.mark.parametrize("weighting", [None, "identity"])
def test_a_box_counts_every_set_that_holds_a_member_of_it(weighting):
    engine = labels(RidgeClassifier(), weighting=weighting)
    _, boxes = label_boxes(engine)
    rng = np.random.default_rng(0)
    centre = rng.uniform(-0.3, 0.3, size=(100, 2)) * boxes.corner
    half = 10 ** rng.uniform(-6, -0.7, size=(100, 1)) * rng.uniform(size=(100, 2)) * boxes.corner
    x = centre + rng.uniform(-1, 1, size=(40, 100, 2)) * half
    a = boxes.points(x.reshape(-1, 2))
    held = ~engine.before(a) & engine.noise.admits(*residuals(engine, a))[:, None]
    held = held.reshape(40, 100, -1).any(axis=0)
    holding = boxes.holding(centre, half)
    assert not (held & ~holding).any()
    assert 0.1 < holding.mean() < 0.9
    tiny = boxes.holding(centre, 1e-9 * half)
    alone = ~engine.before(boxes.points(centre))
    assert (tiny == alone)[
        engine.noise.admits(*residuals(engine, boxes.points(centre)))
    ].mean() > 0.99


def residuals(engine, a):
    f = engine.objective.fitted(a)
    return engine.objective.y - f, f


def test_a_model_that_is_too_small_has_a_certainly_empty_region():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 1))
    y = np.sign(X[:, 0])  # the least squares line is too steep for [-1, 1]
    engine = engine_of(RidgeClassifier(), X, y, Labels(), 20, 0)
    found = label_bounds(engine, np.eye(2), 10)
    assert (found.lower == np.inf).all()
    assert (found.upper == -np.inf).all()


# --- quantiles -----------------------------------------------------------------------------------


def quantiles(seed, *, n=40, tau=0.5, alpha=0.0, m=20, columns=1):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 2, size=(n, columns))
    y = 1 + X.sum(axis=1) + (0.3 + X[:, 0]) * rng.lognormal(size=n)
    return engine_of(QuantileRegressor(quantile=tau, alpha=alpha), X, y, Quantile(tau), m, seed)


def sign_boxes(engine, apart=None):
    start = engine.objective.estimate()
    return SignBoxes.of(SignModel.of(engine), start, plain_factor(engine), apart)


def test_no_box_with_a_member_is_discarded():
    for alpha in (0.0, 0.05):
        engine = quantiles(1, n=25, alpha=alpha)
        boxes, rng = sign_boxes(engine), np.random.default_rng(0)
        centre, half = boxes.first()
        which = rng.integers(len(centre), size=400)
        inside = centre[which] + rng.uniform(-1, 1, size=(400, 3)) * half[which]
        inside[:, 0] = np.maximum(inside[:, 0], 1e-3)
        ranks = engine.rank(boxes.points(inside))
        for size in (1e-6, 1e-2, 0.3):
            least = boxes.least_ranks(inside, np.full_like(inside, size))
            assert (least <= ranks).all()
        assert (boxes.least_ranks(inside, np.full_like(inside, 1e-9)) == ranks).mean() > 0.9
