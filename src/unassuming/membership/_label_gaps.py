"""Gaps of label regions from labels and fitted values alone (docs/theory.md 8).

With the smoother S = W^{1/2}Φ N⁺ΦᵀW^{1/2} of a quadratic objective, Ψ = H^{-1/2} and f = Φa

    n (Z_i - Z_0) = δᵀ W^{1/2}SW^{1/2} (y_i + y) - 2 δᵀWf,      δ = y_i - y.

The penalty is gone, and so are the fitted values of labels that stay as they are. Both may be known
to few digits, where their terms are long and cancel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from unassuming._rounding import gamma, length
from unassuming._typing import Array, IntArray
from unassuming.membership._refined import Order
from unassuming.objectives import Images, LeastNormScore, Quadratic, Score, projector_error


@final
@dataclass(frozen=True, eq=False)
class LabelGaps:
    """Z_i - Z_0 for labels, a quadratic objective and Ψ = H^{-1/2}.

    ``pull`` (k, n) is H^{-1/2}ΦᵀW/n, and ``defect`` bounds the error of S in double precision.
    """

    objective: Quadratic
    pull: Array
    defect: float

    @classmethod
    def of(cls, objective: Quadratic, score: Score) -> LabelGaps | None:
        """Return them if double precision determines the smoother."""
        o = objective
        assert isinstance(score, LeastNormScore)
        assert score.pullback is not None
        defect = projector_error(o.design, o.w, o.lam, o.whitening)
        return cls(o, score.pullback, defect) if np.isfinite(defect) else None

    def settled(self, order: Order, images: Images) -> Order:
        """Decide what another comparison has left to the tie order."""
        rows, sets = np.nonzero(order.tied)
        gaps, error = self._gaps(images, rows, sets)
        sure = np.abs(gaps) > error
        before, tied = order.before.copy(), order.tied.copy()
        before[rows, sets] = np.where(sure, gaps < 0, before[rows, sets])
        tied[rows, sets] = ~sure
        return Order(before, tied)

    def _gaps(self, images: Images, rows: IntArray, sets: IntArray) -> tuple[Array, Array]:
        """Return Z_i - Z_0 for pairs of a candidate and a set, and bounds of the errors."""
        o, pull = self.objective, self.pull
        r, w = images.residuals[rows], o.w / o.n
        change = 2 * np.round((images.perturbed[rows, sets] - r) / 2)  # labels are ±1
        both = change + 2 * o.y
        fits = w * change * (o.y - r)
        gaps = ((change @ pull.T) * (both @ pull.T)).sum(axis=1) - 2 * fits.sum(axis=1)
        size = np.abs(pull.T)
        terms = ((np.abs(change) @ size) * (np.abs(both) @ size)).sum(axis=1)
        error = gamma(2 * sum(pull.shape) + 4) * (terms + 2 * np.abs(fits).sum(axis=1))
        error += 2 * (w * np.abs(change) * images.error[rows]).sum(axis=1)
        root = np.sqrt(w)
        return gaps, error + self.defect * length(change * root) * length(both * root)
