"""Kernels that scikit-learn lacks, and one way to a Gram matrix."""

from unassuming.kernels._checks import require_positive_semidefinite, require_symmetric
from unassuming.kernels._compact import rectangular, truncated_parabolic
from unassuming.kernels._gram import KernelLike, gram
from unassuming.kernels._svr import resolve_svr_gamma, svr_gram
from unassuming.kernels._training import TrainingKernel

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
