"""Tables in chunks, and the same region in memory with the characters that a stream gives."""

from itertools import pairwise

import numpy as np

import unassuming as ua
from unassuming.geometry.quadratic import QuadraticSets
from unassuming.membership import Engine
from unassuming.noise import Symmetric
from unassuming.noise.signs import characters, signs_of
from unassuming.objectives import factory_for


def table(kind, n, rng):
    X = rng.normal(size=(n, 3))
    if kind == "years":
        X[:, 0] = 1990 + 20 * np.arange(n) // n
    elif kind == "dummies":
        X = (rng.integers(0, 3, n)[:, None] == np.arange(3)) * 1.0
    elif kind == "celsius and fahrenheit":
        X[:, 1] = 1.8 * X[:, 0] + 32
    elif kind == "grid":
        X = rng.integers(0, 3, (n, 3)) * 1.0
    y = X @ [1.0, -1.0, 0.5] + rng.standard_t(3, size=n)
    return X, np.round(y) if kind == "grid" else y


def streamed(X, y, model, cuts=(), w=None, **options):
    stream = ua.StreamingRegion(model, **options)
    for a, b in pairwise([0, *cuts, len(y)]):
        stream.partial_fit(X[a:b], y[a:b], sample_weight=None if w is None else w[a:b])
    return stream


def in_memory(region, model, X, y, w=None, units=None):
    """The engine of all rows; units are the numbers of rows or of their blocks."""
    numbers = np.arange(len(y)) if units is None else units
    m = region._engine.m
    signs = signs_of(characters(numbers, m), m)[1:]
    objective = factory_for(model)(model, X, y, w)
    return Engine(objective, Symmetric(), signs, region._engine.order)


def intervals(engine, q=6):
    """Simultaneous intervals of all coefficients, (2, d)."""
    g = np.eye(engine.objective.d)
    middle = engine.objective.estimate()
    return np.array(QuadraticSets.of(engine).outer(g, q)) + middle


def near(engine, count, rng):
    """The estimate, and candidates near the boundaries of regions of many levels."""
    o, estimate = engine.objective, engine.objective.estimate()
    spread, V = np.linalg.eigh(np.linalg.pinv(o.design.matrix.T @ (o.w[:, None] * o.design.matrix)))
    r = o.residuals(estimate[None])[0] * np.sqrt(o.w)
    away = rng.normal(size=(count, o.d)) * np.sqrt(np.maximum(spread, 0.0) * (r @ r) / o.n) @ V.T
    return np.vstack([estimate, estimate + rng.uniform(0.3, 1.5, (count, 1)) * away])


def contents(region):
    """Everything that answers are computed from, as bytes."""
    o, sums = region._engine.objective, region.problem.cells.sums
    parts = o.design.matrix, o.y, o.w, region._engine.drawn, sums.G, sums.h, sums.squares, sums.rows
    return [np.asarray(part).tobytes() for part in parts]
