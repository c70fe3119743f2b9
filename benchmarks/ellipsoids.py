"""Radii of all sets, compared with the semidefinite programme of the SPS papers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np
from sklearn.linear_model import LinearRegression

import unassuming as ua
from benchmarks.clock import best_times
from benchmarks.result import Check, Comparison, Result

Set = tuple[np.ndarray, np.ndarray, float]
N, D, M = 400, 20, 100
PROGRAMMES = 10
ROUNDS = 60
TARGET_RATIO, TOLERANCE = 500, 1e-6
TITLE = (
    f"Outer ellipsoids, least squares, n = {N}, d = {D}, m = {M}: the radii of all {M - 1} sets of"
    " a region,\nagainst the time that the solver itself reports, without what cvxpy adds"
)


def measure(name: str) -> Result:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    y = X.sum(axis=1) + rng.laplace(size=N)
    region = ua.confidence_region(LinearRegression(fit_intercept=False), X, y, m=M, random_state=0)
    signs = region.perturbations.apply(np.ones(N))
    sets = [one_set(X, y, s) for s in signs]
    matrices = np.stack([A for A, _, _ in sets])
    levels = [1 - q / M for q in range(1, M)]
    some = sets[:: -(-len(sets) // PROGRAMMES)]
    block, inequality = Solver(some, as_block), Solver(some, as_inequality)

    def radii_anew() -> object:
        vars(region.shape).pop("_radii", None)  # a region computes them once
        return region.ellipsoid(0.9)

    # The solver reports the time that passed, so this is measured for all.
    (seconds, floor, *_), _ = best_times(
        radii_anew,
        lambda: np.linalg.eigh(matrices),
        block.solve_next,
        inequality.solve_next,
        rounds=ROUNDS,
        clock=perf_counter,
    )
    radii = np.array([ellipsoid.squared_radius for ellipsoid in region.ellipsoid(levels).values()])
    gap = max(float(np.abs(radii / radius - 1).min()) for _, radius in block.solved.values())
    share, few = len(sets) / len(some), f"extrapolated from {len(some)}"
    return Result(
        name,
        seconds,
        [
            Comparison(f"Clarabel, block variable, {few}", share * block.seconds, TARGET_RATIO),
            Comparison("Clarabel, matrix inequality (no target)", share * inequality.seconds),
            Comparison(f"floor: numpy's eigh, {len(sets)} times {D} × {D}", floor),
        ],
        [Check("largest relative difference of radii", f"{gap:.1e}", gap < TOLERANCE)],
    )


class Solver:
    """Solves the programmes of some sets in turn, and keeps the shortest times and the radii."""

    def __init__(self, sets: list[Set], formulate: Callable[..., list[Any]]) -> None:
        self.formulate = formulate
        self.turn = cycle(enumerate(sets))
        self.solved: dict[int, tuple[float, float]] = {}

    def solve_next(self) -> None:
        """Minimise γ with ξ >= 0 and [[ξA - I, ξb], [ξbᵀ, ξc + γ]] ⪰ 0."""
        j, (A, b, c) = next(self.turn)
        xi, gamma = cp.Variable(nonneg=True), cp.Variable()
        problem = cp.Problem(cp.Minimize(gamma), self.formulate(A, b, c, xi, gamma))
        problem.solve(solver=cp.CLARABEL)
        found = problem.solver_stats.solve_time, float(gamma.value)
        self.solved[j] = min(found, self.solved.get(j, found))

    @property
    def seconds(self) -> float:
        return sum(time for time, _ in self.solved.values())


def as_block(A: np.ndarray, b: np.ndarray, c: float, xi: Any, gamma: Any) -> list[Any]:
    block = cp.Variable((D + 1, D + 1), PSD=True)
    return [
        block[:D, :D] == xi * A - np.eye(D),
        block[:D, D] == xi * b,
        block[D, D] == xi * c + gamma,
    ]


def as_inequality(A: np.ndarray, b: np.ndarray, c: float, xi: Any, gamma: Any) -> list[Any]:
    whole = np.block([[A, b[:, None]], [b[None, :], np.full((1, 1), c)]])
    corner = np.zeros((D + 1, D + 1))
    corner[D, D] = 1.0
    return [xi * whole + gamma * corner - np.diag([1.0] * D + [0.0]) >> 0]


def one_set(X: np.ndarray, y: np.ndarray, signs: np.ndarray) -> Set:
    """Return A, b, c with E = {v : vᵀAv + 2bᵀv + c <= 0} in v = R^{1/2}(θ - θ̂)."""
    R = X.T @ X / N
    values, vectors = np.linalg.eigh(R)
    half = vectors / np.sqrt(values) @ vectors.T  # R^{-1/2}
    Q = X.T @ (signs[:, None] * X) / N
    S = half @ Q @ half
    a = half @ (X.T @ (signs * y) / N - Q @ np.linalg.solve(R, X.T @ y / N))
    return np.eye(D) - S.T @ S, S.T @ a, -float(a @ a)


CASES = {"all radii": measure}
