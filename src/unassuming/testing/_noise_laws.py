"""Law checks for a noise class of one's own: what the uniform rank rests on."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import binom

from unassuming._typing import Array, IntArray
from unassuming.inputs import as_seed
from unassuming.noise import Noise

_SEE = "See the how-to 'Add a noise class'."
_SIZE = 5  # transformations drawn to look at
_PAIRS = 4096  # of a group that are multiplied
_M = 8  # statistics of a simulated rank
_TOLERANCE = 1e-9


def check_noise(noise: Noise, n: int, *, repetitions: int = 1000, random_state: Any = 0) -> None:
    """Check that a noise class keeps the laws that make the ranks uniform.

    Shapes for one and several residual vectors, draws that a seed repeats, `take`, orthogonality
    and exact arithmetic where they are declared, the whole group where ``noise.group(n)`` lists
    it (it must hold the inverse and the product of any elements, and whatever is drawn), and a
    simulation: noise that a drawn transformation has made must have a uniform rank among its own
    transformations. That fails if what is drawn from is no group, or not uniformly.

    The simulation can only find a violation that shows; it proves nothing. A small n, such as 5,
    lets the group be listed.

    Parameters
    ----------
    noise : Noise
        An instance, of your own class.
    n : int
        Number of rows; that of the blocks for a class that names rows.
    repetitions : int, default 1000
        Of the simulation. Counts of ranks have to lie in their two-sided 1e-6 binomial bands.
    random_state : int, Generator, RandomState or None, default 0

    Raises
    ------
    AssertionError
        With the law that is broken, in words.

    Examples
    --------
    >>> import unassuming as ua
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
    if not np.array_equal(moved, _applied(noise, again, residuals, fitted)):
        raise _broken(f"{name}.draw", "is not repeated by the seed", "the same for the same rng",
                      "other transformations", "Draw from rng alone.")  # fmt: skip
    single = _applied(noise, drawn, residuals[1, 2], fitted[1, 2])
    if not np.allclose(single, moved[1, 2], rtol=_TOLERANCE, atol=_TOLERANCE):
        raise _broken(f"{name}.apply", "treats several residual vectors unlike one",
                      "the same transformations of each", "others",
                      "Rows are the last axis, transformations the one before.")  # fmt: skip
    part = _applied(noise, noise.take(drawn, slice(1, 3)), residuals, fitted, 2)
    if not np.allclose(part, moved[..., 1:3, :], rtol=_TOLERANCE, atol=_TOLERANCE):
        raise _broken(f"{name}.take", "returns other transformations", "those of the slice",
                      "others", "Define take for what draw returns.")  # fmt: skip
    if noise.orthogonal:
        _check_orthogonal(noise, drawn, n)
    if noise.exact_arithmetic:
        size = np.sort(np.abs(residuals), axis=-1)[..., None, :]
        if not (np.sort(np.abs(moved), axis=-1) == size).all():
            raise _broken(name, "says exact_arithmetic and changes the size of entries",
                          "entries that are moved or flipped", "others",
                          "Leave exact_arithmetic out.")  # fmt: skip
    if noise.orthogonal:
        _check_group(noise, drawn, n)
    _check_ranks(noise, n, repetitions, np.random.default_rng([seed, 2]))


def _applied(noise: Noise, drawn: Any, r: Array, fitted: Array, size: int = _SIZE) -> Array:
    """Return what a class makes of residuals, in the right shape."""
    before = r.copy()
    moved = np.asarray(noise.apply(drawn, r, fitted), dtype=np.float64)
    expected = (*r.shape[:-1], size, r.shape[-1])
    name = type(noise).__name__
    if moved.shape != expected:
        raise _broken(f"{name}.apply", f"has the wrong shape for residuals of shape {r.shape}",
                      f"shape {expected}", f"shape {moved.shape}",
                      "Rows are the last axis, transformations the one before.")  # fmt: skip
    if not np.array_equal(r, before):
        raise _broken(f"{name}.apply", "overwrites the residuals", "residuals as they were",
                      "other numbers", "Work on a copy.")  # fmt: skip
    return moved


def _matrices(noise: Noise, drawn: Any, n: int) -> Array:
    """Return linear transformations as matrices, (size, n, n)."""
    columns = np.asarray(noise.apply(drawn, np.eye(n), np.zeros((n, n))), dtype=np.float64)
    return columns.transpose(1, 2, 0)


def _check_orthogonal(noise: Noise, drawn: Any, n: int) -> None:
    G = _matrices(noise, drawn, n)
    r = np.random.default_rng(0).normal(size=n)
    linear = np.allclose(noise.apply(drawn, r, np.zeros(n)), G @ r, rtol=_TOLERANCE, atol=1e-8)
    if not linear or not np.allclose(G @ G.transpose(0, 2, 1), np.eye(n), atol=1e-8):
        raise _broken(type(noise).__name__, "says orthogonal and is not",
                      "linear maps that keep all lengths",
                      "linear maps that change some" if linear else "maps that are not linear",
                      "Set orthogonal = False.")  # fmt: skip


def _check_group(noise: Noise, drawn: Any, n: int) -> None:
    """Compare the listed group with its own products, and with what is drawn."""
    try:
        listed, m = noise.group(n, modulo_sign=False)
    except ValueError:
        return  # no finite group, or too large a one
    elements = [np.eye(n), *_matrices(noise, listed, n)]
    keys = {_key(G) for G in elements}
    what = f"{type(noise).__name__}.group({n})"
    if len(elements) != m or len(keys) != m:
        raise _broken(what, "lists elements twice or miscounts them",
                      f"m = {m} different ones, the identity not listed",
                      f"{len(elements) - 1} listed, {len(keys)} different with the identity",
                      _SEE)  # fmt: skip
    pairs = np.arange(m * m)
    if len(pairs) > _PAIRS:
        pairs = np.random.default_rng(0).integers(m * m, size=_PAIRS)
    if any(_key(elements[k // m] @ elements[k % m].T) not in keys for k in pairs):
        raise _broken(what, "is no group", "products and inverses of its elements in it",
                      "one that is missing", _SEE)  # fmt: skip
    if any(_key(G) not in keys for G in _matrices(noise, drawn, n)):
        raise _broken(type(noise).__name__, f"draws something that noise.group({n}) does not list",
                      "elements of the group", "another one", _SEE)  # fmt: skip


def _key(G: Array) -> bytes:
    return (np.round(G, 6) + 0.0).tobytes()  # + 0.0: minus zero is zero


def _check_ranks(noise: Noise, n: int, repetitions: int, rng: np.random.Generator) -> None:
    """Simulate noise of an invariant law, and rank it among its transformations."""
    ranks = np.stack([_simulated(noise, n, rng) for _ in range(repetitions)])
    low, high = binom.ppf([[0.5e-6], [1 - 0.5e-6]], repetitions, np.arange(1, _M) / _M)
    for column in ranks.T:
        at_most = (column[:, None] <= np.arange(1, _M)).sum(axis=0)
        wrong = (at_most < low) | (at_most > high)
        if wrong.any():
            q = int(np.flatnonzero(wrong)[0])
            raise _broken(f"{type(noise).__name__}: the rank of the noise", "is not uniform",
                          f"{low[q]:.0f} to {high[q]:.0f} of {repetitions} ranks at {q + 1} or "
                          f"less of {_M}", f"{at_most[q]}",
                          f"Draw uniformly from a group. {_SEE}")  # fmt: skip


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


def _broken(name: str, wrong: str, expected: str, given: str, remedy: str) -> AssertionError:
    return AssertionError(f"{name} {wrong}: expected {expected}, given {given}. {remedy}")
