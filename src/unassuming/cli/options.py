"""The options that commands share: the models by name, the table, and what does not go together.

Nothing here imports what takes long, so that help and wrong options are answered at once.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from unassuming._errors import complaint


class Model(StrEnum):
    """The values of ``--model``."""

    SPLINE = "spline"
    KRR = "krr"
    RIDGE = "ridge"
    OLS = "ols"
    QUANTILE = "quantile"
    IV = "iv"
    SVR = "svr"
    KLASSO = "klasso"
    HUBER = "huber"
    LS_SVC = "ls-svc"
    LOGISTIC = "logistic"


class Kernel(StrEnum):
    """The values of ``--kernel``."""

    RBF = "rbf"
    LAPLACIAN = "laplacian"
    POLY = "poly"
    LINEAR = "linear"
    COSINE = "cosine"
    SIGMOID = "sigmoid"


class Assumption(StrEnum):
    """The values of ``--noise``: the names of the noise classes."""

    SYMMETRIC = "symmetric"
    EXCHANGEABLE = "exchangeable"
    SYMMETRIC_EXCHANGEABLE = "symmetric-exchangeable"
    SPHERICAL = "spherical"
    LABELS = "labels"
    QUANTILE = "quantile"


@dataclass(frozen=True)
class Recipe:
    """What a model takes: its options with their defaults.

    With ``kernel``, inputs are standardised and the default of gamma depends on their number. A
    model whose residuals are not plain noise has its own ``noise``: the only one, without
    ``others``.
    """

    defaults: dict[str, Any]
    kernel: bool = False
    classify: bool = False
    noise: Assumption | None = None
    others: bool = False

    @property
    def one_by_one(self) -> bool:
        """Whether single coefficients have intervals of their own."""
        return not (self.kernel or self.noise is not None)


RECIPES: dict[Model, Recipe] = {
    Model.SPLINE: Recipe({"alpha": 0.0}),
    Model.KRR: Recipe({"kernel": "rbf", "gamma": None, "alpha": 1.0}, kernel=True),
    Model.RIDGE: Recipe({"alpha": 1.0}),
    Model.OLS: Recipe({}),
    Model.QUANTILE: Recipe({"quantile": 0.5, "alpha": 0.0}, noise=Assumption.QUANTILE),
    Model.IV: Recipe({"endogenous": None, "instruments": None}),
    Model.SVR: Recipe({"kernel": "rbf", "gamma": None, "C": 1.0, "epsilon": 0.1}, kernel=True),
    Model.KLASSO: Recipe({"kernel": "rbf", "gamma": None, "alpha": 1.0}, kernel=True),
    Model.HUBER: Recipe(
        {"kernel": "rbf", "gamma": None, "alpha": 1.0, "epsilon": 1.0}, kernel=True
    ),
    Model.LS_SVC: Recipe(
        {"kernel": "linear", "gamma": None, "C": 1.0},
        kernel=True,
        classify=True,
        noise=Assumption.LABELS,
        others=True,  # the published region, without a guarantee
    ),
    Model.LOGISTIC: Recipe({"C": 1.0}, classify=True, noise=Assumption.LABELS),
}

HELP = """
data: Table of observations: .csv or .tsv (with a header), .parquet, or .xlsx.
arx data: Table whose rows are times, in chronological order: .csv, .tsv, .parquet or .xlsx.
experiment data: Table of an experiment: .csv, .tsv, .parquet or .xlsx.
target: Column to explain.
arx target: Column of the output.
experiment target: Column of the outcome.
features <A,B,...>: Input columns; default: all other columns, except unnamed ones, constant ones,
    dates, and text with more different values than a fifth of the number of rows.
categorical <A,B,...>: Features to encode as categories: one indicator for each category but the
    first. Columns of text are always encoded in this way.
index: Column with names of the rows. It is never used as a feature.
model: spline: least squares on splines of each numeric feature, or lines if there are few rows.
    krr: kernel ridge. ridge, ols: linear. quantile: a linear regression quantile. iv: linear, with
    --endogenous columns and --instruments. svr, klasso, huber: kernel machines. ls-svc, logistic:
    classifiers for two labels.
summary model <<spline|ridge|ols|iv>>: spline: least squares on splines of each numeric feature, or
    lines if there are few rows. ridge, ols: linear. iv: linear, with --endogenous columns and
    --instruments.
knots: Number of knots of each spline, at quantiles of its column; default: up to 8, with at least
    15 rows for each coefficient (5 with a single feature).
kernel: Kernel of krr, svr, klasso, huber (default rbf) and ls-svc (default linear).
gamma: Width parameter of the kernel on standardised inputs; default: 1 / number of features, which
    does not depend on the target.
alpha: Penalty of spline and quantile (default 0), ridge, krr, klasso and huber (default 1). A large
    penalty widens simultaneous bounds.
C: Cost of errors in svr, ls-svc, logistic; default 1.
epsilon: svr: errors up to this size cost nothing (default 0.1); huber: size of error at which the
    loss becomes linear (default 1).
quantile: Quantile for --model quantile; default 0.5, the median.
endogenous <A,B,...>: Features that may depend on the noise, as a price depends on demand; implies
    --model iv, and needs --instruments.
instruments <A,B,...>: Features that move the endogenous ones, do not depend on the noise, and act
    on the target through them alone. All other features are controls.
noise: Assumption on the noise; default: symmetric, labels for classifiers, and quantile for --model
    quantile.
arx noise: Assumption on the noise: symmetric, exchangeable, symmetric-exchangeable, spherical.
classes <A,B>: The two labels of a classifier; the second is +1. Needed if only one of them occurs,
    unless they are 0 and 1, -1 and 1, or True and False.
clusters: Column of labels: rows with the same label may depend on each other. It is never used as a
    feature.
experiment clusters: Column of labels, if whole clusters were treated.
blocks: The noise is exchangeable within each block of this many consecutive rows, and blocks may
    differ in mean and spread.
weights: Column with the weights of the rows. It is never used as a feature.
m: Number of statistics: levels are multiples of 1/m. all: the whole group.
arx m: Number of statistics: levels are multiples of 1/m.
experiment m: Number of statistics; default: all assignments up to 4,096, else 1000.
seed: Seed of all random numbers.
levels <P>: Confidence level, rounded up to the next one that can be attained; repeatable.
drop_missing: Leave out rows with missing values.
missing <WORD>: Word for a missing value, such as "?"; repeatable.
sep: Separator of columns in text; default: "," and a tab in .tsv files.
decimal: Decimal mark of numbers in text; default: ".".
encoding: Encoding of text, such as latin-1; default: utf-8.
check: Test the assumption on the noise and the fit of the model, and print what is found. This
    takes longer than the intervals.
ordered: The rows have an order by their nature, such as time, and the checks ask whether
    neighbouring residuals depend on each other. Default: if a column of dates or years is in order.
norm_bound: Assume that the norm of the function (kernels) or of the penalised coefficients (others)
    is at most this.
at: Table with the inputs of the band; default: 200 equidistant inputs for one feature, else the
    rows of the data.
region out: Directory for region.json, band.csv and pictures.
summary out: Directory for summary.csv, summary.json and forest.png.
report out: The HTML file to write.
arx out: Directory for the picture.
paper out: Directory for the pictures and the tables.
pointwise: Bounds that hold at each input and for each coefficient by itself. They are usually
    narrower than the simultaneous ones, except where there are few data. Kernel models then need
    --norm-bound.
method: Where simultaneous bounds come from. joint: the region. cells: balanced cells of rows. auto:
    whichever is expected to be narrower before the target is seen.
stream: Read the table in chunks, never as a whole (spline, ridge and ols with symmetric noise);
    default: if it is larger than 5 MB (numbers in Parquet, text in CSV).
checkpoint: Stream, and save the progress in this file: after an interruption the same command
    continues from there. The file is kept at the end.
checkpoint_every: Seconds between checkpoints; 0: after each chunk of 16,384 rows.
title: Title of the report.
candidate: Column with the values of a function that may be the regression function (for classifiers
    E[y|x], from -1 to 1). It is never used as a feature.
arx candidate <A1,...,B1,...>: Coefficients to be tested; repeatable.
input: Column of the input; not needed with --nb 0.
na: Number of past outputs in the model.
nb: Number of past inputs in the model.
delay: Steps after which an input first acts.
intercept: Add a constant.
treatment <COLUMN>: Column with two values: treated or untreated.
treated <VALUE>: The value of treated rows; default: the larger number, or the later word in
    alphabetical order.
strata: Column of labels, if the treatment was drawn within strata.
controls <A,B,...>: Columns that the treatment cannot have changed. They narrow the interval if they
    explain the outcome.
effect: The effect whose p-value is computed.
figure: Number of one figure; default: all six.
members: Number of coefficient vectors ranked for each region.
repetitions: Number of samples over which the coverage is measured.
picture: Where to write the picture.
"""
"""What each option means, in some commands another thing: name, metavar and words."""

_LIMITS: dict[str, dict[str, Any]] = {
    **{name: {"min": 0} for name in ("seed", "na", "nb", "checkpoint_every")},
    **{name: {"min": 1} for name in ("delay", "members", "repetitions")},
    **{name: {"min": 2} for name in ("knots", "blocks", "arx m", "experiment m")},
    "figure": {"min": 1, "max": 6},
    "at": {"exists": True, "dir_okay": False},
    "out": {"file_okay": False},
    "report out": {"dir_okay": False},
    "checkpoint": {"dir_okay": False},
    "picture": {"dir_okay": False},
}
"""What values can be."""

_SPELLED = {
    "levels": ("--level",),
    "m": ("--m",),
    "C": ("--C",),
    "out": ("--out", "-o"),
    "stream": ("--stream/--no-stream",),
}
"""Options whose names differ from those of the arguments; flags have no opposite."""


def _entries() -> dict[str, tuple[str | None, str]]:
    found = {}
    for entry in re.split(r"\n(?=\S)", HELP.strip()):
        head, words = entry.split(": ", 1)
        name, _, metavar = head.partition(" <")
        found[name] = metavar[:-1] or None, " ".join(words.split())
    return found


_ENTRIES = _entries()


def _declared(command: str, name: str, kind: Any) -> Any:
    """Return the type of an argument with the words of its option."""

    def own(table: dict[str, Any], otherwise: Any) -> Any:
        return table.get(f"{command} {name}", table.get(name, otherwise))

    metavar, words = own(_ENTRIES, None)
    if name == "data":
        return Annotated[kind, Argument(exists=True, dir_okay=False, metavar="FILE", help=words)]
    names = _SPELLED.get(name, (f"--{name.replace('_', '-')}",) if kind is bool else ())
    return Annotated[kind, Option(*names, metavar=metavar, help=words, **own(_LIMITS, {}))]


def declared(command: str, run: Callable[..., None], **defaults: Any) -> Callable[..., None]:
    """Return a function of the options of a command, for typer.

    A first argument ``problem`` stands for the options of `Problem`; ``defaults`` are those that
    differ, and None leaves an option out.
    """
    own = inspect.signature(run, eval_str=True).parameters
    shared = {}
    if "problem" in own:
        shared = {
            name: p.replace(default=defaults.get(name, p.default))
            for name, p in inspect.signature(Problem, eval_str=True).parameters.items()
            if defaults.get(name, p) is not None
        }

    @functools.wraps(run)
    def parsed(**given: Any) -> None:
        if shared:
            given = {"problem": Problem(**{name: given.pop(name) for name in shared}), **given}
        run(**given)

    parameters = [
        p.replace(kind=p.KEYWORD_ONLY, annotation=_declared(command, name, p.annotation))
        for name, p in ({**shared, **own}).items()
        if name != "problem"
    ]
    parameters.sort(key=lambda p: p.default is not p.empty)  # required ones first
    parsed.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return parsed


class AtOnce(StrEnum):
    """Where simultaneous bounds come from."""

    AUTO = "auto"
    JOINT = "joint"
    CELLS = "cells"


@dataclass(frozen=True)
class Problem:
    """The options that ``region``, ``summary``, ``report`` and ``test`` share."""

    data: Path
    target: str
    features: str | None = None
    categorical: str | None = None
    index: str | None = None
    model: Model = Model.SPLINE
    knots: int | None = None
    kernel: Kernel | None = None
    gamma: float | None = None
    alpha: float | None = None
    C: float | None = None
    epsilon: float | None = None
    quantile: float | None = None
    endogenous: str | None = None
    instruments: str | None = None
    noise: Assumption | None = None
    classes: str | None = None
    clusters: str | None = None
    blocks: int | None = None
    weights: str | None = None
    m: str = "128"
    seed: int = 0
    levels: list[float] = (0.95, 0.5)  # type: ignore[assignment]  # a dataclass refuses a list
    drop_missing: bool = False
    missing: list[str] = ()  # type: ignore[assignment]
    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        """Take least squares with instruments for what it is, and refuse wrong options."""
        roles = self.endogenous is not None or self.instruments is not None
        if roles and self.model in (Model.SPLINE, Model.OLS):
            object.__setattr__(self, "model", Model.IV)
        for fault in _faults(self):
            raise fault

    @property
    def recipe(self) -> Recipe:
        """What the model takes."""
        return RECIPES[self.model]

    @property
    def options(self) -> dict[str, Any]:
        """Hyper-parameters of the model that were given."""
        return {
            name: value for name in _HYPERPARAMETERS if (value := getattr(self, name)) is not None
        }

    @property
    def statistics(self) -> int | str:
        """The number of statistics, or ``"all"``."""
        return self.m if self.m == "all" else int(self.m)


_HYPERPARAMETERS = (
    *("kernel", "gamma", "alpha", "C", "epsilon", "quantile"),
    *("endogenous", "instruments"),
)

_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "gamma": (lambda x: 0 < x < math.inf, "a finite number > 0"),
    "alpha": (lambda x: 0 <= x < math.inf, "a finite number >= 0"),
    "C": (lambda x: 0 < x < math.inf, "a finite number > 0"),
    "epsilon": (lambda x: 0 <= x < math.inf, "a finite number >= 0"),
    "quantile": (lambda x: 0 < x < 1, "a number between 0 and 1, both excluded"),
}
"""What the hyper-parameters can be."""

_LARGEST_NORM = 1e300
"""As in the library, which takes long to import."""


def _wrong(option: str, what: str, expected: str, given: object, remedy: str) -> ValueError:
    return ValueError(complaint(f"--{option}", what, expected, given, remedy))


def check_norm_bound(norm_bound: float | None) -> None:
    """Refuse a bound that no norm can have, or that is too large for double precision."""
    if norm_bound is not None and not 0 < norm_bound <= _LARGEST_NORM:
        raise _wrong(
            "norm-bound",
            "is out of range",
            f"one number > 0 and at most {_LARGEST_NORM:g}",
            f"{norm_bound:g}",
            "Give an upper bound on the norm that you are ready to assume.",
        )


def check_one_by_one(problem: Problem) -> None:
    """Refuse models whose coefficients have no interval of their own."""
    if not problem.recipe.one_by_one:
        raise _wrong(
            "model",
            "has no coefficients to summarise one at a time",
            " or ".join(name for name in Model if RECIPES[name].one_by_one),
            problem.model,
            "Use unassuming region for this model.",
        )


def check_levels(levels: Sequence[float], m: int | str) -> None:
    """Refuse levels that m statistics do not have."""
    for level in levels:
        if m != "all" and not (1 - level) * int(m) > 1 - 1e-9:
            fewest, highest = math.ceil(1 / (1 - level) - 1e-9), 1 - 1 / int(m)
            expected, remedy = f"at most {highest:g} with --m {m}", f"Try --level {highest:g}"
            remedy += f"; {level:g} takes --m {fewest} or more, and enough rows."
            raise _wrong("level", "is too high", expected, f"{level:g}", remedy)


def _faults(problem: Problem) -> Iterator[ValueError]:
    """Yield what is wrong with the options, whatever the table is."""
    if problem.m != "all" and not (problem.m.isdecimal() and int(problem.m) >= 2):
        expected = "an integer >= 2, or all"
        yield _wrong("m", "is not a number of statistics", expected, problem.m, "Try --m 100.")
    for level in problem.levels:
        if not 0 < level < 1:
            expected = "numbers between 0 and 1, both excluded"
            yield _wrong("level", "is out of range", expected, f"{level:g}", "Try --level 0.9.")
    yield from _wrong_hyperparameters(problem)
    yield from _wrong_model(problem)
    yield from _wrong_noise(problem)


def _wrong_hyperparameters(problem: Problem) -> Iterator[ValueError]:
    """Yield options that the model does not have, or values out of their range."""
    defaults, model = problem.recipe.defaults, problem.model
    for name, value in problem.options.items():
        if name not in defaults:
            known = ", ".join(f"--{known}" for known in defaults) or "none"
            yield _wrong(name, f"is not an option of {model}", known, f"--{name}", "Leave it out.")
        if name in _RANGES and not _RANGES[name][0](value):
            remedy = "Leave it out, or choose another value."
            yield _wrong(name, "is out of range", _RANGES[name][1], f"{value:g}", remedy)
    if problem.gamma is not None and (problem.kernel or defaults.get("kernel")) == "linear":
        yield _wrong(
            "gamma",
            "has no meaning for the linear kernel",
            "another --kernel, such as rbf",
            f"{problem.gamma:g}",
            "Leave it out.",
        )


def _wrong_model(problem: Problem) -> Iterator[ValueError]:
    """Yield options that only some models have, and instruments without endogenous columns."""
    model = problem.model
    if problem.classes is not None and not problem.recipe.classify:
        classifiers = " or ".join(name for name in Model if RECIPES[name].classify)
        yield _wrong(
            "classes",
            f"is not an option of {model}",
            f"--model {classifiers}",
            f"--classes {problem.classes}",
            "Leave it out.",
        )
    if problem.knots is not None and model is not Model.SPLINE:
        given = f"--knots {problem.knots}"
        what = f"is not an option of {model}"
        yield _wrong("knots", what, "--model spline", given, "Leave it out.")
    roles = {"endogenous": problem.endogenous, "instruments": problem.instruments}
    named = [f"--{name} {value}" for name, value in roles.items() if value is not None]
    if model is Model.IV and len(named) < len(roles):
        yield ValueError(
            "a model with instruments needs both kinds of columns: expected --endogenous and "
            f"--instruments, given {named[0] if named else 'neither of them'}. Name the columns "
            "that may depend on the noise, and those that move them and do not."
        )


def _wrong_noise(problem: Problem) -> Iterator[ValueError]:
    """Yield assumptions that do not go with the model, the clusters or the blocks."""
    own, given, model = problem.recipe.noise, problem.noise, problem.model
    fits = f"does not fit --model {model}"
    if own is not None and given not in (None, own) and not problem.recipe.others:
        expected = f"--noise {own}, its default"
        yield _wrong("noise", fits, expected, f"--noise {given}", "Leave it out.")
    if own is None and given in (Assumption.LABELS, Assumption.QUANTILE):
        models = " or ".join(name for name in Model if RECIPES[name].noise == given)
        yield _wrong(
            "noise",
            fits,
            f"--model {models} with --noise {given}",
            f"--model {model}",
            "Leave --noise out, or choose one of these models.",
        )
    if problem.clusters is not None and own is not None:
        yield _wrong(
            "clusters",
            "needs a regression of the mean",
            "a model other than a classifier or a quantile, which need independent rows",
            f"--model {model}",
            "Choose another model, or leave out --clusters if all rows are independent.",
        )
    remedy = "Leave out one of the two."
    if problem.clusters is not None and given not in (None, Assumption.SYMMETRIC):
        what = "needs noise that is symmetric in each cluster"
        yield _wrong("clusters", what, "--noise symmetric", f"--noise {given}", remedy)
    if problem.blocks is not None and problem.clusters is not None:
        what = "needs exchangeable noise"
        yield _wrong("blocks", what, "--noise exchangeable", "--clusters", remedy)
    if problem.blocks is not None and given not in (None, Assumption.EXCHANGEABLE):
        what = "needs exchangeable noise"
        yield _wrong("blocks", what, "--noise exchangeable", f"--noise {given}", remedy)
