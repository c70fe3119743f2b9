"""
Noise without a variance: comparison with a Gaussian process
============================================================

The errors have heavy tails and are much larger on the right than on the left. They are symmetric
about zero, which is all that the region assumes about the noise. A Gaussian process treats them as
Gaussian noise with constant variance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua


def noise(n, rng):
    """Student's t with two degrees of freedom, a tenth as large on the left as on the right."""
    return np.linspace(0.1, 1.0, n) * rng.standard_t(2, size=n)


def make_data(rng):
    """Return noisy values of x sin x, and the function."""
    return ua.datasets.sine(n=80, noise=noise, random_state=rng)


model = make_pipeline(SplineTransformer(8), Ridge(0.1))
X, y, f = make_data(np.random.default_rng(7))
region = ua.confidence_region(model, X, y, random_state=0)
kernel = ConstantKernel(10.0) * RBF(1.0) + WhiteKernel(0.5)
process = GaussianProcessRegressor(kernel, random_state=0).fit(X, y)

# %%
# The band of the Gaussian process is too wide on the left and too narrow on the right, because the
# process assumes constant noise. (Its band is the usual one: the mean plus and minus 1.64 standard
# deviations of the function, without the noise.)

grid = np.linspace(0, 10, 200)[:, None]
parts = plt.figure(figsize=(11, 4.8), layout="constrained").subfigures(1, 2)
for part, title in zip(parts, ("Region", "Gaussian process"), strict=True):
    part.suptitle(title, fontweight="bold")
left, right = (part.subplots() for part in parts)
ua.plots.band(region, grid, levels=[0.9], truth=f, ax=left)

mean, deviation = process.predict(grid, return_std=True)
deviation = np.sqrt(deviation**2 - process.kernel_.k2.noise_level)  # without the noise
right.plot(X, y, "o", color="0.35", markersize=4, label="data")
lower, upper = mean - 1.64 * deviation, mean + 1.64 * deviation
right.fill_between(grid[:, 0], lower, upper, color="#E69F00", alpha=0.4, label="90 %")
right.plot(grid, mean, color="#D55E00", label="mean")
right.plot(grid, f(grid), "k--", label="truth")
right.set(xlabel="x", ylabel="y", ylim=left.get_ylim())
right.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)

# %%
# One picture proves nothing. How often is the truth covered over 40 data sets of this kind? The
# region is exact, so its coverage equals its level up to the sampling error of 40 runs. The band of
# the region guarantees coverage at "all inputs" simultaneously; the other methods claim it only at
# "each input" separately.

measured = ua.testing.coverage(make_data, model, repetitions=40, resamples=19, random_state=0)
print(measured)
