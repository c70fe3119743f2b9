"""The Gram matrix of any kernel that scikit-learn accepts, and two kernels that it lacks.

A model in dual form sees its inputs through kernel values k(x, z) only. `gram` and `svr_gram`
compute them with the conventions of KernelRidge and SVR, and the checks refuse a matrix that a
method cannot use.
"""

from unassuming.kernels.compact import rectangular, truncated_parabolic
from unassuming.kernels.features import inner_product_kernel as inner_product_kernel
from unassuming.kernels.features import strictly_positive_definite as strictly_positive_definite
from unassuming.kernels.gram import (
    KernelLike,
    gram,
    require_positive_semidefinite,
    require_symmetric,
    resolve_svr_gamma,
    svr_gram,
)
from unassuming.kernels.slopes import kernel_slope as kernel_slope
from unassuming.kernels.training import TrainingKernel
from unassuming.kernels.training import white_noise as white_noise
from unassuming.kernels.training import without_white_noise as without_white_noise

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
