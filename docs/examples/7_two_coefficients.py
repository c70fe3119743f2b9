"""
Two coefficients under four assumptions
=======================================

The assumption on the noise determines the shape and the size of a region, and which quantities it
bounds. The boundary is exact along every ray from the estimate; the dashed ellipses are outer
bounds.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LinearRegression

import unassuming as ua

X, y, truth = ua.datasets.linear(n=40, d=1, noise="gaussian", random_state=0)

parts = plt.figure(figsize=(10, 10), layout="constrained").subfigures(2, 2)
names = ("symmetric", "symmetric-exchangeable", "spherical", "exchangeable")
for part, noise in zip(parts.flat, names, strict=True):
    region = ua.confidence_region(LinearRegression(), X, y, noise=noise, random_state=0)
    part.suptitle(noise, fontweight="bold")
    ax = ua.plots.coefficients(region, levels=(0.5, 0.9), truth=truth, ax=part.subplots())
    ax.set(xlim=(-2.2, 0.0), ylim=(0.7, 2.9))
    print(f"{noise}: 90 % interval of the slope", end=" ")
    interval = region.interval("x0", level=0.9, simultaneous=True, method="joint")
    print(f"[{interval.lower[0]:.2f}, {interval.upper[0]:.2f}]")

# %%
# Exchangeable noise may have any mean, which cannot be distinguished from an intercept. Under this
# assumption alone, the slope is bounded and the intercept is not.
