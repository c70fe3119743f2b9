"""
A dynamical system near a unit root
===================================

The output depends on its own past, so the regressors contain past noise. Here the noise has heavy
tails, no variance, and a scale that changes with time. The region is exact nevertheless: for each
candidate the noise with other signs runs through the system of that candidate.
"""

import matplotlib.pyplot as plt
import numpy as np

import unassuming as ua

rng = np.random.default_rng(6)
n, truth = 100, np.array([0.97, 1.0])
u = np.sign(np.sin(2 * np.pi * np.arange(n) / 30))  # an input that switches to and fro
e = (0.3 + 0.5 * np.abs(np.sin(np.arange(n) / 9))) * rng.standard_t(2, size=n)
y = np.zeros(n)
for t in range(1, n):
    y[t] = truth[0] * y[t - 1] + truth[1] * u[t - 1] + e[t]

model = ua.ARX(na=1, nb=1)
region = ua.confidence_region(model, u, y, random_state=0)
print(region)

# %%
# One step ahead, from the observed outputs before, and as a simulation that sees the input and the
# first output alone.

model.fit(u, y)
fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(y, "o", color="0.35", markersize=3, label="output")
ax.plot(np.arange(1, n), model.predict(u, y), color="#0072B2", label="one step ahead")
ax.plot(model.simulate(u), "--", color="#D55E00", label="simulated")
ax.set(xlabel="time", ylabel="y")
ax.legend(frameon=False)

# %%
# The region of both coefficients, traced along rays from the estimate. Whether a candidate is a
# member is exact; the line between the rays is not certified.

ax = ua.plots.coefficients(region, levels=(0.5, 0.9), rays=36, truth=truth)
ax.axvline(1.0, color="0.5", lw=0.8, ls=":")  # a unit root

# %%
# A random walk that ignores the input is rejected, the true system is not.

print(region.test([1.0, 0.0]))
print(region.test(truth))
