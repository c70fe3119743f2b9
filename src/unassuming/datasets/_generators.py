"""The generators: inputs, noisy outputs, and the truth."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from unassuming._typing import Array
from unassuming.datasets._noise_laws import NoiseLaw, draw_noise
from unassuming.datasets._truths import KernelExpansion, LabelMean, x_sin_x

RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def sine(
    n: int = 80, noise: str | NoiseLaw = "laplace", random_state: RandomState = None
) -> tuple[Array, Array, Callable[[Any], Array]]:
    """Noisy values of x sin x at equidistant inputs on [0, 10].

    Parameters
    ----------
    n : int, default=80
        Number of points. The first is at 0, the last at 10.
    noise : str or callable, default="laplace"
        A name from the table of `unassuming.datasets`, or a callable ``(n, rng) -> (n,)``.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n, 1)
    y : ndarray of shape (n,)
    f : callable
        The truth: takes an (N, 1) array, returns an (N,) array.

    Examples
    --------
    >>> X, y, f = sine(n=5, random_state=0)
    >>> X.ravel()
    array([ 0. ,  2.5,  5. ,  7.5, 10. ])

    The noise may be a function, here one that returns zeros:

    >>> X, y, f = sine(n=5, noise=lambda n, rng: np.zeros(n))
    >>> bool((y == f(X)).all())
    True
    """
    n = _count("n", n)
    rng = _generator(random_state)
    X = np.linspace(0, 10, n)[:, None]
    return X, x_sin_x(X) + draw_noise(noise, n, rng), x_sin_x


def linear(
    n: int = 40, d: int = 3, noise: str | NoiseLaw = "laplace", random_state: RandomState = None
) -> tuple[Array, Array, Array]:
    """A linear model with a Gaussian design: y = b + Xw + e.

    The entries of X and the coefficients are independent standard normal numbers.

    Parameters
    ----------
    n : int, default=40
        Number of rows.
    d : int, default=3
        Number of columns of X.
    noise : str or callable, default="laplace"
        A name from the table of `unassuming.datasets`, or a callable ``(n, rng) -> (n,)``.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    coefficients : ndarray of shape (d + 1,)
        The truth, in the order [b, w...] in which regions expect it.

    Examples
    --------
    >>> X, y, coefficients = linear(n=6, d=2, random_state=0)
    >>> X.shape, y.shape, coefficients.shape
    ((6, 2), (6,), (3,))
    """
    n, d = _count("n", n), _count("d", d)
    rng = _generator(random_state)
    X = rng.normal(size=(n, d))
    coefficients = rng.normal(size=d + 1)
    f = coefficients[0] + X @ coefficients[1:]
    return X, f + draw_noise(noise, n, rng), coefficients


def instrumented(
    n: int = 200,
    strength: float = 0.5,
    instruments: int = 1,
    noise: str | NoiseLaw = "laplace",
    random_state: RandomState = None,
) -> tuple[Array, Array, Array]:
    """A linear equation with an endogenous column x and instruments w: y = a + cz + bx + e.

    x = strength Σ w / √k + z/2 + 0.8 e + 0.6 v depends on the noise e. The k instruments, the
    control z and v are independent standard normal numbers.

    Parameters
    ----------
    n : int, default=200
        Number of rows.
    strength : float, default=0.5
        How much the instruments move x; with 0 they say nothing about b.
    instruments : int, default=1
        k, their number.
    noise : str or callable, default="laplace"
        A name from the table of `unassuming.datasets`, or a callable ``(n, rng) -> (n,)``.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n, 2 + k)
        The columns x, z and the instruments.
    y : ndarray of shape (n,)
    coefficients : ndarray of shape (3,)
        The truth [a, c, b] = [1, -0.5, 0.7]: intercept, control, endogenous column.

    Examples
    --------
    >>> X, y, coefficients = instrumented(n=6, instruments=2, random_state=0)
    >>> X.shape, y.shape, coefficients
    ((6, 4), (6,), array([ 1. , -0.5,  0.7]))
    """
    n, k = _count("n", n), _count("instruments", instruments)
    rng = _generator(random_state)
    W, z, v = rng.normal(size=(n, k)), rng.normal(size=n), rng.normal(size=n)
    e = draw_noise(noise, n, rng)
    x = strength * W.sum(axis=1) / np.sqrt(k) + z / 2 + 0.8 * e + 0.6 * v
    coefficients = np.array([1.0, -0.5, 0.7])
    y = coefficients[0] + coefficients[1] * z + coefficients[2] * x + e
    return np.column_stack([x, z, W]), y, coefficients


def arx(
    n: int = 100,
    a: Any = (0.8,),
    b: Any = (1.0,),
    noise: str | NoiseLaw = "laplace",
    random_state: RandomState = None,
) -> tuple[Array, Array, Array]:
    """A dynamical system: y_t = Σ a_k y_{t-k} + Σ b_k u_{t-k} + e_t, from y = 0.

    The inputs are independent standard normal numbers.

    Parameters
    ----------
    n : int, default=100
        Number of times.
    a, b : sequences of floats, default=(0.8,) and (1.0,)
        The coefficients of past outputs and of past inputs; the system may be unstable.
    noise : str or callable, default="laplace"
        A name from the table of `unassuming.datasets`, or a callable ``(n, rng) -> (n,)``.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    u : ndarray of shape (n,)
    y : ndarray of shape (n,)
    coefficients : ndarray
        The truth, in the order [a..., b...] in which regions of `unassuming.ARX` expect it.

    Examples
    --------
    >>> u, y, coefficients = arx(n=6, a=[0.5, -0.2], random_state=0)
    >>> u.shape, y.shape, coefficients
    ((6,), (6,), array([ 0.5, -0.2,  1. ]))
    """
    n = _count("n", n)
    rng = _generator(random_state)
    own, other = (np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in (a, b))
    u = rng.normal(size=n)
    v = draw_noise(noise, n, rng).copy()
    for k, factor in enumerate(other, start=1):
        v[k:] += factor * u[: n - k] if k < n else 0.0
    y = np.zeros(n + len(own))  # zeros come before the first output
    for t in range(n):
        y[len(own) + t] = v[t] + own @ y[t : t + len(own)][::-1]
    return u, y[len(own) :], np.concatenate([own, other])


def rkhs(
    n: int = 40,
    noise: str | NoiseLaw = "laplace",
    gamma: float = 0.5,
    n_centres: int = 5,
    random_state: RandomState = None,
) -> tuple[Array, Array, KernelExpansion]:
    """Noisy values of a function whose RKHS norm is known, on [0, 10].

    The function is a weighted sum of Gaussian bumps exp(-gamma (x - t)²) with normal weights of
    standard deviation 5. The centres t are uniform on [0, 10] and lie between the equidistant
    inputs: f is in the RKHS, but not in the span of the kernel functions at the inputs.

    Parameters
    ----------
    n : int, default=40
        Number of points.
    noise : str or callable, default="laplace"
        A name from the table of `unassuming.datasets`, or a callable ``(n, rng) -> (n,)``.
    gamma : float, default=0.5
        As in scikit-learn's ``rbf`` kernel.
    n_centres : int, default=5
        Number of bumps.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n, 1)
    y : ndarray of shape (n,)
    f : KernelExpansion
        The truth: callable on an (N, 1) array, with its norm as ``f.norm``.

    Examples
    --------
    >>> X, y, f = rkhs(n=30, random_state=0)
    >>> bool(abs(f(X)).max() <= f.norm)  # |f(x)| <= ‖f‖ sqrt(k(x, x)), and k(x, x) = 1
    True
    """
    n, n_centres = _count("n", n), _count("n_centres", n_centres)
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(
            f"gamma is not positive: expected a finite number > 0, given {gamma}. Try gamma=0.5."
        )
    rng = _generator(random_state)
    X = np.linspace(0, 10, n)[:, None]
    centres = rng.uniform(0, 10, size=n_centres)
    f = KernelExpansion(centres, 5 * rng.normal(size=n_centres), float(gamma))
    return X, f(X) + draw_noise(noise, n, rng), f


def two_classes(n: int = 100, random_state: RandomState = None) -> tuple[Array, Array]:
    """Two overlapping clouds in the plane, labelled +1 and -1.

    The centre of the class +1 is (0, ½), that of the class -1 is (-½, 0); independent Laplace
    noise of scale ½ is added to both coordinates of every point. The noise is in the *inputs*:
    given the inputs, the residuals of a linear classifier are not symmetric.

    Parameters
    ----------
    n : int, default=100
        Number of points. The first half, rounded up, has label +1.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n, 2)
    y : ndarray of shape (n,)
        Labels, 1.0 or -1.0.

    Examples
    --------
    >>> X, y = two_classes(n=4, random_state=0)
    >>> X.shape, y
    ((4, 2), array([ 1.,  1., -1., -1.]))
    """
    n = _count("n", n)
    rng = _generator(random_state)
    y = np.where(np.arange(n) < (n + 1) // 2, 1.0, -1.0)
    centres = np.where(y[:, None] > 0, [0.0, 0.5], [-0.5, 0.0])
    return centres + rng.laplace(scale=0.5, size=(n, 2)), y


def labels(
    n: int = 100, d: int = 2, random_state: RandomState = None
) -> tuple[Array, Array, LabelMean]:
    """Labels ±1 drawn from a logistic model, with their mean function.

    The mean is a `LabelMean`. The entries of X and its coefficients are independent standard normal
    numbers.

    Parameters
    ----------
    n : int, default=100
        Number of rows.
    d : int, default=2
        Number of columns of X.
    random_state : int, Generator, RandomState or None, default=None

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Labels, 1.0 or -1.0.
    f : LabelMean
        The truth E[y | x]: callable on an (N, d) array, with ``f.coefficients`` = [b, w...].

    Examples
    --------
    >>> X, y, f = labels(n=50, random_state=0)
    >>> sorted(set(y.tolist()))
    [-1.0, 1.0]
    >>> bool((abs(f(X)) < 1).all())
    True
    """
    n, d = _count("n", n), _count("d", d)
    rng = _generator(random_state)
    X = rng.normal(size=(n, d))
    f = LabelMean(rng.normal(size=d + 1))
    y = np.where(rng.uniform(size=n) < (1 + f(X)) / 2, 1.0, -1.0)
    return X, y, f


def _generator(random_state: RandomState) -> np.random.Generator:
    """Turn any accepted random_state into a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        # Drawing the seed from it advances it, so that a second call returns other data.
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    if random_state is None or (isinstance(random_state, Integral) and random_state >= 0):
        return np.random.default_rng(random_state)
    raise ValueError(
        "random_state cannot seed a generator: expected an integer >= 0, a numpy Generator, a "
        f"numpy RandomState or None, given {random_state!r}. Pass random_state=0 for reproducible "
        "data."
    )


def _count(name: str, value: int) -> int:
    """Return a number of rows, columns or bumps; raise unless it is a positive integer."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(
            f"{name} is not a positive integer: expected an integer >= 1, given {value!r}. Pass "
            f"e.g. {name}=10."
        )
    return int(value)
