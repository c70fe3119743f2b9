"""
Noise that drifts
=================

A heater is switched on and off at random while the room drifts slowly. Errors of neighbouring rows
are far from independent, so signs of rows are not valid. But the coordinates of the errors in a
cosine basis are: slow waves are large, fast ones small, and each is as likely to be up as down.
With ``ua.noise.InBasis`` the region rests on this assumption alone, whatever the sizes of the
waves.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.fft import dct
from sklearn.linear_model import LinearRegression

import unassuming as ua

n = 120
Q = dct(np.eye(n), norm="ortho")  # cosines in columns: Qᵀe = dct(e)
rng = np.random.default_rng(2)
heater = np.repeat(rng.permutation(np.tile([0.0, 1.0], 10)), 6)
drift = Q @ (rng.laplace(size=n) * 6 / (1 + np.arange(n)))
temperature = 20 + 1.5 * heater + drift

region = ua.confidence_region(
    LinearRegression(), heater[:, None], temperature, noise=ua.noise.InBasis(Q), random_state=0
)
print(region.summary(level=0.9))

# %%
# The intercept lies in a single coordinate, the constant wave, whose error may be of any size: its
# interval is infinite, and rightly so. The effect of the heater is known well. An interval that
# takes the rows for independent has a level that is not valid.

wrong = ua.confidence_region(LinearRegression(), heater[:, None], temperature, random_state=0)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", width_ratios=(2, 1))
left.plot(temperature, color="0.25", linewidth=1, label="temperature")
left.plot(20 + drift, color="#D55E00", linewidth=1, label="the same without the heater")
shade = {"step": "mid", "color": "#0072B2", "alpha": 0.12, "linewidth": 0}
across = left.get_xaxis_transform()
left.fill_between(
    np.arange(n), 0, 1, where=heater > 0, transform=across, label="heater on", **shade
)
left.set(xlabel="minute", ylabel="degrees")
left.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize=8)
rows = {"in the cosine basis": region, "row by row (not valid)": wrong}
for height, (name, one) in enumerate(rows.items()):
    found = one.interval("x0", level=0.9, simultaneous=False)
    color = "#0072B2" if one is region else "0.6"
    right.plot([found.lower[0], found.upper[0]], [height, height], color=color, linewidth=3)
    right.annotate(name, (1.5, height), xytext=(0, 10), textcoords="offset points", ha="center")
right.axvline(1.5, color="0.6", linewidth=0.8)
right.set(xlabel="effect of the heater, 90 % interval", ylim=(-0.5, 1.7), yticks=[])

# %%
# How often does a 90 % region contain the truth? In 40 repetitions the region in the cosine basis
# does so about 36 times, as it should. The other one does not.

counts = dict.fromkeys(rows, 0)
for seed in range(40):
    y = 20 + 1.5 * heater + Q @ (rng.laplace(size=n) * 6 / (1 + np.arange(n)))
    for name, noise in zip(rows, (ua.noise.InBasis(Q), "symmetric"), strict=True):
        again = ua.confidence_region(
            LinearRegression(), heater[:, None], y, noise=noise, m=10, random_state=seed
        )
        counts[name] += again.contains([20.0, 1.5], level=0.9)
print(counts)
