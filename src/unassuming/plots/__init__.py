"""Pictures of regions, each beside a function that returns the data it draws.

Matplotlib is loaded when something is drawn: ``pip install "unassuming[plot]"``. The data
functions do not need it.
"""

from unassuming.plots._band import band, band_data
from unassuming.plots._classification import classification, classification_data
from unassuming.plots._coefficients import coefficients, coefficients_data
from unassuming.plots._family import family, family_data
from unassuming.plots._ranks import ranks, ranks_data

__all__ = [
    "band",
    "band_data",
    "classification",
    "classification_data",
    "coefficients",
    "coefficients_data",
    "family",
    "family_data",
    "ranks",
    "ranks_data",
]
