"""Exact confidence regions for kernel and linear models, with almost no assumptions on the noise.

The entry point is `confidence_region`; see its examples.

A name is imported when it is first used: importing scikit-learn takes a second, and
``unassuming --help`` does not need it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unassuming._errors import NotAvailable
from unassuming._version import __version__

if TYPE_CHECKING:
    from unassuming import (
        datasets,
        experiments,
        functionals,
        kernels,
        noise,
        objectives,
        plots,
        ranking,
        report,
        testing,
    )
    from unassuming.estimators import ConfidenceClassifier, ConfidenceRegressor, tuned_region
    from unassuming.experiments import AssignmentTest, assignment_test
    from unassuming.io import load, save
    from unassuming.models import ARX, LSSVC, InstrumentalRegression, KernelHuber, KernelLasso
    from unassuming.objectives import register_objective
    from unassuming.planning import Plan, plan
    from unassuming.ranking import RankTest
    from unassuming.regions import Region, Summary, confidence_region
    from unassuming.streaming import StreamingRegion

__all__ = [
    "ARX",
    "LSSVC",
    "AssignmentTest",
    "ConfidenceClassifier",
    "ConfidenceRegressor",
    "InstrumentalRegression",
    "KernelHuber",
    "KernelLasso",
    "NotAvailable",
    "Plan",
    "RankTest",
    "Region",
    "StreamingRegion",
    "Summary",
    "__version__",
    "assignment_test",
    "confidence_region",
    "datasets",
    "experiments",
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

_PACKAGES = {
    "estimators": ("ConfidenceClassifier", "ConfidenceRegressor", "tuned_region"),
    "experiments": ("AssignmentTest", "assignment_test"),
    "io": ("load", "save"),
    "models": ("ARX", "LSSVC", "InstrumentalRegression", "KernelHuber", "KernelLasso"),
    "objectives": ("register_objective",),
    "planning": ("Plan", "plan"),
    "ranking": ("RankTest",),
    "regions": ("Region", "Summary", "confidence_region"),
    "streaming": ("StreamingRegion",),
}
"""Where the public names come from; the others in `__all__` are packages themselves."""
_WHERE = {name: package for package, names in _PACKAGES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        value = getattr(import_module(f"unassuming.{_WHERE[name]}"), name)
    elif name in __all__ or name in _PACKAGES:
        value = import_module(f"unassuming.{name}")
    else:
        raise AttributeError(f"module 'unassuming' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
