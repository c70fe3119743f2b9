"""The summary of a model: estimate, interval and p-value of each coefficient, and what is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from textwrap import fill
from typing import Any, TypeVar, final

import numpy as np

from unassuming._errors import NotAvailable
from unassuming._frames import as_frame
from unassuming._typing import Array, BoolArray
from unassuming._words import joined, shown
from unassuming.cells.codes import ALL, fewest_cells
from unassuming.inputs import SingleOptions, check_inner, check_single
from unassuming.noise import BlockSymmetric, Noise, Symmetric
from unassuming.ranking import (
    Level,
    as_double,
    as_levels,
    level_in_digits,
    pvalue_in_print,
)
from unassuming.regions.explain import (
    EXCHANGEABLE,
    FEWER_FEATURES,
    INPUT,
    SYMMETRIC,
    Cause,
    Explanation,
    Fact,
    Language,
    Remedy,
    Status,
    lower_level,
)
from unassuming.regions.problem import Problem
from unassuming.regions.results import IntervalUnion, Levels, several, table
from unassuming.regions.single.evidence import Evidence
from unassuming.regions.single.numbers import CERTIFIED, NOTHING, Numbers, Outcome

T = TypeVar("T")

_SHOWN = 40
"""Rows of a summary that are printed."""
_LISTED = 4
"""Names that are listed in a sentence."""
_VISIBLE = 0.01
"""Estimates that differ by a larger share of the interval are pointed out."""
_ROWS_FOR_HALVES = 4
"""Rows for each coefficient from which halves are within twice the t interval."""

OTHER_CELLS = Remedy("leave out cells for the default", None)
ANY_METHOD = Remedy("method='auto', which tries halves of the rows as well", None)
ALL_AT_ONCE = Remedy(
    "simultaneous=True: the bounds of the joint region are finite",
    "unassuming region without --pointwise: the bounds of the joint region are finite",
)
NORM_BOUND = Remedy(
    "a norm bound that you can assume: interval(norm_bound=B, simultaneous=True)",
    "a norm bound that you can assume: --norm-bound B of unassuming region, without --pointwise",
    norm_bound=True,
)


@final
@dataclass(frozen=True, eq=False)
class Summary:
    """Estimates, intervals and p-values of the coefficients, or of other linear functionals.

    The target is the true coefficient, the one that reproduces the regression function at the
    inputs. The penalty of a model plays no part in the interval.

    Attributes
    ----------
    names : tuple of N str
        The coefficients, or g0, g1, ... for functionals given by numbers.
    estimate : array of shape (N,)
        The estimates that belong to the intervals: least squares, without a penalty, with the other
        coefficients free in each group of rows. NaN where the rows determine none.
    lower, upper : arrays of shape (N,)
        The intervals, infinite where the data allow nothing finite at this level, and NaN where no
        value is in the region.
    pvalue : array of shape (N,)
        P-values of the hypotheses that the numbers are 0. With ``simultaneous`` they are adjusted.
    model_estimate : array of shape (N,)
        The estimates of the model, with its penalty.
    level : array of shape (N,)
        The attained levels, at least ``requested_level``.
    method : tuple of N str
        How each interval was found: "cells", "pairs", "halves", "palmrt", "t", "balanced cells" or
        "joint region".
    requested_level : float
    simultaneous : bool
        Whether all intervals hold at once.
    model : str
        The model in one line.
    assumption : str
        What the levels rest on, in a few words.
    explanation : Explanation
        What is remarkable about the intervals, why some are infinite, and remedies, as values.
    smallest_pvalue : array of shape (N,), or None
        The smallest p-values that are possible.
    sets : tuple of N IntervalUnion, or None
        The values that are not rejected, if they need not form an interval: for the coefficient of
        an endogenous column. Then ``lower`` and ``upper`` are the ends of their hull.

    Examples
    --------
    >>> summary = region.summary(level=0.9)
    >>> summary.names, summary.method, summary.simultaneous
    (('intercept', 'x0', 'x1'), ('cells', 'cells', 'cells'), False)
    >>> bool((summary.lower < coefficients).all() and (coefficients < summary.upper).all())
    True
    >>> summary.to_frame().columns.tolist()
    ['estimate', 'lower', 'upper', 'pvalue', 'model_estimate', 'level', 'method']
    """

    names: tuple[str, ...]
    estimate: Array
    lower: Array
    upper: Array
    pvalue: Array
    model_estimate: Array
    level: Array
    method: tuple[str, ...]
    requested_level: float
    simultaneous: bool
    model: str
    assumption: str
    explanation: Explanation = field(repr=False)
    smallest_pvalue: Array | None = None
    sets: tuple[IntervalUnion, ...] | None = None

    def __post_init__(self) -> None:
        empty = self.lower > self.upper  # no value is in the region
        for name in ("lower", "upper"):
            object.__setattr__(self, name, np.where(empty, np.nan, getattr(self, name)))

    def __len__(self) -> int:
        return len(self.names)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row for each number, indexed by name."""
        columns: dict[str, Any] = {
            **{name: getattr(self, name) for name in ("estimate", "lower", "upper", "pvalue")},
            "model_estimate": self.model_estimate,
            "level": self.level,
            "method": list(self.method),
        }
        if self.sets is not None:
            columns["set"] = list(map(str, self.sets))
        return as_frame(columns, index=list(self.names))

    def _columns(self) -> list[tuple[str, list[str]]]:
        """Return the columns that are printed; attained level and method only if they vary."""
        ends = [(name, getattr(self, name)) for name in ("estimate", "lower", "upper")]
        columns = [(name, [f"{x:.6g}" for x in column]) for name, column in ends]
        if self.sets is not None and several(self.sets):
            columns[1:] = [("set", list(map(str, self.sets)))]
        least = np.zeros(len(self)) if self.smallest_pvalue is None else self.smallest_pvalue
        shown = [pvalue_in_print(p, q, 2) for p, q in zip(self.pvalue, least, strict=True)]
        columns.append(("pvalue", shown))
        if len(self._levels) > 1:
            columns.append(("level", [f"{x:.3f}" if x < 1 else "" for x in self.level]))
        if len({*self.method} - {NOTHING}) > 1:
            columns.append(("method", [used.replace(NOTHING, "") for used in self.method]))
        return columns

    @property
    def _levels(self) -> Array:
        """The attained levels of finite intervals, to three digits."""
        return np.unique(np.round(self.level[self.level < 1], 3))

    def _line(self) -> str:
        """Return the one line that every summary has."""
        attained = self._levels
        apart = len(attained) == 1 and abs(attained[0] - self.requested_level) >= 5e-4
        at = f" (attained: {percent(attained[0])})" if apart else ""
        held = "all at once" if self.simultaneous else "one at a time"
        level = percent(self.requested_level)
        return f"{level} intervals{at}, {held}. Assumes {self.assumption}."

    def text(self, language: Language = Language.PYTHON) -> str:
        """Return what is printed, with remedies in Python or as options of the command line.

        Parameters
        ----------
        language : Language, default Language.PYTHON
            Whom the remedies are for.

        Returns
        -------
        str

        Examples
        --------
        >>> region.summary().text() == str(region.summary())
        True
        """
        lines = table([("", self.names), *self._columns()], _SHOWN)
        notes = [self._line(), *self.explanation.sentences(language)]
        return "\n".join([*lines, *(fill(note, 100, break_on_hyphens=False) for note in notes)])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        columns = self._columns()
        head = "".join(f"<th>{escape(name)}</th>" for name, _ in [("", None), *columns])
        body = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th>"
            + "".join(f"<td>{escape(column[i])}</td>" for _, column in columns)
            + "</tr>"
            for i, name in enumerate(self.names)
        )
        notes = [self._line(), *self.explanation.sentences(Language.PYTHON)]
        said = "".join(f"<p>{escape(note)}</p>" for note in notes)
        return f"<div><table><tr>{head}</tr>{body}</table>{said}</div>"


def percent(level: float) -> str:
    """Return a level in percent, as "95 %" or "96.9 %"."""
    near_one = 0.9999 < level < 1
    digits = len(level_in_digits(level)) - 2 if near_one else 4
    return f"{100 * level:.{digits}g} %"


# From questions to results


def summary_of(
    numbers: Numbers,
    g: Array,
    names: Sequence[str],
    level: float,
    options: SingleOptions,
    jointly: Callable[[float], bool],
) -> Summary:
    """Return the summary of functionals (N, d), one at a time.

    ``jointly`` says whether the joint region of a level is bounded.
    """
    problem = numbers.problem
    out = numbers.outcome(g, level, options)
    model = g @ problem.estimate
    why = explanation_of(numbers, out, names, g, level, options, jointly)
    facts = (
        *_certified(out, names),
        *differing(out.estimate, out.lower, out.upper, model),
        *why.facts,
    )
    return summary_from_cells(
        problem,
        Explanation(facts, why.remedies),
        names=tuple(names),
        estimate=out.estimate,
        lower=out.lower,
        upper=out.upper,
        pvalue=out.pvalue,
        model_estimate=model,
        level=out.level,
        method=tuple(out.method),
        requested_level=level,
        simultaneous=False,
        smallest_pvalue=np.where(out.m > 1, 1 / np.maximum(out.m, 1), 0.0),
    )


def one_by_one(
    numbers: Numbers,
    g: Array,
    names: Sequence[str],
    level: float,
    options: SingleOptions,
    make: Callable[..., T],
    chosen_for: float,
    jointly: Callable[[float], bool],
) -> T:
    """Return bounds of functionals, each with its level by itself."""
    out = numbers.outcome(g, level, options, chosen_for=chosen_for)
    why = explanation_of(numbers, out, names, g, level, options, jointly)
    why = replace(why, facts=(*_certified(out, names), *why.facts))
    used = [method for method in out.method if method != NOTHING]
    return bounds_from_cells(
        make,
        why,
        level=level,
        estimate=out.estimate,
        lower=out.lower,
        upper=out.upper,
        status=Status.ONE_BY_ONE if out.finite.all() else Status.TOO_FEW_CELLS,
        simultaneous=False,
        method=" and ".join(dict.fromkeys(used)) or "cells",
        attained=out.level,
    )


def bounds_from_cells(make: Callable[..., T], why: Explanation, **own: Any) -> T:
    """Make a result whose bounds do not come from members of the region.

    Its level is the one that all bounds attain. Infinite ones, which attain 1, do not count.
    """
    own["level"] = float(min(own["attained"][own["attained"] < 1], default=own["level"]))
    without = dict.fromkeys(("inner_lower", "inner_upper", "witnesses"))
    return make(**without, reason=why.text(), explanation=why, **own)


def summary_from_cells(problem: Problem, why: Explanation, **own: Any) -> Summary:
    """Make a summary, with the sentences that every summary of this model has."""
    return Summary(
        model=shown(problem.estimator),
        assumption=assumption_of(problem.noise),
        explanation=why,
        **own,
    )


def check_level(level: Any) -> float:
    """Return a level strictly between 0 and 1, or raise."""
    Level.at_least(level, 10**9)
    return as_double(level)


def at_each(level: Any, at: Callable[[float], T]) -> Any:
    """Return the answer at one level, or a dictionary of answers at several."""
    found = {as_double(one): at(check_level(one)) for one in as_levels(level)}
    return Levels(found) if np.ndim(level) else next(iter(found.values()))


def highest(level: Any) -> float:
    """Return the highest of one level or several: cells and halves are chosen for it."""
    return max(check_level(one) for one in as_levels(level))


def require_alone(inner: object) -> None:
    """Refuse what only the joint region offers."""
    check_inner(inner)
    if inner:
        raise ValueError(
            "inner=True does not apply to one number at a time: expected simultaneous=True with "
            "it, given simultaneous=False. Leave out one of the two."
        )


def options_for(
    numbers: Numbers, cells: Any, method: Any, weights: Any, estimator: Any
) -> SingleOptions:
    """Check the options of single numbers, also against what a stream has collected."""
    kept, problem = numbers.evidence.kept, numbers.problem
    if kept is None:
        rows = problem.data("intervals and tests of one number at a time need").rows
        return check_single(cells, method, weights, estimator, rows)
    options = check_single(cells, method, weights, estimator, problem.n)
    given = f"cell_estimate={estimator!r}" if options.robust else f"method={method!r}"
    if options.robust or method not in ("auto", "cells"):
        raise NotAvailable(
            f"{given} needs the rows of the data, and a stream keeps sums over cells: leave it "
            "out, or build the region in memory with ua.confidence_region(estimator, X, y)."
        )
    if isinstance(options.cells, int) and options.cells > kept.number:
        raise ValueError(
            f"cells are more than the stream has collected: expected at most {kept.number}, given "
            f"{cells}. Pass StreamingRegion(..., cells={cells}), or a smaller number here."
        )
    return options


# What is said


def assumption_of(noise: Noise) -> str:
    """Return what is assumed of the noise, in a few words."""
    if type(noise) is Symmetric:
        return "independent errors, symmetric about zero"
    if type(noise) is BlockSymmetric:
        return "independent blocks of rows, the errors of each symmetric about zero as a whole"
    return f"that {noise.assumption}"


def _certified(out: Outcome, names: Sequence[str]) -> Iterator[Fact]:
    """Say which intervals hold with at least their level."""
    used = np.isin(out.method, CERTIFIED) & out.finite
    if used.any():
        yield Cause.CERTIFIED_ALONE(names=listed(names, used))


def differing(estimate: Array, lower: Array, upper: Array, model: Array) -> Iterator[Fact]:
    """Say whose estimates are printed, where those of the model differ visibly."""
    with np.errstate(invalid="ignore"):
        apart = np.abs(model - estimate) > _VISIBLE * (upper - lower)
    if apart.any():
        yield Cause.OTHER_ESTIMATE()


def explanation_of(
    numbers: Numbers,
    out: Outcome,
    names: Sequence[str],
    g: Array,
    level: float,
    options: SingleOptions,
    jointly: Callable[[float], bool],
) -> Explanation:
    """Say why intervals are infinite, and what to do."""
    infinite, evidence = ~out.finite, numbers.evidence
    if not infinite.any():
        return Explanation()
    facts, remedies = list[Fact](), list[Remedy]()
    hidden = infinite & ~evidence.whole.vectors(g)[2]
    shift = np.zeros_like(hidden)
    if not evidence.flips and evidence.swaps is not None and not evidence.spherical:
        shift = infinite & ~hidden & ~evidence.centred.at.vectors(g)[2]
    if hidden.any():
        facts += _dependence(numbers, names, g, hidden)
    if shift.any():
        facts.append(Cause.SHIFT_NOT_SEEN(names=listed(names, shift)))
        remedies.append(SYMMETRIC)
    few = infinite & ~hidden & ~shift
    if few.any():
        facts += _too_few(numbers, out, names, g, few, level, options)
        best = highest_levels(numbers, g[few], level, options)
        if best.min() >= 0.5:
            remedies.append(lower_level(float(best.min())))
        if options.cells is not None:
            remedies.append(OTHER_CELLS)
        if options.method in ("cells", "pairs"):
            remedies.append(ANY_METHOD)
        at, rows = evidence.whole, evidence.signs is not None and not evidence.in_blocks
        free = options.cells is None and evidence.swaps is None
        if rows and free and at.rows > 2 * at.rank:
            remedies.append(EXCHANGEABLE)
        if not hidden.any() and jointly(level):
            remedies.append(ALL_AT_ONCE)
    if hidden.any() or (few.any() and fewest_cells(level) <= ALL):
        remedies.append(FEWER_FEATURES)
        if _has_joint_bounds(evidence):
            remedies.append(NORM_BOUND)
    return Explanation(tuple(facts), tuple(remedies))


def _dependence(
    numbers: Numbers, names: Sequence[str], g: Array, hidden: BoolArray
) -> Iterator[Fact]:
    """Name the columns that depend on each other, in groups, and other undetermined numbers."""
    evidence, all_names = numbers.evidence, numbers.problem.objective.names
    n, d = evidence.n, len(all_names)
    if n < d:
        yield Cause.ROWS_MISSING(n=n, d=d, names=listed(names, hidden))
        return
    found = evidence.whole.factor
    unseen = np.flatnonzero(found.unseen(np.eye(d)))
    lengths = np.linalg.norm(found.null, axis=0)
    null = found.null / np.where(lengths > 0, lengths, 1.0)
    share = np.abs(null @ null.T)[np.ix_(unseen, unseen)]
    size = np.sqrt(np.diagonal(share))
    linked = share > 1e-7 * size[:, None] * size
    group = np.arange(len(unseen))
    for _ in unseen:  # the smallest number of a group spreads to all of it
        group = np.where(linked, group, len(unseen)).min(axis=1)
    asked = np.flatnonzero(hidden & (np.count_nonzero(g, axis=1) == 1))
    columns = np.argmax(np.abs(g[asked]), axis=1)
    for one in np.unique(group[np.isin(unseen, columns)]).tolist():
        members = unseen[group == one].tolist()
        yield Cause.DEPEND(names=_together([all_names[j] for j in members]))
    others = hidden & (np.count_nonzero(g, axis=1) > 1)
    if others.any():
        yield Cause.NOT_IN_DESIGN(names=listed(names, others))


def _too_few(
    numbers: Numbers,
    out: Outcome,
    names: Sequence[str],
    g: Array,
    few: BoolArray,
    level: float,
    options: SingleOptions,
) -> Iterator[Fact]:
    """Say that too few rows, blocks or cells determine some numbers, and how many would do."""
    evidence, needed = numbers.evidence, fewest_cells(level)
    if needed > ALL:
        yield Cause.LEVEL_TOO_HIGH(names=listed(names, few), level=level)
        return
    if options.cells is not None:
        yield Cause.CELLS_CHOSEN(level=level, needed=needed, cells=int(out.cells[few].min()))
        return
    if evidence.clusters is not None and evidence.clusters < needed:
        yield Cause.CLUSTERS_MISSING(level=level, needed=needed, units=evidence.clusters)
        return
    which = np.flatnonzero(few)
    best = highest_levels(numbers, g[which], level, options)
    for one in np.unique(best).tolist():
        same = np.zeros_like(few)
        same[which[best == one]] = True
        rows = max(rows_needed(evidence, c, needed) for c in g[same])
        cause = Cause.LEVEL_INFINITE if one >= 0.5 else Cause.ALWAYS_INFINITE
        yield cause(names=listed(names, same), level=level, best=one, rows=rows)


def highest_levels(numbers: Numbers, g: Array, level: float, options: SingleOptions) -> Array:
    """Return the highest level below this one at which each functional has a finite interval."""
    best = np.zeros(len(g))
    for power in range(15, 0, -1):
        lower = 1 - 0.5**power
        left = np.flatnonzero(best == 0)
        if lower < level and left.size:
            ways = numbers.ways(g[left], lower, options)
            best[left[[bool(np.isfinite(way.width)) for way in ways]]] = lower
    return best


def rows_needed(evidence: Evidence, c: Array, needed: int) -> int:
    """Return about how many rows like these have a finite interval of a functional."""
    rows = _ROWS_FOR_HALVES * evidence.whole.rank
    if evidence.kept is not None:
        return max(rows, 2 * evidence.n)
    units = np.arange(evidence.n) if evidence.signs is None else evidence.signs
    used = evidence.Phi[:, c != 0]
    other = [np.unique(units[one]).size for one in (used != np.median(used, axis=0)).T]
    carriers = min([count for count in other if count], default=len(np.unique(units)))
    return max(rows, -(-evidence.n * needed // carriers), evidence.n + 1)


def _has_joint_bounds(evidence: Evidence) -> bool:
    """Whether the joint region has bounds: transformations must not mix rows of unlike weight."""
    w, mixed = evidence.weight, evidence.spherical or evidence.swaps is not None
    return w is None or not mixed or bool((w == w[0]).all())


def listed(names: Sequence[str], which: BoolArray) -> str:
    """Return some of the names, as many as a sentence can take."""
    chosen = [names[i] for i in np.flatnonzero(which).tolist()]
    if len(chosen) == len(names) > _LISTED:
        return f"all {len(names)} numbers"
    if len(chosen) > _LISTED + 1:
        return f"{_together(chosen[:_LISTED])} and {len(chosen) - _LISTED} others"
    return _together(chosen)


def _together(names: list[str]) -> str:
    """Return names with commas between them; of inputs only the numbers are repeated."""
    numbers = [name.removeprefix(f"{INPUT} ") for name in names]
    if len(names) > 1 and all(map(str.isdecimal, numbers)):
        return f"{INPUT}s {', '.join(numbers)}"
    return ", ".join(names)


def tested(names: Sequence[str], tau: Array) -> str:
    """Return a hypothesis in words."""
    return joined(f"{n} = {t:.6g}" for n, t in zip(names, tau.tolist(), strict=True))
