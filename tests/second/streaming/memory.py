"""The same region in memory: all rows, with the characters that a stream gives them."""

import numpy as np

from unassuming.geometry.quadratic import QuadraticSets
from unassuming.membership import Engine
from unassuming.noise import Symmetric
from unassuming.noise.signs import characters, signs_of
from unassuming.objectives import factory_for


def in_memory(region, model, X, y, w=None, units=None):
    """The engine of all rows; units are the numbers of rows or of their blocks."""
    numbers = np.arange(len(y)) if units is None else units
    m = region.engine.m
    signs = signs_of(characters(numbers, m), m)[1:]
    objective = factory_for(model)(model, X, y, w)
    return Engine(objective, Symmetric(), signs, region.engine.order)


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
    o, sums = region.engine.objective, region.cells.sums
    parts = o.design.matrix, o.y, o.w, region.engine.drawn, sums.G, sums.h, sums.squares, sums.rows
    return [np.asarray(part).tobytes() for part in parts]
