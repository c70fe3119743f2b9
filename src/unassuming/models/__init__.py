"""Models that scikit-learn lacks, as scikit-learn estimators.

The kernel models fit f(x) = b + Σ_j a_j k(x, x_j) by minimising an objective of their own; the
solvers work on plain arrays and are exact up to rounding. ARX is a dynamical system.
"""

from unassuming.models._arx import ARX
from unassuming.models._arx import least_squares as least_squares
from unassuming.models._kernel_huber import KernelHuber
from unassuming.models._kernel_lasso import KernelLasso
from unassuming.models._lssvc import LSSVC

__all__ = ["ARX", "LSSVC", "KernelHuber", "KernelLasso"]
