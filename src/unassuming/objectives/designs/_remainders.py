"""Designs modulo a prime: known to the last digit, or not at all."""

from __future__ import annotations

import numpy as np

from unassuming._modular import Remainders, remainders
from unassuming.objectives.designs._design import Design
from unassuming.objectives.designs._features import FeatureDesign
from unassuming.objectives.designs._kernel import KernelDesign


def exact_columns(
    design: Design, alpha: float, prime: int
) -> tuple[Remainders, Remainders, Remainders | None] | None:
    """Return Φ up to the scale of columns, P as rows and alpha P, if known to the last digit.

    ``alpha`` is nλ.
    """
    penalised, alpha = alpha != 0, int(remainders(np.array(alpha), prime))
    if isinstance(design, FeatureDesign):
        if design.rounding:
            return None
        held = design.penalised.astype(np.int64)
        Phi, P = remainders(design.matrix, prime), np.diag(held)[held > 0]
        squares: Remainders | None = np.diag(held) * alpha
    elif isinstance(design, KernelDesign) and design.kernel is not None:
        kernel, squares = design.kernel, None
        if kernel.strict:  # its range: any values at the distinct inputs
            which = design.distinct[1]
            core = (which[:, None] == np.arange(which.max() + 1)).astype(np.int64)
            rows = np.eye(core.shape[1], dtype=np.int64)
        else:  # the values of a kernel matrix may be rounded, and then its rank is unknown
            return None
        ones = np.ones((design.n, int(design.intercept)), dtype=np.int64)
        Phi = np.hstack([ones, core])
        P = np.hstack([np.zeros((len(rows), ones.shape[1]), dtype=np.int64), rows])
    else:
        return None
    return Phi, P if penalised else P[:0], squares
