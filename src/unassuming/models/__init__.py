"""Models that scikit-learn lacks, as scikit-learn estimators.

The kernel models fit f(x) = b + Σ_j a_j k(x, x_j) by minimising an objective of their own,
`InstrumentalRegression` fits a linear equation with instruments, and `ARX` is a dynamical system.
The solvers work on plain arrays and are exact up to rounding.
"""

from unassuming.models.arx import ARX

# Shared within the library, not public.
from unassuming.models.instrumental import Equation as Equation
from unassuming.models.instrumental import InstrumentalRegression
from unassuming.models.instrumental import numbered_columns as numbered_columns
from unassuming.models.instrumental import roles_of as roles_of
from unassuming.models.kernel import LSSVC, KernelHuber, KernelLasso

__all__ = ["ARX", "LSSVC", "InstrumentalRegression", "KernelHuber", "KernelLasso"]
