"""The settings of the six figures, as their captions give them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from sklearn.kernel_ridge import KernelRidge

from unassuming.kernels import rectangular, truncated_parabolic
from unassuming.models import LSSVC, KernelLasso
from unassuming.paper._errata import NO_GUARANTEE, SKEWED, UNBOUNDED
from unassuming.paper._models import BiasFreeSVR
from unassuming.paper._samples import Draw, coin_classes, two_classes, unit_laplace, x_sin_x
from unassuming.paper._split_svr import SplitSVR

M = 100
"""Number of statistics of every region of the article."""
LEVELS = (0.1, 0.5, 0.9)
"""Levels of the ellipsoids of figure 1; the tables use them for all figures."""

EXACT = "exact"
LAPLACE = "Laplace, scale 1/2"
INPUT_RANGE = 10.0
"""Inputs are equidistant on [0, 10]."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A model, its data and the guarantee of its region.

    Attributes
    ----------
    panel : str
        "2a" is part (a) of figure 2.
    name : str
        The model, or the setting that varies, for titles.
    law : str
        The distribution of the noise, in words.
    options : dict
        Arguments of `confidence_region`.
    truth : str
        What the region should contain, in words.
    promise : str
        The guaranteed coverage: "exact" or "none".
    note : str
        A remark for the caption and the table.
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
    settings : tuple of Setting
        Regions that are drawn, with their coverage.
    counted : tuple of Setting
        Regions that are not in the article: only their coverage is measured.
    process : bool
        Whether a Gaussian process is compared with them.
    sized : bool
        Whether the article compares the sizes of the regions.
    """

    number: int
    title: str
    settings: tuple[Setting, ...]
    counted: tuple[Setting, ...] = ()
    process: bool = False
    sized: bool = False
    notes: tuple[str, ...] = ()


def gaussian(sigma: float) -> dict[str, Any]:
    """exp(-‖z - s‖² / (2σ²)) as arguments of scikit-learn."""
    return {"kernel": "rbf", "gamma": 1 / (2 * sigma**2)}


def kernel_ridge(n: int) -> KernelRidge:
    """λ = 0.1 for the mean of squares: alpha = nλ."""
    return KernelRidge(alpha=0.1 * n, **gaussian(0.5))


def kernel_lasso(sigma: float) -> KernelLasso:
    """λ = 1 for half the sum of squares, Gaussian kernel."""
    return KernelLasso(1.0, **gaussian(sigma))


def _figure_1() -> Figure:
    classifier = LSSVC(C=0.1, fit_intercept=False)  # the article omits the bias here
    as_published = Setting(
        "1",
        "LS-SVC, symmetric slacks",
        classifier,
        two_classes,
        n=100,
        law="Laplace of scale 1/2 in the inputs",
        truth="w = (2, 2)",
        promise="none",
        note=NO_GUARANTEE,
    )
    labels = replace(
        as_published,
        name="LS-SVC, labels drawn from E[y|x]",
        draw=coin_classes,
        options={"noise": "labels", "m": M},
        truth="E[y|x]",
        promise=EXACT,
        note="Not in the article: the exact region, which is that of E[y|x]; the class of each "
        "point is a fair coin.",
    )
    return Figure(1, "LS-SVC in model and coefficient space", (as_published,), (labels,))


def _figure_2() -> Figure:
    draw = x_sin_x(20, "laplace")
    # In the article c = 250, and c / n is the side of the box; statistics have Ψ = I and no bias.
    svr = BiasFreeSVR(C=250 / 20, epsilon=0.2, **gaussian(0.5))
    options = {"noise": "symmetric", "m": M, "weighting": "identity"}
    split = Setting(
        "2b",
        "ε-SVR in (α⁺, α⁻)",
        SplitSVR(C=250 / 20, epsilon=0.2, **gaussian(0.5)),
        draw,
        20,
        options=options,
        note="The article mentions this form: the region of both dual vectors, here with the "
        "normal cone of their box, without which all statistics are equal.",
    )
    return Figure(
        2,
        "Kernel ridge regression and ε-SVR",
        (
            Setting("2a", "KRR, λ = 0.1", kernel_ridge(20), draw, 20),
            Setting("2b", "ε-SVR, ε = 0.2, c = 250", svr, draw, 20, options=options),
        ),
        (split,),
        sized=True,
        notes=(
            UNBOUNDED,
            "We read the caption of (b) as: no bias, a box of side c/n, statistics with Ψ = I.",
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
        notes=(UNBOUNDED, "Part (b) shows the pointwise bands of the process at all levels."),
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
    return Figure(
        4, "Kernel ridge regression under four noise laws", settings, sized=True, notes=(UNBOUNDED,)
    )


def _figure_5() -> Figure:
    # The article also writes σ for the Laplacian kernel: exp(-‖z - s‖ / σ). For the rectangular
    # kernel c = 1/38 is half the distance of 20 inputs on [0, 1]; we scale it to the range of the
    # inputs, so that the steps meet. Taken literally, functions vanish between the inputs. The
    # kernel matrix is the identity in both readings, so the region is the same.
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
        "We read the caption as: the Laplacian kernel is exp(-|z - s|/σ); c = 1/38 of the "
        "rectangular kernel is a fraction of the range of the inputs, so that the steps meet (the "
        "region is the same without this). The matrix of the parabolic kernel is indefinite."
    )
    return Figure(
        5, "Kernel LASSO with four kernels", settings, sized=True, notes=(UNBOUNDED, readings)
    )


def _figure_6() -> Figure:
    settings = tuple(
        Setting(f"6{part}", f"n = {n}", kernel_lasso(0.5), x_sin_x(n, "laplace"), n)
        for part, n in zip("abcd", (10, 20, 50, 100), strict=True)
    )
    return Figure(
        6, "Kernel LASSO with four sample sizes", settings, sized=True, notes=(UNBOUNDED,)
    )


_ALL = (_figure_1(), _figure_2(), _figure_3(), _figure_4(), _figure_5(), _figure_6())
FIGURES = {figure.number: figure for figure in _ALL}
