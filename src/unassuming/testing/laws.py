"""The laws behind the uniform rank, checked for user-defined noise and objectives."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
from scipy.stats import binom

from unassuming._errors import NotAvailable, complaint
from unassuming._typing import Array
from unassuming.inputs import as_seed, is_label_model, split_pipeline
from unassuming.noise import Noise
from unassuming.objectives import Objective
from unassuming.regions import confidence_region

_HOW = "See the how-to pages 'Add a noise class' and 'Add an objective'."
_AXES = "candidates come first, transformations before rows, rows last"
_SIZE = 5  # transformations drawn for the checks
_PAIRS = 4096  # pairs of elements of a group that are multiplied
_M = 8  # statistics of a simulated rank


def _require(holds: object, name: str, wrong: str, expected: str, given: str = "others") -> None:
    """Raise an AssertionError with that sentence unless the law holds."""
    if not holds:
        raise AssertionError(complaint(name, wrong, expected, given, _HOW))


def _shaped(name: str, found: Any, expected: tuple[int, ...], of: str = "") -> Array:
    """Return an array of numbers; its shape is a law."""
    values = np.asarray(found, dtype=np.float64)
    wrong = f"has the wrong shape{of}"
    _require(values.shape == expected, name, wrong, f"{expected} ({_AXES})", f"{values.shape}")
    _require(not np.isnan(values).any(), name, "is not a number somewhere", "numbers", "NaN")
    return values


def _same(ours: Array, theirs: Array) -> bool:
    """Whether two arrays are equal up to rounding."""
    size = float(np.abs(theirs).max(initial=0.0))
    return ours.shape == theirs.shape and np.allclose(ours, theirs, rtol=0, atol=1e-8 * size)


# --- noise ------------------------------------------------------------------------------------


def check_noise(noise: Noise, n: int, *, repetitions: int = 1000, random_state: Any = 0) -> None:
    """Check that a noise class keeps the laws that make the ranks uniform.

    It checks the shapes for one and several residual vectors, that a seed repeats the draws, the
    method `take`, and orthogonality if it is declared. If ``noise.group(n)`` lists the group, the
    list must contain all inverses, products and draws. Finally a simulation: noise made by a drawn
    transformation must have a uniform rank among its own transformations. This fails if the draws
    are not from a group, or not uniform. It can only find a violation that shows; it proves
    nothing.

    Parameters
    ----------
    noise : Noise
        An instance of your class.
    n : int
        Number of rows; a small one, such as 5, allows the group to be listed.
    repetitions : int, default 1000
        Repetitions of the simulation. The counts of ranks must lie in their two-sided 1e-6
        binomial bands.
    random_state : int, Generator, RandomState or None, default 0

    Raises
    ------
    AssertionError
        The message names the broken law.

    Examples
    --------
    >>> ua.testing.check_noise(ua.noise.Exchangeable(), 5)
    >>> class OneRowFlipped(ua.noise.Symmetric):
    ...     def draw(self, n, size, rng):
    ...         return 1 - 2 * np.eye(n, dtype=np.int8)[rng.integers(n, size=size)]
    >>> ua.testing.check_noise(OneRowFlipped(), 5)
    Traceback (most recent call last):
        ...
    AssertionError: OneRowFlipped draws ranks of the noise that are not uniform: ...
    """
    seed, name = as_seed(random_state), type(noise).__name__
    rng = np.random.default_rng([seed, 0])
    fitted, r = rng.uniform(-0.9, 0.9, size=(2, 3, n)), rng.normal(size=(2, 3, n))
    drawn, again = (noise.draw(n, _SIZE, np.random.default_rng([seed, 1])) for _ in range(2))

    def moved(drawn: Any, r: Array, fitted: Array, size: int = _SIZE) -> Array:
        before, shape = r.copy(), (*r.shape[:-1], size, n)
        of = f" for residuals of shape {r.shape}"
        found = _shaped(f"{name}.apply", noise.apply(drawn, r, fitted), shape, of)
        unchanged, wrong = np.array_equal(r, before), "overwrites the residuals"
        _require(unchanged, f"{name}.apply", wrong, "residuals as they were")
        return found

    many = moved(drawn, r, fitted)
    same = np.array_equal(many, moved(again, r, fitted))
    _require(same, f"{name}.draw", "is not repeated by the seed", "the same for the same rng")
    same = _same(moved(drawn, r[1, 2], fitted[1, 2]), many[1, 2])
    _require(same, f"{name}.apply", "treats several residual vectors unlike one", "the same")
    same = _same(moved(noise.take(drawn, slice(1, 3)), r, fitted, 2), many[..., 1:3, :])
    _require(same, f"{name}.take", "returns other transformations", "those of the slice")
    if noise.orthogonal:
        _check_group(noise, drawn, n, r[0, 0])
    _check_ranks(noise, n, repetitions, np.random.default_rng([seed, 2]))


def _check_group(noise: Noise, drawn: Any, n: int, r: Array) -> None:
    """Check linearity and lengths, and compare a listed group with its products and the draws."""
    name = type(noise).__name__

    def matrices(some: Any) -> Array:
        columns = np.asarray(noise.apply(some, np.eye(n), np.zeros((n, n))), dtype=np.float64)
        return columns.transpose(1, 2, 0)

    def key(G: Array) -> bytes:
        return (np.round(G, 6) + 0.0).tobytes()  # + 0.0: minus zero is zero

    G = matrices(drawn)
    linear = np.allclose(noise.apply(drawn, r, np.zeros(n)), G @ r, rtol=1e-9, atol=1e-8)
    given = "linear maps that change some" if linear else "maps that are not linear"
    keeps = linear and np.allclose(G @ G.transpose(0, 2, 1), np.eye(n), atol=1e-8)
    expected = "linear maps that keep all lengths"
    _require(keeps, name, "declares orthogonal and is not", expected, given)
    try:
        listed, m = noise.group(n, modulo_sign=False)
    except ValueError:
        return  # the group is infinite or too large
    elements = [np.eye(n), *matrices(listed)]
    keys, name = {key(one) for one in elements}, f"{name}.group({n})"
    distinct, wrong = len(elements) == len(keys) == m, "lists elements twice or miscounts them"
    given = f"{len(elements) - 1} listed, {len(keys)} different with the identity"
    _require(distinct, name, wrong, f"m = {m} different ones, the identity not listed", given)
    pairs = np.arange(m * m)
    if len(pairs) > _PAIRS:
        pairs = np.random.default_rng(0).integers(m * m, size=_PAIRS)
    closed = all(key(elements[k // m] @ elements[k % m].T) in keys for k in pairs)
    expected = "all products and inverses of its elements"
    _require(closed, name, "is not a group", expected, "a list that lacks one")
    inside, wrong = all(key(one) in keys for one in G), "lacks something that is drawn"
    _require(inside, name, wrong, "all elements of the group", "some")


def _check_ranks(noise: Noise, n: int, repetitions: int, rng: np.random.Generator) -> None:
    """Simulate ranks of a contrast and of its size, with ties at random."""
    ranks = np.empty((repetitions, 2), dtype=np.intp)
    for found in ranks:
        fitted = rng.uniform(-0.9, 0.9, size=n)
        start, w = rng.normal(size=n) + 1.0, rng.normal(size=n)
        # Uniform on an orbit: a law that no element of the group changes.
        e = np.asarray(noise.apply(noise.draw(n, 1, rng), start, fitted))[0]
        others = np.asarray(noise.apply(noise.draw(n, _M - 1, rng), e, fitted)) @ w
        slack = 1e-9 * (np.abs(w) @ np.abs(e) + 1e-300)
        for k, (z0, z) in enumerate(((w @ e, others), (abs(w @ e), np.abs(others)))):
            ties = int((np.abs(z - z0) <= slack).sum())
            found[k] = 1 + int((z < z0 - slack).sum()) + int(rng.integers(ties + 1))
    name, wrong = type(noise).__name__, "draws ranks of the noise that are not uniform"
    for q in range(1, _M):
        low, high = binom.ppf([0.5e-6, 1 - 0.5e-6], repetitions, q / _M)
        for count in (ranks <= q).sum(axis=0):
            expected = f"{low:.0f} to {high:.0f} of {repetitions} ranks at {q} or less of {_M}"
            _require(low <= count <= high, name, wrong, expected, f"{count}")


# --- objectives -------------------------------------------------------------------------------


def check_objective(estimator: Any, X: Any, y: Any, *, random_state: Any = 0) -> None:
    """Check that the objective of an estimator keeps the laws that make the ranks uniform.

    It checks the shapes of residuals and gradients, for one and three candidates and for several
    residual vectors each; that many candidates at once give the same numbers as one at a time; that
    the gradient is zero at the estimate, if there is one; and that y enters only through the
    residuals: an objective of the same inputs and other outputs must have the same fitted values,
    gradients and statistics at the same residuals.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Of a class with a factory (see `unassuming.register_objective`), or a Pipeline that ends in
        one.
    X, y : arrays or DataFrames
        Data for the checks; a few rows are enough.
    random_state : int, Generator, RandomState or None, default 0
        Source of the candidates, the residuals and the other outputs.

    Raises
    ------
    AssertionError
        The message names the broken law.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator, RegressorMixin
    >>> ua.testing.check_objective(Lasso(0.1), X, y)
    >>> class ScaledRidge(RegressorMixin, BaseEstimator):
    ...     pass
    >>> def from_scaled_ridge(estimator, X, y, sample_weight):
    ...     return ua.objectives.from_ridge(Ridge(y.std()), X, y, sample_weight)  # uses y
    >>> ua.register_objective(ScaledRidge, from_scaled_ridge)
    >>> ua.testing.check_objective(ScaledRidge(), X, y)
    Traceback (most recent call last):
        ...
    AssertionError: the gradient of DesignedObjective depends on y other than through ...
    """
    rng = np.random.default_rng(as_seed(random_state))
    # A region has checked and transformed the data.
    objective, other = (
        confidence_region(estimator, deepcopy(X), outputs, m=2, random_state=0).objective
        for outputs in (y, _other_outputs(estimator, y, rng))
    )
    name, n, d = type(objective).__name__, objective.n, objective.d
    a = rng.normal(size=(3, d)) / np.sqrt(d)
    r = rng.normal(size=(3, 4, n)) * (1 + np.abs(objective.y).mean())
    _check_shapes(objective, a, r)
    _check_estimate(objective)
    both, checks = (objective, other), list[tuple[str, list[Array]]]()
    checks.append((f"the fitted values of {name} depend", [o.fitted(a) for o in both]))
    checks.append((f"the gradient of {name} depends", [o.gradient(a, r) for o in both]))
    checks.append((f"the statistic of {name} depends", [_statistics(o, a, r) for o in both]))
    try:
        found = [o.fitted(o.coefficients(objective.fitted(a))) for o in both]
        checks.append((f"{name}.coefficients depends", found))
    except NotAvailable:
        pass
    wrong, expected = "on y other than through the residuals", "the same for every y"
    for what, (ours, theirs) in checks:
        _require(_same(ours, theirs), what, wrong, expected)


def _other_outputs(estimator: Any, y: Any, rng: np.random.Generator) -> Any:
    """Return outputs of the same kind: the other labels, or other numbers."""
    outputs = np.asarray(y).ravel()
    if is_label_model(split_pipeline(estimator)[1]):
        first, second = np.unique(outputs)
        return np.where(outputs == first, second, first)
    return rng.normal(size=len(outputs)) * (1 + 3 * np.abs(outputs.astype(np.float64)).mean())


def _check_shapes(objective: Objective, a: Array, r: Array) -> None:
    """Compare one candidate with three, and one residual vector with four."""
    residuals, gradient = (f"{type(objective).__name__}.{w}" for w in ("residuals", "gradient"))
    n, k = objective.n, np.asarray(objective.gradient(a, r[:, 0])).shape[-1]
    own = _shaped(residuals, objective.residuals(a), (3, n))
    many = _shaped(gradient, objective.gradient(a, r), (3, 4, k))
    for j in range(3):
        aj, rj = a[j : j + 1], r[j : j + 1]
        for what, found, expected in (
            (residuals, objective.residuals(aj), own[j : j + 1]),
            (gradient, objective.gradient(aj, rj[:, 1]), many[j : j + 1, 1]),
            (gradient, objective.gradient(aj, rj), many[j : j + 1]),
        ):
            same = _same(_shaped(what, found, expected.shape), expected)
            wrong = "gives other numbers for several at once"
            _require(same, what, wrong, f"the same as for one at a time ({_AXES})")


def _check_estimate(objective: Objective) -> None:
    """Compare the gradient at the estimate with gradients for residuals of the same size."""
    name = type(objective).__name__
    try:
        estimate = _shaped(f"{name}.estimate", objective.estimate(), (objective.d,))[None, :]
    except NotAvailable:
        return
    r = objective.residuals(estimate)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(1, 20, objective.n))
    size = np.abs(objective.gradient(estimate, r[:, None, :] * signs)).max()
    left = np.abs(objective.gradient(estimate, r)).max()
    what, wrong = f"the gradient of {name}", "is not zero at the estimate"
    _require(left <= 1e-6 * size + 1e-12, what, wrong, "zero up to rounding", f"{left:.3g}")


def _statistics(objective: Objective, a: Array, r: Array) -> Array:
    """Return Z_0 and Z_i with the default weighting, for given residuals."""
    score = objective.score(objective.default_weighting)
    at = objective.at_values(objective.y - r[:, 0], a)
    return score.statistics(at, r[:, 1:])
