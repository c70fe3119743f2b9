"""The models that scikit-learn lacks."""

from unassuming.models._kernel_huber import KernelHuber
from unassuming.models._kernel_lasso import KernelLasso
from unassuming.models._lssvc import LSSVC

__all__ = ["LSSVC", "KernelHuber", "KernelLasso"]
