"""Data with a known truth: to try a method, to test it, to draw a picture.

Every generator gives the same bytes for the same integer seed. The regression generators take a
noise law by name:

=================== ===================================================== ==============
name                law of e_j                                            what it obeys
=================== ===================================================== ==============
``gaussian``        normal, standard deviation 1                          spherical
``laplace``         Laplace, scale ½ (variance ½)                         symmetric, iid
``uniform``         uniform on [-√3, √3] (variance 1)                     symmetric, iid
``student``         ½ times Student t, 2 degrees of freedom (no variance) symmetric, iid
``cauchy``          Cauchy, scale ½ (no mean)                             symmetric, iid
``heteroscedastic`` normal, standard deviations np.linspace(0.1, 2, n)    symmetric only
``skewed``          exponential with mean 1, minus 1 (variance 1)         iid only
``binomial``        20 trials with 20p(1 - p) = 1, minus 20p (variance 1) iid only
=================== ===================================================== ==============

Symmetric is what random signs need; iid is enough for random permutations; spherical noise is
symmetric and iid too. Sign changes are not exact for the last two laws: assume
``noise="exchangeable"`` for those.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from unassuming._typing import Array

__all__ = [
    "KernelExpansion",
    "LabelMean",
    "labels",
    "linear",
    "rkhs",
    "sine",
    "two_classes",
    "x_sin_x",
]

NoiseLaw: TypeAlias = Callable[[int, np.random.Generator], Array]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None

# The smaller root of 20p(1 - p) = 1.
_BINOMIAL_P = (1 - np.sqrt(0.8)) / 2

_LAWS: dict[str, NoiseLaw] = {
    "gaussian": lambda n, rng: rng.normal(size=n),
    "laplace": lambda n, rng: rng.laplace(scale=0.5, size=n),
    "uniform": lambda n, rng: rng.uniform(-np.sqrt(3), np.sqrt(3), size=n),
    "student": lambda n, rng: 0.5 * rng.standard_t(2, size=n),
    "cauchy": lambda n, rng: 0.5 * rng.standard_cauchy(size=n),
    "heteroscedastic": lambda n, rng: np.linspace(0.1, 2, n) * rng.normal(size=n),
    "skewed": lambda n, rng: rng.exponential(size=n) - 1,
    "binomial": lambda n, rng: rng.binomial(20, _BINOMIAL_P, size=n) - 20 * _BINOMIAL_P,
}


def x_sin_x(X: Any) -> Array:
    """f(x) = x sin x, for an (N, 1) array of inputs.

    Parameters
    ----------
    X : array-like of shape (N, 1)

    Returns
    -------
    ndarray of shape (N,)

    Examples
    --------
    >>> x_sin_x([[0.0]])
    array([0.])
    """
    x = _table(X, 1)[:, 0]
    return x * np.sin(x)


@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """A function of an RKHS: f(x) = Σ_j c_j exp(-gamma (x - t_j)²).

    Call it with an (N, 1) array; it returns an (N,) array.

    Attributes
    ----------
    centres : ndarray of shape (k,)
        The points t_j.
    coefficients : ndarray of shape (k,)
        The weights c_j.
    gamma : float
        As in scikit-learn's ``rbf`` kernel.

    Examples
    --------
    >>> import numpy as np
    >>> f = KernelExpansion(centres=np.array([0.0]), coefficients=np.array([2.0]), gamma=1.0)
    >>> f([[0.0], [1.0]]).round(3)
    array([2.   , 0.736])
    >>> f.norm
    2.0
    """

    centres: Array
    coefficients: Array
    gamma: float

    def __call__(self, X: Any) -> Array:
        """Values of f at the rows of X."""
        return self._gram(_table(X, 1)[:, 0]) @ self.coefficients

    @property
    def norm(self) -> float:
        """Norm of f in the RKHS, sqrt(Σ_ij c_i c_j k(t_i, t_j))."""
        c = self.coefficients
        return float(np.sqrt(np.maximum(c @ self._gram(self.centres) @ c, 0)))

    def _gram(self, x: Array) -> Array:
        difference = x[:, None] - self.centres[None, :]
        gram: Array = np.exp(-self.gamma * difference**2)
        return gram


@dataclass(frozen=True, eq=False)
class LabelMean:
    """The mean of a ±1 label: f(x) = E[y | x] = tanh(g(x)/2) with g(x) = b + xᵀw.

    Call it with an (N, d) array; it returns an (N,) array. P(y = 1 | x) = (1 + f(x))/2 is the
    logistic function of g(x).

    Attributes
    ----------
    coefficients : ndarray of shape (d + 1,)
        The numbers [b, w...].

    Examples
    --------
    >>> import numpy as np
    >>> f = LabelMean(coefficients=np.array([0.0, 2.0]))
    >>> f([[0.0], [1.0]]).round(3)
    array([0.   , 0.762])
    """

    coefficients: Array

    def __call__(self, X: Any) -> Array:
        """Values of f at the rows of X."""
        b, w = self.coefficients[0], self.coefficients[1:]
        f: Array = np.tanh((b + _table(X, len(w)) @ w) / 2)
        return f


def sine(
    n: int = 80, noise: str | NoiseLaw = "laplace", random_state: RandomState = None
) -> tuple[Array, Array, Callable[[Any], Array]]:
    """Noisy values of x sin x at equidistant inputs on [0, 10].

    Parameters
    ----------
    n : int, default=80
        Number of points. The first is at 0, the last at 10.
    noise : str or callable, default="laplace"
        A name from the table at the top of this module, or a callable ``(n, rng) -> (n,)``.
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
    >>> bool(abs(y - f(X)).max() < 2)
    True

    Noise of your own, here none at all:

    >>> X, y, f = sine(n=5, noise=lambda n, rng: np.zeros(n))
    >>> bool((y == f(X)).all())
    True
    """
    n = _count("n", n)
    rng = _generator(random_state)
    X = np.linspace(0, 10, n)[:, None]
    return X, x_sin_x(X) + _draw(noise, n, rng), x_sin_x


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
        A name from the table at the top of this module, or a callable ``(n, rng) -> (n,)``.
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
    return X, f + _draw(noise, n, rng), coefficients


def rkhs(
    n: int = 40,
    noise: str | NoiseLaw = "laplace",
    gamma: float = 0.5,
    n_centres: int = 5,
    random_state: RandomState = None,
) -> tuple[Array, Array, KernelExpansion]:
    """Noisy values of a function whose RKHS norm is known, on [0, 10].

    The function is a weighted sum of Gaussian bumps exp(-gamma (x - t)²). Its centres t are drawn
    uniformly on [0, 10], so they lie between the (equidistant) inputs: f is in the space of the
    kernel, but it is not a combination of the kernel's sections at the inputs. The weights are
    normal with standard deviation 5.

    Parameters
    ----------
    n : int, default=40
        Number of points.
    noise : str or callable, default="laplace"
        A name from the table at the top of this module, or a callable ``(n, rng) -> (n,)``.
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
    return X, f(X) + _draw(noise, n, rng), f


def two_classes(n: int = 100, random_state: RandomState = None) -> tuple[Array, Array]:
    """Two overlapping clouds in the plane, labelled +1 and -1.

    The centre of the class +1 is (0, ½), that of the class -1 is (-½, 0); independent Laplace
    noise of scale ½ is added to both coordinates of every point. The noise is in the *inputs*:
    given the inputs, the residuals of a linear classifier are not symmetric.

    Parameters
    ----------
    n : int, default=100
        Number of points. The first half has label +1; of an odd number it gets the larger part.
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

    P(y = 1 | x) = (1 + f(x))/2 with f(x) = tanh(g(x)/2) and g(x) = b + xᵀw. The entries of X and
    the coefficients are independent standard normal numbers.

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


def _draw(noise: str | NoiseLaw, n: int, rng: np.random.Generator) -> Array:
    """Draw n noise terms from a law given by name or as a callable."""
    if callable(noise):
        e = np.asarray(noise(n, rng), dtype=np.float64)
        if e.shape != (n,):
            raise ValueError(
                f"noise returned an array of the wrong shape: expected shape ({n},), given "
                f"{e.shape}. A noise callable takes (n, rng) and returns n numbers."
            )
        return e
    if not isinstance(noise, str) or noise not in _LAWS:
        names = ", ".join(f'"{name}"' for name in _LAWS)
        raise ValueError(
            f"noise is not a known law: expected one of {names}, or a callable, given {noise!r}. "
            "Choose a name from the list or pass a callable (n, rng) -> (n,)."
        )
    return _LAWS[noise](n, rng)


def _generator(random_state: RandomState) -> np.random.Generator:
    """Turn any accepted random_state into a Generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        # Seeding from its stream advances it, so a second call gives other data.
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint32))
    if random_state is None or (isinstance(random_state, Integral) and random_state >= 0):
        return np.random.default_rng(random_state)
    raise ValueError(
        "random_state cannot seed a generator: expected an integer >= 0, a numpy Generator, a "
        f"numpy RandomState or None, given {random_state!r}. Pass random_state=0 for data that can "
        "be drawn again."
    )


def _count(name: str, value: int) -> int:
    """Check a number of things, which must be a positive integer."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(
            f"{name} is not a positive integer: expected an integer >= 1, given {value!r}. Pass "
            f"{name}=10, for instance."
        )
    return int(value)


def _table(X: Any, d: int) -> Array:
    """Check the inputs of a true function: an array or data frame of shape (N, d)."""
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != d:
        raise ValueError(
            f"X has the wrong shape: expected (N, {d}), given {table.shape}. Pass one row per "
            f"point, for example X.reshape(-1, {d})."
        )
    return table
