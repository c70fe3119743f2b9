"""Pictures of regions, each with a function that returns the data it draws.

Only drawing needs Matplotlib: ``pip install "unassuming[plot]"``.
"""

from unassuming.plots.band import band, band_data, classification, classification_data
from unassuming.plots.coefficients import coefficients, coefficients_data, forest, forest_data
from unassuming.plots.others import (
    diagnosis,
    diagnosis_data,
    family,
    family_data,
    plan,
    plan_data,
    ranks,
    ranks_data,
)
from unassuming.regions import View, register_view

__all__ = [
    "band",
    "band_data",
    "classification",
    "classification_data",
    "coefficients",
    "coefficients_data",
    "diagnosis",
    "diagnosis_data",
    "family",
    "family_data",
    "forest",
    "forest_data",
    "plan",
    "plan_data",
    "ranks",
    "ranks_data",
]

register_view(View.DIAGNOSIS, diagnosis)
