"""ε-SVR as in the article: its statistics have no bias (docs/theory.md 5)."""

from __future__ import annotations

from typing import Any

from sklearn.svm import SVR

from unassuming._typing import Array
from unassuming.objectives import KernelDesign, SVRObjective, from_svr, register_objective


class BiasFreeSVR(SVR):
    """The hyper-parameters of ε-SVR, for a region whose functions have no bias.

    A region needs nothing else: it has a solver of its own. Fitting this estimator would fit
    scikit-learn's model, which has a bias.
    """


def from_bias_free_svr(
    estimator: Any, X: Array, y: Array, sample_weight: Array | None
) -> SVRObjective:
    """Build the dual of ε-SVR without the constraint that belongs to the bias."""
    biased = from_svr(estimator, X, y, sample_weight)
    design = KernelDesign(biased.kernel.K, kernel=biased.kernel.kernel)
    return SVRObjective(design, y, biased.C, biased.epsilon)


register_objective(BiasFreeSVR, from_bias_free_svr)
