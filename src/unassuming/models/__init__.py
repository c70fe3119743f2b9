"""Kernel models that scikit-learn lacks, as scikit-learn estimators.

Each fits f(x) = b + Σ_j a_j k(x, x_j) by minimising an objective of its own; the solvers work on
plain arrays and are exact up to rounding.
"""

from unassuming.models._kernel_huber import KernelHuber
from unassuming.models._kernel_lasso import KernelLasso
from unassuming.models._lssvc import LSSVC

__all__ = ["LSSVC", "KernelHuber", "KernelLasso"]
