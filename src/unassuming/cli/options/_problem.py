"""The table, the model and the settings that ``region``, ``summary`` and ``test`` share.

What takes long to import is imported where it is used, so that help and wrong options are answered
at once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from unassuming.cli.options._checked import check_options, statistics
from unassuming.cli.options._models import RECIPES, Assumption, Kernel, Model

if TYPE_CHECKING:
    import pandas as pd

    from unassuming.cli.tables import Columns, Reading, Source, Term

Seed = Annotated[int, Option(min=0, help="Seed of all random numbers.")]
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
        check_options(self)

    @property
    def options(self) -> dict[str, Any]:
        """Hyper-parameters of the model that were given."""
        names = (
            *("kernel", "gamma", "alpha", "C", "epsilon", "quantile"),
            *("endogenous", "instruments"),
        )
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `confidence_region`, except the classes."""
        from unassuming.noise import ExchangeableWithin

        noise: Any = None if self.noise is None else str(self.noise)
        if self.blocks is not None:
            noise = ExchangeableWithin(self.blocks)
        return {"noise": noise, "m": statistics(self.m), "random_state": self.seed}

    def columns(self, source: Source, **others: str | None) -> Columns:
        """Find the columns in the table, with those that other options name."""
        from unassuming.cli._roles import with_roles
        from unassuming.cli.tables import choose

        others = {"clusters": self.clusters, "weights": self.weights, "index": self.index} | others
        given = {option: name for option, name in others.items() if name is not None}
        labels = [self.target] if RECIPES[self.model].classify else []
        return choose(
            source,
            self.target,
            with_roles(self.features, self._roles, source.names),
            given,
            labels=[*labels, *([given["clusters"]] if "clusters" in given else [])],
            categorical=self.categorical,
            drop_missing=self.drop_missing,
        )

    def open(self) -> Source:
        """Open the table."""
        from unassuming.cli.tables import open_source

        return open_source(self.data, self.reading)

    def find(self, **others: str | None) -> tuple[Source, Columns]:
        """Open the table and find the columns in it."""
        source = self.open()
        return source, self.columns(source, **others)

    @property
    def reading(self) -> Reading:
        """How text is read."""
        from unassuming.cli.tables import Reading

        return Reading(self.sep, self.decimal, self.encoding, tuple(self.missing))

    def terms(self, X: pd.DataFrame, columns: Columns, rows: int) -> tuple[Term, ...]:
        """Choose how the columns enter the model, from the inputs alone."""
        import numpy as np

        from unassuming.cli.tables import RowSample, choose_terms

        # The same rows as of a stream, which keeps a sample of them.
        numbers = np.arange(len(X), dtype=np.float64)[:, None]
        sample = RowSample(self.seed).add(0, numbers).values[:, 0].astype(np.int64)
        return choose_terms(
            X,
            columns.categorical,
            rows=rows,
            sample=sample if len(X) > len(sample) else None,
            splines=self.model is Model.SPLINE,
            knots=self.knots,
        )

    def estimator(self, terms: Sequence[Term]) -> Any:
        """Return the model of these terms."""
        from unassuming.cli._estimators import build
        from unassuming.cli._roles import role_features

        options = self.options
        if self.model is Model.IV:
            for role in ("endogenous", "instruments"):
                options[role] = role_features(role, options[role], terms)
        return build(self.model, terms, options)

    @property
    def _roles(self) -> list[str]:
        """The columns that have a role in a model with instruments."""
        return [text for text in (self.endogenous, self.instruments) if text is not None]


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
