"""Coverage of the norm of a function by `Region.norm_lower_bound`.

Run it with ``python -m benchmarks.norm_coverage``, or with the number of runs of each setting. The
lower bound should not exceed the norm with at least the probability of the level. For the function
zero it is positive exactly if zero is outside the region, so that the coverage is that of the
region: neither less nor more.
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import binom
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels

import unassuming as ua

LEVELS, M, SURE = (0.8, 0.9), 10, 1e-6
KERNELS = {"laplacian": 0.5, "rbf": 0.5}


def main(runs: int) -> None:
    """Print a line for each kernel, function, noise and level."""
    print(f"{'kernel':10} {'norm':>6} {'noise':8} level  coverage  band of the level  mean bound")
    for kernel, gamma in KERNELS.items():
        rng = np.random.default_rng(0)
        X, centres, c = rng.uniform(0, 6, (18, 1)), rng.uniform(0, 6, (4, 1)), rng.normal(size=4)
        c *= 5 / np.sqrt(c @ pairwise_kernels(centres, metric=kernel, gamma=gamma) @ c)
        values = pairwise_kernels(X, centres, metric=kernel, gamma=gamma) @ c
        model = KernelRidge(kernel=kernel, gamma=gamma, alpha=0.5)
        for norm, f in ((5.0, values), (0.0, 0 * values)):
            for law in ("laplace", "cauchy"):
                found = []
                for seed in range(runs):
                    draw = np.random.default_rng(seed)
                    e = draw.laplace(size=18) if law == "laplace" else draw.standard_cauchy(18)
                    region = ua.confidence_region(model, X, f + 0.3 * e, m=M, random_state=seed)
                    found.append(list(region.norm_lower_bound(LEVELS).values()))
                for level, bounds in zip(LEVELS, np.transpose(found), strict=True):
                    held = int((bounds <= norm).sum())
                    low, high = binom.ppf([SURE / 2, 1 - SURE / 2], runs, level) / runs
                    fine = held / runs >= low and (norm > 0 or held / runs <= high)
                    print(
                        f"{kernel:10} {norm:6g} {law:8} {level:5g}  {held / runs:8.4f}  "
                        f"{low:.3f} to {high:.3f}     {bounds.mean():10.3f}"
                        f"{'' if fine else '  missed'}",
                        flush=True,
                    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
