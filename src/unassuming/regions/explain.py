"""Why an answer is what it is, and what to do: facts travel as values and become words here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, final

import numpy as np

from unassuming._typing import Array, BoolArray
from unassuming._words import joined
from unassuming.cells import theorem
from unassuming.noise import BlockSymmetric, Noise, Symmetric
from unassuming.ranking import level_in_digits

INPUT = "input"
"""What values of a band are called, with a number."""


class Status(Enum):
    """What kind of answer was given; the value is the sentence a person reads."""

    CERTIFIED = "every bound is finite and an honest outer bound of the region"
    UNBOUNDED = "the region itself is unbounded: no finite bound is true in some directions"
    NOT_CERTIFIED = (
        "too many of the random transformations leave some direction open, or may do so: no finite "
        "bound can be certified, although the region itself may be bounded"
    )
    UNDETERMINED = "some functionals are not determined by the fitted values: they take every value"
    NO_OUTER_BOUND = "no outer bound is known for this model, so no finite bound is certified"
    TRIVIAL = "nothing is known beyond [-1, 1], where E[y|x] lies anyway"
    EMPTY = "the region of this level has no member at all"
    SOME_EMPTY = "for some of the intervals no value within the norm bound agrees with the data"
    ONE_BY_ONE = "every interval is finite and has its level by itself"
    ALL_AT_ONCE = "every bound is finite, and all of them hold at once"
    TOO_FEW_CELLS = "too few parts of the data determine some of the numbers"
    ENDLESS_SET = (
        "arbitrarily large values agree with the data at this level; the set has its level by "
        "itself"
    )
    SEVERAL_PARTS = "the values that agree with the data form several intervals, not one"

    def given(self, norm_bound: float | None) -> str:
        """Return the sentence, for an answer that may assume a norm bound."""
        if self is Status.EMPTY and norm_bound is not None:
            return "no function within the norm bound agrees with the data at this level"
        return str(self.value)


class Cause(Enum):
    """A fact about an answer; the value is its sentence, completed by numbers and names."""

    TOO_FEW_SETS = (
        "A member must be compatible with {q} of the random transformations, and fewer of them "
        "are compatible with any candidate."
    )
    BALL_TOO_SMALL = (
        "The norm bound of {bound:g} is too small, unless these data are an exception that the "
        "level allows for."
    )
    ESTIMATE_OUTSIDE = "The estimate's own norm is {norm:.6g}, larger than the bound of {bound:g}."
    HIDDEN = (
        "Coefficients can change without changing any fitted value, and some of the numbers asked "
        "for depend on them."
    )
    EVERY_SET_BOUNDED = "none of the random transformations leaves a direction open."
    SETS_SHARE = (
        "an unbounded region needs {q} random transformations that leave the same direction open, "
        "and at most {most} do."
    )
    NEVER_END = (
        "{found} of the {sets} random transformations set no limit in one direction, and an "
        "unbounded region needs only {q}."
    )
    NOT_COUNTED = (
        "{found} to {most} of the {sets} random transformations leave one direction open, and an "
        "unbounded region needs {q}."
    )
    MOVES_FOR_EVER = "from some members one can go on in one direction without end."
    NO_END_LEFT = "no direction is left in which it could extend to infinity."
    NO_BOXES = (
        "Outer bounds of regression quantiles come from a search over boxes, for at most {most} "
        "coefficients (linearly independent features if there is a penalty)."
    )
    NOT_SETTLED = "The search stopped after {nodes:,} boxes, its limit; some bounds are infinite."
    NO_LABEL_MODEL = (
        "No coefficients with |f| <= 1 at the inputs agree with the labels: the model is too small "
        "for the data."
    )
    VALUES_DETERMINE = "fitted values lie in [-1, 1] and determine the coefficients."
    MEMBERSHIP_ONLY = "For {objective} only membership can be tested."
    NO_BOUND = "The data alone give no finite bound that is known for {objective}."
    CUT = (
        "At {count} of the inputs values of the model lie outside [-1, 1], where E[y|x] cannot "
        "lie: these values and their bounds are clipped to [-1, 1]."
    )

    # One number at a time, and balanced cells
    BALL_OR_ERROR_TOO_SMALL = (
        "The norm bound of {bound:g}, or the model error of {error:g}, is too small, unless these "
        "data are an exception that the level allows for."
    )
    SOME_EMPTY = (
        "{which} may be too small. If {holds}, one interval is empty with a probability of at most "
        "one minus its level, but the probability that some of {count} are can be larger: only "
        "simultaneous bounds test the assumption. The other intervals depend on it, too."
    )
    BALL_ALONE = "The bounds follow from the norm bound alone: the data add nothing."
    CERTIFIED_ALONE = (
        "The level of {names} is at least the one named, not exactly: these come from halves or "
        "permutations of the rows."
    )
    OTHER_ESTIMATE = (
        "Estimates belong to the intervals; those of the model are the column model_estimate of "
        "frames and files."
    )
    DEPEND = "{names} depend on each other: the rows do not determine them one by one."
    LEVEL_INFINITE = (
        "No finite interval of level {level:.6g} is possible for {names}, but one of level "
        "{best:.6g} is. About {enough} like these would do."
    )
    ALWAYS_INFINITE = (
        "No finite interval of level {level:.6g}, or of any level from 0.5 on, is possible for "
        "{names}. About {enough} like these would do."
    )
    LEVEL_TOO_HIGH = "A level of {level:.12g} is higher than cells can attain for {names}."
    NOT_IN_DESIGN = "The features do not determine {names}: some of them are linearly dependent."
    ROWS_MISSING = "{n} rows do not determine {names}: the model has {d} coefficients."
    SHIFT_NOT_SEEN = "Exchangeable noise may have any mean, so the data say nothing about {names}."
    CELLS_CHOSEN = "Level {level:.6g} takes at least {needed} cells, given {cells}."

    # Instruments
    WEAK_INSTRUMENTS = (
        "The instruments move {names} too little for a bounded set at this level. No method avoids "
        "that: sets that are always bounded miss the truth too often if instruments are weak."
    )
    NO_VALUE = (
        "No value of {names} agrees with all instruments at this level: either an instrument acts "
        "on y by itself or depends on the noise, or an event of probability at most {alpha:.4g} "
        "has happened."
    )
    HULL = (
        "The values that agree with the data do not form one interval; lower and upper are the "
        "ends of their hull."
    )
    CONTROLS_ALONE = (
        "Coefficients of controls have no exact interval one at a time: they change with the "
        "coefficient of {names}, which no cell of rows removes. Their bounds in the joint region "
        "hold all at once."
    )

    def __call__(self, **values: Any) -> Fact:
        """State the fact; objects are kept as words, so that a result holds no data."""
        plain = (str, int, float, Fact)
        return Fact(self, {k: v if isinstance(v, plain) else str(v) for k, v in values.items()})


@final
@dataclass(frozen=True, eq=False)
class Fact:
    """A cause with its numbers and names."""

    cause: Cause
    values: Mapping[str, Any]

    def __str__(self) -> str:
        return self.cause.value.format(**self.values)


class Language(Enum):
    """Whom a remedy is for."""

    PYTHON = "Python"
    COMMAND_LINE = "command line"


@final
@dataclass(frozen=True)
class Remedy:
    """What to do, in Python and on the command line (None where that does not offer it)."""

    python: str | None
    command_line: str | None

    def text(self, language: Language) -> str | None:
        """Return the remedy for one kind of reader."""
        return self.python if language is Language.PYTHON else self.command_line


NORM_BOUND = Remedy("assume a norm bound, norm_bound=B", "assume a norm bound, --norm-bound B")
FEWER_FEATURES = Remedy("use fewer features, or more rows", "use fewer features, or more rows")
HIGHER_LEVEL = Remedy("ask for a higher level", "--level with a higher level")
LARGER_BOUND = Remedy("pass a larger norm_bound", "--norm-bound with a larger number")
LOWER_LEVEL = Remedy("ask at a lower level", "--level with a lower level")
AT_INPUTS = Remedy("ask for values at the inputs", None)
INDEPENDENT = Remedy(
    "leave out features that depend on others, or ask for values at the inputs",
    "leave out columns that depend on others",
)
SYMMETRIC = Remedy(
    "noise='symmetric', if the noise is symmetric", "--noise symmetric, if the noise is symmetric"
)
OTHER_CELLS = Remedy("leave out cells for the default", None)
ANY_METHOD = Remedy("method='auto', which tries halves of the rows as well", None)
ALL_AT_ONCE = Remedy(
    "simultaneous=True: the bounds of the joint region are finite",
    "unassuming region without --pointwise: the bounds of the joint region are finite",
)
BOUND_AT_ONCE = Remedy(
    "a norm bound that you can assume: interval(norm_bound=B, simultaneous=True)",
    "a norm bound that you can assume: --norm-bound B of unassuming region, without --pointwise",
)
EXCHANGEABLE = Remedy(
    "noise='exchangeable', if the noise is exchangeable",
    "--noise exchangeable, if the noise is exchangeable",
)
OTHER_MODELS = Remedy(
    "use other features, a kernel or LogisticRegression",
    "use other columns, --kernel rbf or --model logistic",
)
STRONGER = Remedy(
    "instruments that move the endogenous column more, or more rows",
    "--instruments that move the endogenous column more, or more rows",
)


def lower_level(level: float, m: int | None = None) -> Remedy:
    """Return the remedy to ask at a level at which bounds are finite, a multiple of 1/m."""
    digits = level_in_digits(level, m)
    return Remedy(f"ask at level {digits} or below", f"--level {digits} or less")


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """Facts, and remedies if the answer calls for some."""

    facts: tuple[Fact, ...] = ()
    remedies: tuple[Remedy, ...] | None = None
    """None if nothing needs a remedy; empty if none is known."""
    more: tuple[Fact, ...] = ()
    """Facts that follow the remedies."""

    def text(self, language: Language = Language.PYTHON) -> str:
        """Return the sentences."""
        return " ".join(self.sentences(language))

    def sentences(self, language: Language = Language.PYTHON) -> list[str]:
        """Return what each fact says, then the remedies, then further facts."""
        said = [str(fact) for fact in self.facts]
        if self.remedies is not None:
            said.append(_listed(self.remedies, language))
        return [*said, *map(str, self.more)]

    def with_more(self, *facts: Fact) -> Explanation:
        """Add facts behind the remedies."""
        return Explanation(self.facts, self.remedies, (*self.more, *facts))


def _listed(remedies: tuple[Remedy, ...], language: Language) -> str:
    """Return the remedies in one sentence, in the language of the reader alone."""
    ways = [way for remedy in remedies if (way := remedy.text(language))]
    if ways:
        return f"Remedies: {'; '.join(ways)}."
    if remedies and language is Language.COMMAND_LINE:
        return "No option of the command line changes this."
    return "No remedy is known."


def status_of(lower: Array, upper: Array, otherwise: Status) -> Status:
    """Return what kind of answer bounds are; ``otherwise`` if some of them are infinite.

    Bounds hold for every member. If they contradict each other, there is none.
    """
    if np.isposinf(lower).any() or np.isneginf(upper).any() or (lower > upper).any():
        return Status.EMPTY
    if np.isfinite(lower).all() and np.isfinite(upper).all():
        return Status.CERTIFIED
    return otherwise


_LISTED = 4  # names in a sentence


def listed(names: Sequence[str], which: BoolArray) -> str:
    """Return some of the names, as many as a sentence can take."""
    chosen = [names[i] for i in np.flatnonzero(which).tolist()]
    if len(chosen) == len(names) > _LISTED:
        return f"all {len(names)} numbers"
    if len(chosen) > _LISTED + 1:
        return f"{together(chosen[:_LISTED])} and {len(chosen) - _LISTED} others"
    return together(chosen)


def together(names: list[str]) -> str:
    """Return names with commas between them; of inputs only the numbers are repeated."""
    numbers = [name.removeprefix(f"{INPUT} ") for name in names]
    if len(names) > 1 and all(map(str.isdecimal, numbers)):
        return f"{INPUT}s {', '.join(numbers)}"
    return ", ".join(names)


def too_few(names: str, level: float, best: float, enough: str) -> Fact:
    """Say that no interval of a level is finite, at which level one is, and what would do."""
    if theorem.fewest_cells(level) > theorem.ALL:
        return Cause.LEVEL_TOO_HIGH(names=names, level=level)
    if best < 0.5:
        return Cause.ALWAYS_INFINITE(names=names, level=level, enough=enough)
    return Cause.LEVEL_INFINITE(names=names, level=level, best=best, enough=enough)


def assumption_of(noise: Noise) -> str:
    """Return what is assumed of the noise, in a few words."""
    if type(noise) is Symmetric:
        return "independent errors, symmetric about zero"
    if type(noise) is BlockSymmetric:
        return "independent blocks of rows, the errors of each symmetric about zero as a whole"
    return f"that {noise.assumption}"


def percent(level: float) -> str:
    """Return a level in percent, as "95 %" or "96.9 %"."""
    digits = len(level_in_digits(level)) - 2 if 0.9999 < level < 1 else 4
    return f"{100 * level:.{digits}g} %"


def tested(names: Sequence[str], tau: Array) -> str:
    """Return a hypothesis in words."""
    return joined(f"{n} = {t:.6g}" for n, t in zip(names, tau.tolist(), strict=True))


def least_pvalue(cells: int, level: float) -> str:
    """Return a caveat if no p-value of so many cells could reject at the level."""
    least = 1 / theorem.number_of_words(cells)
    if least <= 1 - level + 1e-9:
        return ""
    return f"Groups that determine what is tested: {cells}. So the p-value is at least {least:.4g}."


def few_rows(level: float, rank: int) -> str:
    """Return why nothing can be rejected at a level, and how many rows would do."""
    rows = theorem.fewest_cells(level) * rank
    return f"Rows are too few for a test at level {level:.6g}: about {rows} would do."


# What tests say about their p-values.
AN_UPPER_BOUND = "The p-value is an upper bound, from halves or permutations of the rows."
HIDDEN = "The rows do not determine what is tested, so they cannot refute it."
PART = "The rows determine {} of the {} equations; no more is tested."
NOT_EXACT = "The p-value is an upper bound: it allows for the largest bias."
AT_ONCE = "The p-value is an upper bound, from the joint region."
