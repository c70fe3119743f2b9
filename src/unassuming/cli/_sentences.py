"""The sentences under the tables of ``unassuming region``: what is covered, reasons, remedies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import binom

from unassuming._words import joined
from unassuming.cli._files import WITHOUT_NUMBERS
from unassuming.cli._findings import Answer, Findings
from unassuming.noise import Labels, Symmetric
from unassuming.regions import (
    FEWER_FEATURES,
    NOTHING_AGREES,
    Explanation,
    Fact,
    Language,
    Remedy,
    Status,
)

_OWN = (Status.ALL_AT_ONCE, Status.ONE_BY_ONE)
"""Bounds from cells: each level has its own cells, and facts of its own."""

_REFUTED = (Status.EMPTY, Status.SOME_EMPTY)
"""What is assumed contradicts the data."""

_KNOTS = Remedy(None, "fewer --knots")


def sentences(findings: Findings, *, knots: bool = False) -> list[str]:
    """Explain what the bounds cover, why some are infinite or missing, and the remedies.

    ``knots`` says that the model has splines with knots to spare.
    """
    said = [
        *_outside(findings),
        *_covers(findings),
        *_coefficients_cover(findings),
        *_attained(findings),
        *_few_rows(findings),
        *_reasons(findings),
        *_remedies(findings, knots=knots),
        *_heuristic(findings),
    ]
    return [sentence for sentence in dict.fromkeys(said) if sentence]


def _outside(findings: Findings) -> list[str]:
    """Report that the estimate of a classifier leaves [-1, 1], and so lies in no region."""
    region, estimate = findings.region, findings.estimate
    if not isinstance(region.noise, Labels) or estimate is None:
        return []
    fitted = region.objective.fitted(estimate[None, :])[0]
    rows = int((np.abs(fitted) > 1).sum())
    if not rows:
        return []
    return [
        f"The estimate leaves [-1, 1] at {rows} of {len(fitted)} rows, where it cannot be E[y|x]: "
        "it lies in no region, and may lie outside its own bounds."
    ]


def _informative(answer: Answer | None) -> dict[float, Any]:
    """Return the levels with finite bounds that say something; only these cover anything.

    Where the region of a level is empty, what is assumed is refuted at the lower levels too.
    """
    found = {} if answer is None else answer.by_level
    refuted = max((p for p, b in found.items() if b.status is Status.EMPTY), default=0.0)
    return {
        p: b
        for p, b in found.items()
        if p > refuted and b.status not in WITHOUT_NUMBERS and np.isfinite(b.upper - b.lower).any()
    }


def _at(levels: Iterable[float], every: Collection[float]) -> str:
    """Name the levels that a sentence is about, unless they are all."""
    some = list(levels)
    if len(some) == len(every):
        return ""
    return f"At level {joined(f'{level:.6g}' for level in some)}: "


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _sentence(where: str, text: str) -> str:
    return f"{where}{text[0].lower()}{text[1:]}" if where else text


def _covers(findings: Findings) -> list[str]:
    """Say what the band covers, at the levels where it is finite."""
    found = _informative(findings.bands)
    if not found:
        return []
    if findings.region.caveat:
        return [f"No guarantee: {findings.region.caveat}"]
    band = next(iter(found.values()))
    kind = f"The band comes from {_source(band)}. It is simultaneous and covers"
    if findings.pointwise:
        kind = "The band is pointwise: at each input by itself it covers"
    truth, design = findings.region.problem.truth, findings.region.objective.design
    if band.target == "function":
        what = f"the function itself, if its norm is at most {findings.norm_bound:g}."
    elif design is not None and not design.spans_everything:
        norm = ""
        if findings.norm_bound is not None:
            norm = f" with a norm of the coefficients of at most {findings.norm_bound:g}"
        what = f"{truth}, if this lies in the span of the model's features{norm}."
    else:
        what = (
            f"the ideal representation, which agrees with {truth} at the rows of the data and may "
            "differ from it elsewhere."
        )
    partly = [p for p, b in found.items() if np.isinf(b.upper - b.lower).any()]
    where = f" It is infinite at some inputs{_only(partly, found)}." if partly else ""
    return [f"{_sentence(_at(found, findings.levels), f'{kind} {what}')}{where}"]


def _only(some: Sequence[float], every: dict[float, Any]) -> str:
    if len(some) == len(every):
        return ""
    return f" at level {joined(f'{level:.6g}' for level in some)}"


def _source(bounds: Any) -> str:
    """Return where simultaneous bounds come from, with the level that balanced cells attain."""
    if bounds.method != "balanced cells":
        return "the joint region"
    return f"balanced cells of rows, with an attained level of {bounds.level:.6g}"


def _coefficients_cover(findings: Findings) -> list[str]:
    """Say whether the intervals of the coefficients hold by themselves or at once."""
    found = _informative(findings.intervals)
    if not found or findings.region.caveat:
        return []
    text = (
        "The interval of each coefficient has its level by itself. It is computed from parts of "
        "the rows, so a simultaneous interval, which uses all rows at once, can be narrower."
    )
    if not findings.pointwise:
        first = next(iter(found.values()))
        norm = "" if findings.norm_bound is None else f", given a norm of {findings.norm_bound:g}"
        text = f"The intervals of the coefficients come from {_source(first)}. They hold at once"
        text += f"{norm}."
    return [_sentence(_at(found, findings.levels), text)]


def _attained(findings: Findings) -> list[str]:
    """Return the levels that pointwise bounds attain."""
    said = []
    for level in findings.levels if findings.pointwise else []:
        every = [answer.by_level[level] for answer in _asked(findings) if level in answer.by_level]
        finite = [b.attained[np.isfinite(b.upper - b.lower)] for b in every]
        attained = np.unique([f"{x:.6g}" for part in finite for x in part]).tolist()
        if attained and attained != [f"{level:.6g}"]:
            several = len(attained) > 1
            words = f"levels {attained[0]} to {attained[-1]}" if several else f"level {attained[0]}"
            said.append(f"The finite bounds of level {level:.6g} attain the {words}.")
    return said


def _asked(findings: Findings) -> list[Answer]:
    return [findings.bands, *([] if findings.intervals is None else [findings.intervals])]


def _few_rows(findings: Findings) -> list[str]:
    """Say in plain words that rows are too few, where that is why no bound is finite.

    Signs of which fewer than d are +, or fewer than d are -, leave a direction open if there is no
    penalty (docs/theory.md 4.2).
    """
    region = findings.region
    if not findings.primal or not isinstance(region.noise, Symmetric):
        return []
    n, d = region.n, region.objective.d
    share = 2 * float(binom.cdf(d - 1, n, 0.5))
    for level, band in findings.bands.by_level.items():
        none = not np.isfinite(band.upper - band.lower).any()
        if none and band.method == "joint region" and share > 1 - level:
            return [
                f"{n} rows are few for {d} coefficients at level {level:.6g}: too many of the "
                "random signs leave some combination of the coefficients open."
            ]
    return []


def _reasons(findings: Findings) -> list[str]:
    """Return the facts behind infinite or missing bounds, for each kind at its highest level."""
    kinds: dict[Any, str] = {}
    for answer in _asked(findings):
        if answer.refusal:
            kinds[answer.refusal] = f"Not available: {answer.refusal}"
        own = {p: b for p, b in answer.by_level.items() if b.status in (*_OWN, *_REFUTED)}
        for level, bounds in answer.by_level.items():
            told = bounds.explanation
            text = Explanation(told.facts, None, told.more).text(Language.COMMAND_LINE)
            if text and level not in own:
                kinds.setdefault(bounds.status, text)
        if text := " ".join([*_empty(own), *_facts_of_levels(own, findings.levels)]):
            kinds[text] = text
    return list(kinds.values())


def _empty(bounds: Mapping[float, Any]) -> list[str]:
    """Say at which levels nothing within the norm bound agrees with the data."""
    some = {p: b for p, b in bounds.items() if b.status is Status.SOME_EMPTY}
    every = {p: b for p, b in bounds.items() if b.status is Status.EMPTY}
    said = [_sentence(_at(every, bounds), f"{_capital(b.description)}.") for b in every.values()]
    where = [f"{b.where_empty} (level {p:.6g})" for p, b in some.items()]
    return [*said[:1], *[f"{_capital(NOTHING_AGREES)} {joined(where)}."] * bool(some)]


def _facts_of_levels(bounds: Mapping[float, Any], levels: Sequence[float]) -> list[str]:
    """Return each fact once, with the levels that it is about unless they are all.

    Facts about different names at different levels are joined.
    """
    found: dict[Any, dict[float, Fact]] = {}
    for level, b in bounds.items():
        for fact in (*b.explanation.facts, *b.explanation.more):
            others = tuple((k, v) for k, v in fact.values.items() if k != "names")
            found.setdefault((fact.cause, others), {})[level] = fact
    said = []
    for at in found.values():
        texts = list(dict.fromkeys(map(str, at.values())))
        if len(texts) == 1:
            said.append(_sentence(_at(at, levels), texts[0]))
            continue
        names = [f"{fact.values['names']} (level {level:.6g})" for level, fact in at.items()]
        fact = next(iter(at.values()))
        said.append(str(Fact(fact.cause, {**fact.values, "names": joined(names)})))
    return said


def _remedies(findings: Findings, *, knots: bool) -> list[str]:
    """Return all remedies in one sentence; of several levels the lowest, unless it was tried."""
    offered = [remedy for answer in _asked(findings) for remedy in _offered(answer)]
    if not offered:
        return []
    if knots and FEWER_FEATURES in offered:
        offered.append(_KNOTS)
    levels = [remedy.level for remedy in offered if remedy.level is not None]
    kept: list[Remedy] = []
    for remedy in dict.fromkeys(offered):
        tried = remedy.level is not None and (
            remedy.level > min(levels) or min(findings.levels) <= remedy.level
        )
        said = [other.command_line for other in kept]
        if not tried and (remedy.command_line is None or remedy.command_line not in said):
            kept.append(remedy)
    return [Explanation((), tuple(kept)).text(Language.COMMAND_LINE)] if kept else []


def _offered(answer: Answer) -> list[Remedy]:
    """Return the remedies at all levels; a norm bound once, as it helps at the highest."""
    found: list[Remedy] = []
    for bounds in answer.by_level.values():
        held = any(remedy.norm_bound for remedy in found)
        own = bounds.explanation.remedies or ()
        found += [remedy for remedy in own if not (held and remedy.norm_bound)]
    return found


def _heuristic(findings: Findings) -> list[str]:
    """Return a norm bound from the data where one is a remedy, for kernels, with its caveat."""
    region, design = findings.region, findings.region.objective.design
    every = [bounds for answer in _asked(findings) for bounds in answer.by_level.values()]
    asked_for = any(bounds.explanation.asks_for_norm_bound for bounds in every)
    if not asked_for or design is None or not design.dual:
        return []
    return [
        f"As a heuristic, twice the norm of the estimate is {region.suggest_norm_bound():.4g}. A "
        "norm bound taken from the same data voids the guarantee."
    ]
