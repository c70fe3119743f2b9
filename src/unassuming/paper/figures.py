"""The six figures of the article as data: name, estimator, noise, levels, and what is wrong there.

A figure has panels, each with a model, a distribution of the data and the truth that its region
should contain. The settings are those of the captions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

from unassuming import datasets
from unassuming._typing import Array
from unassuming.kernels import rectangular, truncated_parabolic
from unassuming.models import LSSVC, KernelLasso
from unassuming.objectives import DesignedObjective, from_svr, register_objective

# Number of statistics of every region of the article.
M = 100

# Levels of the ellipsoids of figure 1; the tables use them for all figures.
LEVELS = (0.1, 0.5, 0.9)

# Inputs are equidistant on [0, 10].
INPUT_RANGE = 10.0

# Concerns every level, and so every figure.
REVERSED = (
    "Erratum 1: in the rank of Z_0 the article counts the Z_i that come after it. That region "
    "would exclude the estimate and contain everything far away. Levels here count the Z_i before "
    "Z_0, as in the proof."
)

_NO_GUARANTEE = (
    "Erratum 2: given the inputs, slacks of labels are not symmetric, so this region, drawn as "
    "published, carries no coverage guarantee. Marginally, slacks are symmetric for w = (2, 2)."
)
_SKEWED = (
    "Erratum 3: centred binomial noise with p = 0.0528 is skewed, so sign changes are not exact."
)
_UNBOUNDED = (
    "The article assumes that regions such as those of KRR are bounded. With a full-rank kernel "
    "and sign changes they are unbounded at the levels given in the table; pictures show the part "
    "that random coefficients reach."
)
_FAIR = (
    "Not in the article: the exact region, which is that of E[y|x]; the class of each point is a "
    "fair coin."
)
_OF_SVR = "We read the caption of (b) as: no bias, a box of side c/n, statistics with Ψ = I."
_OF_PROCESS = "Part (b) shows the pointwise bands of the process at all levels."
_OF_KERNELS = (
    "We read the caption as: the Laplacian kernel is exp(-|z - s|/σ); c = 1/38 of the rectangular "
    "kernel is a fraction of the range of the inputs, so that the steps meet (the region is the "
    "same without this). The matrix of the parabolic kernel is indefinite."
)


@final
@dataclass(frozen=True, eq=False)
class Sample:
    """One data set, and the truth as a candidate: a function of X, or coefficients."""

    X: Array
    y: Array
    truth: Any


@final
@dataclass(frozen=True, eq=False)
class Setting:
    """A panel ("2a" is part (a) of figure 2): a model, its data and the guarantee of its region."""

    panel: str
    name: str
    model: Any
    draw: Callable[[np.random.Generator], Sample]
    n: int = 20
    law: str = "Laplace, scale 1/2"
    options: dict[str, Any] = field(default_factory=lambda: {"noise": "symmetric", "m": M})
    truth: str = "x sin x"
    promise: str = "exact"
    note: str = ""


@final
@dataclass(frozen=True, eq=False)
class Figure:
    """One figure of the article: regions that are drawn, and others that are only counted."""

    number: int
    title: str
    settings: tuple[Setting, ...]
    counted: tuple[Setting, ...] = ()
    process: bool = False
    notes: tuple[str, ...] = (_UNBOUNDED,)


# --- data ---------------------------------------------------------------------------------------


def _x_sin_x(n: int, noise: Any = "laplace") -> Callable[[np.random.Generator], Sample]:
    """Noisy values of x sin x at n equidistant inputs on [0, 10]."""
    return lambda rng: Sample(*datasets.sine(n=n, noise=noise, random_state=rng))


def _unit_laplace(n: int, rng: np.random.Generator) -> Array:
    """Laplace noise of variance one: its scale is 1/√2."""
    return rng.laplace(scale=np.sqrt(0.5), size=n)


def _two_classes(rng: np.random.Generator) -> Sample:
    """50 points of each class around its centre; the truth has symmetric slacks."""
    return Sample(*datasets.two_classes(n=100, random_state=rng), np.array([2.0, 2.0]))


# Centres of the classes +1 and -1 of figure 1; the scale of the Laplace noise is 1/2.
_CENTRES = np.array([[0.0, 0.5], [-0.5, 0.0]])


def _coins(rng: np.random.Generator) -> Sample:
    """The same distributions with independent labels: the class of each point is a fair coin."""
    y = np.where(rng.uniform(size=100) < 0.5, 1.0, -1.0)
    centres = np.where(y[:, None] > 0, *_CENTRES[:, None, :])
    return Sample(centres + rng.laplace(scale=0.5, size=(100, 2)), y, mean_label)


def mean_label(X: Any) -> Array:
    """E[y|x] of the coins: the difference of the two densities over their sum."""
    up, down = (2 * np.abs(np.asarray(X) - centre).sum(axis=1) for centre in _CENTRES)
    return np.asarray(np.tanh((down - up) / 2))


# --- models -------------------------------------------------------------------------------------


@final
class BiasFreeSVR(SVR):
    """ε-SVR as in the article, without a bias (docs/theory.md 5); ``fit`` would fit one."""


def _without_bias(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> DesignedObjective:
    """Build the dual of ε-SVR without the constraint due to the bias."""
    return from_svr(estimator, X, y, sample_weight, intercept=False)


register_objective(BiasFreeSVR, _without_bias)


def _gaussian(sigma: float) -> dict[str, Any]:
    """exp(-‖z - s‖² / (2σ²)) as arguments of scikit-learn."""
    return {"kernel": "rbf", "gamma": 1 / (2 * sigma**2)}


# --- the figures --------------------------------------------------------------------------------

_KRR = KernelRidge(alpha=0.1 * 20, **_gaussian(0.5))  # λ = 0.1 for the mean of squares, n = 20

_PUBLISHED = Setting(
    panel="1",
    name="LS-SVC, symmetric slacks",
    model=LSSVC(C=0.1, fit_intercept=False),  # the article omits the bias here
    draw=_two_classes,
    n=100,
    law="Laplace of scale 1/2 in the inputs",
    truth="w = (2, 2)",
    promise="none",
    note=_NO_GUARANTEE,
)

_LABELS = replace(
    _PUBLISHED,
    name="LS-SVC, labels drawn from E[y|x]",
    draw=_coins,
    options={"noise": "labels", "m": M},
    truth="E[y|x]",
    promise="exact",
    note=_FAIR,
)

# In the article c = 250, and c / n is the side of the box; statistics have Ψ = I and no bias.
_SVR = Setting(
    panel="2b",
    name="ε-SVR, ε = 0.2, c = 250",
    model=BiasFreeSVR(C=250 / 20, epsilon=0.2, **_gaussian(0.5)),
    draw=_x_sin_x(20),
    options={"noise": "symmetric", "m": M, "weighting": "identity"},
)

_NOISES: dict[str, Any] = {
    "Gaussian": "gaussian",
    "Laplace": _unit_laplace,
    "uniform": "uniform",
    "binomial": "binomial",
}

# The article also writes σ for the Laplacian kernel: exp(-‖z - s‖ / σ). For the rectangular kernel
# c = 1/38 is half the distance of 20 inputs on [0, 1]; we scale it to the range of the inputs, so
# that the steps meet. The kernel matrix is the identity in both readings.
_KERNELS: dict[str, dict[str, Any]] = {
    "Gaussian": _gaussian(0.5),
    "Laplacian": {"kernel": "laplacian", "gamma": 1 / 0.5},
    "parabolic": {"kernel": truncated_parabolic, "kernel_params": {"c": 1.0}},
    "rectangular": {"kernel": rectangular, "kernel_params": {"c": INPUT_RANGE / 38}},
}

_CURVE = _x_sin_x(20)
_ALL = (
    Figure(1, "LS-SVC in model and coefficient space", (_PUBLISHED,), (_LABELS,), notes=()),
    Figure(
        2,
        "Kernel ridge regression and ε-SVR",
        (Setting("2a", "KRR, λ = 0.1", _KRR, _CURVE), _SVR),
        notes=(_UNBOUNDED, _OF_SVR),
    ),
    Figure(
        3,
        "Kernel LASSO and a Gaussian process",
        (Setting("3a", "kernel LASSO, λ = 1, σ = 1", KernelLasso(1.0, **_gaussian(1.0)), _CURVE),),
        process=True,
        notes=(_UNBOUNDED, _OF_PROCESS),
    ),
    Figure(
        4,
        "Kernel ridge regression under four noise laws",
        tuple(
            Setting(
                f"4{part}",
                f"KRR, {name} noise",
                _KRR,
                _x_sin_x(20, noise),
                law=f"{name}, variance 1",
                promise="none" if name == "binomial" else "exact",
                note=_SKEWED if name == "binomial" else "",
            )
            for part, (name, noise) in zip("abcd", _NOISES.items(), strict=True)
        ),
    ),
    Figure(
        5,
        "Kernel LASSO with four kernels",
        tuple(
            Setting(f"5{part}", f"{name} kernel", KernelLasso(1.0, **kernel), _CURVE)
            for part, (name, kernel) in zip("abcd", _KERNELS.items(), strict=True)
        ),
        notes=(_UNBOUNDED, _OF_KERNELS),
    ),
    Figure(
        6,
        "Kernel LASSO with four sample sizes",
        tuple(
            Setting(f"6{part}", f"n = {n}", KernelLasso(1.0, **_gaussian(0.5)), _x_sin_x(n), n)
            for part, n in zip("abcd", (10, 20, 50, 100), strict=True)
        ),
    ),
)
FIGURES = {figure.number: figure for figure in _ALL}
