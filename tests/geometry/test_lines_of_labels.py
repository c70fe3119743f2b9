"""Lines of label regions, against a dense scan: none is wrong."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import unassuming as ua
from scans import inside, members
from unassuming.geometry.choose import lines_of
from unassuming.geometry.labels.roots import Sums
from unassuming.membership import Engine
from unassuming.noise import Labels
from unassuming.objectives import factory_for
from unassuming.ranking import Order

RBF = {"kernel": "rbf", "gamma": 0.7}
MODELS = {
    "logistic": (LogisticRegression(C=1.0, tol=1e-10), None),
    "logistic, identity": (LogisticRegression(C=0.3), "identity"),
    "ridge classifier": (RidgeClassifier(alpha=0.5), None),
    "ridge classifier, identity": (RidgeClassifier(alpha=0.5), "identity"),
    "ridge classifier, no penalty": (RidgeClassifier(alpha=0.0), None),
    "linear LSSVC": (ua.LSSVC(C=0.4), None),
    "rbf LSSVC": (ua.LSSVC(C=0.4, **RBF), None),
    "rbf LSSVC, gram": (ua.LSSVC(C=0.4, **RBF), "gram"),
    "rbf LSSVC, no bias": (ua.LSSVC(C=0.4, fit_intercept=False, **RBF), None),
}
names = pytest.mark.parametrize("name", MODELS)


def engine_of(name, n, seed, m=50, *, rounded=False, twins=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    X = np.round(X, 1) if rounded else X
    if twins:
        X = np.repeat(X[: n // 2], 2, axis=0)  # fresh labels of twins may be exchanged: ties
    f = np.tanh((X @ [1.0, -0.7] + 0.3) / 2)
    y = np.where(rng.random(len(X)) < (1 + f) / 2, 1.0, -1.0)
    y[:2] = 1, -1
    model, weighting = MODELS[name]
    objective, noise = factory_for(model)(model, X, y, None), Labels()
    drawn = noise.draw(len(y), m - 1, rng)
    return Engine(objective, noise, drawn, Order(rng.permutation(m)), weighting)


def some_lines(engine, seed):
    """Through the estimate and beside it, along a coordinate as well."""
    rng, estimate = np.random.default_rng(seed), engine.objective.estimate()
    d, size = len(estimate), 1.0
    if engine.objective.loss.polynomial:  # E[y|x] is in [-1, 1] near zero
        estimate, size = 0.2 * estimate, 0.3
    yield estimate, size * rng.normal(size=d)
    yield estimate, np.eye(d)[rng.integers(d)]
    yield estimate * (1 + 0.05 * rng.normal(size=d)), size * rng.normal(size=d)


def scan(spans):
    """Dense points about the ends, on both sides of each, and far away."""
    cuts = np.unique(np.append(spans[np.isfinite(spans)], 0.0))
    far, size = np.array([1.0, 50.0, 1e3]), np.maximum(np.abs(cuts), 1.0)
    share = np.linspace(0.001, 0.999, 11)
    t = [np.linspace(cuts[0] - 2, cuts[-1] + 2, 400), cuts[0] - far, cuts[-1] + far]
    t += [cuts - 1e-8 * size, cuts + 1e-8 * size]
    t += [(cuts[1:, None] * share + cuts[:-1, None] * (1 - share)).ravel()]
    t = np.concatenate(t)
    ends = spans[np.isfinite(spans)]
    return t[np.abs(t[:, None] - ends).min(axis=1, initial=np.inf) > 1e-9 * size.max()]


@names
@pytest.mark.parametrize("kind", ["plain", "rounded", "twins"])
def test_no_line_is_wrong(name, kind):
    total = 0
    for seed, n in enumerate((8, 20, 40)):
        engine = engine_of(name, n, seed, rounded=kind == "rounded", twins=kind == "twins")
        lines = lines_of(engine)
        assert lines.exact
        for origin, direction in some_lines(engine, seed):
            found = lines.intervals(origin[None], direction[None], [5, 25])
            for q, (spans,) in zip([5, 25], found, strict=True):
                t = scan(spans)
                truth = members(engine, origin, direction, t, q)
                np.testing.assert_array_equal(inside(spans, t), truth)
                total += truth.sum()
    assert total > 100


def test_labels_equal_to_those_observed_are_decided_by_the_tie_order():
    """Nearly certain labels: every statistic ties, on a whole piece of the line."""
    engine = engine_of("ridge classifier", 8, 3)
    order = engine.order
    X = np.array([[-1.0, 0.0], [1.0, 0.0]] * 4)
    model = RidgeClassifier(alpha=0.1)
    objective = factory_for(model)(model, X, np.sign(X[:, 0]), None)
    engine = Engine(objective, engine.noise, engine.drawn, order)
    wins = int((~order.first).sum())
    origin, direction = np.zeros((1, 3)), np.array([[0.0, 1.0, 0.0]])
    last = float(np.abs(2 * engine.drawn - 1).max())
    for q in (wins, wins + 1):
        (spans,) = lines_of(engine).intervals(origin, direction, [q])[0]
        middle = np.array([(last + 1) / 2])
        assert inside(spans, middle)[0] == (q == wins)


@pytest.mark.parametrize("seed", range(6))
def test_roots_of_sums_are_the_changes_of_sign_on_a_dense_grid(seed):
    rng = np.random.default_rng(seed)
    M, n = 30, 12
    g, b = rng.normal(size=(2, n)) * np.array([[3.0], [1.0]]), rng.normal(size=(M, n))
    k = rng.normal(size=(2, M)) * np.array([[2.0], [0.1]])
    lo = np.where(rng.random(M) < 0.2, -np.inf, rng.uniform(-60, 0, size=M))
    hi = np.where(rng.random(M) < 0.2, np.inf, rng.uniform(0, 60, size=M))
    sums = Sums(g, b, k, lo, hi)
    begin, end, roots = sums.roots()
    for j in range(M):
        own = np.sort(roots.t[roots.piece == j])
        ends = np.clip([lo[j], hi[j]], -300, 300)
        t = np.linspace(*ends, 60_001)
        t = t[np.abs(t[:, None] - own).min(axis=1, initial=np.inf) > 1e-9]
        value = sums(np.full(len(t), j), t)
        parity = (own <= t[:, None]).sum(axis=1) % 2 == 1
        np.testing.assert_array_equal(value > 0, begin[j] ^ parity)
        assert end[j] == begin[j] ^ (len(own) % 2 == 1)
        assert ((own > lo[j]) & (own < hi[j])).all()
