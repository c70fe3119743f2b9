"""The options that commands share: the models by name, the table, and what does not go together.

Nothing here imports what takes long, so that help and wrong options are answered at once.
"""

from __future__ import annotations

import functools
import inspect
import math
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

Seed = Annotated[int, Option(min=0, help="Seed of all random numbers.")]
Check = Annotated[
    bool,
    Option(
        "--check",
        help="Test the assumption on the noise and the fit of the model, and print what is found. "
        "This takes longer than the intervals.",
    ),
]
Ordered = Annotated[
    bool,
    Option(
        "--ordered",
        help="The rows have an order by their nature, such as time: the checks then ask whether "
        "neighbouring residuals depend on each other. Default: if a column of dates, or of years, "
        "is in order.",
    ),
]
Levels = Annotated[
    list[float],
    Option(
        "--level",
        metavar="P",
        help="Confidence level, rounded up to the next one that can be attained; repeatable.",
    ),
]

_SPLINE = (
    "spline: least squares on splines of each numeric feature, or lines if there are few rows."
)
_IV = "iv: linear, with --endogenous columns and --instruments."


class AtOnce(StrEnum):
    """Where simultaneous bounds come from."""

    AUTO = "auto"
    JOINT = "joint"
    CELLS = "cells"


@dataclass(frozen=True)
class Problem:
    """The options that these commands share, as they were given."""

    data: Annotated[
        Path,
        Argument(
            exists=True,
            dir_okay=False,
            metavar="FILE",
            help="Table of observations: .csv or .tsv (with a header), .parquet, or .xlsx.",
        ),
    ]
    target: Annotated[str, Option(help="Column to explain.")]
    features: Annotated[
        str | None,
        Option(
            metavar="A,B,...",
            help="Input columns; default: all other columns, except unnamed ones, constant ones, "
            "and text with more different values than a fifth of the number of rows.",
        ),
    ] = None
    categorical: Annotated[
        str | None,
        Option(
            metavar="A,B,...",
            help="Features to encode as categories: one indicator for each category but the "
            "first. Columns of text are always encoded in this way.",
        ),
    ] = None
    index: Annotated[
        str | None, Option(help="Column with names of the rows. It is never used as a feature.")
    ] = None
    model: Annotated[
        Model,
        Option(
            help=f"{_SPLINE} krr: kernel ridge. ridge, ols: linear. quantile: a linear regression "
            f"quantile. {_IV} svr, klasso, huber: kernel machines. ls-svc, logistic: classifiers "
            "for two labels."
        ),
    ] = Model.SPLINE
    knots: Annotated[
        int | None,
        Option(
            min=2,
            help="Number of knots of each spline, at quantiles of its column; default: up to 8, "
            "with at least 15 rows for each coefficient (5 with a single feature).",
        ),
    ] = None
    kernel: Annotated[
        Kernel | None,
        Option(help="Kernel of krr, svr, klasso, huber (default rbf) and ls-svc (default linear)."),
    ] = None
    gamma: Annotated[
        float | None,
        Option(
            help="Width parameter of the kernel on standardised inputs; default: 1 / number of "
            "features, which does not depend on the target."
        ),
    ] = None
    alpha: Annotated[
        float | None,
        Option(
            help="Penalty of spline and quantile (default 0), ridge, krr, klasso and huber "
            "(default 1). A large penalty widens simultaneous bounds."
        ),
    ] = None
    C: Annotated[
        float | None, Option("--C", help="Cost of errors in svr, ls-svc, logistic; default 1.")
    ] = None
    epsilon: Annotated[
        float | None,
        Option(
            help="svr: errors up to this size cost nothing (default 0.1); huber: size of error at "
            "which the loss becomes linear (default 1)."
        ),
    ] = None
    quantile: Annotated[
        float | None, Option(help="Quantile for --model quantile; default 0.5, the median.")
    ] = None
    endogenous: Annotated[
        str | None,
        Option(
            metavar="A,B,...",
            help="Features that may depend on the noise, as a price depends on demand; implies "
            "--model iv, and needs --instruments.",
        ),
    ] = None
    instruments: Annotated[
        str | None,
        Option(
            metavar="A,B,...",
            help="Features that move the endogenous ones, do not depend on the noise, and act on "
            "the target through them alone. All other features are controls.",
        ),
    ] = None
    noise: Annotated[
        Assumption | None,
        Option(
            help="Assumption on the noise; default: symmetric, labels for classifiers, and "
            "quantile for --model quantile."
        ),
    ] = None
    classes: Annotated[
        str | None,
        Option(
            metavar="A,B",
            help="The two labels of a classifier; the second is +1. Needed if only one of them "
            "occurs, unless they are 0 and 1, -1 and 1, or True and False.",
        ),
    ] = None
    clusters: Annotated[
        str | None,
        Option(
            help="Column of labels: rows with the same label may depend on each other. It is never "
            "used as a feature."
        ),
    ] = None
    blocks: Annotated[
        int | None,
        Option(
            min=2,
            help="The noise is exchangeable within each block of this many consecutive rows, and "
            "blocks may differ in mean and spread.",
        ),
    ] = None
    weights: Annotated[
        str | None,
        Option(help="Column with the weights of the rows. It is never used as a feature."),
    ] = None
    m: Annotated[
        str,
        Option(
            "--m", help="Number of statistics: levels are multiples of 1/m. all: the whole group."
        ),
    ] = "128"
    seed: Seed = 0
    levels: Levels = (0.95, 0.5)  # type: ignore[assignment]  # a dataclass refuses a list
    drop_missing: Annotated[
        bool, Option("--drop-missing", help="Leave out rows with missing values.")
    ] = False
    missing: Annotated[
        list[str],
        Option(metavar="WORD", help='Word for a missing value, such as "?"; repeatable.'),
    ] = ()  # type: ignore[assignment]
    sep: Annotated[
        str | None,
        Option(help='Separator of columns in text; default: "," and a tab in .tsv files.'),
    ] = None
    decimal: Annotated[
        str | None, Option(help='Decimal mark of numbers in text; default: ".".')
    ] = None
    encoding: Annotated[
        str | None, Option(help="Encoding of text, such as latin-1; default: utf-8.")
    ] = None

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


def _models(only: Sequence[Model]) -> Any:
    """Return the option --model of a command that takes some of the linear models."""
    return Option(
        metavar=f"<{'|'.join(only)}>",
        help=f"{_SPLINE} ridge, ols: linear. {_IV}",
    )


def problem_options(
    *, without: Sequence[str] = (), only: Sequence[Model] = (), **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `Problem`; it receives them as its first argument.

    Parameters
    ----------
    without : sequence of str
        Options that have no meaning for the command.
    only : sequence of Model
        The models that its help lists; all if empty.
    **defaults
        Where the command has other defaults than `Problem`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        shared = {
            name: p.replace(default=defaults.get(name, p.default))
            for name, p in inspect.signature(Problem, eval_str=True).parameters.items()
            if name not in without
        }
        if only:
            shared["model"] = shared["model"].replace(annotation=Annotated[Model, _models(only)])
        _, *own = inspect.signature(command, eval_str=True).parameters.values()

        @functools.wraps(command)
        def run(**given: Any) -> None:
            command(Problem(**{name: given.pop(name) for name in shared}), **given)

        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (*shared.values(), *own)]
        parameters.sort(key=lambda p: p.default is not p.empty)  # required ones first
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate
