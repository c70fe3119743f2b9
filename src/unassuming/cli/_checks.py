"""Checks of the residuals and of the fit, in sentences, for all commands that state levels."""

from __future__ import annotations

from unassuming._errors import NotAvailable
from unassuming.regions import Diagnosis, Region
from unassuming.report import warnings_of


def checks(region: Region) -> list[str]:
    """Return warnings, what the tests of the residuals found, and the result on lack of fit."""
    if region.problem.rows is None:
        return [
            "Residuals and lack of fit were not checked: that needs the rows of the data, and the "
            "table was streamed."
        ]
    diagnosis = region.diagnose()
    try:
        fit = region.lack_of_fit()
    except NotAvailable:  # a model that can follow all data, or labels
        fit = None
    said = [f"Warning: {warning}" for warning in warnings_of(region, diagnosis, fit)]
    said.append(_residuals(diagnosis))
    if fit is not None and not fit.found:
        said.append(fit.sentence())
    return said


def _residuals(diagnosis: Diagnosis) -> str:
    tested = [
        f"{one.name} {one.pvalue:.3g}" + ("" if one.assumed else " (not assumed)")
        for one in diagnosis.indications
        if not one.unavailable
    ]
    if not tested:
        return "Residuals were not tested: there are too few rows."
    return f"P-values of residuals, indications and not proofs: {', '.join(tested)}."
