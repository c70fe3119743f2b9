"""Least squares with many rows in two passes: the careful solution, or none."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

import unassuming as ua
from unassuming.objectives.designs import _tall


@pytest.fixture(autouse=True)
def _few_rows_count_as_many(monkeypatch):
    monkeypatch.setattr(_tall, "_LARGE", 0)
    monkeypatch.setattr(_tall, "_BATCH", 2**12)  # several batches
    monkeypatch.setattr(_tall, "_SAMPLE", 50)


def problem(offset=0.0, constant=True, penalty=0.0, n=600, d=4):
    rng = np.random.default_rng(0)
    Phi = offset + rng.normal(size=(n, d)) * [1.0, 1e-3, 1.0, 50.0]
    Phi[:, 0] = 1.0 if constant else Phi[:, 0]
    y = Phi @ [3.0, 200.0, -1.0, 0.5] + rng.standard_t(3, size=n)
    held = np.repeat([0.0, penalty], [1, d - 1])
    return Phi, y, rng.uniform(0.1, 3.0, size=n), held


@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize(("offset", "constant"), [(0.0, False), (0.0, True), (3.0, True)])
def test_the_solution_is_that_of_the_stacked_problem(offset, constant, penalty):
    Phi, y, root, held = problem(offset, constant, penalty)
    found = _tall.solved_quickly(Phi, y, root, held)
    stacked = np.vstack([root[:, None] * Phi, np.diag(held)])
    expected = np.linalg.lstsq(stacked, np.append(root * y, np.zeros(4)), rcond=None)[0]
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    gradient = stacked.T @ (np.append(root * y, np.zeros(4)) - stacked @ found)
    terms = np.abs(stacked).T @ (np.append(root * np.abs(y), np.zeros(4)) + np.abs(stacked @ found))
    assert (np.abs(gradient) <= 1e-14 * terms).all()


def test_what_takes_more_care_is_left_to_the_factor():
    Phi, y, root, held = problem()
    nearly = Phi.copy()
    nearly[:, 3] = nearly[:, 2] + 1e-4 * nearly[:, 3]
    assert _tall.solved_quickly(nearly, y, root, held) is None
    assert _tall.solved_quickly(Phi, Phi @ np.ones(4), root, held) is None  # no residuals
    far = Phi + np.array([0.0, 0.0, 1e10, 0.0])
    assert _tall.solved_quickly(far, y, root, held) is None
    assert _tall.solved_quickly(Phi * [1, 1, 0, 1], y, root, held) is None
    assert _tall.solved_quickly(Phi[:199], y[:199], root[:199], held) is None  # few rows


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(3.0), Ridge(1.0, fit_intercept=False)])
def test_the_estimate_is_the_same_and_in_every_region(model, monkeypatch):
    Phi, y, weight, _ = problem(offset=2.0)
    quick = ua.confidence_region(model, Phi[:, 1:], y, sample_weight=weight, random_state=0)
    found = quick.estimate
    assert quick.rank(found) == 1
    monkeypatch.setattr(_tall, "_LARGE", np.inf)
    careful = ua.confidence_region(model, Phi[:, 1:], y, sample_weight=weight, random_state=0)
    np.testing.assert_allclose(found, careful.estimate, rtol=1e-11)


def test_a_summary_needs_no_whitening():
    Phi, y, _, _ = problem()
    region = ua.confidence_region(LinearRegression(), Phi[:, 1:], y, random_state=0)
    region.summary(cells=8)
    assert "whitening" not in vars(region.objective)
    region.rank(region.estimate)
    assert "whitening" in vars(region.objective)
