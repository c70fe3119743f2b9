"""
Two coefficients under four assumptions
=======================================

Income and food expenditure of 60 households, in units of 1000 francs. The assumption on the noise
determines the shape and the size of a region, and which quantities it bounds. The boundary is exact
along every ray from the estimate; the dashed ellipses are outer bounds.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LinearRegression
from statsmodels.datasets import engel

import unassuming as ua

data = engel.load_pandas().data[:60] / 1000
X, y = data[["income"]], data["foodexp"]

parts = plt.figure(figsize=(10, 10), layout="constrained").subfigures(2, 2)
names = ("symmetric", "symmetric-exchangeable", "spherical", "exchangeable")
for part, noise in zip(parts.flat, names, strict=True):
    region = ua.confidence_region(LinearRegression(), X, y, noise=noise)
    part.suptitle(noise, fontweight="bold")
    ax = ua.plots.coefficients(region, levels=(0.5, 0.9), ax=part.subplots())
    ax.set(xlim=(-0.2, 0.5), ylim=(0.1, 1.0))
    print(f"{noise}: 90 % interval of the slope", end=" ")
    interval = region.interval("income", level=0.9, simultaneous=True, method="joint")
    print(f"[{interval.lower[0]:.2f}, {interval.upper[0]:.2f}]")

# %%
# Exchangeable noise may have any mean, which cannot be distinguished from an intercept. Under this
# assumption alone, the slope is bounded and the intercept is not.
