"""Checks of a user-defined noise class: the laws behind the uniform rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binom

from unassuming._typing import Array, IntArray
from unassuming.inputs import as_seed
from unassuming.noise import Noise
from unassuming.testing._laws import require

_SEE = "See the how-to 'Add a noise class'."
_AXES = "Rows are the last axis, transformations the one before."
_SIZE = 5  # transformations drawn for the checks
_PAIRS = 4096  # pairs of elements of a group that are multiplied
_M = 8  # statistics of a simulated rank
_TOLERANCE = 1e-9


def check_noise(noise: Noise, n: int, *, repetitions: int = 1000, random_state: Any = 0) -> None:
    """Check that a noise class keeps the laws that make the ranks uniform.

    It checks the shapes for one and several residual vectors, that a seed repeats the draws, the
    method `take`, and orthogonality and exact arithmetic if they are declared. If
    ``noise.group(n)`` lists the group, the list must contain all inverses, products and draws.
    Finally a simulation: noise made by a drawn transformation must have a uniform rank among its
    own transformations. This fails if the draws are not from a group, or not uniform. It can only
    find a violation that shows; it proves nothing.

    A small n, such as 5, allows the group to be listed.

    Parameters
    ----------
    noise : Noise
        An instance of your class.
    n : int
        Number of rows; for a class that names rows, the number that it names.
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
    AssertionError: OneRowFlipped: the rank of the noise is not uniform: ...
    """
    seed = as_seed(random_state)
    name = type(noise).__name__
    rng = np.random.default_rng([seed, 0])
    fitted = rng.uniform(-0.9, 0.9, size=(2, 3, n))
    residuals = rng.normal(size=(2, 3, n))
    drawn = noise.draw(n, _SIZE, np.random.default_rng([seed, 1]))
    again = noise.draw(n, _SIZE, np.random.default_rng([seed, 1]))

    moved = _applied(noise, drawn, residuals, fitted)
    require(
        np.array_equal(moved, _applied(noise, again, residuals, fitted)),
        f"{name}.draw is not repeated by the seed: expected the same transformations for the same "
        "rng, given others. Draw from rng alone.",
    )
    require(
        _close(_applied(noise, drawn, residuals[1, 2], fitted[1, 2]), moved[1, 2]),
        f"{name}.apply treats several residual vectors unlike one: expected the same "
        f"transformations of each, given others. {_AXES}",
    )
    part = _applied(noise, noise.take(drawn, slice(1, 3)), residuals, fitted, 2)
    require(
        _close(part, moved[..., 1:3, :]),
        f"{name}.take returns other transformations: expected those of the slice, given others. "
        "Define take for the values that draw returns.",
    )
    if noise.orthogonal:
        _check_orthogonal(noise, drawn, n)
        _check_group(noise, drawn, n)
    if noise.exact_arithmetic:
        size = np.sort(np.abs(residuals), axis=-1)[..., None, :]
        require(
            bool((np.sort(np.abs(moved), axis=-1) == size).all()),
            f"{name} declares exact_arithmetic and changes the size of entries: expected entries "
            "that are moved or flipped, given others. Leave exact_arithmetic out.",
        )
    _check_ranks(noise, n, repetitions, np.random.default_rng([seed, 2]))


def _close(ours: Array, theirs: Array) -> bool:
    return np.allclose(ours, theirs, rtol=_TOLERANCE, atol=_TOLERANCE)


def _applied(noise: Noise, drawn: Any, r: Array, fitted: Array, size: int = _SIZE) -> Array:
    """Return the transformed residuals; check their shape, and that r stays as it is."""
    before = r.copy()
    moved = np.asarray(noise.apply(drawn, r, fitted), dtype=np.float64)
    expected = (*r.shape[:-1], size, r.shape[-1])
    name = type(noise).__name__
    require(
        moved.shape == expected,
        f"{name}.apply has the wrong shape for residuals of shape {r.shape}: expected shape "
        f"{expected}, given shape {moved.shape}. {_AXES}",
    )
    require(
        np.array_equal(r, before),
        f"{name}.apply overwrites the residuals: expected residuals as they were, given other "
        "numbers. Work on a copy.",
    )
    return moved


def _matrices(noise: Noise, drawn: Any, n: int) -> Array:
    """Return linear transformations as matrices, (size, n, n)."""
    columns = np.asarray(noise.apply(drawn, np.eye(n), np.zeros((n, n))), dtype=np.float64)
    return columns.transpose(1, 2, 0)


def _check_orthogonal(noise: Noise, drawn: Any, n: int) -> None:
    G = _matrices(noise, drawn, n)
    r = np.random.default_rng(0).normal(size=n)
    linear = np.allclose(noise.apply(drawn, r, np.zeros(n)), G @ r, rtol=_TOLERANCE, atol=1e-8)
    given = "linear maps that change some" if linear else "maps that are not linear"
    require(
        linear and np.allclose(G @ G.transpose(0, 2, 1), np.eye(n), atol=1e-8),
        f"{type(noise).__name__} declares orthogonal and is not: expected linear maps that keep "
        f"all lengths, given {given}. Set orthogonal = False.",
    )


def _check_group(noise: Noise, drawn: Any, n: int) -> None:
    """Compare the listed group with its own products, and with the draws."""
    try:
        listed, m = noise.group(n, modulo_sign=False)
    except ValueError:
        return  # the group is infinite or too large
    elements = [np.eye(n), *_matrices(noise, listed, n)]
    keys = {_key(G) for G in elements}
    name = type(noise).__name__
    require(
        len(elements) == len(keys) == m,
        f"{name}.group({n}) lists elements twice or miscounts them: expected m = {m} different "
        f"ones, the identity not listed, given {len(elements) - 1} listed, {len(keys)} different "
        f"with the identity. {_SEE}",
    )
    pairs = np.arange(m * m)
    if len(pairs) > _PAIRS:
        pairs = np.random.default_rng(0).integers(m * m, size=_PAIRS)
    require(
        all(_key(elements[k // m] @ elements[k % m].T) in keys for k in pairs),
        f"{name}.group({n}) is not a group: expected all products and inverses of its elements, "
        f"given a list that lacks one. {_SEE}",
    )
    require(
        all(_key(G) in keys for G in _matrices(noise, drawn, n)),
        f"{name} draws something that noise.group({n}) does not list: expected elements of the "
        f"group, given another one. {_SEE}",
    )


def _key(G: Array) -> bytes:
    return (np.round(G, 6) + 0.0).tobytes()  # + 0.0: minus zero is zero


def _check_ranks(noise: Noise, n: int, repetitions: int, rng: np.random.Generator) -> None:
    """Simulate noise of an invariant law, and rank it among its transformations."""
    ranks = np.stack([_simulated(noise, n, rng) for _ in range(repetitions)])
    low, high = binom.ppf([[0.5e-6], [1 - 0.5e-6]], repetitions, np.arange(1, _M) / _M)
    for column in ranks.T:
        at_most = (column[:, None] <= np.arange(1, _M)).sum(axis=0)
        for q in np.flatnonzero((at_most < low) | (at_most > high)):
            raise AssertionError(
                f"{type(noise).__name__}: the rank of the noise is not uniform: expected "
                f"{low[q]:.0f} to {high[q]:.0f} of {repetitions} ranks at {q + 1} or less of {_M}, "
                f"given {at_most[q]}. Draw uniformly from a group. {_SEE}"
            )


def _simulated(noise: Noise, n: int, rng: np.random.Generator) -> IntArray:
    """Return the ranks of a contrast and of its size, with ties at random."""
    fitted, start, w = rng.uniform(-0.9, 0.9, size=n), rng.normal(size=n) + 1.0, rng.normal(size=n)
    # Uniform on an orbit: a law that no element of the group changes.
    e = np.asarray(noise.apply(noise.draw(n, 1, rng), start, fitted))[0]
    others = np.asarray(noise.apply(noise.draw(n, _M - 1, rng), e, fitted)) @ w
    found = []
    for z0, z in ((w @ e, others), (abs(w @ e), np.abs(others))):
        slack = 1e-9 * (np.abs(w) @ np.abs(e) + 1e-300)
        ties = int((np.abs(z - z0) <= slack).sum())
        found.append(1 + int((z < z0 - slack).sum()) + int(rng.integers(ties + 1)))
    return np.array(found, dtype=np.intp)
