"""The settings of the six figures, as their captions give them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.kernel_ridge import KernelRidge

from unassuming.kernels import rectangular, truncated_parabolic
from unassuming.models import LSSVC, KernelLasso
from unassuming.paper._errata import NO_GUARANTEE, SKEWED, UNBOUNDED
from unassuming.paper._models import BiasFreeSVR
from unassuming.paper._samples import Draw, coin_classes, two_classes, unit_laplace, x_sin_x

M = 100
"""Statistics of every region of the article."""
LEVELS = (0.1, 0.5, 0.9)
"""Those of the ellipsoids of figure 1; the tables have them for all figures."""

EXACT = "exact"
LAPLACE = "Laplace, scale 1/2"
INPUT_RANGE = 10.0
"""Inputs are equidistant on [0, 10]."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A model, its data and what is promised of its region.

    Attributes
    ----------
    panel : str
        "2a" is part (a) of figure 2.
    name : str
        The model or what is varied, for titles.
    model : estimator
    draw : callable
        ``draw(rng) -> Sample``.
    n : int
    law : str
        The noise in words.
    options : dict
        Of `confidence_region`.
    truth : str
        What the region ought to hold, in words.
    promise : str
        Of the coverage: "exact", or "none".
    note : str
        What has to be said beside it.
    """

    panel: str
    name: str
    model: Any
    draw: Draw
    n: int
    law: str = LAPLACE
    options: dict[str, Any] = field(default_factory=lambda: {"noise": "symmetric", "m": M})
    truth: str = "x sin x"
    promise: str = EXACT
    note: str = ""


@dataclass(frozen=True, eq=False)
class Figure:
    """One figure of the article.

    Attributes
    ----------
    number : int
    title : str
    settings : tuple of Setting
        Regions that are drawn and counted.
    counted : tuple of Setting
        Regions that are only counted: what the article does not have.
    process : bool
        Whether a Gaussian process stands beside them.
    notes : tuple of str
    """

    number: int
    title: str
    settings: tuple[Setting, ...]
    counted: tuple[Setting, ...] = ()
    process: bool = False
    notes: tuple[str, ...] = ()


def gaussian(sigma: float) -> dict[str, Any]:
    """exp(-‖z - s‖² / (2σ²)) in scikit-learn's words."""
    return {"kernel": "rbf", "gamma": 1 / (2 * sigma**2)}


def kernel_ridge(n: int) -> KernelRidge:
    """λ = 0.1 beside the mean of the squares: alpha = nλ."""
    return KernelRidge(alpha=0.1 * n, **gaussian(0.5))


def kernel_lasso(sigma: float) -> KernelLasso:
    """λ = 1 beside half the sum of squares, Gaussian kernel."""
    return KernelLasso(1.0, **gaussian(sigma))


def _figure_1() -> Figure:
    classifier = LSSVC(C=0.1, fit_intercept=False)  # the article leaves out the bias here
    law = "Laplace of scale 1/2 in the inputs"
    as_published = Setting(
        panel="1",
        name="LS-SVC, symmetric slacks",
        model=classifier,
        draw=two_classes,
        n=100,
        law=law,
        truth="w = (2, 2)",
        promise="none",
        note=NO_GUARANTEE,
    )
    labels = Setting(
        panel="1",
        name="LS-SVC, labels drawn from E[y|x]",
        model=classifier,
        draw=coin_classes,
        n=100,
        law=law,
        options={"noise": "labels", "m": M},
        truth="E[y|x]",
        note="Not in the article: the exact region, of E[y|x]; the class of each point is a fair "
        "coin here.",
    )
    return Figure(1, "LS-SVC in model and coefficient space", (as_published,), (labels,))


def _figure_2() -> Figure:
    draw = x_sin_x(20, "laplace")
    # The article's c is 250, and c / n the side of the box. Its statistics have Ψ = I and no bias.
    svr = BiasFreeSVR(C=250 / 20, epsilon=0.2, **gaussian(0.5))
    options = {"noise": "symmetric", "m": M, "weighting": "identity"}
    return Figure(
        2,
        "Kernel ridge regression and ε-SVR",
        (
            Setting("2a", "KRR, λ = 0.1", kernel_ridge(20), draw, 20),
            Setting("2b", "ε-SVR, ε = 0.2, c = 250", svr, draw, 20, options=options),
        ),
        notes=(
            UNBOUNDED,
            "Readings of the caption of (b): no bias, a box of side c/n, statistics with Ψ = I.",
        ),
    )


def _figure_3() -> Figure:
    setting = Setting(
        "3a", "kernel LASSO, λ = 1, σ = 1", kernel_lasso(1.0), x_sin_x(20, "laplace"), 20
    )
    return Figure(
        3,
        "Kernel LASSO and a Gaussian process",
        (setting,),
        process=True,
        notes=(UNBOUNDED, "Part (b) shows the pointwise bands of the process, level by level."),
    )


def _figure_4() -> Figure:
    laws: list[tuple[str, Any, dict[str, Any]]] = [
        ("Gaussian", "gaussian", {}),
        ("Laplace", unit_laplace, {}),
        ("uniform", "uniform", {}),
        ("binomial", "binomial", {"promise": "none", "note": SKEWED}),
    ]
    settings = tuple(
        Setting(
            f"4{part}",
            f"KRR, {name} noise",
            kernel_ridge(20),
            x_sin_x(20, noise),
            20,
            law=f"{name}, variance 1",
            **more,
        )
        for part, (name, noise, more) in zip("abcd", laws, strict=True)
    )
    return Figure(4, "Kernel ridge regression under four noise laws", settings, notes=(UNBOUNDED,))


def _figure_5() -> Figure:
    # The article writes σ for the Laplacian kernel as well: exp(-‖z - s‖ / σ). Its c = 1/38 for the
    # rectangular one is half the distance of 20 inputs on [0, 1]; we take it as a share of their
    # range, so that the steps meet. Literally, the functions vanish between the inputs. The kernel
    # matrix is the identity in either reading, so the region is the same.
    kernels: list[tuple[str, dict[str, Any]]] = [
        ("Gaussian", gaussian(0.5)),
        ("Laplacian", {"kernel": "laplacian", "gamma": 1 / 0.5}),
        ("parabolic", {"kernel": truncated_parabolic, "kernel_params": {"c": 1.0}}),
        ("rectangular", {"kernel": rectangular, "kernel_params": {"c": INPUT_RANGE / 38}}),
    ]
    draw = x_sin_x(20, "laplace")
    settings = tuple(
        Setting(f"5{part}", f"{name} kernel", KernelLasso(1.0, **kernel), draw, 20)
        for part, (name, kernel) in zip("abcd", kernels, strict=True)
    )
    readings = (
        "Readings of the caption: the Laplacian kernel is exp(-|z - s|/σ); c = 1/38 of the "
        "rectangular kernel is a share of the range of the inputs, so that the steps meet (the "
        "region is the same in either reading). The matrix of the parabolic kernel is indefinite."
    )
    return Figure(5, "Kernel LASSO with four kernels", settings, notes=(UNBOUNDED, readings))


def _figure_6() -> Figure:
    settings = tuple(
        Setting(f"6{part}", f"n = {n}", kernel_lasso(0.5), x_sin_x(n, "laplace"), n)
        for part, n in zip("abcd", (10, 20, 50, 100), strict=True)
    )
    return Figure(6, "Kernel LASSO with four sample sizes", settings, notes=(UNBOUNDED,))


FIGURES = {
    figure.number: figure
    for figure in (_figure_1(), _figure_2(), _figure_3(), _figure_4(), _figure_5(), _figure_6())
}
"""The figures by their numbers."""
