"""
Kernel ridge regression with a norm bound
=========================================

A spline model has to contain the truth. Kernel ridge regression does not need this assumption: the
matrix of a Gaussian kernel has full rank, so the model can represent any values at the inputs. The
price is that the region is unbounded at the usual levels. The penalty is planned before y is seen.
"""

import matplotlib.pyplot as plt
from sklearn.kernel_ridge import KernelRidge

import unassuming as ua

X, y, f = ua.datasets.rkhs(n=60, noise="laplace", gamma=0.5, random_state=4)
plan = ua.plan(KernelRidge(kernel="rbf", gamma=0.5), X, norm_bound=25, noise_scale=0.7)
region = ua.confidence_region(plan.estimator, X, y, random_state=0)
print(plan)
print(region.bounded(0.9))

# %%
# One more assumption makes the band finite: that the norm of the function, in the space of the
# kernel, is at most :math:`B`. The band then covers the function *itself*, also between the inputs.
# Here the truth was constructed, so its norm is known. In an application, :math:`B` is a value that
# you know or want to try.

print(f"the norm of the truth is {f.norm:.2f}")
parts = plt.figure(figsize=(12, 4.8), layout="constrained").subfigures(1, 2)
for part, B in zip(parts, (13, 50), strict=True):
    part.suptitle(f"B = {B}", fontweight="bold")
    ax = ua.plots.band(region, levels=[0.9], norm_bound=B, truth=f, ax=part.subplots())
    ax.set_ylim(-16, 16)

# %%
# The width of the band depends on :math:`B` where there are few points, and hardly where there are
# many: there the data determine it.

for B in (13, 25, 50):
    band = region.band([[5.0], [10.0]], level=0.9, norm_bound=B, method="joint")
    print(f"B = {B}: widths {(band.upper - band.lower).round(2)} at x = 5 and x = 10")

# %%
# The plan also predicts widths for other numbers of rows.

assumed = {"norm_bound": 25, "noise_scale": 0.7}
more = ua.plan(plan.estimator, X, **assumed, alphas=[plan.alpha], rows=[120, 240])
parts = plt.figure(figsize=(12, 4.8), layout="constrained").subfigures(1, 2)
ua.plots.plan(plan, ax=parts[0].subplots())
ua.plots.plan(more, ax=parts[1].subplots())
