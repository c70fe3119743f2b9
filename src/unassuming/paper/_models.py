"""ε-SVR as in the article, without a bias (docs/theory.md 5)."""

from __future__ import annotations

from typing import Any

from sklearn.svm import SVR

from unassuming._typing import Array
from unassuming.objectives import KernelDesign, SVRObjective, from_svr, register_objective


class BiasFreeSVR(SVR):
    """Hyper-parameters of ε-SVR for a region whose functions have no bias.

    The region has its own solver. Calling ``fit`` would fit scikit-learn's model, with a bias.
    """


def from_bias_free_svr(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> SVRObjective:
    """Build the dual of ε-SVR without the constraint due to the bias."""
    biased = from_svr(estimator, X, y, sample_weight)
    design = KernelDesign(biased.kernel.K, kernel=biased.kernel.kernel)
    return SVRObjective(design, y, biased.C, biased.epsilon)


register_objective(BiasFreeSVR, from_bias_free_svr)
