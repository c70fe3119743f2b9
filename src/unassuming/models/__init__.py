"""Models that scikit-learn lacks, as scikit-learn estimators.

The kernel models fit f(x) = b + Σ_j a_j k(x, x_j) by minimising an objective of their own, and
`InstrumentalRegression` fits a linear equation with instruments. The solvers work on plain arrays
and are exact up to rounding.
"""

# Shared within the library, not public.
from unassuming.models._instrumental import Equation as Equation
from unassuming.models._instrumental import InstrumentalRegression
from unassuming.models._instrumental import numbered_columns as numbered_columns
from unassuming.models._instrumental import roles_of as roles_of
from unassuming.models._kernel_huber import KernelHuber
from unassuming.models._kernel_lasso import KernelLasso
from unassuming.models._lssvc import LSSVC

__all__ = ["LSSVC", "InstrumentalRegression", "KernelHuber", "KernelLasso"]
