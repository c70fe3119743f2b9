"""A division depends on the space of the columns, not on their order or unit."""

import numpy as np
import pytest
from sklearn.preprocessing import SplineTransformer

from unassuming.cells import opposite_pairs
from unassuming.cells.division import divide

X = np.linspace(0, 10, 80)
DESIGNS = {
    "parabola": np.vander(X / 10, 3),
    "splines": SplineTransformer(8).fit_transform(X[:, None]),
    "dummies": np.column_stack([np.ones(90), np.repeat(np.eye(6), 15, axis=0)[:, 1:]]),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_columns_in_another_order_and_unit_give_the_same_cells(name):
    Phi = DESIGNS[name]
    d = Phi.shape[1]
    unit = 1 + np.arange(d) / 7
    found = divide(Phi, np.eye(d), 0.9, seed=0)
    other = divide((Phi / unit)[:, ::-1], np.diag(1 / unit)[:, ::-1], 0.9, seed=0)
    np.testing.assert_array_equal(found.labels[found.which], other.labels[other.which])


@pytest.mark.parametrize("name", DESIGNS)
def test_rows_that_tie_are_paired_alike(name):
    Phi = DESIGNS[name]
    functional = np.eye(Phi.shape[1])[1]
    pairs = opposite_pairs(Phi, functional)
    np.testing.assert_array_equal(pairs, opposite_pairs(Phi[:, ::-1] / 3, functional[::-1]))
