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

from unassuming.datasets.generators import (
    KernelExpansion,
    LabelMean,
    arx,
    instrumented,
    labels,
    linear,
    rkhs,
    sine,
    two_classes,
    x_sin_x,
)

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
