"""Ordinary tables whose columns depend on each other, as people make them."""

import numpy as np


def dependent(rng, n=24):
    """Seven kinds of tables (n, 2 or 3), in steps of a tenth."""
    x = np.round(rng.normal(15, 5, n), 1)
    share = np.round(rng.dirichlet([1, 1, 1], n), 2)
    share[:, 2] = np.round(1 - share[:, 0] - share[:, 1], 2)
    a, b = np.round(rng.uniform(1, 9, (2, n)), 1)
    dummies = np.eye(3)[np.append([0, 1, 2], rng.integers(0, 3, n - 3))]
    return {
        "Celsius and Fahrenheit": np.column_stack([x, 1.8 * x + 32]),
        "kg and lb": np.column_stack([x, x * 2.20462]),
        "shares that sum to one": share,
        "parts and total": np.column_stack([a, b, a + b]),
        "x and standardised x": np.column_stack([x, (x - x.mean()) / x.std()]),
        "full dummies": dummies,
        "a duplicated column": np.column_stack([x, a, x]),
    }


def outputs(rng, X):
    """Outputs in steps of a tenth with Laplace noise."""
    return np.round(3 * X[:, 0] + rng.laplace(size=len(X)), 1)
