"""Exact confidence regions for kernel and linear models, with almost no assumptions on the noise.

The entry point is `confidence_region`; see its examples.
"""

from unassuming import (
    datasets,
    functionals,
    kernels,
    noise,
    objectives,
    plots,
    ranking,
    report,
    testing,
)
from unassuming._errors import NotAvailable
from unassuming._version import __version__
from unassuming.estimators import ConfidenceClassifier, ConfidenceRegressor, tuned_region
from unassuming.io import load, save
from unassuming.models import ARX, LSSVC, KernelHuber, KernelLasso
from unassuming.objectives import register_objective
from unassuming.planning import Plan, plan
from unassuming.ranking import RankTest
from unassuming.regions import Region, Summary, confidence_region
from unassuming.streaming import StreamingRegion

__all__ = [
    "ARX",
    "LSSVC",
    "ConfidenceClassifier",
    "ConfidenceRegressor",
    "KernelHuber",
    "KernelLasso",
    "NotAvailable",
    "Plan",
    "RankTest",
    "Region",
    "StreamingRegion",
    "Summary",
    "__version__",
    "confidence_region",
    "datasets",
    "functionals",
    "kernels",
    "load",
    "noise",
    "objectives",
    "plan",
    "plots",
    "ranking",
    "register_objective",
    "report",
    "save",
    "testing",
    "tuned_region",
]
