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
from typing import Annotated, Any, Literal

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


Kernel = Literal["rbf", "laplacian", "poly", "linear", "cosine", "sigmoid"]
"""The values of ``--kernel``."""

Assumption = Literal[
    "symmetric", "exchangeable", "symmetric-exchangeable", "spherical", "labels", "quantile"
]
"""The values of ``--noise``: the names of the noise classes."""

AtOnce = Literal["auto", "joint", "cells"]
"""Where simultaneous bounds come from."""


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
    Model.QUANTILE: Recipe({"quantile": 0.5, "alpha": 0.0}, noise="quantile"),
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
        noise="labels",
        others=True,  # the published region, without a guarantee
    ),
    Model.LOGISTIC: Recipe({"C": 1.0}, classify=True, noise="labels"),
}

HELP = """
data: Table: .csv or .tsv (with a header), .parquet, or .xlsx.
arx data: Table whose rows are times, in order: .csv, .tsv, .parquet or .xlsx.
target: Column to explain.
features <A,B,...>: Input columns; default: all other columns, except unnamed ones, constant ones,
    dates, and text with more different values than a fifth of the number of rows.
categorical <A,B,...>: Features to encode as categories, as text always is.
index: Column with names of the rows, never a feature.
model: spline: least squares on splines of each numeric feature, or lines if there are few rows.
    krr: kernel ridge. ridge, ols: linear. quantile: a linear regression quantile. iv: linear, with
    --endogenous columns and --instruments. svr, klasso, huber: kernel machines. ls-svc, logistic:
    classifiers for two labels.
summary model <<spline|ridge|ols|iv>>: spline: least squares on splines of each numeric feature.
    ridge, ols: linear. iv: linear, with --endogenous columns and --instruments.
knots: Number of knots of each spline, at quantiles of its column; default: up to 8, with at least
    15 rows for each coefficient (5 with a single feature).
kernel: Kernel of krr, svr, klasso, huber (default rbf) and ls-svc (default linear).
gamma: Width parameter of the kernel on standardised inputs; default: 1 / number of features.
alpha: Penalty of spline and quantile (default 0), ridge, krr, klasso and huber (default 1).
C: Cost of errors in svr, ls-svc, logistic; default 1.
epsilon: svr: errors up to this size cost nothing (0.1); huber: beyond it the loss is linear (1).
quantile: Quantile for --model quantile; default 0.5, the median.
endogenous <A,B,...>: Features that may depend on the noise; implies --model iv.
instruments <A,B,...>: Features that move the endogenous ones, do not depend on the noise, and act
    on the target through them alone.
noise: Assumption on the noise; default: symmetric, labels (classifiers), quantile (quantiles).
arx noise: Assumption on the noise: symmetric, exchangeable, symmetric-exchangeable, spherical.
classes <A,B>: The two labels of a classifier; the second is +1. Needed if only one of them occurs.
clusters: Column of labels: rows with the same label may depend on each other.
experiment clusters: Column of labels, if whole clusters were treated.
blocks: The noise is exchangeable within each block of this many consecutive rows.
weights: Column with the weights of the rows.
m: Number of statistics: levels are multiples of 1/m. all: the whole group.
experiment m: Number of statistics; default: all assignments up to 4,096, else 1000.
seed: Seed of all random numbers.
levels <P>: Confidence level, rounded up to the next one that can be attained; repeatable.
drop_missing: Leave out rows with missing values.
missing <WORD>: Word for a missing value, such as "?"; repeatable.
sep: Separator of columns in text; default: "," and a tab in .tsv files.
decimal: Decimal mark of numbers in text; default: ".".
encoding: Encoding of text, such as latin-1; default: utf-8.
check: Test the assumption on the noise and the fit of the model, which takes longer.
ordered: The rows have an order by their nature, such as time, which the checks use; default: if a
    column of dates or years is in order.
norm_bound: The norm of the function, or of the penalised coefficients, is assumed at most this.
at: Table with the inputs of the band; default: 200 inputs for one feature, else the rows.
out: Directory for the tables and pictures.
report out: The HTML file to write.
pointwise: Bounds that hold at each input and for each coefficient by itself. They are usually
    narrower than the simultaneous ones. Kernel models then need --norm-bound.
method: Where simultaneous bounds come from. joint: the region. cells: balanced cells of rows. auto:
    whichever is expected to be narrower before the target is seen.
stream: Read the table in chunks (spline, ridge, ols; symmetric noise); default: above 5 MB.
checkpoint: Stream, and save the progress in this file; after an interruption the same command
    continues from there.
checkpoint_every: Seconds between checkpoints; 0: after each chunk of 16,384 rows.
title: Title of the report.
candidate: Column with the values of a function (for classifiers E[y|x], from -1 to 1).
arx candidate <A1,...,B1,...>: Coefficients to be tested; repeatable.
input: Column of the input; not needed with --nb 0.
na: Number of past outputs in the model.
nb: Number of past inputs in the model.
delay: Steps after which an input first acts.
intercept: Add a constant.
treatment <COLUMN>: Column with two values: treated or untreated.
treated <VALUE>: The value of treated rows; default: the later of the two in order.
strata: Column of labels, if the treatment was drawn within strata.
controls <A,B,...>: Columns that explain the outcome and that the treatment cannot have changed.
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
    "norm_bound": {"min": 1e-300, "max": 1e300},
    "levels": {"min": 1e-6, "max": 1 - 1e-6},
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

    if name == "context":
        return kind
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


def _wrong(option: str, what: str, expected: str, given: object) -> ValueError:
    remedy = "Change it or leave it out."
    return ValueError(complaint(f"--{option}", what, expected, given, remedy))


def check_one_by_one(problem: Problem) -> None:
    """Refuse models whose coefficients have no interval of their own."""
    if not problem.recipe.one_by_one:
        known = " or ".join(name for name in Model if RECIPES[name].one_by_one)
        raise _wrong("model", "has no coefficients to summarise", known, problem.model)


def check_levels(levels: Sequence[float], m: int | str) -> None:
    """Refuse levels that m statistics do not have."""
    for level in levels:
        if m != "all" and not (1 - level) * int(m) > 1 - 1e-9:
            fewest, highest = math.ceil(1 / (1 - level) - 1e-9), 1 - 1 / int(m)
            raise ValueError(
                f"--level is too high: expected at most {highest:g} with --m {m}, given {level:g}. "
                f"Try --level {highest:g}; {level:g} takes --m {fewest} or more, and enough rows."
            )


def _faults(problem: Problem) -> Iterator[ValueError]:
    """Yield what is wrong with the options, whatever the table is."""
    recipe, model, given = problem.recipe, problem.model, problem.noise
    noise = f"--noise {given}"
    if problem.m != "all" and not (problem.m.isdecimal() and int(problem.m) >= 2):
        yield _wrong("m", "is not a number of statistics", "an integer >= 2, or all", problem.m)
    of_one = {"classes": recipe.classify, "knots": model is Model.SPLINE}
    for name in (*problem.options, *(name for name, fits in of_one.items() if not fits)):
        if name not in recipe.defaults and getattr(problem, name) is not None:
            known = ", ".join(f"--{known}" for known in recipe.defaults) or "none"
            yield _wrong(name, f"is not an option of {model}", known, f"--{name}")
    if problem.gamma is not None and (problem.kernel or recipe.defaults.get("kernel")) == "linear":
        yield _wrong("gamma", "has no meaning for the linear kernel", "another --kernel", "linear")
    if model is Model.IV and None in (problem.endogenous, problem.instruments):
        yield ValueError(
            "a model with instruments needs both kinds of columns: expected --endogenous and "
            "--instruments, given at most one of them. Name the columns that may depend on the "
            "noise, and those that move them and do not."
        )
    if given is not None and recipe.noise not in (None, given) and not recipe.others:
        expected = f"--noise {recipe.noise}, its default"
        yield _wrong("noise", f"does not fit --model {model}", expected, noise)
    if recipe.noise is None and given in ("labels", "quantile"):
        models = " or ".join(name for name in Model if RECIPES[name].noise == given)
        yield _wrong(
            "noise", f"does not fit --model {model}", f"--model {models} with {noise}", noise
        )
    if problem.clusters is not None and recipe.noise is not None:
        expected = "neither a classifier nor a quantile, which need independent rows"
        yield _wrong("clusters", "needs a regression of the mean", expected, f"--model {model}")
    if problem.clusters is not None and given not in (None, "symmetric"):
        yield _wrong("clusters", "needs symmetric noise", "--noise symmetric", noise)
    if problem.blocks is not None and problem.clusters is not None:
        yield _wrong("blocks", "does not go with clusters", "one of the two", "both")
    if problem.blocks is not None and given not in (None, "exchangeable"):
        yield _wrong("blocks", "needs exchangeable noise", "--noise exchangeable", noise)
