r"""
A certified band from ridge regression on splines
=================================================

This example computes a finite band with ridge regression on a few splines. The only assumption on
the noise is that each error is as likely to be :math:`+e` as :math:`-e`.

The data are 80 values of :math:`x \sin x` with Laplace noise. The region uses neither the function
nor the distribution of the noise.
"""

from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

import unassuming as ua

X, y, f = ua.datasets.sine(n=80, noise="laplace", random_state=1)
model = make_pipeline(SplineTransformer(8), Ridge(0.1))
region = ua.confidence_region(model, X, y, random_state=1)
print(region)

# %%
# The band is simultaneous: with probability at least 90 % the 90 % band contains the ideal
# representation at all inputs at once. It assumes that "the noise-free outputs lie in the span of
# the 11 features", as printed above. (:math:`x \sin x` is not a spline, but a spline comes close.)
# The dashes are values of members that a search has found. No outer bound of the region can be
# closer than they are.

ax = ua.plots.band(region, levels=(0.5, 0.9), inner=12, truth=f)

# %%
# You can test any function. The rank of the truth is uniform on 1 to 100, so the truth lies in the
# region of level :math:`p` with probability :math:`p`. A shifted function is rejected.

print(region.test(f))
print(region.test(lambda X: f(X - 0.2)))

# %%
# These are members of the region, coloured by the smallest level at which they belong to it. They
# are examples, not bounds: other members may pass through the areas that these leave white.

ax = ua.plots.family(region, size=150)
