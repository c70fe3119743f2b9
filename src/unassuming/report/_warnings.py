"""What a reader must not miss, with what to do about it: in Python or on the command line."""

from __future__ import annotations

from collections.abc import Sequence

from unassuming.noise import Exchangeable, Spherical, Symmetric, SymmetricExchangeable
from unassuming.regions import Diagnosis, Indication, LackOfFit, Language, Region

_SMALL = 0.05
"""A test of the residuals whose p-value times the number of such tests is at most this warns."""

_MEDIAN = {
    Language.PYTHON: "a regression quantile such as the median, QuantileRegressor(alpha=0)",
    Language.COMMAND_LINE: "a regression quantile such as the median, "
    "unassuming region --model quantile",
}
_EXCHANGEABLE = {
    Language.PYTHON: "noise='exchangeable', if the errors have one law in all rows",
    Language.COMMAND_LINE: "--noise exchangeable, if the errors have one law in all rows",
}
_SYMMETRIC = {
    Language.PYTHON: "noise='symmetric', which allows unequal spread",
    Language.COMMAND_LINE: "--noise symmetric, which allows unequal spread",
}
_DEPENDENT = {
    Language.PYTHON: "If the rows are times, ua.ARX may describe them; if rows of a group depend "
    "on each other, use noise=ua.noise.BlockSymmetric(groups).",
    Language.COMMAND_LINE: "If the rows are times, unassuming arx may describe them; if rows of a "
    "group depend on each other, name the column of the groups with --clusters.",
}
_ENLARGE = {
    Language.PYTHON: "Use a model with this feature, best on new data.",
    Language.COMMAND_LINE: "Use a model with this feature, best on new data: --model spline has "
    "splines, and --knots more of them; a product can be a new column of the table.",
}


def warnings_of(
    region: Region,
    diagnosis: Diagnosis | None,
    fit: LackOfFit | None,
    language: Language = Language.PYTHON,
) -> tuple[str, ...]:
    """Return what a reader must not miss."""
    said = [f"No guarantee: {region.caveat}"] if region.caveat else []
    if fit is not None and fit.found:
        said.append(f"{fit.sentence()} No level holds if the model is wrong. {_ENLARGE[language]}")
    tests = () if diagnosis is None else diagnosis.indications
    assumed = [one for one in tests if one.assumed and not one.unavailable]
    said += [
        f"The residuals are evidence against an assumption on the noise: {one.name}, p-value "
        f"{one.pvalue:.3g}. {one.question}{_advice(region, one.name, tests, language)}"
        for one in assumed
        if len(assumed) * one.pvalue <= _SMALL
    ]
    return tuple(said)


def _advice(region: Region, test: str, tests: Sequence[Indication], language: Language) -> str:
    """Return what to do about a test that fails: never an assumption that another one refutes."""
    rows_alone = (Symmetric, Exchangeable, SymmetricExchangeable, Spherical)
    if not isinstance(region.noise, rows_alone):
        return ""
    if test == "no order":
        return f" {_DEPENDENT[language]}"
    doubtful = {one.name for one in tests if not one.unavailable and one.pvalue <= _SMALL}
    others = {"symmetry": ("equal spread", _EXCHANGEABLE), "equal spread": ("symmetry", _SYMMETRIC)}
    needs, noise = others[test]
    ways = [_MEDIAN] if needs in doubtful else [_MEDIAN, noise]
    if test == "equal spread":
        ways.reverse()
    return f" Use {', or '.join(way[language] for way in ways)}."
