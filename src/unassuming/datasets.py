"""Data with a known truth, for examples, tests and pictures.

Every generator returns the same data for the same integer ``random_state``. The generators of
regressions take ``noise``, a callable ``(n, rng) -> (n,)`` or the name of a law:

=================== ===================================================== ==============
name                law of e_j                                            class
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

Random signs need symmetric noise; iid noise is enough for random permutations; spherical noise is
both. Sign changes are not exact for the last two laws: use ``noise="exchangeable"`` for these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias, final

import numpy as np

from unassuming._errors import complaint
from unassuming._typing import Array

__all__ = [
    "KernelExpansion",
    "LabelMean",
    "arx",
    "instrumented",
    "labels",
    "linear",
    "rkhs",
    "sine",
    "two_classes",
    "x_sin_x",
]

Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None
Law: TypeAlias = str | Callable[[int, np.random.Generator], Array]
Truth: TypeAlias = Callable[[Any], Array]
Sample: TypeAlias = tuple[Array, Array, Array]

_P = (1 - np.sqrt(0.8)) / 2  # the smaller root of 20p(1 - p) = 1
_LAWS: dict[str, Callable[[int, np.random.Generator], Array]] = {
    "gaussian": lambda n, rng: rng.normal(size=n),
    "laplace": lambda n, rng: rng.laplace(scale=0.5, size=n),
    "uniform": lambda n, rng: rng.uniform(-np.sqrt(3), np.sqrt(3), size=n),
    "student": lambda n, rng: 0.5 * rng.standard_t(2, size=n),
    "cauchy": lambda n, rng: 0.5 * rng.standard_cauchy(size=n),
    "heteroscedastic": lambda n, rng: np.linspace(0.1, 2, n) * rng.normal(size=n),
    "skewed": lambda n, rng: rng.exponential(size=n) - 1,
    "binomial": lambda n, rng: rng.binomial(20, _P, size=n) - 20 * _P,
}


# --- true functions ---------------------------------------------------------------------------


def x_sin_x(X: Any) -> Array:
    """Return x sin x for inputs X of shape (N, 1).

    Examples
    --------
    >>> x_sin_x([[0.0]])
    array([0.])
    """
    x = _columns(X, 1)[:, 0]
    return x * np.sin(x)


@final
@dataclass(frozen=True, eq=False)
class KernelExpansion:
    """A function in an RKHS: f(x) = Σ_j c_j exp(-gamma (x - t_j)²), callable on an (N, 1) array.

    Attributes
    ----------
    centres, coefficients : arrays of shape (k,)
        The points t_j and the weights c_j.
    gamma : float
        As in scikit-learn's ``rbf`` kernel.

    Examples
    --------
    >>> f = KernelExpansion(centres=np.array([0.0]), coefficients=np.array([2.0]), gamma=1.0)
    >>> f([[0.0], [1.0]]).round(3), f.norm
    (array([2.   , 0.736]), 2.0)
    """

    centres: Array
    coefficients: Array
    gamma: float

    def __call__(self, X: Any) -> Array:
        """Return the values of f at the rows of X."""
        return self._gram(_columns(X, 1)[:, 0]) @ self.coefficients

    @property
    def norm(self) -> float:
        """Norm of f in the RKHS, sqrt(Σ_ij c_i c_j k(t_i, t_j))."""
        c = self.coefficients
        return float(np.sqrt(np.maximum(c @ self._gram(self.centres) @ c, 0)))

    def _gram(self, x: Array) -> Array:
        return np.asarray(np.exp(-self.gamma * (x[:, None] - self.centres) ** 2))


@final
@dataclass(frozen=True, eq=False)
class LabelMean:
    """The mean of a label ±1: f(x) = E[y | x] = tanh(g(x)/2) with g(x) = b + xᵀw.

    It is callable on an (N, d) array. P(y = 1 | x) = (1 + f(x))/2 is the logistic function of g(x).

    Attributes
    ----------
    coefficients : array of shape (d + 1,)
        The numbers [b, w...].

    Examples
    --------
    >>> LabelMean(coefficients=np.array([0.0, 2.0]))([[0.0], [1.0]]).round(3)
    array([0.   , 0.762])
    """

    coefficients: Array

    def __call__(self, X: Any) -> Array:
        """Return the values of f at the rows of X."""
        b, w = self.coefficients[0], self.coefficients[1:]
        return np.asarray(np.tanh((b + _columns(X, len(w)) @ w) / 2))


# --- generators -------------------------------------------------------------------------------


def sine(
    n: int = 80, noise: Law = "laplace", random_state: Seed = None
) -> tuple[Array, Array, Truth]:
    """Noisy values of x sin x at n equidistant inputs on [0, 10].

    Parameters
    ----------
    n : int, the number of rows
    noise, random_state : see `unassuming.datasets`

    Returns
    -------
    X, y : arrays of shapes (n, 1) and (n,)
    f : the true function, from (N, 1) to (N,) arrays

    Examples
    --------
    >>> X, y, f = sine(n=5, noise=lambda n, rng: np.zeros(n))
    >>> X.ravel(), bool((y == f(X)).all())
    (array([ 0. ,  2.5,  5. ,  7.5, 10. ]), True)
    """
    n, rng = _count("n", n), _generator(random_state)
    X = np.linspace(0, 10, n)[:, None]
    return X, x_sin_x(X) + _draw(noise, n, rng), x_sin_x


def linear(n: int = 40, d: int = 3, noise: Law = "laplace", random_state: Seed = None) -> Sample:
    """A linear model y = b + Xw + e; entries of X and coefficients are standard normal.

    Parameters
    ----------
    n, d : int, the numbers of rows and columns
    noise, random_state : see `unassuming.datasets`

    Returns
    -------
    X, y : arrays of shapes (n, d) and (n,)
    coefficients : array of shape (d + 1,), the true [b, w...], in the order of regions

    Examples
    --------
    >>> X, y, coefficients = linear(n=6, d=2, random_state=0)
    >>> X.shape, y.shape, coefficients.shape
    ((6, 2), (6,), (3,))
    """
    n, d, rng = _count("n", n), _count("d", d), _generator(random_state)
    X, coefficients = rng.normal(size=(n, d)), rng.normal(size=d + 1)
    return X, coefficients[0] + X @ coefficients[1:] + _draw(noise, n, rng), coefficients


def instrumented(
    n: int = 200,
    strength: float = 0.5,
    instruments: int = 1,
    noise: Law = "laplace",
    random_state: Seed = None,
) -> Sample:
    """A linear equation with an endogenous column x and instruments w: y = a + cz + bx + e.

    x = strength Σ w / √k + z/2 + 0.8 e + 0.6 v depends on the noise e. The k instruments, the
    control z and v are independent standard normal numbers.

    Parameters
    ----------
    n : int, the number of rows
    strength : float, how much the instruments move x; with 0 they say nothing about b
    instruments : int, their number k
    noise, random_state : see `unassuming.datasets`

    Returns
    -------
    X, y : arrays of shapes (n, 2 + k) and (n,)
        X has the columns x, z and the instruments.
    coefficients : array of shape (3,), the true [a, c, b] = [1, -0.5, 0.7]

    Examples
    --------
    >>> X, y, coefficients = instrumented(n=6, instruments=2, random_state=0)
    >>> X.shape, y.shape, coefficients
    ((6, 4), (6,), array([ 1. , -0.5,  0.7]))
    """
    n, k, rng = _count("n", n), _count("instruments", instruments), _generator(random_state)
    W, z, v = rng.normal(size=(n, k)), rng.normal(size=n), rng.normal(size=n)
    e = _draw(noise, n, rng)
    x = strength * W.sum(axis=1) / np.sqrt(k) + z / 2 + 0.8 * e + 0.6 * v
    return np.column_stack([x, z, W]), 1.0 - 0.5 * z + 0.7 * x + e, np.array([1.0, -0.5, 0.7])


def arx(
    n: int = 100,
    a: Any = (0.8,),
    b: Any = (1.0,),
    noise: Law = "laplace",
    random_state: Seed = None,
) -> Sample:
    """A dynamical system: y_t = Σ a_k y_{t-k} + Σ b_k u_{t-k} + e_t, with zeros before the start.

    The inputs u are independent standard normal numbers; the system may be unstable.

    Parameters
    ----------
    n : int, the number of times
    a, b : sequences of floats, the coefficients of past outputs and of past inputs
    noise, random_state : see `unassuming.datasets`

    Returns
    -------
    u, y : arrays of shape (n,)
    coefficients : array, the true [a..., b...], in the order of regions of `unassuming.ARX`

    Examples
    --------
    >>> u, y, coefficients = arx(n=6, a=[0.5, -0.2], random_state=0)
    >>> u.shape, y.shape, coefficients
    ((6,), (6,), array([ 0.5, -0.2,  1. ]))
    """
    n, rng = _count("n", n), _generator(random_state)
    own, other = (np.atleast_1d(np.asarray(part, dtype=np.float64)) for part in (a, b))
    u = rng.normal(size=n)
    v = _draw(noise, n, rng).copy()
    for k, factor in enumerate(other[: n - 1], start=1):
        v[k:] += factor * u[: n - k]
    y = np.zeros(n + len(own))  # zeros come before the first output
    for t in range(n):
        y[len(own) + t] = v[t] + own @ y[t : t + len(own)][::-1]
    return u, y[len(own) :], np.concatenate([own, other])


def rkhs(
    n: int = 40,
    noise: Law = "laplace",
    gamma: float = 0.5,
    n_centres: int = 5,
    random_state: Seed = None,
) -> tuple[Array, Array, KernelExpansion]:
    """Noisy values of a function whose RKHS norm is known, at n equidistant inputs on [0, 10].

    The function is a sum of bumps exp(-gamma (x - t)²) with normal weights of standard deviation 5.
    Their centres t are uniform on [0, 10] and lie between the inputs: f is in the RKHS, but not in
    the span of the kernel functions at the inputs.

    Parameters
    ----------
    n : int, the number of rows
    gamma : float, as in scikit-learn's ``rbf`` kernel
    n_centres : int, the number of bumps
    noise, random_state : see `unassuming.datasets`

    Returns
    -------
    X, y : arrays of shapes (n, 1) and (n,)
    f : KernelExpansion, the true function, with its norm as ``f.norm``

    Examples
    --------
    >>> X, y, f = rkhs(n=30, random_state=0)
    >>> bool(abs(f(X)).max() <= f.norm)  # |f(x)| <= ‖f‖ sqrt(k(x, x)), and k(x, x) = 1
    True
    """
    n, n_centres, rng = _count("n", n), _count("n_centres", n_centres), _generator(random_state)
    if not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(
            complaint("gamma", "is not positive", "a number > 0", gamma, "Pass gamma=0.5.")
        )
    X = np.linspace(0, 10, n)[:, None]
    centres = rng.uniform(0, 10, size=n_centres)
    f = KernelExpansion(centres, 5 * rng.normal(size=n_centres), float(gamma))
    return X, f(X) + _draw(noise, n, rng), f


def two_classes(n: int = 100, random_state: Seed = None) -> tuple[Array, Array]:
    """Two overlapping clouds in the plane, around (0, ½) with label +1 and (-½, 0) with label -1.

    Both coordinates have independent Laplace noise of scale ½. The noise is in the *inputs*: given
    the inputs, the residuals of a linear classifier are not symmetric.

    Parameters
    ----------
    n : int, the number of points; the first half, rounded up, has label +1
    random_state : see `unassuming.datasets`

    Returns
    -------
    X, y : arrays of shapes (n, 2) and (n,)

    Examples
    --------
    >>> X, y = two_classes(n=4, random_state=0)
    >>> X.shape, y
    ((4, 2), array([ 1.,  1., -1., -1.]))
    """
    n, rng = _count("n", n), _generator(random_state)
    y = np.where(np.arange(n) < (n + 1) // 2, 1.0, -1.0)
    centres = np.where(y[:, None] > 0, [0.0, 0.5], [-0.5, 0.0])
    return centres + rng.laplace(scale=0.5, size=(n, 2)), y


def labels(n: int = 100, d: int = 2, random_state: Seed = None) -> tuple[Array, Array, LabelMean]:
    """Labels ±1 from a logistic model; entries of X and coefficients are standard normal.

    Parameters
    ----------
    n, d : int, the numbers of rows and columns
    random_state : see `unassuming.datasets`

    Returns
    -------
    X, y : arrays of shapes (n, d) and (n,)
    f : LabelMean, the truth E[y | x], with ``f.coefficients`` = [b, w...]

    Examples
    --------
    >>> X, y, f = labels(n=50, random_state=0)
    >>> sorted(set(y.tolist())), bool((abs(f(X)) < 1).all())
    ([-1.0, 1.0], True)
    """
    n, d, rng = _count("n", n), _count("d", d), _generator(random_state)
    X, f = rng.normal(size=(n, d)), LabelMean(rng.normal(size=d + 1))
    return X, np.where(rng.uniform(size=n) < (1 + f(X)) / 2, 1.0, -1.0), f


# --- arguments --------------------------------------------------------------------------------


def _draw(noise: Law, n: int, rng: np.random.Generator) -> Array:
    """Draw n noise terms from a law given by name or as a callable."""
    law = noise if callable(noise) else _LAWS.get(str(noise))
    if law is None:
        known = f"one of {', '.join(_LAWS)}, or a callable (n, rng) -> (n,)"
        raise ValueError(complaint("noise", "is unknown", known, repr(noise), "Choose one."))
    e = np.asarray(law(n, rng), dtype=np.float64)
    if e.shape != (n,):
        wrong, remedy = "returned another shape", "Return one number for each row."
        raise ValueError(complaint("noise", wrong, f"({n},)", e.shape, remedy))
    return e


def _generator(random_state: Any) -> np.random.Generator:
    """Turn any accepted random_state into a Generator."""
    if isinstance(random_state, np.random.RandomState):  # drawing the seed from it advances it
        random_state = random_state.randint(2**32, size=4, dtype=np.uint32)
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        expected = "an integer >= 0, a Generator, a RandomState or None"
        wrong, given = "cannot seed a generator", repr(random_state)
        raise ValueError(
            complaint("random_state", wrong, expected, given, "Pass random_state=0.")
        ) from error


def _count(name: str, value: int) -> int:
    """Return a number of rows, columns or bumps; raise unless it is a positive integer."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        wrong, remedy = "is not a positive integer", f"Pass e.g. {name}=10."
        raise ValueError(complaint(name, wrong, "an integer >= 1", repr(value), remedy))
    return int(value)


def _columns(X: Any, d: int) -> Array:
    """Return the inputs of a true function as an array; raise unless they have d columns."""
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] != d:
        remedy = f"Pass one row per point, for example X.reshape(-1, {d})."
        raise ValueError(complaint("X", "has the wrong shape", f"(N, {d})", table.shape, remedy))
    return table
