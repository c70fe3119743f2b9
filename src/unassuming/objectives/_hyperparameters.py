"""The hyper-parameters of estimators in the symbols of the theory, checked.

============================ =============================== ==================================
estimator                    its own objective               here
============================ =============================== ==================================
LinearRegression             Σ w r²                          λ = 0
Ridge, RidgeClassifier       Σ w r² + alpha ‖coef‖²          λ = alpha / n
KernelRidge                  Σ w r² + alpha aᵀKa             λ = alpha / n
GaussianProcessRegressor     Σ r²/v + aᵀKa                   λ = max v / n; v: alpha and noise
LSSVC                        ½ ‖w‖² + C Σ ξ²                 λ = 1 / (2 C n); the paper's λ is C
SVR                          ½ ‖w‖² + C Σ |r|_ε              |a| <= C; the paper's c is n C
Lasso                        Σ r² / (2n) + alpha ‖coef‖₁     penalty alpha
ElasticNet                   Σ r² / (2n) + alpha (ρ ‖·‖₁ +   penalty alpha ρ, ridge alpha (1 - ρ);
                             (1 - ρ) ‖·‖²/2)                 ρ is l1_ratio
LinearSVR                    ½ ‖[b/s, w]‖² + C Σ |r|_ε       the same, or |r|_ε²; s: its scaling
QuantileRegressor            Σ ρ_τ(r) / n + alpha ‖coef‖₁    penalty n alpha, all times n
KernelLasso                  ½ Σ r² + alpha ‖a‖₁             the paper's λ is alpha
HuberRegressor               Σ (σ + σ H_ε(r/σ)) + alpha ‖·‖² λ = alpha / n
InstrumentalRegression       Σ w (Pr)²; P: exogenous columns no penalty
KernelHuber                  Σ w h_δ(r) + (alpha/2) aᵀKa     λ = alpha / n
LogisticRegression           C Σ w log(1+exp(-yg)) + ½ ‖·‖²  λ = 1 / (C n)
============================ =============================== ==================================
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from unassuming._typing import Array


def number(
    estimator: Any,
    name: str,
    *,
    above: float = 0.0,
    zero: bool = False,
    largest: float = np.inf,
    infinite: bool = False,
) -> float:
    """Return a hyper-parameter: one number above a limit, or zero if that is allowed."""
    try:
        given = np.asarray(getattr(estimator, name), dtype=np.float64)
    except (TypeError, ValueError):
        given = np.full((), np.nan)
    expected = "one finite number >= 0" if zero else f"one finite number > {above:g}"
    expected += "" if largest == np.inf else f" and <= {largest:g}"
    expected += ", or infinity" if infinite else ""
    inside = given.size == 1 and (np.isfinite(given).all() or infinite) and given <= largest
    if not inside or not (given > above or (zero and given == 0)):
        raise _out_of_range(estimator, name, expected)
    return float(given.reshape(()))


def check_kernel_number(estimator: Any, name: str, least: float, otherwise: str = "") -> None:
    """Refuse a parameter of a kernel that is not one finite number, or below the least one."""
    given: Any = getattr(estimator, name)
    real = isinstance(given, Real) or (isinstance(given, np.ndarray) and given.ndim == 0)
    if not real or not np.isfinite(float(given)) or float(given) < least:
        limit = f" >= {least:g}" if np.isfinite(least) else ""
        raise _out_of_range(estimator, name, f"one finite number{limit}{otherwise}")


def _out_of_range(estimator: Any, name: str, expected: str) -> ValueError:
    return ValueError(
        f"{type(estimator).__name__}'s {name} is out of range: expected {expected}, given "
        f"{getattr(estimator, name)!r}. Set the hyper-parameter before building the region."
    )


def row_weights(sample_weight: Array | None, y: Array) -> Array:
    """Return the weight of each row, one by default."""
    return np.ones(len(y)) if sample_weight is None else sample_weight


def common_weight(sample_weight: Array | None, name: str) -> float:
    """Return the weight that all rows have in common; raise if they differ."""
    if sample_weight is None:
        return 1.0
    if (sample_weight != sample_weight[0]).any():
        raise ValueError(
            f"sample_weight varies, which the region of {name} does not support: expected the same "
            "weight for every row (or zero, to drop a row), given weights from "
            f"{sample_weight.min():g} to {sample_weight.max():g}. Use Ridge, KernelRidge or "
            "ua.KernelHuber for a weighted model."
        )
    return float(sample_weight[0])
