"""
Kernel ridge regression with a norm bound
=========================================

A spline model has to contain the truth. The matrix of a Gaussian kernel has full rank, so kernel
ridge regression can represent any values at the inputs, and nothing of the kind has to be
assumed. The price is that the region of the usual levels has no end.
"""

import matplotlib.pyplot as plt
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua

X, y, f = ua.datasets.rkhs(n=60, noise="laplace", gamma=0.5, random_state=4)
region = ua.confidence_region(KernelRidge(kernel="rbf", gamma=0.5, alpha=0.5), X, y, random_state=0)
print(region.bounded(0.9))

# %%
# With one more assumption it has: that the norm of the function, in the space of the kernel, is at
# most :math:`B`. Then the band covers the function *itself*, between the inputs as well. The truth
# was made here, so its norm is known; in earnest :math:`B` is something you know, or wish to try.

print(f"the norm of the truth is {f.norm:.2f}")
parts = plt.figure(figsize=(12, 4.8), layout="constrained").subfigures(1, 2)
for part, B in zip(parts, (13, 50), strict=True):
    part.suptitle(f"B = {B}", fontweight="bold")
    ax = ua.plots.band(region, levels=[0.9], norm_bound=B, truth=f, ax=part.subplots())
    ax.set_ylim(-16, 16)

# %%
# The band depends on :math:`B` where there are few points, and hardly where there are many: at the
# inputs the data decide.

for B in (13, 25, 50):
    band = region.band([[5.0], [10.0]], level=0.9, norm_bound=B)
    print(f"B = {B}: widths {(band.upper - band.lower).round(2)} at x = 5 and x = 10")
