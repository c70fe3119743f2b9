"""A pixel has the lowest rank of the members that pass through it, and nothing else."""

import numpy as np
import pytest

from unassuming.paper._raster import Raster

WINDOW = ((0.0, 10.0), (-2.0, 2.0))


def plain(window, size, xs, ys, ranks):
    """Every point of every member, one after the other."""
    lowest = np.zeros((size, size), dtype=int)
    (left, right), (bottom, top) = window
    for x, y, rank in zip(xs, ys, ranks, strict=True):
        column = int(np.floor((x - left) / (right - left) * size))
        row = int(np.floor((y - bottom) / (top - bottom) * size))
        if 0 <= column < size and 0 <= row < size:
            known = lowest[row, column]
            lowest[row, column] = rank if known == 0 else min(known, rank)
    return lowest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_curves_mark_one_pixel_in_each_column(rng):
    raster = Raster(WINDOW, m=20, size=16)
    values, ranks = rng.normal(size=(50, 16)), rng.integers(1, 20, size=50)
    raster.mark_curves(values[:30], ranks[:30])
    raster.mark_curves(values[30:], ranks[30:])
    xs = np.tile(raster.columns, 50)
    expected = plain(WINDOW, 16, xs, values.ravel(), np.repeat(ranks, 16))
    np.testing.assert_array_equal(raster.lowest(), expected)
    assert (expected == 0).any()


def test_steep_curves_mark_one_pixel_in_each_row(rng):
    raster = Raster(WINDOW, m=20, size=16)
    values, ranks = rng.uniform(-1, 11, size=(50, 16)), rng.integers(1, 20, size=50)
    raster.mark_steep_curves(values, ranks)
    ys = np.tile(raster.rows, 50)
    expected = plain(WINDOW, 16, values.ravel(), ys, np.repeat(ranks, 16))
    np.testing.assert_array_equal(raster.lowest(), expected)


def test_points_mark_their_pixel(rng):
    raster = Raster(WINDOW, m=20, size=16)
    points, ranks = rng.uniform(-3, 11, size=(400, 2)), rng.integers(1, 20, size=400)
    raster.mark_points(points, ranks)
    np.testing.assert_array_equal(raster.lowest(), plain(WINDOW, 16, *points.T, ranks))


def test_the_centres_are_inside_their_pixels():
    raster = Raster(WINDOW, m=3, size=4)
    assert raster.columns.tolist() == [1.25, 3.75, 6.25, 8.75]
    assert raster.rows.tolist() == [-1.5, -0.5, 0.5, 1.5]
