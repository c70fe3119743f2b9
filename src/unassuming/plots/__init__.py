"""Pictures of regions, each with a function that returns the data it draws.

Only drawing needs Matplotlib: ``pip install "unassuming[plot]"``.
"""

from unassuming.plots._band import band, band_data

# Shared within the library, not public.
from unassuming.plots._canvas import BLACK as BLACK
from unassuming.plots._canvas import BLUE as BLUE
from unassuming.plots._canvas import ORANGE as ORANGE
from unassuming.plots._canvas import VERMILION as VERMILION
from unassuming.plots._canvas import WITHOUT_DATE as WITHOUT_DATE
from unassuming.plots._canvas import limits as limits
from unassuming.plots._canvas import percent as percent
from unassuming.plots._canvas import require_matplotlib as require_matplotlib
from unassuming.plots._classification import classification, classification_data
from unassuming.plots._coefficients import coefficients, coefficients_data
from unassuming.plots._diagnosis import DiagnosisData as DiagnosisData
from unassuming.plots._diagnosis import diagnosis, diagnosis_data
from unassuming.plots._diagnosis import running_median as running_median
from unassuming.plots._family import family, family_data
from unassuming.plots._forest import forest, forest_data
from unassuming.plots._forest import forest_height as forest_height
from unassuming.plots._forest import has_finite_end as has_finite_end
from unassuming.plots._forest import on_one_scale as on_one_scale
from unassuming.plots._inputs import values as values
from unassuming.plots._plan import plan, plan_data
from unassuming.plots._ranks import ranks, ranks_data
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
