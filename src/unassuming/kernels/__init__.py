"""The Gram matrix of any kernel that scikit-learn accepts, and two kernels that it lacks.

A model in dual form sees its inputs through kernel values k(x, z) only. `gram` and `svr_gram`
compute them with the conventions of KernelRidge and SVR, and the checks refuse a matrix that a
method cannot use.
"""

from unassuming.kernels._checks import require_positive_semidefinite, require_symmetric
from unassuming.kernels._compact import rectangular, truncated_parabolic
from unassuming.kernels._exact import exact_gram as exact_gram
from unassuming.kernels._gram import KernelLike, gram
from unassuming.kernels._inner_product import InnerProductKernel as InnerProductKernel
from unassuming.kernels._inner_product import inner_product_kernel as inner_product_kernel
from unassuming.kernels._slopes import SlopeOf as SlopeOf
from unassuming.kernels._slopes import kernel_slope as kernel_slope
from unassuming.kernels._strict import strictly_positive_definite as strictly_positive_definite
from unassuming.kernels._svr import resolve_svr_gamma, svr_gram
from unassuming.kernels._training import TrainingKernel
from unassuming.kernels._white_noise import white_noise as white_noise
from unassuming.kernels._white_noise import without_white_noise as without_white_noise

__all__ = [
    "KernelLike",
    "TrainingKernel",
    "gram",
    "rectangular",
    "require_positive_semidefinite",
    "require_symmetric",
    "resolve_svr_gamma",
    "svr_gram",
    "truncated_parabolic",
]
