"""Checks of the residuals and of the fit, in sentences, for all commands that state levels."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from unassuming._errors import NotAvailable
from unassuming.regions import Diagnosis, Language, Region
from unassuming.report.collect import warnings_of

T = TypeVar("T")

_TERMINAL = Language.COMMAND_LINE


def checks(region: Region) -> list[str]:
    """Return warnings, what the tests of the residuals found, and the result on lack of fit."""
    if region.problem.rows is None:
        return [
            "Residuals and lack of fit were not checked: that needs the rows of the data, and the "
            "table was streamed."
        ]
    diagnosis, fit = _asked(region.diagnose), _asked(region.lack_of_fit)
    said = [f"Warning: {warning}" for warning in warnings_of(region, diagnosis, fit, _TERMINAL)]
    if diagnosis is not None:
        said.append(_residuals(diagnosis))
    if fit is not None and not fit.found:
        said.append(fit.sentence())
    return said


def _asked(question: Callable[[], T]) -> T | None:
    """Return an answer, or None if there is none: no estimate, labels, no model that can fail."""
    try:
        return question()
    except NotAvailable:
        return None


def _residuals(diagnosis: Diagnosis) -> str:
    tested = [
        f"{one.name} {one.pvalue:.3g}" + ("" if one.assumed else " (not assumed)")
        for one in diagnosis.indications
        if not one.unavailable
    ]
    if not tested:
        return "Residuals were not tested: there are too few rows."
    return f"P-values from residuals (indications, not proofs): {', '.join(tested)}."
