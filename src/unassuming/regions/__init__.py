"""Confidence regions, and what they answer."""

from unassuming.regions.build import build_region as build_region
from unassuming.regions.build import confidence_region
from unassuming.regions.build import is_dask as is_dask
from unassuming.regions.build import warn_of_two_values as warn_of_two_values
from unassuming.regions.diagnosis import Diagnosis, Indication
from unassuming.regions.diagnosis import columns_of as columns_of
from unassuming.regions.explain import FEWER_FEATURES as FEWER_FEATURES
from unassuming.regions.explain import Explanation, Language, Remedy, Status
from unassuming.regions.explain import Fact as Fact
from unassuming.regions.lack_of_fit import MULTIPLICITY as MULTIPLICITY
from unassuming.regions.lack_of_fit import AddedFeature, LackOfFit, LeftOut
from unassuming.regions.lack_of_fit import Reason as Reason
from unassuming.regions.problem import Problem, Tuning
from unassuming.regions.region import Region
from unassuming.regions.results import NOTHING_AGREES as NOTHING_AGREES
from unassuming.regions.results import (
    Band,
    Boundedness,
    Bounds,
    Ellipsoid,
    Interval,
    IntervalUnion,
    NormBounds,
)
from unassuming.regions.results import several as several
from unassuming.regions.results import table as table
from unassuming.regions.shapes import Shape
from unassuming.regions.single.functions import Assumption as Assumption
from unassuming.regions.single.functions import Functions as Functions
from unassuming.regions.single.hypotheses import FTest
from unassuming.regions.single.summary import Summary
from unassuming.regions.single.summary import check_level as check_level
from unassuming.regions.views import View as View
from unassuming.regions.views import register_view as register_view

__all__ = [
    "AddedFeature",
    "Band",
    "Boundedness",
    "Bounds",
    "Diagnosis",
    "Ellipsoid",
    "Explanation",
    "FTest",
    "Indication",
    "Interval",
    "IntervalUnion",
    "LackOfFit",
    "Language",
    "LeftOut",
    "NormBounds",
    "Problem",
    "Region",
    "Remedy",
    "Shape",
    "Status",
    "Summary",
    "Tuning",
    "confidence_region",
]
